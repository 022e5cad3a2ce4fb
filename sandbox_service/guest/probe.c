/* The programs that prove a launcher's boxes, in one static executable that asks for its name; what canary.py is
 * for Python.
 *
 *     canary     tries operations that a box must refuse, and prints the results as JSON. Its stdin is the path of a file
 *                that anyone on the machine may read and a box must not see.
 *     sleeper    sleeps for longer than its limit
 *     control    prints 42
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *outcome(long result)
{
    const char *name = result < 0 ? strerrorname_np(errno) : "done";
    return name ? name : "?";
}

static void say(const char *name, long result) { printf(",\"%s\":\"%s\"", name, outcome(result)); }

static long create(const char *path) { return open(path, O_WRONLY | O_CREAT, 0644); }

static void say_names(const char *name, const char *folder, int only_numbers)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    int some = 0;
    printf(",\"%s\":[", name);
    while (entries && (entry = readdir(entries)))
        if (only_numbers ? atol(entry->d_name) > 0 : entry->d_name[0] != '.')
            printf("%s\"%s\"", some++ ? "," : "", entry->d_name);
    printf("]");
}

static void say_interfaces(void)
{
    char line[512], name[32];
    FILE *file = fopen("/proc/net/dev", "r");
    int some = 0;
    printf(",\"interfaces\":[");
    for (int i = 0; file && fgets(line, sizeof line, file); i++)
        if (i >= 2 && sscanf(line, " %31[^:]", name) == 1)
            printf("%s\"%s\"", some++ ? "," : "", name);
    printf("]");
}

static void say_status(void)
{
    static const char *const wanted[] = {"CapEff", "CapPrm", "NoNewPrivs", "Seccomp", "Seccomp_filters"};
    char line[512], name[32], value[64];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%31[^:]: %63s", name, value) == 2)
            for (int i = 0; i < 5; i++)
                if (!strcmp(name, wanted[i]))
                    printf(",\"%s\":\"%s\"", name, value);
}

static long fork_once(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return pid < 0 ? -1 : waitpid(pid, NULL, 0);
}

static long map(int flags)
{
    void *found = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    return found == MAP_FAILED ? -1 : 0;
}

static int canary(void)
{
    char witness[4096] = "", *const nothing[] = {"nonexistent", NULL};
    if (!fgets(witness, sizeof witness, stdin))
        return 1;
    witness[strcspn(witness, "\n")] = 0;
    printf("{\"pid\":%d,\"uid\":%d", getpid(), getuid());
    say_names("processes", "/proc", 1);
    say_interfaces();
    say_names("root", "/", 0);
    say_status();
    say("read_witness", open(witness, O_RDONLY));
    say("write_root", create("/canary"));
    say("write_usr", create("/usr/canary"));
    say("write_tmp", create("/tmp/canary"));
    say("socket", socket(AF_INET, SOCK_STREAM, 0));
    say("shared_memory", shmget(0, 4096, 0600 | IPC_CREAT));
    say("semaphores", semget(0, 1, 0600 | IPC_CREAT));
    say("messages", msgget(0, 0600 | IPC_CREAT));
    say("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
    say("new_user_namespace", syscall(SYS_unshare, 0x10000000));
    say("ptrace", ptrace(PTRACE_ATTACH, 1, 0, 0));
    say("fork", fork_once());
    say("execute", execv("/nonexistent", nothing));
    say("uncounted_memory", map(MAP_SHARED | MAP_ANONYMOUS));
    say("growing_memory", map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN));
    printf("}\n");
    return 0;
}

int main(int count, char **arguments)
{
    const char *name = count > 0 ? arguments[0] : "";
    if (!strcmp(name, "sleeper"))
        return (int)sleep(60);
    if (!strcmp(name, "control"))
        return puts("42") < 0;
    return canary();
}

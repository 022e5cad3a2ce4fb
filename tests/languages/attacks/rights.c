// Other users, capabilities, limits and priorities. Must fail.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <sched.h>
#include <grp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
static void tried(const char *what, long result) {
    if (result >= 0) printf("ESCAPED %s\n", what);
}
int main(void) {
    tried("setuid", setuid(0));
    tried("setresuid", setresuid(getuid() + 1, -1, -1));
    tried("setgid", setgid(0));
    tried("setgroups", setgroups(0, 0));
    struct { unsigned version; int pid; } head = {0x20080522, 0};
    struct { unsigned effective, permitted, inheritable; } data[2] = {{~0u, ~0u, 0}, {~0u, ~0u, 0}};
    tried("capset", syscall(SYS_capset, &head, data));
    tried("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    int kinds[] = {RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NPROC};
    for (int at = 0; at < 4; at++) tried("setrlimit", setrlimit(kinds[at], &more));
    tried("prlimit of another", syscall(SYS_prlimit64, getppid() ? getppid() : 2, RLIMIT_CPU, &more, 0));
    tried("priority", setpriority(PRIO_PROCESS, 0, -20));
    struct sched_param fifo = {50};
    tried("scheduler", syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &fifo));
    puts("held");
}

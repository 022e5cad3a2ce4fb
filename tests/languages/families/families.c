// Attacks by system calls made directly. The first word of the input names the one to run; `clean` looks for what one left.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MIB (1L << 20)
#define ESCAPED(...) (printf("ESCAPED " __VA_ARGS__), putchar('\n'), fflush(stdout))

static void must_fail(const char *what, long result)
{
    if (result >= 0)
        ESCAPED("%s", what);
}

/*** Calls that no box may make ***/

#define CALL(name) {SYS_##name, #name}
static const struct { long number; const char *name; } forbidden[] = {
    CALL(ptrace), CALL(process_vm_readv), CALL(process_vm_writev), CALL(kcmp), CALL(bpf), CALL(perf_event_open),
    CALL(io_uring_setup), CALL(io_uring_enter), CALL(io_uring_register), CALL(userfaultfd), CALL(seccomp), CALL(add_key),
    CALL(request_key), CALL(keyctl), CALL(shmget), CALL(shmat), CALL(shmctl), CALL(msgget), CALL(msgsnd), CALL(semget),
    CALL(semop), CALL(mq_open), CALL(mq_unlink), CALL(memfd_create), CALL(pidfd_open), CALL(pidfd_getfd), CALL(unshare),
    CALL(setns), CALL(chroot), CALL(pivot_root), CALL(fsopen), CALL(fsmount), CALL(fspick), CALL(open_tree),
    CALL(move_mount), CALL(swapon), CALL(reboot), CALL(syslog), CALL(acct), CALL(quotactl), CALL(personality),
    CALL(ioprio_set), CALL(setpriority), CALL(sched_setaffinity), CALL(sched_setattr), CALL(sched_setparam),
    CALL(sched_setscheduler), CALL(set_mempolicy), CALL(mbind), CALL(migrate_pages), CALL(move_pages),
    CALL(inotify_init1), CALL(fanotify_init), CALL(name_to_handle_at), CALL(open_by_handle_at), CALL(mknod),
    CALL(mknodat), CALL(setxattr), CALL(fsetxattr), CALL(splice), CALL(vmsplice), CALL(tee), CALL(sendmsg),
    CALL(sendmmsg), CALL(recvmmsg), CALL(socket), CALL(bind), CALL(connect), CALL(listen), CALL(accept4),
    CALL(setsockopt), CALL(settimeofday), CALL(clock_settime), CALL(clock_adjtime), CALL(adjtimex), CALL(sethostname),
    CALL(setdomainname), CALL(init_module), CALL(finit_module), CALL(delete_module), CALL(kexec_load), CALL(iopl),
    CALL(ioperm), CALL(modify_ldt), CALL(lookup_dcookie), CALL(vhangup), CALL(mlockall), CALL(process_madvise),
    CALL(io_setup), CALL(remap_file_pages), CALL(setfsuid), CALL(setfsgid), CALL(setuid), CALL(setgid), CALL(setreuid),
    CALL(fork), CALL(vfork), CALL(execve), CALL(pkey_alloc), CALL(rt_tgsigqueueinfo), CALL(chown), CALL(fchown),
    CALL(fchownat), {443, "quotactl_fd"}, {444, "landlock_create_ruleset"},
    {446, "landlock_restrict_self"}, {447, "memfd_secret"}, {448, "process_mrelease"}, {450, "set_mempolicy_home_node"},
    {451, "cachestat"}, {453, "map_shadow_stack"}, {457, "statmount"}, {458, "listmount"}, {459, "lsm_get_self_attr"},
    {462, "mseal"}, {463, "setxattrat"}, {467, "open_tree_attr"}, {1000, "of the future"}};

static void calls(void)
{
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        long result = syscall(forbidden[i].number, 0L, 0L, 0L, 0L, 0L, 0L);
        if (result >= 0 || (errno != EPERM && errno != ENOSYS))
            ESCAPED("%s: %ld, errno %d", forbidden[i].name, result, errno);
    }
}

static void options(void)
{
    static const int allowed[] = {1, 2, 3, 4, 15, 16, 21, 23, 29, 30, 39, 40};
    for (int option = 1; option < 100; option++) {
        int known = 0;
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            known |= allowed[i] == option;
        if (!known && (prctl(option, 1, 0, 0, 0) >= 0 || errno != EPERM))
            ESCAPED("prctl %d: errno %d", option, errno);
    }
    must_fail("PR_SET_PTRACER", prctl(0x59616d61, -1, 0, 0, 0));
    struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
    must_fail("a core", setrlimit(RLIMIT_CORE, &core));
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    must_fail("locked memory", mlock(stdout, 4096));
    must_fail("poisoned memory", madvise((void *)((uintptr_t)stdout & ~4095UL), 4096, 100));
    must_fail("memory taken offline", madvise((void *)((uintptr_t)stdout & ~4095UL), 4096, 101));
}

static void controls(void)
{
    static const unsigned long requests[] = {TIOCSTI, TIOCSCTTY, TIOCNOTTY, TIOCLINUX, TIOCSPGRP, TIOCSETD, FIOASYNC, TCSETS,
                                             0x40086602 /* FS_IOC_SETFLAGS */, 0xC0045877 /* FIFREEZE */, 0xC0045878 /* FITHAW */,
                                             0xC0185879 /* FITRIM */, 0x40049409 /* FICLONE */, 0x401C5820 /* FSSETXATTR */,
                                             0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */};
    char room[64] = "x";
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (int high = 0; high < 2; high++)
            if (syscall(SYS_ioctl, 1, requests[i] | (unsigned long)high << 32, room) >= 0 || errno != EPERM)
                ESCAPED("ioctl %lx: errno %d", requests[i], errno);
    int ends[2];
    if (pipe(ends))
        return;
    static const long commands[] = {F_SETPIPE_SZ, F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY, F_SETOWN_EX, F_SET_RW_HINT};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        for (long high = 0; high < 2; high++)
            if (syscall(SYS_fcntl, ends[0], commands[i] | high << 32, 1L << 20) >= 0 || errno != EPERM)
                ESCAPED("fcntl %ld: errno %d", commands[i], errno);
}

static void clones(void)
{
    static const unsigned long flags[] = {CLONE_NEWUSER, CLONE_NEWUSER | CLONE_THREAD, CLONE_NEWUSER | CLONE_NEWPID, CLONE_NEWPID,
                                          CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_PARENT,
                                          CLONE_PTRACE, CLONE_VFORK | CLONE_VM, CLONE_THREAD | CLONE_VM | CLONE_SIGHAND};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        static char stack[4096] __attribute__((aligned(16)));
        long made = syscall(SYS_clone, flags[i] | SIGCHLD, stack + sizeof stack, 0, 0, 0);
        if (made == 0)
            _exit(0);
        must_fail("clone", made);
    }
    char arguments[88] = {0};
    must_fail("clone3", syscall(SYS_clone3, arguments, sizeof arguments));
}

/*** Memory and kernel memory ***/

static void becomes_readonly(void)
{
    for (long total = 0; total < 2048 * MIB; total += 64 * MIB) {
        char *block = mmap(0, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            return;
        memset(block, 1, 64 * MIB);
        mprotect(block, 64 * MIB, PROT_READ);
        if (total > 1024 * MIB)
            ESCAPED("%ld MiB", total / MIB);
    }
}

static void page_tables(void)
{
    long tables = 0;
    for (int gigabyte = 0; gigabyte < 64; gigabyte++) {
        volatile char *block = mmap(0, 1024 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED)
            break;
        madvise((void *)block, 1024 * MIB, MADV_NOHUGEPAGE);
        for (long at = 0; at < 1024 * MIB; at += 2 * MIB, tables++)
            (void)block[at];
    }
    if (tables * 4096 > 64 * MIB)
        ESCAPED("%ld MiB of page tables", tables / 256);
}

static void uncounted_maps(void)
{
    const int both = PROT_READ | PROT_WRITE;
    must_fail("shared", mmap(0, MIB, both, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
    must_fail("validated", mmap(0, MIB, both, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
    must_fail("downwards", mmap(0, MIB, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) == MAP_FAILED ? -1 : 0);
    must_fail("huge", mmap(0, 1024 * MIB, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0) == MAP_FAILED ? -1 : 0);
    must_fail("large input", ftruncate(0, 1024 * MIB));
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    must_fail("large file", fallocate(fd, 0, 0, 1024 * MIB));
    struct rlimit stack = {RLIM_INFINITY, RLIM_INFINITY};
    must_fail("stack", setrlimit(RLIMIT_STACK, &stack));
    must_fail("addresses", setrlimit(RLIMIT_AS, &stack));
}

static volatile long queued, filled;

static void fill_sockets(void)
{
    static char block[4096];
    int ends[2];
    while (!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends))
        for (int end = 0; end < 2; end++)
            for (ssize_t wrote; (wrote = write(ends[end], block, sizeof block)) > 0;)
                __sync_fetch_and_add(&queued, wrote);
    __sync_fetch_and_add(&filled, 1);
    for (;;)
        pause();
}

static int own_table(void *unused) { fill_sockets(); return unused != 0; }

static void *unshared_table(void *unused)
{
    syscall(SYS_close_range, 3, ~0U, 2 /* CLOSE_RANGE_UNSHARE */);
    fill_sockets();
    return unused;
}

static void descriptor_tables(void)
{
    const int thread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS;
    int made = 0;
    for (int i = 0; i < 8; i++) {
        pthread_t late;
        made += clone(own_table, (char *)malloc(1 << 16) + (1 << 16), thread, 0) > 0;
        made += pthread_create(&late, 0, unshared_table, 0) == 0;
    }
    while (filled < made)
        usleep(1000);
    if (queued > 80 * MIB)
        ESCAPED("%ld MiB in sockets of %d threads", queued / MIB, made);
}

static void timers(void)
{
    struct itimerspec soon = {{0, 1}, {0, 1}};
    for (int i = 0, fd; i < 300 && (fd = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0; i++)
        timerfd_settime(fd, 0, &soon, 0);
}

static void *waits(void *unused) { pause(); return unused; }

static void threads(void)
{
    pthread_attr_t small;
    pthread_t thread;
    long made = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    while (made < 2000 && !pthread_create(&thread, &small, waits, 0))
        made++;
    if (made > 600)
        ESCAPED("%ld threads", made);
}

/*** Files that others use ***/

static void executable(void)
{
    int fd = open("/proc/self/exe", O_RDONLY);
    must_fail("opened for writing", open("/proc/self/exe", O_RDWR));
    must_fail("opened for appending", open("/proc/self/exe", O_WRONLY | O_APPEND));
    must_fail("truncated", truncate("/proc/self/exe", 0));
    must_fail("written", write(fd, "x", 1));
    must_fail("made shorter", ftruncate(fd, 0));
    must_fail("its mode changed", fchmod(fd, 0));
    must_fail("its times changed", futimens(fd, 0));
    must_fail("mapped", mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
    must_fail("punched", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
    flock(fd, LOCK_EX); // goes with the process
}

static void seals(void)
{
    for (int fd = 0; fd < 3; fd++)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

static void sparse_output(void)
{
    must_fail("a long output", ftruncate(1, 1L << 40));
    lseek(1, 1L << 40, SEEK_SET);
    must_fail("written far away", write(1, "x", 1));
    int again = open("/proc/self/fd/1", O_RDWR | O_TRUNC);
    ftruncate(again, 15 * MIB); // zeros
    fallocate(again, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
}

static void locks(void)
{
    for (int fd = 0; fd < 3; fd++) {
        struct flock whole = {.l_type = F_WRLCK};
        flock(fd, LOCK_EX | LOCK_NB);
        fcntl(fd, F_OFD_SETLK, &whole);
        fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND | O_ASYNC);
    }
}

static void left_files(void)
{
    umask(0);
    for (int depth = 0; depth < 2000 && !mkdir("x", 0); depth++)
        if (chdir("x"))
            break;
    chdir("/tmp");
    for (int i = 0; i < 500; i++) {
        char name[32];
        snprintf(name, sizeof name, "left%d", i);
        close(open(name, O_CREAT | O_RDWR, 06777));
        symlink("/proc/self/fd/1", strcat(name, "l"));
    }
    for (int i = 0; i < 300; i++)
        dup(1);
}

static void devices(void)
{
    static const char *const names[] = {"/dev/tty", "/dev/ptmx", "/dev/console", "/dev/mem", "/dev/kmsg",
                                        "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/userfaultfd", "/dev/mqueue/x"};
    setsid();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        must_fail(names[i], open(names[i], O_RDWR | O_CREAT, 0600));
}

/*** Looking for others, and for the answer ***/

static void others(void)
{
    DIR *folder = opendir("/proc");
    for (struct dirent *each; folder && (each = readdir(folder));)
        if (atoi(each->d_name) > 1)
            ESCAPED("sees process %s", each->d_name);
    static const char *const up[] = {"/proc/1/root/root", "/proc/self/cwd/../root/.", "/..//home", "/proc/1/root/../etc/shadow",
                                     "/proc/self/task/1/root/var", "/usr/bin"};
    for (size_t i = 0; i < sizeof up / sizeof *up; i++) {
        int fd = open(up[i], O_RDONLY);
        struct stat seen;
        if (fd >= 0 && !fstat(fd, &seen) && S_ISDIR(seen.st_mode)) {
            DIR *inner = fdopendir(fd);
            for (struct dirent *each; inner && (each = readdir(inner));)
                if (each->d_name[0] != '.')
                    ESCAPED("sees %s/%s", up[i], each->d_name);
        } else if (fd >= 0 && seen.st_size)
            ESCAPED("reads %s", up[i]);
    }
}

/* The expected output, hidden from the search by its lowest bits. */
static const char wanted[] = {'7' ^ 1, '3' ^ 1, '0' ^ 1, '1' ^ 1, '9' ^ 1, '4' ^ 1, '2' ^ 1, '4' ^ 1, '2' ^ 1};

static void search(const char *from, const char *end, const char *name)
{
    for (; from + sizeof wanted <= end; from++) {
        size_t same = 0;
        while (same < sizeof wanted && (from[same] ^ 1) == wanted[same])
            same++;
        if (same == sizeof wanted)
            ESCAPED("the expected output lies in %s", name);
    }
}

static void own_memory(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], mode[8];
    unsigned long from, end;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &from, &end, mode) == 3 && mode[0] == 'r' && !strstr(line, "[v"))
            search((const char *)from, (const char *)end, line);
    char *fresh = malloc(32 * MIB);
    if (fresh)
        search(fresh, fresh + 32 * MIB, "fresh memory");
    static char beyond[1 << 16];
    for (int fd = 0; fd < 3; fd++) {
        ssize_t size = pread(fd, beyond, sizeof beyond, 0);
        if (size > 0)
            search(beyond, beyond + size, "a descriptor");
    }
}

static void copies_input(void)
{
    off_t at = 0;
    sendfile(1, 0, &at, 1 << 16);
    copy_file_range(0, 0, 1, 0, 1 << 16, 0);
    dup2(1, 0);
}

/*** Ends and time ***/

static void report(void)
{
    for (int fd = 3; fd < 1100; fd++)
        if (write(fd, "mount: errno 1", 14) > 0)
            ESCAPED("wrote to descriptor %d", fd);
    _exit(97);
}

static void status(int number) { _exit(number); }
static void status_111(void) { status(111); }
static void status_125(void) { status(125); }
static void status_137(void) { status(137); }
static void status_159(void) { status(159); }

static void low_cpu_limit(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CPU, &none);
    for (;;)
        getppid();
}

static void every_signal(void)
{
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_IGN);
        raise(number == SIGKILL || number == SIGSTOP ? SIGCHLD : number);
        kill(0, number == SIGKILL || number == SIGSTOP ? 0 : number);
    }
}

static void *answers_late(void *unused)
{
    usleep(20000);
    write(1, "late\n", 5);
    syscall(SYS_exit_group, 0);
    return unused;
}

static void main_gone(void)
{
    pthread_t late;
    pthread_create(&late, 0, answers_late, 0);
    syscall(SYS_exit, 0);
}

static void storm(void)
{
    signal(SIGALRM, SIG_IGN);
    struct itimerval often = {{0, 1}, {0, 1}};
    setitimer(ITIMER_REAL, &often, 0);
    setitimer(ITIMER_PROF, &often, 0); // its handler is the service's, and ends the program
    for (long i = 0; i < 100000000; i++)
        __asm__ volatile("");
}

/*** What an attack may have left ***/

static void clean(void)
{
    DIR *shared = opendir("/dev/shm"), *folder = opendir("/tmp");
    for (struct dirent *each; folder && ((each = readdir(folder)) || (shared && (each = readdir(shared))));)
        if (each->d_name[0] != '.')
            ESCAPED("%s is in /tmp or /dev/shm", each->d_name);
    struct rlimit cpu, data;
    getrlimit(RLIMIT_CPU, &cpu);
    getrlimit(RLIMIT_DATA, &data);
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, 0, &blocked);
    struct sigaction action;
    sigaction(SIGALRM, 0, &action);
    for (int fd = 3; fd < 300; fd++)
        if (fcntl(fd, F_GETFD) >= 0 && fd != dirfd(folder) && (!shared || fd != dirfd(shared)))
            ESCAPED("descriptor %d is open", fd);
    for (int fd = 0; fd < 3; fd++) {
        struct flock whole = {.l_type = F_WRLCK};
        if (fcntl(fd, F_GETFL) & (O_NONBLOCK | O_APPEND | O_ASYNC) || flock(fd, LOCK_EX | LOCK_NB) ||
            fcntl(fd, F_OFD_SETLK, &whole))
            ESCAPED("descriptor %d has flags or locks", fd);
    }
    if (cpu.rlim_cur < 2 || data.rlim_cur < 200 * MIB || action.sa_handler == SIG_IGN || sigismember(&blocked, SIGALRM))
        ESCAPED("limits or signals are changed");
    puts("clean");
}

#define FAMILY(name) {#name, name}
static const struct { const char *name; void (*run)(void); } families[] = {
    FAMILY(calls), FAMILY(options), FAMILY(controls), FAMILY(clones), FAMILY(becomes_readonly), FAMILY(page_tables),
    FAMILY(uncounted_maps), FAMILY(descriptor_tables), FAMILY(timers), FAMILY(threads), FAMILY(executable), FAMILY(seals),
    FAMILY(sparse_output), FAMILY(locks), FAMILY(left_files), FAMILY(devices), FAMILY(others), FAMILY(own_memory),
    FAMILY(copies_input), FAMILY(report), FAMILY(status_111), FAMILY(status_125), FAMILY(status_137), FAMILY(status_159),
    FAMILY(low_cpu_limit), FAMILY(every_signal), FAMILY(main_gone), FAMILY(storm), FAMILY(clean)};

int main(void)
{
    char name[64] = "";
    scanf("%63s", name);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strcmp(families[i].name, name)) {
            families[i].run();
            return 0;
        }
    ESCAPED("there is no family %s", name);
}

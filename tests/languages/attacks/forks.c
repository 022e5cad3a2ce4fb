// New processes by every system call that makes one. Must fail: `processes` is 1.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    struct clone_args more;
    memset(&more, 0, sizeof more);
    more.exit_signal = SIGCHLD;
    long made[] = {syscall(SYS_fork), syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0),
                   syscall(SYS_clone3, &more, sizeof more)};
    for (unsigned at = 0; at < sizeof made / sizeof *made; at++)
        if (made[at] >= 0) printf("ESCAPED made a process, way %u\n", at), fflush(stdout);
    pid_t late = vfork();
    if (late == 0) _exit(write(1, "ESCAPED vfork\n", 14) < 0);
    puts("held");
}

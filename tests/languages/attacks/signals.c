// Signals by every call to every process that could be somebody else's. Must fail: a box has no process but its own.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    for (long pid = 1; pid < 5000; pid++) {
        if (pid == getpid()) continue;
        long fd = syscall(SYS_pidfd_open, pid, 0);
        if (!syscall(SYS_kill, pid, SIGKILL) || !syscall(SYS_tgkill, pid, pid, SIGKILL) || !syscall(SYS_tkill, pid, SIGKILL) ||
            !syscall(SYS_rt_sigqueueinfo, pid, SIGKILL, &info) || (fd >= 0 && !syscall(SYS_pidfd_send_signal, fd, SIGKILL, 0, 0)))
            printf("ESCAPED killed %ld\n", pid);
    }
    if (!kill(-1, SIGKILL) || !kill(-getppid() - 2, SIGSTOP)) puts("ESCAPED killed all");
    puts("held");
}

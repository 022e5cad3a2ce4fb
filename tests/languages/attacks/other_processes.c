// Other processes' memory and the kernel's larger doors. Must fail.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
static void tried(const char *what, long result) {
    if (result >= 0) printf("ESCAPED %s\n", what);
}
int main(void) {
    char bytes[64] = {0};
    struct iovec here = {bytes, sizeof bytes}, there = {(void *)0x400000, sizeof bytes};
    for (int pid = 1; pid < 200; pid++) {
        if (pid == getpid()) continue;
        tried("ptrace", ptrace(PTRACE_ATTACH, pid, 0, 0));
        tried("process_vm_readv", syscall(SYS_process_vm_readv, pid, &here, 1, &there, 1, 0));
        tried("process_vm_writev", syscall(SYS_process_vm_writev, pid, &here, 1, &there, 1, 0));
    }
    tried("bpf", syscall(SYS_bpf, 0, bytes, sizeof bytes));
    tried("perf_event_open", syscall(SYS_perf_event_open, bytes, 0, -1, -1, 0));
    tried("io_uring_setup", syscall(SYS_io_uring_setup, 8, bytes));
    tried("userfaultfd", syscall(SYS_userfaultfd, 0));
    tried("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
    tried("init_module", syscall(SYS_init_module, bytes, 64, ""));
    tried("kexec_load", syscall(SYS_kexec_load, 0, 0, 0, 0));
    tried("reboot", syscall(SYS_reboot, 0xfee1dead, 672274793, 0x1234567, 0));
    tried("swapon", syscall(SYS_swapon, "/tmp/x", 0));
    tried("sethostname", sethostname("x", 1));
    puts("held");
}

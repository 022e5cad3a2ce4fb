// System calls of other kinds of programs: 32 bits by int 0x80, x32 by a bit of the number. Must fail or kill.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    if (syscall(0x40000000 | SYS_fork) >= 0) puts("ESCAPED forked as x32");
    if (syscall(0x40000000 | 520, "/proc/self/exe", 0, 0) >= 0) puts("ESCAPED executed as x32");
    fflush(stdout);
#ifdef __x86_64__
    long made;
    __asm__ volatile("int $0x80" : "=a"(made) : "a"(2L) : "memory");  // fork
    if (made >= 0) puts("ESCAPED forked as 32 bits");
#endif
    puts("held");
}

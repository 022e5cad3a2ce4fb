// A second program from a memory file, by every way to execute one. Must fail: one program is executed in a box.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **arguments) {
    if (count > 1 || (count && arguments[0][0] == 'E')) return puts("ESCAPED executed"), 0;
    char *given[] = {"E", "again", 0}, *none[] = {0};
    int self = open("/proc/self/exe", O_RDONLY), fd = syscall(SYS_memfd_create, "program", 0);
    if (fd < 0) fd = open("/tmp/program", O_CREAT | O_RDWR, 0755);
    if (self >= 0) sendfile(fd, self, 0, 64 << 20);
    dup2(fd, 257);
    fchmod(fd, 0755);
    syscall(SYS_execveat, fd, "", given, none, AT_EMPTY_PATH);
    syscall(SYS_execveat, 257, "", given, none, AT_EMPTY_PATH);
    syscall(SYS_execveat, 257, "/proc/self/exe", given, none, 0);
    syscall(SYS_execveat, AT_FDCWD, "/tmp/program", given, none, 0);
    execve("/proc/self/exe", given, none);
    execve("/proc/self/fd/257", given, none);
    execve("/tmp/program", given, none);
    puts("held");
}

// Memory that RLIMIT_DATA does not count: shared mappings, memory files, System V segments, files in /tmp.
// proctor: {"expect": ["WA", "RTE", "MLE", "OLE", "TLE"]}
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#define MIB (1L << 20)
static long total;
static void touch(char *at, long size) {
    if (at == MAP_FAILED) return;
    memset(at, 1, size);
    total += size;
    if (total > 700 * MIB) printf("ESCAPED %ld MiB\n", total / MIB), fflush(stdout);
}
int main(void) {
    for (int i = 0; i < 8; i++) touch(mmap(0, 128 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 128 * MIB);
    int fd = syscall(SYS_memfd_create, "x", 0);
    if (fd >= 0 && !ftruncate(fd, 900 * MIB)) touch(mmap(0, 900 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), 900 * MIB);
    int segment = shmget(IPC_PRIVATE, 900 * MIB, IPC_CREAT | 0600);
    if (segment >= 0) touch(shmat(segment, 0, 0), 900 * MIB);
    static char block[1 << 20];
    for (int file = 0; file < 40; file++) {
        char name[64];
        snprintf(name, sizeof name, "/tmp/%d", file);
        int out = open(name, O_CREAT | O_WRONLY, 0600);
        for (int i = 0; i < 40 && out >= 0 && write(out, block, sizeof block) > 0; i++) total += MIB;
    }
    if (total > 700 * MIB) puts("ESCAPED files");
    puts("held");
}

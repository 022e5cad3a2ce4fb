// Descriptors that were left open, and files that another run could see. A run's own stdin may be changed.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    for (int fd = 3; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0) {
            printf("ESCAPED descriptor %d is open\n", fd);
            if (write(fd, "730194242\n", 10) > 0) puts("ESCAPED wrote to it");
        }
    char text[64] = "";
    if (read(0, text, sizeof text) != 6 || strcmp(text, "20 22\n")) puts("ESCAPED another run changed the input");
    if (pwrite(0, "21 23 24\n", 9, 0) > 0) ftruncate(0, 1 << 16);
    char name[4096];
    for (int fd = 0; fd < 3; fd++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t size = readlink(path, name, sizeof name - 1);
        if (size > 0 && name[0] == '/' && name[1] != 'm') printf("ESCAPED %.*s is a file with a name\n", (int)size, name);
    }
    puts("held");
}

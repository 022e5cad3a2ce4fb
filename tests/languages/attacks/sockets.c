// Sockets of every family and kind, by the system call. Must fail, or reach nothing.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
int main(void) {
    int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_PACKET};
    for (int family = 0; family < 64; family++)
        for (unsigned at = 0; at < sizeof types / sizeof *types; at++) {
            int fd = syscall(SYS_socket, family, types[at], 0);
            if (fd < 0) continue;
            struct sockaddr_in to = {AF_INET, htons(53), {htonl(0x7f000001)}, {0}};
            struct sockaddr_un local = {AF_UNIX, "/run/dbus/system_bus_socket"};
            if (family == AF_INET && !connect(fd, (struct sockaddr *)&to, sizeof to) && types[at] == SOCK_STREAM)
                puts("ESCAPED connected by TCP");
            if (family == AF_UNIX && !connect(fd, (struct sockaddr *)&local, sizeof local)) puts("ESCAPED connected");
            if (family == AF_PACKET || family == AF_NETLINK || types[at] == SOCK_RAW) printf("ESCAPED family %d\n", family);
            close(fd);
        }
    puts("held");
}

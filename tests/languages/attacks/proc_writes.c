// Settings of the kernel and of other processes below /proc and /sys. Must fail, or change nothing but this process.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static const char *paths[][2] = {
    {"/proc/sys/kernel/core_pattern", "|/bin/sh"}, {"/proc/sysrq-trigger", "b"}, {"/proc/self/oom_score_adj", "-1000"},
    {"/proc/self/autogroup", "-20"}, {"/proc/1/autogroup", "19"}, {"/proc/sys/kernel/sched_autogroup_enabled", "0"},
    {"/proc/sys/vm/overcommit_memory", "1"}, {"/proc/sys/kernel/randomize_va_space", "0"}, {"/proc/2/mem", "x"},
    {"/proc/self/uid_map", "0 0 1"}, {"/proc/self/setgroups", "allow"}, {"/sys/fs/cgroup/cgroup.procs", "1"},
    {"/proc/thread-self/attr/current", "unconfined"}, {"/proc/fs/xfs/xqm", "x"}, {"/proc/mtrr", "disable=0"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always"}, {"/proc/sys/kernel/hostname", "x"}, {"/dev/kmsg", "x"}};
int main(void) {
    for (unsigned at = 0; at < sizeof paths / sizeof *paths; at++) {
        int fd = open(paths[at][0], O_WRONLY);
        if (fd >= 0 && write(fd, paths[at][1], strlen(paths[at][1])) > 0) printf("ESCAPED wrote %s\n", paths[at][0]);
    }
    puts("held");
}

/* Watches running boxes: CPU time, waits for a processor, sleep. What watchdog.py is for the Python zygote.
 *
 * CPU time is read from the scheduler's exact clock. A box that may fork counts with all its processes. Wall time counts
 * only while a box could have run: while it waits for a processor the deadline moves.
 */
#ifndef WATCH_H
#define WATCH_H

#include "box.h"

#include <dirent.h>
#include <stdlib.h>

#define MAX_PIDS 4096
#define HELD_UP_SECONDS 0.02 /* runnable for so long without a processor */
#define UNKNOWN -1.0

struct pids {
    long pid[MAX_PIDS];
    int count;
};

static struct pids not_boxes; /* of the isolation tool, and this one */

static DIR *open_folder(const char *path)
{
    int fd = openat(box.proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !folder)
        close(fd);
    return folder;
}

static int is_among(long pid, const struct pids *pids)
{
    for (int i = 0; i < pids->count; i++)
        if (pids->pid[i] == pid)
            return 1;
    return 0;
}

/* All processes of this PID namespace and those below, but those of `without`. */
static void list_processes(struct pids *found, const struct pids *without)
{
    DIR *folder = open_folder(".");
    struct dirent *entry;
    found->count = 0;
    while (folder && (entry = readdir(folder)) && found->count < MAX_PIDS) {
        long pid = atol(entry->d_name);
        if (pid > 0 && !is_among(pid, without))
            found->pid[found->count++] = pid;
    }
    if (folder)
        closedir(folder);
}

static ssize_t read_proc(const char *path, char *text, size_t room)
{
    int fd = openat(box.proc, path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = 0;
    return size;
}

/* CPU seconds of all threads of a process, ended ones included; 0 if it has ended. */
static double cpu_of(long pid)
{
    struct timespec t;
    if (clock_gettime((clockid_t)((~(unsigned)pid << 3) | 2), &t)) /* clock_getcpuclockid(3) */
        return 0;
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* CPU seconds of a process's children that have ended and were waited for. */
static double cpu_of_dead_children(long pid)
{
    char path[32], text[1024], *at;
    unsigned long user, system;
    snprintf(path, sizeof path, "%ld/stat", pid);
    if (read_proc(path, text, sizeof text) <= 0 || !(at = strrchr(text, ')')))
        return 0;
    if (sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return 0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double cpu_of_all(const struct pids *pids, int may_fork)
{
    double sum = 0;
    for (int i = 0; i < pids->count; i++)
        sum += cpu_of(pids->pid[i]) + (may_fork ? cpu_of_dead_children(pids->pid[i]) : 0);
    return sum;
}

/* Bytes of memory that a process holds; 0 if it has ended. */
static unsigned long long resident_of(long pid)
{
    char path[32], text[128];
    unsigned long long pages = 0;
    snprintf(path, sizeof path, "%ld/statm", pid);
    if (read_proc(path, text, sizeof text) <= 0 || sscanf(text, "%*u %llu", &pages) != 1)
        return 0;
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

/* That of the process that holds most. */
static unsigned long long largest_resident(const struct pids *pids)
{
    unsigned long long most = 0;
    for (int i = 0; i < pids->count; i++) {
        unsigned long long one = resident_of(pids->pid[i]);
        most = one > most ? one : most;
    }
    return most;
}

/* Calls `look(path of the task, argument)` for every thread of these processes, until one call returns other than 0. */
static int each_task(const struct pids *pids, int (*look)(const char *, void *), void *argument)
{
    for (int i = 0; i < pids->count; i++) {
        char path[64];
        struct dirent *entry;
        int found = 0;
        snprintf(path, sizeof path, "%ld/task", pids->pid[i]);
        DIR *folder = open_folder(path);
        while (folder && !found && (entry = readdir(folder)))
            if (atol(entry->d_name) > 0) {
                snprintf(path, sizeof path, "%ld/task/%ld", pids->pid[i], atol(entry->d_name));
                found = look(path, argument);
            }
        if (folder)
            closedir(folder);
        if (found)
            return found;
    }
    return 0;
}

struct waits {
    double used, longest;
};

static int look_at_wait(const char *task, void *argument)
{
    struct waits *waits = argument;
    unsigned long long ran, waited;
    char path[96], text[128];
    snprintf(path, sizeof path, "%s/schedstat", task);
    if (read_proc(path, text, sizeof text) > 0 && sscanf(text, "%llu %llu", &ran, &waited) == 2) {
        double others = waits->used - ran * 1e-9;
        double kept = waited * 1e-9 - (others > 0 ? others : 0);
        kept = kept > 0 ? kept : 0;
        waits->longest = kept > waits->longest ? kept : waits->longest;
    }
    return 0;
}

/* Seconds for which a thread of these processes was kept from running by others; UNKNOWN if the kernel does not say.
 * All threads share one processor, so one waits for exactly as long as the others use it: see watchdog.py. */
static double starved_of(const struct pids *pids, int may_fork)
{
    struct waits waits = {cpu_of_all(pids, may_fork), UNKNOWN};
    each_task(pids, look_at_wait, &waits);
    return waits.longest;
}

static char state_of(const char *task, long *switches)
{
    char path[96], text[4096], *at, state;
    snprintf(path, sizeof path, "%s/status", task);
    if (read_proc(path, text, sizeof text) <= 0 || !(at = strstr(text, "\nState:\t")))
        return 0;
    state = at[8];
    if (switches && (at = strstr(text, "\nvoluntary_ctxt_switches:\t")))
        *switches += atol(at + 26);
    return state;
}

static int is_runnable(const char *task, void *unused)
{
    (void)unused;
    return state_of(task, NULL) == 'R';
}

/* Whether a thread could run, and none has had a processor for a while. The kernel counts a wait when it ends: a thread
 * that is waiting now would look asleep. */
static int is_held_up(const struct pids *pids)
{
    if (!each_task(pids, is_runnable, NULL))
        return 0;
    double before = cpu_of_all(pids, 0);
    usleep((useconds_t)(HELD_UP_SECONDS * 1e6));
    return cpu_of_all(pids, 0) == before;
}

static int look_at_sleep(const char *task, void *argument)
{
    char state = state_of(task, argument);
    return state && state != 'S';
}

/* How often all threads of these processes have gone to sleep, if all are asleep; negative otherwise. */
static long sleeps_of(const struct pids *pids)
{
    long switches = 0;
    return each_task(pids, look_at_sleep, &switches) ? -1 : switches;
}
#endif

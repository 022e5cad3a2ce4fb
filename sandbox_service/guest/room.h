/* Builds the launcher's root file system: small, read-only, made once before it serves. What rootfs.py is for Python.
 *
 * Shown: three harmless devices, a short passwd, empty mount points for the box's own /tmp and /proc, and the folders that
 * the host names. A room for static programs shows no folder at all. Nothing in it can then be executed: every file
 * system of such a room is mounted noexec.
 */
#ifndef ROOM_H
#define ROOM_H

#include "box.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define ROOM "/tmp/room" /* the isolation tool's private /tmp, not the machine's */
#define SHOWN_FLAGS (MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    STEP(fd);
    STEP(write(fd, text, strlen(text)));
    close(fd);
}

/* Make the folders above `path`, and `path` itself if `whole`. */
static void make_folders(char *path, int whole)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        if (mkdir(path, 0755) && errno != EEXIST)
            fail("mkdir");
        *at = '/';
    }
    if (whole && mkdir(path, 0755) && errno != EEXIST)
        fail("mkdir");
}

/* The mount flags that may not be dropped in a user namespace; a remount without them is refused. */
static unsigned long flags_to_keep(const char *target)
{
    struct statvfs seen;
    STEP(statvfs(target, &seen));
    unsigned long kept = seen.f_flag & (ST_NOEXEC | ST_NOATIME | ST_NODIRATIME); /* the same numbers as MS_... */
    return kept | (seen.f_flag & ST_RELATIME ? MS_RELATIME : 0);
}

/* Show a folder or a file of the machine, read-only, at its own path. One that is not there is left out. */
static void show(const char *source)
{
    char target[PATH_MAX];
    struct stat seen;
    if (stat(source, &seen))
        return;
    snprintf(target, sizeof target, ROOM "%s", source);
    make_folders(target, S_ISDIR(seen.st_mode));
    if (!S_ISDIR(seen.st_mode))
        put(target, "");
    STEP(mount(source, target, NULL, MS_BIND | MS_REC, NULL));
    STEP(mount(NULL, target, NULL, SHOWN_FLAGS | flags_to_keep(target), NULL));
}

/* /bin, /lib and their like, where they are links into /usr. */
static void show_links(void)
{
    static const char *const links[] = {"bin", "lib", "lib64", "sbin"};
    char from[16], to[64], target[PATH_MAX];
    for (int i = 0; i < 4; i++) {
        snprintf(from, sizeof from, "/%s", links[i]);
        snprintf(to, sizeof to, ROOM "/%s", links[i]);
        ssize_t size = readlink(from, target, sizeof target - 1);
        if (size > 0) {
            target[size] = 0;
            STEP(symlink(target, to));
        }
    }
}

static void show_devices(void)
{
    /* not /dev/zero: a shared mapping of it is anonymous memory that RLIMIT_DATA does not count */
    static const char *const devices[] = {"null", "random", "urandom"};
    static const char *const streams[] = {"stdin", "stdout", "stderr"};
    char from[32], to[64];
    STEP(mkdir(ROOM "/dev", 0755));
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        snprintf(from, sizeof from, "/dev/%s", devices[i]);
        snprintf(to, sizeof to, ROOM "/dev/%s", devices[i]);
        put(to, "");
        STEP(mount(from, to, NULL, MS_BIND, NULL));
    }
    STEP(symlink("/proc/self/fd", ROOM "/dev/fd"));
    STEP(symlink("/tmp", ROOM "/dev/shm"));
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "/proc/self/fd/%d", i);
        snprintf(to, sizeof to, ROOM "/dev/%s", streams[i]);
        STEP(symlink(from, to));
    }
}

static void write_passwd(void)
{
    char text[256];
    make_folders((char[]){ROOM "/etc"}, 1);
    snprintf(text, sizeof text, "root:x:0:0::/:/bin/false\nbox:x:%d:%d::/tmp:/bin/false\n", box.uid[0], box.uid[0]);
    put(ROOM "/etc/passwd", text);
    snprintf(text, sizeof text, "root:x:0:\nbox:x:%d:\n", box.uid[0]);
    put(ROOM "/etc/group", text);
}

/* For a user namespace: a skeleton of /proc, and the real one at /tmp, from which a box mounts its own process. */
static void show_proc(void)
{
    static const char *const files[] = {"cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"};
    char from[32], to[64];
    STEP(mkdir(ROOM "/proc/1", 0755));
    STEP(symlink("1", ROOM "/proc/self"));
    STEP(symlink("self/net", ROOM "/proc/net"));
    for (int i = 0; i < 7; i++) {
        snprintf(from, sizeof from, "/proc/%s", files[i]);
        snprintf(to, sizeof to, ROOM "/proc/%s", files[i]);
        put(to, "");
        STEP(mount(from, to, NULL, MS_BIND, NULL));
    }
    STEP(mount("/proc", ROOM "/tmp", NULL, MS_BIND | MS_REC, NULL));
}

static void enter_user_namespace(void)
{
    char map[64];
    uid_t uid = getuid(), gid = getgid();
    STEP(unshare(CLONE_NEWUSER | CLONE_NEWNS));
    put("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%d %d 1", uid, uid);
    put("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%d %d 1", gid, gid);
    put("/proc/self/gid_map", map);
}

/* Build the root file system with `count` folders of the machine, and enter it. */
static void build_room(char *const *shown, int count)
{
    if (box.change_user)
        STEP(unshare(CLONE_NEWNS));
    else
        enter_user_namespace();
    STEP(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
    if (mkdir(ROOM, 0755) && errno != EEXIST)
        fail("mkdir(ROOM)");
    STEP(mount("tmpfs", ROOM, "tmpfs", 0, "size=1m,mode=755"));
    for (int i = 0; i < count; i++)
        show(shown[i]);
    if (count)
        show_links();
    show_devices();
    write_passwd();
    STEP(mkdir(ROOM "/proc", 0755));
    STEP(mkdir(ROOM "/tmp", 0755));
    if (!box.change_user)
        show_proc();
    STEP(chdir(ROOM));
    STEP(change_root());
    STEP(chdir("/"));
    STEP(mount(NULL, "/", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | (count ? 0 : MS_NOEXEC), NULL));
}
#endif

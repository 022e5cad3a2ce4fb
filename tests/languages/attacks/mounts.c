// Another view of the file system: mounts old and new, namespaces, roots, handles. Must fail.
// proctor: {"expect": ["WA", "RTE"]}
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static void tried(const char *what, long result) {
    if (result >= 0) printf("ESCAPED %s\n", what);
}
int main(void) {
    mkdir("/tmp/m", 0755);
    tried("mount", mount("none", "/tmp/m", "tmpfs", 0, ""));
    tried("bind", mount("/", "/tmp/m", 0, MS_BIND | MS_REC, 0));
    tried("remount", mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0));
    tried("umount", umount2("/tmp", MNT_DETACH));
    tried("umount proc", umount2("/proc", MNT_DETACH));
    tried("pivot_root", syscall(SYS_pivot_root, "/tmp/m", "/tmp/m"));
    tried("chroot", chroot("/tmp/m"));
    tried("unshare", unshare(CLONE_NEWUSER));
    tried("unshare mounts", unshare(CLONE_NEWNS));
    tried("setns", setns(open("/proc/self/ns/mnt", O_RDONLY), 0));
    tried("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
    tried("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1));
    tried("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/tmp/m", AT_FDCWD, "/", 0));
    char handle[128] = {64};
    int mount_id;
    if (!syscall(SYS_name_to_handle_at, AT_FDCWD, "/", handle, &mount_id, 0))
        tried("open_by_handle_at", syscall(SYS_open_by_handle_at, AT_FDCWD, handle, O_RDONLY));
    tried("mknod", mknod("/tmp/sda", S_IFBLK | 0600, (8 << 8)));
    puts("held");
}

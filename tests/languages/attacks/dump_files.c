// Everything that can be read, printed: files from the root, descriptors, environment. The answer must not be in it.
// proctor: {"expect": ["WA", "RTE", "OLE", "TLE"]}
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void show(const char *path) {
    char text[4096];
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (size > 0) write(1, text, size);
    if (fd >= 0) close(fd);
}
static void walk(const char *path, int depth) {
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *each; (each = readdir(folder));) {
        char inner[4096];
        struct stat seen;
        if (each->d_name[0] == '.' && (!each->d_name[1] || each->d_name[1] == '.')) continue;
        snprintf(inner, sizeof inner, "%s/%s", strcmp(path, "/") ? path : "", each->d_name);
        if (lstat(inner, &seen)) continue;
        if (S_ISDIR(seen.st_mode) && depth < 4) walk(inner, depth + 1);
        else if (S_ISREG(seen.st_mode) || S_ISLNK(seen.st_mode)) show(inner);
    }
    closedir(folder);
}
int main(int count, char **arguments, char **environment) {
    while (count-- > 0) puts(*arguments++);
    for (; *environment; environment++) puts(*environment);
    fflush(stdout);
    walk("/tmp", 0);
    walk("/", 0);
}

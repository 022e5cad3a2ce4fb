/* The first process of a compile box: runs compilers one after the other, then copies what they made to descriptor 3.
 *
 *     builder MADE COMMAND... [; COMMAND...]
 *
 * MADE is a file or a folder, of which every file is copied as its size in eight bytes, its path, a zero and its bytes.
 * Ends with the status of the first command that fails, with 128 and the signal if that was killed, with NOT_STARTED or
 * with NOTHING_MADE. Links are not followed: a source must not be able to name another file as what was made. Descriptors
 * from 4 on are the compilers'.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUT 3
#define NOT_STARTED 125
#define NOTHING_MADE 126
#define MOST_DEPTH 16

static int run(char **command, char **environment)
{
    int status;
    pid_t pid = vfork();
    if (pid == 0) {
        close(OUT);
        execve(command[0], command, environment);
        _exit(NOT_STARTED);
    }
    if (pid < 0)
        return NOT_STARTED;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return NOT_STARTED;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int copy(int from, off_t size)
{
    for (off_t at = 0; at < size;)
        if (sendfile(OUT, from, &at, (size_t)(size - at)) <= 0)
            return -1;
    return 0;
}

static int put(const void *bytes, size_t size) { return write(OUT, bytes, size) == (ssize_t)size ? 0 : -1; }

static int copy_folder(int folder, const char *prefix, int depth);

static int copy_entry(int folder, const char *prefix, const char *name, int depth)
{
    char path[PATH_MAX];
    struct stat made;
    if (snprintf(path, sizeof path, "%s%s", prefix, name) >= (int)sizeof path - 1)
        return -1;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), failed = fd < 0 || fstat(fd, &made);
    if (!failed && S_ISDIR(made.st_mode))
        return copy_folder(fd, strcat(path, "/"), depth + 1);
    if (!failed && S_ISREG(made.st_mode)) {
        uint64_t size = (uint64_t)made.st_size;
        failed = put(&size, sizeof size) || put(path, strlen(path) + 1) || copy(fd, made.st_size);
    }
    if (fd >= 0)
        close(fd);
    return failed ? -1 : 0;
}

/* Closes `folder`. */
static int copy_folder(int folder, const char *prefix, int depth)
{
    DIR *entries = depth > MOST_DEPTH ? NULL : fdopendir(folder);
    struct dirent *entry;
    int failed = !entries;
    while (!failed && (entry = readdir(entries)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            failed = copy_entry(dirfd(entries), prefix, entry->d_name, depth);
    if (entries)
        closedir(entries);
    else
        close(folder);
    return failed ? -1 : 0;
}

static int copy_made(const char *path)
{
    struct stat made;
    int from = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (from < 0 || fstat(from, &made))
        return -1;
    if (S_ISDIR(made.st_mode))
        return copy_folder(from, "", 0);
    return S_ISREG(made.st_mode) ? copy(from, made.st_size) : -1;
}

int main(int count, char **arguments, char **environment)
{
    int first = 2;
    for (int i = 2; i <= count; i++) {
        if (i < count && strcmp(arguments[i], ";"))
            continue;
        arguments[i] = NULL;
        int status = i > first ? run(arguments + first, environment) : 0;
        if (status)
            return status;
        first = i + 1;
    }
    return count < 2 || copy_made(arguments[1]) ? NOTHING_MADE : 0;
}

/* The least that a run can cost: fork, execute and wait, COUNT times, without any isolation.
 *
 *     bare COUNT INPUT OUTPUT COMMAND...
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    int in = open(arguments[2], O_RDONLY), out = open(arguments[3], O_WRONLY | O_CREAT | O_TRUNC, 0600), status;
    if (count < 5 || in < 0 || out < 0)
        return 2;
    for (int left = atoi(arguments[1]); left > 0; left--) {
        lseek(in, 0, SEEK_SET);
        pid_t pid = fork();
        if (pid == 0) {
            dup2(in, 0), dup2(out, 1);
            execv(arguments[4], arguments + 4);
            _exit(97);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            return 1;
    }
    return 0;
}

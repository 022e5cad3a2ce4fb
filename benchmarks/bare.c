/* The least that a run can cost: fork, execute and wait, COUNT times, without any isolation.
 *
 *     bare COUNT INPUT OUTPUT COMMAND...
 *     bare COUNT talk PROGRAM INTERACTOR...
 *
 * The second form runs two programs at once, each of which reads what the other one writes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCEPTED 42 /* an interactor's exit status */

static pid_t start(int in, int out, char **command)
{
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in, 0), dup2(out, 1);
        execv(command[0], command);
        _exit(97);
    }
    return pid;
}

/* The exit status; -1 if it did not exit. */
static int end_of(pid_t pid)
{
    int status;
    return pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

static int run(int in, int out, char **command)
{
    lseek(in, 0, SEEK_SET);
    return end_of(start(in, out, command)) != 0;
}

static int talk(char **arguments)
{
    char *program[] = {arguments[0], NULL};
    int questions[2], answers[2];
    if (pipe2(questions, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
        return 1;
    pid_t interactor = start(answers[0], questions[1], arguments + 1), talker = start(questions[0], answers[1], program);
    close(questions[0]), close(questions[1]), close(answers[0]), close(answers[1]);
    int said = end_of(interactor), ended = end_of(talker);
    return said != ACCEPTED || ended != 0;
}

int main(int count, char **arguments)
{
    int talks = count >= 5 && !strcmp(arguments[2], "talk"), in = -1, out = -1;
    if (count >= 5 && !talks) {
        in = open(arguments[2], O_RDONLY);
        out = open(arguments[3], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    if (!talks && (in < 0 || out < 0))
        return 2;
    for (int left = atoi(arguments[1]); left > 0; left--)
        if (talks ? talk(arguments + 3) : run(in, out, arguments + 4))
            return 1;
    return 0;
}

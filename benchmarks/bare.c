/* The least that a run can cost: fork, execute and wait, COUNT times, without any isolation.
 *
 *     bare COUNT INPUT OUTPUT COMMAND...
 *     bare COUNT talk PROGRAM INTERACTOR...
 *     bare COUNT relay PROGRAM INTERACTOR...
 *
 * The second form runs two programs at once, each of which reads what the other one writes. In the third one this process
 * stands between them, and passes on what each writes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
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

/* Pass on what comes from each source to its sink, until both have ended. */
static void pass_on(const int *sources, const int *sinks)
{
    static char piece[1 << 16];
    struct pollfd polled[] = {{sources[0], POLLIN, 0}, {sources[1], POLLIN, 0}};
    for (int open = 2; open > 0 && poll(polled, 2, -1) > 0;)
        for (int i = 0; i < 2; i++) {
            ssize_t size = polled[i].revents ? read(sources[i], piece, sizeof piece) : -1;
            if (size == 0) {
                polled[i].fd = -1;
                close(sinks[i]);
                open--;
            } else if (size > 0 && write(sinks[i], piece, (size_t)size) != size)
                return;
        }
}

static int relay(char **arguments)
{
    char *program[] = {arguments[0], NULL};
    int said_by[2][2], told_to[2][2]; /* the interactor, the program */
    for (int i = 0; i < 2; i++)
        if (pipe2(said_by[i], O_CLOEXEC) || pipe2(told_to[i], O_CLOEXEC))
            return 1;
    pid_t interactor = start(told_to[0][0], said_by[0][1], arguments + 1), talker = start(told_to[1][0], said_by[1][1], program);
    for (int i = 0; i < 2; i++)
        close(said_by[i][1]), close(told_to[i][0]);
    pass_on((int[]){said_by[0][0], said_by[1][0]}, (int[]){told_to[1][1], told_to[0][1]});
    int said = end_of(interactor), ended = end_of(talker);
    close(said_by[0][0]), close(said_by[1][0]);
    return said != ACCEPTED || ended != 0;
}

int main(int count, char **arguments)
{
    int relays = count >= 5 && !strcmp(arguments[2], "relay"), in = -1, out = -1;
    int talks = relays || (count >= 5 && !strcmp(arguments[2], "talk"));
    if (count >= 5 && !talks) {
        in = open(arguments[2], O_RDONLY);
        out = open(arguments[3], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    if (!talks && (in < 0 || out < 0))
        return 2;
    for (int left = atoi(arguments[1]); left > 0; left--)
        if (relays ? relay(arguments + 3) : talks ? talk(arguments + 3) : run(in, out, arguments + 4))
            return 1;
    return 0;
}

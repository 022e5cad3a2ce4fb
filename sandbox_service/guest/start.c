/* Linked into every C and C++ program, in front of the submission. It serves honest programs and is no wall.
 *
 * glibc takes the default stack of threads from RLIMIT_STACK, which is large for recursion: a program could not start
 * many. And signals have no effect in the first process of a PID namespace unless they have a handler, but for faults:
 * abort() would end by SIGSEGV, and a program that raises a signal, or whose alarm rings, or that is at its limit of
 * output, would go on. With a handler it ends with the status that a shell shows for the signal. SIGPIPE stays without:
 * an interactor may end first. The filter ends a program that sends itself SIGKILL (sandbox/seccomp.py).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define THREAD_STACK_BYTES (8 << 20)
#define SIGNALLED 128

/* A fault happens again when the handler has returned, and ends the program as the kernel does it. */
static void end(int number, siginfo_t *info, void *context)
{
    int is_fault = (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL) && info->si_code > 0;
    (void)context;
    if (!is_fault && getpid() == 1)
        _exit(SIGNALLED + number);
    signal(number, SIG_DFL);
    if (!is_fault)
        raise(number);
}

/* In place of glibc's, which asks for the program's path at every start: a static program needs it for $ORIGIN in dlopen,
 * and a box has nothing to open. -1: unknown. */
const char *_dl_get_origin(void) { return (const char *)-1; }

__attribute__((constructor)) static void start(void)
{
    static const char ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV,
                                  SIGUSR2, SIGALRM, SIGTERM, SIGVTALRM, SIGPROF, SIGXFSZ};
    struct sigaction action = {.sa_sigaction = end, .sa_flags = SA_SIGINFO};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    pthread_setattr_default_np(&attributes);
    for (unsigned i = 0; i < sizeof ending; i++)
        sigaction(ending[i], &action, NULL);
}

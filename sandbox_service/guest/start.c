/* Linked into every C and C++ program, in front of the submission. It serves honest programs and is no wall.
 *
 * glibc takes the default stack of threads from RLIMIT_STACK, which is large for recursion: a program could not start
 * many. And some signals have no effect in the first process of a PID namespace unless they have a handler: abort() would
 * end by SIGSEGV, and a program at its limit of output would go on. With a handler both end with the status that a shell
 * shows for the signal.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define THREAD_STACK_BYTES (8 << 20)
#define SIGNALLED 128

static void end(int number) { _exit(SIGNALLED + number); }

__attribute__((constructor)) static void start(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    pthread_setattr_default_np(&attributes);
    signal(SIGABRT, end);
    signal(SIGXFSZ, end);
}

// CPU time that is not counted: timers, clocks, sleeping threads, other processors. The limit must still end it.
// proctor: {"expect": ["TLE"], "full": true}
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static volatile long spun;
static void *spin(void *none) {
    for (;;) {
        spun++;
        if (spun % 100000 == 0) usleep(1), sched_yield();
    }
    return none;
}
int main(void) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int at = 0; at < 64; at++) CPU_SET(at, &all);
    sched_setaffinity(0, sizeof all, &all);
    for (int number = 1; number < 64; number++) signal(number, SIG_IGN);
    struct rlimit more = {1000, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &more);
    pthread_t thread;
    for (int at = 0; at < 8; at++) pthread_create(&thread, 0, spin, 0);
    spin(0);
}

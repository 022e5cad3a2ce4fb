// As many threads as there may be, each with a stack that is touched.
// proctor: {"expect": ["RTE", "MLE", "TLE", "WA"], "full": true}
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void *wait_long(void *none) {
    char stack[1 << 19];
    memset(stack, 1, sizeof stack);
    sleep(100);
    return stack[5] ? none : 0;
}
int main(void) {
    pthread_t thread;
    long made = 0;
    while (!pthread_create(&thread, 0, wait_long, 0)) made++;
    if (made > 2000) puts("ESCAPED thousands of threads");
    sleep(100);
}

// Success before main, in a constructor and at the end of the process: no exit status pays.
// proctor: {"expect": ["WA", "RTE"]}
#include <cstdlib>
#include <unistd.h>
struct First {
    First() { std::atexit([] { _exit(0); }); std::at_quick_exit([] { _exit(0); }); }
    ~First() { _exit(0); }
} first;
int main() { throw 0; }

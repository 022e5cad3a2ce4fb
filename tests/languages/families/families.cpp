// Attacks by what C++ has. The first word of the input names the one to run, before main; `clean` is an honest run.
#include <bits/stdc++.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <unistd.h>

static std::ios_base::Init streams __attribute__((init_priority(200)));
static std::string family __attribute__((init_priority(300)));
static bool throws = false;

void *operator new(std::size_t size)
{
    void *made = throws ? nullptr : std::malloc(size);
    if (!made)
        throw std::bad_alloc();
    return made;
}
void operator delete(void *given) noexcept { std::free(given); }
void operator delete(void *given, std::size_t) noexcept { std::free(given); }

static void terminate() { std::set_terminate([] { _exit(0); }), throw std::runtime_error("never seen"); }
static void quick_end() { std::at_quick_exit([] { _exit(0); }), std::quick_exit(3); }
static void lacks_memory() { throws = true, (void)std::string(100, 'x'); }
static void new_handler() { std::set_new_handler([] { _exit(0); }), throws = true, (void)new int; }
static void unwinds() { std::thread([] { throw 1; }).detach(), sleep(1); }

static sigjmp_buf back;
static void survives()
{
    for (int number : {SIGABRT, SIGSEGV, SIGFPE, SIGTERM})
        std::signal(number, [](int) { siglongjmp(back, 1); });
    for (volatile int tries = 0; tries < 4; tries = tries + 1)
        if (!sigsetjmp(back, 1)) {
            if (tries == 0) std::abort();
            if (tries == 1) *(volatile int *)nullptr = 1;
            if (tries == 2) std::raise(SIGTERM);
        }
    std::cout << "survived" << std::endl;
}

static void walks()
{
    for (const char *path : {"/", "/proc/1/root", "/tmp/..", "/proc/self/cwd/.."}) {
        std::error_code error;
        using Walk = std::filesystem::recursive_directory_iterator;
        for (Walk at(path, std::filesystem::directory_options::skip_permission_denied, error), end; at != end; at.increment(error)) {
            if (error || at.depth() > 6) break;
            std::ifstream file(at->path());
            std::string text;
            if (at->is_regular_file(error) && at->path().string().find("/proc") != 0 && std::getline(file, text)) std::cout << text << '\n';
        }
    }
}

static void floods()
{
    std::vector<std::future<int>> all;
    try {
        for (int i = 0; i < 5000; i++)
            all.push_back(std::async(std::launch::async, [] { usleep(100000); return 1; }));
        std::cout << "ESCAPED five thousand threads" << std::endl;
    } catch (const std::system_error &) {
    }
    _exit(0);
}

static void loads()
{
    for (const char *name : {"/usr/lib/x86_64-linux-gnu/libm.so.6", "libc.so.6", "/proc/self/exe"})
        if (dlopen(name, RTLD_NOW))
            std::cout << "ESCAPED loaded " << name << std::endl;
}

static void redirects()
{
    static std::ofstream elsewhere("/proc/self/fd/0");
    std::cout.rdbuf(elsewhere.rdbuf());
    std::cout << "730194242 is not known" << std::endl;
}

static void smashes()
{
    volatile char room[8];
    for (volatile char *at = room; at < room + 4096; at++) *at = 0x41;
}

struct First {
    First()
    {
        const std::map<std::string, void (*)()> families = {
            {"terminate", terminate}, {"quick_end", quick_end}, {"lacks_memory", lacks_memory}, {"new_handler", new_handler},
            {"unwinds", unwinds}, {"survives", survives}, {"walks", walks}, {"floods", floods}, {"loads", loads},
            {"redirects", redirects}, {"smashes", smashes}, {"clean", [] { std::cout << "clean" << std::endl; }}};
        std::cin >> family;
        families.at(family)();
    }
    ~First() { _exit(0); }
};
static First first __attribute__((init_priority(1000)));

int main() {}

/* Moves memory of the zygote to huge pages, so that a fork copies fewer page table entries. Included by _box.c, once.
 *
 * The text of the interpreter is mapped by huge entries. The written memory is not, since a box would split them when it
 * writes; but the kernel handles the entries of neighbours in one huge page together, in a fork and at the end of a process. A
 * box copies single small pages, as before. Without huge pages (no free one, or Linux before 6.1) everything is as it was, and
 * before Linux 6.9 a fork copies the entries one by one.
 */
#ifndef PAGES_H
#define PAGES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE (2UL << 20)
#define MOST_SPANS 64
#define LEAST_SPAN (128UL << 10) /* bytes: each span is a mapping more, which a fork copies too */
#define LEAST_HOLE (128UL << 10) /* bytes of unused pages: fewer are moved along, and take memory then */
#define PAGES_AT_ONCE 512
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

struct span {
    char *start, *end;
};

struct spans {
    struct span of[MOST_SPANS];
    int count;
};

/* A multiple of HUGE_PAGE. */
static size_t rounded_up(size_t size) { return (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1); }

/* New memory of `size` bytes, a multiple of HUGE_PAGE, aligned to it; `*room` is the mapping, which has HUGE_PAGE bytes more. */
static char *aligned_room(size_t size, char **room)
{
    *room = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return *room == MAP_FAILED ? NULL : (char *)rounded_up((uintptr_t)*room);
}

/*** The text ***/

PyDoc_STRVAR(huge_text_doc, "huge_text(start, end)\n\n"
"Replace the read-only span [start, end) of the interpreter, which must be aligned to 2 MiB, by a copy in huge\n"
"pages: a fork then copies far fewer page table entries and takes far fewer faults. Raise OSError.");
static PyObject *huge_text(PyObject *self, PyObject *args)
{
    unsigned long long start, end;
    char *room;
    if (!PyArg_ParseTuple(args, "KK", &start, &end))
        return NULL;
    size_t size = end - start;
    char *copy = aligned_room(size, &room);
    if (!copy)
        return os_error();
    madvise(copy, size, MADV_HUGEPAGE);
    memcpy(copy, (void *)(uintptr_t)start, size);
    if (mprotect(copy, size, PROT_READ | PROT_EXEC))
        return os_error();
    if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)start) == MAP_FAILED)
        return os_error();
    Py_RETURN_NONE;
}

/*** The written memory ***/

static void add_span(struct spans *spans, uintptr_t start, uintptr_t end)
{
    if (end - start >= LEAST_SPAN && spans->count < MOST_SPANS)
        spans->of[spans->count++] = (struct span){(char *)start, (char *)end};
}

/* Add the used parts of a mapping: those that are in memory. */
static void add_used(struct spans *spans, uintptr_t start, uintptr_t end, size_t page_bytes)
{
    unsigned char used[PAGES_AT_ONCE];
    uintptr_t first = 0, after = 0; /* of the part that is being looked at; none if `after` is 0 */
    for (uintptr_t at = start; at < end; at += PAGES_AT_ONCE * page_bytes) {
        size_t size = end - at < PAGES_AT_ONCE * page_bytes ? end - at : PAGES_AT_ONCE * page_bytes;
        if (mincore((void *)at, size, used))
            return;
        for (uintptr_t page = at; page < at + size; page += page_bytes) {
            if (!(used[(page - at) / page_bytes] & 1))
                continue;
            if (after && page - after >= LEAST_HOLE)
                add_span(spans, first, after);
            if (!after || page - after >= LEAST_HOLE)
                first = page;
            after = page + page_bytes;
        }
    }
    add_span(spans, first, after);
}

/* The memory that this process has written to, without its stack and the small data of libraries; 0, or -1 with errno. */
static int find_written(int proc, struct spans *spans)
{
    int fd = openat(proc, "self/maps", O_RDONLY | O_CLOEXEC), name;
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
    char line[512], flags[5];
    unsigned long start, end;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (!maps)
        return -1;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &start, &end, flags, &name) == 3 && !strcmp(flags, "rw-p")
            && (line[name] != '[' || !strncmp(line + name, "[heap]", 6)))
            add_used(spans, start, end, page_bytes);
    fclose(maps);
    return 0;
}

static size_t bytes_of(const struct span *span) { return (size_t)(span->end - span->start); }

/* Copy the spans and put the copies in their places. Nothing may be written to a span between the two: what this needs is on the
 * stack. 0, or -1 with errno. */
static int move(const struct spans *spans, char *to)
{
    for (int i = 0; i < spans->count; i++) {
        const struct span *span = &spans->of[i];
        memcpy(to, span->start, bytes_of(span));
        if (mremap(to, bytes_of(span), bytes_of(span), MREMAP_MAYMOVE | MREMAP_FIXED, span->start) == MAP_FAILED)
            return -1;
        to += bytes_of(span);
    }
    return 0;
}

PyDoc_STRVAR(huge_data_doc, "huge_data(proc_fd) -> int\n\n"
"Move the memory that this process has written to into huge pages, at the same addresses. It must have one thread. Return\n"
"how many bytes were moved. Raise OSError.");
static PyObject *huge_data(PyObject *self, PyObject *args)
{
    struct spans spans = {.count = 0};
    int proc;
    size_t size = 0;
    char *room;
    if (!PyArg_ParseTuple(args, "i", &proc))
        return NULL;
    if (find_written(proc, &spans))
        return os_error();
    for (int i = 0; i < spans.count; i++)
        size += bytes_of(&spans.of[i]);
    size_t whole = rounded_up(size);
    char *copy = aligned_room(whole, &room);
    if (!copy)
        return os_error();
    memset(copy, 0, whole); /* else there is nothing to collapse */
    madvise(copy, whole, MADV_COLLAPSE);
    if (move(&spans, copy))
        return os_error();
    if (copy > room)
        munmap(room, (size_t)(copy - room));
    munmap(copy + size, (size_t)(room + whole + HUGE_PAGE - copy) - size);
    return PyLong_FromSize_t(size);
}

#endif

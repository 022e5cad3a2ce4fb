/* What a box of several tests does between two of them, and before the first: for shared.py and plain_programs.py. Included
 * by _box.c, once.
 *
 * All of this serves honest programs: the submission controls its process. It is C because every box pays for it before its
 * first test: a page of the zygote's that a box writes to is copied, and Python writes to the reference count of all that it
 * looks at.
 */
#ifndef SHARED_H
#define SHARED_H

#include <sys/stat.h>

/*** What a program uses ***/

/* The tables of plain_programs.py. */
struct tables {
    PyObject *refused, *special; /* sets of names */
    PyObject *unread;            /* names that may be anything but attributes that are read */
    PyObject *bits;              /* by module's name: its group's bit */
    PyObject *hidden;            /* a list, by group: None, or the set of names that its module hides */
    const char *kinds; /* of instructions, by number: one of KINDS in plain_programs.py, and by how far their argument is shifted */
};
enum kind { OTHER, EXTENDED, IMPORTS, READS, CHANGES };
#define SHIFT 4

/* Borrowed; NULL, and no exception, if there is none. */
static PyObject *found_in(PyObject *dict, PyObject *key) { return PyDict_GetItemWithError(dict, key); }

static int is_special(PyObject *name)
{
    return PyUnicode_GetLength(name) > 1 && PyUnicode_ReadChar(name, 0) == '_' && PyUnicode_ReadChar(name, 1) == '_';
}

/* The bits of a name: those of the module that is called so; -1 if no plain program has the name. */
static long long bits_of(const struct tables *t, PyObject *name)
{
    if (PySet_Contains(t->refused, name) || (is_special(name) && !PySet_Contains(t->special, name)))
        return -1;
    PyObject *bit = found_in(t->bits, name);
    return bit ? PyLong_AsLongLong(bit) : 0;
}

/* 1 if a module of these groups hides the name. */
static int is_hidden(const struct tables *t, PyObject *name, long long groups)
{
    for (Py_ssize_t group = 0; groups >> group; group++)
        if (groups >> group & 1 && PySet_Contains(PyList_GetItem(t->hidden, group), name))
            return 1;
    return 0;
}

/* A name in the first pass (`groups` 0) adds its bits, in the second one it is looked for among what is hidden. -1: refused. */
static long long look_at(const struct tables *t, PyObject *name, long long groups)
{
    return groups ? -is_hidden(t, name, groups) : bits_of(t, name);
}

/* 0 if an instruction may not have its name. A plain program imports known modules, and changes no special attribute: those of
 * a function are in no dictionary (`heapq.merge.__doc__ = 1`), or in one of their own (`heapq.merge.__annotations__`). */
static int fits(const struct tables *t, enum kind kind, PyObject *name)
{
    if (kind == IMPORTS)
        return found_in(t->bits, name) != NULL;
    if (kind == CHANGES)
        return !is_special(name);
    return kind != READS || !PySet_Contains(t->unread, name);
}

/* 0 if an instruction does not fit. Each has two bytes: a number and an argument. */
static int instructions_fit(const struct tables *t, const unsigned char *text, Py_ssize_t size, PyObject *names)
{
    unsigned long argument = 0;
    for (Py_ssize_t at = 0; at + 1 < size; at += 2) {
        enum kind kind = t->kinds[text[at]] & ((1 << SHIFT) - 1);
        argument = argument << 8 | text[at + 1];
        if (kind == EXTENDED)
            continue;
        if (kind != OTHER) {
            PyObject *name = PyTuple_GetItem(names, (Py_ssize_t)(argument >> (t->kinds[text[at]] >> SHIFT)));
            if (!name || !fits(t, kind, name))
                return 0;
        }
        argument = 0;
    }
    return 1;
}

/* The bits of all names in a code object and those in it, or -1; attributes of class patterns are tuples of constants. */
static long long walk(const struct tables *t, PyObject *code, long long groups)
{
    PyObject *names = PyObject_GetAttrString(code, "co_names"), *constants = PyObject_GetAttrString(code, "co_consts");
    PyObject *text = groups ? NULL : PyObject_GetAttrString(code, "co_code");
    long long found = 0, bits;
    int is_right = names && constants && (groups || text);
    if (is_right && text)
        is_right = instructions_fit(t, (unsigned char *)PyBytes_AsString(text), PyBytes_Size(text), names);
    for (Py_ssize_t i = 0; is_right && i < PyTuple_Size(names); i++) {
        is_right = (bits = look_at(t, PyTuple_GetItem(names, i), groups)) >= 0;
        found |= bits;
    }
    for (Py_ssize_t i = 0; is_right && i < PyTuple_Size(constants); i++) {
        PyObject *constant = PyTuple_GetItem(constants, i);
        if (Py_TYPE(constant) == Py_TYPE(code)) {
            is_right = (bits = walk(t, constant, groups)) >= 0;
            found |= bits;
        } else if (PyTuple_Check(constant))
            for (Py_ssize_t k = 0; is_right && k < PyTuple_Size(constant); k++)
                if (PyUnicode_Check(PyTuple_GetItem(constant, k))) {
                    bits = look_at(t, PyTuple_GetItem(constant, k), groups);
                    is_right = bits >= 0 && fits(t, READS, PyTuple_GetItem(constant, k));
                    found |= bits;
                }
    }
    Py_XDECREF(names);
    Py_XDECREF(constants);
    Py_XDECREF(text);
    return is_right ? found : -1;
}

static struct tables tables; /* held here: a box that got them as arguments would copy a page for each */
static const char *reach;    /* pairs of unsigned long long */
static Py_ssize_t reach_size;
static PyObject *held;

PyDoc_STRVAR(set_tables_doc, "set_tables(refused, special, unread, bits, hidden, kinds, reach)\n\n"
"Set what `uses` and `reached` look things up in, which must not change; called once, in the zygote. Raise TypeError.");
static PyObject *set_tables(PyObject *self, PyObject *args)
{
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "OOOOOy#y#", &tables.refused, &tables.special, &tables.unread, &tables.bits, &tables.hidden,
                          &tables.kinds, &size, &reach, &reach_size))
        return NULL;
    PyObject *before = held;
    held = Py_NewRef(args);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(uses_doc, "uses(code) -> int\n\n"
"The groups of the modules that a plain program names, or -1 if the program is not plain; see plain_programs.py.\n"
"Raise TypeError.");
static PyObject *uses(PyObject *self, PyObject *code)
{
    long long groups = held ? walk(&tables, code, 0) : -1;
    if (groups > 0 && walk(&tables, code, groups) < 0)
        groups = -1;
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromLongLong(groups);
}

static unsigned long long modules_of(unsigned long long uses)
{
    unsigned long long found = uses, pair[2];
    for (Py_ssize_t at = 0; at + (Py_ssize_t)sizeof pair <= reach_size; at += sizeof pair) {
        memcpy(pair, reach + at, sizeof pair);
        if (uses & pair[0])
            found |= pair[1];
    }
    return found;
}

PyDoc_STRVAR(reached_doc, "reached(uses) -> int\n\n"
"The bits of all modules whose state a program may change, itself or through the modules that it uses: those in `uses`, and\n"
"of each pair in the table the second one if `uses` has the first.");
static PyObject *reached(PyObject *self, PyObject *given)
{
    unsigned long long uses = PyLong_AsUnsignedLongLong(given);
    return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(modules_of(uses));
}

/* 1 if a text has one of these words, which are separated by blanks, also inside its own words. */
static int has_one_of(const char *words, Py_ssize_t size, const char *text, Py_ssize_t text_size)
{
    for (const char *word = words, *end = words + size; word < end;) {
        size_t length = strcspn(word, " \n");
        if (length && memmem(text, (size_t)text_size, word, length))
            return 1;
        word += length + 1;
    }
    return 0;
}

PyDoc_STRVAR(words_in_doc, "words_in(text, groups) -> int\n\n"
"The groups of words, a bit each, of which `text` has one, also inside its own words. A group is a str, its words are\n"
"separated by blanks. A text with other letters than those of ASCII has the bit after the last group's as well.\n"
"Raise UnicodeError, TypeError.");
static PyObject *words_in(PyObject *self, PyObject *args)
{
    const char *text, *words;
    Py_ssize_t text_size, size, group = 0, at = 0;
    long found = 0;
    PyObject *groups;
    if (!PyArg_ParseTuple(args, "s#O", &text, &text_size, &groups))
        return NULL;
    for (; group < PyTuple_Size(groups); group++) {
        if (!(words = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(groups, group), &size)))
            return NULL;
        found |= (long)has_one_of(words, size, text, text_size) << group;
    }
    while (at < text_size && !((unsigned char)text[at] >> 7))
        at++;
    return PyErr_Occurred() ? NULL : PyLong_FromLong(found | (long)(at < text_size) << group);
}

/*** What a test leaves ***/

/* A builtin function of a module has the module as its object. */
static int is_plain(PyObject *value, PyObject *kinds)
{
    PyObject *object = PyCFunction_Check(value) ? PyCFunction_GetSelf(value) : value;
    return !object || PySet_Contains(kinds, (PyObject *)Py_TYPE(object)) == 1;
}

/*** What a test may not have changed ***/

/* A container as it was in the zygote. References are held, so that no other object can get the same address. */
struct kept {
    PyObject *container;
    unsigned long long group; /* a bit */
    uint64_t version;         /* of the dictionary, when it was last seen with these items */
    Py_ssize_t size;
    PyObject **items; /* of a list its items, of a dictionary its keys and values by turns */
};
static struct kept *kept;
static Py_ssize_t kept_count;

static Py_ssize_t size_of(PyObject *container)
{
    return PyList_Check(container) ? PyList_Size(container) : PyDict_Size(container);
}

/* The beginning of a dictionary in Python 3.11. Each change of one gives it a number that no dictionary had before (PEP 509),
 * which later versions of Python give up. */
struct dictionary {
    PyObject object;
    Py_ssize_t used;
    uint64_t version;
};

/* 0 if there is none: then the items are compared. */
static uint64_t version_of(PyObject *container)
{
    return Py_Version >> 16 == 0x030B && PyDict_Check(container) ? ((struct dictionary *)container)->version : 0;
}

/* 0, or -1 with an exception. */
static int keep(struct kept *one, PyObject *container, unsigned long long group)
{
    PyObject *key, *value, **next;
    Py_ssize_t at = 0, size = size_of(container);
    if (size < 0)
        return -1;
    next = PyMem_Calloc((size_t)size * 2 + 1, sizeof *next);
    if (!next) {
        PyErr_NoMemory();
        return -1;
    }
    Py_INCREF(container);
    *one = (struct kept){container, group, version_of(container), size, next};
    if (PyList_Check(container))
        for (; at < size; at++)
            Py_INCREF(*next++ = PyList_GetItem(container, at));
    else
        while (PyDict_Next(container, &at, &key, &value)) {
            Py_INCREF(*next++ = key);
            Py_INCREF(*next++ = value);
        }
    return 0;
}

PyDoc_STRVAR(remember_doc, "remember(groups)\n\n"
"Remember the contents of lists and dictionaries, by identity, for `begin_next`; called once, in the zygote. `groups`:\n"
"a list of at most 64 lists of them. Raise SystemError, MemoryError.");
static PyObject *remember(PyObject *self, PyObject *args)
{
    PyObject *groups;
    Py_ssize_t total = 0;
    if (!PyArg_ParseTuple(args, "O", &groups))
        return NULL;
    for (Py_ssize_t group = 0; group < PyList_Size(groups); group++)
        total += PyList_Size(PyList_GetItem(groups, group));
    if (PyErr_Occurred())
        return NULL;
    kept = PyMem_Calloc((size_t)total + 1, sizeof *kept);
    if (!kept)
        return PyErr_NoMemory();
    for (Py_ssize_t group = 0; group < PyList_Size(groups) && group < 64; group++) {
        PyObject *containers = PyList_GetItem(groups, group);
        for (Py_ssize_t at = 0; at < PyList_Size(containers); at++, kept_count++)
            if (keep(&kept[kept_count], PyList_GetItem(containers, at), 1ULL << group))
                return NULL;
    }
    Py_RETURN_NONE;
}

static int is_as_kept(struct kept *one)
{
    PyObject **next = one->items, *key, *value;
    Py_ssize_t at = 0;
    uint64_t version = version_of(one->container);
    if (version && version == one->version)
        return 1;
    if (size_of(one->container) != one->size)
        return 0;
    if (PyList_Check(one->container)) {
        for (; at < one->size; at++)
            if (PyList_GetItem(one->container, at) != *next++)
                return 0;
        return 1;
    }
    while (PyDict_Next(one->container, &at, &key, &value)) {
        if (key != next[0] || value != next[1])
            return 0;
        next += 2;
    }
    one->version = version;
    return 1;
}

/* 1 if the remembered containers of these groups, a bit each, hold the same objects in the same order. */
static int is_unchanged(unsigned long long groups)
{
    for (Py_ssize_t i = 0; i < kept_count; i++)
        if (kept[i].group & groups && !is_as_kept(&kept[i]))
            return 0;
    return 1;
}

/* -1: errno. */
static long long size_of_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) ? -1 : found.st_size;
}

PyDoc_STRVAR(folder_bytes_doc, "folder_bytes(path) -> int: the size of a folder itself. Raise OSError.");
static PyObject *folder_bytes(PyObject *self, PyObject *args)
{
    const char *path;
    long long size;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    return (size = size_of_folder(path)) < 0 ? os_error() : PyLong_FromLongLong(size);
}

/*** The next test ***/

#define STREAMS 3
#define KEPT_STREAMS 60 /* where copies of them are while the program runs */
#define KEPT_CHANNEL 63
#define MOST_OPEN 256
#define KEPT_BYTES (1 << 20) /* of unused memory: the streams of each test would fetch theirs from the system */

PyDoc_STRVAR(keep_streams_doc, "keep_streams(channel)\n\n"
"Move the channel and copies of the streams to where no program looks: the numbers that it gets are those of any other\n"
"box. Raise OSError.");
static PyObject *keep_streams(PyObject *self, PyObject *args)
{
    int channel;
    if (!PyArg_ParseTuple(args, "i", &channel))
        return NULL;
    for (int fd = 0; fd < STREAMS; fd++)
        if (dup2(fd, KEPT_STREAMS + fd) < 0)
            return os_error();
    if (dup2(channel, KEPT_CHANNEL) < 0 || close(channel))
        return os_error();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(next_test_doc, "next_test(anew) -> bool\n\n"
"Say that a test has ended, and wait until the host has filled the files of the next one. False if the host ends the run.\n"
"The output of each test is written over the last one and ends at the offset, which the host sets to the start. If `anew`,\n"
"the program could tell: then the output ends where its file does, and the file is emptied. Raise OSError.");
static PyObject *next_test(PyObject *self, PyObject *given)
{
    static int has_room; /* the first test has the memory of any other box */
    char message;
    ssize_t size;
    int anew = PyObject_IsTrue(given), out = KEPT_STREAMS + 1;
    if (!has_room)
        has_room = mallopt(M_TOP_PAD, KEPT_BYTES);
    if (anew && lseek(out, 0, SEEK_END) < 0)
        return os_error();
    if (send(KEPT_CHANNEL, "D", 1, MSG_NOSIGNAL) != 1)
        Py_RETURN_FALSE;
    while ((size = recv(KEPT_CHANNEL, &message, 1, 0)) < 0 && errno == EINTR)
        ;
    if (size != 1) /* the host may still read the output */
        Py_RETURN_FALSE;
    return anew && ftruncate(out, 0) ? os_error() : Py_NewRef(Py_True);
}

/* 1 if a descriptor is open beside the streams and what is kept, or if that cannot be told. */
static int has_others_open(void)
{
    static struct pollfd polled[MOST_OPEN];
    for (int fd = STREAMS; fd < MOST_OPEN; fd++)
        polled[fd] = (struct pollfd){fd, 0, 0};
    if (poll(polled + STREAMS, MOST_OPEN - STREAMS, 0) < 0)
        return 1;
    for (int fd = STREAMS; fd < MOST_OPEN; fd++)
        if (!(polled[fd].revents & POLLNVAL) && (fd < KEPT_STREAMS || fd > KEPT_CHANNEL))
            return 1;
    return 0;
}

/* Put back the descriptors 0 to 2; 0 if the last test left another one open, or they cannot be put back. */
static int put_streams_back(void)
{
    int is_back = !has_others_open();
    for (int fd = 0; fd < STREAMS && is_back; fd++)
        is_back = dup2(KEPT_STREAMS + fd, fd) >= 0;
    return is_back;
}

#endif

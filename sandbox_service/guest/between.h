/* Begins the next test of a box, when the last one has ended well: for shared.py. Included by _box.c, once.
 *
 * It is C because a box does it for the first time after its first test: the Python code of it would write to the reference
 * count of each function, constant and attribute that it uses, and so copy a page of the zygote's for each.
 */
#ifndef BETWEEN_H
#define BETWEEN_H

#include "shared.h"

/*** The standard streams ***/

enum { TEXT, BUFFER, FILE_BELOW }; /* layers of a stream */
enum { PLACE, MODE, NAME, BUFFER_BYTES, ENCODING, ERRORS, NEWLINE, LINE_BUFFERING }; /* of its form in program.py */

static PyObject *word(const char *text, PyObject **held) { return *held ? *held : (*held = PyUnicode_InternFromString(text)); }

/* Call `__init__` of an object, which is not of a program's class, with new arguments; 0, or -1 with an exception. */
static int initialise(PyObject *object, PyObject *arguments)
{
    initproc init = (initproc)PyType_GetSlot(Py_TYPE(object), Py_tp_init);
    int failed = arguments ? init(object, arguments, NULL) : -1;
    Py_XDECREF(arguments);
    return failed;
}

/* Remove the attributes that a program has added to an object. A new reference to the dictionary that had them, or NULL. */
static PyObject *without_attributes(PyObject *object)
{
    PyObject *attributes = PyObject_GenericGetDict(object, NULL);
    if (attributes)
        PyDict_Clear(attributes);
    return attributes;
}

/* The same for a stream; but a text layer has its mode, which python sets too. Some programs open(0, sys.stdin.mode). */
static int clear_attributes(PyObject *layers, PyObject *form)
{
    static PyObject *mode;
    PyObject *of_buffer = without_attributes(PyTuple_GetItem(layers, BUFFER));
    PyObject *of_text = of_buffer ? without_attributes(PyTuple_GetItem(layers, TEXT)) : NULL;
    int failed = of_text ? PyDict_SetItem(of_text, word("mode", &mode), PyTuple_GetItem(form, MODE)) : -1;
    Py_XDECREF(of_buffer);
    Py_XDECREF(of_text);
    return failed;
}

/* Open the file below a stream again, if it was closed. It has an attribute that says so. */
static int open_again(PyObject *file, PyObject *form)
{
    static PyObject *closed, *name;
    PyObject *is_closed = PyObject_GetAttr(file, word("closed", &closed)), *attributes;
    Py_XDECREF(is_closed);
    if (is_closed != Py_True)
        return is_closed ? 0 : -1;
    if (!(attributes = without_attributes(file)))
        return -1;
    Py_DECREF(attributes);
    return initialise(file, PyTuple_Pack(3, PyTuple_GetItem(form, PLACE), PyTuple_GetItem(form, MODE), Py_False))
        || PyObject_SetAttr(file, word("name", &name), PyTuple_GetItem(form, NAME));
}

/* 0, or -1 with an exception. */
static int begin_one(PyObject *layers, PyObject *form)
{
    PyObject *buffer = PyTuple_GetItem(layers, BUFFER), *file = PyTuple_GetItem(layers, FILE_BELOW);
    return clear_attributes(layers, form) /* before the initialisation, which calls methods of the buffer */
        || open_again(file, form)
        || initialise(buffer, PyTuple_Pack(2, file, PyTuple_GetItem(form, BUFFER_BYTES)))
        || initialise(PyTuple_GetItem(layers, TEXT),
                      PyTuple_Pack(5, buffer, PyTuple_GetItem(form, ENCODING), PyTuple_GetItem(form, ERRORS),
                                   PyTuple_GetItem(form, NEWLINE), PyTuple_GetItem(form, LINE_BUFFERING)))
        ? -1 : 0;
}

PyDoc_STRVAR(begin_stream_doc, "begin_stream(layers, form)\n\n"
"Bring a standard stream into its first state: a new one, or one that a program has used, which is flushed. `layers`: its\n"
"text layer, buffer and file, as they were before the use. `form`: see program.py.\n\n"
"Nothing is left of the use: the buffer and the text layer are initialised, and lose the attributes that were added. A\n"
"program that is plain reaches the file in no other way than to close it. Raise OSError, TypeError, MemoryError.");
static PyObject *begin_stream(PyObject *self, PyObject *args)
{
    PyObject *layers, *form;
    if (!PyArg_ParseTuple(args, "OO", &layers, &form) || begin_one(layers, form))
        return NULL;
    Py_RETURN_NONE;
}

/*** The end of a test ***/

/* 1 if stdout and stderr of `sys` are these streams; 0 if not, or with an exception. */
static int has_its_streams(PyObject *sys, PyObject *streams)
{
    static const char *const keys[] = {"stdout", "__stdout__", "stderr"};
    static PyObject *held[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        PyObject *name = word(keys[i], &held[i]), *found = name ? PyDict_GetItemWithError(sys, name) : NULL;
        if (!found || found != PyTuple_GetItem(streams, i / 2))
            return 0;
    }
    return 1;
}

PyDoc_STRVAR(end_plainly_doc, "end_plainly(sys, streams, namespace, kinds) -> bool\n\n"
"If a program's globals are all objects of exactly these classes, a frozen set, or builtin functions of such an object, and\n"
"`sys` has its own stdout and stderr, flush these two and the streams of the C library. True if that was done. Raise the\n"
"exceptions of a flush.");
static PyObject *end_plainly(PyObject *self, PyObject *args)
{
    static PyObject *flush;
    PyObject *sys, *streams, *namespace, *kinds, *value, *key;
    Py_ssize_t at = 0;
    if (!PyArg_ParseTuple(args, "OOOO", &sys, &streams, &namespace, &kinds))
        return NULL;
    int is_plainly = has_its_streams(sys, streams);
    while (is_plainly && PyDict_Next(namespace, &at, &key, &value))
        is_plainly = is_plain(value, kinds);
    for (int i = 0; i < 2 && is_plainly; i++) {
        PyObject *done = PyObject_CallMethodObjArgs(PyTuple_GetItem(streams, i), word("flush", &flush), NULL);
        Py_XDECREF(done);
        if (!done)
            return NULL;
    }
    if (is_plainly)
        fflush(NULL);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(is_plainly);
}

/*** The state of a test ***/

/* Held from the zygote on. The lists have pairs: bits of modules, and a callable that puts back a part of their state. */
static struct {
    PyObject *sys, *modules;           /* dictionaries */
    PyObject *outer, *names, *forms;   /* the zygote's own __main__; the first namespace of a program's; of the streams */
    PyObject *removing, *putting_back; /* lists, for the end of a test and the beginning of the next */
    PyObject *get_count, *get_old, *collect_young, *collect, *freeze; /* of the collector */
    unsigned long long anew, opens, uses_stderr;                      /* bits of plain_programs.py */
    long young; /* objects that the collector has not seen, when a test begins, without those that end with its namespace */
    PyObject *all;
} first;

PyDoc_STRVAR(set_first_state_doc, "set_first_state(sys, modules, outer, names, forms, removing, putting_back, collector, bits)\n\n"
"Set what `begin_next` puts back, in the zygote; see `first` in between.h. Raise TypeError.");
static PyObject *set_first_state(PyObject *self, PyObject *args)
{
    if (!PyArg_ParseTuple(args, "OOOOOOO(OOOOO)(KKK)", &first.sys, &first.modules, &first.outer, &first.names, &first.forms,
                          &first.removing, &first.putting_back, &first.get_count, &first.get_old, &first.collect_young,
                          &first.collect, &first.freeze, &first.anew, &first.opens, &first.uses_stderr))
        return NULL;
    PyObject *before = first.all;
    first.all = Py_NewRef(args);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

/* All that follows: 0, or -1 with an exception. */

static int called(PyObject *callable)
{
    PyObject *result = PyObject_CallNoArgs(callable);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static int call_those(PyObject *pairs, unsigned long long modules)
{
    for (Py_ssize_t i = 0; i < PyList_Size(pairs); i++) {
        PyObject *pair = PyList_GetItem(pairs, i);
        if (PyLong_AsUnsignedLongLong(PyTuple_GetItem(pair, 0)) & modules && called(PyTuple_GetItem(pair, 1)))
            return -1;
    }
    return 0;
}

static int set_main(PyObject *module)
{
    static PyObject *name;
    return PyDict_SetItem(first.modules, word("__main__", &name), module);
}

/* The streams of `sys`, also those that are called the original ones. `layers`: NULL for no streams. */
static int set_streams(PyObject *layers)
{
    static const char *const keys[] = {"stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__"};
    static PyObject *held[2 * STREAMS];
    for (int i = 0; i < 2 * STREAMS; i++) {
        PyObject *stream = layers ? PyTuple_GetItem(PyTuple_GetItem(layers, i % STREAMS), TEXT) : Py_None;
        if (!stream || PyDict_SetItem(first.sys, word(keys[i], &held[i]), stream))
            return -1;
    }
    return 0;
}

/* How many objects the collector has not seen, and how often it has looked at the young ones. */
static int count(long *young, long *looks)
{
    PyObject *counts = PyObject_CallNoArgs(first.get_count);
    if (!counts)
        return -1;
    *young = PyLong_AsLong(PyTuple_GetItem(counts, 0));
    *looks = PyLong_AsLong(PyTuple_GetItem(counts, 1));
    Py_DECREF(counts);
    return 0;
}

/* Free what the last test left for the collector: nothing if there are no more objects than before it, and the collector has
 * not run. All that it made is in the first two generations, as long as the third one is empty. Without that one, the
 * interpreter keeps its free lists, of which a test with thousands of tuples makes many. */
static int free_garbage(void)
{
    long young, looks;
    PyObject *old = count(&young, &looks) ? NULL : PyObject_CallNoArgs(first.get_old);
    if (!old)
        return -1;
    Py_ssize_t has_old = PyList_Size(old);
    Py_DECREF(old);
    if (young <= first.young && !looks && !has_old)
        return 0;
    /* what is left is not the test's; the third generation is empty again */
    return called(has_old ? first.collect : first.collect_young) || called(first.freeze) ? -1 : 0;
}

static int end_last(PyObject *namespace, unsigned long long modules)
{
    if (set_main(first.outer) || set_streams(NULL))
        return -1;
    PyDict_Clear(namespace);
    return call_those(first.removing, modules) || free_garbage() ? -1 : 0;
}

/* The streams and the state of the next test. Its descriptors are in place. A stream that was only written to, and is
 * flushed, is to a plain program no other than a new one, unless it uses one of RESTATERS or opens files. */
static int begin_state(PyObject *main, PyObject *layers, unsigned long long uses, unsigned long long modules)
{
    static PyObject *annotations;
    unsigned long long of[STREAMS] = {~0ULL, first.anew, first.uses_stderr};
    PyObject *namespace = PyModule_GetDict(main), *empty;
    long looks;
    for (int place = 0; place < STREAMS; place++) {
        PyObject *of_stream = PyTuple_GetItem(layers, place), *form = PyTuple_GetItem(first.forms, place);
        if (uses & of[place] ? begin_one(of_stream, form) : place == 1 && clear_attributes(of_stream, form))
            return -1;
    }
    if (set_streams(layers) || PyDict_Update(namespace, first.names) || !(empty = PyDict_New()))
        return -1;
    int failed = PyDict_SetItem(namespace, word("__annotations__", &annotations), empty) || set_main(main)
        || call_those(first.putting_back, modules) || count(&first.young, &looks);
    Py_DECREF(empty);
    first.young--; /* the annotations */
    return failed ? -1 : 0;
}

PyDoc_STRVAR(begin_first_doc, "begin_first(): count the objects that are there before a box's first test.");
static PyObject *begin_first(PyObject *self, PyObject *args)
{
    long looks;
    if (count(&first.young, &looks))
        return NULL;
    first.young--; /* the annotations */
    Py_RETURN_NONE;
}

PyDoc_STRVAR(begin_next_doc, "begin_next(main, layers, uses, folder, folder_bytes) -> bool\n\n"
"Remove the last test's state, and begin the next one. False if the last test left a global, a file, a descriptor, or a\n"
"change in a module. `main`: the program's module; `layers`: those of its streams; `uses`: see plain_programs.py;\n"
"`folder_bytes`: the first size of the folder. Raise what the parts raise that put something back.");
static PyObject *begin_next(PyObject *self, PyObject *args)
{
    PyObject *main, *layers;
    const char *folder;
    unsigned long long uses;
    long long bytes;
    if (!PyArg_ParseTuple(args, "OOKsL", &main, &layers, &uses, &folder, &bytes))
        return NULL;
    unsigned long long modules = modules_of(uses);
    if (end_last(PyModule_GetDict(main), modules))
        return NULL;
    if (PyDict_Size(PyModule_GetDict(main)) != 0) /* the end of an object has set a global */
        Py_RETURN_FALSE;
    /* a program that cannot open a file cannot close a descriptor either: its streams leave theirs open */
    if (uses & first.opens && (size_of_folder(folder) != bytes || !put_streams_back()))
        Py_RETURN_FALSE;
    if (!is_unchanged(modules))
        Py_RETURN_FALSE;
    if (begin_state(main, layers, uses, modules))
        return NULL;
    Py_RETURN_TRUE;
}

#endif

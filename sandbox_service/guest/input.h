/* `input` for a box's own streams: what CPython's does where nobody sits at a terminal, in fewer steps. Included by _box.c, once.
 *
 * CPython's input looks up the streams by new strings, asks stdin for its descriptor, and the kernel for the terminal behind it.
 * A box has no terminal, and no device that makes one. The rest is the same: both outputs are flushed, and a line is read. Other
 * streams, and streams to which a program has given attributes, are left to CPython's own input.
 */
#ifndef INPUT_H
#define INPUT_H

#include "print.h"

static struct {
    PyObject *original; /* CPython's input */
    PyObject *sys;      /* a dictionary, held */
    PyObject *audit;    /* sys.audit */
    PyObject *streams[STREAMS]; /* compared only, as in print.h */
} reading;

/* 1 if a stream has no attribute but its mode, so that all its methods are its class's; 0 if not, or with an exception. */
static int has_its_methods(PyObject *stream)
{
    static PyObject *mode;
    PyObject *attributes = PyObject_GenericGetDict(stream, NULL);
    int found = attributes && PyDict_Size(attributes) == 1 && PyDict_GetItemWithError(attributes, word("mode", &mode));
    Py_XDECREF(attributes);
    return found;
}

/* 1 if the streams of `sys` are the box's own; 0 if not, or with an exception. */
static int has_own_streams(void)
{
    static const char *const keys[] = {"stdin", "stdout", "stderr"};
    static PyObject *held[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        PyObject *stream = PyDict_GetItemWithError(reading.sys, word(keys[i], &held[i]));
        if (!stream || stream != reading.streams[i] || !has_its_methods(stream))
            return 0;
    }
    return 1;
}

/* Flush a stream; an exception is ignored, as by CPython. */
static void flush_stream(PyObject *stream)
{
    static PyObject *flush;
    PyObject *done = PyObject_CallMethodObjArgs(stream, word("flush", &flush), NULL);
    Py_XDECREF(done);
    PyErr_Clear();
}

/* A line of stdin, after the event for audit hooks; NULL with an exception. The streams are held meanwhile. */
static PyObject *line_of(PyObject *const *streams, PyObject *prompt)
{
    static PyObject *event;
    PyObject *heard = PyObject_CallFunctionObjArgs(reading.audit, word("builtins.input", &event), prompt ? prompt : Py_None, NULL);
    if (!heard)
        return NULL;
    Py_DECREF(heard);
    flush_stream(streams[2]);
    if (prompt && PyFile_WriteObject(prompt, streams[1], Py_PRINT_RAW))
        return NULL;
    flush_stream(streams[1]);
    return PyFile_GetLine(streams[0], -1);
}

static PyObject *input(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (count > 1 || !has_own_streams()) {
        PyErr_Clear();
        return call_original(reading.original, args, count, NULL);
    }
    PyObject *streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        streams[i] = Py_NewRef(reading.streams[i]);
    PyObject *line = line_of(streams, count ? args[0] : NULL);
    for (int i = 0; i < STREAMS; i++)
        Py_DECREF(streams[i]);
    return line;
}

PyDoc_STRVAR(input_doc, "input($module, prompt='', /)\n--\n\n"
"Read a string from standard input.  The trailing newline is stripped.\n\n"
"The prompt string, if given, is printed to standard output without a\ntrailing newline before reading input.\n\n"
"If the user hits EOF (*nix: Ctrl-D, Windows: Ctrl-Z+Return), raise EOFError.\n"
"On *nix systems, readline is used if available.");
static PyMethodDef input_method = {"input", (PyCFunction)(void (*)(void))input, METH_FASTCALL, input_doc};

PyDoc_STRVAR(set_input_doc, "set_input(sys, stdin, stdout, stderr)\n\n"
"Let `input` of the builtins read from `stdin` in fewer steps whenever these are the streams in the namespace `sys`. Raise\n"
"TypeError.");
static PyObject *set_input(PyObject *self, PyObject *args)
{
    static PyObject *audit;
    PyObject **streams = reading.streams, *sys;
    if (!PyArg_ParseTuple(args, "OOOO", &sys, &streams[0], &streams[1], &streams[2]))
        return NULL;
    hold(&reading.sys, sys);
    if (!reading.audit && !(reading.audit = Py_XNewRef(PyDict_GetItemWithError(sys, word("audit", &audit)))))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "not the namespace of sys");
    return replace_builtin(&input_method, &reading.original);
}

#endif

/* `print` for a box's own stdout: the same text in the same order, in fewer writes. Included by _box.c, once.
 *
 * CPython's print calls the stream's `write` for each argument, separator and end. This one gathers numbers and short strings
 * first. Nothing of a program's runs between two of these, so that it sees no difference. Whatever else is printed is written as
 * CPython does, after what was gathered; and other streams, or a `file` or `flush`, are left to CPython's own print.
 */
#ifndef PRINT_H
#define PRINT_H

#define GATHERED_BYTES 4096
#define MOST_CHARACTERS 32 /* of a string that is gathered: it is read one by one */
#define MOST_DIGITS 20     /* of a long long, with its sign */

static struct {
    PyObject *original; /* CPython's print */
    PyObject *sys;      /* a dictionary, held */
    PyObject *stream;   /* the box's stdout; compared only, since CPython must be able to free it at the end */
} printing;

struct gathered {
    PyObject *stream;
    int size, is_plain; /* is_plain: the stream's own `write` is called */
    char text[GATHERED_BYTES];
};

/* The functions that follow: 0, or -1 with an exception. */

static int write_text(PyObject *stream, PyObject *text)
{
    static PyObject *write;
    PyObject *written = text ? PyObject_CallMethodObjArgs(stream, word("write", &write), text, NULL) : NULL;
    Py_XDECREF(written);
    return written ? 0 : -1;
}

static int write_gathered(struct gathered *gathered)
{
    if (!gathered->size)
        return 0;
    PyObject *text = PyUnicode_FromStringAndSize(gathered->text, gathered->size);
    int failed = write_text(gathered->stream, text);
    Py_XDECREF(text);
    gathered->size = 0;
    return failed;
}

/* A stream to which a program has given another `write` gets each piece, as from CPython. */
static int look_at_stream(struct gathered *gathered)
{
    static PyObject *write;
    PyObject *attributes = PyObject_GenericGetDict(gathered->stream, NULL);
    PyObject *own = attributes ? PyDict_GetItemWithError(attributes, word("write", &write)) : NULL;
    Py_XDECREF(attributes);
    gathered->is_plain = !own;
    return PyErr_Occurred() ? -1 : 0;
}

/* An object with a `__str__` of its own may print as well, or change the stream. */
static int write_other(struct gathered *gathered, PyObject *piece)
{
    return write_gathered(gathered) || PyFile_WriteObject(piece, gathered->stream, Py_PRINT_RAW) || look_at_stream(gathered)
        ? -1 : 0;
}

/* Make room for so many bytes. */
static int make_space(struct gathered *gathered, int bytes)
{
    return gathered->size + bytes > GATHERED_BYTES ? write_gathered(gathered) : 0;
}

static int add_string(struct gathered *gathered, PyObject *piece)
{
    Py_ssize_t length = PyUnicode_GetLength(piece);
    if (length > MOST_CHARACTERS)
        return write_other(gathered, piece);
    if (make_space(gathered, MOST_CHARACTERS))
        return -1;
    char *to = gathered->text + gathered->size;
    for (Py_ssize_t i = 0; i < length; i++) {
        Py_UCS4 character = PyUnicode_ReadChar(piece, i);
        if (character > 127) /* which the stream may refuse */
            return write_other(gathered, piece);
        to[i] = (char)character;
    }
    gathered->size += (int)length;
    return 0;
}

static int add_number(struct gathered *gathered, PyObject *piece)
{
    int overflow, at = MOST_DIGITS;
    char digits[MOST_DIGITS];
    long long value = PyLong_AsLongLongAndOverflow(piece, &overflow);
    if (overflow)
        return write_other(gathered, piece);
    if (make_space(gathered, MOST_DIGITS))
        return -1;
    unsigned long long rest = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    memcpy(gathered->text + gathered->size, digits + at, (size_t)(MOST_DIGITS - at));
    gathered->size += MOST_DIGITS - at;
    return 0;
}

static int add(struct gathered *gathered, PyObject *piece)
{
    if (gathered->is_plain && PyLong_CheckExact(piece))
        return add_number(gathered, piece);
    if (gathered->is_plain && PyUnicode_CheckExact(piece))
        return add_string(gathered, piece);
    return write_other(gathered, piece);
}

/* Set the separator and the end from arguments by name; 0 if CPython's print must decide. */
static int take_names(PyObject *const *values, PyObject *names, PyObject **separator, PyObject **end)
{
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        int is_separator = PyUnicode_CompareWithASCIIString(name, "sep") == 0;
        if (!is_separator && PyUnicode_CompareWithASCIIString(name, "end") != 0)
            return 0;
        if (values[i] != Py_None && !PyUnicode_CheckExact(values[i]))
            return 0;
        *(is_separator ? separator : end) = values[i] == Py_None ? NULL : values[i];
    }
    return 1;
}

/* Keep an object for as long as the process lives: a program's objects may print when CPython has taken `sys` apart. */
static void hold(PyObject **held, PyObject *object)
{
    PyObject *before = *held;
    *held = Py_NewRef(object);
    Py_XDECREF(before);
}

/* Put a function of ours in the place of a builtin one, which `*original` becomes. None, or NULL with an exception. */
static PyObject *replace_builtin(PyMethodDef *method, PyObject **original)
{
    if (*original)
        Py_RETURN_NONE;
    PyObject *builtins = PyImport_ImportModule("builtins"), *name = builtins ? PyModule_GetNameObject(builtins) : NULL;
    PyObject *made = name ? PyCFunction_NewEx(method, builtins, name) : NULL;
    *original = made ? PyObject_GetAttrString(builtins, method->ml_name) : NULL;
    int failed = !*original || PyObject_SetAttrString(builtins, method->ml_name, made);
    Py_XDECREF(made);
    Py_XDECREF(name);
    Py_XDECREF(builtins);
    return failed ? NULL : Py_NewRef(Py_None);
}

/* Call a builtin function of CPython's. */
static PyObject *call_original(PyObject *original, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *values = PyTuple_New(count), *by_name = PyDict_New(), *result = NULL;
    int failed = !values || !by_name;
    for (Py_ssize_t i = 0; i < count && !failed; i++)
        failed = PyTuple_SetItem(values, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names) && !failed; i++)
        failed = PyDict_SetItem(by_name, PyTuple_GetItem(names, i), args[count + i]);
    if (!failed)
        result = PyObject_Call(original, values, by_name);
    Py_XDECREF(values);
    Py_XDECREF(by_name);
    return result;
}

static PyObject *print(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static PyObject *stdout_, *space, *newline;
    PyObject *separator = NULL, *end = NULL;
    struct gathered gathered;
    gathered.size = 0;
    gathered.stream = PyDict_GetItemWithError(printing.sys, word("stdout", &stdout_));
    if (!gathered.stream || gathered.stream != printing.stream || !take_names(args + count, names, &separator, &end)) {
        PyErr_Clear();
        return call_original(printing.original, args, count, names);
    }
    Py_INCREF(gathered.stream); /* a `__str__` may replace it */
    separator = separator ? separator : word(" ", &space);
    end = end ? end : word("\n", &newline);
    int failed = look_at_stream(&gathered);
    for (Py_ssize_t i = 0; i < count && !failed; i++)
        failed = (i && add(&gathered, separator)) || add(&gathered, args[i]);
    failed = failed || add(&gathered, end) || write_gathered(&gathered);
    Py_DECREF(gathered.stream);
    return failed ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(print_doc, "print($module, /, *args, sep=' ', end='\\n', file=None, flush=False)\n--\n\n"
"Prints the values to a stream, or to sys.stdout by default.\n\n"
"  sep\n    string inserted between values, default a space.\n"
"  end\n    string appended after the last value, default a newline.\n"
"  file\n    a file-like object (stream); defaults to the current sys.stdout.\n"
"  flush\n    whether to forcibly flush the stream.");
static PyMethodDef print_method = {"print", (PyCFunction)(void (*)(void))print, METH_FASTCALL | METH_KEYWORDS, print_doc};

PyDoc_STRVAR(set_print_doc, "set_print(sys, stream)\n\n"
"Let `print` of the builtins write to `stream` in fewer steps whenever it is stdout in the namespace `sys`. Raise TypeError.");
static PyObject *set_print(PyObject *self, PyObject *args)
{
    PyObject *sys;
    if (!PyArg_ParseTuple(args, "OO", &sys, &printing.stream))
        return NULL;
    hold(&printing.sys, sys);
    return replace_builtin(&print_method, &printing.original);
}

#endif

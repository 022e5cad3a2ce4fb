/* The two files of a submission, its source and its compiled form: for program.py. Included by _box.c, once.
 *
 * It is C because every box pays for it: Python would write to the reference count of each function and constant that it
 * uses, and so copy a page of the zygote's for each.
 */
#ifndef FILES_H
#define FILES_H

#include <sys/mman.h>

#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_GET_SEALS 1034
#endif
#ifndef F_SEAL_WRITE
#define F_SEAL_WRITE 8
#endif
#define SEAL_ALL 0xF
#define MARK 1 /* bytes before a record */

static const char utf8_mark[] = "\xEF\xBB\xBF";

/* A new bytes object with what a file has from an offset on; NULL with an exception. */
static PyObject *rest_of(int fd, off_t from)
{
    off_t size = lseek(fd, 0, SEEK_END);
    PyObject *bytes = size < 0 ? os_error() : PyBytes_FromStringAndSize(NULL, size > from ? (Py_ssize_t)(size - from) : 0);
    if (bytes && size > from && pread(fd, PyBytes_AsString(bytes), (size_t)(size - from), from) != size - from) {
        Py_DECREF(bytes);
        return os_error();
    }
    return bytes;
}

PyDoc_STRVAR(text_of_doc, "text_of(fd) -> str: a file in UTF-8, without a mark of that. Raise OSError, UnicodeDecodeError.");
static PyObject *text_of(PyObject *self, PyObject *fd)
{
    PyObject *bytes = rest_of((int)PyLong_AsLong(fd), 0), *text = NULL;
    if (bytes) {
        const char *content = PyBytes_AsString(bytes);
        Py_ssize_t size = PyBytes_Size(bytes), mark = sizeof utf8_mark - 1;
        mark = size >= mark && memcmp(content, utf8_mark, (size_t)mark) == 0 ? mark : 0;
        text = PyUnicode_DecodeUTF8(content + mark, size - mark, NULL);
        Py_DECREF(bytes);
    }
    return text;
}

PyDoc_STRVAR(kept_record_doc, "kept(fd) -> bytes | None\n\n"
"The record in a file behind its mark, a byte; empty if the file is not sealed. None if the file is empty. Raise OSError.");
static PyObject *kept_record(PyObject *self, PyObject *given)
{
    int fd = (int)PyLong_AsLong(given), seals = fcntl(fd, F_GET_SEALS);
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || seals < 0)
        return os_error();
    if (!size)
        Py_RETURN_NONE;
    return seals & F_SEAL_WRITE ? rest_of(fd, MARK) : PyBytes_FromStringAndSize(NULL, 0);
}

PyDoc_STRVAR(keep_record_doc, "keep(fd, record)\n\n"
"Write a mark and its record to the beginning of a file, and seal it, unless it is sealed. Raise OSError if they are not\n"
"written whole.");
static PyObject *keep_record(PyObject *self, PyObject *args)
{
    int fd;
    const char *record;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "iy#", &fd, &record, &size))
        return NULL;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals >= 0 && seals & F_SEAL_WRITE)
        Py_RETURN_NONE;
    ssize_t written = pwrite(fd, record, (size_t)size, 0);
    if (written == size && fcntl(fd, F_ADD_SEALS, SEAL_ALL) == 0)
        Py_RETURN_NONE;
    if (written >= 0 && written < size)
        errno = EFBIG;
    return os_error();
}

#endif

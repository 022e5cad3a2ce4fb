/* The host's part of every run that is worth no Python: the files of a run, and the passing on of what two boxes say.
 *
 * `begin` makes a run's files and sends them to a zygote; `finish` reads and closes them. `exchange` lets a box of several
 * tests run the next one, `run_equal` many of them. `pass_on` stands between a
 * program and a judge as long as both only talk: it returns for everything that is a decision, which relay.py takes.
 * Nothing here interprets a byte that a box wrote.
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define MAX_FDS 253  /* of a message, as in guest/box.h */
#define MAX_BOXES 2  /* the same */
#define FILES_OF_BOX 3
#define PIECE_BYTES (1 << 16)
#define MAX_CLAIM 8 /* bytes of a message on a channel */
#define MOST_FOR_A_BYTE 3 /* in a transcript: a mark and the byte, which is a line of its own */

static PyObject *os_error(void) { return PyErr_SetFromErrno(PyExc_OSError); }

/*** The files of a run ***/

static int write_all(int fd, const char *bytes, Py_ssize_t size)
{
    for (Py_ssize_t at = 0; at < size;) {
        ssize_t written = pwrite(fd, bytes + at, (size_t)(size - at), at);
        if (written < 0 && errno != EINTR)
            return -1;
        at += written > 0 ? written : 0;
    }
    return 0;
}

/* Append a descriptor to `fds`; -1 with an exception. */
static int add_fd(int fd, int *fds, int *count)
{
    if (*count == MAX_FDS) {
        PyErr_SetString(PyExc_ValueError, "too many descriptors for one message");
        return -1;
    }
    fds[(*count)++] = fd;
    return 0;
}

/* Append the descriptors of a sequence to `fds`; -1 with an exception. */
static int take_fds(PyObject *given, int *fds, int *count)
{
    Py_ssize_t size = PySequence_Size(given);
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PySequence_GetItem(given, i);
        long fd = item ? PyLong_AsLong(item) : -1;
        Py_XDECREF(item);
        if ((fd == -1 && PyErr_Occurred()) || add_fd((int)fd, fds, count))
            return -1;
    }
    return size < 0 ? -1 : 0;
}

/* Make so many files without names: all, or -1 with an exception and none. */
static int make_files(int *made, int wanted, int *count)
{
    for (*count = 0; *count < wanted; (*count)++)
        if ((made[*count] = memfd_create("box", MFD_CLOEXEC)) < 0) {
            os_error();
            while (*count > 0)
                close(made[--*count]);
            return -1;
        }
    return 0;
}

static int send_all(int control, const char *message, Py_ssize_t size, const int *fds, int count)
{
    char ancillary[CMSG_SPACE(MAX_FDS * sizeof(int))];
    struct iovec part = {(char *)message, (size_t)size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = ancillary};
    ssize_t sent;
    header.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    memset(ancillary, 0, sizeof ancillary);
    struct cmsghdr *c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    memcpy(CMSG_DATA(c), fds, (size_t)count * sizeof(int));
    while ((sent = sendmsg(control, &header, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent < 0 ? -1 : 0;
}

PyDoc_STRVAR(begin_doc, "begin(control, message, before, stdin, after, boxes, /) -> (stdout, stderr, ...)\n\n"
    "Send a message to a zygote, with the descriptors `before`, new files for stdin, stdout and stderr of each box, and\n"
    "`after`. `stdin` is the content of the first file; the others are empty. Returns the descriptors of stdout and stderr\n"
    "of each box, which `finish` closes. Raises OSError, ValueError.");

static PyObject *begin(PyObject *self, PyObject *args)
{
    int control, boxes, fds[MAX_FDS], count = 0, made[FILES_OF_BOX * MAX_BOXES], makes = 0, bad;
    const char *message, *stdin_bytes;
    Py_ssize_t size, stdin_size;
    PyObject *before, *after;
    if (!PyArg_ParseTuple(args, "iy#Oy#Oi", &control, &message, &size, &before, &stdin_bytes, &stdin_size, &after, &boxes))
        return NULL;
    if (boxes < 1 || boxes > MAX_BOXES) {
        PyErr_SetString(PyExc_ValueError, "one or two boxes");
        return NULL;
    }
    if (take_fds(before, fds, &count) || (bad = make_files(made, FILES_OF_BOX * boxes, &makes)) < 0)
        return NULL;
    for (int i = 0; i < makes && !bad; i++)
        bad = add_fd(made[i], fds, &count);
    bad = bad || take_fds(after, fds, &count);
    if (!bad && (write_all(made[0], stdin_bytes, stdin_size) || send_all(control, message, size, fds, count))) {
        bad = 1;
        os_error();
    }
    for (int i = 0; i < makes; i++)
        if (bad || i % FILES_OF_BOX == 0)
            close(made[i]);
    if (bad)
        return NULL;
    return boxes == 1 ? Py_BuildValue("(ii)", made[1], made[2]) : Py_BuildValue("(iiii)", made[1], made[2], made[4], made[5]);
}

PyDoc_STRVAR(begin_shared_doc, "begin_shared(control, message, before, stdin, after, silence, /) -> (channel, stdin, stdout, stderr)\n\n"
    "As `begin` for one box, whose last descriptor is its end of a channel. Returns the host's end, on which `exchange` waits\n"
    "no longer than `silence` seconds, and the descriptors of all three files. Raises OSError, ValueError.");

static PyObject *begin_shared(PyObject *self, PyObject *args)
{
    int control, fds[MAX_FDS], count = 0, made[FILES_OF_BOX], makes = 0, channel[2] = {-1, -1}, bad;
    const char *message, *stdin_bytes;
    Py_ssize_t size, stdin_size;
    double silence;
    PyObject *before, *after;
    if (!PyArg_ParseTuple(args, "iy#Oy#Od", &control, &message, &size, &before, &stdin_bytes, &stdin_size, &after, &silence))
        return NULL;
    if (take_fds(before, fds, &count) || make_files(made, FILES_OF_BOX, &makes))
        return NULL;
    struct timeval patience = {(time_t)silence, (suseconds_t)((silence - (double)(time_t)silence) * 1e6)};
    bad = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)
        || setsockopt(channel[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience)
        || write_all(made[0], stdin_bytes, stdin_size);
    if (bad)
        os_error();
    for (int i = 0; i < makes && !bad; i++)
        bad = add_fd(made[i], fds, &count);
    bad = bad || take_fds(after, fds, &count) || add_fd(channel[1], fds, &count);
    if (!bad && send_all(control, message, size, fds, count)) {
        bad = 1;
        os_error();
    }
    if (channel[1] >= 0)
        close(channel[1]);
    if (!bad)
        return Py_BuildValue("(iiii)", channel[0], made[0], made[1], made[2]);
    if (channel[0] >= 0)
        close(channel[0]);
    while (makes > 0)
        close(made[--makes]);
    return NULL;
}

/* The beginning of a file, at most so many bytes. */
static PyObject *beginning(int fd, Py_ssize_t size, Py_ssize_t most)
{
    Py_ssize_t wanted = size < most ? size : most, got = 0;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, wanted);
    char *to = bytes ? PyBytes_AsString(bytes) : NULL;
    while (to && got < wanted) {
        ssize_t more = pread(fd, to + got, (size_t)(wanted - got), got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += more;
    }
    if (!to || got == wanted)
        return bytes;
    PyObject *shorter = PyBytes_FromStringAndSize(to, got);
    Py_DECREF(bytes);
    return shorter;
}

/* The size of an output: that of its file, or up to the offset, if it was written over the output before it; -1: errno. */
static off_t size_of(int fd, int to_offset)
{
    struct stat of_file;
    if (to_offset)
        return lseek(fd, 0, SEEK_CUR);
    return fstat(fd, &of_file) ? -1 : of_file.st_size;
}

/* (written, stdout, stderr): the size of stdout, and the beginning of both; NULL with an exception. */
static PyObject *output(int out, int err, Py_ssize_t most_out, Py_ssize_t most_err, int to_offset)
{
    off_t of_out = size_of(out, to_offset), of_err = size_of(err, 0);
    PyObject *found = NULL;
    if (of_out < 0 || of_err < 0)
        return os_error();
    PyObject *written = beginning(out, of_out, most_out);
    PyObject *said = beginning(err, of_err, most_err);
    if (written && said)
        found = Py_BuildValue("(nOO)", (Py_ssize_t)of_out, written, said);
    Py_XDECREF(written);
    Py_XDECREF(said);
    return found;
}

PyDoc_STRVAR(read_output_doc, "read_output(stdout, stderr, most_stdout, most_stderr, to_offset, /) -> (written, stdout, stderr)\n\n"
    "Read what a box wrote: the size of stdout, and the beginning of both. If `to_offset`, stdout ends at the offset of its\n"
    "file, and the rest is of an earlier output. Raises OSError.");

static PyObject *read_output(PyObject *self, PyObject *args)
{
    int out, err, to_offset;
    Py_ssize_t most_out, most_err;
    if (!PyArg_ParseTuple(args, "iinnp", &out, &err, &most_out, &most_err, &to_offset))
        return NULL;
    return output(out, err, most_out, most_err, to_offset);
}

PyDoc_STRVAR(finish_doc, "finish(stdout, stderr, most_stdout, most_stderr, /) -> (written, stdout, stderr)\n\n"
    "Read what a box wrote, all of it, as `read_output`, and close both files. Raises OSError.");

static PyObject *finish(PyObject *self, PyObject *args)
{
    int out, err;
    Py_ssize_t most_out, most_err;
    if (!PyArg_ParseTuple(args, "iinn", &out, &err, &most_out, &most_err))
        return NULL;
    PyObject *found = output(out, err, most_out, most_err, 0);
    close(out);
    close(err);
    return found;
}

/* Replace the content of a file that a box has as well, and put its offset to the start. */
static int rewrite(int fd, const char *content, Py_ssize_t size)
{
    off_t there = lseek(fd, 0, SEEK_END);
    if (there < 0 || (size && write_all(fd, content, size)) || (there > size && ftruncate(fd, size)))
        return -1;
    return there || size ? (lseek(fd, 0, SEEK_SET) < 0 ? -1 : 0) : 0;
}

/* Fill stdin of a box, empty its stderr and its stdout, or let it write over that, and say so on the channel. */
static int give(const int *files, int to_offset, const char *content, Py_ssize_t size, int channel, const char *message,
                Py_ssize_t length)
{
    if (rewrite(files[0], content, size) || rewrite(files[2], "", 0))
        return -1;
    if (to_offset ? lseek(files[1], 0, SEEK_SET) : rewrite(files[1], "", 0))
        return -1;
    return send(channel, message, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) == length ? 0 : -1;
}

/* What a box says of its running test: that it ended well, another thing, or nothing for too long; or no test runs. */
enum { REFUSES, CLAIMS, SILENT, NONE_RUNS };

static int await_claim(int channel, const char *claim, Py_ssize_t length)
{
    char said[MAX_CLAIM + 1];
    ssize_t got;
    Py_BEGIN_ALLOW_THREADS
    got = recv(channel, said, sizeof said, 0);
    Py_END_ALLOW_THREADS
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return SILENT;
    return got == length && memcmp(said, claim, (size_t)got) == 0 ? CLAIMS : REFUSES;
}

PyDoc_STRVAR(exchange_doc, "exchange(channel, (stdin, stdout, stderr), to_offset, content, give, claim, /) -> bool | None\n\n"
    "Let a box run its next test: `content` into stdin, nothing into the others, then the message `give` on the channel;\n"
    "`content` is None if the test runs already. If `to_offset`, stdout is not emptied: the box writes over it, which costs\n"
    "it and the host a page less, and its output ends at the offset of the file. Wait for a message. Returns True if it is\n"
    "`claim`; False if it is another one, or the box refuses or has ended; None if it is silent for too long. Raises TypeError.");

static PyObject *exchange(PyObject *self, PyObject *args)
{
    int channel, files[FILES_OF_BOX], said, to_offset;
    const char *content, *message, *claim;
    Py_ssize_t size, length, claim_length;
    if (!PyArg_ParseTuple(args, "i(iii)pz#y#y#", &channel, &files[0], &files[1], &files[2], &to_offset, &content, &size,
                          &message, &length, &claim, &claim_length))
        return NULL;
    if (content && give(files, to_offset, content, size, channel, message, length))
        Py_RETURN_FALSE;
    said = await_claim(channel, claim, claim_length);
    if (said == SILENT)
        return PyErr_CheckSignals() ? NULL : Py_NewRef(Py_None);
    return PyBool_FromLong(said == CLAIMS);
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? -1.0 : (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void) { return seconds_of(CLOCK_MONOTONIC); }

/* 1 if a box printed just this, and nothing on stderr. */
static int printed(const int *files, int to_offset, const char *expected, Py_ssize_t size)
{
    static char piece[PIECE_BYTES];
    if (size_of(files[1], to_offset) != size || size_of(files[2], 0) != 0)
        return 0;
    for (Py_ssize_t at = 0; at < size;) {
        Py_ssize_t wanted = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
        if (pread(files[1], piece, (size_t)wanted, at) != wanted || memcmp(piece, expected + at, (size_t)wanted))
            return 0;
        at += wanted;
    }
    return 1;
}

PyDoc_STRVAR(run_equal_doc, "run_equal(channel, (stdin, stdout, stderr), to_offset, tests, first, give, claim, clock, used, seconds, /)\n\n"
    "Let a box run the tests of a list of pairs, input and expected output, from `first` on, as long as each ends well, prints\n"
    "just what is expected and nothing on stderr, and no more than `seconds` have passed. `clock` is that of the box's CPU time,\n"
    "which was at `used`; the other arguments are those of `exchange`.\n\n"
    "Returns (times, said, began): CPU and wall seconds of each test that ended well; what the box says of the last test that\n"
    "was given and is not one that printed what is expected: REFUSES, CLAIMS (its times are the last ones), SILENT; or\n"
    "NONE_RUNS; and when the last test began. Raises TypeError, UnicodeError.");

static PyObject *run_equal(PyObject *self, PyObject *args)
{
    int channel, files[FILES_OF_BOX], to_offset, clock, said = NONE_RUNS;
    const char *message, *claim, *input, *expected;
    Py_ssize_t at, length, claim_length, size, expected_size;
    double used, seconds, until, began;
    PyObject *tests;
    if (!PyArg_ParseTuple(args, "i(iii)pOny#y#idd", &channel, &files[0], &files[1], &files[2], &to_offset, &tests, &at,
                          &message, &length, &claim, &claim_length, &clock, &used, &seconds))
        return NULL;
    PyObject *times = PyList_New(0);
    began = now();
    until = began + seconds;
    for (double ended = began; times && said == NONE_RUNS && ended < until && at < PyList_Size(tests); at++) {
        if (!PyArg_ParseTuple(PyList_GetItem(tests, at), "s#s#", &input, &size, &expected, &expected_size)) {
            Py_CLEAR(times);
            break;
        }
        began = ended;
        said = give(files, to_offset, input, size, channel, message, length) ? REFUSES : await_claim(channel, claim, claim_length);
        if (said != CLAIMS)
            break;
        double used_now = seconds_of(clock);
        ended = now();
        if (used_now < 0) {
            said = REFUSES;
            break;
        }
        PyObject *one = Py_BuildValue("(dd)", used_now - used, ended - began);
        if (!one || PyList_Append(times, one))
            Py_CLEAR(times);
        Py_XDECREF(one);
        used = used_now;
        said = printed(files, to_offset, expected, expected_size) ? NONE_RUNS : CLAIMS;
    }
    if (times && said == SILENT && PyErr_CheckSignals())
        Py_CLEAR(times);
    return times ? Py_BuildValue("(Nid)", times, said, began) : NULL;
}

/*** A conversation ***/

/* The beginning of a conversation: each line with a mark of its flow before it. */
struct transcript {
    char *text;
    Py_ssize_t size, room; /* bytes there are; bytes after which nothing is added */
    int last, begins_line; /* the flow of the last piece; what comes next is at the beginning of a line */
};

static int make_room(struct transcript *transcript)
{
    transcript->room = transcript->room > 0 ? transcript->room : 0;
    transcript->text = PyMem_Malloc((size_t)transcript->room * MOST_FOR_A_BYTE + MOST_FOR_A_BYTE);
    return transcript->text ? 0 : -1;
}

static void add(struct transcript *transcript, int which, const char *bytes, Py_ssize_t size)
{
    Py_ssize_t left = transcript->room - transcript->size;
    char *to = transcript->text + transcript->size;
    int begins_line = transcript->begins_line;
    size = size < left ? size : left;
    if (size <= 0)
        return;
    if (which != transcript->last && !begins_line) {
        *to++ = '\n';
        begins_line = 1;
    }
    transcript->last = which;
    for (Py_ssize_t i = 0; i < size; i++) {
        if (begins_line) {
            *to++ = "><"[which];
            *to++ = ' ';
        }
        *to++ = bytes[i];
        begins_line = bytes[i] == '\n' || (bytes[i] == '\r' && !(i + 1 < size && bytes[i + 1] == '\n'));
    }
    transcript->begins_line = to[-1] == '\n';
    transcript->size = to - transcript->text;
}

struct flow {
    int source, sink;
    long long left; /* bytes that may still be written */
    long long sent;
};

struct talk {
    struct flow flows[2];
    struct transcript transcript;
    double moved;
    int stuck; /* the flow whose piece could not be written whole */
    Py_ssize_t stuck_size;
    char piece[PIECE_BYTES]; /* last: the rest is set to zero */
};

/* Pass on one piece. 0: and nothing is left over; 1: something has to be decided. */
static int pass_piece(struct talk *talk, int which)
{
    struct flow *flow = &talk->flows[which];
    ssize_t size = read(flow->source, talk->piece, PIECE_BYTES), done;
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (size <= 0)
        return 1;
    talk->moved = now();
    flow->sent += size;
    add(&talk->transcript, which, talk->piece, size);
    if (flow->sent > flow->left)
        return 1;
    done = write(flow->sink, talk->piece, (size_t)size);
    if (done == size)
        return 0;
    done = done < 0 ? 0 : done;
    memmove(talk->piece, talk->piece + done, (size_t)(size - done));
    talk->stuck = which;
    talk->stuck_size = size - done;
    return 1;
}

/* Pass on until there is something else to do than to pass on. 0: nothing happened for so long; -1: errno. */
static int talk_on(struct talk *talk, struct pollfd *polled, int milliseconds)
{
    for (;;) {
        int ready = poll(polled, 4, milliseconds);
        if (ready <= 0)
            return ready;
        if (polled[2].revents || polled[3].revents)
            return 1;
        for (int i = 0; i < 2; i++)
            if (polled[i].revents && (polled[i].revents != POLLIN || pass_piece(talk, i)))
                return 1;
    }
}

PyDoc_STRVAR(quote_doc, "quote(flow, bytes, (room, last, begins_line), /) -> (text, last)\n\n"
    "Return what a piece adds to a transcript: flow 0 is marked by > and flow 1 by <. `room` is how many bytes it can still\n"
    "take, `last` the flow of the piece before, -1 for none, and `begins_line` whether that one ended its line.");

static PyObject *quote(PyObject *self, PyObject *args)
{
    struct transcript transcript = {0};
    const char *bytes;
    Py_ssize_t size;
    int which;
    if (!PyArg_ParseTuple(args, "iy#(nip)", &which, &bytes, &size, &transcript.room, &transcript.last, &transcript.begins_line))
        return NULL;
    if (make_room(&transcript))
        return PyErr_NoMemory();
    add(&transcript, which != 0, bytes, size);
    PyObject *found = Py_BuildValue("(y#i)", transcript.text, transcript.size, transcript.last);
    PyMem_Free(transcript.text);
    return found;
}

PyDoc_STRVAR(pass_on_doc, "pass_on(answers, questions, news, milliseconds, (room, last, begins_line), /)\n\n"
    "Pass on what a program and a judge write to each other, until something else happens. `answers` and `questions` are\n"
    "(source, sink, bytes that may still be written); `news` are the two descriptors on which ends are reported; the\n"
    "last argument is as that of `quote`.\n\n"
    "Returns (is_news, sent, sent, moved, text, last, stuck, left): whether there is more to do than to wait; the bytes of\n"
    "both flows; the time of the last one, 0 if there was none; what is to be added to the transcript, and its last flow; the\n"
    "flow of a piece that could not be written whole, or -1, and the rest of that piece. Raises OSError.");

static PyObject *pass_on(PyObject *self, PyObject *args)
{
    int news[2], milliseconds, is_news = 0, fault = 0;
    PyObject *found = NULL;
    struct talk *talk = PyMem_Malloc(sizeof *talk);
    struct flow *answers, *questions;
    if (!talk)
        return PyErr_NoMemory();
    memset(talk, 0, offsetof(struct talk, piece));
    answers = &talk->flows[0], questions = &talk->flows[1];
    if (!PyArg_ParseTuple(args, "(iiL)(iiL)(ii)i(nip)", &answers->source, &answers->sink, &answers->left, &questions->source,
                          &questions->sink, &questions->left, &news[0], &news[1], &milliseconds,
                          &talk->transcript.room, &talk->transcript.last, &talk->transcript.begins_line))
        goto end;
    talk->stuck = -1;
    if (make_room(&talk->transcript)) {
        PyErr_NoMemory();
        goto end;
    }
    struct pollfd polled[] = {
        {answers->source, POLLIN, 0}, {questions->source, POLLIN, 0}, {news[0], POLLIN, 0}, {news[1], POLLIN, 0}};
    Py_BEGIN_ALLOW_THREADS
    is_news = talk_on(talk, polled, milliseconds);
    fault = is_news < 0 ? errno : 0;
    Py_END_ALLOW_THREADS
    if (fault && fault != EINTR) {
        errno = fault;
        os_error();
    } else if (!fault || !PyErr_CheckSignals())
        found = Py_BuildValue("(iLLdy#iiy#)", is_news != 0, answers->sent, questions->sent, talk->moved,
                              talk->transcript.text, talk->transcript.size, talk->transcript.last, talk->stuck, talk->piece,
                              talk->stuck_size);
end:
    PyMem_Free(talk->transcript.text);
    PyMem_Free(talk);
    return found;
}

/*** The processor ***/

PyDoc_STRVAR(cpuid_doc, "cpuid(leaf, subleaf) -> (eax, ebx, ecx, edx); None on processors without the instruction");

static PyObject *cpuid(PyObject *self, PyObject *arguments)
{
    unsigned leaf, subleaf;
    if (!PyArg_ParseTuple(arguments, "II", &leaf, &subleaf))
        return NULL;
#ifdef __x86_64__
    unsigned eax, ebx, ecx, edx;
    __cpuid_count(leaf, subleaf, eax, ebx, ecx, edx);
    return Py_BuildValue("(IIII)", eax, ebx, ecx, edx);
#else
    Py_RETURN_NONE;
#endif
}

static PyMethodDef methods[] = {
    {"begin", begin, METH_VARARGS, begin_doc},
    {"read_output", read_output, METH_VARARGS, read_output_doc},
    {"begin_shared", begin_shared, METH_VARARGS, begin_shared_doc},
    {"exchange", exchange, METH_VARARGS, exchange_doc},
    {"run_equal", run_equal, METH_VARARGS, run_equal_doc},
    {"finish", finish, METH_VARARGS, finish_doc},
    {"quote", quote, METH_VARARGS, quote_doc},
    {"pass_on", pass_on, METH_VARARGS, pass_on_doc},
    {"cpuid", cpuid, METH_VARARGS, cpuid_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_host", "The host's part of every run.", -1, methods};

PyMODINIT_FUNC PyInit__host(void)
{
    PyObject *self = PyModule_Create(&module);
    if (self && (PyModule_AddIntConstant(self, "REFUSES", REFUSES) || PyModule_AddIntConstant(self, "CLAIMS", CLAIMS)
                 || PyModule_AddIntConstant(self, "SILENT", SILENT) || PyModule_AddIntConstant(self, "NONE_RUNS", NONE_RUNS)))
        Py_CLEAR(self);
    return self;
}

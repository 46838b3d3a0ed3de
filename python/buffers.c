/* Numbers in and out: by the buffer protocol where the type fits, so that nothing is copied, else
 * converted.
 *
 * In: an array of the wanted type that lies in one piece is used where it is. Arrays of other number types
 * are converted; so are lists and tuples, nested or not. Out: numpy arrays where numpy can be imported,
 * else memoryviews of the same shape. */
#include "extension.h"

#include <math.h>
#include <string.h>

static PyObject *numpy_array; /* numpy.ndarray, or NULL without numpy */
static PyObject *dtype_index, *dtype_double, *dtype_count;

int buffers_init(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_ImportError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    numpy_array = PyObject_GetAttrString(numpy, "ndarray");
    dtype_index = PyObject_CallMethod(numpy, "dtype", "s", "uint32");
    dtype_double = PyObject_CallMethod(numpy, "dtype", "s", "float64");
    dtype_count = PyObject_CallMethod(numpy, "dtype", "s", "uint64");
    Py_DECREF(numpy);
    return numpy_array != NULL && dtype_index != NULL && dtype_double != NULL && dtype_count != NULL
               ? 0
               : -1;
}

void numbers_free(numbers *n)
{
    if (n->viewed)
        PyBuffer_Release(&n->view);
    PyMem_Free(n->copy);
    *n = (numbers){0};
}

/* --- In ------------------------------------------------------------------------------------------ */

/* The letter of a format in this machine's byte order, or 0. */
static char native_letter(const char *format)
{
    if (format == NULL)
        return 'B';
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    return format[0] != '\0' && format[1] == '\0' ? format[0] : '\0';
}

static bool is_whole(char letter)
{
    return letter != '\0' && strchr("bBhHiIlLqQnN?", letter) != NULL;
}

/* A whole number as two parts: its sign and its size. */
typedef struct whole {
    bool negative;
    uint64_t size;
} whole;

static whole whole_at(const unsigned char *p, char letter, size_t item)
{
    const bool is_signed = strchr("bhilqn", letter) != NULL;
    uint64_t bits = 0;
    memcpy(&bits, p,
           item < 8 ? item : 8); /* low byte first, as on every machine that we build for */
    if (!is_signed || item == 0 || item > 8)
        return (whole){false, bits};
    const uint64_t top = UINT64_C(1) << (8 * item - 1);
    if ((bits & top) == 0)
        return (whole){false, bits};
    const uint64_t mask = item == 8 ? UINT64_MAX : (top << 1) - 1;
    return (whole){true, ((~bits) & mask) + 1};
}

static bool refuse_count(const char *name, size_t n, Py_ssize_t wanted)
{
    (void)raise_text(TACIT_BAD_ARGUMENT, "%s has %zu numbers, expected %zd", name, n, wanted);
    return false;
}

static bool refuse_index(const char *name)
{
    (void)raise_text(TACIT_OUT_OF_BOUND, "%s has a number outside 0 .. 4294967295", name);
    return false;
}

/* n items of another type become doubles or indices. */
static bool convert(const numbers *from, const void *raw, char letter, const char *name, bool index,
                    void *out)
{
    const unsigned char *p = raw;
    const size_t item = (size_t)from->view.itemsize;
    for (size_t i = 0; i < from->n; i++, p += item) {
        if (letter == 'f' || letter == 'd') {
            float single = 0;
            double value = 0;
            memcpy(letter == 'f' ? (void *)&single : (void *)&value, p, item);
            ((double *)out)[i] = letter == 'f' ? (double)single : value;
            continue;
        }
        const whole w = whole_at(p, letter, item);
        if (!index)
            ((double *)out)[i] = w.negative ? -(double)w.size : (double)w.size;
        else if (w.negative || w.size > UINT32_MAX)
            return refuse_index(name);
        else
            ((uint32_t *)out)[i] = (uint32_t)w.size;
    }
    return true;
}

static bool refuse_format(const char *name, bool index, const char *format)
{
    PyErr_Format(PyExc_TypeError, "%s must have %s, not items of format '%s'", name,
                 index ? "whole numbers" : "numbers", format != NULL ? format : "B");
    return false;
}

/* Items of another type, or with gaps between them. */
static bool copy_view(const char *name, bool index, char letter, numbers *out)
{
    void *raw = PyMem_Malloc(out->view.len > 0 ? (size_t)out->view.len : 1);
    out->copy = PyMem_Malloc(out->n > 0 ? out->n * sizeof(double) : 1);
    bool good = raw != NULL && out->copy != NULL;
    if (!good)
        PyErr_NoMemory();
    good = good && PyBuffer_ToContiguous(raw, &out->view, out->view.len, 'C') == 0 &&
           convert(out, raw, letter, name, index, out->copy);
    PyMem_Free(raw);
    out->data = out->copy;
    return good;
}

static bool read_view(const char *name, bool index, numbers *out)
{
    const char letter = native_letter(out->view.format);
    const size_t item = (size_t)out->view.itemsize,
                 alignment = index ? _Alignof(uint32_t) : _Alignof(double);
    const bool fits =
        index ? item == sizeof(uint32_t) && letter != '\0' && strchr("ILN", letter) != NULL
              : letter == 'd';
    out->n = item > 0 ? (size_t)out->view.len / item : 0;
    if (fits && (uintptr_t)out->view.buf % alignment == 0 &&
        PyBuffer_IsContiguous(&out->view, 'C')) {
        out->data = out->view.buf;
        return true;
    }
    if (!is_whole(letter) && (index || (letter != 'f' && letter != 'd')))
        return refuse_format(name, index, out->view.format);
    return copy_view(name, index, letter, out);
}

/* A growing copy of what a sequence has, its sequences included. */
typedef struct growing {
    const char *name;
    bool index;
    char *data;
    size_t n, room;
} growing;

static bool push(growing *g, PyObject *item)
{
    const size_t size = g->index ? sizeof(uint32_t) : sizeof(double);
    if (g->n == g->room) {
        size_t room = 2 * g->room + 32;
        char *more = PyMem_Realloc(g->data, room * size);
        if (more == NULL) {
            PyErr_NoMemory();
            return false;
        }
        g->data = more;
        g->room = room;
    }
    if (!g->index) {
        double value = PyFloat_AsDouble(item);
        memcpy(g->data + g->n++ * size, &value, size);
        return value != -1 || !PyErr_Occurred();
    }
    PyObject *whole_number = PyNumber_Index(item);
    if (whole_number == NULL)
        return false;
    unsigned long value = PyLong_AsUnsignedLong(whole_number);
    Py_DECREF(whole_number);
    if (value > UINT32_MAX || PyErr_Occurred()) {
        PyErr_Clear();
        return refuse_index(g->name);
    }
    uint32_t small = (uint32_t)value;
    memcpy(g->data + g->n++ * size, &small, size);
    return true;
}

enum { MAX_DEPTH = 8 }; /* dimensions of nested lists: no function here takes more than four */

static bool push_all(growing *g, PyObject *from, int depth)
{
    PyObject *iterator = depth <= MAX_DEPTH ? PyObject_GetIter(from) : NULL;
    if (iterator == NULL) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be an array or a list of numbers", g->name);
        return false;
    }
    PyObject *item;
    bool good = true;
    while (good && (item = PyIter_Next(iterator)) != NULL) {
        bool nested = PyList_Check(item) || PyTuple_Check(item);
        if (!nested && PyObject_CheckBuffer(item)) { /* an array; numpy's numbers have no length */
            nested = PyObject_Size(item) >= 0;
            PyErr_Clear();
        }
        good = nested ? push_all(g, item, depth + 1) : push(g, item);
        Py_DECREF(item);
    }
    Py_DECREF(iterator);
    return good && !PyErr_Occurred();
}

static bool read_numbers(PyObject *from, const char *name, Py_ssize_t n, bool index, numbers *out)
{
    *out = (numbers){0};
    bool good;
    if (PyObject_CheckBuffer(from) && PyObject_GetBuffer(from, &out->view, PyBUF_FULL_RO) == 0) {
        out->viewed = true;
        good = read_view(name, index, out);
    } else {
        PyErr_Clear(); /* no buffer: item by item */
        growing g = {.name = name, .index = index};
        good = !PyUnicode_Check(from) && push_all(&g, from, 0);
        if (!good && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s must be an array or a list of numbers", name);
        out->copy = g.data;
        out->data = g.data != NULL ? (const void *)g.data : (const void *)"";
        out->n = g.n;
    }
    if (good && n >= 0 && out->n != (size_t)n)
        good = refuse_count(name, out->n, n);
    if (!good)
        numbers_free(out);
    return good;
}

bool read_doubles(PyObject *from, const char *name, Py_ssize_t n, numbers *out)
{
    return read_numbers(from, name, n, false, out);
}

bool read_indices(PyObject *from, const char *name, Py_ssize_t n, numbers *out)
{
    return read_numbers(from, name, n, true, out);
}

/* --- Out ----------------------------------------------------------------------------------------- */

static PyObject *shape_tuple(int n_dimensions, const size_t *shape, size_t *n)
{
    PyObject *tuple = PyTuple_New(n_dimensions);
    *n = 1;
    for (int i = 0; i < n_dimensions && tuple != NULL; i++) {
        PyObject *length = PyLong_FromSize_t(shape[i]);
        *n *= shape[i];
        if (length == NULL || PyTuple_SetItem(tuple, i, length) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* The same bytes with a type and a shape. Takes over the reference to `bytes`. */
static PyObject *dress(PyObject *bytes, char type, PyObject *shape, size_t n)
{
    PyObject *made = NULL;
    if (numpy_array != NULL) {
        PyObject *dtype = type == 'I' ? dtype_index : type == 'd' ? dtype_double : dtype_count;
        made = PyObject_CallFunctionObjArgs(numpy_array, shape, dtype, bytes, NULL);
    } else {
        PyObject *view = PyMemoryView_FromObject(bytes);
        if (view != NULL && n > 0)
            made = PyObject_CallMethod(view, "cast", "sO", (char[]){type, '\0'}, shape);
        else if (view != NULL) /* no memoryview has a length of 0 beside others */
            made = PyObject_CallMethod(view, "cast", "s", (char[]){type, '\0'});
        Py_XDECREF(view);
    }
    Py_DECREF(bytes);
    return made;
}

PyObject *array_create(char type, int n_dimensions, const size_t *shape, void **data)
{
    size_t n;
    PyObject *tuple = shape_tuple(n_dimensions, shape, &n), *made = NULL;
    const size_t size = type == 'I' ? sizeof(uint32_t) : sizeof(double);
    PyObject *bytes = NULL;
    if (tuple != NULL)
        bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * size));
    if (bytes != NULL) {
        *data = PyByteArray_AsString(bytes);
        if (n > 0)
            memset(*data, 0, n * size);
        made = dress(bytes, type, tuple, n);
    }
    Py_XDECREF(tuple);
    return made;
}

PyObject *array_copy(char type, int n_dimensions, const size_t *shape, const void *data)
{
    void *to = NULL;
    size_t n = type == 'I' ? sizeof(uint32_t) : sizeof(double);
    for (int i = 0; i < n_dimensions; i++)
        n *= shape[i];
    PyObject *made = array_create(type, n_dimensions, shape, &to);
    if (made != NULL && n > 0)
        memcpy(to, data, n);
    return made;
}

PyObject *array_constant(char type, int n_dimensions, const size_t *shape, const void *data)
{
    size_t n;
    PyObject *tuple = shape_tuple(n_dimensions, shape, &n), *made = NULL;
    const size_t size = type == 'I' ? sizeof(uint32_t) : sizeof(double);
    PyObject *bytes = NULL;
    if (tuple != NULL)
        bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)(n * size));
    if (bytes != NULL)
        made = dress(bytes, type, tuple, n);
    Py_XDECREF(tuple);
    return made;
}

/* Exceptions: one class for each status of the library, all of them tacit.Error.
 *
 * The names come from TACIT_STATUS_LIST: BAD_EPSILON is BadEpsilonError. Where Python has a class for the
 * same thing, the exception is of that class too, so `except ValueError` does what one expects. */
#include "extension.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
#define X(name, message) NUMBER_OF_##name,
    TACIT_STATUS_LIST(X)
#undef X
        N_STATUSES
};

static PyObject *error_class;
static PyObject *classes[N_STATUSES];
static PyObject *kept; /* the first exception of a class written in Python; under the GIL */

static PyObject *other_base(tacit_status status)
{
    switch (status) {
    case TACIT_NO_MEMORY:
        return PyExc_MemoryError;
    case TACIT_SYSTEM:
        return PyExc_OSError;
    case TACIT_BAD_ARGUMENT:
    case TACIT_BAD_EPSILON:
    case TACIT_BAD_DELTA:
    case TACIT_BAD_SENSITIVITY:
    case TACIT_BAD_SCALE:
    case TACIT_BAD_COUNT:
    case TACIT_NOT_FINITE:
    case TACIT_OUT_OF_BOUND:
    case TACIT_SYNTAX:
        return PyExc_ValueError;
    default:
        return NULL;
    }
}

/* BAD_EPSILON -> tacit.BadEpsilonError. Python has a SyntaxError and a SystemError, which mean other
 * things. */
static void class_name(const char *name, char *out, size_t room)
{
    name = strcmp(name, "SYNTAX") == 0   ? "BAD_SYNTAX"
           : strcmp(name, "SYSTEM") == 0 ? "OPERATING_SYSTEM"
                                         : name;
    size_t n = (size_t)snprintf(out, room, "tacit.");
    bool first = true;
    for (; *name != '\0' && n + 8 < room; name++) {
        if (*name != '_')
            out[n++] = first ? *name : (char)tolower((unsigned char)*name);
        first = *name == '_';
    }
    (void)snprintf(out + n, room - n, "Error");
}

static PyObject *make_class(tacit_status status)
{
    char name[64];
    class_name(tacit_status_name(status), name, sizeof name);
    PyObject *other = other_base(status);
    PyObject *bases =
        other != NULL ? PyTuple_Pack(2, error_class, other) : PyTuple_Pack(1, error_class);
    PyObject *members = Py_BuildValue("{s:s}", "status", tacit_status_name(status));
    PyObject *made = NULL;
    if (bases != NULL && members != NULL)
        made = PyErr_NewExceptionWithDoc(name, tacit_status_message(status), bases, members);
    Py_XDECREF(bases);
    Py_XDECREF(members);
    return made;
}

int exceptions_init(PyObject *module)
{
    PyObject *members = Py_BuildValue("{s:s,s:O}", "status", "", "hint", Py_None);
    if (members == NULL)
        return -1;
    error_class = PyErr_NewExceptionWithDoc(
        "tacit.Error",
        "A failure of the library; str() is its sentence, `status` its name, as in "
        "docs/reference/status.md.\n\n"
        "Every status has a subclass: BAD_EPSILON is tacit.BadEpsilonError.",
        NULL, members);
    Py_DECREF(members);
    if (error_class == NULL || PyModule_AddObjectRef(module, "Error", error_class) < 0)
        return -1;
    PyObject *all = PyDict_New();
    for (int s = 1; s < N_STATUSES && all != NULL; s++) {
        char name[64];
        class_name(tacit_status_name((tacit_status)s), name, sizeof name);
        classes[s] = make_class((tacit_status)s);
        if (classes[s] == NULL ||
            PyModule_AddObjectRef(module, name + strlen("tacit."), classes[s]) < 0 ||
            PyDict_SetItemString(all, tacit_status_name((tacit_status)s), classes[s]) < 0)
            return -1;
    }
    return all != NULL ? PyModule_AddObject(module, "errors", all) : -1;
}

void forget_cause(void)
{
    Py_CLEAR(kept);
}

/* Ctrl-C and the end of the program, in a class written in Python, are no failures of the library. */
static bool raise_kept(void)
{
    if (kept == NULL || PyErr_GivenExceptionMatches(kept, PyExc_Exception))
        return false;
    PyErr_SetObject((PyObject *)Py_TYPE(kept), kept);
    Py_CLEAR(kept);
    return true;
}

static PyObject *raise_message(tacit_status status, const char *message, tacit_hint hint)
{
    if (raise_kept())
        return NULL;
    PyObject *type =
        (unsigned)status < N_STATUSES && classes[status] != NULL ? classes[status] : error_class;
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    PyObject *made = text != NULL ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    Py_XDECREF(text);
    if (made == NULL)
        return NULL;
    if (hint != TACIT_HINT_NONE) {
        PyObject *word = PyUnicode_FromString(hint == TACIT_HINT_RESUME ? "resume" : "raise_jobs");
        if (word == NULL || PyObject_SetAttrString(made, "hint", word) < 0)
            PyErr_Clear();
        Py_XDECREF(word);
    }
    if (kept != NULL) {
        PyException_SetCause(made, kept); /* takes the reference */
        kept = NULL;
    }
    PyErr_SetObject(type, made);
    Py_DECREF(made);
    return NULL;
}

PyObject *raise_status(tacit_status status, const tacit_error *err)
{
    bool told = err != NULL && err->message[0] != '\0';
    return raise_message(status, told ? err->message : tacit_status_message(status),
                         err != NULL ? err->hint : TACIT_HINT_NONE);
}

PyObject *raise_keywords(tacit_status status, const tacit_error *err)
{
    static const char *const places[] = {"agent:1: ", "world:1: "};
    tacit_error plain = *err;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(err->message, places[i], strlen(places[i])) == 0)
            (void)snprintf(plain.message, sizeof plain.message, "%s",
                           err->message + strlen(places[i]));
    return raise_status(status, &plain);
}

PyObject *raise_text(tacit_status status, const char *format, ...)
{
    char message[480];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return raise_message(status, message, TACIT_HINT_NONE);
}

/* The status whose class, or a subclass of it, this is. */
static tacit_status status_of_class(PyObject *type)
{
    for (int s = 1; s < N_STATUSES; s++)
        if (PyErr_GivenExceptionMatches(type, classes[s]))
            return (tacit_status)s;
    return PyErr_GivenExceptionMatches(type, PyExc_MemoryError) ? TACIT_NO_MEMORY
                                                                : TACIT_BAD_ARGUMENT;
}

tacit_status status_of_exception(const char *where, tacit_error *err)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (type == NULL)
        return TACIT_BAD_ARGUMENT;
    if (trace != NULL)
        (void)PyException_SetTraceback(value, trace);
    tacit_status status = status_of_class(type);
    PyObject *name = PyObject_GetAttrString(type, "__name__");
    PyObject *text = PyUnicode_FromFormat("%s: %S: %S", where, name != NULL ? name : type, value);
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (err != NULL) {
        err->status = status;
        (void)snprintf(err->message, sizeof err->message, "%s", utf8 != NULL ? utf8 : where);
    }
    PyErr_Clear();
    if (kept == NULL && value != NULL) {
        Py_INCREF(value);
        kept = value;
    }
    Py_XDECREF(name);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return status;
}

/* What worlds and agents written in Python have in common: their parameters, and the values of these. */
#include "own_kinds.h"

#include <stdlib.h>
#include <string.h>

char *own_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy != NULL ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

static bool read_type(const char *word, tacit_parameter_type *out)
{
    static const char *const names[] = {"integer", "real", "flag", "text", "file"};
    for (int i = 0; i < 5; i++)
        if (strcmp(names[i], word) == 0) {
            *out = (tacit_parameter_type)i;
            return true;
        }
    (void)raise_text(TACIT_BAD_ARGUMENT,
                     "a parameter of type '%s', expected integer, real, flag, text or file", word);
    return false;
}

tacit_parameter *own_parameters(PyObject *list, size_t *n)
{
    *n = (size_t)PyList_Size(list);
    tacit_parameter *all = calloc(*n + 1, sizeof *all);
    bool good = all != NULL;
    for (size_t i = 0; good && i < *n; i++) {
        const char *name, *type, *fallback, *help;
        good = PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)i), "sszdds", &name, &type,
                                &fallback, &all[i].low, &all[i].high, &help) &&
               read_type(type, &all[i].type);
        if (!good)
            break;
        all[i].name = own_text(name);
        all[i].fallback = fallback != NULL ? own_text(fallback) : NULL;
        all[i].help = own_text(help);
        good = all[i].name != NULL && all[i].help != NULL;
    }
    if (good)
        return all;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    return NULL; /* a kind that could not be registered is as rare as it is small: nothing is freed */
}

static PyObject *value_object(const tacit_parameter *p, const tacit_value *v)
{
    switch (p->type) {
    case TACIT_PARAMETER_INTEGER:
        return PyLong_FromLongLong(v->integer);
    case TACIT_PARAMETER_REAL:
        return PyFloat_FromDouble(v->real);
    case TACIT_PARAMETER_FLAG:
        return PyBool_FromLong(v->flag);
    case TACIT_PARAMETER_TEXT:
    case TACIT_PARAMETER_FILE:
        break;
    }
    return v->text != NULL ? PyUnicode_FromString(v->text) : Py_NewRef(Py_None);
}

PyObject *own_values(const tacit_parameter *parameters, size_t n, const tacit_value *values)
{
    PyObject *d = PyDict_New();
    for (size_t i = 0; d != NULL && i < n; i++) {
        /* a default of "" means something of its own: the class sees None */
        const bool absent =
            !values[i].given && parameters[i].fallback != NULL && parameters[i].fallback[0] == '\0';
        if (!put(d, parameters[i].name,
                 absent ? Py_NewRef(Py_None) : value_object(&parameters[i], &values[i])))
            Py_CLEAR(d);
    }
    return d;
}

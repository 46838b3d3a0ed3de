/* What noise costs, and dictionaries of what the accountant and the plans say. tacit/account.py dresses
 * them. */
#include "extension.h"

#include <math.h>
#include <string.h>

bool put(PyObject *dict, const char *key, PyObject *value)
{
    bool good = dict != NULL && value != NULL && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return good;
}

bool put_text(PyObject *dict, const char *key, const char *text)
{
    return put(dict, key, text != NULL ? PyUnicode_FromString(text) : Py_NewRef(Py_None));
}

bool noise_create(PyObject *seed, tacit_noise **out)
{
    tacit_status status;
    *out = NULL;
    if (seed == NULL || seed == Py_None) {
        status = tacit_noise_create_from_os(out);
    } else {
        PyObject *whole = PyNumber_Index(seed);
        unsigned long long value = whole != NULL ? PyLong_AsUnsignedLongLong(whole) : 0;
        Py_XDECREF(whole);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            PyErr_SetString(PyExc_ValueError,
                            "seed must be None or a whole number from 0 to 2^64 - 1");
            return false;
        }
        status = tacit_noise_create_simulated(value, out);
    }
    if (status != TACIT_OK)
        (void)raise_status(status, NULL);
    return status == TACIT_OK;
}

static PyObject *interval(tacit_interval i)
{
    return Py_BuildValue("(dd)", i.low, i.high);
}

PyObject *composition_dict(const tacit_composition *c)
{
    PyObject *d = PyDict_New();
    if (d != NULL && put(d, "epsilon", interval(c->epsilon)) &&
        put(d, "delta", interval(c->delta)) && put(d, "mu", PyFloat_FromDouble(c->mu)) &&
        put(d, "rho", PyFloat_FromDouble(c->rho)) && put_text(d, "method", c->method))
        return d;
    Py_XDECREF(d);
    return NULL;
}

PyObject *guarantee_dict(tacit_guarantee g)
{
    static const char *const names[] = {"none", "joint", "local"};
    return Py_BuildValue("{s:s,s:d,s:d}", "model", names[g.model], "epsilon", g.epsilon, "delta",
                         g.delta);
}

bool read_model(const char *word, tacit_model *out)
{
    static const struct {
        const char *name;
        tacit_model model;
    } names[] = {
        {"none", TACIT_MODEL_NONE}, {"joint", TACIT_MODEL_JOINT}, {"local", TACIT_MODEL_LOCAL}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, word) == 0) {
            *out = names[i].model;
            return true;
        }
    (void)raise_text(TACIT_BAD_ARGUMENT, "model '%s', expected none, joint or local", word);
    return false;
}

/* --- Functions ----------------------------------------------------------------------------------- */

typedef tacit_status two_numbers(double, double, double *);

static PyObject *of_two(PyObject *args, two_numbers *f)
{
    double a, b, out = 0;
    if (!PyArg_ParseTuple(args, "dd", &a, &b))
        return NULL;
    tacit_status status = f(a, b, &out);
    return status == TACIT_OK ? PyFloat_FromDouble(out) : raise_status(status, NULL);
}

static PyObject *gdp_delta(PyObject *self, PyObject *args)
{
    (void)self;
    return of_two(args, tacit_gdp_delta);
}

static PyObject *gdp_epsilon(PyObject *self, PyObject *args)
{
    (void)self;
    return of_two(args, tacit_gdp_epsilon);
}

static PyObject *gdp_mu(PyObject *self, PyObject *args)
{
    (void)self;
    return of_two(args, tacit_gdp_mu);
}

static PyObject *zcdp_delta(PyObject *self, PyObject *args)
{
    (void)self;
    return of_two(args, tacit_zcdp_delta);
}

static PyObject *zcdp_epsilon(PyObject *self, PyObject *args)
{
    (void)self;
    return of_two(args, tacit_zcdp_epsilon);
}

typedef tacit_status scale_function(double, double, double, uint64_t, double *, tacit_error *);

static PyObject *scale_of(PyObject *args, scale_function *f)
{
    double epsilon, delta, norm, out = 0;
    unsigned long long count;
    tacit_error err = TACIT_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "dddK", &epsilon, &delta, &norm, &count))
        return NULL;
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = f(epsilon, delta, norm, count, &out, &err);
    PyEval_RestoreThread(thread);
    return status == TACIT_OK ? PyFloat_FromDouble(out) : raise_status(status, &err);
}

static PyObject *gaussian_scale(PyObject *self, PyObject *args)
{
    (void)self;
    return scale_of(args, tacit_gaussian_scale);
}

static PyObject *laplace_scale(PyObject *self, PyObject *args)
{
    (void)self;
    return scale_of(args, tacit_laplace_scale);
}

/* (kind, sensitivity, scale, epsilon, delta, rho, count) for each cost. */
static bool read_cost(PyObject *tuple, tacit_cost *out)
{
    const char *kind;
    unsigned long long count;
    if (!PyArg_ParseTuple(tuple, "sdddddK", &kind, &out->sensitivity, &out->scale, &out->epsilon,
                          &out->delta, &out->rho, &count))
        return false;
    out->count = count;
    if (strcmp(kind, "gaussian") == 0)
        out->kind = TACIT_COST_GAUSSIAN;
    else if (strcmp(kind, "laplace") == 0)
        out->kind = TACIT_COST_LAPLACE;
    else if (strcmp(kind, "black_box") == 0)
        out->kind = TACIT_COST_BLACK_BOX;
    else if (strcmp(kind, "zcdp") == 0)
        out->kind = TACIT_COST_ZCDP;
    else
        return raise_text(TACIT_BAD_ARGUMENT, "there is no cost of the kind '%s'", kind) != NULL;
    return true;
}

static PyObject *compose(PyObject *self, PyObject *args)
{
    PyObject *list;
    double at;
    int at_delta;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!dp", &PyList_Type, &list, &at, &at_delta))
        return NULL;
    const Py_ssize_t n = PyList_Size(list);
    tacit_cost *costs = PyMem_Calloc((size_t)n + 1, sizeof *costs);
    if (costs == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++)
        if (!read_cost(PyList_GetItem(list, i), &costs[i])) {
            PyMem_Free(costs);
            return NULL;
        }
    tacit_error err = TACIT_ERROR_INIT;
    tacit_composition out;
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = at_delta ? tacit_compose_at_delta(costs, (size_t)n, at, &out, &err)
                      : tacit_compose_at_epsilon(costs, (size_t)n, at, &out, &err);
    PyEval_RestoreThread(thread);
    PyMem_Free(costs);
    return status == TACIT_OK ? composition_dict(&out) : raise_status(status, &err);
}

static PyMethodDef functions[] = {{"gdp_delta", gdp_delta, METH_VARARGS, NULL},
                                  {"gdp_epsilon", gdp_epsilon, METH_VARARGS, NULL},
                                  {"gdp_mu", gdp_mu, METH_VARARGS, NULL},
                                  {"zcdp_delta", zcdp_delta, METH_VARARGS, NULL},
                                  {"zcdp_epsilon", zcdp_epsilon, METH_VARARGS, NULL},
                                  {"gaussian_scale", gaussian_scale, METH_VARARGS, NULL},
                                  {"laplace_scale", laplace_scale, METH_VARARGS, NULL},
                                  {"compose", compose, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

int account_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}

/* --- Plans --------------------------------------------------------------------------------------- */

static PyObject *release_dict(const tacit_plan *plan, size_t i)
{
    const tacit_release *r = tacit_plan_release(plan, i);
    PyObject *d = PyDict_New();
    const bool good =
        d != NULL && put_text(d, "name", r->name) && put_text(d, "reason", r->reason) &&
        put(d, "dimension", PyLong_FromSize_t(r->dimension)) &&
        put(d, "steps", PyLong_FromUnsignedLongLong(r->steps)) &&
        put(d, "l1", PyFloat_FromDouble(r->l1)) && put(d, "l2", PyFloat_FromDouble(r->l2)) &&
        put(d, "column_l1", PyFloat_FromDouble(r->column_l1)) &&
        put(d, "column_l2", PyFloat_FromDouble(r->column_l2)) &&
        put_text(d, "mechanism", r->mechanism) &&
        put(d, "visits", PyLong_FromUnsignedLongLong(r->visits > 0 ? r->visits : 1)) &&
        put(d, "apart", PyLong_FromUnsignedLongLong(r->apart > 0 ? r->apart : 1)) &&
        put(d, "scale", PyFloat_FromDouble(tacit_plan_scale(plan, i)));
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

PyObject *plan_list(const tacit_plan *plan)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; plan != NULL && list != NULL && i < tacit_plan_size(plan); i++) {
        PyObject *line = release_dict(plan, i);
        if (line == NULL || PyList_Append(list, line) < 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

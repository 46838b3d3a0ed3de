/* _tacit.Sum: a private running sum with its plan, its ledger and its noise. tacit/sums.py dresses it. */
#include "extension.h"

#include <stdio.h>
#include <string.h>

#include <tacit/sum.h>

typedef struct sum_object {
    PyObject_HEAD busy busy;
    tacit_ledger *ledger;
    tacit_sum *sum;
    size_t dimension;
} sum_object;

static const char line_name[] = "sum";

static void sum_free(PyObject *self)
{
    sum_object *s = (sum_object *)self;
    tacit_sum_destroy(s->sum);
    tacit_ledger_destroy(s->ledger);
    busy_free(&s->busy);
    free_object(self);
}

static bool read_mechanism(const char *word, tacit_guarantee g, tacit_sum_mechanism *out)
{
    *out = g.model == TACIT_MODEL_NONE ? TACIT_SUM_EXACT : tacit_sum_default_mechanism(g);
    if (word == NULL)
        return true;
    for (int m = TACIT_SUM_EXACT; m <= TACIT_SUM_LOCAL; m++)
        if (strcmp(word, tacit_sum_mechanism_name((tacit_sum_mechanism)m)) == 0) {
            *out = (tacit_sum_mechanism)m;
            return true;
        }
    (void)raise_text(TACIT_BAD_ARGUMENT,
                     "mechanism '%s', expected exact, tree, smooth, blt or local", word);
    return false;
}

/* Plan, ledger and sum, from what was asked for. */
static tacit_status open_sum(sum_object *s, const tacit_sum_spec *spec, tacit_guarantee g,
                             tacit_noise *noise, tacit_error *err)
{
    tacit_plan *plan = NULL;
    tacit_release release;
    tacit_status status = tacit_plan_create(&plan);
    if (status == TACIT_OK)
        status = tacit_sum_declare(spec, line_name, &release, err);
    if (status == TACIT_OK)
        status = tacit_plan_declare(plan, &release, err);
    if (status == TACIT_OK)
        status = tacit_plan_calibrate(plan, g, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &s->ledger, err);
    if (status == TACIT_OK)
        status = tacit_sum_create(spec, s->ledger, line_name, &s->sum, err);
    tacit_plan_destroy(plan);
    return status;
}

static PyObject *sum_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"users",   "dimension", "l1",          "l2",       "model",
                                        "epsilon", "delta",     "nonnegative", "nonzeros", "clip",
                                        "visits",  "apart",     "mechanism",   "seed",     NULL};
    unsigned long long users, dimension, nonzeros = 0, visits = 1, apart = 1;
    const char *model, *mechanism = NULL;
    int nonnegative = 0, clip = 0;
    PyObject *seed = Py_None;
    tacit_guarantee g = {0};
    tacit_sum_spec spec = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KKddsdd|pKpKKzO", keywords(names), &users,
                                     &dimension, &spec.bound.l1, &spec.bound.l2, &model, &g.epsilon,
                                     &g.delta, &nonnegative, &nonzeros, &clip, &visits, &apart,
                                     &mechanism, &seed) ||
        !read_model(model, &g.model) || !read_mechanism(mechanism, g, &spec.mechanism))
        return NULL;
    spec.law = g.model == TACIT_MODEL_NONE ? TACIT_LAW_NONE
               : g.delta > 0               ? TACIT_LAW_GAUSSIAN
                                           : TACIT_LAW_LAPLACE;
    spec.users = users;
    spec.dimension = (size_t)dimension;
    spec.bound.nonnegative = nonnegative != 0;
    spec.bound.nonzeros = nonzeros;
    spec.bound.clip = clip != 0;
    spec.visits = visits;
    spec.apart = apart;
    PyObject *self = PyType_GenericAlloc(type, 0);
    sum_object *s = (sum_object *)self;
    tacit_noise *noise = NULL;
    if (s == NULL || busy_init(&s->busy) < 0 || !noise_create(seed, &noise)) {
        Py_XDECREF(self);
        return NULL;
    }
    s->dimension = (size_t)dimension;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = open_sum(s, &spec, g, noise, &err);
    tacit_noise_destroy(noise);
    PyEval_RestoreThread(thread);
    if (status == TACIT_OK)
        return self;
    Py_DECREF(self);
    return raise_status(status, &err);
}

/* x[dimension], or x[n][dimension]: so many users. */
static PyObject *sum_add(PyObject *self, PyObject *x)
{
    sum_object *s = (sum_object *)self;
    numbers in;
    if (!read_doubles(x, "x", -1, &in))
        return NULL;
    if (in.n == 0 || in.n % s->dimension != 0) {
        (void)raise_text(TACIT_BAD_ARGUMENT, "x has %zu numbers, expected %zu for each user", in.n,
                         s->dimension);
        numbers_free(&in);
        return NULL;
    }
    if (!busy_enter(&s->busy)) {
        numbers_free(&in);
        return NULL;
    }
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    size_t added = 0;
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_sum_add_many(s->sum, in.n / s->dimension, in.data, &added, &err);
    PyEval_RestoreThread(thread);
    busy_leave(&s->busy);
    numbers_free(&in);
    if (status == TACIT_OK)
        return Py_NewRef(Py_None);
    return raise_status(status, &err);
}

static PyObject *sum_release(PyObject *self, PyObject *nothing)
{
    sum_object *s = (sum_object *)self;
    void *data;
    (void)nothing;
    PyObject *out = array_create('d', 1, &s->dimension, &data);
    if (out == NULL || !busy_enter(&s->busy)) {
        Py_XDECREF(out);
        return NULL;
    }
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_sum_release(s->sum, data, &err);
    PyEval_RestoreThread(thread);
    busy_leave(&s->busy);
    if (status == TACIT_OK)
        return out;
    Py_DECREF(out);
    return raise_status(status, &err);
}

static PyObject *sum_stddev(PyObject *self, PyObject *step)
{
    sum_object *s = (sum_object *)self;
    if (step == Py_None)
        return PyFloat_FromDouble(tacit_sum_worst_stddev(s->sum));
    unsigned long long k = PyLong_AsUnsignedLongLong(step);
    double out = 0;
    if (PyErr_Occurred())
        return NULL;
    tacit_status status = tacit_sum_stddev(s->sum, k, &out);
    return status == TACIT_OK ? PyFloat_FromDouble(out) : raise_status(status, NULL);
}

static PyObject *sum_save(PyObject *self, PyObject *nothing)
{
    sum_object *s = (sum_object *)self;
    tacit_error err = TACIT_ERROR_INIT;
    size_t size = 0;
    (void)nothing;
    if (!busy_enter(&s->busy))
        return NULL;
    PyObject *out = NULL;
    tacit_status status = tacit_sum_save(s->sum, NULL, &size, &err);
    if (status == TACIT_OK)
        out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (out != NULL)
        status = tacit_sum_save(s->sum, PyBytes_AsString(out), &size, &err);
    busy_leave(&s->busy);
    if (status == TACIT_OK)
        return out;
    Py_XDECREF(out);
    return raise_status(status, &err);
}

static PyObject *sum_load(PyObject *self, PyObject *bytes)
{
    sum_object *s = (sum_object *)self;
    Py_buffer view;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    if (!busy_enter(&s->busy)) {
        PyBuffer_Release(&view);
        return NULL;
    }
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = tacit_sum_load(s->sum, view.buf, (size_t)view.len, &err);
    busy_leave(&s->busy);
    PyBuffer_Release(&view);
    if (status == TACIT_OK)
        return Py_NewRef(Py_None);
    return raise_status(status, &err);
}

static PyObject *sum_step(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(tacit_sum_step(((sum_object *)self)->sum));
}

static PyObject *sum_simulated(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tacit_ledger_is_simulated(((sum_object *)self)->ledger));
}

static PyObject *sum_plan(PyObject *self, void *unused)
{
    (void)unused;
    return plan_list(tacit_ledger_plan(((sum_object *)self)->ledger));
}

static PyObject *sum_passed(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(tacit_ledger_passed(((sum_object *)self)->ledger, 0));
}

static PyMethodDef sum_methods[] = {
    {"add", sum_add, METH_O,
     "add($self, x, /)\n--\n\nOne more user with the vector x, or one for each row of x.\n\n"
     "If a row is refused, those before are added, and `step` says how many."},
    {"release", sum_release, METH_NOARGS,
     "release($self, /)\n--\n\nThe noisy sum of all users so far; once after each user."},
    {"_stddev", sum_stddev, METH_O, NULL},
    {"_save", sum_save, METH_NOARGS, NULL},
    {"_load", sum_load, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef sum_members[] = {
    {"step", sum_step, NULL, "users so far", NULL},
    {"simulated", sum_simulated, NULL, "whether the noise comes from a seed and protects no one",
     NULL},
    {"releases", sum_plan, NULL,
     "the release plan: what is shown, how far a user moves it, the noise", NULL},
    {"passed", sum_passed, NULL, "how many steps have been charged to the ledger", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, SLOT(sum_new)},
                              {Py_tp_dealloc, SLOT(sum_free)},
                              {Py_tp_methods, sum_methods},
                              {Py_tp_getset, sum_members},
                              {0, NULL}};
static PyType_Spec spec = {"tacit._tacit.Sum", sizeof(sum_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int sum_init(PyObject *module)
{
    return add_type(module, &spec) != NULL ? 0 : -1;
}

/* Worlds written in Python. The class lists all its outcomes when a world is created (tacit/own.py), under
 * the GIL; from then on the world is one of the library's, and nothing of Python is called again. */
#include "own_kinds.h"

#include <stdlib.h>
#include <string.h>

enum { N_OWN = 64 }; /* as many kinds as the library takes */

typedef struct own_world {
    tacit_world_kind kind;
    PyObject *make; /* values -> the tuple that read_table reads */
} own_world;

static own_world own[N_OWN];
static size_t n_own;

/* All outcomes of a world, copied: row i has those from first[i] to first[i + 1]. */
typedef struct table {
    size_t n_states, n_actions;
    size_t *first;
    tacit_outcome *outcomes, *initial;
} table;

static void table_free(void *context)
{
    table *t = context;
    if (t == NULL)
        return;
    free(t->first);
    free(t->outcomes);
    free(t->initial);
    free(t);
}

static size_t row(void *context, size_t step, uint32_t state, uint32_t action, tacit_outcome *out)
{
    const table *t = context;
    const size_t i = (step * t->n_states + state) * t->n_actions + action;
    const size_t n = t->first[i + 1] - t->first[i];
    memcpy(out, t->outcomes + t->first[i], n * sizeof *out);
    return n;
}

static tacit_outcome *copy_outcomes(const numbers *next, const numbers *prob, const numbers *reward)
{
    tacit_outcome *out = calloc(next->n + 1, sizeof *out);
    for (size_t i = 0; out != NULL && i < next->n; i++)
        out[i] = (tacit_outcome){.next = ((const uint32_t *)next->data)[i],
                                 .prob = ((const double *)prob->data)[i],
                                 .reward = reward != NULL ? ((const double *)reward->data)[i] : 0};
    return out;
}

/* Where rows begin, and how long the longest is. */
static bool count_rows(table *t, const numbers *counts, size_t n_outcomes, size_t *row_max)
{
    t->first = calloc(counts->n + 1, sizeof *t->first);
    *row_max = 1;
    if (t->first == NULL)
        return PyErr_NoMemory() != NULL;
    for (size_t i = 0; i < counts->n; i++) {
        const size_t n = ((const uint32_t *)counts->data)[i];
        t->first[i + 1] = t->first[i] + n;
        *row_max = n > *row_max ? n : *row_max;
    }
    if (t->first[counts->n] == n_outcomes)
        return true;
    return raise_text(TACIT_BAD_ARGUMENT, "the rows have %zu outcomes, and %zu are there",
                      t->first[counts->n], n_outcomes) != NULL;
}

static bool read_table(PyObject *made, tacit_process *out)
{
    PyObject *parts[6];
    numbers n[6] = {{.viewed = false}};
    Py_ssize_t S, A, H;
    int stationary;
    if (!PyArg_ParseTuple(made, "nnnpddOOOOOO", &S, &A, &H, &stationary, &out->reward_low,
                          &out->reward_high, &parts[0], &parts[1], &parts[2], &parts[3], &parts[4],
                          &parts[5]))
        return false;
    table *t = calloc(1, sizeof *t);
    const Py_ssize_t rows = (stationary ? 1 : H) * S * A;
    bool good = t != NULL && read_indices(parts[0], "counts", rows, &n[0]) &&
                read_indices(parts[1], "next states", -1, &n[1]) &&
                read_doubles(parts[2], "probabilities", (Py_ssize_t)n[1].n, &n[2]) &&
                read_doubles(parts[3], "rewards", (Py_ssize_t)n[1].n, &n[3]) &&
                read_indices(parts[4], "initial states", -1, &n[4]) &&
                read_doubles(parts[5], "initial probabilities", (Py_ssize_t)n[4].n, &n[5]) &&
                count_rows(t, &n[0], n[1].n, &out->row_max);
    if (good) {
        t->n_states = out->n_states = (size_t)S;
        t->n_actions = out->n_actions = (size_t)A;
        t->outcomes = copy_outcomes(&n[1], &n[2], &n[3]);
        t->initial = copy_outcomes(&n[4], &n[5], NULL);
        good = t->outcomes != NULL && t->initial != NULL;
    }
    out->horizon = (size_t)H;
    out->stationary = stationary != 0;
    out->n_initial = n[4].n;
    for (int i = 0; i < 6; i++)
        numbers_free(&n[i]);
    if (!good) {
        table_free(t);
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return false;
    }
    out->initial = out->n_initial > 0 ? t->initial : NULL;
    out->row = row;
    out->context = t;
    out->release = table_free;
    return true;
}

static tacit_status make(size_t i, const tacit_value *values, tacit_process *out, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *given = own_values(own[i].kind.parameters, own[i].kind.n_parameters, values);
    PyObject *made = given != NULL ? PyObject_CallFunctionObjArgs(own[i].make, given, NULL) : NULL;
    if (made == NULL || !read_table(made, out))
        status = status_of_exception(own[i].kind.name, err);
    Py_XDECREF(given);
    Py_XDECREF(made);
    PyGILState_Release(state);
    return status;
}

/* The library calls a function without saying for which kind, so each kind has a function of its own. */
#define MAKER(i)                                                                                   \
    static tacit_status make_##i(const tacit_value *values, tacit_process *out, tacit_error *err)  \
    {                                                                                              \
        return make(0##i, values, out, err);                                                       \
    }
#define EIGHT(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7)
#define ALL(X)                                                                                     \
    EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7)
ALL(MAKER)
#define NAME(i) make_##i,
static tacit_process_fn *const makers[N_OWN] = {ALL(NAME)};

/* register_world(name, help, source, parameters, make) */
static PyObject *register_world(PyObject *self, PyObject *args)
{
    const char *name, *help, *source;
    PyObject *parameters, *factory;
    (void)self;
    if (!PyArg_ParseTuple(args, "sssO!O", &name, &help, &source, &PyList_Type, &parameters,
                          &factory) ||
        !no_run_is_on())
        return NULL;
    if (n_own == N_OWN)
        return raise_text(TACIT_TOO_LARGE, "there are %d worlds of your own already", N_OWN);
    own_world *w = &own[n_own];
    w->kind = (tacit_world_kind){
        .name = own_text(name), .help = own_text(help), .source = own_text(source)};
    w->kind.parameters = own_parameters(parameters, &w->kind.n_parameters);
    if (w->kind.parameters == NULL)
        return NULL;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = tacit_world_register(&w->kind, makers[n_own], &err);
    if (status != TACIT_OK)
        return raise_status(status, &err);
    w->make = Py_NewRef(factory);
    n_own++;
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {{"register_world", register_world, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

int own_world_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}

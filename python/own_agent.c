/* Agents written in Python, with a promise that this file keeps.
 *
 * A class (tacit/own.py) says three things: which sums it needs and how large one user's vector can be;
 * what one user contributes; and which policy follows from the sums. The sums, their noise and the ledger
 * are here. So what the policy is made of has passed the ledger, whatever the class does: `contribute` is a
 * function without an object to remember anything in, and `plan` gets releases. With model none the same
 * code runs on exact sums.
 *
 * Vectors beyond their declared bound are scaled down, so every user counts, whatever their data. */
#include "own_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/sum.h>

typedef struct own_kind {
    tacit_agent_kind kind;
    PyObject *make; /* (space, values) -> (planner, contribute, [sums], every) */
    struct own_kind *next;
} own_kind;

static own_kind *kinds;

typedef struct one_sum {
    char *name;
    tacit_sum_spec spec;
    tacit_sum *sum;
    double *user, *noisy;
} one_sum;

typedef struct own_agent {
    PyObject *planner, *contribute;
    tacit_ledger *ledger;
    one_sum *sums;
    size_t n_sums, n_states, n_actions, horizon;
    uint64_t every, users, released, version;
    bool planned, mixed;
    void *policy, *before; /* [horizon][states] or [horizon][states][actions] */
} own_agent;

static void destroy(void *self)
{
    own_agent *a = self;
    if (a == NULL)
        return;
    for (size_t i = 0; i < a->n_sums && a->sums != NULL; i++) {
        tacit_sum_destroy(a->sums[i].sum);
        free(a->sums[i].name);
        free(a->sums[i].user);
        free(a->sums[i].noisy);
    }
    tacit_ledger_destroy(a->ledger);
    free(a->sums);
    free(a->policy);
    free(a->before);
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF(a->planner);
    Py_XDECREF(a->contribute);
    PyGILState_Release(state);
    free(a);
}

/* --- Creation ------------------------------------------------------------------------------------ */

/* (name, dimension, l1, l2, nonnegative, nonzeros) */
static bool read_sum(PyObject *tuple, const tacit_agent_request *request, one_sum *out)
{
    const char *name;
    unsigned long long dimension, nonzeros;
    int nonnegative;
    const tacit_guarantee g = request->guarantee;
    tacit_sum_spec *s = &out->spec;
    if (!PyArg_ParseTuple(tuple, "sKddpK", &name, &dimension, &s->bound.l1, &s->bound.l2,
                          &nonnegative, &nonzeros))
        return false;
    s->mechanism = g.model == TACIT_MODEL_NONE ? TACIT_SUM_EXACT : tacit_sum_default_mechanism(g);
    s->law = g.model == TACIT_MODEL_NONE ? TACIT_LAW_NONE
             : g.delta > 0               ? TACIT_LAW_GAUSSIAN
                                         : TACIT_LAW_LAPLACE;
    s->dimension = (size_t)dimension;
    s->users = request->episodes;
    s->bound.nonnegative = nonnegative != 0;
    s->bound.nonzeros = nonzeros;
    s->bound.clip = true;
    s->visits = request->visits;
    s->apart = request->apart;
    out->name = own_text(name);
    out->user = calloc(s->dimension + 1, sizeof *out->user);
    out->noisy = calloc(s->dimension + 1, sizeof *out->noisy);
    if (out->name != NULL && out->user != NULL && out->noisy != NULL)
        return true;
    PyErr_NoMemory();
    return false;
}

static bool read_made(PyObject *made, const tacit_agent_request *request, own_agent *a)
{
    PyObject *planner, *contribute, *list;
    unsigned long long every;
    if (!PyArg_ParseTuple(made, "OOO!K", &planner, &contribute, &PyList_Type, &list, &every))
        return false;
    a->planner = Py_NewRef(planner);
    a->contribute = Py_NewRef(contribute);
    a->every = every > 0 ? every : 1;
    const size_t n = (size_t)PyList_Size(list);
    const size_t cells = a->horizon * a->n_states * a->n_actions + 1;
    a->sums = calloc(n + 1, sizeof *a->sums);
    a->policy = calloc(cells, sizeof(double));
    a->before = calloc(cells, sizeof(double));
    if (a->sums == NULL || a->policy == NULL || a->before == NULL)
        return PyErr_NoMemory() != NULL;
    a->n_sums = n;
    for (size_t i = 0; i < n; i++)
        if (!read_sum(PyList_GetItem(list, (Py_ssize_t)i), request, &a->sums[i]))
            return false;
    return true;
}

static PyObject *space_dict(const tacit_agent_request *r)
{
    PyObject *d = Py_BuildValue(
        "{s:n,s:n,s:n,s:O,s:K}", "states", (Py_ssize_t)r->n_states, "actions",
        (Py_ssize_t)r->n_actions, "horizon", (Py_ssize_t)r->horizon, "stationary",
        r->stationary ? Py_True : Py_False, "episodes", (unsigned long long)r->episodes);
    const size_t shape[] = {r->stationary ? 1 : r->horizon, r->n_states, r->n_actions};
    if (d != NULL && put(d, "guarantee", guarantee_dict(r->guarantee)) &&
        put(d, "rewards",
            r->rewards != NULL ? array_copy('d', 3, shape, r->rewards) : Py_NewRef(Py_None)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static tacit_status open_sums(own_agent *a, const tacit_agent_request *request, tacit_noise *noise,
                              tacit_error *err)
{
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    for (size_t i = 0; i < a->n_sums && status == TACIT_OK; i++) {
        tacit_release release;
        status = tacit_sum_declare(&a->sums[i].spec, a->sums[i].name, &release, err);
        if (status == TACIT_OK)
            status = tacit_plan_declare(plan, &release, err);
    }
    if (status == TACIT_OK)
        status = tacit_plan_calibrate(plan, request->guarantee, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &a->ledger, err);
    for (size_t i = 0; i < a->n_sums && status == TACIT_OK; i++)
        status =
            tacit_sum_create(&a->sums[i].spec, a->ledger, a->sums[i].name, &a->sums[i].sum, err);
    tacit_plan_destroy(plan);
    return status;
}

static const own_kind *find(const char *name)
{
    for (const own_kind *k = kinds; k != NULL; k = k->next)
        if (strcmp(k->kind.name, name) == 0)
            return k;
    return NULL;
}

static tacit_status create(const tacit_agent_request *request, const tacit_value *values,
                           tacit_noise *noise, void **out, tacit_error *err)
{
    const own_kind *kind = find(request->kind);
    own_agent *a = calloc(1, sizeof *a);
    if (kind == NULL || a == NULL) {
        free(a);
        return TACIT_NO_MEMORY;
    }
    a->n_states = request->n_states;
    a->n_actions = request->n_actions;
    a->horizon = request->horizon;
    tacit_status status = TACIT_OK;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *space = space_dict(request);
    PyObject *given = own_values(kind->kind.parameters, kind->kind.n_parameters, values);
    PyObject *made = space != NULL && given != NULL
                         ? PyObject_CallFunctionObjArgs(kind->make, space, given, NULL)
                         : NULL;
    if (made == NULL || !read_made(made, request, a))
        status = status_of_exception(kind->kind.name, err);
    Py_XDECREF(space);
    Py_XDECREF(given);
    Py_XDECREF(made);
    PyGILState_Release(state);
    if (status == TACIT_OK)
        status = open_sums(a, request, noise, err);
    if (status == TACIT_OK)
        *out = a;
    else
        destroy(a);
    return status;
}

/* --- Planning ------------------------------------------------------------------------------------ */

static PyObject *released_dict(const own_agent *a)
{
    PyObject *d = PyDict_New();
    for (size_t i = 0; d != NULL && i < a->n_sums; i++)
        if (!put(d, a->sums[i].name,
                 array_copy('d', 1, &a->sums[i].spec.dimension, a->sums[i].noisy)))
            Py_CLEAR(d);
    return d;
}

/* Actions [horizon][states], or probabilities [horizon][states][actions]. */
static bool read_policy(own_agent *a, PyObject *from)
{
    const size_t n = a->horizon * a->n_states;
    numbers in;
    if (read_indices(from, "policy", -1, &in) && in.n == n) {
        a->mixed = false;
        memcpy(a->policy, in.data, n * sizeof(uint32_t));
        for (size_t i = 0; i < n; i++)
            if (((const uint32_t *)in.data)[i] >= a->n_actions) {
                numbers_free(&in);
                return raise_text(TACIT_OUT_OF_BOUND, "plan returned an action outside 0 .. %zu",
                                  a->n_actions - 1) != NULL;
            }
        numbers_free(&in);
        return true;
    }
    PyErr_Clear();
    numbers_free(&in);
    if (!read_doubles(from, "policy", (Py_ssize_t)(n * a->n_actions), &in))
        return false;
    a->mixed = true;
    memcpy(a->policy, in.data, n * a->n_actions * sizeof(double));
    numbers_free(&in);
    return true;
}

static tacit_status ask_planner(own_agent *a, tacit_error *err)
{
    const size_t cells = a->horizon * a->n_states * a->n_actions * sizeof(double);
    tacit_status status = TACIT_OK;
    const bool was_mixed = a->mixed;
    memcpy(a->before, a->policy, cells);
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *sums = released_dict(a);
    PyObject *made = sums != NULL ? PyObject_CallMethod(a->planner, "plan", "O", sums) : NULL;
    if (made == NULL || !read_policy(a, made))
        status = status_of_exception("plan", err);
    Py_XDECREF(sums);
    Py_XDECREF(made);
    PyGILState_Release(state);
    const bool same =
        a->planned && a->mixed == was_mixed && memcmp(a->before, a->policy, cells) == 0;
    if (status == TACIT_OK && !same)
        a->version++;
    return status;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    own_agent *a = self;
    const bool due = a->users > a->released && a->users % a->every == 0;
    for (size_t i = 0; due && i < a->n_sums; i++) {
        tacit_status status = tacit_sum_release(a->sums[i].sum, a->sums[i].noisy, err);
        if (status != TACIT_OK)
            return status;
    }
    if (due)
        a->released = a->users;
    if (due || !a->planned) {
        tacit_status status = ask_planner(a, err);
        if (status != TACIT_OK)
            return status;
        a->planned = true;
    }
    *out = (tacit_billboard){.version = a->version,
                             .policy = a->mixed ? NULL : a->policy,
                             .mixed = a->mixed ? a->policy : NULL};
    return TACIT_OK;
}

/* --- Learning ------------------------------------------------------------------------------------ */

static PyObject *ask_contribution(own_agent *a, const tacit_trajectory *user)
{
    const size_t steps = a->horizon, more = steps + 1;
    PyObject *states = array_constant('I', 1, &more, user->states);
    PyObject *actions = array_constant('I', 1, &steps, user->actions);
    PyObject *rewards = array_constant('d', 1, &steps, user->rewards);
    PyObject *made =
        states != NULL && actions != NULL && rewards != NULL
            ? PyObject_CallFunctionObjArgs(a->contribute, states, actions, rewards, NULL)
            : NULL;
    Py_XDECREF(states);
    Py_XDECREF(actions);
    Py_XDECREF(rewards);
    return made;
}

/* The vector for each sum: of a dict, or the only one. */
static bool read_contribution(own_agent *a, PyObject *made)
{
    for (size_t i = 0; i < a->n_sums; i++) {
        one_sum *s = &a->sums[i];
        PyObject *item = PyDict_Check(made) ? PyDict_GetItemString(made, s->name) : made;
        numbers in;
        if (item == NULL || (item == made && a->n_sums > 1))
            return raise_text(TACIT_BAD_ARGUMENT, "contribute returned no '%s'", s->name) != NULL;
        if (!read_doubles(item, s->name, (Py_ssize_t)s->spec.dimension, &in))
            return false;
        memcpy(s->user, in.data, s->spec.dimension * sizeof *s->user);
        numbers_free(&in);
        for (size_t j = 0; j < s->spec.dimension; j++)
            if (!isfinite(s->user[j]))
                return raise_text(TACIT_NOT_FINITE,
                                  "contribute returned a NaN or an infinity in '%s'",
                                  s->name) != NULL;
    }
    return true;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    own_agent *a = self;
    tacit_status status = TACIT_OK;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *made = ask_contribution(a, user);
    if (made == NULL || !read_contribution(a, made))
        status = status_of_exception("contribute", err);
    Py_XDECREF(made);
    PyGILState_Release(state);
    /* finite and clipped: only the number of users can be refused, by the first sum, before any has changed
     * */
    for (size_t i = 0; i < a->n_sums && status == TACIT_OK; i++)
        status = tacit_sum_add(a->sums[i].sum, a->sums[i].user, err);
    a->users += status == TACIT_OK;
    return status;
}

static tacit_ledger *ledger(const void *self)
{
    return ((const own_agent *)self)->ledger;
}

static const tacit_agent_methods methods = {
    .create = create, .destroy = destroy, .plan = plan, .learn = learn, .ledger = ledger};

/* --- Registration -------------------------------------------------------------------------------- */

static unsigned model_bits(PyObject *list)
{
    static const struct {
        const char *name;
        unsigned bits;
    } names[] = {{"none", TACIT_AGENT_NONE},
                 {"joint", TACIT_AGENT_JOINT | TACIT_AGENT_JOINT_PURE},
                 {"local", TACIT_AGENT_LOCAL | TACIT_AGENT_LOCAL_PURE}};
    unsigned bits = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        const char *word = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        for (size_t j = 0; word != NULL && j < 3; j++)
            if (strcmp(word, names[j].name) == 0)
                bits |= names[j].bits;
    }
    return bits;
}

/* register_agent(name, help, source, models, parameters, make) */
static PyObject *register_agent(PyObject *self, PyObject *args)
{
    const char *name, *help, *source;
    PyObject *models, *parameters, *factory;
    (void)self;
    if (!PyArg_ParseTuple(args, "sssO!O!O", &name, &help, &source, &PyList_Type, &models,
                          &PyList_Type, &parameters, &factory) ||
        !no_run_is_on())
        return NULL;
    own_kind *k = calloc(1, sizeof *k);
    if (k == NULL)
        return PyErr_NoMemory();
    k->kind = (tacit_agent_kind){.name = own_text(name),
                                 .help = own_text(help),
                                 .source = own_text(source),
                                 .models = model_bits(models)};
    k->kind.parameters = own_parameters(parameters, &k->kind.n_parameters);
    if (k->kind.parameters == NULL || PyErr_Occurred()) {
        free(k);
        return NULL;
    }
    k->make = Py_NewRef(factory);
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = tacit_agent_register(&k->kind, &methods, &err);
    if (status != TACIT_OK) {
        Py_DECREF(k->make);
        free(k);
        return raise_status(status, &err);
    }
    k->next = kinds;
    kinds = k;
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {{"register_agent", register_agent, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

int own_agent_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}

/* _tacit.World: a world, and the users who go through it. tacit/worlds.py dresses it.
 *
 * Users are numbered from 0. What happens to user k follows from the world's root of chance and from k
 * alone; the root is the operating system's, or `chance`. Tabular worlds have walks, bandit worlds have
 * rounds; begin and step serve both. */
#include "extension.h"

#include <math.h>

typedef struct world_object {
    PyObject_HEAD busy busy;
    tacit_world *world;
    const tacit_world_facts *facts;
    tacit_walk *walk;
    tacit_rounds *rounds;
    uint64_t next;   /* user, unless another is named */
    bool inside;     /* a user has begun and may step */
    size_t step;     /* of that user */
    double *scratch; /* for exact values */
    double *means;   /* of the user of this round, [actions]; NULL: not known */
} world_object;

static PyTypeObject *world_type;

const tacit_world *world_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, world_type))
        return ((world_object *)object)->world;
    PyErr_SetString(PyExc_TypeError, "expected a tacit.World");
    return NULL;
}

static void world_free(PyObject *self)
{
    world_object *w = (world_object *)self;
    tacit_walk_destroy(w->walk);
    tacit_rounds_destroy(w->rounds);
    tacit_world_destroy(w->world);
    PyMem_Free(w->scratch);
    PyMem_Free(w->means);
    busy_free(&w->busy);
    free_object(self);
}

static tacit_status open_world(world_object *w, const char *text, size_t size, tacit_noise *chance,
                               tacit_error *err)
{
    tacit_status status = tacit_world_create_text(text, size, NULL, &w->world, err);
    if (status != TACIT_OK)
        return status;
    w->facts = tacit_world_describe(w->world);
    return w->facts->family == TACIT_WORLD_BANDIT
               ? tacit_rounds_create(w->world, chance, &w->rounds, err)
               : tacit_walk_create(w->world, chance, &w->walk, err);
}

static PyObject *world_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"text", "chance", NULL};
    const char *text;
    Py_ssize_t size;
    PyObject *seed = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#|O", keywords(names), &text, &size, &seed))
        return NULL;
    PyObject *self = PyType_GenericAlloc(type, 0);
    world_object *w = (world_object *)self;
    tacit_noise *chance = NULL;
    if (self == NULL || busy_init(&w->busy) < 0 || !noise_create(seed, &chance)) {
        Py_XDECREF(self);
        return NULL;
    }
    forget_cause();
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = open_world(w, text, (size_t)size, chance, &err);
    tacit_noise_destroy(chance);
    PyEval_RestoreThread(thread);
    if (status == TACIT_OK) {
        w->scratch = w->walk != NULL
                         ? PyMem_Calloc(tacit_world_scratch(w->world) + 1, sizeof(double))
                         : NULL;
        w->means = w->rounds != NULL ? PyMem_Calloc(w->facts->n_actions, sizeof(double)) : NULL;
        if (w->scratch != NULL || w->means != NULL)
            return self;
        status = TACIT_NO_MEMORY;
    }
    Py_DECREF(self);
    return raise_keywords(status, &err);
}

/* --- What is public ------------------------------------------------------------------------------ */

static PyObject *world_facts(PyObject *self, void *unused)
{
    const tacit_world_facts *f = ((world_object *)self)->facts;
    PyObject *d = PyDict_New();
    (void)unused;
    size_t dimension = f->bandit != NULL    ? f->bandit->dimension
                       : f->linear != NULL  ? f->linear->dimension
                       : f->mixture != NULL ? f->mixture->dimension
                                            : 0;
    const bool good =
        d != NULL && put_text(d, "kind", f->kind->name) &&
        put_text(d, "family", f->family == TACIT_WORLD_BANDIT ? "bandit" : "tabular") &&
        put(d, "states", PyLong_FromSize_t(f->n_states)) &&
        put(d, "actions", PyLong_FromSize_t(f->n_actions)) &&
        put(d, "horizon", PyLong_FromSize_t(f->horizon)) &&
        put(d, "stationary", PyBool_FromLong(f->stationary)) &&
        put(d, "reward_low", PyFloat_FromDouble(f->reward_low)) &&
        put(d, "reward_high", PyFloat_FromDouble(f->reward_high)) &&
        put(d, "optimal_value", PyFloat_FromDouble(f->optimal_value)) &&
        put(d, "dimension", PyLong_FromSize_t(dimension)) &&
        put(d, "disjoint", PyBool_FromLong(f->bandit != NULL && f->bandit->disjoint)) &&
        put(d, "bound",
            PyFloat_FromDouble(f->bandit != NULL   ? f->bandit->bound
                               : f->linear != NULL ? f->linear->bound
                                                   : 0)) &&
        put(d, "people", PyLong_FromUnsignedLongLong(f->people)) &&
        put_text(d, "remark", f->remark);
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *world_rewards(PyObject *self, void *unused)
{
    const tacit_world_facts *f = ((world_object *)self)->facts;
    (void)unused;
    if (f->rewards == NULL)
        return Py_NewRef(Py_None);
    const size_t shape[] = {f->stationary ? 1 : f->horizon, f->n_states, f->n_actions};
    return array_copy('d', 3, shape, f->rewards);
}

static bool is_tabular(const world_object *w)
{
    if (w->walk != NULL)
        return true;
    (void)raise_text(TACIT_UNSUPPORTED,
                     "%s is a bandit world: it has rounds, not policies; "
                     "use begin and step",
                     w->facts->kind->name);
    return false;
}

static PyObject *world_solve(PyObject *self, PyObject *nothing)
{
    world_object *w = (world_object *)self;
    (void)nothing;
    if (!is_tabular(w))
        return NULL;
    const size_t H = w->facts->horizon, S = w->facts->n_states;
    void *policy_data, *value_data;
    PyObject *policy = array_create('I', 2, (size_t[]){H, S}, &policy_data);
    PyObject *values = array_create('d', 2, (size_t[]){H + 1, S}, &value_data);
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    if (policy != NULL && values != NULL) {
        PyThreadState *thread = PyEval_SaveThread();
        status = tacit_world_solve(w->world, policy_data, value_data, &err);
        PyEval_RestoreThread(thread);
    }
    PyObject *both = status == TACIT_OK && policy != NULL && values != NULL
                         ? PyTuple_Pack(2, policy, values)
                         : NULL;
    Py_XDECREF(policy);
    Py_XDECREF(values);
    return status == TACIT_OK ? both : raise_status(status, &err);
}

/* A policy [H][S] of actions or [H][S][A] of probabilities: which one, its number of items says. */
typedef struct any_policy {
    numbers in;
    bool mixed;
} any_policy;

static bool read_policy(const world_object *w, PyObject *from, any_policy *out)
{
    const size_t n = w->facts->horizon * w->facts->n_states, A = w->facts->n_actions;
    if (!is_tabular(w))
        return false;
    Py_ssize_t length = PyObject_Size(from);
    PyErr_Clear();
    numbers probe;
    /* Actions are whole numbers, probabilities are not: the type decides where one action makes sizes
     * equal. */
    if (read_indices(from, "policy", -1, &probe)) {
        if (probe.n == n) {
            *out = (any_policy){probe, false};
            return true;
        }
        numbers_free(&probe);
    }
    PyErr_Clear();
    if (!read_doubles(from, "policy", -1, &probe))
        return false;
    *out = (any_policy){probe, true};
    if (probe.n == n * A)
        return true;
    (void)raise_text(
        TACIT_BAD_ARGUMENT,
        "policy has %zu numbers (%zd rows), expected actions [%zu, %zu] or probabilities "
        "[%zu, %zu, %zu]",
        probe.n, length, w->facts->horizon, w->facts->n_states, w->facts->horizon,
        w->facts->n_states, A);
    numbers_free(&probe);
    return false;
}

static PyObject *world_evaluate(PyObject *self, PyObject *from)
{
    world_object *w = (world_object *)self;
    any_policy policy;
    double value = 0;
    if (!read_policy(w, from, &policy))
        return NULL;
    if (!busy_enter(&w->busy)) {
        numbers_free(&policy.in);
        return NULL;
    }
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = policy.mixed ? tacit_world_evaluate_mixed(w->world, policy.in.data, w->scratch, &value)
                          : tacit_world_evaluate(w->world, policy.in.data, w->scratch, &value);
    PyEval_RestoreThread(thread);
    busy_leave(&w->busy);
    numbers_free(&policy.in);
    return status == TACIT_OK ? PyFloat_FromDouble(value) : raise_status(status, NULL);
}

static PyObject *world_original_value(PyObject *self, PyObject *value)
{
    double v = PyFloat_AsDouble(value);
    if (PyErr_Occurred())
        return NULL;
    return PyFloat_FromDouble(tacit_world_original_value(((world_object *)self)->world, v));
}

static PyObject *world_unreachable(PyObject *self, PyObject *nothing)
{
    const uint32_t *states = NULL;
    (void)nothing;
    size_t n = tacit_world_unreachable(((world_object *)self)->world, &states);
    return array_copy('I', 1, &n, states);
}

static PyObject *world_is_terminal(PyObject *self, PyObject *which)
{
    const world_object *w = (const world_object *)self;
    unsigned long state = PyLong_AsUnsignedLong(which);
    if (PyErr_Occurred())
        return NULL;
    return PyBool_FromLong(state < w->facts->n_states &&
                           tacit_world_is_terminal(w->world, (uint32_t)state));
}

/* --- Users --------------------------------------------------------------------------------------- */

/* The user who comes now: the one that is named, or the next. */
static bool choose_user(world_object *w, PyObject *named, uint64_t *out)
{
    *out = w->next;
    if (named == NULL || named == Py_None)
        return true;
    *out = PyLong_AsUnsignedLongLong(named);
    return !PyErr_Occurred();
}

static PyObject *world_play(PyObject *self, PyObject *args)
{
    world_object *w = (world_object *)self;
    PyObject *from, *named = Py_None;
    any_policy policy;
    uint64_t user;
    if (!PyArg_ParseTuple(args, "O|O", &from, &named) || !choose_user(w, named, &user) ||
        !read_policy(w, from, &policy))
        return NULL;
    const size_t H = w->facts->horizon, shape[] = {H + 1, H};
    void *data[3];
    PyObject *states = array_create('I', 1, &shape[0], &data[0]);
    PyObject *actions = array_create('I', 1, &shape[1], &data[1]);
    PyObject *rewards = array_create('d', 1, &shape[1], &data[2]);
    PyObject *all = states != NULL && actions != NULL && rewards != NULL
                        ? PyTuple_Pack(3, states, actions, rewards)
                        : NULL;
    tacit_status status = TACIT_OK;
    if (all != NULL && busy_enter(&w->busy)) {
        status =
            policy.mixed
                ? tacit_walk_play_mixed(w->walk, user, policy.in.data, data[0], data[1], data[2])
                : tacit_walk_play(w->walk, user, policy.in.data, data[0], data[1], data[2]);
        w->inside = false;
        w->next = status == TACIT_OK ? user + 1 : w->next;
        busy_leave(&w->busy);
    } else {
        Py_CLEAR(all);
    }
    Py_XDECREF(states);
    Py_XDECREF(actions);
    Py_XDECREF(rewards);
    numbers_free(&policy.in);
    if (status == TACIT_OK)
        return all;
    Py_XDECREF(all);
    return raise_status(status, NULL);
}

static PyObject *begin_round(world_object *w, uint64_t user)
{
    tacit_visitor visitor;
    const tacit_bandit *b = w->facts->bandit;
    tacit_status status = tacit_rounds_begin(w->rounds, user, &visitor);
    if (status != TACIT_OK)
        return raise_status(status, NULL);
    for (size_t a = 0; a < w->facts->n_actions; a++)
        w->means[a] = visitor.means != NULL ? visitor.means[a] : (double)NAN;
    if (w->facts->n_states > 0)
        return PyLong_FromUnsignedLong(visitor.state);
    const size_t shape[] = {w->facts->n_actions, b->dimension};
    return b->disjoint ? array_copy('d', 1, &b->dimension, visitor.features)
                       : array_copy('d', 2, shape, visitor.features);
}

static PyObject *world_begin(PyObject *self, PyObject *args)
{
    world_object *w = (world_object *)self;
    PyObject *named = Py_None, *out = NULL;
    uint64_t user;
    if (!PyArg_ParseTuple(args, "|O", &named) || !choose_user(w, named, &user) ||
        !busy_enter(&w->busy))
        return NULL;
    if (w->rounds != NULL) {
        out = begin_round(w, user);
    } else {
        uint32_t state = 0;
        tacit_status status = tacit_walk_begin(w->walk, user, &state);
        out = status == TACIT_OK ? PyLong_FromUnsignedLong(state) : raise_status(status, NULL);
    }
    if (out != NULL) {
        w->next = user + 1;
        w->inside = true;
        w->step = 0;
    }
    busy_leave(&w->busy);
    return out;
}

static PyObject *world_step(PyObject *self, PyObject *choice)
{
    world_object *w = (world_object *)self;
    unsigned long action = PyLong_AsUnsignedLong(choice);
    uint32_t state = 0;
    double reward = 0;
    if (PyErr_Occurred() || !busy_enter(&w->busy))
        return NULL;
    PyObject *out = NULL;
    if (!w->inside || w->step >= w->facts->horizon) {
        (void)raise_text(TACIT_EXHAUSTED, "no user is here: call begin() first");
    } else if (action >= w->facts->n_actions) {
        (void)raise_text(TACIT_OUT_OF_BOUND, "action %lu, expected 0 to %zu", action,
                         w->facts->n_actions - 1);
    } else {
        tacit_status status = w->rounds != NULL
                                  ? tacit_rounds_reward(w->rounds, (uint32_t)action, &reward)
                                  : tacit_walk_step(w->walk, (uint32_t)action, &state, &reward);
        w->step += status == TACIT_OK;
        if (status != TACIT_OK)
            (void)raise_status(status, NULL);
        else
            out = w->rounds != NULL ? Py_BuildValue("(Od)", Py_None, reward)
                                    : Py_BuildValue("(kd)", (unsigned long)state, reward);
    }
    busy_leave(&w->busy);
    return out;
}

static PyObject *world_means(PyObject *self, void *unused)
{
    world_object *w = (world_object *)self;
    (void)unused;
    if (w->rounds == NULL || !w->inside || isnan(w->means[0]))
        return Py_NewRef(Py_None);
    return array_copy('d', 1, &w->facts->n_actions, w->means);
}

/* Another root of chance; the next user is number 0. */
static PyObject *world_reseed(PyObject *self, PyObject *seed)
{
    world_object *w = (world_object *)self;
    tacit_noise *chance = NULL;
    tacit_walk *walk = NULL;
    tacit_rounds *rounds = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    if (!noise_create(seed, &chance))
        return NULL;
    tacit_status status = w->rounds != NULL ? tacit_rounds_create(w->world, chance, &rounds, &err)
                                            : tacit_walk_create(w->world, chance, &walk, &err);
    tacit_noise_destroy(chance);
    if (status != TACIT_OK)
        return raise_status(status, &err);
    if (!busy_enter(&w->busy)) {
        tacit_walk_destroy(walk);
        tacit_rounds_destroy(rounds);
        return NULL;
    }
    tacit_walk_destroy(w->walk);
    tacit_rounds_destroy(w->rounds);
    w->walk = walk;
    w->rounds = rounds;
    w->next = 0;
    w->inside = false;
    busy_leave(&w->busy);
    return Py_NewRef(Py_None);
}

static PyObject *world_chance(PyObject *self, PyObject *nothing)
{
    world_object *w = (world_object *)self;
    (void)nothing;
    if (w->rounds == NULL || !w->inside)
        return raise_text(TACIT_UNSUPPORTED,
                          "no user of a bandit world is here: call begin() first");
    return PyFloat_FromDouble(tacit_rounds_chance(w->rounds));
}

static PyMethodDef world_methods[] = {
    {"solve", world_solve, METH_NOARGS,
     "solve($self, /)\n--\n\nThe best policy [horizon, states], and its values [horizon + 1, "
     "states]."},
    {"evaluate", world_evaluate, METH_O,
     "evaluate($self, policy, /)\n--\n\nWhat a policy is worth: its expected sum of rewards in [0, "
     "1], exactly.\n\n"
     "policy is actions [horizon, states] or probabilities [horizon, states, actions]."},
    {"original_value", world_original_value, METH_O,
     "original_value($self, value, /)\n--\n\nA sum of rewards in [0, 1], in the world's original "
     "units."},
    {"unreachable", world_unreachable, METH_NOARGS,
     "unreachable($self, /)\n--\n\nThe states that no sequence of actions leads to."},
    {"is_terminal", world_is_terminal, METH_O,
     "is_terminal($self, state, /)\n--\n\nWhether episodes end in this state."},
    {"play", world_play, METH_VARARGS,
     "play($self, policy, user=None, /)\n--\n\nOne user's episode under a policy: states [horizon "
     "+ 1], actions [horizon], rewards [horizon].\n\n"
     "user is a number from 0; without it the next user comes."},
    {"begin", world_begin, METH_VARARGS,
     "begin($self, user=None, /)\n--\n\nA user comes; the result is their state, or the features "
     "of a bandit's context."},
    {"step", world_step, METH_O,
     "step($self, action, /)\n--\n\nThe user's next state and reward. In a bandit world the state "
     "is None."},
    {"_reseed", world_reseed, METH_O, NULL},
    {"chance", world_chance, METH_NOARGS,
     "chance($self, /)\n--\n\nA number in [0, 1) for the choice of a random policy in this round."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef world_members[] = {
    {"facts", world_facts, NULL, "what is public about the world, as a dict", NULL},
    {"expected_rewards", world_rewards, NULL,
     "expected rewards [horizon or 1, states, actions], or None in bandit worlds", NULL},
    {"means", world_means, NULL,
     "a bandit's expected rewards for the user who is here, for evaluation only; or None", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, SLOT(world_new)},
                              {Py_tp_dealloc, SLOT(world_free)},
                              {Py_tp_methods, world_methods},
                              {Py_tp_getset, world_members},
                              {0, NULL}};
static PyType_Spec spec = {"tacit._tacit.World", sizeof(world_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int world_init(PyObject *module)
{
    world_type = add_type(module, &spec);
    return world_type != NULL ? 0 : -1;
}

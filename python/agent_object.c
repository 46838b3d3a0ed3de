/* _tacit.Agent: a learner that users act by and are learned from. tacit/agents.py dresses it. */
#include "agent_object.h"

#include <string.h>

static void agent_free(PyObject *self)
{
    agent_object *a = (agent_object *)self;
    tacit_agent_destroy(a->agent);
    Py_CLEAR(a->world); /* the agent referred to it */
    Py_CLEAR(a->random);
    Py_CLEAR(a->shown);
    busy_free(&a->busy);
    free_object(self);
}

static PyObject *agent_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"text", "world", "seed", "random", NULL};
    const char *text;
    Py_ssize_t size;
    PyObject *world = Py_None, *seed = Py_None, *random = Py_None;
    const tacit_world *place = NULL;
    tacit_noise *noise = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#|OOO", keywords(names), &text, &size, &world,
                                     &seed, &random) ||
        (world != Py_None && (place = world_of(world)) == NULL))
        return NULL;
    PyObject *self = PyType_GenericAlloc(type, 0);
    agent_object *a = (agent_object *)self;
    if (self == NULL || busy_init(&a->busy) < 0 || !noise_create(seed, &noise)) {
        Py_XDECREF(self);
        return NULL;
    }
    a->world = world != Py_None ? Py_NewRef(world) : NULL;
    a->random = random != Py_None ? Py_NewRef(random) : NULL;
    forget_cause();
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_agent_create_text(text, (size_t)size, NULL, place, noise, &a->agent, &err);
    tacit_noise_destroy(noise);
    PyEval_RestoreThread(thread);
    if (status == TACIT_OK) {
        a->facts = tacit_agent_describe(a->agent);
        return self;
    }
    Py_DECREF(self);
    return raise_keywords(status, &err);
}

/* --- Acting -------------------------------------------------------------------------------------- */

/* The array of a new billboard; the old one stays where the policy has not changed. */
static bool show(agent_object *a, const tacit_billboard *billboard)
{
    const size_t shape[] = {a->facts->horizon, a->facts->n_states, a->facts->n_actions};
    PyObject *made;
    if (a->planned && billboard->version == a->version)
        return true;
    if (billboard->policy != NULL)
        made = array_constant('I', 2, shape, billboard->policy);
    else if (billboard->mixed != NULL)
        made = array_constant('d', 3, shape, billboard->mixed);
    else
        made = Py_NewRef(Py_None);
    if (made == NULL)
        return false;
    Py_XDECREF(a->shown);
    a->shown = made;
    a->version = billboard->version;
    a->is_random = billboard->policy == NULL;
    a->planned = true;
    return true;
}

static PyObject *agent_plan(PyObject *self, PyObject *nothing)
{
    agent_object *a = (agent_object *)self;
    tacit_billboard billboard = {0};
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    (void)nothing;
    if (!busy_enter(&a->busy))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_agent_plan(a->agent, &billboard, &err);
    PyEval_RestoreThread(thread);
    PyObject *out = NULL;
    if (status != TACIT_OK)
        (void)raise_status(status, &err);
    else if (show(a, &billboard))
        out = Py_NewRef(a->shown);
    busy_leave(&a->busy);
    return out;
}

static bool read_chance(agent_object *a, PyObject *given, double *out)
{
    *out = 0;
    if (given != NULL && given != Py_None) {
        *out = PyFloat_AsDouble(given);
        return *out != -1 || !PyErr_Occurred();
    }
    if (!a->is_random || a->random == NULL)
        return true;
    PyObject *drawn = PyObject_CallNoArgs(a->random);
    if (drawn != NULL)
        *out = PyFloat_AsDouble(drawn);
    Py_XDECREF(drawn);
    return drawn != NULL && !PyErr_Occurred();
}

/* (step, state or features, chance): the action and its probability. */
static bool act_once(agent_object *a, PyObject *const *args, Py_ssize_t n, uint32_t *action,
                     double *probability)
{
    if (n < 2 || n > 3) {
        PyErr_SetString(PyExc_TypeError,
                        "act takes a step, a state or features, and perhaps a chance");
        return false;
    }
    tacit_situation here = {.step = PyLong_AsSize_t(args[0])};
    numbers in = {0};
    double chance;
    if (PyErr_Occurred())
        return false;
    if (a->facts->per_situation == 0) {
        unsigned long state = PyLong_AsUnsignedLong(args[1]);
        if (PyErr_Occurred() || state > UINT32_MAX) {
            if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError)) {
                PyErr_Clear();
                (void)raise_text(TACIT_OUT_OF_BOUND, "the state must be from 0 to %zu",
                                 a->facts->n_states - 1);
            }
            return false;
        }
        here.state = (uint32_t)state;
    } else if (!read_doubles(args[1], "features", (Py_ssize_t)a->facts->per_situation, &in)) {
        return false;
    }
    here.features = in.data;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = TACIT_BAD_ARGUMENT;
    bool entered = busy_enter(&a->busy);
    if (entered && read_chance(a, n > 2 ? args[2] : NULL, &chance)) {
        status = tacit_agent_act(a->agent, &here, chance, action, probability, &err);
        if (status != TACIT_OK)
            (void)raise_status(status, &err);
    }
    if (entered)
        busy_leave(&a->busy);
    numbers_free(&in);
    return status == TACIT_OK;
}

static PyObject *agent_act(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    uint32_t action;
    double probability;
    return act_once((agent_object *)self, args, n, &action, &probability)
               ? PyLong_FromUnsignedLong(action)
               : NULL;
}

static PyObject *agent_choose(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    uint32_t action;
    double probability;
    return act_once((agent_object *)self, args, n, &action, &probability)
               ? Py_BuildValue("(kd)", (unsigned long)action, probability)
               : NULL;
}

/* (step, states[n] or features[n][...], chances[n] or None): actions[n]. */
static PyObject *agent_act_many(PyObject *self, PyObject *args)
{
    agent_object *a = (agent_object *)self;
    Py_ssize_t step;
    PyObject *from, *given = Py_None, *out = NULL;
    numbers in, chances = {0};
    const size_t per = a->facts->per_situation;
    if (!PyArg_ParseTuple(args, "nO|O", &step, &from, &given) ||
        !(per > 0 ? read_doubles(from, "features", -1, &in)
                  : read_indices(from, "states", -1, &in)))
        return NULL;
    const size_t n = per > 0 ? in.n / per : in.n;
    void *actions = NULL;
    if (per > 0 && in.n % per != 0)
        (void)raise_text(TACIT_BAD_ARGUMENT, "features has %zu numbers, expected %zu for each user",
                         in.n, per);
    else if (given == Py_None || read_doubles(given, "chances", (Py_ssize_t)n, &chances))
        out = array_create('I', 1, &n, &actions);
    if (out != NULL && busy_enter(&a->busy)) {
        tacit_error err = TACIT_ERROR_INIT;
        tacit_status status;
        size_t acted = 0;
        PyThreadState *thread = PyEval_SaveThread();
        status = tacit_agent_act_many(a->agent, n, (size_t)step, per > 0 ? NULL : in.data,
                                      per > 0 ? in.data : NULL, chances.data, actions, NULL, &acted,
                                      &err);
        PyEval_RestoreThread(thread);
        busy_leave(&a->busy);
        if (status != TACIT_OK) {
            Py_CLEAR(out);
            (void)raise_status(status, &err);
        }
    } else {
        Py_CLEAR(out);
    }
    numbers_free(&in);
    numbers_free(&chances);
    return out;
}

/* --- Learning ------------------------------------------------------------------------------------ */

/* One number, or as many as an array has. */
static bool read_steps(PyObject *from, const char *name, bool index, Py_ssize_t n, numbers *out)
{
    if (!PyLong_Check(from) && !PyFloat_Check(from))
        return index ? read_indices(from, name, n, out) : read_doubles(from, name, n, out);
    PyObject *one = PyTuple_Pack(1, from);
    bool good =
        one != NULL && (index ? read_indices(one, name, n, out) : read_doubles(one, name, n, out));
    Py_XDECREF(one);
    return good;
}

typedef struct episode {
    numbers states, actions, rewards; /* the first are features where states are not numbered */
    uint32_t pair[2];
    tacit_trajectory user;
} episode;

static void episode_free(episode *e)
{
    numbers_free(&e->states);
    numbers_free(&e->actions);
    numbers_free(&e->rewards);
}

/* How many numbers a user's states or features are: one situation more than there are steps, except where
 * the horizon is one step and nothing after it counts. */
static bool read_situations(const agent_object *a, PyObject *from, size_t steps, episode *e)
{
    const size_t per = a->facts->per_situation, H = a->facts->horizon;
    if (per > 0) {
        if (!read_doubles(from, "features", -1, &e->states))
            return false;
        e->user.features = e->states.data;
        if (e->states.n == (steps + 1) * per || (H == 1 && e->states.n == per))
            return true;
        (void)raise_text(TACIT_BAD_ARGUMENT, "features has %zu numbers, expected %zu", e->states.n,
                         H == 1 ? per : (steps + 1) * per);
        return false;
    }
    if (!read_steps(from, "states", true, -1, &e->states))
        return false;
    e->user.states = e->states.data;
    if (e->states.n == steps + 1)
        return true;
    if (H == 1 && e->states.n == 1) {
        e->pair[0] = e->pair[1] = *(const uint32_t *)e->states.data;
        e->user.states = e->pair;
        return true;
    }
    (void)raise_text(TACIT_BAD_ARGUMENT,
                     "states has %zu numbers, expected %zu: those of all steps, and the last one",
                     e->states.n, steps + 1);
    return false;
}

/* The number of actions says how many steps there were; fewer than the horizon: the episode ended. */
static bool read_episode(const agent_object *a, PyObject *const *args, Py_ssize_t n, episode *e)
{
    memset(e, 0, sizeof *e);
    if (n != 3) {
        PyErr_SetString(PyExc_TypeError, "expected states (or features), actions and rewards");
        return false;
    }
    bool good = read_steps(args[1], "actions", true, -1, &e->actions);
    const size_t steps = e->actions.n;
    if (good && steps == 0)
        good = raise_text(TACIT_BAD_ARGUMENT, "an episode has at least one step") != NULL;
    if (good && read_situations(a, args[0], steps, e) &&
        read_steps(args[2], "rewards", false, (Py_ssize_t)steps, &e->rewards)) {
        e->user.actions = e->actions.data;
        e->user.rewards = e->rewards.data;
        e->user.length = steps != a->facts->horizon ? steps : 0;
        return true;
    }
    episode_free(e);
    return false;
}

static PyObject *agent_learn(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    agent_object *a = (agent_object *)self;
    episode e;
    if (!read_episode(a, args, n, &e))
        return NULL;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    const bool entered = busy_enter(&a->busy);
    if (entered) {
        PyThreadState *thread = PyEval_SaveThread();
        status = tacit_agent_learn(a->agent, &e.user, &err);
        PyEval_RestoreThread(thread);
        a->users += status == TACIT_OK;
        busy_leave(&a->busy);
    }
    episode_free(&e);
    if (!entered)
        return NULL;
    if (status == TACIT_OK)
        return Py_NewRef(Py_None);
    return raise_status(status, &err);
}

static PyObject *agent_learn_many(PyObject *self, PyObject *args)
{
    agent_object *a = (agent_object *)self;
    PyObject *from, *did, *got, *ends = Py_None;
    numbers in = {0}, actions = {0}, rewards = {0}, lengths = {0};
    const size_t per = a->facts->per_situation, H = a->facts->horizon;
    if (!PyArg_ParseTuple(args, "OOO|O", &from, &did, &got, &ends))
        return NULL;
    bool good = read_indices(did, "actions", -1, &actions) &&
                read_doubles(got, "rewards", (Py_ssize_t)actions.n, &rewards);
    const size_t n = actions.n / H;
    if (good && actions.n % H != 0)
        good = raise_text(TACIT_BAD_ARGUMENT, "actions has %zu numbers, expected %zu for each user",
                          actions.n, H) != NULL;
    const size_t each = per == 0 ? H + 1 : H == 1 ? per : (H + 1) * per;
    good = good &&
           (per > 0 ? read_doubles(from, "features", (Py_ssize_t)(n * each), &in)
                    : read_indices(from, "states", (Py_ssize_t)(n * each), &in)) &&
           (ends == Py_None || read_indices(ends, "lengths", (Py_ssize_t)n, &lengths));
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    size_t learned = 0;
    if (good && (good = busy_enter(&a->busy))) {
        const tacit_trajectories users = {.states = per > 0 ? NULL : in.data,
                                          .features = per > 0 ? in.data : NULL,
                                          .actions = actions.data,
                                          .rewards = rewards.data,
                                          .lengths = lengths.data};
        PyThreadState *thread = PyEval_SaveThread();
        status = tacit_agent_learn_many(a->agent, n, &users, &learned, &err);
        PyEval_RestoreThread(thread);
        a->users += learned;
        busy_leave(&a->busy);
    }
    numbers_free(&in);
    numbers_free(&actions);
    numbers_free(&rewards);
    numbers_free(&lengths);
    if (!good)
        return NULL;
    return status == TACIT_OK ? PyLong_FromSize_t(learned) : raise_status(status, &err);
}

static PyObject *agent_report(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    agent_object *a = (agent_object *)self;
    episode e;
    if (!read_episode(a, args, n, &e))
        return NULL;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    size_t size = 0;
    PyObject *out = NULL;
    if (busy_enter(&a->busy)) {
        status = tacit_agent_report(a->agent, &e.user, NULL, &size, &err);
        out = status == TACIT_OK ? PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size) : NULL;
        if (out != NULL)
            status = tacit_agent_report(a->agent, &e.user, PyByteArray_AsString(out), &size, &err);
        busy_leave(&a->busy);
    }
    episode_free(&e);
    PyObject *bytes = out != NULL && status == TACIT_OK
                          ? PyBytes_FromStringAndSize(PyByteArray_AsString(out), (Py_ssize_t)size)
                          : NULL;
    Py_XDECREF(out);
    return status == TACIT_OK ? bytes : raise_status(status, &err);
}

/* --- The type ------------------------------------------------------------------------------------ */

static PyObject *agent_users(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((agent_object *)self)->users);
}

static PyObject *agent_was_cut(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tacit_agent_was_cut(((agent_object *)self)->agent));
}

static PyObject *agent_is_random(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((agent_object *)self)->is_random);
}

static PyMethodDef methods[] = {
    {"plan", agent_plan, METH_NOARGS,
     "plan($self, /)\n--\n\nThe policy for the next user: actions [horizon, states], or "
     "probabilities\n"
     "[horizon, states, actions], as a read-only array; None where states are not numbered: then "
     "act() tells.\n\n"
     "It is the public billboard: made of releases only, the same for every reader."},
    {"act", METHOD(agent_act), METH_FASTCALL,
     "act($self, step, state, chance=None, /)\n--\n\nThe action of the last plan at this step, in "
     "this state or with these features.\n\n"
     "chance in [0, 1) decides where the policy is random; without it a number is drawn."},
    {"choose", METHOD(agent_choose), METH_FASTCALL,
     "choose($self, step, state, chance=None, /)\n--\n\nThe same as act, with the action's "
     "probability: (action, probability)."},
    {"_act_many", agent_act_many, METH_VARARGS, NULL},
    {"learn", METHOD(agent_learn), METH_FASTCALL,
     "learn($self, states, actions, rewards, /)\n--\n\n"
     "One user: states [horizon + 1], actions [horizon], rewards [horizon].\n\n"
     "Where states are not numbered, features [horizon + 1, ...] take their place; in a bandit, "
     "the\n"
     "features of the one step. With fewer actions than the horizon the episode ended early, in "
     "the last\n"
     "of the states, which must be one that means the end: from there on every reward is 0. An "
     "episode\n"
     "that was only stopped, by a limit on time, must not be told as ended. What does not fit is "
     "refused\n"
     "and changes nothing, or cut, as `outside` says."},
    {"learn_many", agent_learn_many, METH_VARARGS,
     "learn_many($self, states, actions, rewards, lengths=None, /)\n--\n\n"
     "Many users, one row for each, without a plan between them; the number learned.\n\n"
     "states [n, horizon + 1] or features [n, ...], actions [n, horizon], rewards [n, horizon]. "
     "lengths\n"
     "[n] are the steps of episodes that ended early (0: none did); what lies behind an end is not "
     "read.\n"
     "If a user is refused, those before are learned, and `users` says how many."},
    {"report", METHOD(agent_report), METH_FASTCALL,
     "report($self, states, actions, rewards, /)\n--\n\nLocal privacy: what this user's device "
     "would send, as bytes. Nothing is learned by it."},
    {"absorb", agent_absorb, METH_O,
     "absorb($self, report, /)\n--\n\nLocal privacy: learns from a report."},
    {"check_report", agent_check_report, METH_O,
     "check_report($self, report, /)\n--\n\nRaises what absorb would raise for this report; "
     "nothing changes."},
    {"publish", agent_publish, METH_NOARGS,
     "publish($self, /)\n--\n\nThe model behind the last plan, as bytes, for users who plan for "
     "themselves."},
    {"follow", agent_follow, METH_O,
     "follow($self, model, /)\n--\n\nShows the plan of a published model."},
    {"_explain", agent_explain, METH_NOARGS, NULL},
    {"_ledger", agent_ledger, METH_NOARGS, NULL},
    {"_save", agent_save, METH_NOARGS, NULL},
    {"_load", agent_load, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef members[] = {
    {"facts", agent_facts, NULL, "what was asked for, as a dict", NULL},
    {"remark", agent_remark, NULL, "what the settings mean for the theory, or an empty string",
     NULL},
    {"users", agent_users, NULL, "users learned from by this object", NULL},
    {"was_cut", agent_was_cut, NULL,
     "whether the last user's data were cut into the domain; for that user only", NULL},
    {"_is_random", agent_is_random, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, SLOT(agent_new)},
                              {Py_tp_dealloc, SLOT(agent_free)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, members},
                              {0, NULL}};
static PyType_Spec spec = {"tacit._tacit.Agent", sizeof(agent_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int agent_init(PyObject *module)
{
    return add_type(module, &spec) != NULL ? 0 : -1;
}

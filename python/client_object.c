/* _tacit.Client: the user's side of local privacy. The caller of these methods is the device; calls are
 * short, so the GIL is kept, and `save` is called with it. tacit/service.py dresses it. */
#include "extension.h"

#include <stdlib.h>

#include <tacit/client.h>

typedef struct client_object {
    PyObject_HEAD tacit_client *client;
    const tacit_client_facts *facts;
    PyObject *save; /* a callable, or NULL */
} client_object;

static void client_free(PyObject *self)
{
    client_object *c = (client_object *)self;
    tacit_client_destroy(c->client);
    Py_CLEAR(c->save);
    free_object(self);
}

static tacit_status save_state(void *context, const void *state, size_t size)
{
    client_object *c = context;
    PyObject *bytes = PyBytes_FromStringAndSize(state, (Py_ssize_t)size);
    PyObject *done = bytes != NULL ? PyObject_CallFunctionObjArgs(c->save, bytes, NULL) : NULL;
    Py_XDECREF(bytes);
    if (done == NULL)
        return status_of_exception("save", NULL);
    Py_DECREF(done);
    return TACIT_OK;
}

static PyObject *client_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"billboard", "epsilon", "delta", "memory",
                                        "state",     "save",    NULL};
    const char *billboard, *state = NULL;
    Py_ssize_t size, state_size = 0;
    tacit_client_terms terms = {0};
    unsigned long long memory = 0;
    PyObject *save = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#dd|Kz#O", keywords(names), &billboard, &size,
                                     &terms.epsilon, &terms.delta, &memory, &state, &state_size,
                                     &save))
        return NULL;
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    client_object *c = (client_object *)self;
    c->save = save != Py_None ? Py_NewRef(save) : NULL;
    terms.memory = (size_t)memory;
    terms.state = state;
    terms.state_size = (size_t)state_size;
    terms.save = c->save != NULL ? save_state : NULL;
    terms.save_context = c;
    forget_cause();
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = tacit_client_create(billboard, (size_t)size, &terms, &c->client, &err);
    if (status == TACIT_OK) {
        c->facts = tacit_client_describe(c->client);
        return self;
    }
    Py_DECREF(self);
    return raise_status(status, &err);
}

static PyObject *client_facts(PyObject *self, void *unused)
{
    const tacit_client_facts *f = ((client_object *)self)->facts;
    PyObject *d = PyDict_New();
    (void)unused;
    if (d != NULL && put_text(d, "learner", f->learner) &&
        put(d, "guarantee", guarantee_dict(f->guarantee)) &&
        put(d, "monitor", guarantee_dict(f->monitor)) &&
        put(d, "states", PyLong_FromSize_t(f->n_states)) &&
        put(d, "actions", PyLong_FromSize_t(f->n_actions)) &&
        put(d, "horizon", PyLong_FromSize_t(f->horizon)) &&
        put(d, "per_situation", PyLong_FromSize_t(f->per_situation)) &&
        put(d, "bound", PyFloat_FromDouble(f->bound)) &&
        put(d, "version", PyLong_FromUnsignedLongLong(f->version)) &&
        put(d, "visits", PyLong_FromUnsignedLongLong(f->visits)) &&
        put(d, "apart", PyLong_FromUnsignedLongLong(f->apart)) &&
        put(d, "made", PyLong_FromUnsignedLongLong(f->made)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *client_act(PyObject *self, PyObject *args)
{
    client_object *c = (client_object *)self;
    PyObject *where;
    Py_ssize_t step;
    uint32_t action;
    double probability;
    numbers in = {0};
    if (!PyArg_ParseTuple(args, "nO", &step, &where))
        return NULL;
    tacit_situation here = {.step = (size_t)step};
    if (c->facts->per_situation > 0) {
        if (!read_doubles(where, "features", (Py_ssize_t)c->facts->per_situation, &in))
            return NULL;
        here.features = in.data;
    } else {
        unsigned long state = PyLong_AsUnsignedLong(where);
        if (PyErr_Occurred())
            return NULL;
        here.state = state < UINT32_MAX ? (uint32_t)state : UINT32_MAX;
    }
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = tacit_client_act(c->client, &here, &action, &probability, &err);
    numbers_free(&in);
    return status == TACIT_OK ? PyLong_FromUnsignedLong(action) : raise_status(status, &err);
}

/* The body of a report and its key; frees the body. */
static PyObject *body_and_key(char *body, const char *key)
{
    PyObject *out = Py_BuildValue("(ss)", body, key);
    free(body);
    return out;
}

static PyObject *client_report(PyObject *self, PyObject *args)
{
    client_object *c = (client_object *)self;
    const size_t H = c->facts->horizon, per = c->facts->per_situation;
    PyObject *from, *did, *got;
    numbers in = {0}, actions = {0}, rewards = {0};
    if (!PyArg_ParseTuple(args, "OOO", &from, &did, &got))
        return NULL;
    bool good = read_indices(did, "actions", -1, &actions);
    const size_t steps = actions.n; /* fewer than the horizon: the episode ended */
    good = good && steps > 0 &&
           (per > 0 ? read_doubles(from, "features", -1, &in)
                    : read_indices(from, "states", (Py_ssize_t)(steps + 1), &in)) &&
           read_doubles(got, "rewards", (Py_ssize_t)steps, &rewards);
    const bool enough = per == 0 || in.n == (steps + 1) * per || (H == 1 && in.n == per);
    tacit_status status = TACIT_BAD_ARGUMENT;
    tacit_error err = TACIT_ERROR_INIT;
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    if (good && !enough)
        (void)raise_text(status, "features has %zu numbers, expected %zu", in.n,
                         H == 1 ? per : (steps + 1) * per);
    else if (steps == 0 && !PyErr_Occurred())
        (void)raise_text(status, "an episode has at least one step");
    forget_cause();
    if (good && enough) {
        const tacit_trajectory user = {.states = per > 0 ? NULL : in.data,
                                       .features = per > 0 ? in.data : NULL,
                                       .actions = actions.data,
                                       .rewards = rewards.data,
                                       .length = steps != H ? steps : 0};
        status = tacit_client_report(c->client, &user, &body, key, &err);
        if (status != TACIT_OK)
            (void)raise_status(status, &err);
    }
    numbers_free(&in);
    numbers_free(&actions);
    numbers_free(&rewards);
    return status == TACIT_OK ? body_and_key(body, key) : NULL;
}

static PyObject *client_report_again(PyObject *self, PyObject *nothing)
{
    client_object *c = (client_object *)self;
    tacit_error err = TACIT_ERROR_INIT;
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    (void)nothing;
    tacit_status status = tacit_client_report_again(c->client, &body, key, &err);
    return status == TACIT_OK ? body_and_key(body, key) : raise_status(status, &err);
}

static PyObject *client_was_cut(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tacit_client_was_cut(((client_object *)self)->client));
}

static PyMethodDef methods[] = {{"act", client_act, METH_VARARGS,
                                 "act($self, step, state, /)\n--\n\nThe billboard's action at this "
                                 "step, in this state or with these features."},
                                {"_report", client_report, METH_VARARGS, NULL},
                                {"_report_again", client_report_again, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static PyGetSetDef members[] = {
    {"facts", client_facts, NULL, "what the billboard says about its learner, as a dict", NULL},
    {"was_cut", client_was_cut, NULL,
     "whether the last data were outside the learner's domain and were cut", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, SLOT(client_new)},
                              {Py_tp_dealloc, SLOT(client_free)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, members},
                              {0, NULL}};
static PyType_Spec spec = {"tacit._tacit.Client", sizeof(client_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int client_init(PyObject *module)
{
    return add_type(module, &spec) != NULL ? 0 : -1;
}

/* The module tacit._tacit, and lists of the kinds of worlds and agents. */
#include "extension.h"

#include <string.h>

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
        Py_XDECREF(type);
        return NULL;
    }
    return (PyTypeObject *)type; /* our reference stays for as long as the process */
}

void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    void *slot = PyType_GetSlot(type, Py_tp_free);
    freefunc release;
    memcpy(&release, &slot, sizeof release);
    release(self);
    Py_DECREF(type);
}

/* --- Kinds --------------------------------------------------------------------------------------- */

static PyObject *parameters_list(const tacit_parameter *parameters, size_t n)
{
    static const char *const types[] = {"integer", "real", "flag", "text", "file"};
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        const tacit_parameter *p = &parameters[i];
        PyObject *one =
            Py_BuildValue("{s:s,s:s,s:z,s:d,s:d,s:s}", "name", p->name, "type", types[p->type],
                          "default", p->fallback, "low", p->low, "high", p->high, "help", p->help);
        if (one == NULL || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *kind_dict(const char *name, const char *help, const char *source,
                           const tacit_parameter *parameters, size_t n)
{
    PyObject *d = PyDict_New();
    if (d != NULL && put_text(d, "name", name) && put_text(d, "help", help) &&
        put_text(d, "source", source) && put(d, "parameters", parameters_list(parameters, n)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static bool append(PyObject *list, PyObject *item)
{
    bool good = list != NULL && item != NULL && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return good;
}

static PyObject *world_kinds(PyObject *self, PyObject *nothing)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)nothing;
    for (size_t i = 0; list != NULL && i < tacit_world_kind_count(); i++) {
        const tacit_world_kind *k = tacit_world_kind_at(i);
        if (!append(list, kind_dict(k->name, k->help, k->source, k->parameters, k->n_parameters)))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *agent_dict(const tacit_agent_kind *k)
{
    static const struct {
        unsigned bit;
        const char *name;
    } models[] = {{TACIT_AGENT_NONE, "none"},
                  {TACIT_AGENT_JOINT_PURE, "joint with delta 0"},
                  {TACIT_AGENT_JOINT, "joint"},
                  {TACIT_AGENT_LOCAL_PURE, "local with delta 0"},
                  {TACIT_AGENT_LOCAL, "local"}};
    PyObject *d = kind_dict(k->name, k->help, k->source, k->parameters, k->n_parameters);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < sizeof models / sizeof models[0]; i++)
        if ((k->models & models[i].bit) != 0 && !append(list, PyUnicode_FromString(models[i].name)))
            Py_CLEAR(list);
    if (d != NULL && put(d, "models", list))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *agent_kinds(PyObject *self, PyObject *nothing)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)nothing;
    for (size_t i = 0; list != NULL && i < tacit_agent_alias_count(); i++)
        if (!append(list, agent_dict(tacit_agent_alias_at(i))))
            Py_CLEAR(list);
    for (size_t i = 0; list != NULL && i < tacit_agent_kind_count(); i++)
        if (!append(list, agent_dict(tacit_agent_kind_at(i))))
            Py_CLEAR(list);
    for (size_t i = 0; list != NULL && i < tacit_baseline_count(); i++)
        if (!append(list, agent_dict(tacit_baseline_at(i))))
            Py_CLEAR(list);
    return list;
}

/* features(x, low, high, actions): plain vectors x[n][size] as learners with features take them. */
static PyObject *features(PyObject *self, PyObject *args)
{
    PyObject *from, *least, *most, *out = NULL;
    Py_ssize_t n_actions;
    numbers x = {0}, low = {0}, high = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOn", &from, &least, &most, &n_actions))
        return NULL;
    if (read_doubles(least, "low", -1, &low) &&
        read_doubles(most, "high", (Py_ssize_t)low.n, &high) && read_doubles(from, "x", -1, &x)) {
        const size_t actions = n_actions > 0 ? (size_t)n_actions : 0;
        const size_t per = low.n > 0 ? tacit_features_size(low.n, actions) : 0;
        const size_t n = low.n > 0 ? x.n / low.n : 0;
        void *data;
        if (low.n == 0 || x.n % low.n != 0 || per == 0)
            (void)raise_text(TACIT_BAD_ARGUMENT, "x has %zu numbers, expected %zu for each vector",
                             x.n, low.n);
        else if (actions > 0)
            out = array_create('d', 3, (size_t[]){n, actions, per / actions}, &data);
        else
            out = array_create('d', 2, (size_t[]){n, per}, &data);
        tacit_error err = TACIT_ERROR_INIT;
        tacit_status status = out != NULL ? tacit_features_make(n, low.n, low.data, high.data,
                                                                x.data, actions, data, NULL, &err)
                                          : TACIT_OK;
        if (status != TACIT_OK) {
            Py_CLEAR(out);
            (void)raise_status(status, &err);
        }
    }
    numbers_free(&x);
    numbers_free(&low);
    numbers_free(&high);
    return out;
}

static PyMethodDef functions[] = {{"world_kinds", world_kinds, METH_NOARGS, NULL},
                                  {"agent_kinds", agent_kinds, METH_NOARGS, NULL},
                                  {"features", features, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_tacit",
                                        "The part of tacit that is written in C; use `tacit`.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__tacit(void);
PyMODINIT_FUNC PyInit__tacit(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && exceptions_init(module) == 0 && buffers_init() == 0 &&
        account_init(module) == 0 && sum_init(module) == 0 && world_init(module) == 0 &&
        agent_init(module) == 0 && results_init(module) == 0 && run_init(module) == 0 &&
        client_init(module) == 0 && own_world_init(module) == 0 && own_agent_init(module) == 0 &&
        PyModule_AddStringConstant(module, "version", tacit_version()) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}

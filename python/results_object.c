/* _tacit.Results: what a run found. tacit/results.py dresses it. */
#include "extension.h"

#include <tacit/explain.h>
#include <tacit/report.h>

typedef struct results_object {
    PyObject_HEAD tacit_results *results;
    const tacit_experiment_facts *facts;
} results_object;

static PyTypeObject *results_type;

PyObject *results_wrap(tacit_results *results)
{
    PyObject *self = PyType_GenericAlloc(results_type, 0);
    if (self == NULL) {
        tacit_results_destroy(results);
        return NULL;
    }
    ((results_object *)self)->results = results;
    ((results_object *)self)->facts = tacit_results_describe(results);
    return self;
}

static void results_free(PyObject *self)
{
    tacit_results_destroy(((results_object *)self)->results);
    free_object(self);
}

/* --- The experiment ------------------------------------------------------------------------------ */

static PyObject *settings_dict(const tacit_setting *settings, size_t n)
{
    PyObject *d = PyDict_New();
    for (size_t i = 0; d != NULL && i < n; i++)
        if (!put_text(d, settings[i].key, settings[i].value))
            Py_CLEAR(d);
    return d;
}

static PyObject *world_entry(const results_object *r, size_t i)
{
    const tacit_world_entry *e = &r->facts->worlds[i];
    const tacit_world_facts *f = tacit_results_world(r->results, i);
    PyObject *d = PyDict_New();
    if (d != NULL && put_text(d, "label", e->label) && put_text(d, "kind", e->kind) &&
        put(d, "settings", settings_dict(e->settings, e->n_settings)) &&
        put(d, "states", PyLong_FromSize_t(f->n_states)) &&
        put(d, "actions", PyLong_FromSize_t(f->n_actions)) &&
        put(d, "horizon", PyLong_FromSize_t(f->horizon)) &&
        put(d, "optimal_value", PyFloat_FromDouble(tacit_results_optimal_value(r->results, i))))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *agent_entry(const results_object *r, size_t i)
{
    const tacit_entry *e = &r->facts->agents[i];
    PyObject *d = PyDict_New();
    if (d != NULL && put_text(d, "label", e->label) && put_text(d, "kind", e->kind) &&
        put(d, "baseline", PyBool_FromLong(e->baseline)) &&
        put(d, "guarantee", guarantee_dict(e->guarantee)) &&
        put_text(d, "calibration", tacit_calibration_name(e->calibration)) &&
        put(d, "settings", settings_dict(e->settings, e->n_settings)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

typedef PyObject *entry_function(const results_object *, size_t);

static PyObject *entries(const results_object *r, size_t n, entry_function *f)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *entry = f(r, i);
        if (entry == NULL || PyList_Append(list, entry) < 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *results_facts(PyObject *self, void *unused)
{
    const results_object *r = (const results_object *)self;
    const tacit_experiment_facts *f = r->facts;
    PyObject *d = PyDict_New();
    (void)unused;
    if (d != NULL && put_text(d, "title", f->title) && put_text(d, "file", f->file) &&
        put(d, "episodes", PyLong_FromUnsignedLongLong(f->episodes)) &&
        put(d, "runs", PyLong_FromUnsignedLongLong(f->runs)) &&
        put(d, "seed", PyLong_FromUnsignedLongLong(f->seed)) &&
        put(d, "n_jobs", PyLong_FromUnsignedLongLong(f->n_jobs)) &&
        put_text(d, "version", tacit_results_version(r->results)) &&
        put(d, "complete", PyBool_FromLong(tacit_results_complete(r->results))) &&
        put(d, "worlds", entries(r, f->n_worlds, world_entry)) &&
        put(d, "agents", entries(r, f->n_agents, agent_entry)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *results_episodes(PyObject *self, void *unused)
{
    const results_object *r = (const results_object *)self;
    const size_t n = tacit_results_points(r->results);
    void *data;
    (void)unused;
    PyObject *out = array_create('Q', 1, &n, &data);
    for (size_t i = 0; out != NULL && i < n; i++)
        ((uint64_t *)data)[i] = tacit_results_episode(r->results, i);
    return out;
}

/* --- Numbers ------------------------------------------------------------------------------------- */

static bool read_pair(const results_object *r, PyObject *args, size_t *world, size_t *agent,
                      unsigned long long *run)
{
    Py_ssize_t w, a;
    *run = 0;
    if (!PyArg_ParseTuple(args, "nn|K", &w, &a, run))
        return false;
    if (w < 0 || (size_t)w >= r->facts->n_worlds || a < 0 || (size_t)a >= r->facts->n_agents ||
        *run >= r->facts->runs) {
        PyErr_SetString(PyExc_IndexError, "there is no such world, agent or run");
        return false;
    }
    *world = (size_t)w;
    *agent = (size_t)a;
    return true;
}

static PyObject *results_job(PyObject *self, PyObject *args)
{
    const results_object *r = (const results_object *)self;
    size_t world, agent;
    unsigned long long run;
    if (!read_pair(r, args, &world, &agent, &run))
        return NULL;
    const tacit_job *job = tacit_results_job(r->results, world, agent, run);
    if (job == NULL)
        return Py_NewRef(Py_None);
    PyObject *d = PyDict_New();
    if (d != NULL && put(d, "done", PyBool_FromLong(job->done)) &&
        put(d, "regret", PyFloat_FromDouble(job->regret)) &&
        put(d, "late_regret", PyFloat_FromDouble(job->late_regret)) &&
        put(d, "switches", PyLong_FromUnsignedLongLong(job->switches)) &&
        put(d, "seconds", PyFloat_FromDouble(job->seconds)) &&
        put(d, "curve", array_copy('d', 1, &job->n_points, job->curve)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *results_summary(PyObject *self, PyObject *args)
{
    const results_object *r = (const results_object *)self;
    size_t world, agent;
    unsigned long long run;
    if (!read_pair(r, args, &world, &agent, &run))
        return NULL;
    if (tacit_results_job(r->results, world, agent, 0) == NULL)
        return Py_NewRef(Py_None);
    const tacit_summary s = tacit_results_summary(r->results, world, agent);
    PyObject *d = PyDict_New();
    if (d != NULL && put(d, "runs", PyLong_FromUnsignedLongLong(s.runs)) &&
        put(d, "regret_mean", PyFloat_FromDouble(s.regret_mean)) &&
        put(d, "regret_error", PyFloat_FromDouble(s.regret_error)) &&
        put(d, "regret_half", PyFloat_FromDouble(s.regret_half)) &&
        put(d, "runs_not_learned", PyLong_FromUnsignedLongLong(s.runs_not_learned)) &&
        put(d, "late_mean", PyFloat_FromDouble(s.late_mean)) &&
        put(d, "late_error", PyFloat_FromDouble(s.late_error)) &&
        put(d, "switches", PyFloat_FromDouble(s.switches)) &&
        put(d, "seconds", PyFloat_FromDouble(s.seconds)) && put_text(d, "kind", s.kind) &&
        put_text(d, "remark", s.remark))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *results_plan(PyObject *self, PyObject *args)
{
    const results_object *r = (const results_object *)self;
    size_t world, agent;
    unsigned long long run;
    if (!read_pair(r, args, &world, &agent, &run))
        return NULL;
    return plan_list(tacit_results_plan(r->results, world, agent));
}

/* What the accountant makes of an agent's plan at its own delta. */
static PyObject *results_account(PyObject *self, PyObject *args)
{
    const results_object *r = (const results_object *)self;
    size_t world, agent;
    unsigned long long run;
    tacit_composition out;
    tacit_error err = TACIT_ERROR_INIT;
    if (!read_pair(r, args, &world, &agent, &run))
        return NULL;
    const tacit_plan *plan = tacit_results_plan(r->results, world, agent);
    if (plan == NULL)
        return Py_NewRef(Py_None);
    tacit_status status =
        tacit_plan_account(plan, r->facts->agents[agent].guarantee.delta, &out, &err);
    return status == TACIT_OK ? composition_dict(&out) : raise_status(status, &err);
}

static PyObject *results_report(PyObject *self, PyObject *args)
{
    const results_object *r = (const results_object *)self;
    const char *path, *command;
    int still;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    if (!PyArg_ParseTuple(args, "szp", &path, &command, &still))
        return NULL;
    const tacit_report_options options = {.command = command, .still = still != 0};
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_report_write(r->results, &options, path, &err);
    PyEval_RestoreThread(thread);
    if (status == TACIT_OK)
        return Py_NewRef(Py_None);
    return raise_status(status, &err);
}

static PyMethodDef methods[] = {{"job", results_job, METH_VARARGS, NULL},
                                {"summary", results_summary, METH_VARARGS, NULL},
                                {"plan", results_plan, METH_VARARGS, NULL},
                                {"account", results_account, METH_VARARGS, NULL},
                                {"write_report", results_report, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static PyGetSetDef members[] = {{"facts", results_facts, NULL, NULL, NULL},
                                {"episodes", results_episodes, NULL, NULL, NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, SLOT(results_free)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, members},
                              {0, NULL}};
static PyType_Spec spec = {"tacit._tacit.Results", sizeof(results_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int results_init(PyObject *module)
{
    results_type = add_type(module, &spec);
    return results_type != NULL ? 0 : -1;
}

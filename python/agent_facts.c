/* What an agent says about itself: its promise, what has passed, and its state as bytes. */
#include "agent_object.h"

#include <math.h>

#include <tacit/explain.h>

PyObject *agent_facts(PyObject *self, void *unused)
{
    const tacit_agent_facts *f = ((agent_object *)self)->facts;
    PyObject *d = PyDict_New();
    (void)unused;
    const bool good =
        d != NULL && put_text(d, "kind", f->kind->name) &&
        put(d, "guarantee", guarantee_dict(f->guarantee)) &&
        put_text(d, "calibration", tacit_calibration_name(f->calibration)) &&
        put_text(d, "outside", f->outside == TACIT_OUTSIDE_CLIP ? "clip" : "refuse") &&
        put(d, "states", PyLong_FromSize_t(f->n_states)) &&
        put(d, "actions", PyLong_FromSize_t(f->n_actions)) &&
        put(d, "horizon", PyLong_FromSize_t(f->horizon)) &&
        put(d, "stationary", PyBool_FromLong(f->stationary)) &&
        put(d, "episodes", PyLong_FromUnsignedLongLong(f->episodes)) &&
        put(d, "reward_low", PyFloat_FromDouble(f->reward_low)) &&
        put(d, "reward_high", PyFloat_FromDouble(f->reward_high)) &&
        put(d, "per_situation", PyLong_FromSize_t(f->per_situation));
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

PyObject *agent_remark(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tacit_agent_remark(((agent_object *)self)->agent));
}

/* --- Explanation --------------------------------------------------------------------------------- */

static PyObject *explained_releases(const tacit_explanation *e)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < e->n_releases; i++) {
        const tacit_explained_release *r = &e->releases[i];
        PyObject *line =
            Py_BuildValue("{s:s,s:s,s:n,s:K,s:d,s:d,s:d,s:s}", "name", r->release.name, "reason",
                          r->release.reason, "dimension", (Py_ssize_t)r->release.dimension, "steps",
                          (unsigned long long)r->release.steps, "scale", r->scale, "reach",
                          r->reach, "cost", r->cost, "words", r->words);
        if (line == NULL || PyList_Append(list, line) < 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

/* {"name", "printed", "played", "note"}; a constant is a number, a text, or None where nothing is printed. */
static PyObject *constant_of(double number, const char *words)
{
    if (!isnan(number))
        return PyFloat_FromDouble(number);
    return words[0] != '\0' ? PyUnicode_FromString(words) : Py_NewRef(Py_None);
}

static PyObject *plays_list(const tacit_explanation *e)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < e->n_plays; i++) {
        const tacit_play *p = &e->plays[i];
        PyObject *line = Py_BuildValue("{s:s,s:N,s:N,s:s}", "name", p->name, "printed",
                                       constant_of(p->printed, p->printed_words), "played",
                                       constant_of(p->played, p->played_words), "note", p->note);
        if (line == NULL || PyList_Append(list, line) < 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

static PyObject *curve_list(const tacit_explanation *e)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < e->n_curve; i++) {
        PyObject *point = Py_BuildValue("(dd)", e->curve[i].delta, e->curve[i].epsilon);
        if (point == NULL || PyList_Append(list, point) < 0)
            Py_CLEAR(list);
        Py_XDECREF(point);
    }
    return list;
}

static PyObject *exceptions_list(void)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && tacit_explanation_exception(i) != NULL; i++) {
        PyObject *text = PyUnicode_FromString(tacit_explanation_exception(i));
        if (text == NULL || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *explanation_of(const tacit_explanation *e)
{
    PyObject *d = PyDict_New();
    const bool private = e->n_releases > 0;
    const bool good =
        d != NULL && put(d, "claim", guarantee_dict(e->claim)) &&
        put_text(d, "calibration", tacit_calibration_name(e->calibration)) &&
        put_text(d, "verdict", tacit_verdict_name(e->verdict)) && put_text(d, "words", e->words) &&
        put_text(d, "against", e->against) && put_text(d, "neighbors", e->neighbors) &&
        put_text(d, "remark", e->remark) && put_text(d, "outside", e->outside) &&
        put_text(d, "law", private ? tacit_law_name(e->law) : NULL) &&
        put(d, "releases", explained_releases(e)) &&
        put(d, "real", private ? composition_dict(&e->real) : Py_NewRef(Py_None)) &&
        put_text(d, "composition", private ? e->composition : "") &&
        put(d, "twice", private ? composition_dict(&e->twice) : Py_NewRef(Py_None)) &&
        put(d, "curve", curve_list(e)) && put_text(d, "paper", private ? e->paper : "") &&
        put(d, "plays", plays_list(e)) && put_text(d, "report", private ? e->report : "") &&
        put(d, "report_bytes", PyLong_FromUnsignedLongLong(private ? e->report_bytes : 0)) &&
        put(d, "not_covered", exceptions_list());
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

PyObject *agent_explain(PyObject *self, PyObject *nothing)
{
    agent_object *a = (agent_object *)self;
    const tacit_agent_facts *f = a->facts;
    tacit_explanation *explanation = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    size_t report = 0;
    (void)nothing;
    if (!busy_enter(&a->busy))
        return NULL;
    if (f->guarantee.model == TACIT_MODEL_LOCAL &&
        tacit_agent_report(a->agent, &(tacit_trajectory){0}, NULL, &report, NULL) != TACIT_OK)
        report = 0; /* this kind has no reports that travel */
    const tacit_explanation_request request = {.claim = f->guarantee,
                                               .calibration = f->calibration,
                                               .plan = tacit_agent_release_plan(a->agent),
                                               .kind = f->kind->name,
                                               .remark = tacit_agent_remark(a->agent),
                                               .outside = f->outside,
                                               .report_bytes = report,
                                               .agent = a->agent};
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_explanation_create(&request, &explanation, &err);
    PyEval_RestoreThread(thread);
    busy_leave(&a->busy);
    if (status != TACIT_OK)
        return raise_status(status, &err);
    PyObject *out = explanation_of(explanation);
    tacit_explanation_destroy(explanation);
    return out;
}

/* --- What has passed ----------------------------------------------------------------------------- */

static PyObject *ledger_dict(const tacit_ledger *ledger, double delta)
{
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    tacit_composition spent;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_ledger_spent(ledger, delta, &spent, &err);
    PyEval_RestoreThread(thread);
    if (status != TACIT_OK)
        return raise_status(status, &err);
    PyObject *d = PyDict_New(), *lines = plan_list(plan);
    bool good = d != NULL && lines != NULL;
    for (size_t i = 0; good && i < tacit_plan_size(plan); i++)
        good = put(PyList_GetItem(lines, (Py_ssize_t)i), "passed",
                   PyLong_FromUnsignedLongLong(tacit_ledger_passed(ledger, i)));
    good = good && put(d, "simulated", PyBool_FromLong(tacit_ledger_is_simulated(ledger))) &&
           put(d, "delta", PyFloat_FromDouble(delta)) &&
           put(d, "spent", composition_dict(&spent)) && put(d, "releases", Py_NewRef(lines));
    Py_XDECREF(lines);
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

PyObject *agent_ledger(PyObject *self, PyObject *nothing)
{
    agent_object *a = (agent_object *)self;
    (void)nothing;
    if (!busy_enter(&a->busy))
        return NULL;
    const tacit_ledger *ledger = tacit_agent_ledger(a->agent);
    PyObject *out = ledger != NULL && a->facts->guarantee.model != TACIT_MODEL_NONE
                        ? ledger_dict(ledger, a->facts->guarantee.delta)
                        : Py_NewRef(Py_None);
    busy_leave(&a->busy);
    return out;
}

/* --- Bytes --------------------------------------------------------------------------------------- */

typedef tacit_status bytes_out(const tacit_agent *, void *, size_t *, tacit_error *);
typedef tacit_status bytes_in(tacit_agent *, const void *, size_t, tacit_error *);

static PyObject *give(PyObject *self, bytes_out *f)
{
    agent_object *a = (agent_object *)self;
    tacit_error err = TACIT_ERROR_INIT;
    size_t size = 0;
    if (!busy_enter(&a->busy))
        return NULL;
    tacit_status status = f(a->agent, NULL, &size, &err);
    PyObject *out = status == TACIT_OK ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size) : NULL;
    if (out != NULL)
        status = f(a->agent, PyBytes_AsString(out), &size, &err);
    busy_leave(&a->busy);
    if (status == TACIT_OK)
        return out;
    Py_XDECREF(out);
    return raise_status(status, &err);
}

static bool take(PyObject *self, PyObject *bytes, bytes_in *f)
{
    agent_object *a = (agent_object *)self;
    tacit_error err = TACIT_ERROR_INIT;
    Py_buffer view;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_C_CONTIGUOUS) < 0)
        return false;
    tacit_status status = TACIT_BAD_ARGUMENT;
    if (busy_enter(&a->busy)) {
        PyThreadState *thread = PyEval_SaveThread();
        status = f(a->agent, view.buf, (size_t)view.len, &err);
        PyEval_RestoreThread(thread);
        busy_leave(&a->busy);
        if (status != TACIT_OK)
            (void)raise_status(status, &err);
    }
    PyBuffer_Release(&view);
    return status == TACIT_OK;
}

PyObject *agent_save(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return give(self, tacit_agent_save);
}

PyObject *agent_publish(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return give(self, tacit_agent_publish);
}

/* (bytes, users): the saved state, and how many users it had. */
PyObject *agent_load(PyObject *self, PyObject *args)
{
    agent_object *a = (agent_object *)self;
    PyObject *bytes;
    unsigned long long users;
    if (!PyArg_ParseTuple(args, "OK", &bytes, &users) || !take(self, bytes, tacit_agent_load))
        return NULL;
    a->users = users;
    a->planned = false;
    a->is_random = true; /* until the next plan says otherwise */
    return Py_NewRef(Py_None);
}

PyObject *agent_follow(PyObject *self, PyObject *bytes)
{
    ((agent_object *)self)->planned = false;
    ((agent_object *)self)->is_random = true;
    if (!take(self, bytes, tacit_agent_follow))
        return NULL;
    return Py_NewRef(Py_None);
}

PyObject *agent_absorb(PyObject *self, PyObject *bytes)
{
    if (!take(self, bytes, tacit_agent_absorb))
        return NULL;
    ((agent_object *)self)->users++;
    return Py_NewRef(Py_None);
}

static tacit_status check_report(tacit_agent *agent, const void *bytes, size_t size,
                                 tacit_error *err)
{
    return tacit_agent_check_report(agent, bytes, size, err);
}

PyObject *agent_check_report(PyObject *self, PyObject *bytes)
{
    if (!take(self, bytes, check_report))
        return NULL;
    return Py_NewRef(Py_None);
}

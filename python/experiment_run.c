/* Runs: an experiment is played without the GIL; ten times a second the calling thread takes it back, to
 * show progress and to see whether somebody pressed Ctrl-C. A stopped run gives the jobs that were
 * finished. */
#include "extension.h"

#include <string.h>

typedef struct run_watch {
    PyThreadState *thread;
    PyObject *progress; /* a callable, or NULL */
    PyObject *stopped;  /* the exception that stopped the run, or NULL */
} run_watch;

static unsigned n_runs; /* that are on; under the GIL */

bool no_run_is_on(void)
{
    if (n_runs > 0)
        (void)raise_text(TACIT_UNSUPPORTED,
                         "an experiment is running: define worlds and agents before, or after it");
    return n_runs == 0;
}

static PyObject *progress_dict(const tacit_lab_progress *p)
{
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:d,s:d}", "episodes", (unsigned long long)p->episodes, "n_episodes",
        (unsigned long long)p->n_episodes, "earlier", (unsigned long long)p->earlier, "jobs",
        (unsigned long long)p->jobs, "n_jobs", (unsigned long long)p->n_jobs, "seconds", p->seconds,
        "seconds_left", p->seconds_left);
}

/* The exception that is set, as an object of its own. */
static PyObject *fetch_exception(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != NULL && value != NULL)
        (void)PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

static bool watch(void *context, const tacit_lab_progress *now)
{
    run_watch *w = context;
    PyEval_RestoreThread(w->thread);
    if (w->stopped == NULL && PyErr_CheckSignals() < 0)
        w->stopped = fetch_exception();
    if (w->stopped == NULL && w->progress != NULL) {
        PyObject *facts = progress_dict(now);
        PyObject *done =
            facts != NULL ? PyObject_CallFunctionObjArgs(w->progress, facts, NULL) : NULL;
        if (done == NULL)
            w->stopped = fetch_exception();
        Py_XDECREF(facts);
        Py_XDECREF(done);
    }
    bool goes_on = w->stopped == NULL;
    w->thread = PyEval_SaveThread();
    return goes_on;
}

/* A service refuses what this warns about. A simulation harms no one, but people copy the settings that they
 * tried in one. False: warnings are errors here. */
static bool warn_of(const tacit_experiment_facts *facts, const tacit_entry *entry)
{
    const tacit_agent_kind *kind = entry->baseline ? NULL : tacit_agent_kind_find(entry->kind);
    if (kind == NULL)
        kind = tacit_agent_alias_find(entry->kind);
    if (!entry->privacy_written && kind != NULL && kind->models != TACIT_AGENT_NONE &&
        PyErr_WarnFormat(PyExc_UserWarning, 2,
                         "%s:%d: agent '%s' has no 'privacy' and works on exact data; give it "
                         "tacit.joint(...), or tacit.none() if that is intended",
                         facts->file, entry->line, entry->label) < 0)
        return false;
    return !entry->delta_too_large ||
           PyErr_WarnFormat(PyExc_UserWarning, 2,
                            "%s:%d: agent '%s' has a delta above 1/users; lower it, or set "
                            "delta_above_one_over_users if that is intended",
                            facts->file, entry->line, entry->label) == 0;
}

static bool warn(const tacit_experiment *experiment)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
    for (size_t i = 0; i < facts->n_agents; i++)
        if (!warn_of(facts, &facts->agents[i]))
            return false;
    return true;
}

static bool read_mode(const char *word, tacit_lab_mode *out)
{
    *out = strcmp(word, "resume") == 0    ? TACIT_LAB_RESUME
           : strcmp(word, "replace") == 0 ? TACIT_LAB_REPLACE
                                          : TACIT_LAB_NEW;
    return true;
}

/* run(text, name, path, directory, mode, threads, episodes, runs, max_jobs, progress):
 * (results, what stopped it or None). `path` instead of `text` reads a file. */
static PyObject *run(PyObject *self, PyObject *args)
{
    const char *text, *name, *path, *directory, *mode;
    Py_ssize_t size;
    unsigned int threads;
    unsigned long long episodes, runs, max_jobs;
    PyObject *progress;
    (void)self;
    if (!PyArg_ParseTuple(args, "z#zzzsIKKKO", &text, &size, &name, &path, &directory, &mode,
                          &threads, &episodes, &runs, &max_jobs, &progress))
        return NULL;
    const tacit_experiment_changes changes = {
        .episodes = episodes, .runs = runs, .max_jobs = max_jobs};
    tacit_error err = TACIT_ERROR_INIT;
    tacit_experiment *experiment = NULL;
    tacit_results *results = NULL;
    run_watch w = {.progress = progress != Py_None ? progress : NULL};
    tacit_lab_options options = {
        .n_threads = threads, .directory = directory, .progress = watch, .context = &w};
    (void)read_mode(mode, &options.mode);
    forget_cause();
    n_runs++;
    w.thread = PyEval_SaveThread();
    tacit_status status = path != NULL ? tacit_experiment_read(path, &changes, &experiment, &err)
                                       : tacit_experiment_parse(text, (size_t)size, name, &changes,
                                                                &experiment, &err);
    PyEval_RestoreThread(w.thread);
    if (status == TACIT_OK && !warn(experiment)) {
        tacit_experiment_destroy(experiment);
        n_runs--;
        return NULL;
    }
    w.thread = PyEval_SaveThread();
    if (status == TACIT_OK)
        status = tacit_lab_run(experiment, &options, &results, &err);
    tacit_experiment_destroy(experiment);
    PyEval_RestoreThread(w.thread);
    n_runs--;
    if (status != TACIT_OK) {
        Py_XDECREF(w.stopped);
        return raise_status(status, &err);
    }
    PyObject *wrapped = results_wrap(results);
    PyObject *out =
        wrapped != NULL ? PyTuple_Pack(2, wrapped, w.stopped != NULL ? w.stopped : Py_None) : NULL;
    Py_XDECREF(wrapped);
    Py_XDECREF(w.stopped);
    return out;
}

static PyObject *open_results(PyObject *self, PyObject *args)
{
    const char *directory;
    tacit_results *results = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &directory))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    status = tacit_results_open(directory, &results, &err);
    PyEval_RestoreThread(thread);
    return status == TACIT_OK ? results_wrap(results) : raise_status(status, &err);
}

static PyMethodDef functions[] = {{"run", run, METH_VARARGS, NULL},
                                  {"open_results", open_results, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

int run_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}

/* tacit._tacit, the part of the Python package that is written in C: what its files share.
 *
 * It is written on CPython's limited API of 3.11, so one build serves that version and all later ones, and
 * it uses the library by its public headers only. What is convenient rather than fast is Python
 * (python/tacit).
 *
 * Three rules hold everywhere:
 *   - long calls release the GIL; the object is held meanwhile (busy_enter), so threads take turns;
 *   - a buffer of the right type is used where it lies, anything else is converted or refused by name;
 *   - a failure of the library becomes an exception with the library's sentence (raise_status). */
#ifndef TACIT_PYTHON_EXTENSION_H
#define TACIT_PYTHON_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tacit/account.h>
#include <tacit/agent.h>
#include <tacit/lab.h>
#include <tacit/noise.h>
#include <tacit/plan.h>
#include <tacit/status.h>

/* Functions in the tables of methods: one cast for all signatures. */
#define METHOD(f) ((PyCFunction)(void (*)(void))(f))
#define SLOT(f) ((void *)(uintptr_t)(f))

/* Names of keywords, for a function that does not say const and changes nothing. */
static inline char **keywords(const char *const *names)
{
    char **out;
    memcpy(&out, &names, sizeof out);
    return out;
}

/* --- exceptions.c -------------------------------------------------------------------------------- */

int exceptions_init(PyObject *module);
/* Sets the exception of this status and returns NULL; err may be NULL. An exception that is set already, by
 * a class written in Python, becomes its cause. */
PyObject *raise_status(tacit_status status, const tacit_error *err);
/* The same for what was made of keywords: no text and no line that the message begins with ("agent:1: ") were
 * ever seen by the caller. */
PyObject *raise_keywords(tacit_status status, const tacit_error *err);
/* The same with a sentence of our own. */
__attribute__((format(printf, 2, 3))) PyObject *raise_text(tacit_status status, const char *format,
                                                           ...);
/* The other way: the exception that is set now, as a status and a sentence. It is cleared, and kept as the
 * cause of the next raise_status if nothing was kept before. */
tacit_status status_of_exception(const char *where, tacit_error *err);
/* Forgets what was kept. */
void forget_cause(void);

/* --- buffers.c ----------------------------------------------------------------------------------- */

/* Numbers that came in: where they lie, if their type is the wanted one, or a converted copy. */
typedef struct numbers {
    Py_buffer view;
    bool viewed;
    void *copy;
    const void *data;
    size_t n;
} numbers;

int buffers_init(void);
/* n is what must be there, or -1 for any number. False: an exception is set. */
bool read_doubles(PyObject *from, const char *name, Py_ssize_t n, numbers *out);
/* Whole numbers from 0 to 2^32 - 1; others are refused. */
bool read_indices(PyObject *from, const char *name, Py_ssize_t n, numbers *out);
void numbers_free(numbers *n);

/* A new array: numpy's where numpy is, else a memoryview. `type` is 'I', 'd' or 'Q'; *data is where to write
 * while nobody else has the array. Constant arrays cannot be written to later. */
PyObject *array_create(char type, int n_dimensions, const size_t *shape, void **data);
PyObject *array_copy(char type, int n_dimensions, const size_t *shape, const void *data);
PyObject *array_constant(char type, int n_dimensions, const size_t *shape, const void *data);

/* --- busy.c -------------------------------------------------------------------------------------- */

/* One thread at a time is inside an object. */
typedef struct busy {
    PyThread_type_lock lock;
    unsigned long holder; /* thread */
    unsigned long forks;  /* that had been when it entered */
} busy;

int busy_init(busy *b);
void busy_free(busy *b);
/* Waits for the other thread, without the GIL. False, with an exception: this thread is inside already, or
 * the process was forked while another thread was. */
bool busy_enter(busy *b);
void busy_leave(busy *b);

/* --- Objects ------------------------------------------------------------------------------------- */

int account_init(PyObject *module);
int sum_init(PyObject *module);
int world_init(PyObject *module);
int agent_init(PyObject *module);
int results_init(PyObject *module);
int run_init(PyObject *module);
int client_init(PyObject *module);
int own_world_init(PyObject *module);
int own_agent_init(PyObject *module);
int kinds_init(PyObject *module);

/* From the operating system or, where `seed` is not None, simulated. */
bool noise_create(PyObject *seed, tacit_noise **out);

/* Of a _tacit.World; NULL, with an exception, for anything else. */
const tacit_world *world_of(PyObject *object);
PyObject *results_wrap(tacit_results *results);
/* True if no experiment runs; else false, with an exception: kinds must not be registered meanwhile. */
bool no_run_is_on(void);

/* Dictionaries of what is known. All return a new reference or NULL. */
PyObject *composition_dict(const tacit_composition *c);
PyObject *guarantee_dict(tacit_guarantee g);
PyObject *explanation_dict(const tacit_agent *agent);
PyObject *plan_list(const tacit_plan *plan);

/* "joint" and so on; false, with an exception, for other words. */
bool read_model(const char *word, tacit_model *out);

/* dict[key] = value, whose reference is taken over; false if value is NULL or it does not fit. */
bool put(PyObject *dict, const char *key, PyObject *value);
bool put_text(PyObject *dict, const char *key, const char *text); /* None for NULL */

/* A heap type by its spec, added to the module under its name; NULL: failed. */
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec);
void free_object(PyObject *self);

#endif

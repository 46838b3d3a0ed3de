/* Starting threads, with messages that say why one could not be started. */
#ifndef TACIT_BASE_THREAD_H
#define TACIT_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include <tacit/status.h>

/* SYSTEM names what a thread needs and what the process is allowed to have. */
TACIT_MUST_USE tacit_status tacit__thread_start(pthread_t *out, void *(*run)(void *context),
                                                void *context, tacit_error *err);

/* Makes this thread, and the threads that it starts from now on, patient or ordinary again. False:
 * nothing was changed, because somebody chose another policy for this process or the system
 * refuses.
 *
 * A patient thread (SCHED_BATCH) that wakes does not interrupt the thread that runs. Where clients
 * and workers share the processors, several requests have come by the time a worker runs, and one
 * switch of threads answers them all; otherwise each request costs two switches. With an idle
 * processor nothing changes. */
bool tacit__thread_set_patient(bool patient);

/* Gives way to other threads: where processors are short, other threads get three
 * times its share (nice 5). Where the system refuses, it stays as it is. */
void tacit__thread_set_background(void);

/* Processors that this process may use; at least 1. */
unsigned tacit__processors(void);

/* The same sentence, for a library that did not get its threads: "a thread needs 8 MiB of ...". */
const char *tacit__thread_needs(char *text, size_t size);

#endif

/* Starting threads, with messages that say why one could not be started. */
#ifndef TACIT_BASE_THREAD_H
#define TACIT_BASE_THREAD_H

#include <pthread.h>

#include <tacit/status.h>

/* SYSTEM names what a thread needs and what the process is allowed to have. */
TACIT_MUST_USE tacit_status tacit__thread_start(pthread_t *out, void *(*run)(void *context),
                                                void *context, tacit_error *err);

/* Processors that this process may use; at least 1. */
unsigned tacit__processors(void);

/* The same sentence, for a library that did not get its threads: "a thread needs 8 MiB of ...". */
const char *tacit__thread_needs(char *text, size_t size);

#endif

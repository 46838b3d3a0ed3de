/* The scribe: the one thread that writes to the vault. Jobs that wait are written together in one
 * transaction, so that one sync to disk acknowledges many (group commit). Jobs with many bytes, parts of
 * states, wait in a line of their own: one of them goes with the others, and not with the next transaction
 * again if there is somebody else. So nobody waits for more than one of them, and they get on however many
 * others come. When there has been nothing to write for a while, it cuts the write-ahead log, since that
 * still has what was deleted. */
#ifndef TACIT_SERVE_SCRIBE_H
#define TACIT_SERVE_SCRIBE_H

#include <stdint.h>

#include <tacit/service.h>

#include "store/service_store.h"

typedef struct tacit__job tacit__job;
struct tacit__job {
    /* Runs inside a transaction, perhaps twice: the first may have been undone. What it answers is a
     * matter of `answer`-like fields of its own; an error means that the store failed. */
    tacit_status (*apply)(tacit__job *job, tacit__vault *vault, tacit_error *err);
    /* Called once, when the transaction is on disk (OK), or has come to nothing. May free the job. */
    void (*done)(tacit__job *job, tacit_status status);
    bool bulk;        /* it has many bytes, and no request waits for it */
    tacit__job *next; /* the scribe's */
};

typedef struct tacit__scribe tacit__scribe;

/* The vault is used by the scribe alone until `destroy` has returned. `log` (or NULL) hears, from its
 * thread, that the store cannot be written, and that it can again. */
TACIT_MUST_USE tacit_status tacit__scribe_create(tacit__vault *vault, tacit_log_fn *log,
                                                 void *context, tacit__scribe **out,
                                                 tacit_error *err);
/* Writes what waits, then ends. Accepts NULL. */
void tacit__scribe_destroy(tacit__scribe *scribe);

void tacit__scribe_post(tacit__scribe *scribe, tacit__job *job);
/* Posts and waits; the job's `done` is set here. */
TACIT_MUST_USE tacit_status tacit__scribe_wait(tacit__scribe *scribe, tacit__job *job);

typedef struct tacit__scribe_figures {
    uint64_t jobs, commits, failures;
    uint64_t commit_age; /* seconds since the last commit, or since the start */
    bool failing;        /* the last transaction came to nothing */
} tacit__scribe_figures;
tacit__scribe_figures tacit__scribe_look(const tacit__scribe *scribe);

#endif

/* The committer: the only thread that writes to the vault. It writes waiting jobs together in one
 * transaction, so that one sync to disk acknowledges many (group commit). Bulk jobs, which carry parts of
 * states, have a queue of their own: a transaction takes at most one of them, and the next takes none if
 * other jobs wait. So no job waits for more than one bulk job, and bulk jobs advance however many others
 * come. After a while without writes, the committer truncates the write-ahead log, which still holds deleted
 * data. */
#ifndef TACIT_SERVE_COMMITTER_H
#define TACIT_SERVE_COMMITTER_H

#include <stdint.h>

#include <tacit/service.h>

#include "store/vault/vault.h"

typedef struct tacit__job tacit__job;
struct tacit__job {
    /* Runs inside a transaction, perhaps twice, if the first transaction was undone. The job stores its
     * result in fields of its own; an error means that the store failed. */
    tacit_status (*apply)(tacit__job *job, tacit__vault *vault, tacit_error *err);
    /* Announces, before `apply`, what the job will ask the vault for (tacit__vault_expect_user); or NULL. */
    void (*expect)(tacit__job *job, tacit__vault *vault);
    /* Called once, when the transaction is on disk (OK) or was undone. It may free the job. */
    void (*done)(tacit__job *job, tacit_status status);
    bool bulk;        /* the job has many bytes, and no request waits for it */
    tacit__job *next; /* used by the committer */
};

typedef struct tacit__committer tacit__committer;

/* Callbacks of a committer, which it calls from its own thread. Each may be NULL. */
typedef struct tacit__committer_calls {
    /* Reports that the store cannot be written, or can be written again. */
    tacit_log_fn *log;
    /* Ends all snapshots, so that the whole log can be copied into the file. */
    void (*end_snapshots)(void *context);
    void *context;
} tacit__committer_calls;

/* Until `destroy` returns, only the committer uses the vault. `calls` may be NULL. */
TACIT_MUST_USE tacit_status tacit__committer_create(tacit__vault *vault,
                                                    const tacit__committer_calls *calls,
                                                    tacit__committer **out, tacit_error *err);
/* Writes the waiting jobs, then ends. Accepts NULL. */
void tacit__committer_destroy(tacit__committer *committer);

void tacit__committer_post(tacit__committer *committer, tacit__job *job);
/* Posts the job and waits for it. Sets the job's `done`. */
TACIT_MUST_USE tacit_status tacit__committer_wait(tacit__committer *committer, tacit__job *job);

/* The number of transactions that are on disk. It includes those of all jobs whose `done` was called. */
uint64_t tacit__committer_writes(const tacit__committer *committer);

typedef struct tacit__committer_figures {
    uint64_t jobs, commits, failures;
    uint64_t commit_age; /* seconds since the last commit, or since the start */
    bool failing;        /* the last transaction failed */
} tacit__committer_figures;
tacit__committer_figures tacit__committer_figures_of(const tacit__committer *committer);

#endif

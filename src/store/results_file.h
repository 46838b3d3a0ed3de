/* DIRECTORY/results.db: the results of a run so far, on disk.
 *
 * One process writes; others may read at the same time. Committed rows survive the death of the process;
 * the rest leaves no trace. The store knows numbers and texts; the lab knows what they mean. */
#ifndef TACIT_STORE_RESULTS_FILE_H
#define TACIT_STORE_RESULTS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/plan.h>
#include <tacit/status.h>
#include <tacit/world.h>

typedef struct tacit__store tacit__store;

typedef enum tacit__store_mode {
    TACIT__STORE_READ,  /* the existing file; any process, at any time */
    TACIT__STORE_WRITE, /* the existing file; *out is NULL if there is none */
    TACIT__STORE_CREATE /* a new one, where there is none: begins its first transaction, so that a
                            database is there with its head or not at all */
} tacit__store_mode;

/* Opens DIRECTORY/results.db. A file that is no such database, or a damaged one, is CORRUPT; another format
 * WRONG_VERSION; a second writer, a full disk and their like SYSTEM. Nothing is changed by a failure. */
TACIT_MUST_USE tacit_status tacit__store_open(const char *directory, tacit__store_mode mode,
                                              tacit__store **out, tacit_error *err);
/* Drops what was not committed. */
void tacit__store_close(tacit__store *store);

/* Removes the database of `store`, which is closed, in success and in failure. */
TACIT_MUST_USE tacit_status tacit__store_remove(tacit__store *store, tacit_error *err);

/* The path, for messages. */
const char *tacit__store_path(const tacit__store *store);

/* All writing happens between these two. */
TACIT_MUST_USE tacit_status tacit__store_begin(tacit__store *store, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__store_commit(tacit__store *store, tacit_error *err);

/* Within a transaction: forgets everything that the database holds, to write it anew. */
TACIT_MUST_USE tacit_status tacit__store_clear(tacit__store *store, tacit_error *err);

/* --- The experiment of a run ---------------------------------------------------------------------------- */

enum { TACIT__STORE_IDENTITY = 32 };

typedef struct tacit__kept_head {
    uint8_t identity[TACIT__STORE_IDENTITY];
    const char *version; /* of the library; texts live until something is written */
    const char *file, *title;
    const void *text; /* of the experiment */
    size_t text_size;
    uint64_t episodes, runs, n_jobs;                       /* what is played */
    uint64_t changed_episodes, changed_runs, changed_seed; /* asked for apart from the file, or 0 */
} tacit__kept_head;

TACIT_MUST_USE tacit_status tacit__store_write_head(tacit__store *store,
                                                    const tacit__kept_head *head, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__store_read_head(tacit__store *store, tacit__kept_head *head,
                                                   tacit_error *err);

/* `facts->kind` is not kept: the name is; nor are pointers, but the remark. */
TACIT_MUST_USE tacit_status tacit__store_write_world(tacit__store *store, size_t number,
                                                     const char *label, const char *kind,
                                                     const tacit_world_facts *facts,
                                                     double optimal_value, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__store_read_world(tacit__store *store, size_t number,
                                                    tacit_world_facts *facts, double *optimal_value,
                                                    char *remark, size_t remark_size,
                                                    tacit_error *err);

typedef struct tacit__kept_agent {
    const char *label, *kind, *model, *calibration;
    double epsilon, delta; /* infinite: no promise */
} tacit__kept_agent;

TACIT_MUST_USE tacit_status tacit__store_write_agent(tacit__store *store, size_t number,
                                                     const tacit__kept_agent *agent,
                                                     tacit_error *err);

/* An agent in a world: its kind there, and its release plan (NULL: none). */
TACIT_MUST_USE tacit_status tacit__store_write_part(tacit__store *store, size_t number,
                                                    size_t world, size_t agent, const char *kind,
                                                    const char *remark, const tacit_plan *plan,
                                                    tacit_error *err);
/* *plan is NULL if there was none; else it is calibrated by hand, so tacit_plan_model does not tell the
 * model. */
TACIT_MUST_USE tacit_status tacit__store_read_part(tacit__store *store, size_t number, char *kind,
                                                   size_t kind_size, char *remark,
                                                   size_t remark_size, tacit_plan **plan,
                                                   tacit_error *err);

/* --- The results of a run ---------------------------------------------------------------------------- */

/* A finished job. */
typedef struct tacit__kept_job {
    uint64_t number, part, run;
    double regret, late_regret, seconds;
    uint64_t switches;
} tacit__kept_job;

TACIT_MUST_USE tacit_status tacit__store_write_job(tacit__store *store, const tacit__kept_job *job,
                                                   tacit_error *err);
/* What a log says about the policy of a finished job. */
typedef struct tacit__kept_estimate {
    uint64_t job, matched;
    double ips, ips_error, self_normalized, self_normalized_error, doubly_robust,
        doubly_robust_error, effective, logging, logging_error, constant, constant_error,
        lift_logging, lift_logging_error, lift_constant, lift_constant_error;
} tacit__kept_estimate;
TACIT_MUST_USE tacit_status tacit__store_write_estimate(tacit__store *store,
                                                        const tacit__kept_estimate *estimate,
                                                        tacit_error *err);
/* Every estimate, by job; none in files that were written before there were any. */
typedef tacit_status tacit__store_estimate_fn(void *context, const tacit__kept_estimate *estimate,
                                              tacit_error *err);
TACIT_MUST_USE tacit_status tacit__store_read_estimates(tacit__store *store,
                                                        tacit__store_estimate_fn *fn, void *context,
                                                        tacit_error *err);
TACIT_MUST_USE tacit_status tacit__store_write_points(tacit__store *store, uint64_t job, size_t n,
                                                      const uint64_t *episodes,
                                                      const double *regrets, tacit_error *err);

TACIT_MUST_USE tacit_status tacit__store_count_jobs(tacit__store *store, uint64_t *n,
                                                    tacit_error *err);

/* Every finished job, and every point by job and episode. A callback that does not return TACIT_OK ends
 * it. */
typedef tacit_status tacit__store_job_fn(void *context, const tacit__kept_job *job,
                                         tacit_error *err);
typedef tacit_status tacit__store_point_fn(void *context, uint64_t job, uint64_t episode,
                                           double regret, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__store_read_jobs(tacit__store *store, tacit__store_job_fn *fn,
                                                   void *context, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__store_read_points(tacit__store *store, tacit__store_point_fn *fn,
                                                     void *context, tacit_error *err);

#endif

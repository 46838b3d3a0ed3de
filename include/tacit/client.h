/* The user's side of local privacy: read the billboard, act by it, and make the one report that leaves the
 * device.
 *
 * These functions are in libtacit, and alone, with tacit/status.h, in libtacit_client, which is small and
 * needs libsodium only: link a device's program with -ltacit_client (pkg-config tacit_client; tacit::client
 * in CMake). examples/device.c is one.
 *
 *     tacit_client_create(billboard, size, &terms, &client, &err); the answer to GET /v1/billboard?learner=…
 *     for each step: tacit_client_act(client, &situation, &action, &probability, &err);
 *     tacit_client_report(client, &trajectory, &body, key, &err);  what to POST to /v1/reports
 *
 * Noise is drawn here, from the operating system; what is in the report is private before it leaves. The
 * caller sends it: POST `body` with the header `Idempotency-Key: key`, and, should the answer be lost, the
 * same again. One client makes one report: a second would spend the user's guarantee twice.
 *
 * People who come back. A learner may be declared for several visits of a person (`visits` of the
 * billboard). The guarantee is then that of all their reports together, and each has the noise for that. Each
 * visit has a client of its own, and a state that the device keeps from one to the next says how many reports
 * were made. The state is given to `save` of the terms before a report is handed out, so no report leaves the
 * device that its state does not count; when all are made, the next is refused. An older state that is put
 * back, from a backup for example, forgets reports, and the person may then pay more than was promised: keep
 * it out of backups, or where it cannot be put back. A device that has lost its state makes no more reports
 * for this person, unless they agree to pay once more. Two clients that begin with the same state would
 * count one report where two are made: from reading the state until `save` has returned, let nobody else do
 * so, with a lock where several processes may run (examples/device.c).
 *
 * The device trusts no server. The billboard's epsilon and delta decide how private a report is, so the
 * device's owner states the weakest guarantee they accept, and a billboard that asks for more is refused.
 * Whatever else a billboard contains, a report keeps the guarantee that it names: noise is calibrated
 * here, and episodes are cut to their bounds. A device whose user has played always reports: errors in a
 * billboard are found when the client is created, before the episode begins, and no report fails because
 * of its data. */
#ifndef TACIT_CLIENT_H
#define TACIT_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/agent.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_client tacit_client;

enum { TACIT_CLIENT_KEY_SIZE = 33 };

/* Keeps a device's state instead of the one before: on return of OK it is where a crash, or a loss of power,
 * does not reach it. Any other status is that of the report, which is then not handed out. */
typedef tacit_status tacit_client_save_fn(void *context, const void *state, size_t size);

/* What the device's owner agrees to. A device that only acts and never reports, or that simulates a user, may
 * use {INFINITY, 1, 0}. */
typedef struct tacit_client_terms {
    double epsilon, delta; /* the largest ones that a report may cost, its mean reward included */
    size_t memory;         /* bytes that reading a billboard may take; 0: TACIT_CLIENT_MEMORY */
    tacit_client_save_fn *save; /* required where a person may report several times */
    void *save_context;
    /* what `save` was given last, of this person and learner; NULL: nothing yet */
    const void *state;
    size_t state_size;
} tacit_client_terms;

#define TACIT_CLIENT_MEMORY ((size_t)1 << 28) /* 256 MiB, a stated choice */

/* From the text of a billboard. BAD_EPSILON, BAD_DELTA: its guarantee is weaker than the terms; SYNTAX: it
 * is no billboard; UNSUPPORTED: its learner is not local, or it does not say how to act or how to report;
 * OUT_OF_BOUND: it has impossible numbers, or a policy that is not the one of its model; NO_MEMORY or
 * TOO_LARGE: it needs too much; BAD_ARGUMENT: a person may report several times, and the terms have no
 * `save`; CORRUPT: the state is damaged; WRONG_PLAN: it belongs to another learner, or the billboard has
 * other terms than it had at the first report. If it has a model to report by, that model also decides how
 * to act: a policy beside it must agree, except where actions are equally good, and is not used. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_create(const char *billboard, size_t size,
                                                          const tacit_client_terms *terms,
                                                          tacit_client **out, tacit_error *err);
TACIT_API void tacit_client_destroy(tacit_client *client);

/* What the billboard says about its learner. */
typedef struct tacit_client_facts {
    const char *learner;
    tacit_guarantee guarantee;
    /* the extra cost of the mean reward in a report; model none: no such reward */
    tacit_guarantee monitor;
    size_t n_states, n_actions, horizon; /* n_states is 0 where situations are features */
    size_t per_situation; /* numbers in a situation's features; 0: states are numbered */
    double bound;         /* on the length of each action's features, or of the context's */
    uint64_t version;
    uint64_t visits, apart; /* a person may report `visits` times (1: once), `apart` users apart */
    uint64_t made;          /* reports of this person so far */
} tacit_client_facts;
TACIT_API const tacit_client_facts *tacit_client_describe(const tacit_client *client);

/* The billboard's action in this situation, and how likely it was. What lies outside the learner's domain
 * is cut, see tacit_client_was_cut. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_act(tacit_client *client,
                                                       const tacit_situation *situation,
                                                       uint32_t *action, double *probability,
                                                       tacit_error *err);

/* The report on an episode: a JSON text, to be freed with free(), and the key that goes with it. It is kept
 * by `save` first. EXHAUSTED the second time, and if this person has made all their reports: then nothing is
 * drawn. It does not fail because of the episode's data. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_report(tacit_client *client,
                                                          const tacit_trajectory *episode,
                                                          char **body,
                                                          char key[TACIT_CLIENT_KEY_SIZE],
                                                          tacit_error *err);

/* The last report once more, of this client or of the state that it began with: what to send if its answer
 * was lost. BAD_ARGUMENT: there is none. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_report_again(const tacit_client *client,
                                                                char **body,
                                                                char key[TACIT_CLIENT_KEY_SIZE],
                                                                tacit_error *err);

/* Whether data of the last act or report were outside the learner's domain (a state that it does not have,
 * a reward outside [0, 1], features that are too long, NaN) and were cut into it. Only the caller learns
 * this. */
TACIT_API bool tacit_client_was_cut(const tacit_client *client);

#ifdef __cplusplus
}
#endif

#endif

/* The user's side of local privacy: read the billboard, act by it, and make the one report that leaves the
 * device.
 *
 * libtacit has these functions. libtacit_client has only these and those of tacit/status.h; it is small and
 * needs libsodium only. Link a device's program with -ltacit_client (pkg-config tacit_client; tacit::client
 * in CMake). examples/device.c is such a program.
 *
 *     tacit_client_create(billboard, size, &terms, &client, &err); the answer to GET /v1/billboard?learner=…
 *     for each step: tacit_client_act(client, &situation, &action, &probability, &err);
 *     tacit_client_report(client, &trajectory, &body, key, &err);  what to POST to /v1/reports
 *
 * The client draws its noise from the operating system, so a report is private before it leaves the device.
 * The caller sends it: POST `body` with the header `Idempotency-Key: key`. If the answer is lost, send the
 * same again. One client makes one report: a second one would spend the user's guarantee twice.
 *
 * People who come back. A learner may be declared for several visits of a person (`visits` of the
 * billboard). The guarantee then covers all their reports together, and each report has the noise for that.
 * Each visit has a client of its own. A state that the device keeps from one visit to the next counts the
 * reports. The client gives the state to `save` of the terms before it returns a report, so the state counts
 * every report that leaves the device; when all reports are made, the next one is refused. If an older state
 * is restored, from a backup for example, it lacks some reports, and the person may pay more than was
 * promised: exclude the state from backups, or keep it where it cannot be restored. A device that has lost
 * its state makes no more reports for this person, unless they agree to pay once more. Two clients that begin
 * with the same state would count one report where there are two: from reading the state until `save` has
 * returned, let no other client do the same; use a lock if several processes may run (examples/device.c).
 *
 * The device does not trust the server. The billboard's epsilon and delta decide how private a report is, so
 * the device's owner states the weakest guarantee that they accept, and a billboard with a weaker one is
 * refused. Whatever else a billboard contains, a report keeps the guarantee that the billboard names: the
 * device calibrates the noise and clips episodes to their bounds. A device whose user has acted always
 * reports: errors in a billboard are found when the client is created, before the episode begins, and no
 * report fails because of its data. */
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

/* Replaces the device's saved state. When it returns OK, the state must survive a crash and a loss of power.
 * Any other status becomes the status of the report, which is then not returned. */
typedef tacit_status tacit_client_save_fn(void *context, const void *state, size_t size);

/* What the device's owner agrees to. A device that only acts and never reports, or that simulates a user, may
 * use {INFINITY, 1, 0}. */
typedef struct tacit_client_terms {
    double epsilon, delta;      /* the most that a report may cost, its mean reward included */
    size_t memory;              /* bytes that reading a billboard may use; 0: TACIT_CLIENT_MEMORY */
    tacit_client_save_fn *save; /* required where a person may report several times */
    void *save_context;
    /* the state that `save` received last, for this person and learner; NULL: none yet */
    const void *state;
    size_t state_size;
} tacit_client_terms;

#define TACIT_CLIENT_MEMORY ((size_t)1 << 28) /* 256 MiB, a stated choice */

/* Creates a client from the text of a billboard. BAD_EPSILON, BAD_DELTA: the guarantee is weaker than the
 * terms allow; SYNTAX: the text is no billboard; UNSUPPORTED: the learner is not local, or the billboard does
 * not say how to act or how to report; OUT_OF_BOUND: the billboard has impossible numbers, or a policy that
 * does not follow from its model; NO_MEMORY or TOO_LARGE: it needs too much memory; BAD_ARGUMENT: a person
 * may report several times, and the terms have no `save`; CORRUPT: the state is damaged; WRONG_PLAN: the
 * state belongs to another learner, or the billboard has changed its terms since the first report. If the
 * billboard has a model, that model also decides how to act: a policy beside it is not used, and must agree
 * with the model except where actions are equally good. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_create(const char *billboard, size_t size,
                                                          const tacit_client_terms *terms,
                                                          tacit_client **out, tacit_error *err);
TACIT_API void tacit_client_destroy(tacit_client *client);

/* What the billboard says about its learner. */
typedef struct tacit_client_facts {
    const char *learner;
    tacit_guarantee guarantee;
    /* the additional cost of the mean reward in a report; model none: a report has none */
    tacit_guarantee monitor;
    size_t n_states, n_actions, horizon; /* n_states is 0 where situations are features */
    size_t per_situation; /* numbers in a situation's features; 0: states are numbered */
    double bound;         /* on the length of each action's features, or of the context's */
    uint64_t version;
    uint64_t visits, apart; /* a person may report `visits` times (1: once), `apart` users apart */
    uint64_t made;          /* reports of this person so far */
} tacit_client_facts;
TACIT_API const tacit_client_facts *tacit_client_describe(const tacit_client *client);

/* The billboard's action in this situation, and its probability. Values outside the learner's domain are
 * clipped; see tacit_client_was_cut. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_act(tacit_client *client,
                                                       const tacit_situation *situation,
                                                       uint32_t *action, double *probability,
                                                       tacit_error *err);

/* Makes the report on an episode: a JSON text, to be freed with free(), and its key. `save` receives the new
 * state first. EXHAUSTED: this client has made its report, or this person has made all of theirs; no noise is
 * drawn then. The call does not fail because of the episode's data. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_report(tacit_client *client,
                                                          const tacit_trajectory *episode,
                                                          char **body,
                                                          char key[TACIT_CLIENT_KEY_SIZE],
                                                          tacit_error *err);

/* The last report again, that of this client or of the state that it began with, to be sent if its answer
 * was lost. BAD_ARGUMENT: there is no report. */
TACIT_API TACIT_MUST_USE tacit_status tacit_client_report_again(const tacit_client *client,
                                                                char **body,
                                                                char key[TACIT_CLIENT_KEY_SIZE],
                                                                tacit_error *err);

/* Whether data of the last act or report were outside the learner's domain (a state that it does not have,
 * a reward outside [0, 1], features that are too long, NaN) and were clipped to it. Nobody but the caller is
 * told. */
TACIT_API bool tacit_client_was_cut(const tacit_client *client);

#ifdef __cplusplus
}
#endif

#endif

/* The self-test: the audit against mechanisms of which the answer is known.
 *
 * Broken ones, each in one way that real libraries have been broken in, must be convicted. Sound ones, at
 * exactly the loss that they claim, may be convicted as often as the error probability allows and no more:
 * with n audits at rate a, so often that more has a chance below 1e-4 under Bin(n, a). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/audit_inside.h"
#include "audit/bounds.h"
#include "audit/counter.h"
#include "base/error.h"
#include "base/memory.h"

#define CHANCE_OF_TOO_MANY 1e-4 /* that sound controls exceed `allowed`: a stated choice */

typedef enum tampering { UNTOUCHED, HALF, BARE, BARE_REPORT, SILENT } tampering;

/* Either a counter or a learner. */
typedef struct control {
    const char *name, *what;
    bool broken;
    uint64_t trials; /* unless others are asked for */
    bool is_agent;
    tacit__counter counter;
    tacit_agent_request request;
    uint64_t visits, apart; /* that people make; 0: those of the request, which are paid for */
    tampering tampering;
} control;

#define JOINT TACIT_MODEL_JOINT, 1, 1e-5
#define JOINT_PURE TACIT_MODEL_JOINT, 1, 0
#define LOCAL TACIT_MODEL_LOCAL, 1, 1e-5
#define LOCAL_PURE TACIT_MODEL_LOCAL, 1, 0
/* A sum of this many users' vectors, and dp-ucbvi in a tiny world. */
#define SUM(law, promise, n, many)                                                                 \
    .counter.mechanism = TACIT_SUM_##law, .counter.guarantee = {promise},                          \
    .counter.dimension = (n), .counter.users = (many)
#define DP_UCBVI(promise)                                                                          \
    .is_agent = true, .request.kind = "dp-ucbvi", .request.guarantee = {promise},                  \
    .request.n_states = 2, .request.n_actions = 2, .request.horizon = 2, .request.episodes = 8

static const control controls[] = {
    {"half the noise", "a sum released with noise of half the scale", true, 8000,
     SUM(LOCAL, LOCAL_PURE, 1, 400), .counter.half_noise = true},
    {"half the noise, joint", "the same for a running sum with Gaussian noise", true, 4000,
     SUM(BLT, JOINT, 2, 8), .counter.half_noise = true},
    {"half the noise, learner", "dp-ucbvi with half of its noise taken off", true, 4000,
     DP_UCBVI(JOINT), .tampering = HALF},
    {"half the noise, visits", "the same for people who come three times", true, 4000,
     DP_UCBVI(JOINT), .request.visits = 3, .request.apart = 2, .tampering = HALF},
    {"half the noise, reports",
     "dp-ucbvi on the devices of people who report twice, with half of the noise", true, 8000,
     DP_UCBVI(LOCAL), .request.visits = 2, .tampering = HALF},
    {"a visit too many", "dp-ucbvi with the noise for one visit, and people who come twice", true,
     4000, DP_UCBVI(JOINT), .visits = 2, .apart = 1},
    {"one side", "a sensitivity that counts one user's vector, not the distance of two", true, 8000,
     SUM(LOCAL, LOCAL_PURE, 1, 400), .counter.one_side = true},
    {"no clip", "outliers that are neither clipped nor refused", true, 2000, SUM(BLT, JOINT, 2, 8),
     .counter.clip = true, .counter.unclipped = true},
    {"noise used again", "every step has the noise of the first", true, 1000,
     SUM(TREE, JOINT_PURE, 2, 8), .counter.reused_noise = true},
    {"bare coordinate", "one number of each release has no noise", true, 1000,
     SUM(BLT, JOINT, 3, 8), .counter.bare_coordinate = true},
    {"bare coordinate, learner", "dp-ucbvi with one number of each release without noise", true,
     1000, DP_UCBVI(LOCAL_PURE), .tampering = BARE},
    {"bare number, report", "dp-ucbvi whose reports end with a number that has no noise", true,
     1000, DP_UCBVI(LOCAL_PURE), .tampering = BARE_REPORT},
    {"silence", "dp-ucbvi on devices that send nothing for some users", true, 1000,
     DP_UCBVI(LOCAL_PURE), .tampering = SILENT},
    {"late users refused", "users with an action that is out of date do not count", true, 1000,
     SUM(TREE, JOINT, 1, 8), .counter.epochs = true, .counter.refuses_late = true},
    {"overrun", "a sum for 1 user that goes on for 16", true, 4000, SUM(TREE, JOINT, 1, 1),
     .counter.overrun = true},
    {"fixed seed", "noise that is the same in every run", true, 1000, SUM(LOCAL, LOCAL, 2, 40),
     .counter.fixed_seed = true},
    {"sound, local, Laplace", "a report at exactly its epsilon", false, 4000,
     SUM(LOCAL, LOCAL_PURE, 1, 400)},
    {"sound, local, Gaussian", "a report at exactly its mu", false, 4000,
     SUM(LOCAL, LOCAL, 2, 400)},
    {"sound, joint, Laplace", "a running sum on a tree at exactly its epsilon", false, 1000,
     SUM(TREE, JOINT_PURE, 1, 4)},
    {"sound, joint, Gaussian", "a running sum (blt) at its mu, with outliers clipped", false, 1000,
     SUM(BLT, JOINT, 2, 8), .counter.clip = true},
    {"sound, late users", "users with an action that is out of date count with 0", false, 1000,
     SUM(TREE, JOINT, 1, 8), .counter.epochs = true},
    {"sound, reports", "dp-ucbvi on devices", false, 1000, DP_UCBVI(LOCAL)},
    {"sound, learner", "dp-ucbvi as it is", false, 400, DP_UCBVI(JOINT)},
    {"sound, visits", "dp-ucbvi as it is, and people who come three times", false, 400,
     DP_UCBVI(JOINT), .request.visits = 3, .request.apart = 2},
    {"sound, reports", "dp-ucbvi on the devices of people who report twice", false, 2000,
     DP_UCBVI(LOCAL), .request.visits = 2},
};
enum { N_CONTROLS = sizeof controls / sizeof *controls };

typedef struct record {
    tacit_self_test face; /* first */
    tacit_control rows[N_CONTROLS];
    char words[N_CONTROLS][1000];
} record;

/* Which parts found it: bits 1 replay, 2 noise, 4 attack. */
static unsigned parts_of(const tacit_audit *a)
{
    bool replay = a->fault[0] != '\0' || a->moved > a->declared * (1 + 1e-9);
    return (replay ? 1U : 0) | (a->noise_fault[0] != '\0' ? 2U : 0) |
           (a->epsilon > a->claim.epsilon ? 4U : 0);
}

static const char *const part_names[8] = {
    "",       "replay",         "noise",         "replay, noise",
    "attack", "replay, attack", "noise, attack", "replay, noise, attack"};

/* Largest number of convictions in n audits that does not contradict a rate of `rate`. */
static uint64_t allowed(uint64_t n, double rate)
{
    uint64_t c = 0;
    while (c < n && tacit__proportion_low(c + 1, n, CHANCE_OF_TOO_MANY) <= rate)
        c++;
    return c;
}

static tacit_status report_bare(void *agent, const tacit_trajectory *user, void *bytes,
                                size_t *size, tacit_error *err)
{
    tacit_status status = tacit_agent_report(agent, user, bytes, size, err);
    if (status == TACIT_OK && bytes != NULL)
        memcpy((char *)bytes + *size - sizeof *user->rewards, user->rewards, sizeof *user->rewards);
    return status;
}

static tacit_status report_or_not(void *agent, const tacit_trajectory *user, void *bytes,
                                  size_t *size, tacit_error *err)
{
    if (bytes != NULL && user->states[0] == 0)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the device has nothing to say");
    return tacit_agent_report(agent, user, bytes, size, err);
}

static tacit_status audit_agent(const control *c, const tacit_audit_options *o, tacit_audit **out,
                                tacit_error *err)
{
    tacit_noise *noise = NULL;
    tacit_agent *example = NULL;
    tacit_status status = tacit_noise_create_simulated(1, &noise);
    if (status == TACIT_OK)
        status = tacit_agent_create(&c->request, noise, &example, err);
    tacit_noise_destroy(noise);
    if (status != TACIT_OK)
        return status;
    tacit__subject subject = tacit__subject_agent(&c->request, example);
    if (c->visits > 0) {
        subject.visits = c->visits;
        subject.apart = c->apart;
    }
    subject.tamper = c->tampering == HALF   ? tacit__tamper_half
                     : c->tampering == BARE ? tacit__tamper_bare
                                            : NULL;
    if (c->tampering == BARE_REPORT)
        subject.report = report_bare;
    if (c->tampering == SILENT)
        subject.report = report_or_not;
    status = tacit__audit_subject(&subject, o, out, err);
    tacit_agent_destroy(example);
    return status;
}

static tacit_status audit_counter(const control *c, const tacit_audit_options *o, tacit_audit **out,
                                  tacit_error *err)
{
    tacit__counter counter = c->counter;
    tacit__subject subject;
    tacit_status status = tacit__counter_open(&counter, &subject, err);
    if (status == TACIT_OK)
        status = tacit__audit_subject(&subject, o, out, err);
    tacit_plan_destroy(counter.plan);
    return status;
}

static tacit_status run_control(const control *c, const tacit_audit_options *options,
                                uint64_t audits, tacit_control *row, char words[1000],
                                bool *stopped, tacit_error *err)
{
    tacit_audit_options o = *options;
    *row = (tacit_control){.name = c->name,
                           .what = c->what,
                           .broken = c->broken,
                           .audits = c->broken ? 1 : audits,
                           .caught_by = "",
                           .words = words};
    if (o.trials == 0)
        o.trials = c->trials;
    for (uint64_t i = 0; i < row->audits && !*stopped; i++) {
        tacit_audit *a = NULL;
        o.seed = options->seed + i;
        TRY(c->is_agent ? audit_agent(c, &o, &a, err) : audit_counter(c, &o, &a, err));
        *stopped = a->verdict == TACIT_AUDIT_STOPPED;
        row->convicted += a->verdict == TACIT_AUDIT_VIOLATED;
        row->caught_by = c->broken ? part_names[parts_of(a)] : "";
        (void)snprintf(words, 1000, "%s", a->words);
        row->allowed = c->broken ? 0 : allowed(row->audits, 1 - a->confidence);
        tacit_audit_destroy(a);
    }
    row->right = c->broken ? row->convicted == row->audits : row->convicted <= row->allowed;
    return TACIT_OK;
}

tacit_status tacit_audit_self_test(const tacit_audit_options *options, uint64_t audits,
                                   tacit_self_test **out, tacit_error *err)
{
    static const tacit_audit_options defaults;
    const tacit_audit_options *o = options != NULL ? options : &defaults;
    if (out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    record *r = tacit__alloc(1, sizeof *r);
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    r->face = (tacit_self_test){
        .controls = r->rows, .right = true, .confidence = o->confidence > 0 ? o->confidence : 0.99};
    for (size_t i = 0; i < N_CONTROLS && !r->face.stopped; i++) {
        tacit_status status = run_control(&controls[i], o, audits > 0 ? audits : 20, &r->rows[i],
                                          r->words[i], &r->face.stopped, err);
        if (status != TACIT_OK) {
            tacit__free(r);
            return status;
        }
        r->face.n = i + 1;
        r->face.right = r->face.right && r->rows[i].right;
    }
    *out = &r->face;
    return TACIT_OK;
}

void tacit_self_test_destroy(tacit_self_test *test)
{
    tacit__free(test);
}

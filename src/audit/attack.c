/* See audit/attack.h.
 *
 * Trials are independent: each has a seed of its own, from the audit's seed, the world and its number. Under
 * joint privacy a trial is a whole run; under local privacy it is all reports of one person, and one
 * instance makes as many as it may. They are dealt out to threads in batches of fixed size and leave their
 * scores in places of their own, so results do not depend on the number of threads.
 *
 * The first quarter of the trials chooses, for each kind of proof, the score, the side and the threshold
 * that promise most; the bound is then computed on the rest, which the choice has not seen, so that it
 * needs no correction for the many events that were tried. */
#include "audit/attack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/bounds.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/workspace.h"

enum { JOINT_BATCH = 16, LOCAL_BATCH = 1024, REFERENCE = 1 << 16, EACH_SIDE = 128 };
enum { THRESHOLDS = 2 * EACH_SIDE };

typedef struct battle {
    const tacit__subject *subject;
    const tacit__pair *pair;
    const tacit__attack_options *o;
    uint64_t batch, selection;
    double *scores;           /* [score][world][trial] */
    tacit__residuals *checks; /* [batch that chooses] */
    size_t n_checks, n_jobs;
    tacit__reference reference;
    tacit__message expected[2]; /* what the two users' devices sent in the run of the reference */
    uint8_t *flaws;             /* [batch] of the next */
} battle;

enum { ONE_SIDED = 1, OTHER_VIEW = 2 };

static double *score_at(const battle *b, int score, int world)
{
    return b->scores + ((size_t)score * 2 + (size_t)world) * b->o->trials;
}

uint64_t tacit__attack_selection(uint64_t trials)
{
    TACIT__REQUIRE(trials > 1);
    return (trials + 3) / 4;
}

static uint64_t seed_of(const battle *b, const char *role, int world, uint64_t number)
{
    uint8_t numbers[17], digest[TACIT__KEY_BYTES];
    uint64_t seed = 0;
    for (int i = 0; i < 8; i++) {
        numbers[i] = (uint8_t)(b->o->seed >> (8 * i));
        numbers[8 + i] = (uint8_t)(number >> (8 * i));
    }
    numbers[16] = (uint8_t)world;
    const tacit__bytes parts[] = {{numbers, sizeof numbers}, {role, strlen(role)}};
    tacit__digest(parts, 2, digest);
    for (int i = 0; i < 8; i++)
        seed |= (uint64_t)digest[i] << (8 * i);
    return seed;
}

/* --- Trials -------------------------------------------------------------------------------------- */

static tacit_status unexpected(tacit_error *err)
{
    return tacit__fail(
        err, TACIT_UNSUPPORTED,
        "the learner accepted a user in the search and refused the same user in a trial");
}

static void write_scores(const battle *b, const tacit__lockstep *d, int world, uint64_t trial)
{
    TACIT__REQUIRE(trial < b->o->trials);
    for (int s = 0; s < TACIT__SCORES; s++)
        score_at(b, s, world)[trial] = world == 0 ? d->scores[s] : -d->scores[s];
}

static void attach_checks(const battle *b, tacit__lockstep *d, int world, tacit__residuals *check)
{
    d->check = check;
    d->is = &b->reference;
    for (int i = 0; i < 2 && b->expected[0].size > 0; i++)
        d->expected[i] = &b->expected[i == 0 ? world : 1 - world];
}

static void write_flaws(const tacit__lockstep *d, uint8_t *flaws)
{
    *flaws = (uint8_t)(*flaws | (d->one_sided ? ONE_SIDED : 0) | (d->same_view ? 0 : OTHER_VIEW));
}

static tacit_status run_joint(const battle *b, int world, uint64_t first, uint64_t end,
                              tacit__residuals *check, uint8_t *flaws, tacit_error *err)
{
    for (uint64_t t = first; t < end; t++) {
        tacit__lockstep d;
        tacit__lockstep_outcome outcome;
        TRY(tacit__lockstep_create(&d, b->subject, seed_of(b, "trial", world, t), err));
        attach_checks(b, &d, world, check);
        tacit_status status = tacit__pair_run(b->pair, &d, world, &outcome, err);
        write_scores(b, &d, world, t);
        write_flaws(&d, flaws);
        tacit__lockstep_destroy(&d);
        if (status == TACIT_OK && outcome == TACIT__OUTSIDE)
            status = unexpected(err);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

/* Returns how many people's reports one instance makes: what the last of them sends may be of no
 * consequence. */
static uint64_t people_each(const tacit__subject *s)
{
    const uint64_t reports = s->users > 1 ? s->users - 1 : 1, visits = tacit__pair_visits(s);
    TACIT__REQUIRE(visits > 0);
    return reports > visits ? reports / visits : 1;
}

/* Trials t to end of one instance, or until only one of two users is taken; *t is then the next. A learner
 * without reports moves on with every user, and so does what it shows. */
static tacit_status report_on(const battle *b, tacit__lockstep *d, int world, uint64_t *t,
                              uint64_t end, tacit_error *err)
{
    const tacit__user *one = &b->pair->users[world], *other = &b->pair->users[1 - world];
    tacit__lockstep_outcome outcome = TACIT__TAKEN;
    const uint64_t visits = tacit__pair_visits(b->subject);
    bool followed;
    tacit_status status = tacit__pair_prepare(b->pair, d, &followed, err);
    for (bool first = true; *t < end && status == TACIT_OK && outcome != TACIT__ONE_SIDED;
         ++*t, first = false) {
        memset(d->scores, 0, sizeof d->scores);
        for (uint64_t i = 0;
             i < visits && status == TACIT_OK && (i == 0 || outcome == TACIT__TAKEN); i++) {
            if (b->subject->report == NULL && (!first || i > 0))
                status = tacit__lockstep_plan_both(d, one, err);
            if (status == TACIT_OK)
                status = tacit__lockstep_add(d, one, other, &outcome, err);
        }
        if (status == TACIT_OK && outcome == TACIT__OUTSIDE)
            status = unexpected(err);
        write_scores(b, d, world, *t);
    }
    return status;
}

static tacit_status run_local(const battle *b, int world, uint64_t first, uint64_t end,
                              tacit__residuals *check, uint8_t *flaws, tacit_error *err)
{
    uint64_t each = people_each(b->subject);
    tacit_status status = TACIT_OK;
    for (uint64_t t = first; t < end && status == TACIT_OK;) {
        tacit__lockstep d;
        TRY(tacit__lockstep_create(&d, b->subject, seed_of(b, "reports", world, t), err));
        attach_checks(b, &d, world, check);
        status = report_on(b, &d, world, &t, end - t < each ? end : t + each, err);
        write_flaws(&d, flaws);
        tacit__lockstep_destroy(&d);
    }
    return status;
}

static tacit_status run_batch(void *context, size_t job, tacit_error *err)
{
    const battle *b = context;
    uint64_t first = job * b->batch, end = first + b->batch;
    end = end < b->o->trials ? end : b->o->trials;
    tacit__residuals *check = job < b->n_checks ? &b->checks[job] : NULL;
    bool local = b->subject->claim.model == TACIT_MODEL_LOCAL;
    for (int world = 0; world < 2; world++)
        TRY(local ? run_local(b, world, first, end, check, &b->flaws[job], err)
                  : run_joint(b, world, first, end, check, &b->flaws[job], err));
    return TACIT_OK;
}

static bool tick(void *context, size_t done, double seconds)
{
    const battle *b = context;
    uint64_t trials = done * b->batch;
    return b->o->progress == NULL ||
           b->o->progress(b->o->context, trials < b->o->trials ? trials : b->o->trials,
                          b->o->trials, seconds);
}

/* Keeps what the two sent although all releases were the same: where it differs, a report reveals its
 * sender. */
static tacit_status copy_reports(battle *b, const tacit__lockstep *d, tacit_error *err)
{
    for (int i = 0; i < 2; i++) {
        b->expected[i].bytes = tacit__alloc(d->sent[i].size, 1);
        if (b->expected[i].bytes == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        memcpy(b->expected[i].bytes, d->sent[i].bytes, d->sent[i].size);
        b->expected[i].size = d->sent[i].size;
    }
    return TACIT_OK;
}

/* A run with a seed of its own: its draws, to see whether others have the same, and its reports. */
static tacit_status make_reference(battle *b, tacit_error *err)
{
    tacit__lockstep d;
    tacit__lockstep_outcome outcome;
    TRY(tacit__lockstep_create(&d, b->subject, seed_of(b, "reference", 0, 0), err));
    d.write = &b->reference;
    tacit_status status = tacit__pair_run(b->pair, &d, 0, &outcome, err);
    if (status == TACIT_OK && outcome == TACIT__TAKEN && d.report_room > 0)
        status = copy_reports(b, &d, err);
    tacit__lockstep_destroy(&d);
    return status;
}

/* --- Choosing and proving ------------------------------------------------------------------------ */

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Returns how many of n sorted values are above t. */
static uint64_t above(const double *sorted, uint64_t n, double t)
{
    uint64_t low = 0, high = n;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (sorted[middle] > t)
            high = middle;
        else
            low = middle + 1;
    }
    return n - low;
}

typedef struct choice {
    tacit__proof *epsilon, *mu;
    double n, delta, error_epsilon, error_mu; /* of the runs that will prove */
} choice;

/* Takes the event if it promises more. `counts`: in the worlds, of m. It may be likelier in either: noise
 * that does not depend on chance puts a world's score anywhere. */
static void score_event(const choice *c, tacit__proof event, const uint64_t counts[2], uint64_t m)
{
    event.world = counts[1] > counts[0];
    double p = (double)counts[event.world] / (double)m,
           q = ((double)counts[1 - event.world] + 1) / ((double)m + 1);
    event.value = tacit__epsilon_guess(p, q, c->n, c->delta, c->error_epsilon);
    if (event.value > c->epsilon->value)
        *c->epsilon = event;
    if (c->error_mu > 0) {
        event.value = tacit__mu_guess(p, q, c->n, c->error_mu);
        if (event.value > c->mu->value)
            *c->mu = event;
    }
}

/* Tries thresholds at the ranks of both worlds' scores, close together at the ends. */
static void choose(const battle *b, const choice *c, double *scratch)
{
    uint64_t m = b->selection;
    for (int s = 0; s < TACIT__SCORES; s++) {
        double *sorted[2] = {scratch, scratch + m};
        for (int w = 0; w < 2; w++) {
            memcpy(sorted[w], score_at(b, s, w), m * sizeof *scratch);
            qsort(sorted[w], m, sizeof *scratch, ascending);
        }
        for (int i = 0; i < THRESHOLDS; i++)
            for (int w = 0; w < 2; w++) {
                double x = (double)(i % EACH_SIDE) / EACH_SIDE;
                double tail = 0.5 * exp(-x * log((double)m)); /* from the middle to one of m */
                double rank = i < EACH_SIDE ? tail : 1 - tail;
                uint64_t place = (uint64_t)(rank * (double)m);
                double t = sorted[w][place < m ? place : m - 1];
                uint64_t up[2] = {above(sorted[0], m, t), above(sorted[1], m, t)};
                tacit__proof event = {.score = (tacit__score)s, .threshold = t, .above = true};
                score_event(c, event, up, m);
                /* the other side: at most t */
                uint64_t down[2] = {m - up[0], m - up[1]};
                event.threshold = nextafter(t, HUGE_VAL);
                event.above = false;
                score_event(c, event, down, m);
            }
    }
}

static void count(const battle *b, tacit__proof *proof)
{
    uint64_t counts[2] = {0, 0};
    proof->n = b->o->trials - b->selection;
    for (int w = 0; w < 2; w++) {
        const double *scores = score_at(b, (int)proof->score, w);
        for (uint64_t t = b->selection; t < b->o->trials; t++)
            counts[w] += proof->above ? scores[t] > proof->threshold : scores[t] < proof->threshold;
    }
    proof->hits = counts[proof->world];
    proof->alarms = counts[1 - proof->world];
}

static tacit_status prove(const battle *b, tacit__attack *out, tacit_error *err)
{
    double *scratch = tacit__alloc(2 * (size_t)b->selection, sizeof *scratch);
    if (scratch == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    out->epsilon.value = out->mu.value = -HUGE_VAL;
    choice c = {.epsilon = &out->epsilon,
                .mu = &out->mu,
                .n = (double)b->selection,
                .delta = b->o->delta,
                .error_epsilon = b->o->error_epsilon,
                .error_mu = b->o->error_mu};
    choose(b, &c, scratch);
    tacit__free(scratch);
    count(b, &out->epsilon);
    out->epsilon.value = tacit__epsilon_proved(out->epsilon.hits, out->epsilon.alarms,
                                               out->epsilon.n, b->o->delta, b->o->error_epsilon);
    if (b->o->error_mu > 0) {
        count(b, &out->mu);
        out->mu.value = tacit__mu_proved(out->mu.hits, out->mu.alarms, out->mu.n, b->o->error_mu);
    }
    for (size_t i = 0; i < b->n_checks; i++)
        tacit__residuals_merge(&out->residuals, &b->checks[i]);
    for (size_t i = 0; i < b->n_jobs; i++) {
        out->one_sided = out->one_sided || (b->flaws[i] & ONE_SIDED) != 0;
        out->same_view = out->same_view && (b->flaws[i] & OTHER_VIEW) == 0;
    }
    return TACIT_OK;
}

tacit_status tacit__attack_run(const tacit__subject *subject, const tacit__pair *pair,
                               const tacit__attack_options *options, tacit__attack *out,
                               tacit_error *err)
{
    TACIT__REQUIRE(options->trials >= TACIT_MIN_TRIALS && options->error_epsilon > 0);
    battle b = {.subject = subject,
                .pair = pair,
                .o = options,
                .batch = subject->claim.model == TACIT_MODEL_LOCAL ? LOCAL_BATCH : JOINT_BATCH,
                .selection = tacit__attack_selection(options->trials)};
    *out = (tacit__attack){.selection = b.selection, .same_view = true};
    b.n_jobs = (size_t)((options->trials + b.batch - 1) / b.batch);
    b.n_checks = (size_t)((b.selection + b.batch - 1) / b.batch);
    if (TACIT__PIECES(TACIT__PIECE(b.scores, 2 * TACIT__SCORES * (size_t)options->trials),
                      TACIT__PIECE(b.checks, b.n_checks), TACIT__PIECE(b.flaws, b.n_jobs),
                      TACIT__PIECE(b.reference.draws, REFERENCE)) == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY, "%llu trials do not fit into memory",
                           (unsigned long long)options->trials);
    b.reference.capacity = REFERENCE;
    tacit_status status = make_reference(&b, err);
    if (status == TACIT_OK)
        status =
            tacit__parallel(b.n_jobs, options->n_threads, run_batch, tick, &b, &out->stopped, err);
    if (status == TACIT_OK && !out->stopped)
        status = prove(&b, out, err);
    tacit__free(b.expected[0].bytes);
    tacit__free(b.expected[1].bytes);
    tacit__workspace_destroy(b.scores);
    return status;
}

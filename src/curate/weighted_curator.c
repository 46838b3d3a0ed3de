/* Weighted counts: the curator's life, its users, and what it shows of them. See
 * curate/weighted_curator.h; what a user may contribute is in user_share.c, and the plan made of it
 * in weighted_plan.c.
 *
 * Releases come after k_0 users, and then whenever there are `growth` times as many: rarely,
 * because a running sum over few steps needs less noise, and because news after each user would
 * change hardly anything. The moments are public numbers, computed beforehand. Without privacy
 * the schedule is the same and the counts are exact. */
#include "curate/weighted_curator.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "curate/weighted_curator_inside.h"
#include "noise/stream.h"

#define START                                                                                      \
    16.0 /* visits of a row at the first release, in standard deviations of its noise; see
                      docs/why/posterior-tabular.md#when-to-release */
enum { LEAST_FIRST = 10 };

uint64_t tacit__weighted_square(tacit__space sp)
{
    const double rows = (double)sp.tables * (double)sp.n_states * (double)sp.n_actions;
    const double most = TACIT__WEIGHTED_VISITS * TACIT__WEIGHTED_VISITS * rows;
    return (double)sp.horizon < most ? sp.horizon : (uint64_t)fmax(1, most);
}

tacit_status tacit__weighted_first(const tacit__weighted_options *o, uint64_t *out)
{
    const double rows =
        (double)o->space.tables * (double)o->space.n_states * (double)o->space.n_actions;
    const double square = (double)tacit__weighted_square(o->space);
    double mu = HUGE_VAL;
    if (o->guarantee.model != TACIT_MODEL_NONE) {
        tacit_status status = tacit_gdp_mu(o->guarantee.epsilon, o->guarantee.delta, &mu);
        if (status != TACIT_OK)
            return status;
    }
    const double noise = sqrt(2 * square) / mu;
    const double wanted =
        fmax(LEAST_FIRST, ceil(START * noise * rows / fmin((double)o->space.horizon, square)));
    *out = (uint64_t)fmax(1, fmin(wanted, floor((double)o->episodes / 8)));
    return TACIT_OK;
}

/* The moments of the releases, below K, into `at` (NULL: they are counted only). There is always one. */
static uint64_t schedule(const tacit__weighted_options *o, uint64_t *at)
{
    uint64_t n = 0;
    for (uint64_t k = o->first; n == 0 || k < o->episodes;) {
        if (at != NULL)
            at[n] = k;
        n++;
        if (o->growth == 0)
            break;
        const double grown = o->growth * (double)k;
        k = grown > (double)k + 1 ? (uint64_t)fmin(grown, 0x1p62) : k + 1;
    }
    return n;
}

static tacit_status check_options(const tacit__weighted_options *o, tacit_error *err)
{
    if (o->space.n_states == 0 || o->space.n_actions == 0 || o->space.horizon == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "states, actions and horizon must be at least 1");
    if (o->episodes == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "episodes is 0, expected at least 1");
    if (o->guarantee.model == TACIT_MODEL_LOCAL ||
        (o->guarantee.model == TACIT_MODEL_JOINT && o->guarantee.delta <= 0))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "weighted counts have the models none and joint with delta > 0");
    return TACIT_OK;
}

static tacit__weighted *allocate(const tacit__weighted_options *o, uint64_t first)
{
    const tacit__space sp = o->space;
    tacit__weighted w = {.o = *o, .rows = sp.tables * sp.n_states * sp.n_actions};
    w.o.first = first;
    w.releases = schedule(&w.o, NULL);
    tacit__piece pieces[2 * WEIGHTED_STREAMS + 3];
    size_t n = 0;
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        batch_stream *s = &w.streams[i];
        s->size = i == WEIGHTED_MOVES    ? w.rows * sp.n_states
                  : i == WEIGHTED_STARTS ? sp.n_states
                                         : w.rows;
        pieces[n++] = TACIT__PIECE(s->batch, s->size);
        pieces[n++] = TACIT__PIECE(s->shown, s->size);
    }
    pieces[n++] = TACIT__PIECE(w.weights, w.rows);
    pieces[n++] = TACIT__PIECE(w.at, w.releases);
    pieces[n++] = TACIT__PIECE(w.steps, sp.horizon);
    tacit__weighted *c = tacit__workspace_create(&w, sizeof w, pieces, n);
    if (c != NULL)
        (void)schedule(&c->o, c->at);
    return c;
}

tacit_status tacit__weighted_create(const tacit__weighted_options *o, tacit_noise *noise,
                                    tacit__weighted **out, tacit_error *err)
{
    uint64_t first = o->first;
    tacit_status status = check_options(o, err);
    if (status == TACIT_OK && first == 0 && (status = tacit__weighted_first(o, &first)) != TACIT_OK)
        return tacit__fail(err, status, "no noise keeps such a guarantee");
    if (status != TACIT_OK)
        return status;
    tacit__weighted *c = allocate(o, first);
    if (c == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY, "counts of %zu states do not fit into memory",
                           o->space.n_states);
    status = tacit__weighted_check_memory(c, err);
    c->rule = (tacit__share_rule){.space = o->space, .weights = c->weights};
    if (status == TACIT_OK)
        status = tacit__weighted_choose_bits(c, err);
    if (status == TACIT_OK && tacit__weighted_is_private(c))
        status = tacit__weighted_open_sums(c, noise, err);
    if (status != TACIT_OK) {
        tacit__weighted_destroy(c);
        return status;
    }
    for (size_t row = 0; row < c->rows; row++)
        c->weights[row] = (int64_t)1 << c->bits;
    *out = c;
    return TACIT_OK;
}

void tacit__weighted_destroy(tacit__weighted *c)
{
    if (c == NULL)
        return;
    for (int i = 0; i < WEIGHTED_STREAMS; i++)
        tacit_sum_destroy(c->streams[i].sum);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

tacit_ledger *tacit__weighted_ledger(const tacit__weighted *c)
{
    return c->ledger;
}

uint64_t tacit__weighted_users(const tacit__weighted *c)
{
    return c->users;
}

tacit__user_batch tacit__weighted_batch(const tacit__weighted *c)
{
    return (tacit__user_batch){.first = c->next > 0 ? c->at[c->next - 1] : 0,
                               .last = c->next < c->releases && c->at[c->next] < c->o.episodes
                                           ? c->at[c->next]
                                           : c->o.episodes};
}

tacit__weighted_counts tacit__weighted_release(const tacit__weighted *c)
{
    const batch_stream *s = c->streams;
    return (tacit__weighted_counts){.users = c->next > 0 ? c->at[c->next - 1] : 0,
                                    .visits = s[WEIGHTED_VISITS].shown,
                                    .moves = s[WEIGHTED_MOVES].shown,
                                    .rewards = s[WEIGHTED_REWARDS].shown,
                                    .starts = s[WEIGHTED_STARTS].shown,
                                    .visits_stddev = s[WEIGHTED_VISITS].stddev,
                                    .moves_stddev = s[WEIGHTED_MOVES].stddev,
                                    .rewards_stddev = s[WEIGHTED_REWARDS].stddev,
                                    .starts_stddev = s[WEIGHTED_STARTS].stddev};
}

void tacit__weighted_weigh(tacit__weighted *c, const double *weights)
{
    /* no weight is more than the budget, and none is negative; NaN is 0 */
    const double most = sqrt((double)c->rule.square);
    for (size_t row = 0; row < c->rows && tacit__weighted_is_private(c); row++) {
        const double steps = ldexp(weights[row], c->bits);
        c->weights[row] = steps >= most ? (int64_t)most : steps >= 0 ? (int64_t)steps : 0;
    }
}

/* --- Users --------------------------------------------------------------------------------------- */

static tacit_status check_user(const tacit__weighted *c, const tacit_trajectory *u,
                               tacit_error *err)
{
    const tacit__space *sp = &c->o.space;
    for (size_t h = 0; h <= sp->horizon; h++)
        if (u->states[h] >= sp->n_states)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the state is not below %zu", h,
                               sp->n_states);
    for (size_t h = 0; h < sp->horizon; h++)
        if (u->actions[h] >= sp->n_actions || !(u->rewards[h] >= 0 && u->rewards[h] <= 1))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "step %zu: the action is not below %zu, or the reward not in [0, 1]",
                               h, sp->n_actions);
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the counts are closed");
    if (c->users == c->o.episodes)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu episodes",
                           (unsigned long long)c->o.episodes);
    return TACIT_OK;
}

static void count(tacit__weighted *c, const tacit_trajectory *u)
{
    const size_t n = tacit__user_share(&c->rule, u, c->steps);
    batch_stream *s = c->streams;
    for (size_t i = 0; i < n; i++) {
        const tacit__counted_step *step = &c->steps[i];
        s[WEIGHTED_VISITS].batch[step->row] += step->weight;
        s[WEIGHTED_MOVES].batch[step->row * c->o.space.n_states + step->next] += step->weight;
        s[WEIGHTED_REWARDS].batch[step->row] += step->reward;
    }
    s[WEIGHTED_STARTS].batch[u->states[0]] += (int64_t)1 << c->bits;
    tacit__wipe(c->steps, n * sizeof *c->steps);
}

/* The batch passes the door, and what it makes of the sum is shown. */
static tacit_status pass(batch_stream *s, uint64_t number, int bits, tacit_error *err)
{
    for (size_t i = 0; i < s->size; i++)
        s->shown[i] = ldexp((double)s->batch[i], -bits);
    tacit_status status = tacit_sum_add(s->sum, s->shown, err);
    memset(s->batch, 0, s->size * sizeof *s->batch);
    tacit__wipe(s->shown, s->size * sizeof *s->shown); /* they are raw counts until released */
    if (status == TACIT_OK)
        status = tacit_sum_release(s->sum, s->shown, err);
    if (status == TACIT_OK)
        status = tacit_sum_stddev(s->sum, number, &s->stddev);
    return status;
}

static tacit_status close_batch(tacit__weighted *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (int i = 0; i < WEIGHTED_STREAMS && status == TACIT_OK; i++) {
        batch_stream *s = &c->streams[i];
        if (s->sum != NULL)
            status = pass(s, c->next + 1, c->bits, err);
        else
            for (size_t j = 0; j < s->size; j++)
                s->shown[j] = ldexp((double)s->batch[j], -c->bits);
    }
    c->broken = status != TACIT_OK;
    c->next += status == TACIT_OK;
    return status;
}

tacit_status tacit__weighted_add(tacit__weighted *c, const tacit_trajectory *u, tacit_error *err)
{
    tacit_status status = check_user(c, u, err);
    if (status != TACIT_OK)
        return status;
    const bool needed = c->users + 1 < c->o.episodes && c->next < c->releases;
    if (needed)
        count(c, u);
    if (needed && c->users + 1 == c->at[c->next])
        status = close_batch(c, err);
    c->users += status == TACIT_OK;
    return status;
}

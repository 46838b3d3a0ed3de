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
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "contribute/user_check.h"
#include "curate/curators.h"
#include "curate/weighted_curator_inside.h"
#include "noise/stream.h"
#include "release/schedule.h"
#include "sums/sum_steps.h"

/* Visits of a row at the first release, in standard deviations of its noise: 4 sqrt(H), at most 16.
 * Random actions visit all rows of one step alike, and those of long episodes the less the deeper
 * they are; see docs/why/posterior-tabular.md#when-to-release. */
#define START 4.0
#define SINGLE_START 2.0 /* of a single step, unless the first release is the only one */
#define MOST_START 16.0
#define LOCAL_START 8.0   /* the same of local answers, or 1 for each step if there are fewer, */
#define LEAST_ANSWERS 4.0 /* and answers about a row, at least; */
#define DOMINANT 4.0      /* times chance is noise that dominates it */
enum { LEAST_FIRST = 10, MOST_FIRST = 8 /* a part of all users */ };

/* Visits of one person before the last release, as far as that is known. */
static uint64_t visits_before(const tacit__weighted_options *o)
{
    const uint64_t visits = o->visits > 0 ? o->visits : 1, apart = o->apart > 0 ? o->apart : 1;
    const uint64_t fit = o->last > 0 ? 1 + (o->last - 1) / apart : visits;
    return visits < fit ? visits : fit;
}

uint64_t tacit__weighted_square(tacit__space sp)
{
    TACIT__REQUIRE(sp.horizon > 0);
    const double rows = (double)sp.tables * (double)sp.n_states * (double)sp.n_actions;
    const double most = TACIT__WEIGHTED_VISITS * TACIT__WEIGHTED_VISITS * rows;
    return (double)sp.horizon < most ? sp.horizon : (uint64_t)fmax(1, most);
}

/* The same where n users give J answers each: a row then has n J / rows of them, with noise of a variance
 * of n J w, told by itself or by its S moves; and a few of them, so that there is something to see.
 * q = rows w is how much larger the noise's variance is than that of chance: where noise does not dominate,
 * there is less to wait for, unless this release is all. */
static tacit_status answers_wanted(const tacit__weighted_options *o, double rows, double *out)
{
    tacit__answers_shape shape;
    if (!tacit__answers_find(o, &shape))
        return TACIT_BAD_ARGUMENT;
    const bool all = o->growth == 0;
    const tacit__answers_noise noise = tacit__answers_noise_of(&shape, 1);
    const double moves = (double)shape.followers * noise.moves * noise.moves,
                 row = 1 / (1 / (noise.visits * noise.visits) + 1 / moves),
                 q = rows * row / (double)shape.each, share = all ? 1 : fmin(1, q / DOMINANT),
                 start = all ? LOCAL_START : fmin(LOCAL_START, (double)o->space.horizon);
    *out = fmax(start * start * q * share, LEAST_ANSWERS) * rows / (double)shape.each;
    return TACIT_OK;
}

/* Users whose random actions would lift the rows out of the noise; 0 without any. */
static tacit_status users_wanted(const tacit__weighted_options *o, double *out)
{
    const double rows =
        (double)o->space.tables * (double)o->space.n_states * (double)o->space.n_actions;
    const double square = (double)tacit__weighted_square(o->space);
    const double visits = (double)visits_before(o); /* in different batches */
    double mu = HUGE_VAL, noise = 0;
    if (o->answers || o->guarantee.model == TACIT_MODEL_LOCAL)
        return answers_wanted(o, rows, out);
    if (o->guarantee.model != TACIT_MODEL_NONE && o->guarantee.delta == 0) {
        noise = M_SQRT2 * 2 * (double)o->space.horizon * visits / o->guarantee.epsilon;
    } else if (o->guarantee.model != TACIT_MODEL_NONE) {
        TRY(tacit_gdp_mu(o->guarantee.epsilon, o->guarantee.delta, &mu));
        noise = sqrt(2 * square * visits) / mu;
    }
    const double start = o->space.horizon == 1 && o->growth > 0
                             ? SINGLE_START
                             : fmin(MOST_START, START * sqrt((double)o->space.horizon));
    *out = start * noise * rows / fmin((double)o->space.horizon, square);
    return TACIT_OK;
}

tacit_status tacit__weighted_first(const tacit__weighted_options *o, uint64_t *out)
{
    TACIT__REQUIRE(o->episodes > 0);
    double wanted = 0;
    tacit_status status = users_wanted(o, &wanted);
    if (status == TACIT_OK)
        *out = (uint64_t)fmax(
            1, fmin(fmax(LEAST_FIRST, ceil(wanted)), floor((double)o->episodes / MOST_FIRST)));
    return status;
}

tacit_status tacit__weighted_scarcity(const tacit__weighted_options *o, double *out)
{
    TACIT__REQUIRE(o->episodes > 0);
    tacit_status status = users_wanted(o, out);
    if (status == TACIT_OK)
        *out /= (double)o->episodes / MOST_FIRST;
    return status;
}

uint64_t tacit__weighted_moments(const tacit__weighted_options *o, uint64_t *at)
{
    TACIT__REQUIRE(o->first > 0);
    uint64_t n = 0;
    for (uint64_t k = o->first; n == 0 || k < o->last;) {
        if (at != NULL)
            at[n] = k;
        n++;
        if (o->growth == 0)
            break;
        k = tacit__schedule_next(k, o->growth);
    }
    return n;
}

static tacit_status check_options(const tacit__weighted_options *o, tacit_error *err)
{
    if (o->space.n_states == 0 || o->space.n_actions == 0 || o->space.horizon == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "states, actions and horizon must be at least 1");
    if (o->episodes == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "episodes is 0, expected at least 1");
    tacit__answers_shape shape;
    if (o->guarantee.model == TACIT_MODEL_LOCAL && !tacit__answers_find(o, &shape))
        return tacit__fail(err, TACIT_TOO_LARGE,
                           "one answer about a table of %zu states and %zu actions tells nothing "
                           "with epsilon %g; use fewer states, or a larger epsilon",
                           o->space.n_states, o->space.n_actions, o->guarantee.epsilon);
    return TACIT_OK;
}

/* What its memory follows from. */
static tacit__weighted sizes_of(const tacit__weighted_options *o)
{
    const tacit__space sp = o->space;
    tacit__weighted w = {.o = *o, .rows = sp.tables * sp.n_states * sp.n_actions};
    w.releases = tacit__weighted_moments(&w.o, NULL);
    for (int i = 0; i < WEIGHTED_STREAMS; i++)
        w.streams[i].size = i == WEIGHTED_MOVES    ? w.rows * sp.n_states
                            : i == WEIGHTED_STARTS ? sp.n_states
                                                   : w.rows;
    return w;
}

static tacit__weighted *allocate(tacit__weighted w)
{
    const tacit__space sp = w.o.space;
    const bool exact = w.o.guarantee.model == TACIT_MODEL_NONE;
    tacit__piece pieces[4 * WEIGHTED_STREAMS + 3];
    size_t n = 0;
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        counted_stream *s = &w.streams[i];
        pieces[n++] = TACIT__PIECE_IF(exact, s->exact, s->size);
        pieces[n++] = TACIT__PIECE(s->shown, s->size);
        pieces[n++] = TACIT__PIECE(s->cell, sp.horizon);
        pieces[n++] = TACIT__PIECE(s->x, sp.horizon);
    }
    pieces[n++] = TACIT__PIECE(w.weights, w.rows);
    pieces[n++] = TACIT__PIECE(w.at, w.releases);
    pieces[n++] = TACIT__PIECE(w.steps, sp.horizon);
    tacit__weighted *c = tacit__workspace_create(&w, sizeof w, pieces, n);
    if (c != NULL)
        (void)tacit__weighted_moments(&c->o, c->at);
    return c;
}

tacit_status tacit__weighted_create(const tacit__weighted_options *o, tacit_noise *noise,
                                    tacit__weighted **out, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || o->guarantee.model == TACIT_MODEL_NONE);
    TACIT__REQUIRE(o->episodes > 0 && o->space.horizon > 0);
    tacit__weighted_options timed;
    TRY(check_options(o, err));
    TRY(tacit__weighted_time(o, &timed, err));
    const tacit__weighted sizes = sizes_of(&timed);
    TRY(tacit__weighted_check_memory(&sizes, err));
    tacit__weighted *c = allocate(sizes);
    if (c == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY, "counts of %zu states do not fit into memory",
                           o->space.n_states);
    tacit_status status = tacit__weighted_open(c, noise, err);
    if (status == TACIT_OK && c->answers != NULL &&
        (c->report = tacit__alloc(tacit__answers_bytes(c->answers), 1)) == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status != TACIT_OK) {
        tacit__weighted_destroy(c);
        return status;
    }
    for (size_t row = 0; row < c->rows; row++)
        c->weights[row] = (int64_t)1 << c->bits;
    *out = c;
    return TACIT_OK;
}

void tacit__weighted_destroy(void *curator)
{
    tacit__weighted *c = curator;
    if (c == NULL)
        return;
    for (int i = 0; i < WEIGHTED_STREAMS; i++)
        tacit_sum_destroy(c->streams[i].sum);
    tacit__answers_destroy(c->answers);
    tacit__free(c->report);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

const tacit__weighted_options *tacit__weighted_timed(const tacit__weighted *c)
{
    return &c->o;
}

tacit_ledger *tacit__weighted_ledger(const void *curator)
{
    return ((const tacit__weighted *)curator)->ledger;
}

uint64_t tacit__weighted_users(const tacit__weighted *c)
{
    return c->users;
}

tacit__user_batch tacit__weighted_batch(const tacit__weighted *c)
{
    TACIT__REQUIRE(c->next <= c->releases);
    return (tacit__user_batch){.first = c->next > 0 ? c->at[c->next - 1] : 0,
                               .last = c->next < c->releases && c->at[c->next] < c->o.episodes
                                           ? c->at[c->next]
                                           : c->o.episodes};
}

tacit__weighted_counts tacit__weighted_release(const tacit__weighted *c)
{
    const counted_stream *s = c->streams;
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

void tacit__weighted_set_weights(tacit__weighted *c, const double *weights)
{
    TACIT__REQUIRE(weights != NULL);
    if (c->rule.square == 0) /* everything counts in full */
        return;
    /* no weight is more than the budget, and none is negative; NaN is 0 */
    const double most = sqrt((double)c->rule.square);
    for (size_t row = 0; row < c->rows; row++) {
        const double steps = ldexp(weights[row], c->bits);
        c->weights[row] = steps >= most ? (int64_t)most : steps >= 0 ? (int64_t)steps : 0;
    }
}

/* --- Users --------------------------------------------------------------------------------------- */

static tacit_status check_open(const tacit__weighted *c, tacit_error *err)
{
    return tacit__check_room(c->broken, c->users, c->o.episodes, err);
}

static tacit_status check_user(const tacit__weighted *c, const tacit_trajectory *u,
                               tacit_error *err)
{
    const tacit__space *sp = &c->o.space;
    TRY(tacit__check_trajectory(u, sp->n_states, sp->n_actions, sp->horizon, err));
    return check_open(c, err);
}

/* Adds up what is in one cell; cells come ascending. */
static void add_cell(counted_stream *s, size_t cell, int64_t value)
{
    if (s->cells == 0 || s->cell[s->cells - 1] != cell) {
        s->cell[s->cells] = cell;
        s->x[s->cells++] = 0;
    }
    s->x[s->cells - 1] += value;
}

static int by_move(const void *a, const void *b)
{
    const tacit__counted_step *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->next > y->next) - (x->next < y->next);
}

/* The user as sparse integers. */
static void contribute(tacit__weighted *c, const tacit_trajectory *u)
{
    counted_stream *s = c->streams;
    const size_t n = tacit__user_share(&c->rule, u, c->steps);
    qsort(c->steps, n, sizeof *c->steps, by_move);
    for (int i = 0; i < WEIGHTED_STREAMS; i++)
        s[i].cells = 0;
    for (size_t i = 0; i < n; i++) {
        const tacit__counted_step *step = &c->steps[i];
        add_cell(&s[WEIGHTED_VISITS], step->row, step->weight);
        add_cell(&s[WEIGHTED_MOVES], step->row * c->o.space.n_states + step->next, step->weight);
        add_cell(&s[WEIGHTED_REWARDS], step->row, step->reward);
    }
    add_cell(&s[WEIGHTED_STARTS], u->states[0], (int64_t)1 << c->bits);
    tacit__wipe(c->steps, n * sizeof *c->steps);
}

/* The user into the sum, on its own lattice, which is at least as fine; it checks the bound again. */
static tacit_status add_to_sum(const tacit__weighted *c, const counted_stream *s, tacit_error *err)
{
    const int64_t finer = (int64_t)1 << (tacit__sum_lattice(s->sum)->bits - c->bits);
    for (size_t i = 0; i < s->cells; i++)
        s->x[i] *= finer;
    const tacit__input input = {.n = s->cells, .index = s->cell, .value = s->x};
    return tacit__sum_add_foreign(s->sum, &input, err);
}

static tacit_status count(tacit__weighted *c, const tacit_trajectory *u, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (c->answers != NULL) {
        TRY(tacit__answers_give(c->answers, u, c->report, err));
        tacit__answers_absorb(c->answers, c->report);
        return TACIT_OK;
    }
    contribute(c, u);
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        counted_stream *s = &c->streams[i];
        if (s->sum != NULL && status == TACIT_OK)
            status = add_to_sum(c, s, err);
        for (size_t j = 0; j < s->cells && s->exact != NULL; j++)
            s->exact[s->cell[j]] += s->x[j];
        tacit__wipe(s->x, s->cells * sizeof *s->x);
        tacit__wipe(s->cell, s->cells * sizeof *s->cell);
    }
    return status;
}

/* Visits are sums of moves, and are not told a second time; first states are not asked for. */
void tacit__weighted_set_levels(tacit__weighted *c)
{
    TACIT__REQUIRE(c->next <= c->releases);
    if (c->answers == NULL || c->next == 0)
        return;
    counted_stream *s = c->streams;
    const uint64_t users = c->at[c->next - 1];
    const tacit__answers_noise noise =
        tacit__answers_noise_of(tacit__answers_shape_of(c->answers), (double)users);
    s[WEIGHTED_VISITS].stddev = noise.visits;
    s[WEIGHTED_MOVES].stddev = noise.moves;
    s[WEIGHTED_REWARDS].stddev = noise.rewards;
}

/* The batch passes the door, and the sums are shown; answers passed it one by one. */
static tacit_status release(tacit__weighted *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (c->answers != NULL)
        tacit__answers_estimate(c->answers, c->at[c->next], c->streams[WEIGHTED_VISITS].shown,
                                c->streams[WEIGHTED_MOVES].shown,
                                c->streams[WEIGHTED_REWARDS].shown);
    for (int i = 0; i < WEIGHTED_STREAMS && status == TACIT_OK; i++) {
        counted_stream *s = &c->streams[i];
        if (s->sum != NULL)
            status = tacit_sum_release(s->sum, s->shown, err);
        if (s->sum != NULL && status == TACIT_OK)
            status = tacit_sum_stddev(s->sum, c->next + 1, &s->stddev);
        for (size_t j = 0; j < s->size && s->exact != NULL; j++)
            s->shown[j] = ldexp((double)s->exact[j], -c->bits);
    }
    c->next += status == TACIT_OK;
    tacit__weighted_set_levels(c);
    return status;
}

/* The last user's data are never used, nor those of users after the last release. */
static bool is_needed(const tacit__weighted *c)
{
    return c->users + 1 < c->o.episodes && c->next < c->releases;
}

/* A user whose data were added, if they are needed. */
static tacit_status count_user(tacit__weighted *c, bool needed, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (needed && c->users + 1 == c->at[c->next])
        status = release(c, err);
    c->broken = status != TACIT_OK; /* only a journal can refuse here */
    c->users += status == TACIT_OK;
    return status;
}

tacit_status tacit__weighted_add(tacit__weighted *c, const tacit_trajectory *u, tacit_error *err)
{
    TRY(check_user(c, u, err));
    const bool needed = is_needed(c);
    tacit_status status = needed ? count(c, u, err) : TACIT_OK;
    if (status == TACIT_OK)
        return count_user(c, needed, err);
    c->broken = true;
    return status;
}

/* --- Local: reports ------------------------------------------------------------------------------ */

static tacit_status report_user(void *curator, const tacit__user_view *user, void *bytes,
                                size_t *size, tacit_error *err)
{
    tacit__weighted *c = curator;
    TACIT__REQUIRE(c->answers != NULL);
    const size_t needed = tacit__answers_bytes(c->answers), room = *size;
    *size = needed;
    if (bytes == NULL)
        return TACIT_OK;
    if (room < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a report takes %zu bytes, the buffer has %zu",
                           needed, room);
    TRY(check_user(c, user->trajectory, err));
    return tacit__answers_give(c->answers, user->trajectory, bytes, err);
}

static tacit_status check_report(const void *curator, const void *bytes, size_t size,
                                 tacit_error *err)
{
    const tacit__weighted *c = curator;
    TACIT__REQUIRE(c->answers != NULL);
    TRY(tacit__answers_check(c->answers, bytes, size, err));
    return check_open(c, err);
}

static tacit_status absorb(void *curator, const void *bytes, size_t size, tacit_error *err)
{
    tacit__weighted *c = curator;
    TRY(check_report(c, bytes, size, err));
    const bool needed = is_needed(c);
    if (needed)
        tacit__answers_absorb(c->answers, bytes);
    return count_user(c, needed, err);
}

/* --- The table ------------------------------------------------------------------------------------- */

static tacit_status add_user(void *curator, const tacit__user_view *user, tacit_error *err)
{
    return tacit__weighted_add(curator, user->trajectory, err);
}

const tacit__curator_kind tacit__weighted_curator = {.destroy = tacit__weighted_destroy,
                                                     .add = add_user,
                                                     .report = report_user,
                                                     .check_report = check_report,
                                                     .absorb = absorb,
                                                     .ledger = tacit__weighted_ledger,
                                                     .returning = true};

/* See tabular_planner.h. A learner of our own; docs/why/posterior-tabular.md derives it, says which worlds
 * its constants were chosen on, and what each part is worth.
 *
 * Plans. After k of K users, a plan draws xi ~ N(0, 1) for each pair and step, and maximizes
 *     Q = clip(r + P V + (1 - k/K)^1.5 [0.5 xi noise + (1 + 0.5 xi) stat / 3] - 1.5 (k/K)^2 noise, 0, H - h)
 * with the errors `noise` and `stat` of tabular_belief.c. Optimism would saturate at H - h wherever nothing
 * is known; here plans differ as the posterior does, and in the end a lower bound is maximized, because the
 * best of many noisy estimates is too high. Estimates are of all releases together, if they are remembered
 * (combined_releases.h); their errors stay, so there 0.75 takes the place of 0.5.
 *
 * Exploring plans. A few users of each batch, at most a quarter, act by plans that do not fade. Without a
 * budget or with a single state these draw from the law of each row at full width, so that a row that was
 * unlucky at first is tried again:
 *     Q = clip(mean + (1 + xi) sqrt(stddev^2 + noise^2), 0, H - h),   H - h if the row was never visited.
 * With a budget B the noise of rows that nobody visits stays, so 3 s_n / B users go to the rows that have not
 * risen above it (unknown_rows.h), while the best that may be there is worth 1.25 times what is known. They
 * count with weights of their own, B for these rows and B / 10 for all others, or most of their budget would
 * be gone on the way.
 *
 * Scarcity. If K users cannot lift most rows out of the noise (tacit__posterior_scarcity), nobody explores.
 * With c = min(1.5, scarcity) and f = min(3, scarcity), the draws are divided by f, caution is
 * (1.5 / f) c (1 - (1 - k/K) / c)^2, and rewards are drawn to 1/2 (tabular_belief.c). Before the first
 * release only 1 in `scarcity` users, but at least min(1, H / S) of them, act at random; the others take one
 * action throughout, and so visit fewer rows more often.
 *
 * Weights. A row that is known well counts less, 1 / (1 + n / (30 s_n)), and all weights are multiplied so
 * that the median of 128 users that are simulated in the model just uses up the budget.
 *
 * All of this is post-processing of releases, and chance here is public (SplitMix64). */
#include "plan/posterior/tabular_planner.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/workspace.h"
#include "plan/posterior/combined_releases.h"
#include "plan/posterior/unknown_rows.h"
#include "plan/public_chance.h"

/* Chosen on the worlds of docs/why/posterior-tabular.md. */
#define DIVERSITY 0.5
#define LASTING_DIVERSITY 0.75 /* of estimates from all releases, whose errors stay */
#define STATISTICAL (1.0 / 3)
#define FADING 1.5
#define CAUTION 1.5           /* times (k/K)^2 */
enum { EXPLORING_SHARE = 4 }; /* at most one in so many users of a batch explores */
#define EXPLORING_QUOTA 3.0   /* users who go to unknown rows, times s_n / B, */
#define LEAST_GAIN 1.25       /* while these may be worth so many times what is known, */
#define KNOWN_WEIGHT 0.1      /* with this weight for known rows, as a share of B */
#define MOST_SCARCITY 1.5
#define MOST_PLAIN 3.0
#define HALVED_AT 30.0 /* visits, times s_n, at which a row counts half */
enum { SIMULATED = 128 };
#define MOST_FACTOR 100.0 /* of weights: they are saved */

struct tacit__tabular_planner {
    tacit__space space;
    tacit__tabular_planner_options o;
    tacit__tabular_belief *model;
    tacit__combined_releases *combined; /* NULL: the last release is all */
    double *weights;                    /* [rows] */
    double *exploring_weights;          /* [rows]: the weights of exploring users, with noise */
    double *xi;                         /* [pairs] of a step */
    double *q;                          /* [H][pairs] */
    double *values;                     /* [2][states] */
    tacit__row_outlook *looks;          /* [pairs] of a step */
    double *uniform;                    /* [H][states][actions] */
    uint32_t *plans;                    /* [J + exploring][H][states] */
    uint64_t *seen;                     /* [rows] scratch of a simulated user; 0 between users */
    size_t *visited;                    /* [H] scratch */
    uint64_t chance;                    /* state of the public chance */
    uint64_t version;                   /* of what was shown last, */
    uint64_t users;                     /* the release that it came from; 0: none, */
    uint64_t shown;                     /* and which of the plans it was */
    uint64_t exploring;                 /* users of a batch by exploring plans, at most */
};

static size_t rows_of(tacit__space s)
{
    return s.tables * s.n_states * s.n_actions;
}

/* Whether exploring users go to unknown rows: with a budget, and unless all rows are where everybody is. */
static bool seeks_unknown(const tacit__tabular_planner *p)
{
    return p->o.user_norm > 0 && p->o.exploring > 0 && p->space.n_states > 1;
}

tacit_status tacit__tabular_planner_create(tacit__space space,
                                           const tacit__tabular_planner_options *o,
                                           tacit__tabular_planner **out)
{
    const size_t rows = rows_of(space), pairs = space.n_states * space.n_actions, H = space.horizon;
    TACIT__REQUIRE(o->plans > 0 && o->episodes > 0);
    const size_t plans = o->plans + o->exploring;
    tacit__tabular_planner w = {.space = space, .o = *o, .chance = o->tie_seed, .version = 1};
    tacit__tabular_planner *p = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.weights, rows), TACIT__PIECE(w.exploring_weights, rows),
        TACIT__PIECE(w.xi, pairs), TACIT__PIECE(w.q, H * pairs),
        TACIT__PIECE(w.values, 2 * space.n_states), TACIT__PIECE(w.uniform, H * pairs),
        TACIT__PIECE(w.looks, pairs), TACIT__PIECE(w.plans, plans * H * space.n_states),
        TACIT__PIECE(w.seen, rows), TACIT__PIECE(w.visited, H));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    tacit_status status = tacit__tabular_belief_create(space, &p->model);
    if (status == TACIT_OK && o->releases > 0)
        status = tacit__combined_releases_create(space, o->releases, o->separate, &p->combined);
    if (status != TACIT_OK) {
        tacit__tabular_planner_destroy(p);
        return status;
    }
    p->model->scarce = o->scarcity > 1;
    for (size_t row = 0; row < rows; row++)
        p->weights[row] = 1;
    for (size_t i = 0; i < H * pairs; i++)
        p->uniform[i] = 1 / (double)space.n_actions;
    *out = p;
    return TACIT_OK;
}

void tacit__tabular_planner_destroy(tacit__tabular_planner *p)
{
    if (p != NULL) {
        tacit__tabular_belief_destroy(p->model);
        tacit__combined_releases_destroy(p->combined);
    }
    tacit__workspace_destroy(p);
}

/* --- Plans --------------------------------------------------------------------------------------- */

/* What a plan's Q is made of, beside the model. */
typedef struct stance {
    double fading, caution, diversity;
    bool explores; /* draws from the law of each row instead */
} stance;

static stance stance_of(const tacit__tabular_planner *p)
{
    const double scarcity = fmin(MOST_SCARCITY, fmax(1, p->o.scarcity)),
                 plain = fmin(MOST_PLAIN, fmax(1, p->o.scarcity));
    const double left = fmax(0, 1 - (double)p->users / (double)p->o.episodes),
                 k = 1 - left / scarcity;
    if (p->o.greedy)
        return (stance){0};
    return (stance){.fading = pow(left, FADING) / plain,
                    .caution = CAUTION / plain * scarcity * k * k,
                    .diversity = p->combined != NULL ? LASTING_DIVERSITY : DIVERSITY};
}

static bool has_moves(const tacit__tabular_belief *m, size_t row)
{
    return m->first[row] < m->first[row + 1];
}

static double precision_of(const tacit__row_outlook *look)
{
    return 1 / (look->noise * look->noise + look->chance * look->chance);
}

/* A row without moves would lead everywhere alike, and a state that is worse than most would seem to have a
 * way out. So such a row leads where the other actions of its state lead, by their precision. `row` is the
 * state's first. */
static void borrow_moves(const tacit__tabular_planner *p, size_t row, tacit__row_outlook *looks)
{
    const size_t A = p->space.n_actions;
    double sum = 0, precision = 0;
    for (size_t a = 0; a < A; a++)
        if (has_moves(p->model, row + a)) {
            sum += precision_of(&looks[a]) * looks[a].mean;
            precision += precision_of(&looks[a]);
        }
    for (size_t a = 0; a < A && precision > 0; a++)
        if (!has_moves(p->model, row + a))
            looks[a].mean = sum / precision;
}

static double q_of(const tacit__tabular_planner *p, const stance *st, size_t row, double xi,
                   double cap, tacit__row_outlook look)
{
    const double drawn =
        st->diversity * xi * look.noise + STATISTICAL * (1 + st->diversity * xi) * look.chance;
    return fmin(cap, fmax(0, p->model->reward[row] + look.mean + st->fading * drawn -
                                 st->caution * look.noise));
}

static double exploring_q(const tacit__tabular_planner *p, size_t row, double xi, double cap,
                          const tacit__next_values *next)
{
    if (p->model->visits[row] == 0)
        return cap;
    const tacit__row_law law = tacit__tabular_belief_law(p->model, row, next);
    const double noise = tacit__tabular_belief_outlook(p->model, row, next).noise;
    return fmin(cap, fmax(0, law.mean + (1 + xi) * hypot(law.stddev, noise)));
}

/* q[pairs] of step h, from the values of what follows. */
static void value_step(tacit__tabular_planner *p, const stance *st, size_t h, const double *after,
                       double *q)
{
    const size_t pairs = p->space.n_states * p->space.n_actions,
                 table = p->space.tables == 1 ? 0 : h;
    const double cap = (double)(p->space.horizon - h);
    const tacit__next_values next = tacit__next_values_of(after, p->space.n_states);
    if (st->explores) {
        for (size_t i = 0; i < pairs; i++)
            q[i] = exploring_q(p, table * pairs + i, p->xi[i], cap, &next);
        return;
    }
    for (size_t i = 0; i < pairs; i++)
        p->looks[i] = tacit__tabular_belief_outlook(p->model, table * pairs + i, &next);
    for (size_t i = 0; !p->o.greedy && i < pairs; i += p->space.n_actions)
        borrow_moves(p, table * pairs + i, p->looks + i);
    for (size_t i = 0; i < pairs; i++)
        q[i] = q_of(p, st, table * pairs + i, p->xi[i], cap, p->looks[i]);
}

static void make_plan(tacit__tabular_planner *p, const stance *st, uint32_t *policy)
{
    const size_t S = p->space.n_states, A = p->space.n_actions, H = p->space.horizon;
    double *after = p->values, *here = p->values + S;
    for (size_t s = 0; s < S; s++)
        after[s] = 0; /* nothing follows the last step */
    for (size_t h = H; h-- > 0;) {
        double *q = p->q + h * S * A;
        for (size_t i = 0; i < S * A && !p->o.greedy; i++)
            p->xi[i] = tacit__chance_normal(&p->chance);
        value_step(p, st, h, after, q);
        for (size_t s = 0; s < S; s++) {
            const uint32_t action = tacit__chance_best(q + s * A, A, &p->chance);
            policy[h * S + s] = action;
            here[s] = q[s * A + action];
        }
        double *swapped = after;
        after = here;
        here = swapped;
    }
}

/* --- Weights ------------------------------------------------------------------------------------- */

static size_t draw_from(const double *chances, size_t n, uint64_t *chance)
{
    double left = tacit__chance_unit(chance);
    for (size_t i = 0; i + 1 < n; i++) {
        left -= chances[i];
        if (left <= 0)
            return i;
    }
    return n - 1;
}

static size_t draw_next(const tacit__tabular_planner *p, size_t row, uint64_t *chance)
{
    const tacit__tabular_belief *m = p->model;
    const size_t first = m->first[row], n = m->first[row + 1] - first;
    if (n == 0 || tacit__chance_unit(chance) <= m->rest[row])
        return (size_t)(tacit__chance_word(chance) % p->space.n_states);
    /* the chances of the entries sum to 1 - rest */
    double left = tacit__chance_unit(chance) * (1 - m->rest[row]);
    for (size_t i = 0; i + 1 < n; i++) {
        left -= m->chance[first + i];
        if (left <= 0)
            return m->next[first + i];
    }
    return m->next[first + n - 1];
}

/* The length of a user who acts by this plan in the model, and whose first m visits of a row count. */
static double simulate(tacit__tabular_planner *p, const uint32_t *policy)
{
    const size_t S = p->space.n_states, A = p->space.n_actions;
    size_t state = draw_from(p->model->starts, S, &p->chance);
    double square = 0;
    for (size_t h = 0; h < p->space.horizon; h++) {
        const size_t table = p->space.tables == 1 ? 0 : h;
        const size_t row = (table * S + state) * A + policy[h * S + state];
        p->visited[h] = row;
        if (p->seen[row] < p->o.user_visits) {
            const double before = p->weights[row] * (double)p->seen[row]++,
                         after = before + p->weights[row];
            square += after * after - before * before;
        }
        state = draw_next(p, row, &p->chance);
    }
    for (size_t h = 0; h < p->space.horizon; h++)
        p->seen[p->visited[h]] = 0;
    return sqrt(square);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void choose_weights(tacit__tabular_planner *p)
{
    const tacit__tabular_belief *m = p->model;
    double length[SIMULATED];
    TACIT__REQUIRE(p->o.plans > 0);
    for (size_t row = 0; row < m->rows; row++)
        p->weights[row] = 1 / (1 + m->visits[row] / (HALVED_AT * m->visits_stddev));
    for (size_t i = 0; i < SIMULATED; i++)
        length[i] = simulate(p, p->plans + i % p->o.plans * p->space.horizon * p->space.n_states);
    qsort(length, SIMULATED, sizeof *length, ascending);
    const double median = (length[SIMULATED / 2 - 1] + length[SIMULATED / 2]) / 2;
    const double factor = fmin(MOST_FACTOR, p->o.user_norm / median);
    for (size_t row = 0; row < m->rows; row++)
        p->weights[row] *= factor;
}

/* --- Exploring users, with noise ------------------------------------------------------------------------ */

static void seek_unknown_rows(tacit__tabular_planner *p)
{
    const tacit__tabular_belief *m = p->model;
    const size_t size = p->space.horizon * p->space.n_states;
    const double norm = p->o.user_norm, all = (double)p->o.episodes;
    uint32_t *plans = p->plans + p->o.plans * size;
    const double known = tacit__unknown_rows_plan(m, false, p->q, p->values, &p->chance, plans);
    double hoped = 0;
    for (size_t j = 0; j < p->o.exploring; j++)
        hoped = tacit__unknown_rows_plan(m, true, p->q, p->values, &p->chance, plans + j * size);
    const bool pays = hoped > LEAST_GAIN * known;
    p->exploring = pays ? (uint64_t)fmin(all, ceil(EXPLORING_QUOTA * m->visits_stddev / norm)) : 0;
    for (size_t row = 0; row < m->rows; row++)
        p->exploring_weights[row] = tacit__row_is_unknown(m, row) ? norm : KNOWN_WEIGHT * norm;
}

void tacit__tabular_planner_absorb(tacit__tabular_planner *p, const tacit__weighted_counts *counts)
{
    const bool seeks = seeks_unknown(p);
    TACIT__REQUIRE(counts->users > 0);
    p->users = counts->users;
    p->shown = UINT64_MAX; /* none of the new ones */
    const tacit__weighted_counts all =
        p->combined != NULL ? tacit__combined_releases_absorb(p->combined, counts) : *counts;
    tacit__tabular_belief_estimate(p->model, &all);
    stance st = stance_of(p);
    if (seeks)
        seek_unknown_rows(p);
    else
        p->exploring = p->o.exploring;
    for (size_t j = 0; j < p->o.plans + (seeks ? 0 : p->o.exploring); j++) {
        st.explores = j >= p->o.plans;
        make_plan(p, &st, p->plans + j * p->space.horizon * p->space.n_states);
    }
    if (p->o.user_norm > 0 && counts->visits_stddev > 0)
        choose_weights(p);
}

/* Which of n equal parts this share falls into. */
static size_t share_of(double done, size_t n)
{
    const size_t part = (size_t)(done * (double)n);
    return part < n ? part : n - 1;
}

/* Before the first release: random actions, which are place 0, or one action, place 1 + a. */
static tacit_billboard start(tacit__tabular_planner *p, double done)
{
    const size_t A = p->space.n_actions;
    const double random = fmax(fmin(1, (double)p->space.horizon / (double)p->space.n_states),
                               1 / fmax(1, p->o.scarcity));
    const uint64_t place = done < random ? 0 : 1 + share_of((done - random) / (1 - random), A);
    p->version += p->shown != place;
    for (size_t i = 0; p->shown != place && place > 0 && i < p->space.horizon * p->space.n_states;
         i++)
        p->plans[i] = (uint32_t)(place - 1);
    p->shown = place;
    if (place == 0)
        return (tacit_billboard){.version = p->version, .mixed = p->uniform};
    return (tacit_billboard){.version = p->version, .policy = p->plans};
}

/* How many users of a batch act by exploring plans. */
static uint64_t exploring_users(const tacit__tabular_planner *p, uint64_t size)
{
    const uint64_t most = size / EXPLORING_SHARE;
    return p->exploring < most ? p->exploring : most;
}

/* The first users of a batch act by the exploring plans, which come after the others: one each, or more if
 * there are more such users than plans. */
static size_t place_of(const tacit__tabular_planner *p, uint64_t done, uint64_t size)
{
    const uint64_t exploring = exploring_users(p, size);
    if (done < exploring)
        return p->o.plans + (exploring > p->o.exploring
                                 ? share_of((double)done / (double)exploring, p->o.exploring)
                                 : (size_t)done);
    return share_of((double)(done - exploring) / (double)(size - exploring), p->o.plans);
}

tacit_billboard tacit__tabular_planner_billboard(tacit__tabular_planner *p, uint64_t done,
                                                 uint64_t size)
{
    TACIT__REQUIRE(done <= size && size > 0);
    if (p->users == 0)
        return start(p, (double)done / (double)size);
    const size_t place = place_of(p, done, size);
    p->version += p->shown != place;
    p->shown = place;
    return (tacit_billboard){.version = p->version,
                             .policy = p->plans + place * p->space.horizon * p->space.n_states};
}

uint64_t tacit__tabular_planner_users(const tacit__tabular_planner *p)
{
    return p->users;
}

const double *tacit__tabular_planner_weights(const tacit__tabular_planner *p)
{
    const bool explores = seeks_unknown(p) && p->users > 0 && p->shown >= p->o.plans &&
                          p->shown < p->o.plans + p->o.exploring;
    return explores ? p->exploring_weights : p->weights;
}

const double *tacit__tabular_planner_q(const tacit__tabular_planner *p)
{
    return p->q;
}

const tacit__tabular_belief *tacit__tabular_planner_model(const tacit__tabular_planner *p)
{
    return p->model;
}

/* --- Saved states -------------------------------------------------------------------------------- */

typedef struct position {
    uint64_t chance, version, users, shown, exploring;
} position;

/* Of the users after the release of this many. */
static uint64_t places_of(const tacit__tabular_planner *p, uint64_t users)
{
    return users > 0 ? p->o.plans + p->o.exploring : 1 + p->space.n_actions;
}

uint64_t tacit__tabular_planner_fields(tacit__tabular_planner *p, tacit__saved *s)
{
    position at = {p->chance, p->version, p->users, p->shown, p->exploring};
    tacit__saved_value(s, &at, sizeof at);
    tacit__saved_check(s, at.version <= TACIT__MOST_COUNT && at.users <= p->o.episodes &&
                              (at.shown < places_of(p, at.users) || at.shown == UINT64_MAX) &&
                              (p->o.exploring > 0 || at.exploring == 0));
    tacit__saved_reals(s, p->weights, rows_of(p->space), MOST_FACTOR);
    tacit__saved_reals(s, p->exploring_weights, rows_of(p->space), p->o.user_norm);
    tacit__saved_indices(s, p->plans,
                         (p->o.plans + p->o.exploring) * p->space.horizon * p->space.n_states,
                         p->space.n_actions);
    if (p->combined != NULL)
        tacit__combined_releases_fields(p->combined, s);
    if (s->pass == TACIT__APPLY) {
        p->chance = at.chance;
        p->version = at.version;
        p->users = at.users;
        p->shown = at.shown;
        p->exploring = at.exploring;
    }
    return at.users;
}

/* What the tabular curator declares: each stream's bound and the reason for it, the plan and its
 * calibration, the sums that are opened under it, and how far off their releases may be. See
 * curate/tabular_curator.h.
 *
 * One user's contribution to a stream, over H steps, and how far a replaced user moves it (see
 * docs/why/tabular.md#how-far-a-replaced-user-moves-the-counts):
 *
 *     stream              bound on a contribution            move: L1, L2
 *     N, P per step       H ones in H tables                 2H, sqrt(2H)    (no coordinate is negative)
 *     N, P pooled         H ones, at most m in one cell      2H, sqrt(2 m H)
 *     P without the last  H-1 ones in H-1 tables             2(H-1), sqrt(2(H-1))
 *     R raw               as N                               as N
 *     R centered, alone    |r - 1/2| <= 1/2 at each step      H, sqrt(H); pooled H, sqrt(m H)
 *     R centered, with P   see below                          H, sqrt((H + ceil(H/2))/2); pooled as alone
 *     R centered, with N   where cells agree N stands still   H, sqrt(H/2); pooled H, sqrt(m H/2)
 *
 * Pooled, m is `user_visits`, or H if all visits count: cells of at most m that sum to H have
 * squares that sum to at most m H.
 *
 * The last of these lines: let two users have n and n' visits of a cell, so |R| <= n/2 and |R'| <=
 * n'/2 there. Its part of the squared loss is at most (n - n')^2/sN^2 + (n + n')^2/(4 sR^2). If sR
 * >= sN / 2, which is required of the scales after calibration, the product n n' has a factor that
 * is not positive, and what is left is (n^2 + n'^2) (1/sN^2 + 1/(4 sR^2)). Summed over the cells
 * that is as if N moved by sqrt(2 m H) and R by sqrt(m H/2); per step, where m H is H, by sqrt(2H)
 * and sqrt(H/2).
 *
 * With `visits_from_moves` visits are not released; they are sums of noisy moves, and a row's
 * error is one of S times as many draws. Pooled, rewards have the line "alone": users who go 0, 1,
 * 2, 0, ... and 0, 2, 1, 0, ... visit the same cells, never make the same move, and may have
 * rewards of 1 and of 0. Per step they have more than with N and less than alone. At a step where
 * the users' (state, action) differ, the squared loss is at most 2/sP^2 + (1/2)/sR^2; where all
 * agrees 1/sR^2, which is no more if sR >= sP / 2, as is required; where only the next states
 * differ 2/sP^2 + 1/sR^2, but then the states of the next step differ, so that there are at most
 * ceil(H/2) such steps. In all 2H/sP^2 + (H + ceil(H/2))/(2 sR^2): as if R moved by sqrt((H +
 * ceil(H/2))/2). Users who take turns between the two attain it.
 *
 * With `drop_last` the last step's moves are not counted: no value follows them, so no learner
 * needs them. One table for all steps must have them: the projection of a row expects moves that
 * sum to its visits.
 *
 * With `user_visits` m a user's visits of a (state, action) after the first m are left out. Whether
 * a visit counts is known before its reward and next state are, so what is counted has the law of
 * the world: nothing is biased, only left out, where a user had told most of it already.
 *
 * With `user_norm` u < 1 a user's visits count with weights (curate/user_share.c): 1 while the counts so far
 * have room for it, then less, so that their length never exceeds B = u H. That too is known before the
 * outcome. With n(x) the weight of row x, m(x, s') that of its moves and r(x) the sum of w (r - 1/2), in
 * integers,
 *
 *     |n|_2 <= B;  m >= 0 and sum_s' m(x, s') = n(x), so |m|_2 <= |n|_2;  |r(x)| <= n(x) / 2.
 *
 * So N and P move by sqrt(2) B (n . n' >= 0), R by B alone and by B / sqrt(2) with N: the argument above is
 * about numbers, not ones. (A trajectory of H steps has a norm of H only if it stays in one cell;
 * sqrt(H) if it never repeats one.) The lattice of R has a bit more than that of the weights, so that
 * rounding keeps |r(x)| <= n(x) / 2.
 *
 * With `one_step` a user contributes a single step, to the table of that step: the moves are those
 * of H = 1, only that table gets noise, and the sums, which stand for 1/H of the visits, are
 * multiplied by H. The step is public chance, independent of data. docs/why/tabular.md has the
 * proof and the gain. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "contribute/levels.h"
#include "curate/table_memory.h"
#include "curate/tabular_curator_inside.h"
#include "release/schedule.h"
#include "sums/lattice.h"
#include "sums/sum_inside.h"
#include "sums/sum_steps.h"

static const char *const names[STREAMS] = {"visits", "moves", "rewards"};

#define MOST_BITS 24   /* weights of 2^-24: far below what matters */
#define SQUARE_BITS 59 /* the budget, in squared steps, is below 2^60 */
#define LEAST_BITS 10

/* Steps of a user that a stream counts. */
static double steps_of(const tacit__tabular_options *o, stream_name which)
{
    return o->one_step ? 1 : (double)(o->space.horizon - (which == MOVES && o->drop_last));
}

/* The largest L2 norm of a user's ones if visits count in full: upwards, so that ones on the
 * lattice are within it. */
static double longest(const tacit__tabular_options *o, stream_name which)
{
    const double h = (double)o->space.horizon, m = (double)o->user_visits;
    if (o->one_step || o->space.tables > 1)
        return nextafter(sqrt(steps_of(o, which)), HUGE_VAL);
    return m > 0 && m < h ? nextafter(sqrt(m * h), HUGE_VAL) : h;
}

/* Whether a user's visits have a budget: B is less than they can come to. */
static bool has_budget(const tacit__tabular_options *o)
{
    return o->user_norm < 1 && o->user_norm * (double)o->space.horizon < longest(o, VISITS);
}

/* Why a replaced user moves a stream no farther, with the formula that the bound's value comes from. */
static const char *reason_of(const tacit__tabular *c, stream_name which)
{
    const tacit__tabular_options *o = &c->o;
    const bool centered = which == REWARDS && o->centered;
    if (o->one_step && centered && o->visits_from_moves)
        return "one step, one number r - 1/2, in one cell or another: L1 1, L2 1";
    if (o->one_step)
        return centered ? "one step; where two users' cells agree the visits stand still: L1 1, "
                          "L2 sqrt(1/2)"
                        : "one step, one number of at most 1 moved from one cell to another: L1 2, "
                          "L2 sqrt(2)";
    if (has_budget(o) && !centered)
        return "weights of at most 1 for each visit, in all of length at most u H, none negative: "
               "x.x' >= 0, so L1 2H, L2 sqrt(2) u H";
    if (has_budget(o))
        return o->visits_from_moves
                   ? "at most half of the visits' weight in each cell: L1 H, L2 u H"
                   : "at most half of the visits' weight in each cell; where two users' cells "
                     "agree the visits stand still: L1 H, L2 u H / sqrt(2)";
    if (centered && o->visits_from_moves)
        return o->space.tables > 1
                   ? "where two users' cells agree but not their moves, the next cells differ: "
                     "L1 H, L2 sqrt((H + ceil(H/2))/2)"
                   : "H numbers r - 1/2, at most m in a cell (m is user_visits, or H): L1 H, L2 "
                     "sqrt(m H)";
    if (centered)
        return "where two users' cells agree the visits stand still: L1 H, L2 sqrt(H/2) "
               "(pooled, at most m in a cell: sqrt(m H/2))";
    if (which == MOVES && o->drop_last)
        return "H - 1 ones, one for each step but the last, after which nothing follows, moved to "
               "other cells: L1 2(H-1), L2 sqrt(2(H-1))";
    return o->space.tables > 1 ? "H numbers of at most 1, one for each step, moved to other cells: "
                                 "L1 2H, L2 sqrt(2H)"
                               : "H numbers of at most 1, at most m in a cell (m is user_visits, "
                                 "or H), moved to other cells: L1 2H, L2 sqrt(2 m H)";
}

static tacit_sum_spec spec_of(const tacit__tabular *c, stream_name which)
{
    const tacit__tabular_options *o = &c->o;
    double steps = steps_of(o, which);
    bool centered = which == REWARDS && o->centered;
    double unit = centered ? 0.5 : 1;
    double l2 =
        unit * (has_budget(o) ? nextafter(o->user_norm * steps, HUGE_VAL) : longest(o, which));
    tacit_sum_spec spec = {.mechanism = o->mechanism,
                           .law = o->guarantee.delta > 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE,
                           .dimension = c->streams[which].report,
                           .users = o->episodes > 1 ? o->episodes - 1 : 1,
                           .visits = o->visits,
                           .apart = o->apart,
                           .bound = {.l1 = unit * steps,
                                     .l2 = l2,
                                     .nonnegative = !centered,
                                     .nonzeros = (uint64_t)steps},
                           /* sums of ones and of numbers within 1/2: rounding keeps both */
                           .sensitivity_on_lattice = true,
                           .reason = reason_of(c, which)};
    if (centered && !o->visits_from_moves)
        spec.sensitivity_l2 = M_SQRT2 * l2;
    else if (centered && o->visits_from_moves && o->space.tables > 1 && !o->one_step)
        spec.sensitivity_l2 = nextafter(sqrt((steps + ceil(steps / 2)) / 2), HUGE_VAL);
    return spec;
}

/* Visits that are sums of S moves are off by sqrt(S) times as much, and that is then the moves' to pay. */
static double weight_of(const tacit__tabular_options *o, stream_name which)
{
    return which == VISITS ? o->weight_visits
           : which == MOVES
               ? o->weight_moves +
                     (o->visits_from_moves ? o->weight_visits * sqrt((double)o->space.n_states) : 0)
               : o->weight_rewards;
}

/* Whether a stream passes the door. */
static bool is_released(const tacit__tabular_options *o, int which)
{
    return which != VISITS || !o->visits_from_moves;
}

/* Error level of a stream whose noise in a cell is this many draws, or of the visits that are made of it. */
static double level_of(const tacit__tabular *c, stream_name which, double draws)
{
    const bool summed = which == VISITS && c->o.visits_from_moves;
    const double scale = c->streams[summed ? MOVES : which].scale;
    if (summed)
        draws *= (double)c->o.space.n_states;
    return scale * (c->o.guarantee.delta == 0 ? tacit__level_laplace(draws, c->eta)
                                              : tacit__level_gaussian(draws, c->eta));
}

/* Error level of all releases of a stream: its noisiest prefix is a sum of this many draws. */
static double joint_level(const tacit__tabular *c, stream_name which)
{
    const count_stream *s = &c->streams[which == VISITS && c->o.visits_from_moves ? MOVES : which];
    const bool laplace = c->o.guarantee.delta == 0;
    double ratio = tacit_sum_worst_stddev(s->sum) / (s->scale * (laplace ? M_SQRT2 : 1));
    double draws = ratio * ratio;
    return level_of(c, which, laplace ? ceil(draws * (1 - 1e-9)) : draws);
}

static tacit_status calibrate(tacit__tabular *c, tacit_plan *plan, tacit_error *err)
{
    const tacit__tabular_options *o = &c->o;
    if (o->calibration == TACIT_CALIBRATION_TIGHT)
        return tacit_plan_calibrate(plan, o->guarantee, err);
    double scale =
        o->calibration == TACIT_CALIBRATION_FIGURE ? 1 / o->guarantee.epsilon : o->published_scale;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < tacit_plan_size(plan) && status == TACIT_OK; i++)
        status = tacit_plan_set_scale(plan, tacit_plan_release(plan, i)->name, TACIT_LAW_LAPLACE,
                                      scale, err);
    return status;
}

/* Noise of a stream, in units of what its mechanism makes of a step. */
static double scale_of(const tacit_plan *plan, stream_name which)
{
    size_t line = tacit_plan_index(plan, names[which]);
    return tacit_plan_scale(plan, line) / tacit_plan_release(plan, line)->column_l2;
}

/* The conditions of the centered rewards' sensitivity; see the head. */
static tacit_status check_scales(const tacit__tabular *c, const tacit_plan *plan, tacit_error *err)
{
    const stream_name beside = is_released(&c->o, VISITS) ? VISITS : MOVES;
    if (!c->o.centered || c->o.guarantee.delta == 0)
        return TACIT_OK;
    const double ratio = scale_of(plan, REWARDS) / scale_of(plan, beside);
    if (!(ratio >= 0.5))
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "the rewards' noise is less than half of the %s'; give rewards less "
                           "weight",
                           names[beside]);
    return TACIT_OK;
}

/* The rule of what counts, on a lattice that all streams' lattices contain. First visits alone are
 * ones. */
static tacit_status choose_rule(tacit__tabular *c, tacit_error *err)
{
    const tacit__tabular_options *o = &c->o;
    const double square = pow(o->user_norm * (double)o->space.horizon, 2);
    int bits = (int)fmin(MOST_BITS, floor((SQUARE_BITS - log2(square)) / 2));
    for (int i = 0; i < STREAMS; i++)
        if (is_released(o, i)) {
            const int finest = c->form.lattice[i].bits - (i == REWARDS);
            bits = finest < bits ? finest : bits;
        }
    c->form.rule = (tacit__share_rule){.space = o->space, .user_visits = o->user_visits};
    if (has_budget(o) && bits < LEAST_BITS)
        return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %llu users",
                           (unsigned long long)o->episodes);
    if (has_budget(o)) {
        c->form.rule.unit = (int64_t)1 << bits;
        c->form.rule.square = (uint64_t)floor(ldexp(square, 2 * bits));
    } else if (o->user_visits > 0) {
        c->form.rule.unit = 1;
    }
    return TACIT_OK;
}

static tacit_status open_sums(tacit__tabular *c, const tacit__batches *releases, tacit_noise *noise,
                              tacit_error *err)
{
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        if (!is_released(&c->o, i))
            continue;
        tacit_sum_spec spec = spec_of(c, (stream_name)i);
        tacit_release line;
        status = tacit__sum_declare_released(&spec, releases, names[i], &line, err);
        line.weight = weight_of(&c->o, (stream_name)i);
        if (status == TACIT_OK)
            status = tacit_plan_declare(plan, &line, err);
    }
    if (status == TACIT_OK)
        status = calibrate(c, plan, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        if (!is_released(&c->o, i))
            continue;
        count_stream *s = &c->streams[i];
        tacit_sum_spec spec = spec_of(c, (stream_name)i);
        s->scale = tacit_plan_scale(plan, tacit_plan_index(plan, names[i]));
        status = tacit__sum_create_released(&spec, releases, c->ledger, names[i], &s->sum, err);
        if (status == TACIT_OK) {
            c->form.lattice[i] = *tacit__sum_lattice(s->sum);
            s->stddev = tacit_sum_worst_stddev(s->sum);
        }
    }
    c->form.o = c->o;
    if (status == TACIT_OK)
        status = choose_rule(c, err);
    for (int i = 0; i < STREAMS && status == TACIT_OK && c->o.mechanism != TACIT_SUM_LOCAL; i++)
        c->streams[i].level = joint_level(c, (stream_name)i);
    if (status == TACIT_OK)
        status = check_scales(c, plan, err);
    tacit_plan_destroy(plan);
    return status;
}

/* What visits of one person move together depends on which of them meet in a batch. */
tacit_status tacit__tabular_open_sums(tacit__tabular *c, tacit_noise *noise, tacit_error *err)
{
    tacit__batches releases = {.n = c->releases};
    if (!tacit__tabular_has_batches(c) || c->o.visits <= 1)
        return open_sums(c, &releases, noise, err);
    uint64_t *ends = tacit__schedule_ends(c->o.episodes - 1, c->o.growth, c->releases);
    if (ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    releases.ends = ends;
    const tacit_status status = open_sums(c, &releases, noise, err);
    tacit__free(ends);
    return status;
}

tacit_status tacit__tabular_check_memory(const tacit__tabular *c, tacit_error *err)
{
    tacit_sum_spec spec = spec_of(c, MOVES);
    tacit__sum_prediction gain;
    TRY(tacit__sum_predict(&spec, &gain, err));
    const double cells = tacit__tabular_cells(&c->o);
    return tacit__table_check_memory(&c->o.space, cells, cells * (gain.bytes + sizeof(double)),
                                     err);
}

/* The most users that any cell's noise comes from. */
static uint64_t most_reports(const tacit__tabular *c)
{
    uint64_t most = 0;
    if (!c->o.one_step)
        return c->users;
    for (size_t h = 0; h < c->o.space.horizon; h++)
        most = c->reports[h] > most ? c->reports[h] : most;
    return most;
}

void tacit__tabular_local_levels(const tacit__tabular *c, uint64_t users, double levels[STREAMS])
{
    const double times = c->o.one_step ? (double)c->o.space.horizon : 1;
    for (int i = 0; i < STREAMS; i++)
        levels[i] = users == 0 ? 0 : times * level_of(c, (stream_name)i, (double)users);
}

/* Local levels grow with the number of users. They are computed for a number up to 1 % ahead, which
 * is an upper bound until it is reached. */
double tacit__tabular_level(tacit__tabular *c, stream_name which)
{
    TACIT__REQUIRE(which < STREAMS);
    if (c->o.mechanism != TACIT_SUM_LOCAL)
        return c->streams[which].level;
    uint64_t reports = most_reports(c);
    if (reports > c->level_users) {
        c->level_users = (uint64_t)ceil(1.01 * (double)reports);
        tacit__tabular_local_levels(c, c->level_users, c->local_level);
    }
    return reports > 0 ? c->local_level[which] : 0;
}

tacit__counts tacit__tabular_last(const tacit__tabular *c)
{
    tacit__counts out = {.users = c->o.episodes - 1, .drop_last = c->o.drop_last};
    double levels[STREAMS] = {c->streams[VISITS].level, c->streams[MOVES].level,
                              c->streams[REWARDS].level};
    if (!tacit__tabular_is_private(c))
        return out;
    if (c->o.mechanism == TACIT_SUM_LOCAL)
        tacit__tabular_local_levels(c, out.users, levels);
    out.visits_error = levels[VISITS];
    out.moves_error = levels[MOVES];
    out.rewards_error = levels[REWARDS];
    return out;
}

double tacit__tabular_stddev(const tacit__tabular *c, stream_name which)
{
    TACIT__REQUIRE(which < STREAMS);
    const bool summed = which == VISITS && c->o.visits_from_moves;
    const count_stream *s = &c->streams[summed ? MOVES : which];
    double stddev = c->users == 0 ? 0 : s->stddev;
    if (c->o.mechanism == TACIT_SUM_LOCAL)
        stddev = s->scale * (c->o.guarantee.delta == 0 ? M_SQRT2 : 1) *
                 sqrt((double)most_reports(c)) * (c->o.one_step ? (double)c->o.space.horizon : 1);
    return summed ? stddev * sqrt((double)c->o.space.n_states) : stddev;
}

/* What tabular counts declare: each stream's bound and the reason for it, the rule of what counts of a user,
 * and how far off releases may be. See contribute/tabular.h.
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
 * With `user_norm` u < 1 a user's visits count with weights (user_share.c): 1 while the counts so far
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
#include "contribute/levels.h"
#include "contribute/table_memory.h"
#include "contribute/tabular_inside.h"
#include "sums/sum_inside.h"

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
static const char *reason_of(const tacit__tabular_options *o, stream_name which)
{
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

static tacit_sum_spec sum_of(const tacit__tabular *f, stream_name which)
{
    const tacit__tabular_options *o = &f->rule.o;
    double steps = steps_of(o, which);
    bool centered = which == REWARDS && o->centered;
    double unit = centered ? 0.5 : 1;
    double l2 =
        unit * (has_budget(o) ? nextafter(o->user_norm * steps, HUGE_VAL) : longest(o, which));
    tacit_sum_spec spec = {.mechanism = o->mechanism,
                           .law = o->guarantee.delta > 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE,
                           .dimension = f->streams[which].report,
                           .users = o->episodes > 1 ? o->episodes - 1 : 1,
                           .visits = o->visits,
                           .apart = o->apart,
                           .bound = {.l1 = unit * steps,
                                     .l2 = l2,
                                     .nonnegative = !centered,
                                     .nonzeros = (uint64_t)steps},
                           /* sums of ones and of numbers within 1/2: rounding keeps both */
                           .sensitivity_on_lattice = true,
                           .reason = reason_of(o, which)};
    if (centered && !o->visits_from_moves)
        spec.sensitivity_l2 = M_SQRT2 * l2;
    else if (centered && o->visits_from_moves && o->space.tables > 1 && !o->one_step)
        spec.sensitivity_l2 = nextafter(sqrt((steps + ceil(steps / 2)) / 2), HUGE_VAL);
    return spec;
}

/* The scale that is printed; 0: noise is calibrated. */
static double printed_scale(const tacit__tabular_options *o)
{
    return o->calibration == TACIT_CALIBRATION_TIGHT    ? 0
           : o->calibration == TACIT_CALIBRATION_FIGURE ? 1 / o->guarantee.epsilon
                                                        : o->published_scale;
}

tacit__stream_spec tacit__tabular_stream(const tacit__tabular *f, stream_name which)
{
    TACIT__REQUIRE(which < STREAMS);
    const tacit__tabular_options *o = &f->rule.o;
    tacit__stream_spec spec = {.name = names[which],
                               .kind = TACIT__STREAM_COUNTED,
                               .dimension = f->streams[which].size,
                               .largest = (double)o->space.horizon};
    if (!tacit__tabular_is_private(o))
        return spec;
    spec.kind = TACIT__STREAM_RUNNING;
    spec.dimension = f->streams[which].report;
    spec.local = tacit__tabular_is_local(o);
    spec.sum = sum_of(f, which);
    spec.printed = printed_scale(o);
    return spec;
}

/* Visits that are sums of S moves are off by sqrt(S) times as much, and that is then the moves' to pay. */
double tacit__tabular_weight(const tacit__tabular_options *o, stream_name which)
{
    TACIT__REQUIRE(which < STREAMS);
    return which == VISITS ? o->weight_visits
           : which == MOVES
               ? o->weight_moves +
                     (o->visits_from_moves ? o->weight_visits * sqrt((double)o->space.n_states) : 0)
               : o->weight_rewards;
}

tacit_status tacit__tabular_check_memory(const tacit__tabular *f, tacit_error *err)
{
    tacit_sum_spec spec = sum_of(f, MOVES);
    tacit__sum_prediction gain;
    TRY(tacit__sum_predict(&spec, &gain, err));
    const double cells = tacit__tabular_cells(&f->rule.o);
    return tacit__table_check_memory(&f->rule.o.space, cells, cells * (gain.bytes + sizeof(double)),
                                     err);
}

/* --- Error levels --------------------------------------------------------------------------------- */

/* The stream whose noise is in a stream: visits may be made of moves. */
static const count_stream *noisy_of(const tacit__tabular *f, stream_name which)
{
    return &f->streams[tacit__tabular_is_released(&f->rule.o, (int)which) ? which : MOVES];
}

/* Error level of a stream whose noise in a cell is this many draws, or of the visits that are made of it. */
static double level_of(const tacit__tabular *f, stream_name which, double draws)
{
    const tacit__tabular_options *o = &f->rule.o;
    const double scale = tacit__stream_scale(noisy_of(f, which)->stream);
    if (!tacit__tabular_is_released(o, (int)which))
        draws *= (double)o->space.n_states;
    return scale * (o->guarantee.delta == 0 ? tacit__level_laplace(draws, f->eta)
                                            : tacit__level_gaussian(draws, f->eta));
}

/* Error level of all releases of a stream: its noisiest prefix is a sum of this many draws. */
static double joint_level(const tacit__tabular *f, stream_name which)
{
    const count_stream *s = noisy_of(f, which);
    const bool laplace = f->rule.o.guarantee.delta == 0;
    double ratio = tacit_sum_worst_stddev(tacit__stream_sum(s->stream)) /
                   (tacit__stream_scale(s->stream) * (laplace ? M_SQRT2 : 1));
    double draws = ratio * ratio;
    return level_of(f, which, laplace ? ceil(draws * (1 - 1e-9)) : draws);
}

/* The most users that any cell's noise comes from. */
static uint64_t most_reports(const tacit__tabular *f, uint64_t users)
{
    uint64_t most = 0;
    if (!f->rule.o.one_step)
        return users;
    for (size_t h = 0; h < f->rule.o.space.horizon; h++)
        most = f->reports[h] > most ? f->reports[h] : most;
    return most;
}

void tacit__tabular_local_levels(const tacit__tabular *f, uint64_t users, double levels[STREAMS])
{
    const double times = f->rule.o.one_step ? (double)f->rule.o.space.horizon : 1;
    for (int i = 0; i < STREAMS; i++)
        levels[i] = users == 0 ? 0 : times * level_of(f, (stream_name)i, (double)users);
}

/* Local levels grow with the number of users. They are computed for a number up to 1 % ahead, which
 * is an upper bound until it is reached. */
double tacit__tabular_level(tacit__tabular *f, stream_name which, uint64_t users)
{
    TACIT__REQUIRE(which < STREAMS);
    if (!tacit__tabular_is_local(&f->rule.o))
        return f->streams[which].level;
    uint64_t reports = most_reports(f, users);
    if (reports > f->level_users) {
        f->level_users = (uint64_t)ceil(1.01 * (double)reports);
        tacit__tabular_local_levels(f, f->level_users, f->local_level);
    }
    return reports > 0 ? f->local_level[which] : 0;
}

tacit__counts tacit__tabular_last(const tacit__tabular *f)
{
    const tacit__tabular_options *o = &f->rule.o;
    tacit__counts out = {.users = o->episodes - 1, .drop_last = o->drop_last};
    double levels[STREAMS] = {f->streams[VISITS].level, f->streams[MOVES].level,
                              f->streams[REWARDS].level};
    if (!tacit__tabular_is_private(o))
        return out;
    if (tacit__tabular_is_local(o))
        tacit__tabular_local_levels(f, out.users, levels);
    out.visits_error = levels[VISITS];
    out.moves_error = levels[MOVES];
    out.rewards_error = levels[REWARDS];
    return out;
}

double tacit__tabular_stddev(const tacit__tabular *f, stream_name which, uint64_t users)
{
    TACIT__REQUIRE(which < STREAMS);
    const tacit__tabular_options *o = &f->rule.o;
    const count_stream *s = noisy_of(f, which);
    double stddev = users == 0 ? 0 : s->stddev;
    if (tacit__tabular_is_local(o))
        stddev = tacit__stream_scale(s->stream) * (o->guarantee.delta == 0 ? M_SQRT2 : 1) *
                 sqrt((double)most_reports(f, users)) *
                 (o->one_step ? (double)o->space.horizon : 1);
    return tacit__tabular_is_released(o, (int)which) ? stddev
                                                     : stddev * sqrt((double)o->space.n_states);
}

/* --- The streams are open ------------------------------------------------------------------------- */

/* Noise of a stream, in units of what its mechanism makes of a step. */
static double scale_of(const tacit_plan *plan, stream_name which)
{
    size_t line = tacit_plan_index(plan, names[which]);
    return tacit_plan_scale(plan, line) / tacit_plan_release(plan, line)->column_l2;
}

/* The conditions of the centered rewards' sensitivity; see the head. */
static tacit_status check_scales(const tacit__tabular_options *o, const tacit_plan *plan,
                                 tacit_error *err)
{
    const stream_name beside = tacit__tabular_is_released(o, VISITS) ? VISITS : MOVES;
    if (!o->centered || o->guarantee.delta == 0)
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
static tacit_status choose_rule(tacit__tabular_rule *rule, tacit_error *err)
{
    const tacit__tabular_options *o = &rule->o;
    const double square = pow(o->user_norm * (double)o->space.horizon, 2);
    int bits = (int)fmin(MOST_BITS, floor((SQUARE_BITS - log2(square)) / 2));
    for (int i = 0; i < STREAMS; i++)
        if (tacit__tabular_is_released(o, i)) {
            const int finest = rule->lattice[i].bits - (i == REWARDS);
            bits = finest < bits ? finest : bits;
        }
    rule->share = (tacit__share_rule){.space = o->space, .user_visits = o->user_visits};
    if (has_budget(o) && bits < LEAST_BITS)
        return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %llu users",
                           (unsigned long long)o->episodes);
    if (has_budget(o)) {
        rule->share.unit = (int64_t)1 << bits;
        rule->share.square = (uint64_t)floor(ldexp(square, 2 * bits));
    } else if (o->user_visits > 0) {
        rule->share.unit = 1;
    }
    return TACIT_OK;
}

tacit_status tacit__tabular_open(tacit__tabular *f, const tacit_plan *plan, tacit_error *err)
{
    TACIT__REQUIRE(tacit__tabular_is_private(&f->rule.o));
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &f->streams[i];
        if (s->stream == NULL)
            continue;
        f->rule.lattice[i] = *tacit__stream_lattice(s->stream);
        s->stddev = tacit_sum_worst_stddev(tacit__stream_sum(s->stream));
    }
    TRY(choose_rule(&f->rule, err));
    for (int i = 0; i < STREAMS && !tacit__tabular_is_local(&f->rule.o); i++)
        f->streams[i].level = joint_level(f, (stream_name)i);
    return check_scales(&f->rule.o, plan, err);
}

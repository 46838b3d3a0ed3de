/* What the curator of weighted counts declares: each stream's bound and the reason for it, the plan
 * and its calibration, and the sums that are opened under it. See curate/weighted_curator.h.
 *
 * One user. Let n(x) be the weight of row x that is counted of a user, m(x, s') that of the moves,
 * r(x) the sum of w (r - 1/2). By contribute/user_share.c, in integers,
 *
 *     |n|_2 <= B            the budget, checked at every visit;
 *     m >= 0, sum_s' m(x, s') = n(x), so |m|_2 <= |n|_2 <= B:   a sum of squares of parts is at most the square
 *     |r(x)| <= n(x) / 2    each term is at most w / 2, rounded toward 0.
 *
 * Replacing the user by another, in the batch of that place in line:
 *
 *     stream    move, L2           proof
 *     moves     sqrt(2) B          m . m' >= 0, so |m - m'|^2 <= |m|^2 + |m'|^2
 *     visits    sqrt(2) B          the same
 *     rewards   B / sqrt(2)        beside the visits, if s_R >= s_N / 2: see below
 *     starts    sqrt(2)            a one in one cell or another
 *
 * Rewards beside visits. A row's part of the squared loss is at most (n - n')^2 / s_N^2 + (n +
 * n')^2 / (4 s_R^2). If s_R >= s_N / 2 the product n n' has a factor that is not positive, and what
 * is left is (n^2 + n'^2) (1 / s_N^2 + 1 / (4 s_R^2)). Summed over the rows that is at most 2 B^2 /
 * s_N^2 + B^2 / (2 s_R^2): as if visits moved by sqrt(2) B and rewards by B / sqrt(2). (The
 * argument of contribute/tabular_reach.c, with weights for ones.) Both sums have the same steps and the
 * same strategy, so that the condition is the same for a user of any batch up to the rounding of
 * the strategies; it is required with a margin of 1e-3.
 *
 * A user is in one batch, and which one follows from the place in line. The weights are functions
 * of earlier releases. So a stream is a running sum over batches whose steps move by no more than
 * the above, and its columns are those of a sum over `releases` steps, not over users.
 *
 * Pure privacy (delta 0) has Laplace noise, and L1 norms count. There is no budget: every visit
 * counts 1, so that a user has at most H in visits and in moves, whatever the trajectory, at most
 * H / 2 in rewards and 1 in first states, and a replaced one moves them by 2 H, 2 H, H and 2 (the
 * triangle inequality).
 *
 * Local privacy has no sums: curate/answers.c.
 *
 * Shares of the budget (mu^2, or epsilon if it is pure) are choices (docs/why/posterior-tabular.md); privacy
 * does not depend on them. A stream without a share is not released. With delta 0 noise falls with the share
 * itself and not with its root, so a second estimate of the visits, which are sums of moves, is too dear
 * unless there are many states; and first states serve only the weights, which there are none of. Nothing
 * follows a single step, and a single state follows itself, so that their moves are not released. */
#include <math.h>

#include "base/error.h"
#include "contribute/table_memory.h"
#include "curate/weighted_curator_inside.h"
#include "sums/lattice.h"
#include "sums/sum_inside.h"
#include "sums/sum_steps.h"

static const char *const names[WEIGHTED_STREAMS] = {"visits", "moves", "rewards", "starts"};

/* Of a single step or state, of a large table with delta 0, and of others. With delta above 0 rewards have
 * at most what visits have: see the head. */
static const double shares[2][WEIGHTED_STREAMS] = {{0.2 * 0.98, 0.6 * 0.98, 0.2 * 0.98, 0.02},
                                                   {0, 0.65, 0.35, 0}};
static const double single_shares[2][WEIGHTED_STREAMS] = {{0.49, 0, 0.49, 0.02},
                                                          {0.45, 0, 0.55, 0}};
static const double large_shares[WEIGHTED_STREAMS] = {0.15, 0.55, 0.3, 0};
/* States from which on the sum of a row's moves is too noisy for its visits. */
enum { LARGE = 30 };
#define MARGIN 1e-3    /* of the rewards' noise above half of the visits' */
#define MOST_BITS 24   /* weights of 2^-24: far below what matters */
#define STEP_BITS 52   /* all users together are exact in doubles */
#define SQUARE_BITS 59 /* the budget, in squared steps, is below 2^60 */
#define LEAST_BITS 10

/* Why a replaced user moves a stream no farther, with the formula that the bound's value comes from. */
static const char *const reasons[WEIGHTED_STREAMS] = {
    "weights of length at most B in a user, B^2 = max(1, min(H, m^2 S A)), none negative: x.x' >= "
    "0, so L2 "
    "sqrt(2) B",
    "a row's moves are parts of its visits, so their length is at most B too: L2 sqrt(2) B",
    "at most half of the visits' weight in each cell; where two users' cells agree the visits "
    "stand still: L2 B / "
    "sqrt(2)",
    "one first state or another: L2 sqrt(2)"};

/* The same for L1 norms. */
static const char *const pure_reasons[WEIGHTED_STREAMS] = {
    "at most H visits that count 1 each, moved to other cells: L1 2H",
    "at most H moves that count 1 each, moved to other cells: L1 2H",
    "at most H numbers r - 1/2: L1 H", "one first state or another: L1 2"};

static bool is_pure(const tacit__weighted *c)
{
    return c->o.guarantee.delta == 0;
}

static double share_of(const tacit__weighted *c, int which)
{
    const bool pure = is_pure(c);
    if (c->o.space.horizon == 1 || c->o.space.n_states == 1)
        return single_shares[pure][which];
    return pure && c->o.space.n_states >= LARGE ? large_shares[which] : shares[pure][which];
}

static double bound_of(const tacit__weighted *c, weighted_stream which)
{
    if (is_pure(c))
        return which == WEIGHTED_STARTS
                   ? 1
                   : (double)c->o.space.horizon / (which == WEIGHTED_REWARDS ? 2 : 1);
    const double b = nextafter(sqrt((double)tacit__weighted_square(c->o.space)), HUGE_VAL);
    return which == WEIGHTED_STARTS ? 1 : which == WEIGHTED_REWARDS ? b / 2 : b;
}

static tacit_sum_spec spec_of(const tacit__weighted *c, weighted_stream which)
{
    const double b = bound_of(c, which);
    tacit_sum_spec spec = {.mechanism = c->o.mechanism,
                           .law = is_pure(c) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                           .dimension = c->streams[which].size,
                           .users = c->o.episodes > 1 ? c->o.episodes - 1 : 1,
                           .visits = c->o.visits,
                           .apart = c->o.apart,
                           .bound = {.l2 = b,
                                     .nonnegative = which != WEIGHTED_REWARDS,
                                     .nonzeros = which == WEIGHTED_STARTS ? 1 : c->o.space.horizon},
                           .sensitivity_on_lattice =
                               true, /* proved of integers, which every finer lattice has */
                           .reason = is_pure(c) ? pure_reasons[which] : reasons[which]};
    if (is_pure(c))
        spec.bound.l1 = b;
    else
        spec.sensitivity_l2 = nextafter(M_SQRT2 * b, HUGE_VAL);
    return spec;
}

/* The lattice of the weights: one that all streams' lattices contain. Without privacy it is as
 * fine, and there is no budget. */
static tacit_status choose_bits(tacit__weighted *c, tacit_error *err)
{
    const uint64_t square = tacit__weighted_square(c->o.space);
    const double most = (double)c->o.episodes * (double)c->o.space.horizon,
                 room = fmin(STEP_BITS - ceil(log2(most)),
                             floor((SQUARE_BITS - log2((double)square)) / 2));
    c->bits = (int)fmin(MOST_BITS, room);
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        if (c->streams[i].sum == NULL)
            continue;
        const int bits = tacit__sum_lattice(c->streams[i].sum)->bits;
        c->bits = bits < c->bits ? bits : c->bits;
    }
    if (c->bits < LEAST_BITS)
        return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %llu users",
                           (unsigned long long)c->o.episodes);
    c->rule = (tacit__share_rule){.space = c->o.space, .weights = c->weights};
    if (tacit__weighted_has_sums(c) && !is_pure(c)) {
        c->rule.user_visits = TACIT__WEIGHTED_VISITS;
        c->rule.square = square << (2 * c->bits);
    }
    return TACIT_OK;
}

/* The calibrator makes s_i ~ (D_i^2 / w_i)^(1/3), D = move times column; a share of mu^2 is
 * D_i^2 / s_i^2, so w = share^(3/2) / D. Laplace noise: s_i ~ (D_i / w_i)^(1/2), a share of epsilon is
 * D_i / s_i, so w = share^2 / D. */
static double weight_of(const tacit__weighted *c, const tacit_release *line, double share)
{
    if (is_pure(c))
        return share * share / (line->l1 * line->column_l1);
    return pow(share, 1.5) / (line->l2 * line->column_l2);
}

static double declared_share(const tacit__weighted *c, int which)
{
    const double above = 1 + 2 * MARGIN, share = share_of(c, which);
    return which == WEIGHTED_REWARDS ? share / (above * above) : share;
}

/* Noise of a stream in units of what its mechanism makes of a step. */
static double scale_of(const tacit_plan *plan, weighted_stream which)
{
    const size_t line = tacit_plan_index(plan, names[which]);
    return tacit_plan_scale(plan, line) / tacit_plan_release(plan, line)->column_l2;
}

static tacit_status declare(const tacit__weighted *c, tacit_plan *plan, tacit_error *err)
{
    const tacit__batches batches = {c->releases, c->at};
    tacit_status status = TACIT_OK;
    for (int i = 0; i < WEIGHTED_STREAMS && status == TACIT_OK; i++) {
        if (share_of(c, i) == 0)
            continue;
        const tacit_sum_spec spec = spec_of(c, (weighted_stream)i);
        tacit_release line;
        TRY(tacit__sum_declare_released(&spec, &batches, names[i], &line, err));
        line.weight = weight_of(c, &line, declared_share(c, i));
        status = tacit_plan_declare(plan, &line, err);
    }
    return status;
}

static tacit_status open_sums(tacit__weighted *c, tacit_noise *noise, tacit_error *err)
{
    const tacit__batches batches = {c->releases, c->at};
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = declare(c, plan, err);
    if (status == TACIT_OK)
        status = tacit_plan_calibrate(plan, c->o.guarantee, err);
    if (status == TACIT_OK &&
        !is_pure(c)) /* the condition of the rewards' sensitivity; see the head */
        TACIT__REQUIRE(scale_of(plan, WEIGHTED_REWARDS) >=
                       0.5 * (1 + MARGIN) * scale_of(plan, WEIGHTED_VISITS));
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    for (int i = 0; i < WEIGHTED_STREAMS && status == TACIT_OK; i++) {
        const tacit_sum_spec spec = spec_of(c, (weighted_stream)i);
        if (share_of(c, i) > 0)
            status = tacit__sum_create_released(&spec, &batches, c->ledger, names[i],
                                                &c->streams[i].sum, err);
        else
            c->streams[i].stddev = HUGE_VAL;
    }
    tacit_plan_destroy(plan);
    return status;
}

tacit_status tacit__weighted_open(tacit__weighted *c, tacit_noise *noise, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (tacit__weighted_has_sums(c))
        status = open_sums(c, noise, err);
    else if (c->o.answers)
        status = tacit__answers_create(&c->o, noise, &c->answers, &c->ledger, err);
    return status == TACIT_OK ? choose_bits(c, err) : status;
}

tacit_status tacit__weighted_gain(const tacit__weighted_options *o, const uint64_t *at,
                                  uint64_t releases, double *out, tacit_error *err)
{
    TACIT__REQUIRE(at != NULL && releases > 0);
    const bool pure = o->guarantee.delta == 0;
    const tacit_sum_spec one = {.mechanism = o->mechanism,
                                .law = pure ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                                .dimension = 1,
                                .users = o->episodes > 1 ? o->episodes - 1 : 1,
                                .visits = o->visits,
                                .apart = o->apart,
                                .bound = {.l1 = pure ? 1 : 0, .l2 = 1}};
    tacit__sum_prediction gain;
    TRY(tacit__sum_predict_released(&one, &(tacit__batches){releases, at}, &gain, err));
    *out = gain.column * gain.row;
    return TACIT_OK;
}

/* The sums, and what is shown of them, must fit into half of the machine's memory. */
tacit_status tacit__weighted_check_memory(const tacit__weighted *c, tacit_error *err)
{
    double needed = 0, cells = 0;
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        const counted_stream *s = &c->streams[i];
        tacit__sum_prediction sum = {0};
        if (tacit__weighted_has_sums(c) && share_of(c, i) > 0) {
            tacit_sum_spec spec = spec_of(c, (weighted_stream)i);
            spec.users = c->releases; /* as large as a sum of this many steps */
            spec.visits = spec.apart = 0;
            TRY(tacit__sum_predict(&spec, &sum, err));
        }
        cells += (double)s->size;
        needed += (double)s->size * (sum.bytes + sizeof *s->exact + sizeof *s->shown);
    }
    return tacit__table_check_memory(&c->o.space, cells, needed, err);
}

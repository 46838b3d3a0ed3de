/* Lattices of the LSVI curator, and its declared releases: sensitivities, reasons, calibration.
 *
 * Everything is an integer before it is added. Features are multiples of 2^-f, cut toward 0, so
 * that their length does not grow; a Gram entry is rounded once for each user to the lattice of the
 * sum, and sqrt(n) lattice steps for n coordinates are added to the declared sensitivity for that;
 * one-hot entries need no rounding. Targets (r + V) / range are multiples of 2^-t, rounded down,
 * which keeps them within [0, 1]; with f + t + 1 + log2(K) <= 53 every sum of products is an exact
 * integer in doubles, in whatever order BLAS or the cache wants it.
 *
 * A response is shown on a lattice of its own, which is as coarse as its noise allows: rounding
 * moves each coordinate of two neighbors' responses apart by at most a step more, and with U the
 * largest |x a - y b|^2 of the pair, (sqrt(U) + s)^2 <= U + 2 s sqrt(4) + s^2 for s = sqrt(d)
 * steps. That is added to the declared sensitivity. Where responses are stretched to the span of values,
 * the product is off by at most 2^-53 of 2^53 steps of the finer lattice, a quarter of a step that is
 * shown, for either neighbor: two steps are declared.
 *
 * Sensitivities before rounding, and the split of the budget, are in lsvi_scheme.c. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/archive/archive_inside.h"
#include "sums/lattice.h"
#include "sums/sum_steps.h"

enum {
    EXACT_BITS = 53,
    MOST_FEATURE_BITS = 18, /* 4e-6: far below any noise, and exact in float32 */
    MOST_TARGET_BITS = 22,
    STRETCH_BITS = 2,    /* by which a stretched response is coarser than what it is made of */
    SHOWN_BITS = 32,     /* lattice steps in a scale: finer ones cost the sampler its fast path */
    EXACT_GRAM_BITS = 26 /* without noise; as many as sums take */
};

#define LEAF_SLACK                                                                                 \
    1.1 /* room for rounding in the bound of a leaf; checked. It costs resolution, no noise */
#define STEP (1 + 1e-6) /* a lattice step, and what doubles lose before they are rounded to it */

static const char gram_name[] = "gram", response_name[] = "responses";

int tacit__lsvi_feature_bits(uint64_t episodes)
{
    TACIT__REQUIRE(episodes > 0);
    int room = (EXACT_BITS - 1 - (int)ceil(log2((double)episodes + 1))) / 2;
    return room < MOST_FEATURE_BITS ? room : MOST_FEATURE_BITS;
}

/* Of targets: exact sums. Features have taken at most half of the bits. */
void tacit__archive_choose_bits(tacit__archive *c)
{
    c->gram_bits = EXACT_GRAM_BITS; /* a running sum brings its own */
    int centered = c->o.centered ? 1 : 0, f = c->o.space.feature_bits;
    const double terms = (double)c->o.episodes * (double)tacit__gram_steps(&c->o.space);
    int room = EXACT_BITS - f - centered - (int)ceil(log2(terms + 1));
    c->target_bits = room < MOST_TARGET_BITS ? room : MOST_TARGET_BITS;
    c->response_bits = c->shown_bits = c->target_bits + f + centered;
    if (!tacit__archive_is_private(c))
        return;
    int coarse = SHOWN_BITS - (int)ceil(log2(c->o.scheme.response_scale));
    const int finest = c->response_bits - (c->o.spans ? STRETCH_BITS : 0);
    c->shown_bits = coarse < finest ? coarse : finest;
}

static const char *gram_reason(const tacit__archive *c)
{
    if (c->o.space.pooled)
        return c->o.scheme.tabled
                   ? "a user's H steps in one matrix: H times |xx'-yy'|_F at its largest over all "
                     "pairs of the public feature table"
                   : "a user's H steps in one matrix: H times |xx'-yy'|_F, |xx'-yy'|_F^2 = "
                     "|x|^4+|y|^4-2(x.y)^2 <= 2";
    return c->o.scheme.tabled ? "|xx'-yy'|_F at its largest over all pairs of the public feature "
                                "table, at each of H steps"
                              : "|xx'-yy'|_F^2 = |x|^4+|y|^4-2(x.y)^2 <= 2 at each of H steps";
}

/* The running sum of Gram matrices, with its lattice, which depends on the declared sensitivity,
 * and that on the lattice: until the step that it has room for is no finer than the one that is
 * chosen for it. Leaves are then on the sum's own lattice. */
static tacit_status gram_spec(const tacit__archive *c, tacit_sum_spec *spec, int *bits,
                              tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    const double H = (double)c->o.space.horizon, P = (double)tacit__gram_steps(&c->o.space),
                 leaf = (double)s->leaf, n = P * (double)c->size; /* roundings of a user */
    const bool rounds = c->o.space.form != TACIT__ONE_HOT;
    double step = 0, needed = 0, l1 = 0, l2 = 0;
    *spec =
        (tacit_sum_spec){.mechanism = s->mechanism,
                         .law = s->law,
                         .dimension = c->size,
                         .users = s->leaves,
                         .visits = c->o.visits,
                         .apart = c->o.apart,
                         .bound = {.l1 = LEAF_SLACK * leaf * H * s->gram_l1 / 2,
                                   .l2 = LEAF_SLACK * leaf * sqrt(H * P)},
                         .sensitivity_on_lattice = true, /* rounding is added here, user by user */
                         .reason = gram_reason(c)};
    do {
        tacit__lattice lattice;
        step = needed;
        l1 = rounds ? n * step : 0;
        l2 = rounds ? sqrt(n * P) * step : 0;
        spec->sensitivity_l1 = H * s->gram_l1 + l1;
        spec->sensitivity_l2 = sqrt(H * P) * s->gram_l2 + l2;
        TRY(tacit__lattice_choose(spec, c->size, &lattice, err));
        *bits = lattice.bits;
        needed = ldexp(STEP, -lattice.bits);
        if (l2 > (LEAF_SLACK - 1) * sqrt(H * P) || l1 > (LEAF_SLACK - 1) * H * s->gram_l1 / 2)
            return tacit__fail(err, TACIT_NO_ROOM,
                               "Gram matrices of %zu numbers and %llu users in a leaf do not fit "
                               "the lattice; use fewer features or more batches",
                               c->size, (unsigned long long)s->leaf);
    } while (needed > step);
    return TACIT_OK;
}

static tacit__fresh_spec fresh_gram_spec(const tacit__archive *c)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    double H = (double)c->o.space.horizon, P = (double)tacit__gram_steps(&c->o.space),
           n = P * (double)c->size, step = ldexp(STEP, -EXACT_GRAM_BITS);
    bool rounds = c->o.space.form != TACIT__ONE_HOT;
    return (tacit__fresh_spec){
        .law = s->law,
        .dimension = c->size,
        .releases = s->leaves,
        .visits = c->o.visits,
        .apart = c->o.apart,
        .ends = c->leaf_ends,
        .bits = EXACT_GRAM_BITS,
        .l1 = H * s->gram_l1 + (rounds ? n * step : 0),
        .l2 = sqrt(H * P) * s->gram_l2 + (rounds ? sqrt(n * P) * step : 0),
        .reason =
            c->o.space.pooled
                ? "fresh releases: for so few less noisy than a running sum; a user's H steps "
                  "in one matrix: H times |xx'-yy'|_F, |xx'-yy'|_F^2 <= 2"
                : "fresh releases: for so few less noisy than a running sum; |xx'-yy'|_F^2 "
                  "<= 2 at each of H steps"};
}

static tacit__fresh_spec response_spec(const tacit__archive *c)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    const char *reason =
        c->o.printed ? "|xa-yb| <= 2 for targets in [0, 1]; every switch asks each of H steps once"
        : s->law == TACIT_LAW_LAPLACE
            ? "|xa-yb|_1 <= |x|_1|a| + |y|_1|b|; every switch asks each of H steps once"
        : c->o.visits > 1 && c->o.spans
            ? "|xa-yb| at its largest, in units of 1 + the span of the released values; every "
              "switch asks each of H steps once, of all visits so far"
        : c->o.visits > 1
            ? "|xa-yb| at its largest; every switch asks each of H steps once, of all visits so far"
        : c->o.spans
            ? "|xx'-yy'|^2 + t|xa-yb|^2 is never larger than both declared moves together, in "
              "units "
              "of 1 + the span of the released values; every switch asks each of H steps once"
            : "|xx'-yy'|^2 + t|xa-yb|^2 is never larger than both declared moves together; every "
              "switch asks each of H steps once";
    double d = (double)c->o.space.dimension, P = (double)tacit__gram_steps(&c->o.space),
           step = c->shown_bits < c->response_bits ? ldexp(c->o.spans ? 2 : 1, -c->shown_bits) : 0,
           move = sqrt(d) * step, l1 = P * s->response_l1 + d * step, exact = P * s->response_l2,
           l2 = sqrt(exact * exact + 4 * P * move + move * move);
    return (tacit__fresh_spec){.law = s->law,
                               .dimension = c->o.space.dimension,
                               .releases = s->switches * c->o.space.horizon,
                               .together = c->o.space.horizon,
                               .visits = c->o.visits,
                               .apart = c->o.apart,
                               .ends = c->switch_ends,
                               .bits = c->shown_bits,
                               .l1 = l1,
                               .l2 = step == 0 ? exact : fmin(l1, l2),
                               .reason = reason};
}

/* Scales: as the scheme found them best, for the sensitivities as they are now declared; or as
 * printed. The weight makes the plan's own split come out at the scheme's ratio. */
static tacit_status calibrate(const tacit__archive *c, tacit_plan *plan, tacit_release *gram,
                              tacit_release *response, tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    double ratio = s->response_scale / s->gram_scale, dg, du;
    if (s->law == TACIT_LAW_GAUSSIAN) {
        dg = gram->l2 * gram->column_l2;
        du = response->l2 * response->column_l2;
        response->weight = du * du / (ratio * ratio * ratio * dg * dg);
    } else {
        dg = gram->l1 * gram->column_l1;
        du = response->l1 * response->column_l1;
        response->weight = du / (ratio * ratio * dg);
    }
    TRY(tacit_plan_declare(plan, gram, err));
    TRY(tacit_plan_declare(plan, response, err));
    if (!c->o.printed)
        return tacit_plan_calibrate(plan, c->o.guarantee, err);
    TRY(tacit_plan_set_scale(plan, gram_name, s->law, s->gram_scale, err));
    return tacit_plan_set_scale(plan, response_name, s->law, s->response_scale, err);
}

/* The condition under which response_l2 was computed; see lsvi_scheme.c. */
static tacit_status check_ratio(const tacit__archive *c, const tacit_plan *plan,
                                const tacit_release *gram, tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    if (c->o.printed || s->law != TACIT_LAW_GAUSSIAN)
        return TACIT_OK;
    double g = tacit_plan_scale(plan, tacit_plan_index(plan, gram_name)) / gram->column_l2,
           u = tacit_plan_scale(plan, tacit_plan_index(plan, response_name));
    const double asked = (double)s->switches * (double)tacit__gram_steps(&c->o.space);
    if (asked * g * g / (u * u) <= s->ratio)
        return TACIT_OK;
    return tacit__fail(err, TACIT_BAD_PLAN,
                       "the split between Gram matrices and responses misses its condition");
}

static tacit_status open_releases(tacit__archive *c, tacit_noise *noise, tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    tacit_plan *plan = NULL;
    tacit_sum_spec sums;
    tacit__fresh_spec fresh = fresh_gram_spec(c), responses = response_spec(c);
    const tacit__batches leaves = {s->leaves, s->leaf > 1 ? c->leaf_ends : NULL};
    tacit_release gram, response;
    tacit_status status = tacit_plan_create(&plan);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    if (s->direct) {
        status = tacit__fresh_declare(&fresh, gram_name, &gram, err);
    } else {
        status = gram_spec(c, &sums, &c->gram_bits, err);
        if (status == TACIT_OK)
            status = tacit__sum_declare_released(&sums, &leaves, gram_name, &gram, err);
    }
    if (status == TACIT_OK)
        status = tacit__fresh_declare(&responses, response_name, &response, err);
    if (status == TACIT_OK)
        status = calibrate(c, plan, &gram, &response, err);
    if (status == TACIT_OK)
        status = check_ratio(c, plan, &gram, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    if (status == TACIT_OK)
        status = s->direct ? tacit__fresh_create(&fresh, c->ledger, gram_name, &c->fresh, err)
                           : tacit__sum_create_released(&sums, &leaves, c->ledger, gram_name,
                                                        &c->sum, err);
    if (status == TACIT_OK)
        status = tacit__fresh_create(&responses, c->ledger, response_name, &c->responses, err);
    tacit_plan_destroy(plan);
    return status;
}

/* Where people come back, when leaves and switches are decides what one person moves. */
tacit_status tacit__archive_open_releases(tacit__archive *c, tacit_noise *noise, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || !tacit__archive_is_private(c));
    const tacit__lsvi_scheme *s = &c->o.scheme;
    const bool come_back = c->o.visits > 1;
    uint64_t *leaves = come_back ? tacit__alloc((size_t)s->leaves, sizeof *leaves) : NULL,
             *switches = come_back ? tacit__alloc((size_t)s->switches, sizeof *switches) : NULL;
    tacit_status status = TACIT_OK;
    if (come_back && (leaves == NULL || switches == NULL)) {
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    } else if (come_back) {
        tacit__lsvi_leaf_ends(s, leaves);
        tacit__lsvi_switch_ends(s, switches);
    }
    c->leaf_ends = leaves;
    c->switch_ends = switches;
    if (status == TACIT_OK)
        status = open_releases(c, noise, err);
    c->leaf_ends = c->switch_ends = NULL;
    tacit__free(leaves);
    tacit__free(switches);
    return status;
}

/* This file builds finite processes: rows are checked, sorted and normalized, then the tables for sampling.
 *
 * A row whose probabilities sum to one up to rounding is kept digit by digit; one that is off by at most
 * SUM_TOLERANCE is divided by its sum; one that is further off is refused. Rewards are mapped by
 * (r - low) / (high - low), so that every step pays between 0 and 1, steps in absorbing states included: an
 * episode always has `horizon` steps, and the value in original units is an affine function of the
 * mapped one. Cost: O(outcomes), and 40 to 48 bytes each. */
#include "worlds/mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

typedef struct builder {
    const tacit__mdp_spec *spec;
    tacit__mdp *mdp;
    tacit_outcome *row; /* [row_max] */
    tacit__alias_scratch alias;
    bool by_outcome; /* some row pays differently by next state */
    tacit_error *err;
} builder;

double tacit__outcomes_sum(const tacit_outcome *outcomes, size_t n)
{
    TACIT__REQUIRE(outcomes != NULL || n == 0);
    double sum = 0, rest = 0; /* Neumaier */
    for (size_t i = 0; i < n; i++) {
        double p = outcomes[i].prob, t = sum + p;
        rest += fabs(sum) >= fabs(p) ? (sum - t) + p : (p - t) + sum;
        sum = t;
    }
    return sum + rest;
}

static int compare(const void *left, const void *right)
{
    const tacit_outcome *a = left, *b = right;
    if (a->next != b->next)
        return a->next < b->next ? -1 : 1;
    return (a->reward > b->reward) - (a->reward < b->reward);
}

/* Sorts, drops what has no probability, adds up what is the same. Returns what is left. */
static size_t sort_and_merge(tacit_outcome *row, size_t n)
{
    TACIT__REQUIRE(row != NULL);
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++)
        sorted = compare(&row[i - 1], &row[i]) < 0;
    if (!sorted)
        qsort(row, n, sizeof *row, compare);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (row[i].prob == 0)
            continue;
        if (kept > 0 && compare(&row[kept - 1], &row[i]) == 0)
            row[kept - 1].prob += row[i].prob;
        else
            row[kept++] = row[i];
    }
    return kept;
}

/* Probabilities are positive numbers that sum to one; afterwards exactly, up to rounding. */
static bool normalize(tacit_outcome *row, size_t n, double *sum)
{
    *sum = tacit__outcomes_sum(row, n);
    bool positive = true;
    for (size_t i = 0; i < n; i++)
        positive = positive && row[i].prob > 0;
    if (!positive || !(fabs(*sum - 1) <= TACIT__SUM_TOLERANCE))
        return false;
    if (fabs(*sum - 1) > (double)n * 0x1p-53) /* more than n roundings of decimal digits explain */
        for (size_t i = 0; i < n; i++)
            row[i].prob /= *sum;
    return true;
}

static double map_reward(const tacit__mdp *mdp, double reward)
{
    TACIT__REQUIRE(mdp->reward_low < mdp->reward_high);
    double mapped = (reward - mdp->reward_low) / (mdp->reward_high - mdp->reward_low);
    return fmin(fmax(mapped, 0), 1); /* rounding only: bounds have been checked */
}

static tacit_status check_row(const builder *b, size_t layer, uint32_t s, uint32_t a, size_t n)
{
    const tacit__mdp_spec *spec = b->spec;
    for (size_t i = 0; i < n; i++) {
        if (b->row[i].next >= spec->n_states)
            return tacit__fail(b->err, TACIT_BAD_ARGUMENT,
                               "step %zu, state %u, action %u leads to state %u; there are %zu",
                               layer, s, a, b->row[i].next, spec->n_states);
        if (!(b->row[i].reward >= spec->reward_low && b->row[i].reward <= spec->reward_high))
            return tacit__fail(b->err, TACIT_OUT_OF_BOUND,
                               "step %zu, state %u, action %u pays %g, outside [%g, %g]", layer, s,
                               a, b->row[i].reward, spec->reward_low, spec->reward_high);
    }
    double sum;
    if (n == 0 || !normalize(b->row, n, &sum))
        return tacit__fail(
            b->err, TACIT_BAD_ARGUMENT,
            "step %zu, state %u, action %u: probabilities must be positive and sum to 1, "
            "they sum to %.9g",
            layer, s, a, tacit__outcomes_sum(b->row, n));
    return TACIT_OK;
}

/* One row into the sparse arrays. */
static void store_row(builder *b, size_t row, size_t n)
{
    TACIT__REQUIRE(n > 0 && row < b->mdp->n_rows);
    tacit__mdp *mdp = b->mdp;
    size_t start = mdp->n_outcomes;
    bool same = true;
    double expected = 0;
    for (size_t i = 0; i < n; i++) {
        double reward = map_reward(mdp, b->row[i].reward);
        mdp->next[start + i] = b->row[i].next;
        mdp->prob[start + i] = b->row[i].prob;
        mdp->outcome_reward[start + i] = reward;
        expected += b->row[i].prob * reward;
        same = same && b->row[i].reward == b->row[0].reward;
    }
    mdp->reward[row] = same ? mdp->outcome_reward[start] : fmin(expected, 1);
    b->by_outcome = b->by_outcome || !same;
    tacit__alias_build(n, mdp->prob + start, mdp->next + start, b->alias, mdp->bucket + start,
                       mdp->other + start);
    mdp->width = n > mdp->width ? n : mdp->width;
    mdp->n_outcomes += n;
    mdp->start[row + 1] = (uint32_t)mdp->n_outcomes;
}

static tacit_status store_rows(builder *b)
{
    const tacit__mdp_spec *spec = b->spec;
    size_t row = 0;
    for (size_t layer = 0; layer < b->mdp->n_layers; layer++)
        for (uint32_t s = 0; s < spec->n_states; s++)
            for (uint32_t a = 0; a < spec->n_actions; a++) {
                size_t n = sort_and_merge(b->row, spec->row(spec->context, layer, s, a, b->row));
                TRY(check_row(b, layer, s, a, n));
                store_row(b, row++, n);
            }
    if (!b->by_outcome) {
        tacit__workspace_destroy(b->mdp->outcome_reward);
        b->mdp->outcome_reward = NULL;
        b->mdp->other = NULL;
    }
    return TACIT_OK;
}

static tacit_status store_initial(builder *b)
{
    static const tacit_outcome first = {.next = 0, .prob = 1};
    tacit__mdp *mdp = b->mdp;
    bool given = b->spec->initial != NULL;
    size_t n = given ? b->spec->n_initial : 1;
    const tacit_outcome *initial = given ? b->spec->initial : &first;
    for (size_t i = 0; i < n; i++) {
        b->row[i] = (tacit_outcome){.next = initial[i].next, .prob = initial[i].prob};
        if (initial[i].next >= mdp->n_states)
            return tacit__fail(b->err, TACIT_BAD_ARGUMENT, "initial state %u; there are %zu states",
                               initial[i].next, mdp->n_states);
    }
    double sum = 0;
    n = sort_and_merge(b->row, n);
    if (n == 0 || !normalize(b->row, n, &sum))
        return tacit__fail(
            b->err, TACIT_BAD_ARGUMENT,
            "the initial probabilities must be positive and sum to 1, they sum to %.9g", sum);
    for (size_t i = 0; i < n; i++) {
        mdp->initial[i] = b->row[i].next;
        mdp->initial_prob[i] = b->row[i].prob;
    }
    mdp->n_initial = n;
    tacit__alias_build(n, mdp->initial_prob, mdp->initial, b->alias, mdp->initial_bucket, NULL);
    return TACIT_OK;
}

/* Rows of equal width, where they are all short: no row lengths to look up, no loops to predict. */
static tacit_status store_narrow(builder *b)
{
    tacit__mdp *mdp = b->mdp;
    if (mdp->width > TACIT__NARROW)
        mdp->width = 0;
    if (mdp->width == 0)
        return TACIT_OK;
    if (TACIT__PIECES(TACIT__PIECE(mdp->narrow_next, mdp->n_rows * mdp->width),
                      TACIT__PIECE(mdp->narrow_prob, mdp->n_rows * mdp->width)) == NULL)
        return tacit__fail_plain(b->err, TACIT_NO_MEMORY);
    for (size_t row = 0; row < mdp->n_rows; row++) {
        size_t n = mdp->start[row + 1] - mdp->start[row];
        memcpy(mdp->narrow_next + row * mdp->width, mdp->next + mdp->start[row],
               n * sizeof *mdp->next);
        memcpy(mdp->narrow_prob + row * mdp->width, mdp->prob + mdp->start[row],
               n * sizeof *mdp->prob);
    }
    return TACIT_OK;
}

/* Which states can be met at steps 1 .. horizon + 1. seen[s] is the last step at which s was entered into
 * the list; a stationary process need not go on from a state twice. */
static tacit_status store_unreachable(builder *b)
{
    tacit__mdp *mdp = b->mdp;
    size_t S = mdp->n_states;
    uint32_t *seen, *now, *later;
    if (TACIT__PIECES(TACIT__PIECE(seen, S), TACIT__PIECE(now, S), TACIT__PIECE(later, S)) == NULL)
        return tacit__fail_plain(b->err, TACIT_NO_MEMORY);
    size_t n_now = 0;
    for (size_t i = 0; i < mdp->n_initial; i++) {
        now[n_now++] = mdp->initial[i];
        seen[mdp->initial[i]] = 1;
    }
    for (uint32_t h = 0; h < mdp->horizon && n_now > 0; h++) {
        size_t n_later = 0, layer = mdp->n_layers == 1 ? 0 : h;
        for (size_t i = 0; i < n_now; i++) {
            const uint32_t *start = mdp->start + (layer * S + now[i]) * mdp->n_actions;
            for (uint32_t j = start[0]; j < start[mdp->n_actions]; j++) {
                uint32_t s = mdp->next[j];
                if (mdp->n_layers == 1 ? seen[s] != 0 : seen[s] == h + 2)
                    continue;
                seen[s] = h + 2;
                later[n_later++] = s;
            }
        }
        uint32_t *swap = now;
        now = later;
        later = swap;
        n_now = n_later;
    }
    for (uint32_t s = 0; s < S; s++)
        if (seen[s] == 0)
            mdp->unreachable[mdp->n_unreachable++] = s;
    tacit__workspace_destroy(seen);
    return TACIT_OK;
}

static tacit_status check_spec(const tacit__mdp_spec *spec, size_t *rows, size_t *total,
                               tacit_error *err)
{
    if (spec->n_states == 0 || spec->n_actions == 0 || spec->horizon == 0 || spec->row_max == 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a world needs states, actions and a horizon");
    if (!isfinite(spec->reward_low) || !isfinite(spec->reward_high) ||
        !(spec->reward_low < spec->reward_high))
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "reward bounds are %g and %g, expected finite numbers, the first smaller",
            spec->reward_low, spec->reward_high);
    size_t layers = spec->stationary ? 1 : spec->horizon;
    *total = spec->total_max;
    if (spec->n_states > TACIT__MAX_STATES || spec->n_actions > TACIT__MAX_ACTIONS ||
        spec->horizon > TACIT__MAX_HORIZON ||
        __builtin_mul_overflow(layers, spec->n_states * spec->n_actions, rows) ||
        (*total == 0 && __builtin_mul_overflow(*rows, spec->row_max, total)) ||
        *rows > TACIT__MAX_OUTCOMES || *total > TACIT__MAX_OUTCOMES)
        return tacit__fail(
            err, TACIT_TOO_LARGE,
            "%zu states, %zu actions and %zu layer%s of up to %zu outcomes are too many; "
            "at most %d outcomes can be kept",
            spec->n_states, spec->n_actions, layers, layers == 1 ? "" : "s", spec->row_max,
            TACIT__MAX_OUTCOMES);
    const size_t rounds = spec->stationary ? spec->horizon : 1; /* through all outcomes */
    if (spec->horizon * spec->n_states > TACIT__MAX_POLICY ||
        (double)*total * (double)rounds > TACIT__MAX_SOLVING)
        return tacit__fail(
            err, TACIT_TOO_LARGE,
            "%zu states, %zu actions and %zu steps are too many: a policy would have "
            "%zu actions, of at most %d, and computing its value would take longer "
            "than half a minute",
            spec->n_states, spec->n_actions, spec->horizon, spec->horizon * spec->n_states,
            TACIT__MAX_POLICY);
    return TACIT_OK;
}

tacit_status tacit__mdp_check_size(const tacit__mdp_spec *spec, size_t effort, tacit_error *err)
{
    TACIT__REQUIRE(effort > 0);
    size_t rows = 0, total = 0;
    tacit_status status = check_spec(spec, &rows, &total, err);
    if (status == TACIT_OK && (double)total * (double)effort > TACIT__MAX_SOLVING)
        status = tacit__fail(err, TACIT_TOO_LARGE,
                             "%zu outcomes that are sums of %zu numbers take longer than half a "
                             "minute to compute",
                             total, effort);
    return status;
}

/* Rewards by outcome are apart, because most worlds give them back. */
static bool allocate(builder *b, size_t rows, size_t total)
{
    const tacit__mdp_spec *spec = b->spec;
    const size_t n_initial = spec->initial != NULL ? spec->n_initial : 1;
    const size_t longest = n_initial > spec->row_max ? n_initial : spec->row_max;
    tacit__mdp w = {.n_states = spec->n_states,
                    .n_actions = spec->n_actions,
                    .horizon = spec->horizon,
                    .n_layers = spec->stationary ? 1 : spec->horizon,
                    .n_rows = rows,
                    .reward_low = spec->reward_low,
                    .reward_high = spec->reward_high};
    b->mdp = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.start, rows + 1), TACIT__PIECE(w.next, total),
        TACIT__PIECE(w.prob, total), TACIT__PIECE(w.reward, rows), TACIT__PIECE(w.bucket, total),
        TACIT__PIECE(w.initial, n_initial), TACIT__PIECE(w.initial_prob, n_initial),
        TACIT__PIECE(w.initial_bucket, n_initial), TACIT__PIECE(w.unreachable, w.n_states));
    return b->mdp != NULL &&
           TACIT__PIECES(TACIT__PIECE(b->mdp->outcome_reward, total),
                         TACIT__PIECE(b->mdp->other, total)) != NULL &&
           TACIT__PIECES(TACIT__PIECE(b->row, longest), TACIT__PIECE(b->alias.mass, longest),
                         TACIT__PIECE(b->alias.stack, longest)) != NULL;
}

tacit_status tacit__mdp_create(const tacit__mdp_spec *spec, tacit__mdp **out, tacit_error *err)
{
    TACIT__REQUIRE(spec->row != NULL && (spec->initial != NULL || spec->n_initial == 0));
    size_t rows = 0, total = 0;
    TRY(check_spec(spec, &rows, &total, err));
    builder b = {.spec = spec, .err = err};
    tacit_status status =
        allocate(&b, rows, total) ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        status = store_rows(&b);
    if (status == TACIT_OK)
        status = store_initial(&b);
    if (status == TACIT_OK)
        status = store_narrow(&b);
    if (status == TACIT_OK)
        status = store_unreachable(&b);
    tacit__workspace_destroy(b.row);
    if (status == TACIT_OK)
        *out = b.mdp;
    else
        tacit__mdp_destroy(b.mdp);
    return status;
}

void tacit__mdp_destroy(tacit__mdp *mdp)
{
    if (mdp == NULL)
        return;
    tacit__workspace_destroy(mdp->outcome_reward);
    tacit__workspace_destroy(mdp->narrow_next);
    tacit__workspace_destroy(mdp);
}

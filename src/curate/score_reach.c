/* Scores of a public table, and how far apart two users' can be: the sensitivity of curate/score_curator.c,
 * in integers.
 *
 * A user adds, for each of L steps, one row of the public table T (what happened), and `start` in
 * one of the cells of the first states. Replace the user:
 *
 *     each step moves by T - T', two rows of the table:  |T - T'|^2 <= D^2, the diameter squared;
 *     the first state by a one in one cell or another:   2 start^2;
 *     all of it by at most sqrt(L D^2 + 2 start^2).
 *
 * Where rewards are learned, the user adds W (y - 1/2) in the cell of the pair as well, at all L + 1
 * steps. Two users at the same pair move that cell by W |y - y'| <= W, at different pairs two cells by W /
 * 2 each at most:
 *
 *     each step moves by  max(D_same^2 + W^2, D_other^2 + W^2 / 2),  the last one by W^2,
 *
 * D_same and D_other the largest distances of rows of one pair, and of two.
 *
 * All rows of the table count, also those that no kernel allows: what a person says happened need
 * not be possible. D^2 is exact: rows are integers. Up to ENUMERATED rows all pairs are compared.
 * Above, D <= 2 max |T|: every two rows lie in that ball around 0, which the planner has put in the
 * middle of the box that the rows lie in.
 *
 * `start` is chosen so that first states take 1/16 of the steps' part, start^2 = L D^2 / 32 (a table
 * of equal rows: one unit); less noise for scores would mean more for starts, which
 * docs/why/posterior-mixture.md#first-states weighs. Privacy does not depend on the choice. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/int128.h"
#include "curate/score_curator.h"

enum { ENUMERATED = 4096 };
#define START_SHARE (1.0 / 32)
#define MOST_START 16.0 /* units: so that K of them have room, plan/mixture_model.c */

static tacit__u128 distance(const int32_t *x, const int32_t *y, size_t n)
{
    tacit__u128 square = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t move = (int64_t)x[i] - y[i];
        const tacit__u128 size = (uint64_t)(move < 0 ? -move : move);
        square += size * size;
    }
    return square;
}

/* The largest move of a step, squared; `reward`: W^2. */
static tacit__u128 enumerate(const tacit__score_table *t, size_t n, tacit__u128 reward)
{
    tacit__u128 most = reward;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const bool same = i / t->n_states == j / t->n_states;
            const tacit__u128 square =
                distance(t->scores + i * t->width, t->scores + j * t->width, t->width) +
                (same ? reward : reward / 2);
            most = square > most ? square : most;
        }
    return most;
}

/* (2 max |T|)^2 */
static tacit__u128 enclose(const int32_t *rows, size_t n, size_t width)
{
    tacit__u128 most = 0;
    for (size_t i = 0; i < n; i++) {
        tacit__u128 square = 0;
        for (size_t j = 0; j < width; j++) {
            const int64_t number = rows[i * width + j];
            square += (uint64_t)(number * number);
        }
        most = square > most ? square : most;
    }
    return 4 * most;
}

void tacit__score_form_reach(tacit__score_form *f, tacit__u128 moved)
{
    TACIT__REQUIRE(f->bits >= 0 && f->bits < 62);
    const double unit = ldexp(1, f->bits), wanted = sqrt((double)moved * START_SHARE);
    f->start = (int64_t)(moved > 0 ? fmin(fmax(1, wanted), MOST_START * unit) : unit);
    const tacit__u128 square = moved + 2 * (tacit__u128)f->start * (tacit__u128)f->start;
    /* Conversion and root are off by at most 1.5 units of 2^-53 together; each step up is one or more. */
    const double root = nextafter(nextafter(sqrt((double)square), HUGE_VAL), HUGE_VAL);
    f->l2 = ldexp(root, -f->bits);
}

static void write_rows(const void *context, const tacit_trajectory *u, int64_t *out)
{
    const tacit__score_table *t = context;
    for (size_t h = 0; h < t->steps; h++) {
        const size_t pair = (size_t)u->states[h] * t->n_actions + u->actions[h];
        const int32_t *score = t->scores + (pair * t->n_states + u->states[h + 1]) * t->width;
        for (size_t i = 0; i < t->width; i++)
            out[h * t->width + i] = score[i];
    }
    if (t->reward == 0)
        return;
    const size_t first = tacit__score_table_rewards(t, 0), pairs = t->n_states * t->n_actions;
    memset(out + first, 0, (t->steps + 1) * pairs * sizeof *out);
    for (size_t h = 0; h <= t->steps; h++) {
        const int64_t y = llrint(ldexp(u->rewards[h], TACIT__REWARD_BITS));
        out[first + h * pairs + (size_t)u->states[h] * t->n_actions + u->actions[h]] =
            t->reward * (2 * y - (1 << TACIT__REWARD_BITS));
    }
}

tacit__score_form tacit__score_form_of_table(const tacit__score_table *t)
{
    TACIT__REQUIRE(t->steps > 0);
    const size_t rows = t->n_states * t->n_actions * t->n_states;
    /* W is even, and W / 2 an int32 */
    const tacit__u128 whole = (tacit__u128)t->reward << (TACIT__REWARD_BITS + 1),
                      reward = whole * whole;
    TACIT__REQUIRE(t->reward >= 0 && whole < (tacit__u128)1 << 32);
    const tacit__u128 diameter = rows <= ENUMERATED ? enumerate(t, rows, reward)
                                                    : enclose(t->scores, rows, t->width) + reward;
    tacit__score_form f = {
        .n_states = t->n_states,
        .n_actions = t->n_actions,
        .horizon = t->steps + 1,
        .numbers = tacit__score_table_rewards(t, t->steps + 1),
        .bits = t->bits,
        .largest = 0x1p32, /* an int32, or the start, below 2^32 */
        .reason =
            t->reward > 0
                ? "L steps, each one row of a public table or another, and L + 1 rewards, from "
                  "their "
                  "middle, in one cell or another: the worst two rows and rewards of a step, W^2 "
                  "for "
                  "the last reward, and one first state or another; a user is in one batch only, "
                  "so "
                  "batches compose in parallel"
                : "L steps, each one row of a public table or another, and one first state or "
                  "another: sqrt(L D^2 + 2 start^2), D the table's diameter; a user is in one "
                  "batch "
                  "only, so batches compose in parallel",
        .write = write_rows,
        .context = t};
    /* below 2^64 for each number of a score, and memory holds no 2^60 numbers */
    const tacit__u128 steps = diameter * t->steps + reward;
    tacit__score_form_reach(&f, steps);
    return f;
}

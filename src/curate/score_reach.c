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
 * All rows of the table count, also those that no kernel allows: what a person says happened need
 * not be possible. D^2 is exact: rows are integers. Up to ENUMERATED rows all pairs are compared.
 * Above, D <= 2 max |T|: every two rows lie in that ball around 0, which the planner has put in the
 * middle of the box that the rows lie in.
 *
 * `start` is chosen so that first states take 1/16 of the steps' part, start^2 = L D^2 / 32 (a table
 * of equal rows: one unit); less noise for scores would mean more for starts, which
 * docs/why/posterior-mixture.md#first-states weighs. Privacy does not depend on the choice. */
#include <math.h>

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

static tacit__u128 enumerate(const int32_t *rows, size_t n, size_t width)
{
    tacit__u128 most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const tacit__u128 square = distance(rows + i * width, rows + j * width, width);
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
}

tacit__score_form tacit__score_form_of_table(const tacit__score_table *t)
{
    TACIT__REQUIRE(t->steps > 0);
    const size_t rows = t->n_states * t->n_actions * t->n_states;
    const tacit__u128 diameter = rows <= ENUMERATED ? enumerate(t->scores, rows, t->width)
                                                    : enclose(t->scores, rows, t->width);
    tacit__score_form f = {
        .n_states = t->n_states,
        .n_actions = t->n_actions,
        .horizon = t->steps + 1,
        .numbers = t->steps * t->width,
        .bits = t->bits,
        .largest = 0x1p32, /* an int32, or the start, below 2^32 */
        .reason =
            "L steps, each one row of a public table or another, and one first state or "
            "another: sqrt(L D^2 + 2 start^2), D the table's diameter; a user is in one batch "
            "only, so batches compose in parallel",
        .write = write_rows,
        .context = t};
    /* below 2^64 for each number of a score, and memory holds no 2^60 numbers */
    const tacit__u128 steps = diameter * t->steps;
    tacit__score_form_reach(&f, steps);
    return f;
}

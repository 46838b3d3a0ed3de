/* Scores of a public table, and how far apart two users' can be: the sensitivity of contribute/scores.c,
 * in integers.
 *
 * A user adds, for each of L steps, one row of the public table T (what happened), and `start` in
 * one of the cells of the first states. Replace the user:
 *
 *     each step moves by T - T', two rows of the table;
 *     the first state by a one in one cell or another:   2 start^2.
 *
 * Where rewards are learned, the user adds W (y - 1/2) in the cell of the pair as well, at all L + 1
 * steps. Two users at the same pair move that cell by W |y - y'| <= W, at different pairs two cells by W /
 * 2 each at most: a step moves by
 *
 *     m(i, j) = |T_i - T_j|^2 + W^2 (rows of one pair) or W^2 / 2 (of two),    the last one by W^2 or W^2 / 2.
 *
 * A user begins a step where the step before ended. So all steps together move by the worst two ways through
 * the table, of a user at s and the one in their place at t with h steps to go:
 *
 *     V_0(s, t) = W^2 if s = t, else W^2 / 2,
 *     V_h(s, t) = max over rows i from s to s' and j from t to t' of  m(i, j) + V_{h-1}(s', t'),
 *
 * and all of it by at most sqrt(max V_L + 2 start^2): a user's squared distance is the sum of its steps', and
 * V is the largest such sum by induction over h. It is less than L times the worst step, after which two
 * users often cannot take it again.
 *
 * All rows of the table count, also those that no kernel allows: what a person says happened need
 * not be possible. V is exact: rows are integers. Where that would take too long, each step counts as the
 * worst one, and with more than ENUMERATED rows a step as (2 max |T|)^2 + W^2: every two rows lie in that
 * ball around 0, which the planner has put in the middle of the box that the rows lie in.
 *
 * With delta 0 the same is done in L1, where |T_i - T_j|_1 replaces the square, rewards move by W whatever
 * the pairs are (W / 2 in each of two cells, or W in one), and first states by 2 start: L1 norms of steps add
 * up, so V_L + 2 start by the same induction.
 *
 * `start` is chosen so that first states take 1/16 of the steps' part, start^2 = V / 32 (a table
 * of equal rows: one unit), with delta 0 start = V / 32; less noise for scores would mean more for starts,
 * which docs/why/posterior-mixture.md#first-states weighs. Privacy does not depend on the choice. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/int128.h"
#include "base/workspace.h"
#include "contribute/scores.h"

enum { ENUMERATED = 4096 };
/* Moves that are kept, 16 bytes each, and additions: as long as all pairs of ENUMERATED rows take. */
enum { MOST_MOVES = 1 << 18, MOST_SUMS = 1 << 24 };
#define START_SHARE (1.0 / 32)
#define MOST_START 16.0 /* units: so that K of them have room, mixture_model.c */

/* How moves are measured: squares of L2, or L1; and what a reward adds for two users at one pair, and at
 * two. */
typedef struct norm {
    bool is_l1;
    tacit__u128 same, apart;
} norm;

/* `whole`: W, in lattice steps. */
static norm norm_of(bool is_l1, tacit__u128 whole)
{
    return is_l1 ? (norm){true, whole, whole} : (norm){false, whole * whole, whole * whole / 2};
}

static tacit__u128 distance(const int32_t *x, const int32_t *y, size_t n, bool is_l1)
{
    tacit__u128 sum = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t move = (int64_t)x[i] - y[i];
        const tacit__u128 size = (uint64_t)(move < 0 ? -move : move);
        sum += is_l1 ? size : size * size;
    }
    return sum;
}

/* How far rows i and j of a step are apart. */
static tacit__u128 move_of(const tacit__score_table *t, size_t i, size_t j, norm by)
{
    const bool same = i / t->n_states == j / t->n_states;
    return distance(t->scores + i * t->width, t->scores + j * t->width, t->width, by.is_l1) +
           (same ? by.same : by.apart);
}

static void keep_larger(tacit__u128 *most, tacit__u128 to)
{
    *most = to > *most ? to : *most;
}

/* The largest move of a step. */
static tacit__u128 enumerate(const tacit__score_table *t, size_t n, norm by)
{
    tacit__u128 most = by.same;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            keep_larger(&most, move_of(t, i, j, by));
    return most;
}

/* --- Ways through the table ------------------------------------------------------------------------ */

/* Whether all of it fits into MOST_MOVES and MOST_SUMS. */
static bool can_follow(const tacit__score_table *t)
{
    const double states = (double)t->n_states, moves = states * states * states * states;
    return moves <= MOST_MOVES && moves * (double)t->steps <= MOST_SUMS;
}

/* moves [from, from][to, to]: the largest of a step that takes two users from two states to two. */
static void write_moves(const tacit__score_table *t, norm by, tacit__u128 *moves)
{
    const size_t S = t->n_states, rows = S * t->n_actions * S;
    memset(moves, 0, S * S * S * S * sizeof *moves);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j <= i; j++) {
            const size_t s = i / S / t->n_actions, u = j / S / t->n_actions;
            const tacit__u128 move = move_of(t, i, j, by);
            keep_larger(&moves[((s * S + u) * S + i % S) * S + j % S], move);
            keep_larger(&moves[((u * S + s) * S + j % S) * S + i % S], move);
        }
}

/* max V_L of the head. */
static tacit_status follow(const tacit__score_table *t, norm by, tacit__u128 *out)
{
    const size_t S = t->n_states, places = S * S;
    tacit__u128 *moves, *here, *after;
    void *pieces = TACIT__PIECES({&moves, places, places * sizeof *moves},
                                 TACIT__PIECE(here, places), TACIT__PIECE(after, places));
    if (pieces == NULL)
        return TACIT_NO_MEMORY;
    write_moves(t, by, moves);
    for (size_t i = 0; i < places; i++)
        here[i] = i / S == i % S ? by.same : by.apart;
    for (size_t h = 0; h < t->steps; h++) {
        memcpy(after, here, places * sizeof *after);
        for (size_t i = 0; i < places; i++) {
            here[i] = 0;
            for (size_t j = 0; j < places; j++)
                keep_larger(&here[i], moves[i * places + j] + after[j]);
        }
    }
    *out = 0;
    for (size_t i = 0; i < places; i++)
        keep_larger(out, here[i]);
    tacit__workspace_destroy(pieces);
    return TACIT_OK;
}

/* --- Large tables ---------------------------------------------------------------------------------- */

/* (2 max |T|)^2, or 2 max |T|_1 */
static tacit__u128 enclose(const int32_t *rows, size_t n, size_t width, bool is_l1)
{
    static const int32_t origin[1];
    tacit__u128 most = 0;
    for (size_t i = 0; i < n; i++) {
        tacit__u128 size = 0;
        for (size_t j = 0; j < width; j++)
            size += distance(rows + i * width + j, origin, 1, is_l1);
        keep_larger(&most, size);
    }
    return (is_l1 ? 2 : 4) * most;
}

/* Conversion and root are off by at most 1.5 units of 2^-53 together; each step up is one or more. */
static double round_up(double x)
{
    return nextafter(nextafter(x, HUGE_VAL), HUGE_VAL);
}

static void set_start(tacit__score_form *f, tacit__u128 moved, double wanted)
{
    const double unit = ldexp(1, f->bits);
    f->start = (int64_t)(moved > 0 ? fmin(fmax(1, wanted), MOST_START * unit) : unit);
}

void tacit__score_form_reach(tacit__score_form *f, tacit__u128 moved)
{
    TACIT__REQUIRE(f->bits >= 0 && f->bits < 62);
    set_start(f, moved, sqrt((double)moved * START_SHARE));
    const tacit__u128 square = moved + 2 * (tacit__u128)f->start * (tacit__u128)f->start;
    f->l2 = ldexp(round_up(sqrt((double)square)), -f->bits);
}

/* The same in L1. */
static void reach_l1(tacit__score_form *f, tacit__u128 moved)
{
    TACIT__REQUIRE(f->bits >= 0 && f->bits < 62);
    set_start(f, moved, (double)moved * START_SHARE);
    const tacit__u128 both = moved + 2 * (tacit__u128)f->start;
    f->l1 = ldexp(round_up((double)both), -f->bits);
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

/* How far all steps of a user move. */
static tacit_status find_moved(const tacit__score_table *t, norm by, tacit__u128 *out)
{
    const size_t rows = t->n_states * t->n_actions * t->n_states;
    if (rows <= ENUMERATED && can_follow(t))
        return follow(t, by, out);
    const tacit__u128 diameter = rows <= ENUMERATED
                                     ? enumerate(t, rows, by)
                                     : enclose(t->scores, rows, t->width, by.is_l1) + by.same;
    /* below 2^64 for each number of a score, and memory holds no 2^60 numbers */
    *out = diameter * t->steps + by.same;
    return TACIT_OK;
}

#define IN_PARALLEL "; a user is in one batch only, so batches compose in parallel"
static const char *const reasons[2][2] = {
    {"L steps, each one row of a public table or another: the worst two ways through the table, "
     "and one first state or another" IN_PARALLEL,
     "L steps, each one row of a public table or another, and L + 1 rewards, from their middle, in "
     "one cell or another: the worst two ways through the table with the worst rewards, and one "
     "first state or another" IN_PARALLEL},
    {"L steps, each one row of a public table or another: the worst two ways through the table in "
     "L1, and one first state or another, 2 starts" IN_PARALLEL,
     "L steps, each one row of a public table or another, and L + 1 rewards, from their middle, in "
     "one cell or another: the worst two ways through the table in L1, each with a whole reward, "
     "and one first state or another, 2 starts" IN_PARALLEL}};

tacit_status tacit__score_form_of_table(const tacit__score_table *t, bool is_l1,
                                        tacit__score_form *out)
{
    TACIT__REQUIRE(t->steps > 0);
    /* W is even, and W / 2 an int32 */
    const tacit__u128 whole = (tacit__u128)t->reward << (TACIT__REWARD_BITS + 1);
    TACIT__REQUIRE(t->reward >= 0 && whole < (tacit__u128)1 << 32);
    tacit__u128 moved = 0;
    *out = (tacit__score_form){.n_states = t->n_states,
                               .n_actions = t->n_actions,
                               .horizon = t->steps + 1,
                               .numbers = tacit__score_table_rewards(t, t->steps + 1),
                               .bits = t->bits,
                               .largest = 0x1p32, /* an int32, or the start, below 2^32 */
                               .reason = reasons[is_l1][t->reward > 0],
                               .write = write_rows,
                               .context = t,
                               .table = t};
    TRY(find_moved(t, norm_of(is_l1, whole), &moved));
    if (is_l1)
        reach_l1(out, moved);
    else
        tacit__score_form_reach(out, moved);
    return TACIT_OK;
}

/* The movement of a step from the public table: no two users and no values are farther apart than is proved, by hill climbing
 * over pairs, values and targets, and the proof is within a percent of what is found. */
#include "contribute/table_reach.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "support/check.h"
#include "support/random.h"

enum { MAX_D = 4, MAX_S = 7, MAX_PAIRS = 12, STARTS = 300, MOVES = 400 };

typedef struct table {
    size_t d, S, pairs;
    double parts[MAX_S * MAX_D * MAX_PAIRS];
} table;

static double part(const table *t, size_t pair, size_t j, size_t next)
{
    return t->parts[(next * t->d + j) * t->pairs + pair];
}

/* Kernels over sqrt(d), or with `negative` the same with random signs; concentrated on few states if `sharp`. */
static table random_table(uint64_t *r, size_t d, size_t S, size_t pairs, bool negative, bool sharp)
{
    table t = {.d = d, .S = S, .pairs = pairs};
    for (size_t p = 0; p < pairs; p++)
        for (size_t j = 0; j < d; j++) {
            double row[MAX_S], sum = 0;
            for (size_t next = 0; next < S; next++) {
                row[next] = sharp && random_below(r, 3) > 0 ? 0 : -log(random_unit(r));
                sum += row[next];
            }
            for (size_t next = 0; next < S && sum > 0; next++)
                t.parts[(next * d + j) * pairs + p] =
                    row[next] / (sum * sqrt((double)d)) *
                    (negative && random_below(r, 2) == 0 ? -1 : 1);
        }
    return t;
}

static tacit__part_table face(const table *t, double low, bool weighted)
{
    return (tacit__part_table){.parts = t->parts,
                               .n_states = t->S,
                               .width = t->d,
                               .pairs = t->pairs,
                               .low = low,
                               .weighted = weighted};
}

/* Two users and what they meet. */
typedef struct meeting {
    size_t pair[2], next[2];
    double weight[2], v[MAX_S];
} meeting;

/* The squared distance, written out. */
static double distance(const table *t, const meeting *m, double ratio)
{
    double x[2][MAX_D] = {{0}}, square = 0;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < t->d; j++)
            for (size_t next = 0; next < t->S; next++)
                x[i][j] += part(t, m->pair[i], j, next) * m->v[next];
    for (size_t i = 0; i < t->d; i++) {
        double response = 0;
        for (size_t j = 0; j < t->d; j++) {
            double entry = m->weight[0] * x[0][i] * x[0][j] - m->weight[1] * x[1][i] * x[1][j];
            square += entry * entry;
        }
        for (size_t k = 0; k < 2; k++)
            response += (k == 0 ? 1 : -1) * m->weight[k] * x[k][i] * m->v[m->next[k]];
        square += ratio * ratio * response * response;
    }
    return square;
}

static double random_value(uint64_t *r, double low)
{
    uint64_t shape = random_below(r, 4);
    return shape == 0 ? low : shape == 1 ? 1 : random_between(r, low, 1);
}

static void mutate(uint64_t *r, const table *t, double low, bool weighted, double step, meeting *m)
{
    size_t i = random_below(r, 2);
    switch (random_below(r, 8)) {
    case 0:
        m->pair[i] = random_below(r, t->pairs);
        break;
    case 1:
        m->next[i] = random_below(r, t->S);
        break;
    case 2:
        m->weight[i] = weighted ? random_value(r, 0) : 1;
        break;
    case 3:
        m->v[random_below(r, t->S)] = random_value(r, low);
        break;
    default: {
        double *v = &m->v[random_below(r, t->S)];
        *v = fmin(fmax(*v + step * random_between(r, -1, 1), low), 1);
    }
    }
}

static double climb(uint64_t *r, const table *t, double low, bool weighted, double ratio)
{
    double most = 0;
    for (int start = 0; start < STARTS; start++) {
        meeting m = {.weight = {1, 1}};
        for (size_t i = 0; i < 2; i++) {
            m.pair[i] = random_below(r, t->pairs);
            m.next[i] = random_below(r, t->S);
        }
        for (size_t next = 0; next < t->S; next++)
            m.v[next] = random_value(r, low);
        double here = distance(t, &m, ratio), step = 0.5;
        for (int move = 0; move < MOVES; move++, step *= 0.99) {
            meeting other = m;
            mutate(r, t, low, weighted, step, &other);
            double there = distance(t, &other, ratio);
            if (there >= here) {
                here = there;
                m = other;
            }
        }
        most = fmax(most, here);
    }
    return most;
}

static void check(uint64_t *r, const table *t, double low, bool weighted, double ratio)
{
    tacit__part_table f = face(t, low, weighted);
    double reach;
    assert_ok(tacit__table_reach(&f, ratio, &reach));
    double found = climb(r, t, low, weighted, ratio);
    if (!(found <= reach && found >= 0.97 * reach))
        fail_msg("d %zu, S %zu, low %g, weighted %d, ratio %g: found %.9g, proved %.9g", t->d, t->S,
                 low, weighted, ratio, found, reach);
}

TEST(what_is_proved_is_reached_and_never_passed)
{
    static const double ratios[] = {0.1, 0.5, 1, 3};
    static const size_t shapes[][3] = {{1, 3, 4}, {2, 4, 6}, {3, 5, 8}, {4, 7, 12}};
    uint64_t r = 17;
    for (size_t i = 0; i < 4; i++)
        for (int kind = 0; kind < 4; kind++) {
            table t =
                random_table(&r, shapes[i][0], shapes[i][1], shapes[i][2], kind & 1, kind & 2);
            for (int low = -1; low <= 0; low++)
                check(&r, &t, low, kind == 3, ratios[(i + (size_t)kind) % 4]);
        }
}

/* Where actions lead to states of their own: users are as far apart as any two of the unit ball. */
TEST(a_table_that_reaches_the_unit_ball_gains_nothing)
{
    table t = {.d = 2, .S = 2, .pairs = 2, .parts = {[0] = 1, [7] = 1}};
    tacit__part_table f = face(&t, -1, false);
    double reach;
    assert_ok(tacit__table_reach(&f, 0.5, &reach));
    assert_within(reach, 2.5, 2.5 * 1.011); /* x . x' = 0: 2 + 2 c^2 */
}

/* One row only: the Gram matrix stands still, and targets 1 and -1 move the response by 2 |x|. */
TEST(users_of_one_row_move_the_response_alone)
{
    table t = {.d = 1, .S = 2, .pairs = 1, .parts = {0.75, 0.25}};
    for (int low = -1; low <= 0; low++) {
        tacit__part_table f = face(&t, low, false);
        double reach, most = low < 0 ? 4 * 0.25 : 0.75 * 0.75;
        assert_ok(tacit__table_reach(&f, 2, &reach));
        assert_within(reach, 4 * most, 4 * most * 1.011);
    }
}

TEST(large_tables_are_not_searched)
{
    enum { S = 40, PAIRS = 3 };
    static double parts[S * PAIRS];
    tacit__part_table f = {.parts = parts, .n_states = S, .width = 1, .pairs = PAIRS, .low = -1};
    double reach;
    for (size_t i = 0; i < S * PAIRS; i++)
        parts[i] = 1.0 / S;
    assert_ok(tacit__table_reach(&f, 1, &reach));
    assert_true(isinf(reach));
    /* large, but each pair leads to few states */
    memset(parts, 0, sizeof parts);
    for (size_t p = 0; p < PAIRS; p++)
        parts[7 * p * PAIRS + p] = 1;
    assert_ok(tacit__table_reach(&f, 1, &reach));
    assert_within(reach, 4, 4 * 1.011); /* x = x' = 1, y = -y' */
}

TEST(without_memory_there_is_no_answer)
{
    uint64_t r = 3;
    table t = random_table(&r, 3, 5, 12, false, false);
    tacit__part_table f = face(&t, -1, false);
    double reach;
    int n = 0;
    for (bool done = false; !done; n++) {
        tacit__alloc_fail_at((uint64_t)n + 1);
        tacit_status status = tacit__table_reach(&f, 0.5, &reach);
        done = !tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        assert_status(status, done ? TACIT_OK : TACIT_NO_MEMORY);
    }
    assert_true(n >= 3); /* rows, boxes, more boxes */
}

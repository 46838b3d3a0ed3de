/* What people who come back cost: every formula against all patterns, where there are few enough to try, and
 * against numbers that were computed elsewhere (docs/why/returning.md). */
#include "support/check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "sums/returning.h"
#include "support/random.h"

enum { MOST = 16, MAX_VISITS = 5 };

/* --- All patterns ---------------------------------------------------------------------------------- */

typedef struct grid {
    size_t n;                /* steps */
    double gram[MOST][MOST]; /* of steps */
    size_t step[MOST];       /* of each place */
    size_t places;
} grid;

static double overlap_of(const void *context, uint64_t i, uint64_t l)
{
    const grid *g = context;
    assert_true(i < g->n && l < g->n);
    return g->gram[i][l];
}

static double largest_diagonal(const grid *g)
{
    double most = 0;
    for (size_t i = 0; i < g->n; i++)
        most = fmax(most, g->gram[i][i]);
    return most;
}

typedef struct found {
    double square, sum;
} found;

static void try_all(const grid *g, const tacit__returning *v, size_t at, size_t *pattern, size_t n,
                    found *best)
{
    double square = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += g->gram[g->step[pattern[i]]][g->step[pattern[i]]];
        for (size_t l = 0; l < n; l++)
            square += g->gram[g->step[pattern[i]]][g->step[pattern[l]]];
    }
    best->square = fmax(best->square, square);
    best->sum = fmax(best->sum, sum);
    if (n == v->most)
        return;
    for (size_t next = at; next < g->places; next++) {
        pattern[n] = next;
        try_all(g, v, next + (size_t)v->apart, pattern, n + 1, best);
    }
}

static found brute_force(const grid *g, const tacit__returning *v)
{
    size_t pattern[MAX_VISITS + 1];
    found best = {0, 0};
    try_all(g, v, 0, pattern, 0, &best);
    return best;
}

/* --- Strategies ------------------------------------------------------------------------------------ */

/* c_n = binom(2n, n) / 4^n over steps that end at these places (NULL: each place is one). */
static grid toeplitz(size_t places, const uint64_t *ends, size_t n_steps)
{
    grid g = {.places = places, .n = ends != NULL ? n_steps : places};
    double c[MOST] = {1};
    for (size_t n = 1; n < MOST; n++)
        c[n] = c[n - 1] * (double)(2 * n - 1) / (double)(2 * n);
    for (size_t i = 0; i < g.n; i++)
        for (size_t l = 0; l < g.n; l++)
            for (size_t t = i > l ? i : l; t < g.n; t++)
                g.gram[i][l] += c[t - i] * c[t - l];
    for (size_t i = 0, m = 0; i < places; i++) {
        while (ends != NULL && ends[m] <= i)
            m++;
        g.step[i] = ends != NULL ? m : i;
    }
    return g;
}

/* All dyadic intervals within `places`. */
static grid dyadic(size_t places)
{
    grid g = {.places = places, .n = places};
    for (size_t size = 1; size <= places; size *= 2)
        for (size_t start = 0; start + size <= places; start += size)
            for (size_t i = start; i < start + size; i++)
                for (size_t l = start; l < start + size; l++)
                    g.gram[i][l]++;
    for (size_t i = 0; i < places; i++)
        g.step[i] = i;
    return g;
}

static double bound_of(const grid *g, const tacit__returning *v, const tacit__batches *steps)
{
    double square;
    assert_ok(tacit__returning_bound(
        v, steps, &(tacit__overlaps){overlap_of, g, largest_diagonal(g)}, &square, NULL));
    return square;
}

/* --- Tests ----------------------------------------------------------------------------------------- */

TEST(numbers_that_were_computed_elsewhere)
{
    const grid sixteen = dyadic(16), thirteen = dyadic(13);
    const tacit__returning five = {5, 3}, three = {3, 4};
    assert_close(sqrt(brute_force(&sixteen, &five).square), 7.549834435271, 1e-11);
    assert_close(sqrt(bound_of(&sixteen, &five, &(tacit__batches){16, NULL})), 7.745966692415,
                 1e-9);
    assert_close(sqrt(bound_of(&thirteen, &three, &(tacit__batches){13, NULL})), 3.605551275464,
                 1e-9);

    static const uint64_t ends[] = {2, 3, 5, 8, 16};
    const tacit__returning four = {4, 3};
    const tacit__batches steps = {5, ends};
    const grid batches = toeplitz(16, ends, 5);
    assert_close(sqrt(brute_force(&batches, &four).square), 3.640054944640, 1e-11);
    assert_close(sqrt(bound_of(&batches, &four, &steps)), 3.686043144417, 1e-9);
    tacit__returning_sums sums;
    assert_ok(tacit__returning_in_batches(&four, &steps, &sums, NULL));
    assert_true(sums.square == 10);
    sums = tacit__returning_in_prefixes(&four, ends, 5);
    assert_true(sums.square == 31 && sums.l1 == 1 + 1 + 2 + 3 + 4);
}

TEST(epochs_of_a_large_run_cost_what_was_computed_elsewhere)
{
    static const uint64_t ends[] = {394, 1182, 2758, 5910, 12214, 24822};
    static const struct {
        tacit__returning v;
        double norm;
    } cases[] = {{{5, 10000}, 2.236}, {{5, 1000}, 5},      {{10, 5000}, 3.317},
                 {{10, 1000}, 10},    {{30, 1000}, 14.93}, {{100, 100}, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit__returning_sums sums;
        assert_ok(
            tacit__returning_in_batches(&cases[i].v, &(tacit__batches){6, ends}, &sums, NULL));
        assert_within(sqrt(sums.square) - cases[i].norm, -0.01, 0.01);
    }
}

/* Visits in one step, or so far: as matrices, for all patterns. */
static grid fresh(size_t places, const uint64_t *ends, size_t n, bool prefixes)
{
    grid g = toeplitz(places, ends, n);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < n; l++)
            g.gram[i][l] = prefixes ? (double)(n - (i > l ? i : l)) : i == l;
    return g;
}

static size_t random_ends(uint64_t *seed, size_t places, uint64_t ends[MOST])
{
    size_t n = 0;
    for (size_t i = 1; i < places; i++)
        if (random_below(seed, 3) == 0)
            ends[n++] = i;
    ends[n++] = places;
    return n;
}

typedef struct ratio {
    double tree, batches;
} ratio;

static void check_one(size_t places, const tacit__returning *v, uint64_t *seed, ratio *worst)
{
    uint64_t ends[MOST];
    const size_t n = random_ends(seed, places, ends);
    const tacit__batches single = {places, NULL}, steps = {n, ends};
    const grid tree = dyadic(places), batches = toeplitz(places, ends, n);
    const grid alone = fresh(places, ends, n, false), so_far = fresh(places, ends, n, true);

    const found in_tree = brute_force(&tree, v), in_batches = brute_force(&batches, v);
    const double tree_bound = bound_of(&tree, v, &single),
                 batch_bound = bound_of(&batches, v, &steps);
    assert_true(tree_bound >= in_tree.square && batch_bound >= in_batches.square);
    worst->tree = fmax(worst->tree, sqrt(tree_bound / in_tree.square));
    worst->batches = fmax(worst->batches, sqrt(batch_bound / in_batches.square));

    double sum;
    assert_ok(tacit__returning_sum(
        v, &single, &(tacit__overlaps){overlap_of, &tree, largest_diagonal(&tree)}, &sum, NULL));
    assert_close(sum, in_tree.sum, 1e-9);
    tacit__returning_sums sums;
    assert_ok(tacit__returning_in_batches(v, &steps, &sums, NULL));
    assert_true(sums.square == brute_force(&alone, v).square);
    assert_true(sums.l1 == brute_force(&alone, v).sum);
    sums = tacit__returning_in_prefixes(v, ends, n);
    assert_true(sums.square == brute_force(&so_far, v).square);
    assert_true(sums.l1 == brute_force(&so_far, v).sum);
}

TEST(no_pattern_of_visits_costs_more_than_is_declared)
{
    ratio worst = {1, 1};
    uint64_t seed = 7;
    for (size_t places = 2; places <= MOST; places++)
        for (uint64_t most = 1; most <= MAX_VISITS; most++)
            for (uint64_t apart = 1; apart * most <= places; apart++)
                check_one(places, &(tacit__returning){most, apart}, &seed, &worst);
    assert_within(worst.tree, 1.0001, 1.05);
    assert_within(worst.batches, 1.0001, 1.09);
}

static double always_one(const void *context, uint64_t i, uint64_t l)
{
    (void)context;
    return i == l;
}

/* Where there are too many places to look at each: visits that fit into a step, and no more. */
TEST(a_billion_places_have_a_coarser_bound_at_once)
{
    static const uint64_t ends[] = {1000, 100000, 1000000000};
    double square;
    const tacit__overlaps of = {always_one, NULL, 1};
    assert_ok(tacit__returning_bound(&(tacit__returning){4, 60000}, &(tacit__batches){3, ends}, &of,
                                     &square, NULL));
    assert_within(square, 16, 16.001);
    assert_ok(tacit__returning_bound(&(tacit__returning){4, 500},
                                     &(tacit__batches){1000000000, NULL}, &of, &square, NULL));
    assert_within(square, 16, 16.001);
}

TEST(visits_that_do_not_fit_are_refused)
{
    tacit__returning v;
    tacit_error err = TACIT_ERROR_INIT;
    assert_ok(tacit__returning_read(0, 0, 1, &v, &err));
    assert_true(v.most == 1 && v.apart == 1);
    assert_ok(tacit__returning_read(5, 24, 100, &v, &err));
    assert_int_equal(tacit__returning_read(5, 25, 100, &v, &err), TACIT_BAD_COUNT);
    assert_int_equal(tacit__returning_read(101, 1, 100, &v, &err), TACIT_BAD_COUNT);
    assert_ok(tacit__returning_read(1, 101, 100, &v, &err));
    assert_int_equal(tacit__returning_read(1, 1, 0, &v, &err), TACIT_BAD_COUNT);
    assert_int_equal(tacit__returning_read(UINT64_MAX, UINT64_MAX, 100, &v, &err), TACIT_BAD_COUNT);
}

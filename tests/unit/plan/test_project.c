/* The row solver against an independent one (GLPK's simplex) and against its own optimality conditions. */
#include <glpk.h>
#include <math.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "plan/project.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 12 };

static double deviation(const double *x, const double *y, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(x[i] - y[i]));
    return worst;
}

/* min t: -t <= x_i - y_i <= t, x >= 0, visits - slack <= sum x <= visits + slack. */
static double simplex(const double *y, size_t n, double visits, double slack, bool *feasible)
{
    glp_term_out(GLP_OFF);
    glp_prob *lp = glp_create_prob();
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    parameters.tol_bnd = parameters.tol_dj = 1e-10;
    int count = (int)n, columns[MOST + 1];
    double ones[MOST + 1];
    glp_set_obj_dir(lp, GLP_MIN);
    glp_add_cols(lp, count + 1);
    for (int i = 1; i <= count + 1; i++)
        glp_set_col_bnds(lp, i, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, count + 1, 1);
    glp_add_rows(lp, 2 * count + 1);
    for (int i = 1; i <= count; i++) {
        const int pair[] = {0, i, count + 1};
        const double above[] = {0, 1, -1}, below[] = {0, 1, 1};
        glp_set_row_bnds(lp, 2 * i - 1, GLP_UP, 0, y[i - 1]); /* x - t <= y */
        glp_set_mat_row(lp, 2 * i - 1, 2, pair, above);
        glp_set_row_bnds(lp, 2 * i, GLP_LO, y[i - 1], 0); /* x + t >= y */
        glp_set_mat_row(lp, 2 * i, 2, pair, below);
        columns[i] = i;
        ones[i] = 1;
    }
    if (slack > 0)
        glp_set_row_bnds(lp, 2 * count + 1, GLP_DB, visits - slack, visits + slack);
    else
        glp_set_row_bnds(lp, 2 * count + 1, GLP_FX, visits, visits);
    glp_set_mat_row(lp, 2 * count + 1, count, columns, ones);
    glp_adv_basis(lp, 0);
    assert_int_equal(glp_simplex(lp, &parameters), 0);
    *feasible = glp_get_status(lp) == GLP_OPT;
    double value = glp_get_obj_val(lp);
    glp_delete_prob(lp);
    return value;
}

/* Random instances, many of them degenerate: ties, zeros, negative rows, no slack, tight masses. */
static size_t random_instance(uint64_t *seed, double *y, double *visits, double *slack)
{
    size_t n = 1 + random_below(seed, MOST);
    double size = pow(10, random_between(seed, -2, 5)), sum = 0;
    uint64_t shape = random_below(seed, 6);
    for (size_t i = 0; i < n; i++) {
        y[i] = size * random_between(seed, -1, 1);
        if (shape == 1)
            y[i] = size * (double)random_below(seed, 3);
        if (shape == 2)
            y[i] = -fabs(y[i]);
        if (shape == 3)
            y[i] = i % 2 == 0 ? size : -size;
        if (shape == 4)
            y[i] = 0;
        sum += fmax(0, y[i]);
    }
    *visits = random_below(seed, 3) == 0 ? sum : size * random_between(seed, -1, 4);
    *slack = random_below(seed, 3) == 0 ? 0 : size * random_between(seed, 0, 2);
    return n;
}

TEST(the_solver_is_as_good_as_the_simplex)
{
    uint64_t seed = 7;
    int solved = 0;
    for (int round = 0; round < 4000; round++) {
        double y[MOST], x[MOST], scratch[MOST], visits, slack, sum = 0, size = 1e-3;
        size_t n = random_instance(&seed, y, &visits, &slack);
        tacit__project_counts(y, n, visits, slack, scratch, x);
        for (size_t i = 0; i < n; i++) {
            assert_true(x[i] >= 0);
            sum += x[i];
            size += fabs(y[i]);
        }
        size += fabs(visits) + slack;
        if (visits + slack < 0) { /* infeasible as printed: nothing was seen */
            assert_within(sum, 0, 0);
            continue;
        }
        assert_within(sum, fmax(0, visits - slack) - 1e-12 * size, visits + slack + 1e-12 * size);
        bool feasible;
        double best = simplex(y, n, visits, slack, &feasible);
        if (!feasible)
            continue; /* GLPK's tolerance at mass 0 */
        solved++;
        assert_within(deviation(x, y, n), best - 1e-9 * size, best + 1e-9 * size);
    }
    assert_true(solved > 3000);
}

TEST(a_permuted_row_gives_the_permuted_answer)
{
    uint64_t seed = 8;
    for (int round = 0; round < 2000; round++) {
        double y[MOST], x[MOST], turned[MOST], answer[MOST], scratch[MOST], visits, slack;
        size_t n = random_instance(&seed, y, &visits, &slack);
        tacit__project_counts(y, n, visits, slack, scratch, x);
        for (size_t i = 0; i < n; i++)
            turned[(i + 3) % n] = y[i];
        tacit__project_counts(turned, n, visits, slack, scratch, answer);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(answer[(i + 3) % n] - x[i]) <= 1e-9 * (1 + fabs(visits) + fabs(x[i])));
    }
}

TEST(scaling_the_row_scales_the_answer)
{
    uint64_t seed = 9;
    for (int round = 0; round < 2000; round++) {
        double y[MOST], x[MOST], scaled[MOST], scratch[MOST], visits, slack;
        size_t n = random_instance(&seed, y, &visits, &slack);
        tacit__project_counts(y, n, visits, slack, scratch, x);
        for (size_t i = 0; i < n; i++)
            y[i] *= 4; /* a power of two: every rounding is the same */
        tacit__project_counts(y, n, 4 * visits, 4 * slack, scratch, scaled);
        for (size_t i = 0; i < n; i++)
            assert_true(scaled[i] == 4 * x[i]);
    }
}

TEST(exact_counts_are_left_alone)
{
    double y[] = {3, 0, 7, 1}, x[4], scratch[4];
    tacit__project_counts(y, 4, 11, 0, scratch, x);
    assert_memory_equal(x, y, sizeof y);
}

TEST(the_answer_may_overwrite_the_row)
{
    uint64_t seed = 10;
    for (int round = 0; round < 500; round++) {
        double y[MOST], x[MOST], scratch[MOST], visits, slack;
        size_t n = random_instance(&seed, y, &visits, &slack);
        tacit__project_counts(y, n, visits, slack, scratch, x);
        tacit__project_counts(y, n, visits, slack, scratch, y);
        assert_memory_equal(x, y, n * sizeof *x);
    }
}

/* Rows of random instances, of one length, some of which settle at once and some by sorting only. */
TEST(blocks_of_rows_are_the_rows_alone_bit_for_bit)
{
    enum { BLOCK = TACIT__PROJECT_ROWS, ROWS = BLOCK * TACIT__PROJECT_BLOCKS, LONGEST = 80 };
    uint64_t seed = 12;
    for (int round = 0; round < 3000; round++) {
        double y[ROWS][LONGEST], visits[ROWS], alone[LONGEST], scratch[LONGEST];
        double totals[ROWS], x[ROWS * LONGEST], other_totals[ROWS], other[ROWS * LONGEST];
        const double *rows[ROWS];
        size_t blocks = 1 + random_below(&seed, TACIT__PROJECT_BLOCKS);
        size_t n = 1 + random_below(&seed, round % 4 == 0 ? LONGEST : MOST);
        double size = pow(10, random_between(&seed, -2, 5)), slack = 0, shift = 0.1 * size;
        slack = random_below(&seed, 3) == 0 ? 0 : size * random_between(&seed, 0, 2);
        for (size_t r = 0; r < ROWS; r++) {
            uint64_t shape = random_below(&seed, 4);
            double sum = 0;
            for (size_t i = 0; i < n; i++) {
                y[r][i] = size * random_between(&seed, -1, 1);
                if (shape == 0)
                    y[r][i] = size * (double)random_below(&seed, 3);
                if (shape == 1) /* each pass drops one value: more of them than it is worth */
                    y[r][i] = size * pow(0.25, (double)i);
                sum += fmax(0, y[r][i]);
            }
            visits[r] = random_below(&seed, 4) == 0 ? sum : size * random_between(&seed, -1, 4);
            if (shape == 1)
                visits[r] = 1e-30 * size;
            rows[r] = y[r];
        }
        tacit__project_rows(blocks, rows, n, visits, slack, shift, scratch, totals, x);
        for (int narrow = 0; narrow < 2; narrow++) {
            tacit__cpu_pretend_avx2(narrow == 0);
            tacit__cpu_pretend_base(narrow == 1);
            tacit__project_rows(blocks, rows, n, visits, slack, shift, scratch, other_totals,
                                other);
            tacit__cpu_pretend_base(false);
            tacit__cpu_pretend_avx2(false);
            assert_memory_equal(totals, other_totals, blocks * BLOCK * sizeof *totals);
            assert_memory_equal(x, other, n * blocks * BLOCK * sizeof *x);
        }
        for (size_t r = 0; r < blocks * BLOCK; r++) {
            double total = 0;
            tacit__project_counts(y[r], n, visits[r], slack, scratch, alone);
            for (size_t i = 0; i < n; i++)
                total += alone[i] += shift;
            assert_true(total == totals[r]);
            for (size_t i = 0; i < n; i++)
                assert_true(alone[i] * (1 / total) == x[(r / BLOCK * n + i) * BLOCK + r % BLOCK]);
        }
    }
}

/* The two trees by brute force: their matrices, written out, are what the plan charges for.
 *
 * With as many coordinates as users, and user t contributing the unit vector e_t, one run shows all of C:
 * what is encoded at step t is its row t. Feeding unit vectors as noisy values shows B in the same way. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/sum.h>

#include "sums/strategy.h"
#include "support/random.h"
#include "support/sums.h"

enum { LARGEST = 300 };

static const tacit__strategy *const trees[] = {&tacit__strategy_tree, &tacit__strategy_smooth};
static const tacit_sum_mechanism mechanisms[] = {TACIT_SUM_TREE, TACIT_SUM_SMOOTH};
static const tacit_law laws[] = {TACIT_LAW_GAUSSIAN, TACIT_LAW_LAPLACE};

typedef int64_t matrix[LARGEST][LARGEST];

static tacit__shape shape_of(tacit_law law, size_t dimension, uint64_t users)
{
    return (tacit__shape){.law = law,
                          .dimension = dimension,
                          .steps = users,
                          .largest = 0x1p26,
                          .sensitivity = 0x1p27,
                          .differing = (double)dimension,
                          .unit = 1};
}

static void *create(const tacit__strategy *tree, tacit_law law, size_t dimension, uint64_t users)
{
    tacit__shape shape = shape_of(law, dimension, users);
    void *state = NULL;
    assert_ok(tree->create(&shape, &state, NULL));
    return state;
}

/* Row t of C is what step t encodes when user i contributes e_i; of B, what is read after step t when the
 * noisy values are the unit vectors. */
static void write_out(const tacit__strategy *tree, tacit_law law, size_t users, matrix b, matrix c)
{
    static const int64_t zero[LARGEST];
    void *raw = create(tree, law, users, users), *noisy = create(tree, law, users, users);
    int64_t x[LARGEST], y[LARGEST];
    double out[LARGEST];
    for (size_t t = 0; t < users; t++) {
        memset(x, 0, sizeof x);
        x[t] = 1;
        tree->encode(raw, 0, users, x, c[t]);
        tree->absorb(raw, 0, users, x, c[t]);
        tree->advance(raw);

        memset(y, 0, sizeof y);
        y[t] = 1;
        tree->absorb(noisy, 0, users, zero, y);
        tree->advance(noisy);
        tree->read(noisy, out);
        for (size_t i = 0; i < users; i++)
            b[t][i] = (int64_t)out[i];
        assert_true(tree->variance(noisy, t + 1) >= 1);
        int64_t square = 0;
        for (size_t i = 0; i < users; i++)
            square += b[t][i] * b[t][i];
        assert_true(tree->variance(noisy, t + 1) == (double)square); /* the row norm of B */
    }
    tree->destroy(raw);
    tree->destroy(noisy);
}

static void check_matrices(const tacit__strategy *tree, tacit_law law, size_t users)
{
    static matrix b, c;
    tacit__shape shape = shape_of(law, users, users);
    tacit__columns columns;
    write_out(tree, law, users, b, c);
    assert_ok(tree->columns(&shape, &columns, NULL));
    sum_kind kind = {tree == &tacit__strategy_tree ? TACIT_SUM_TREE : TACIT_SUM_SMOOTH, law};
    tacit_sum_spec spec = sum_spec_of(kind, users, users);
    tacit_release line;
    assert_ok(tacit_sum_declare(&spec, "sum", &line, NULL));
    assert_true(line.column_l1 == columns.l1 && line.column_l2 == columns.l2);

    int64_t largest_l1 = 0, largest_square = 0;
    for (size_t i = 0; i < users; i++) {
        int64_t l1 = 0, square = 0;
        for (size_t t = 0; t < users; t++) {
            assert_true(t >= i || c[t][i] == 0); /* causal */
            l1 += llabs(c[t][i]);
            square += c[t][i] * c[t][i];
        }
        largest_l1 = l1 > largest_l1 ? l1 : largest_l1;
        largest_square = square > largest_square ? square : largest_square;
    }
    assert_true(columns.l1 == (double)largest_l1); /* attained and not exceeded */
    assert_true(columns.l2 == sqrt((double)largest_square));

    for (size_t t = 0; t < users; t++) { /* B C = prefix sums */
        int64_t row[LARGEST] = {0};
        for (size_t k = 0; k < users; k++)
            for (size_t i = 0; b[t][k] != 0 && i < users; i++)
                row[i] += b[t][k] * c[k][i];
        for (size_t i = 0; i < users; i++)
            assert_true(row[i] == (i <= t));
    }
}

TEST(the_matrices_multiply_to_prefix_sums_and_have_the_charged_column_norms)
{
    for (size_t m = 0; m < 2; m++)
        for (size_t l = 0; l < 2; l++)
            for (size_t users = 1; users <= LARGEST; users++)
                check_matrices(trees[m], laws[l], users);
}

/* sqrt(nodes alive) is the row norm of B, above; here it meets the public functions. */
TEST(the_standard_deviation_is_the_scale_times_the_root_of_the_nodes_alive)
{
    const double scale = 3;
    for (size_t m = 0; m < 2; m++)
        for (size_t l = 0; l < 2; l++)
            for (uint64_t users = 1; users <= 300; users += 13) {
                tacit_sum_spec spec = sum_spec_of((sum_kind){mechanisms[m], laws[l]}, 1, users);
                void *reference = create(trees[m], laws[l], 1, users);
                SCOPED_BY(sum_rig_close) sum_rig rig;
                sum_rig_open(&rig, &spec, "sum", scale, 1);
                for (uint64_t k = 1; k <= users; k++) {
                    double stddev, alive = trees[m]->variance(reference, k);
                    assert_ok(tacit_sum_stddev(rig.sum, k, &stddev));
                    double draw = laws[l] == TACIT_LAW_LAPLACE ? M_SQRT2 * scale : scale;
                    assert_close(stddev, draw * sqrt(alive), 1e-14);
                }
                trees[m]->destroy(reference);
            }
}

/* Largest noise of a release at mu = 1 (Gaussian) or epsilon = 1 (Laplace), sensitivity 1. */
static double max_noise(size_t m, tacit_law law, uint64_t users, uint64_t stride)
{
    tacit__shape shape = shape_of(law, 1, users);
    tacit__columns columns;
    assert_ok(trees[m]->columns(&shape, &columns, NULL));
    void *tree = create(trees[m], law, 1, users);
    double most = 0;
    for (uint64_t k = 1; k <= users; k += k < 1100 ? 1 : stride)
        most = fmax(most, trees[m]->variance(tree, k));
    for (uint64_t k = 1; k <= users; k = 2 * k + 1) /* all ones: the most nodes of a plain tree */
        most = fmax(most, trees[m]->variance(tree, k));
    trees[m]->destroy(tree);
    return sqrt(most) * (law == TACIT_LAW_LAPLACE ? M_SQRT2 * columns.l1 : columns.l2);
}

TEST(the_largest_noise_is_that_of_the_tables)
{
    static const uint64_t users[] = {1000, 10000, 50000, 1000000};
    static const double table[2][2][4] = {
        {{9.5, 13.5, 15.5, 19.5}, {42, 71, 88, 123}},
        {{6.3, 7.9, 9.2, 11.4}, {17.5, 25, 31.5, 44}},
    };
    for (size_t m = 0; m < 2; m++)
        for (size_t l = 0; l < 2; l++)
            for (size_t i = 0; i < 4; i++) {
                /* within 1 %, and half a unit of the table's last place */
                double wanted = table[m][l][i], place = l == 0 ? 0.05 : 0.5;
                assert_within(max_noise(m, laws[l], users[i], users[i] < 100000 ? 1 : 97),
                              wanted * 0.99 - place, wanted * 1.01 + place);
            }
}

TEST(smooth_is_less_noisy_than_the_plain_tree)
{
    for (uint64_t users = 8; users < 3000; users += 1 + users / 7)
        for (size_t l = 0; l < 2; l++)
            assert_true(max_noise(1, laws[l], users, 1) <= max_noise(0, laws[l], users, 1));
}

/* The k-th word of p ones in increasing order, by exact integer arithmetic: the smallest with rank k. */
__extension__ typedef unsigned __int128 u128;

static u128 choose(unsigned n, unsigned k)
{
    u128 c = 1;
    for (unsigned i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return k > n ? 0 : c;
}

/* Nodes alive after k users in the code with p ones and z zeros: p minus the trailing ones of word k. */
static unsigned alive_after(unsigned p, unsigned z, uint64_t k)
{
    unsigned trailing = 0, left = p;
    bool only_ones = true;
    uint64_t word = 0;
    u128 rank = k;
    for (unsigned bit = p + z; bit-- > 0;)
        if (left > 0 && choose(bit, left) <= rank) {
            rank -= choose(bit, left--);
            word |= (uint64_t)1 << bit;
        }
    for (unsigned bit = 0; only_ones; bit++) {
        only_ones = word >> bit & 1;
        trailing += only_ones;
    }
    return p - trailing;
}

/* Up to the largest number of users that fits, far beyond what can be walked through. */
TEST(the_nodes_alive_are_right_for_any_number_of_users)
{
    uint64_t random = 1;
    for (int i = 0; i < 200; i++) {
        uint64_t users = ((uint64_t)1 << (10 + i % 43)) - random_below(&random, 500);
        tacit_law law = laws[i / 43 % 2];
        tacit__shape shape = shape_of(law, 1, users);
        tacit__columns columns;
        assert_ok(tacit__strategy_smooth.columns(&shape, &columns, NULL));
        void *tree = create(&tacit__strategy_smooth, law, 1, users);
        unsigned z = (unsigned)columns.l1, p = 1;
        while (choose(p + z, z) <= users) /* the fewest ones that give each user a word */
            p++;
        for (int j = 0; j < 200; j++) {
            uint64_t k = j == 0    ? users
                         : j < 100 ? 1 + (uint64_t)j
                                   : 1 + random_below(&random, users);
            assert_true(tacit__strategy_smooth.variance(tree, k) == alive_after(p, z, k));
        }
        tacit__strategy_smooth.destroy(tree);
    }
}

/* A tree walks the words one by one and must end where the formula says, at depth and word alike. */
TEST(a_full_walk_never_leaves_the_depth_that_was_allocated)
{
    static const uint64_t users[] = {1, 2, 3, 7, 8, 1023, 1024, 1286, 1287, 3002, 3003, 20000};
    for (size_t m = 0; m < 2; m++)
        for (size_t l = 0; l < 2; l++)
            for (size_t u = 0; u < sizeof users / sizeof *users; u++) {
                tacit_sum_spec spec = sum_spec_of((sum_kind){mechanisms[m], laws[l]}, 1, users[u]);
                SCOPED_BY(sum_rig_close) sum_rig rig;
                double x = 0.5, noisy = 0;
                sum_rig_open(&rig, &spec, "sum", 1e-12, 1); /* far below a lattice step */
                for (uint64_t k = 1; k <= users[u]; k++)
                    assert_ok(tacit_sum_add(rig.sum, &x, NULL));
                assert_ok(tacit_sum_release(rig.sum, &noisy, NULL));
                assert_true(noisy == 0.5 * (double)users[u]);
            }
}

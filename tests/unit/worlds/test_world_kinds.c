/* The kinds of worlds: what they are, and what is said about wrong settings. */
#include "support/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/cases.h"
#include "worlds/kind.h"

enum { MAX_STEPS = 64, MAX_STATES = 128 };

static uint32_t policy[MAX_STEPS * MAX_STATES];
static double values[(MAX_STEPS + 1) * MAX_STATES], scratch[2 * MAX_STATES];

/* --- The list ----------------------------------------------------------------------------------- */

TEST(ends_are_states_that_are_never_left_and_pay_nothing)
{
    const tacit_setting map = SET("map", "SF/HG");
    tacit_world *grid = world_of("grid", &map, 1), *river = world_of("riverswim", NULL, 0);
    assert_false(tacit_world_is_terminal(grid, 0));
    assert_false(tacit_world_is_terminal(grid, 1));
    assert_true(tacit_world_is_terminal(grid, 2)); /* the hole, and the goal */
    assert_true(tacit_world_is_terminal(grid, 3));
    assert_false(tacit_world_is_terminal(grid, 4)); /* there is no such state */
    for (uint32_t i = 0; i < 6; i++)
        assert_false(tacit_world_is_terminal(river, i));
    tacit_world_destroy(grid);
    tacit_world_destroy(river);
}

TEST(every_kind_explains_itself_and_its_defaults_work)
{
    assert_true(tacit_world_kind_count() >= 5);
    assert_null(tacit_world_kind_at(tacit_world_kind_count()));
    assert_null(tacit_world_kind_find("nowhere"));
    assert_null(tacit_world_kind_find(NULL));
    for (size_t i = 0; i < tacit_world_kind_count(); i++) {
        const tacit_world_kind *kind = tacit_world_kind_at(i);
        assert_ptr_equal(tacit_world_kind_find(kind->name), kind);
        assert_true(strlen(kind->help) > 10 && strlen(kind->source) > 5);
        bool complete = true;
        for (size_t j = 0; j < kind->n_parameters; j++) {
            const tacit_parameter *p = &kind->parameters[j];
            assert_true(strlen(p->name) > 0 && strlen(p->help) > 5);
            complete = complete && p->fallback != NULL;
        }
        if (!complete)
            continue;
        SCOPED(tacit_world) *world = world_of(kind->name, NULL, 0);
        const tacit_world_facts *facts = tacit_world_describe(world);
        assert_ptr_equal(facts->kind, kind);
        assert_within(facts->optimal_value, 0, (double)facts->horizon);
        assert_int_equal(tacit_world_unreachable(world, NULL), 0);
    }
    tacit_world_destroy(NULL);
}

/* docs/reference/worlds.md has a heading for every kind and a line with the default for every parameter. */
TEST(the_reference_page_lists_every_parameter)
{
    static char page[1 << 16];
    FILE *f = fopen(TACIT_TESTS_DIR "/../docs/reference/worlds.md", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < tacit_world_kind_count(); i++) {
        const tacit_world_kind *kind = tacit_world_kind_at(i);
        char wanted[200];
        snprintf(wanted, sizeof wanted, "## `%s`\n", kind->name);
        const char *section = strstr(page, wanted);
        assert_non_null(section);
        const char *end = strstr(section + 3, "\n## ");
        for (size_t j = 0; j < kind->n_parameters; j++) {
            const char *fallback = kind->parameters[j].fallback;
            snprintf(wanted, sizeof wanted, "| `%s` | %s |", kind->parameters[j].name,
                     fallback == NULL      ? "required"
                     : fallback[0] == '\0' ? "none"
                                           : fallback);
            const char *line = strstr(section, wanted);
            if (line == NULL || line > end)
                fail_msg("%s: the page has no line '%s'", kind->name, wanted);
        }
    }
}

/* --- RiverSwim ---------------------------------------------------------------------------------- */

static double probability(const tacit__mdp *mdp, size_t s, size_t a, uint32_t next)
{
    size_t row = s * mdp->n_actions + a;
    for (size_t i = mdp->start[row]; i < mdp->start[row + 1]; i++)
        if (mdp->next[i] == next)
            return mdp->prob[i];
    return 0;
}

TEST(riverswim_has_the_published_numbers)
{
    SCOPED(tacit_world) *world = world_of("riverswim", NULL, 0);
    const tacit__mdp *mdp = tacit__world_mdp(world);
    const tacit_world_facts *facts = tacit_world_describe(world);
    assert_int_equal(facts->n_states, 6);
    assert_int_equal(facts->n_actions, 2);
    assert_int_equal(facts->horizon, 20);
    assert_true(facts->stationary && facts->reward_low == 0 && facts->reward_high == 1);
    assert_int_equal(mdp->n_initial, 1);
    assert_int_equal(mdp->initial[0], 0);
    assert_int_equal(mdp->n_outcomes, 6 + 2 + 4 * 3 + 2);
    for (uint32_t s = 0; s < 6; s++) {
        assert_true(probability(mdp, s, 0, s == 0 ? 0 : s - 1) == 1);
        assert_true(mdp->reward[2 * s] == (s == 0 ? 0.005 : 0));
        assert_true(mdp->reward[2 * s + 1] == (s == 5 ? 1 : 0));
        if (s == 0) {
            assert_true(probability(mdp, s, 1, 0) == 0.4 && probability(mdp, s, 1, 1) == 0.6);
        } else if (s == 5) {
            assert_true(probability(mdp, s, 1, 4) == 0.4 && probability(mdp, s, 1, 5) == 0.6);
        } else {
            assert_true(probability(mdp, s, 1, s - 1) == 0.05 && probability(mdp, s, 1, s) == 0.6 &&
                        probability(mdp, s, 1, s + 1) == 0.35);
        }
    }
}

TEST(mirroring_swaps_the_actions_and_changes_no_value)
{
    static const tacit_setting mirrored[] = {{"mirror", "yes", 1}};
    SCOPED(tacit_world) *plain = world_of("riverswim", NULL, 0);
    SCOPED(tacit_world) *mirror = world_of("riverswim", mirrored, 1);
    assert_true(tacit_world_describe(plain)->optimal_value ==
                tacit_world_describe(mirror)->optimal_value);
    for (size_t i = 0; i < 20 * 6; i++)
        policy[i] = (uint32_t)(i * i % 7 % 2);
    double value, mirrored_value;
    assert_ok(tacit_world_evaluate(plain, policy, scratch, &value));
    for (size_t i = 0; i < 20 * 6; i++)
        policy[i] = 1 - policy[i];
    assert_ok(tacit_world_evaluate(mirror, policy, scratch, &mirrored_value));
    assert_true(value == mirrored_value);
    assert_true(probability(tacit__world_mdp(mirror), 3, 0, 4) == 0.35);
}

TEST(a_river_of_two_states_has_no_inside)
{
    static const tacit_setting settings[] = {{"states", "2", 1}, {"horizon", "1", 1}};
    SCOPED(tacit_world) *world = world_of("riverswim", settings, 2);
    assert_true(tacit_world_describe(world)->optimal_value == 0.005);
}

/* --- Random worlds ------------------------------------------------------------------------------ */

TEST(a_seed_makes_one_random_world)
{
    static const tacit_setting one[] = {{"seed", "7", 1}}, two[] = {{"seed", "8", 1}};
    SCOPED(tacit_world) *a = world_of("random-tabular", one, 1),
                        *b = world_of("random-tabular", one, 1);
    SCOPED(tacit_world) *c = world_of("random-tabular", two, 1);
    const tacit__mdp *p = tacit__world_mdp(a), *q = tacit__world_mdp(b);
    assert_int_equal(p->n_outcomes, 10 * 4 * 10);
    assert_memory_equal(p->prob, q->prob, p->n_outcomes * sizeof *p->prob);
    assert_memory_equal(p->reward, q->reward, p->n_rows * sizeof *p->reward);
    assert_true(tacit_world_describe(a)->optimal_value != tacit_world_describe(c)->optimal_value);
}

/* A Dirichlet row of n with concentration c: E p = 1/n and E p^2 = (c + 1) / (n (n c + 1)). Means over 8000
 * rows of 5; the tolerance is six standard errors, from var(p^2) <= E p^2. */
TEST(rows_have_the_moments_of_the_dirichlet_distribution)
{
    static const char *const concentrations[] = {"0.1", "0.5", "1", "3", "100"};
    for (size_t k = 0; k < N_OF(concentrations); k++) {
        double c;
        assert_true(tacit__read_real(concentrations[k], strlen(concentrations[k]), &c));
        const tacit_setting settings[] = {
            {"states", "5", 1}, {"actions", "1600", 1}, {"concentration", concentrations[k], 1}};
        SCOPED(tacit_world) *world = world_of("random-tabular", settings, 3);
        const tacit__mdp *mdp = tacit__world_mdp(world);
        double mean = 0, square = 0, rewards = 0;
        for (size_t row = 0; row < mdp->n_rows; row++) {
            double p = probability(mdp, row / 1600, row % 1600, (uint32_t)(row % 5));
            mean += p / 8000;
            square += p * p / 8000;
            rewards += mdp->reward[row] / 8000;
        }
        double expected = (c + 1) / (5 * (5 * c + 1));
        assert_within(mean, 0.2 - 6 * sqrt(expected / 8000), 0.2 + 6 * sqrt(expected / 8000));
        assert_within(square, expected - 6 * sqrt(expected / 8000),
                      expected + 6 * sqrt(expected / 8000));
        assert_within(rewards, 0.5 - 6 * sqrt(1.0 / 12 / 8000), 0.5 + 6 * sqrt(1.0 / 12 / 8000));
    }
}

TEST(random_worlds_can_be_sparse_peaked_and_layered)
{
    static const tacit_setting sparse[] = {{"branching", "3", 1}, {"states", "40", 1}};
    SCOPED(tacit_world) *world = world_of("random-tabular", sparse, 2);
    const tacit__mdp *mdp = tacit__world_mdp(world);
    for (size_t row = 0; row < mdp->n_rows; row++)
        assert_int_equal(mdp->start[row + 1] - mdp->start[row], 3);
    tacit_world_destroy(world);

    static const tacit_setting peaked[] = {{"concentration", "0.001", 1}, {"states", "50", 1}};
    world = world_of("random-tabular", peaked, 2);
    assert_true(tacit__world_mdp(world)->n_outcomes < 200 * 25);
    tacit_world_destroy(world);

    static const tacit_setting layered[] = {{"stationary", "no", 1}, {"horizon", "6", 1}};
    world = world_of("random-tabular", layered, 2);
    mdp = tacit__world_mdp(world);
    assert_false(tacit_world_describe(world)->stationary);
    assert_int_equal(mdp->n_rows, 6 * 10 * 4);
    assert_true(mdp->prob[0] != mdp->prob[mdp->start[40]]);
}

/* Features are on the simplex, and transitions and rewards are linear in them: within a layer the rows of all pairs lie
 * in the span of d of them, whose features solve for the weights (here d = 2, by Cramer's rule). */
TEST(random_linear_worlds_are_linear_in_their_features)
{
    static const tacit_setting settings[] = {
        {"d", "2", 1}, {"states", "6", 1}, {"horizon", "3", 1}};
    SCOPED(tacit_world) *world = world_of("random-linear", settings, 3);
    const tacit_world_facts *facts = tacit_world_describe(world);
    const tacit__mdp *mdp = tacit__world_mdp(world);
    assert_non_null(facts->linear);
    assert_true(facts->linear->simplex && facts->linear->bound == 1);
    assert_int_equal(facts->linear->dimension, 2);
    double phi[6 * 4][2];
    for (uint32_t s = 0; s < 6; s++)
        for (uint32_t a = 0; a < 4; a++) {
            double *p = phi[s * 4 + a];
            facts->linear->row(facts->linear->context, s, a, p);
            assert_true(p[0] >= 0 && p[1] >= 0);
            assert_close(p[0] + p[1], 1, 1e-12);
        }
    for (size_t layer = 0; layer < 3; layer++)
        for (size_t i = 2; i < 24; i++) {
            double det = phi[0][0] * phi[1][1] - phi[0][1] * phi[1][0];
            double u = (phi[i][0] * phi[1][1] - phi[i][1] * phi[1][0]) / det,
                   v = (phi[0][0] * phi[i][1] - phi[0][1] * phi[i][0]) / det;
            const double *r = mdp->reward + layer * 24;
            assert_within(r[i] - (u * r[0] + v * r[1]), -1e-9, 1e-9);
            for (uint32_t next = 0; next < 6; next++) {
                double p = probability(mdp, layer * 6 + i / 4, i % 4, next),
                       q = u * probability(mdp, layer * 6, 0, next) +
                           v * probability(mdp, layer * 6, 1, next);
                assert_within(p - q, -1e-9, 1e-9);
            }
        }
    assert_true(facts->optimal_value > 0 && facts->optimal_value < 3);
}

/* --- Mixtures ----------------------------------------------------------------------------------- */

/* What a mixture says of itself is true: its parts over the weights are the transitions, and lengths are within bounds. */
static void check_mixture(const tacit_world *world, size_t layer, const double *weights)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    const tacit__mdp *mdp = tacit__world_mdp(world);
    const tacit_mixture *m = f->mixture;
    double *row = calloc(m->dimension * f->n_states, sizeof *row), norm = 0;
    for (size_t j = 0; j < m->dimension; j++)
        norm += weights[j] * weights[j] * (double)m->dimension;
    assert_within(sqrt(norm), 0, m->parameter_norm * (1 + 1e-12));
    for (uint32_t s = 0; s < f->n_states; s++)
        for (uint32_t a = 0; a < f->n_actions; a++) {
            double square = 0;
            m->row(m->context, s, a, row);
            for (size_t j = 0; j < m->dimension; j++) {
                double sum = 0;
                for (size_t next = 0; next < f->n_states; next++) {
                    assert_true(row[j * f->n_states + next] >= 0);
                    sum += row[j * f->n_states + next];
                }
                assert_close(sum, 1 / sqrt((double)m->dimension), 1e-12);
                square += sum * sum;
            }
            assert_within(sqrt(square), 0, m->bound * (1 + 1e-12));
            for (uint32_t next = 0; next < f->n_states; next++) {
                double p = 0;
                for (size_t j = 0; j < m->dimension; j++)
                    p += sqrt((double)m->dimension) * weights[j] * row[j * f->n_states + next];
                double is = probability(mdp, layer * f->n_states + s, a, next);
                assert_within(p - is, -1e-12, 1e-12);
            }
        }
    free(row);
}

TEST(the_lock_has_its_combination)
{
    static const tacit_setting settings[] = {{"horizon", "7", 1}};
    static const size_t hidden[] = {2, 1, 3, 2, 1, 2, 1};
    SCOPED(tacit_world) *world = world_of("lock", settings, 1);
    const tacit_world_facts *f = tacit_world_describe(world);
    assert_int_equal(f->n_states, 3);
    assert_int_equal(f->n_actions, 4);
    assert_false(f->stationary);
    assert_true(f->mixture->kernels && f->mixture->nonnegative);
    for (size_t h = 0; h < 7; h++) {
        double weights[4];
        for (size_t j = 0; j < 4; j++)
            weights[j] = j == hidden[h] ? 0.9 : 0.1 / 3;
        check_mixture(world, h, weights);
        for (size_t a = 0; a < 4; a++) {
            assert_true(f->rewards[h * 12 + a] == 0.2 && f->rewards[h * 12 + 4 + a] == 1 &&
                        f->rewards[h * 12 + 8 + a] == 0);
        }
    }
    uint32_t best[7 * 3];
    double worth[8 * 3];
    tacit_error err;
    assert_ok(tacit_world_solve(world, best, worth, &err));
    for (size_t h = 0; h < 6; h++) /* the last action leads nowhere */
        for (size_t s = 0; s < 3; s++)
            assert_int_equal(best[h * 3 + s], hidden[h]);
}

/* The best action of a lock by hand, over two steps: from neutral, 0.9 of the kind answer and 0.1 of the other. */
TEST(the_lock_is_worth_what_it_says)
{
    static const tacit_setting settings[] = {{"horizon", "2", 1}};
    SCOPED(tacit_world) *world = world_of("lock", settings, 1);
    double good = 0.9 * 0.85 + 0.1 * 0.05, neutral = 0.9 * 0.10 + 0.1 * 0.10;
    assert_close(tacit_world_describe(world)->optimal_value, 0.2 + 0.2 * neutral + good, 1e-12);
}

/* The same values, but what is paid is 0 or 1, and nobody is told the means. */
TEST(hidden_rewards_have_the_means_of_known_ones)
{
    static const char *const kinds[] = {"lock", "random-mixture"};
    const tacit_setting hidden = SET("rewards", "hidden");
    for (size_t i = 0; i < N_OF(kinds); i++) {
        SCOPED(tacit_world) *known = world_of(kinds[i], NULL, 0),
                            *other = world_of(kinds[i], &hidden, 1);
        const tacit_world_facts *a = tacit_world_describe(known), *b = tacit_world_describe(other);
        assert_non_null(a->rewards);
        assert_null(b->rewards);
        assert_close(b->optimal_value, a->optimal_value, 1e-12);
        tacit_walk *walk = NULL;
        SCOPED(tacit_noise) *noise = simulated_noise(3);
        double paid = 0, wanted = 0;
        uint32_t same[256] = {0}, states[33], actions[32];
        double rewards[32];
        assert_true(b->horizon * b->n_states <= N_OF(same) && b->horizon <= 32);
        assert_ok(tacit_walk_create(other, noise, &walk, NULL));
        for (uint64_t k = 0; k < 4000; k++) {
            assert_ok(tacit_walk_play(walk, k, same, states, actions, rewards));
            for (size_t h = 0; h < b->horizon; h++) {
                assert_true(rewards[h] == 0 || rewards[h] == 1);
                paid += rewards[h];
            }
        }
        tacit_walk_destroy(walk);
        assert_ok(tacit_world_evaluate(other, same, scratch, &wanted));
        assert_within(paid / 4000 - wanted, -0.1, 0.1); /* five standard errors of sums in [0, 6] */
    }
}

TEST(random_mixtures_mix_their_kernels)
{
    static const tacit_setting settings[] = {
        {"d", "2", 1}, {"states", "5", 1}, {"horizon", "3", 1}};
    SCOPED(tacit_world) *world = world_of("random-mixture", settings, 3);
    const tacit_world_facts *f = tacit_world_describe(world);
    const tacit__mdp *mdp = tacit__world_mdp(world);
    double row[2 * 5];
    f->mixture->row(f->mixture->context, 0, 0, row);
    for (size_t h = 0; h < 3; h++) { /* the weight that explains one row explains all */
        double p = probability(mdp, h * 5, 0, 0), a = row[0] * sqrt(2), b = row[5] * sqrt(2);
        double weights[2] = {(p - b) / (a - b), 1 - (p - b) / (a - b)};
        assert_within(weights[0], -1e-9, 1 + 1e-9);
        check_mixture(world, h, weights);
    }
    SCOPED(tacit_world) *same = world_of("random-mixture", settings, 3);
    assert_true(tacit_world_describe(same)->optimal_value == f->optimal_value);
}

/* --- Deep sea ----------------------------------------------------------------------------------- */

TEST(the_treasure_is_worth_a_hundredth_less_than_one)
{
    static const tacit_setting settings[][3] = {
        {{"size", "2", 1}, {"shuffle", "no", 1}, {NULL, NULL, 0}},
        {{"size", "10", 1}, {"shuffle", "no", 1}, {NULL, NULL, 0}},
        {{"size", "10", 1}, {"shuffle", "yes", 1}, {"seed", "4", 1}}};
    for (size_t k = 0; k < N_OF(settings); k++) {
        SCOPED(tacit_world) *world = world_of("deep-sea", settings[k], k == 2 ? 3 : 2);
        const tacit_world_facts *facts = tacit_world_describe(world);
        size_t n = facts->horizon, S = n * (n + 1) / 2;
        assert_int_equal(facts->n_states, S);
        assert_int_equal(tacit_world_unreachable(world, NULL), 0);
        assert_true(fabs(facts->optimal_value - 1) < 1e-12);
        assert_close(tacit_world_original_value(world, facts->optimal_value), 0.99, 1e-12);
        assert_ok(tacit_world_solve(world, policy, values, NULL));
        /* The best way is the diagonal; left all the way costs and earns nothing. */
        size_t n_flipped = 0;
        for (size_t row = 0; row < n; row++)
            n_flipped += policy[row * S + row * (row + 1) / 2 + row] == 0;
        assert_true(k == 2 ? n_flipped > 0 : n_flipped == 0);
        if (k < 2) {
            double value;
            memset(policy, 0, sizeof policy);
            assert_ok(tacit_world_evaluate(world, policy, scratch, &value));
            assert_true(fabs(tacit_world_original_value(world, value)) < 1e-12);
        }
    }
}

/* --- Grids -------------------------------------------------------------------------------------- */

TEST(without_slipping_the_goal_is_reached_if_time_allows)
{
    static const struct {
        const char *map, *horizon;
        double value;
    } cases[] = {
        {"4x4", "6", 1}, {"4x4", "5", 0}, {"8x8", "14", 1}, {"8x8", "13", 0}, {"SG", "1", 1}};
    for (size_t k = 0; k < N_OF(cases); k++) {
        const tacit_setting settings[] = {
            {"map", cases[k].map, 1}, {"horizon", cases[k].horizon, 1}, {"slip", "0", 1}};
        SCOPED(tacit_world) *world = world_of("grid", settings, 3);
        assert_true(tacit_world_describe(world)->optimal_value == cases[k].value);
    }
}

TEST(slipping_goes_to_the_two_sides)
{
    static const tacit_setting settings[] = {{"map", "SFF/FSF/FFG", 1}, {"slip", "0.25", 1}};
    SCOPED(tacit_world) *world = world_of("grid", settings, 2);
    const tacit__mdp *mdp = tacit__world_mdp(world);
    static const uint32_t toward[4] = {3, 7, 5, 1};
    for (uint32_t a = 0; a < 4; a++) {
        assert_true(probability(mdp, 4, a, toward[a]) == 0.75);
        assert_true(probability(mdp, 4, a, toward[(a + 1) % 4]) == 0.125);
        assert_true(probability(mdp, 4, a, toward[(a + 3) % 4]) == 0.125);
        assert_true(probability(mdp, 8, a, 8) == 1 &&
                    mdp->reward[8 * 4 + a] == 0); /* the goal keeps */
    }
    assert_true(probability(mdp, 0, 0, 0) == 0.875 && probability(mdp, 0, 0, 3) == 0.125);
    assert_true(mdp->reward[7 * 4 + 2] == 0.75 && mdp->reward[7 * 4 + 1] == 0.125);
    assert_int_equal(mdp->n_initial, 2);
    assert_true(mdp->initial_prob[0] == 0.5 && mdp->initial[1] == 4);
}

TEST(the_slippery_lake_is_hard)
{
    static const tacit_setting settings[] = {{"slip", "0.6666666666666666", 1},
                                             {"horizon", "1000", 1}};
    SCOPED(tacit_world) *world = world_of("grid", settings, 2);
    /* Known: the best policy of the 4x4 lake reaches the goal with probability 14/17 = 0.8235. */
    assert_within(tacit_world_describe(world)->optimal_value, 14.0 / 17 - 1e-6, 14.0 / 17 + 1e-6);
}

TEST(a_map_can_come_from_a_file)
{
    char path[] = "/tmp/tacit_map_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs("SFF\r\nFHF \nFFG\n\n \r\n", f);
    assert_int_equal(fclose(f), 0);
    const tacit_setting settings[] = {{"map_file", path, 1}, {"slip", "0", 1}};
    tacit_world *world = world_of("grid", settings, 2);
    assert_int_equal(tacit_world_describe(world)->n_states, 9);
    assert_true(tacit_world_describe(world)->optimal_value == 1);
    tacit_world_destroy(world);

    f = fopen(path, "w");
    assert_non_null(f);
    fputs("SFF\nFH\nFFG\n", f);
    assert_int_equal(fclose(f), 0);
    const char *message =
        fmt("%s:2: row 2 of the map has 2 cells, expected 3, as many as the first", path);
    refuse_world("grid", settings, 2, TACIT_SYNTAX, message);
    assert_int_equal(remove(path), 0);
}

/* --- Wrong settings ----------------------------------------------------------------------------- */

static void refuse(char *text, char answer[CASE_TEXT])
{
    tacit_world *world = NULL;
    tacit_error err = {.message = ""};
    tacit_setting settings[2];
    tacit_world_request request = {.settings = settings, .file = "lake/test.yaml", .line = 2};
    char *rest = text;
    (void)case_rest(text);
    request.kind = strsep(&rest, " ");
    while (rest != NULL) {
        char *value = strsep(&rest, " "), *key = strsep(&value, "=");
        assert_true(request.n_settings < N_OF(settings));
        settings[request.n_settings] = (tacit_setting){key, value, 3 + (int)request.n_settings};
        request.n_settings++;
    }
    tacit_status status = tacit_world_create(&request, &world, &err);
    assert_null(world);
    case_answer(answer, status, &err);
}

TEST(wrong_settings_are_explained)
{
    cases_run("unit/cases/world_kinds", NULL, refuse);
}

TEST(incomplete_calls_are_refused)
{
    SCOPED(tacit_world) *world = NULL;
    static const tacit_setting no_value[] = {{"states", NULL, 0}};
    tacit_world_request request = {.kind = NULL};
    assert_status(tacit_world_create(NULL, &world, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_world_create(&request, &world, NULL), TACIT_BAD_ARGUMENT);
    request.kind = "riverswim";
    assert_status(tacit_world_create(&request, NULL, NULL), TACIT_BAD_ARGUMENT);
    request.n_settings = 1;
    assert_status(tacit_world_create(&request, &world, NULL), TACIT_BAD_ARGUMENT);
    request.settings = no_value;
    assert_status(tacit_world_create(&request, &world, NULL), TACIT_BAD_ARGUMENT);
    assert_null(world);
    world = world_of("riverswim", NULL, 0);
    policy[0] = 2;
    double value;
    assert_status(tacit_world_evaluate(world, policy, scratch, &value), TACIT_BAD_ARGUMENT);
    assert_status(tacit_world_evaluate(world, NULL, scratch, &value), TACIT_BAD_ARGUMENT);
    assert_status(tacit_world_evaluate_mixed(world, NULL, scratch, &value), TACIT_BAD_ARGUMENT);
    assert_status(tacit_world_solve(world, NULL, values, NULL), TACIT_BAD_ARGUMENT);
}

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    static const tacit_setting shuffled[] = {{"shuffle", "yes", 1}};
    static const char *const kinds[] = {"riverswim", "random-tabular", "grid",
                                        "deep-sea",  "random-mixture", "lock"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *kind = kinds[k];
        bool deep = strcmp(kind, "deep-sea") == 0;
        const tacit_world_request request = {SETTINGS_OF(deep ? shuffled : NULL, deep),
                                             .kind = kind};
        SCOPED(tacit_world) *world = NULL;
        assert_survives_no_memory(tacit_world_create(&request, &world, NULL), assert_null(world));
    }
}

/* What no machine can build or solve in reasonable time is refused before any of it is drawn: else this test would take
 * minutes. */
TEST(sizes_are_refused_before_anything_is_built)
{
    static const struct {
        const char *kind;
        tacit_setting settings[4];
    } cases[] = {
        {"random-mixture",
         {SET("d", "8"), SET("states", "3000"), SET("actions", "8"), SET("horizon", "6")}},
        {"random-mixture",
         {SET("d", "10000"), SET("states", "300"), SET("actions", "50"), SET("horizon", "2")}},
        {"random-linear",
         {SET("d", "1000"), SET("states", "2000"), SET("actions", "20"), SET("horizon", "1")}},
        {"random-linear",
         {SET("d", "50"), SET("states", "20000"), SET("actions", "20"), SET("horizon", "20")}},
        {"random-tabular",
         {SET("states", "100000"), SET("actions", "10"), SET("horizon", "1000000"),
          SET("branching", "2")}},
        {"riverswim",
         {SET("states", "1000000"), SET("horizon", "10000"), SET("mirror", "no"), {.key = NULL}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = 0;
        while (n < 4 && cases[i].settings[n].key != NULL)
            n++;
        const tacit_world_request request = {SETTINGS_OF(cases[i].settings, n),
                                             .kind = cases[i].kind};
        tacit_world *world = NULL;
        tacit_error err = {0};
        assert_status(tacit_world_create(&request, &world, &err), TACIT_TOO_LARGE);
        assert_null(world);
    }
}

/* What learners play, against formulas of their papers that tests/oracle/papers_oracle.py computes in the papers' own units:
 * calibration: published plays what is printed, and noise: published the printed noise with this library's bonus. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/agent.h>

#include "oracle/papers_oracle.inc"
#include "support/arena.h"
#include "support/check.h"

#define TOL 1e-9 /* relative; the oracle has twenty digits */

enum { STATES = 4, ACTIONS = 3 };

/* The line of this name; it must be there. */
static tacit_play line_of(const tacit_agent *agent, const char *name)
{
    tacit_play p;
    for (size_t i = 0; tacit_agent_play_at(agent, i, &p); i++)
        if (strcmp(p.name, name) == 0)
            return p;
    fail_msg("nothing is said about '%s'", name);
    return p;
}

static tacit_guarantee promise(double local, double epsilon, double delta)
{
    return (tacit_guarantee){local > 0 ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT, epsilon, delta};
}

static void features(void *context, uint32_t state, uint32_t action, double *out)
{
    const size_t d = *(const size_t *)context;
    (void)action;
    for (size_t j = 0; j < d; j++)
        for (uint32_t next = 0; next < STATES; next++)
            out[j * STATES + next] = (next == state ? 0.5 : 0.05) / sqrt((double)d);
}

static tacit_agent *hire_mixture(size_t i, tacit_calibration calibration)
{
    static const double rewards[STATES * ACTIONS] = {0, 1};
    static size_t dimension;
    dimension = (size_t)oracle_mixtures[i].d;
    const tacit_mixture mixture = {.dimension = dimension,
                                   .bound = 1,
                                   .parameter_norm = oracle_mixtures[i].w,
                                   .kernels = true,
                                   .nonnegative = true,
                                   .row = features,
                                   .context = &dimension};
    const tacit_agent_request request = {
        SPACE_OF(STATES, ACTIONS, (size_t)oracle_mixtures[i].h),
        .kind = oracle_mixtures[i].kind,
        .guarantee =
            promise(oracle_mixtures[i].local, oracle_mixtures[i].epsilon, oracle_mixtures[i].delta),
        .calibration = calibration,
        .stationary = true,
        .episodes = (uint64_t)oracle_mixtures[i].k,
        .mixture = &mixture,
        .rewards = rewards};
    return agent_of(&request, 1);
}

TEST(mixtures_play_what_is_printed)
{
    for (size_t i = 0; i < N_OF(oracle_mixtures); i++) {
        SCOPED(tacit_agent) *whole = hire_mixture(i, TACIT_CALIBRATION_PUBLISHED);
        SCOPED(tacit_agent) *noise = hire_mixture(i, TACIT_CALIBRATION_NOISE);
        SCOPED(tacit_agent) *tight = hire_mixture(i, TACIT_CALIBRATION_TIGHT);
        const tacit_play a = line_of(whole, oracle_mixtures[i].name),
                         b = line_of(noise, oracle_mixtures[i].name),
                         c = line_of(tight, oracle_mixtures[i].name);
        assert_close(a.printed, oracle_mixtures[i].printed, TOL);
        assert_close(a.played, oracle_mixtures[i].printed, TOL);
        assert_string_equal(a.note, "");
        assert_close(b.printed, oracle_mixtures[i].printed, TOL);
        assert_close(b.played, oracle_mixtures[i].played, TOL);
        assert_close(c.printed, oracle_mixtures[i].printed, TOL);
    }
}

/* In words: what a paper prints beside its numbers, and what is played instead where nothing is said. */
TEST(mixtures_play_the_printed_clips_and_schedules)
{
    static const char *const clips[] = {"Q to H", "Q to H", "Q to H - h + 1", "Q to H - h + 1"};
    static const char *const kinds[] = {"ucrl-vtr", "ucrl-vtr-plus", "linopt-vi", "linopt-po"};
    for (size_t i = 0; i < N_OF(oracle_mixtures); i++) {
        size_t k = 0;
        if (strcmp(oracle_mixtures[i].name, "radius, transitions") != 0)
            continue; /* once for each setting is enough */
        while (strcmp(kinds[k], oracle_mixtures[i].kind) != 0)
            k++;
        SCOPED(tacit_agent) *whole = hire_mixture(i, TACIT_CALIBRATION_PUBLISHED);
        SCOPED(tacit_agent) *tight = hire_mixture(i, TACIT_CALIBRATION_TIGHT);
        assert_string_equal(line_of(whole, "clip").printed_words, clips[k]);
        assert_string_equal(line_of(whole, "clip").played_words, clips[k]);
        assert_string_equal(line_of(tight, "clip").printed_words, clips[k]);
        assert_string_equal(line_of(tight, "clip").played_words, "r to 1, P V to H - h");
        assert_string_equal(line_of(whole, "releases").played_words, "every user");
        assert_string_equal(line_of(tight, "releases").played_words,
                            oracle_mixtures[i].local > 0 || k == 3 ? "every user" : "growth(1.02)");
    }
}

static tacit_agent *hire_tabular(size_t i, tacit_calibration calibration)
{
    const tacit_agent_request request = {
        SPACE_OF((size_t)oracle_tabular[i].s, (size_t)oracle_tabular[i].a,
                 (size_t)oracle_tabular[i].h),
        .kind = "dp-ucbvi",
        .guarantee = promise(oracle_tabular[i].local, oracle_tabular[i].epsilon, 0),
        .calibration = calibration,
        .stationary = true,
        .episodes = (uint64_t)oracle_tabular[i].k};
    return agent_of(&request, 1);
}

/* E, and what has it as a factor, is printed without a constant; it is played as the oracle reads it. */
TEST(dp_ucbvi_plays_what_is_printed)
{
    for (size_t i = 0; i < N_OF(oracle_tabular); i++) {
        SCOPED(tacit_agent) *whole = hire_tabular(i, TACIT_CALIBRATION_PUBLISHED);
        const tacit_play p = line_of(whole, oracle_tabular[i].name);
        assert_close(p.played, oracle_tabular[i].printed, TOL);
        if (p.printed_words[0] != '\0')
            assert_close(p.printed, oracle_tabular[i].printed, TOL);
        else
            assert_non_null(strchr(p.name, 'E'));
        static const char *const words[][3] = {{"bonus", "printed", "practical"},
                                               {"bonus, its fourth term", "yes", "no"},
                                               {"minimum with the last Q", "yes", "no"},
                                               {"clip of Q", "H", "H - h + 1"},
                                               {"tables", "one for each step", "one for all steps"},
                                               {"releases", "every user", "growth(1.02)"}};
        SCOPED(tacit_agent) *tight = hire_tabular(i, TACIT_CALIBRATION_TIGHT);
        for (size_t w = 0; w < N_OF(words); w++) {
            const bool joint = oracle_tabular[i].local == 0 || w + 1 < N_OF(words);
            assert_string_equal(line_of(whole, words[w][0]).printed_words, words[w][1]);
            assert_string_equal(line_of(whole, words[w][0]).played_words, words[w][1]);
            assert_string_equal(line_of(tight, words[w][0]).printed_words, words[w][1]);
            assert_string_equal(line_of(tight, words[w][0]).played_words, words[w][joint ? 2 : 1]);
        }
    }
}

/* A setting that is given wins over the paper's, and the list shows it. */
TEST(settings_win_over_the_paper)
{
    const tacit_setting settings[] = {SET("bonus_scale", "0.5"), SET("monotone", "no"),
                                      SET("pooled", "yes")};
    const tacit_agent_request request = {SPACE_OF(3, 2, 4),
                                         SETTINGS_OF(settings, 3),
                                         .kind = "dp-ucbvi",
                                         .guarantee = {TACIT_MODEL_JOINT, 1, 0},
                                         .calibration = TACIT_CALIBRATION_PUBLISHED,
                                         .stationary = true,
                                         .episodes = 100};
    SCOPED(tacit_agent) *agent = agent_of(&request, 1);
    const tacit_play p = line_of(agent, "bonus, factor of sqrt(Var / n)");
    assert_close(p.played, p.printed / 2, TOL);
    assert_string_equal(p.note, "bonus_scale 0.5");
    assert_string_equal(line_of(agent, "minimum with the last Q").played_words, "no");
    assert_string_equal(line_of(agent, "tables").played_words, "one for all steps");
    assert_string_equal(line_of(agent, "bonus").played_words, "printed");
}

static tacit_agent *hire_capri(size_t i, tacit_calibration calibration)
{
    enum { MOST = 30 };
    static double points[MOST];
    const size_t n = (size_t)oracle_capri[i].n;
    for (size_t w = 0; w < n; w++)
        points[w] = (double)w / (double)n;
    const tacit_bandit bandit = {.dimension = 1,
                                 .bound = 1,
                                 .points = points,
                                 .kernel = "se(0.3)",
                                 .parameter_norm = oracle_capri[i].b};
    const tacit_agent_request request = {
        SPACE_OF(n / 3, 3, 1),
        .kind = "capri",
        .guarantee = promise(oracle_capri[i].local, oracle_capri[i].epsilon, oracle_capri[i].delta),
        .calibration = calibration,
        .stationary = true,
        .episodes = (uint64_t)oracle_capri[i].t,
        .bandit = &bandit};
    return agent_of(&request, 1);
}

TEST(capri_plays_what_is_printed)
{
    for (size_t i = 0; i < N_OF(oracle_capri); i++) {
        SCOPED(tacit_agent) *whole = hire_capri(i, TACIT_CALIBRATION_PUBLISHED);
        SCOPED(tacit_agent) *noise = hire_capri(i, TACIT_CALIBRATION_NOISE);
        const tacit_play a = line_of(whole, oracle_capri[i].name),
                         b = line_of(noise, oracle_capri[i].name);
        assert_close(a.printed, oracle_capri[i].printed, TOL);
        assert_close(a.played, oracle_capri[i].printed, TOL);
        assert_close(b.printed, oracle_capri[i].printed, TOL);
        if (strcmp(oracle_capri[i].name, "noise") == 0)
            assert_close(b.played, oracle_capri[i].printed, TOL);
        else
            assert_true(isnan(b.played)); /* its width is another one */
        assert_string_equal(line_of(whole, "width").played_words, "theory");
        assert_string_equal(line_of(noise, "width").played_words, "pairwise");
    }
}

/* Of each state and action a feature. */
TEST(lsvi_ucb_plays_what_is_printed)
{
    for (size_t i = 0; i < N_OF(oracle_lsvi); i++) {
        const bool doubling = oracle_lsvi[i].doubling > 0;
        const tacit_setting settings[] = {SET("schedule", doubling ? "doubling" : "batched")};
        const tacit_agent_request request = {
            SPACE_OF((size_t)oracle_lsvi[i].d, 1, (size_t)oracle_lsvi[i].h),
            SETTINGS_OF(settings, 1),
            .kind = "lsvi-ucb",
            .guarantee = promise(0, oracle_lsvi[i].epsilon, oracle_lsvi[i].delta),
            .calibration = TACIT_CALIBRATION_PUBLISHED,
            .episodes = (uint64_t)oracle_lsvi[i].k};
        const struct {
            const char *name;
            double value;
        } lines[] = {{"bonus beta", oracle_lsvi[i].beta},
                     {"ridge and shift", oracle_lsvi[i].ridge},
                     {"noise of Gram matrices", oracle_lsvi[i].gram},
                     {"noise of responses", oracle_lsvi[i].response * (oracle_lsvi[i].h + 1)},
                     {doubling ? "switches at most" : "batches", oracle_lsvi[i].releases}};
        SCOPED(tacit_agent) *agent = agent_of(&request, 1);
        for (size_t j = 0; j < N_OF(lines); j++) {
            const tacit_play p = line_of(agent, lines[j].name);
            assert_close(p.printed, lines[j].value, TOL);
            assert_close(p.played, lines[j].value, TOL);
        }
    }
}

/* Nothing that was recalled stands in the column of what is printed. */
TEST(recalled_constants_are_not_printed_ones)
{
    static const char *const kinds[] = {"private-ucb-vi", "private-ucb-po", "pucb", "ldp-obi"};
    for (size_t k = 0; k < N_OF(kinds); k++) {
        const tacit_agent_request request = {SPACE_OF(3, 2, 4),
                                             .kind = kinds[k],
                                             .guarantee = promise(k == 3, 1, 0),
                                             .calibration = TACIT_CALIBRATION_RECALLED,
                                             .stationary = true,
                                             .episodes = 100};
        SCOPED(tacit_agent) *agent = agent_of(&request, 1);
        tacit_play p;
        size_t n = 0;
        for (; tacit_agent_play_at(agent, n, &p); n++)
            assert_string_equal(p.printed_words, "");
        assert_true(n >= 5);
    }
}

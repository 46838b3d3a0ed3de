/* Gate 1 for LSVI: every schedule, model and calibration, for all kinds of features, at horizons of 4, 11 and 20.
 *
 * One user is replaced, with the releases frozen. Then everything that others meet is the same, and the loss is at most what
 * the plan declares, line by line; the worst pair of users is found by hill climbing. Here switch times depend on releases, so
 * that "the same calls" says that they depend on nothing else. */
#include "support/lsvi.h"
#include "support/neighbors.h"

enum { USERS = 8, SETTINGS = 6 };

typedef struct setup {
    tacit_setting settings[SETTINGS];
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    const char *sums;
    uint64_t visits, apart;
    bool pooled; /* all steps are alike; features are not carried then */
} setup;

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6}, pure = {TACIT_MODEL_JOINT, 1, 0};

/* Shares of the declared loss that must be reached; responses are counted together with the Gram matrices with which their bound is
 * argued. */
typedef struct least {
    double gram, responses, whole;
} least;

/* No vector of the signed table has the largest L1 norm. */
static least least_of(const setup *s, lsvi_form form, least l)
{
    return form == LSVI_SIGNED && s->guarantee.delta == 0 ? (least){0.5, 0.9, 0.67} : l;
}

static void check(const setup *s, least wanted)
{
    static const size_t horizons[] = {4, 11, 20};
    static const char *const names[] = {"one-hot", "simplex", "signed", "carried"};
    static crowd c;
    size_t n = 0;
    while (n < SETTINGS && s->settings[n].key != NULL)
        n++;
    for (int form = LSVI_ONE_HOT; form <= (s->pooled ? LSVI_SIGNED : LSVI_CARRIED); form++)
        for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++) {
            c = (crowd){.request = {SPACE_OF(LSVI_S, LSVI_A, horizons[i]),
                                    SETTINGS_OF(s->settings, n), .kind = "lsvi-ucb",
                                    .guarantee = s->guarantee, .calibration = s->calibration,
                                    .sums = s->sums, VISITS_OF(s->visits, s->apart),
                                    .episodes = USERS, .stationary = s->pooled,
                                    .linear = lsvi_linear((lsvi_form)form)},
                        .features = form == LSVI_CARRIED ? CROWD_SIMPLEX : CROWD_NUMBERED,
                        .rows = LSVI_A,
                        .dimension = LSVI_D,
                        .bound = 1};
            crowd_fill(&c, 1);
            const least l = least_of(s, (lsvi_form)form, wanted);
            neighbors_assert(&c, &(neighbors_wish){.note = names[form],
                                                   .restarts = 3,
                                                   .moves = 60,
                                                   .least = {l.gram, l.responses},
                                                   .least_whole = l.whole});
        }
}

#define SET(name, text)                                                                            \
    {                                                                                              \
        .key = (name), .value = (text)                                                             \
    }
/* All values are at their caps: with a reward of 1 these are the far ends of every response. */
#define LARGE_BONUS SET("bonus_scale", "0.99")

TEST(batches_move_by_what_they_declare)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4"),
                                SET("gram_share", "0.6")},
                   .guarantee = joint},
          (least){0.99, 0.94, 0.94});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4"),
                                SET("center", "no"), SET("gram", "sums")},
                   .guarantee = joint,
                   .sums = "tree"},
          (least){0.99, 0.94, 0.94});
}

/* Batches that grow, and targets in units of the values' span, which is 0 where all values are at their caps. */
TEST(growing_batches_move_by_what_they_declare)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "growth"), SET("switches", "4")},
                   .guarantee = joint},
          (least){0.9, 0.6, 0.6});
    check(&(setup){.settings = {SET("bonus_scale", "0.01"), SET("switches", "3"),
                                SET("shift", "0.1"), SET("gram", "direct")},
                   .guarantee = joint},
          (least){0.9, 0.6, 0.6});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "growth"), SET("switches", "4")},
                   .guarantee = pure},
          (least){0.9, 0.6, 0.6});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "growth"), SET("switches", "4")},
                   .guarantee = joint,
                   VISITS_OF(3, 2)},
          (least){0.3, 0.2, 0.3});
}

/* Where most of the budget is on responses the worst pair shares its features and has opposite centered targets. That needs values
 * which the large bonus excludes; test_curator_lsvi.c asks with others and gets beyond 0.9. */
TEST(centered_responses_move_by_what_is_declared)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "3"),
                                SET("gram", "direct")},
                   .guarantee = joint},
          (least){0.99, 0.68, 0.68});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "every")}, .guarantee = joint},
          (least){0.99, 0.68, 0.68});
}

TEST(pure_responses_move_by_what_is_declared)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4")},
                   .guarantee = pure},
          (least){0.99, 0.94, 0.95});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4"),
                                SET("gram", "sums")},
                   .guarantee = pure},
          (least){0.99, 0.94, 0.95});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "every")}, .guarantee = pure},
          (least){0.99, 0.94, 0.95});
}

/* A factor just above 1 and little shift: noise itself asks for switches. After the last of them no more Gram matrices are asked
 * for, so that a part of their sum is never used; and the first user may come before it. */
TEST(doubling_moves_by_what_it_declares)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "doubling"), SET("switches", "3"),
                                SET("switch_factor", "1.01"), SET("test_every", "1"),
                                SET("shift", "2")},
                   .guarantee = joint},
          (least){0.8, 0.6, 0.6});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "doubling"), SET("switches", "2"),
                                SET("switch_factor", "1.01"), SET("test_every", "2"),
                                SET("center", "no")},
                   .guarantee = joint},
          (least){0.85, 0.6, 0.6});
}

/* The same, asked for by growth in some direction. */
TEST(rayleigh_moves_by_what_it_declares)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "rayleigh"), SET("switches", "3"),
                                SET("switch_factor", "1.01"), SET("test_every", "1"),
                                SET("shift", "2")},
                   .guarantee = joint},
          (least){0.8, 0.6, 0.6});
}

/* One Gram matrix for all steps of a user, who is in each of the H responses of a switch with all of them. */
TEST(pooled_steps_move_by_what_they_declare)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4"),
                                SET("center", "no"), SET("gram", "sums")},
                   .guarantee = joint,
                   .pooled = true},
          (least){0.99, 0.94, 0.94});
    check(&(setup){.settings = {SET("bonus_scale", "0.01"), SET("switches", "3"),
                                SET("shift", "0.1"), SET("gram", "direct")},
                   .guarantee = joint,
                   .pooled = true},
          (least){0.99, 0.7, 0.7});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4")},
                   .guarantee = pure,
                   .pooled = true},
          (least){0.99, 0.94, 0.95});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "rayleigh"), SET("switches", "3"),
                                SET("switch_factor", "1.01"), SET("test_every", "1")},
                   .guarantee = joint,
                   .pooled = true},
          (least){0.8, 0.94, 0.94});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4")},
                   .guarantee = joint,
                   VISITS_OF(3, 2),
                   .pooled = true},
          (least){0.99, 0.94, 0.6});
}

/* Printed constants are for features anywhere in the ball and targets of any sign; without the settings above, eight users ask for no
 * switch, and so for no response. */
TEST(the_printed_constants_move_by_what_is_declared_too)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4")},
                   .guarantee = joint,
                   .calibration = TACIT_CALIBRATION_PUBLISHED},
          (least){0.95, 0.37, 0.42});
    check(&(setup){.settings = {LARGE_BONUS},
                   .guarantee = joint,
                   .calibration = TACIT_CALIBRATION_PUBLISHED},
          (least){0.95, 0, 0.8});
}

/* All visits of one person are replaced, from every user on. Gram matrices and responses are each declared at their own worst, which
 * no pair of users reaches for both. */
TEST(people_who_come_back_move_gram_matrices_and_responses_no_further_than_declared)
{
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4"),
                                SET("center", "no"), SET("gram", "sums")},
                   .guarantee = joint,
                   VISITS_OF(3, 2)},
          (least){0.8, 0.2, 0.3});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4"),
                                SET("gram", "direct")},
                   .guarantee = joint,
                   VISITS_OF(2, 3)},
          (least){0.9, 0.2, 0.3});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "every")},
                   .guarantee = joint,
                   VISITS_OF(4, 1)},
          (least){0.9, 0.2, 0.3});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "doubling"), SET("switches", "3"),
                                SET("switch_factor", "1.01"), SET("test_every", "1")},
                   .guarantee = joint,
                   VISITS_OF(2, 4)},
          (least){0.1, 0, 0.05});
    check(&(setup){.settings = {LARGE_BONUS, SET("schedule", "batched"), SET("batches", "4")},
                   .guarantee = pure,
                   VISITS_OF(3, 2)},
          (least){0.5, 0.5, 0.5});
}

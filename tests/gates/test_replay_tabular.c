/* Gate 1 for tabular learners: every kind, every model that it has, both calibrations, and every option that changes what is
 * declared, at horizons of 4, 11 and 20.
 *
 * One user is replaced, with the releases frozen. Then everything that others meet is the same, and the loss is at most what
 * the plan declares, line by line; the worst pair of users is found by hill climbing and shows how much of each line is in
 * use. */
#include <string.h>

#include "agents/tabular_agents.h"
#include "support/check.h"
#include "support/kinds.h"
#include "support/neighbors.h"

enum { STATES = 3, ACTIONS = 2, USERS = 8, SETTINGS = 4 };

typedef struct setup {
    const char *kind;
    tacit_setting settings[SETTINGS];
    double line,
        whole; /* shares of the declared loss that must be reached: of each line, of all; 0: TIGHT */
    size_t moves;
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    const char *sums;
    uint64_t visits, apart;
} setup;

static const size_t horizons[] = {4, 11, 20};
enum { HORIZONS = sizeof horizons / sizeof *horizons };

#define TIGHT 0.99 /* what is declared is reached; a search need not end at the last digit */

static void check_at(const setup *s, size_t horizon, bool devices)
{
    static crowd c;
    size_t n = 0;
    while (n < SETTINGS && s->settings[n].key != NULL)
        n++;
    c = (crowd){.request = {SPACE_OF(STATES, ACTIONS, horizon), SETTINGS_OF(s->settings, n),
                            .kind = s->kind, .guarantee = s->guarantee,
                            .calibration = s->calibration, .sums = s->sums,
                            VISITS_OF(s->visits, s->apart), .stationary = true, .episodes = USERS},
                .devices = devices};
    crowd_fill(&c, 1);
    neighbors_wish wish = {
        .restarts = 4, .moves = s->moves, .least_whole = s->whole > 0 ? s->whole : TIGHT};
    for (size_t i = 0; i < TAPE_LINES; i++)
        wish.least[i] = s->line > 0 ? s->line : TIGHT;
    neighbors_assert(&c, &wish);
}

static void check(const setup *s)
{
    for (size_t i = 0; i < HORIZONS; i++)
        check_at(s, horizons[i], false);
    if (s->guarantee.model == TACIT_MODEL_LOCAL)
        check_at(s, horizons[0], true);
}

static void each_promise(setup s, unsigned models)
{
    for (unsigned model = TACIT_AGENT_JOINT_PURE; model <= TACIT_AGENT_LOCAL; model *= 2)
        if ((models & model) != 0) {
            s.guarantee = guarantee_in(model, 1, 1e-6);
            check(&s);
        }
}

enum {
    ALL_JOINT = TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT,
    ALL_LOCAL = TACIT_AGENT_LOCAL_PURE | TACIT_AGENT_LOCAL,
    ALL_GAUSSIAN = TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL
};

static void each_model(setup s)
{
    each_promise(s, ALL_JOINT | ALL_LOCAL);
}

static void each_gaussian(setup s)
{
    each_promise(s, ALL_GAUSSIAN);
}

static void each_local(setup s)
{
    each_promise(s, ALL_LOCAL);
}

#define SET(name, text)                                                                            \
    {                                                                                              \
        .key = (name), .value = (text)                                                             \
    }

/* Moves of a climb: where the curator was not searched before, and where only the planner is another. */
enum { LONG = 80, SHORT = 30 };

TEST(dp_ucbvi_moves_by_what_it_declares)
{
    each_model((setup){.kind = "dp-ucbvi", .settings = {SET("pooled", "no")}, .moves = LONG});
    each_model((setup){.kind = "dp-ucbvi",
                       .settings = {SET("pooled", "yes"), SET("user_norm", "1")},
                       .moves = LONG});
}

/* All visits of one person are replaced. The first ones are the worst for blt; the worst for trees may begin elsewhere. */
TEST(people_who_come_back_move_by_what_is_declared)
{
    static const setup each[] = {
        {.kind = "dp-ucbvi", .settings = {SET("pooled", "no")}, .moves = LONG, VISITS_OF(3, 2)},
        {.kind = "dp-ucbvi",
         .settings = {SET("pooled", "yes"), SET("user_norm", "1")},
         .moves = SHORT,
         VISITS_OF(2, 4)},
        {.kind = "private-ucb-vi",
         .settings = {SET("pooled", "no")},
         .moves = SHORT,
         VISITS_OF(4, 1)}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        setup s = each[i];
        each_gaussian(s);
        s.line = s.whole = 0.6;
        each_promise(s, TACIT_AGENT_JOINT_PURE | TACIT_AGENT_LOCAL_PURE);
        s.sums = "tree";
        each_promise(s, TACIT_AGENT_JOINT);
    }
}

/* Truncated visits. The last ones have half of what is left of the budget: 29/32 of it at 4 steps. By default two visits of a pair
 * count; where a policy leaves three pairs to a user, these are 12 of a budget of 20. */
#define MOST_OF_BUDGET 0.85
#define THREE_PAIRS 0.55 /* a search need not find all */

TEST(truncated_users_move_by_what_is_declared)
{
    each_model((setup){.kind = "dp-ucbvi",
                       .settings = {SET("pooled", "yes")},
                       .line = THREE_PAIRS,
                       .whole = THREE_PAIRS,
                       .moves = LONG});
    each_gaussian((setup){
        .kind = "dp-ucbvi",
        .settings = {SET("pooled", "yes"), SET("user_norm", "0.5"), SET("user_visits", "0")},
        .line = MOST_OF_BUDGET,
        .whole = MOST_OF_BUDGET,
        .moves = LONG});
}

/* Users of a batch move one release, and there are three of them. */
TEST(rare_releases_move_by_what_they_declare)
{
    each_promise((setup){.kind = "dp-ucbvi",
                         .settings = {SET("pooled", "yes"), SET("schedule", "growth(2)")},
                         .line = THREE_PAIRS,
                         .whole = THREE_PAIRS,
                         .moves = SHORT},
                 ALL_JOINT);
    each_promise((setup){.kind = "pucb",
                         .settings = {SET("pooled", "no"), SET("schedule", "growth(1.5)")},
                         .moves = SHORT},
                 ALL_JOINT);
}

/* Users who spend half of the horizon in each of two cells; at a horizon of 11 a step is left over, and 51 of 55 is what 5, 5 and
 * 1 visits come to. */
TEST(the_first_visits_move_by_what_is_declared)
{
    static const char *const norms[] = {"1", "0.5"}, *const visits[] = {"2", "5", "10"};
    for (size_t n = 0; n < 2; n++)
        for (size_t i = 0; i < HORIZONS; i++)
            for (unsigned model = TACIT_AGENT_JOINT; model <= TACIT_AGENT_LOCAL; model *= 2)
                if ((ALL_GAUSSIAN & model) != 0)
                    check_at(&(setup){.kind = "dp-ucbvi",
                                      .settings = {SET("pooled", "yes"), SET("user_norm", norms[n]),
                                                   SET("user_visits", visits[i])},
                                      .guarantee = guarantee_in(model, 1, 1e-6),
                                      .line = 0.8,
                                      .whole = 0.8,
                                      .moves = LONG},
                             horizons[i], false);
}

/* Per step the moves of the last step are left out unless told. */
TEST(all_moves_move_by_what_is_declared)
{
    each_model((setup){.kind = "dp-ucbvi",
                       .settings = {SET("pooled", "no"), SET("drop_last", "no")},
                       .moves = LONG});
}

TEST(single_step_reports_move_by_what_they_declare)
{
    each_local((setup){.kind = "dp-ucbvi",
                       .settings = {SET("pooled", "no"), SET("report", "step")},
                       .moves = LONG});
    each_local(
        (setup){.kind = "dp-ucbvi",
                .settings = {SET("pooled", "no"), SET("report", "step"), SET("streams", "2")},
                .moves = LONG});
}

/* Visits that are sums of moves. Pooled, users whose rewards differ most share their cells and cannot leave them by other moves at
 * every step. */
TEST(two_streams_move_by_what_they_declare)
{
    each_model((setup){
        .kind = "dp-ucbvi", .settings = {SET("pooled", "no"), SET("streams", "2")}, .moves = LONG});
    each_model((setup){.kind = "dp-ucbvi",
                       .settings = {SET("pooled", "yes"), SET("streams", "2")},
                       .line = THREE_PAIRS,
                       .whole = 0.5,
                       .moves = LONG});
    each_gaussian(
        (setup){.kind = "dp-ucbvi",
                .settings = {SET("pooled", "yes"), SET("streams", "2"), SET("user_norm", "1")},
                .line = 0.9,
                .whole = 0.7,
                .moves = LONG});
}

/* Half of them are told to pool their steps, and those that must. */
TEST(other_planners_have_the_same_curator)
{
    for (size_t i = 0; i < tacit__tabular_rows.n; i++) {
        const tacit__agent_row *row = &tacit__tabular_rows.at[i];
        const bool pooled = i % 2 != 0 || ((const tabular_parts *)row->parts)->pooled;
        if (strcmp(row->kind.name, "dp-ucbvi") != 0)
            each_promise((setup){.kind = row->kind.name,
                                 .settings = {SET("pooled", pooled ? "yes" : "no")},
                                 .line = pooled ? THREE_PAIRS : 0,
                                 .whole = pooled ? THREE_PAIRS : 0,
                                 .moves = SHORT},
                         row->kind.models);
    }
}

TEST(trees_and_printed_constants_move_by_what_is_declared)
{
    each_promise(
        (setup){
            .kind = "dp-ucbvi", .settings = {SET("pooled", "no")}, .sums = "tree", .moves = SHORT},
        ALL_JOINT);
    for (size_t i = 0; i < tacit__tabular_rows.n; i++) {
        const tacit__agent_row *row = &tacit__tabular_rows.at[i];
        const unsigned models =
            row->kind.models & (TACIT_AGENT_JOINT_PURE | TACIT_AGENT_LOCAL_PURE);
        each_promise((setup){.kind = row->kind.name,
                             .settings = {SET("pooled", "yes")},
                             .calibration = row->print.recalled ? TACIT_CALIBRATION_RECALLED
                                                                : TACIT_CALIBRATION_NOISE,
                             .moves = SHORT},
                     models);
    }
    each_promise((setup){.kind = "dp-ucbvi",
                         .settings = {SET("pooled", "no")},
                         .calibration = TACIT_CALIBRATION_PUBLISHED,
                         .moves = SHORT},
                 TACIT_AGENT_JOINT_PURE | TACIT_AGENT_LOCAL_PURE);
}

/* The tabular learners: one row for each, with its parameters, its planner, and where its paper
 * prints its noise.
 *
 * Defaults. `bonus_scale` and `error_scale` below 1 void the regret theorem, never the privacy:
 * scales of noise do not depend on them. The defaults are what learns within tens of thousands of
 * users. calibration: published has the paper's; bonus_scale: 1 switches the others to the theorem
 * as well (error_scale 1, all of a user counts, the running minimum on, a proven bonus), unless they
 * are set too. */
#include "agents/tabular/tabular_agents.h"
#include "plan/papers/ldp_obi.h"
#include "plan/papers/private_ucb.h"
#include "plan/papers/pucb.h"
#include "plan/papers/ucbvi.h"

/* The settings that all of them have. */
#define SHARED(scale, error)                                                                       \
    TACIT__TEXT("pooled", "auto",                                                                  \
                "one model for all steps: yes, no, or auto (as the world says)"),                  \
        TACIT__REAL("bonus_scale", scale, 0, 1e6,                                                  \
                    "multiplies the statistical bonus; 1 is the theorem"),                         \
        TACIT__REAL("error_scale", error, 0, 1e6,                                                  \
                    "multiplies the allowance for what noise does to a count; 1 is the theorem, "  \
                    "and the default if bonus_scale is 1"),                                        \
        TACIT__REAL("failure", "0.1", 1e-12, 0.5, "probability that the bounds fail"),             \
        TACIT__TEXT("schedule", "",                                                                \
                    "joint: counts are released after every user, or by growth(1.2): when there "  \
                    "are 1.2 times as many, with less noise; default growth(1.02), if "            \
                    "bonus_scale is 1 every"),                                                     \
        TACIT__INTEGER("user_visits", "", 0, 1e6,                                                  \
                       "pooled, delta > 0: how many of a user's visits to a state and action "     \
                       "count; 0 counts all, and is the default if bonus_scale or user_norm is "   \
                       "1; else 2, or more where user_norm is large"),                             \
        TACIT__REAL("user_norm", "", 0.001, 1,                                                     \
                    "pooled, delta > 0: a user's visits count in full while the L2 norm of those " \
                    "counted has room for them, then less; the norm's bound, as a share of the "   \
                    "horizon; 1 counts all, and is the default if bonus_scale is 1; else by a "    \
                    "public rule, at least 1 / sqrt(horizon)")

static const tacit_parameter plain_parameters[] = {SHARED("0.01", "0.0001")};

static const tacit_parameter ucbvi_parameters[] = {
    SHARED("0.1", "0.2"),
    TACIT__TEXT("bonus", "",
                "practical, bernstein, hoeffding, certificate, printed, azar-hoeffding or "
                "azar-bernstein; default practical (noise of a paper: bernstein), if "
                "bonus_scale is 1 hoeffding (noise of a paper: printed); calibration published: "
                "printed; practical takes error_scale times standard deviations for the noise, the "
                "others times levels, and have the default 0.001"),
    TACIT__REAL("threshold", "", 0, 100,
                "noisy moves below this many times sqrt(2 ln S) standard deviations count as 0;"
                " default 1 with bonus practical, else 0"),
    TACIT__TEXT(
        "monotone", "auto",
        "the estimated value of an action may only fall from plan to plan: yes, no, or auto "
        "(yes if bonus_scale is 1)"),
    TACIT__TEXT("report", "all",
                "local: a user reports all steps, or one step drawn by public chance"),
    TACIT__TEXT(
        "drop_last", "auto",
        "pooled: no; do not release where the last step leads, which no decision needs: yes, "
        "no, or auto (yes with calibration tight, reports of all steps and three streams)"),
    TACIT__INTEGER("streams", "3", 2, 3,
                   "noisy tables that are released: 3 (visits, moves, rewards), or 2 (moves and "
                   "rewards; visits are then sums of noisy moves)"),
};

static const tacit_parameter private_ucb_po_parameters[] = {
    SHARED("0.01", "0.0001"),
    TACIT__REAL("step_size", "0", 0, 1e6,
                "eta; 0 is the theorem's sqrt(2 ln A / (H^2 K)) if bonus_scale is 1 or the "
                "noise is recalled, else 60 times that"),
};

static const tacit_parameter ldp_obi_parameters[] = {
    SHARED("0.01", "0.0001"),
    TACIT__REAL("alpha", "2", 1.000001, 1e6, "how much of the noise is added to the visits"),
};

#define ALL_MODELS                                                                                 \
    (TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |      \
     TACIT_AGENT_LOCAL)

/* The scales of [CZ22]. */
#define OF_CZ22                                                                                    \
    {                                                                                              \
        .joint = "[CZ22]: Laplace 3 H log(K) / epsilon on every node, as [QW23]",                  \
        .local = "[CZ22]: Laplace 3 H / epsilon on every number of a report, as [QW23]",           \
        .recalled = true, .pure = true                                                             \
    }

static const tacit__agent_row rows[] = {
    {.kind = {"ucbvi", "optimistic value iteration, without privacy", "Azar, Osband, Munos 2017",
              TACIT_AGENT_NONE, ucbvi_parameters, TACIT__COUNT(ucbvi_parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const tabular_parts){.planner = &tacit__ucbvi, .laplace = 3}},
    {.kind = {"dp-ucbvi", "UCBVI on noisy counts made valid again; with model none it is ucbvi",
              "Qiao, Wang 2023", ALL_MODELS, ucbvi_parameters, TACIT__COUNT(ucbvi_parameters)},
     .print = {.joint = "[QW23, section 5.1, Lemma 5.1]: binary mechanism, Laplace 3 H log(K) / "
                        "epsilon on every node",
               .local = "[QW23, section 5.2]: Laplace 3 H / epsilon on every number of a report",
               .pure = true},
     .curator = &tacit__one_curator,
     .parts = &(const tabular_parts){.planner = &tacit__ucbvi, .laplace = 3}},
    {.kind = {"private-ucb-vi", "value iteration on noisy ratios", "Chowdhury, Zhou 2022",
              ALL_MODELS & ~(unsigned)TACIT_AGENT_NONE, plain_parameters,
              TACIT__COUNT(plain_parameters)},
     .print = OF_CZ22,
     .curator = &tacit__one_curator,
     .parts = &(const tabular_parts){.planner = &tacit__private_ucb_vi, .laplace = 3}},
    {.kind = {"private-ucb-po", "policy optimization on noisy ratios", "Chowdhury, Zhou 2022",
              ALL_MODELS, private_ucb_po_parameters, TACIT__COUNT(private_ucb_po_parameters)},
     .print = OF_CZ22,
     .curator = &tacit__one_curator,
     .parts = &(const tabular_parts){.planner = &tacit__private_ucb_po, .laplace = 3}},
    {.kind = {"pucb", "optimism above a threshold on noisy visits",
              "Vietri, Balle, Krishnamurthy, Wu 2020", TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT,
              plain_parameters, TACIT__COUNT(plain_parameters)},
     .print = {.joint = "[VBKW20]: binary mechanism, Laplace 3 H log(K) / epsilon on every node",
               .recalled = true,
               .pure = true},
     .curator = &tacit__one_curator,
     .parts = &(const tabular_parts){.planner = &tacit__pucb, .laplace = 3}},
    {.kind = {"ldp-obi", "optimistic backward induction on local reports",
              "Garcelon, Perchet, Pike-Burke, Pirotta 2021",
              TACIT_AGENT_LOCAL_PURE | TACIT_AGENT_LOCAL, ldp_obi_parameters,
              TACIT__COUNT(ldp_obi_parameters)},
     .print = {.local = "[GPPP21]: Laplace 6 H / epsilon on every number of a report",
               .recalled = true,
               .pure = true},
     .curator = &tacit__one_curator,
     .parts = &(const tabular_parts){.planner = &tacit__ldp_obi, .laplace = 6, .pooled = true}},
};

const tacit__agent_rows tacit__tabular_rows = {rows, TACIT__COUNT(rows)};

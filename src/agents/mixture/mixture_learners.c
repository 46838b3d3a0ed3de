/* The learners for linear mixtures: one row for each, with its parameters, its planner, and where
 * its paper prints its noise.
 *
 * Defaults. `bonus_scale` and `shift_scale` below 1 void the regret theorem, never the privacy:
 * scales of noise do not depend on them. At the theorem's values every learner here saturates its
 * clips and plays nearly blindly for less than 10^5 users; the defaults are what learns within some
 * ten thousand (docs/why/linear.md). calibration: published has the theorem's; bonus_scale: 1 switches
 * the others to the theorem as well, unless they are set too. */
#include "agents/mixture/mixture_agents.h"
#include "plan/papers/linopt.h"
#include "plan/papers/linopt_po.h"
#include "plan/papers/ucrl_vtr.h"

/* When sums are released if nothing is said about it: docs/why/linear.md#when-to-release. */
#define RARE "growth(1.02), if bonus_scale is 1 every"
#define EVERY "every"

/* The settings that all of them have. */
#define SHARED(bonus, shift, releases)                                                             \
    TACIT__REAL("bonus_scale", bonus, 0, 1e6, "multiplies the bonus; 1 is the theorem"),           \
        TACIT__REAL("shift_scale", shift, 0, 1e6,                                                  \
                    "multiplies what is added to noisy Gram matrices; 1 is the theorem, and the "  \
                    "default if bonus_scale is 1"),                                                \
        TACIT__REAL("lambda", "0", 0, 1e12,                                                        \
                    "ridge, where features are at most 1 long; 0: the algorithm's own"),           \
        TACIT__REAL("failure", "0.05", 1e-12, 0.5, "probability that the bounds fail"),            \
        TACIT__TEXT("center", "auto",                                                              \
                    "measure values from the middle of their range: yes, no, or auto"),            \
        TACIT__TEXT("nonneg", "auto",                                                              \
                    "use that no feature is negative, when not centered: yes, no, or auto"),       \
        TACIT__TEXT("schedule", "",                                                                \
                    "joint: sums are released after every user, or by growth(1.2): when there "    \
                    "are 1.2 times as many, with less noise; default " releases),                  \
        TACIT__TEXT("replan", "every",                                                             \
                    "a new plan after every user, after each doubling, or after this many users")

#define TRANSITION_SHARE                                                                           \
    TACIT__REAL("transition_share", "0.7", 0.01, 0.99,                                             \
                "of the privacy budget, for the transitions; the rest is for the rewards")

static const tacit_parameter ucrl_vtr_parameters[] = {SHARED("0.05", "1", RARE)};

static const tacit_parameter ucrl_vtr_plus_parameters[] = {
    SHARED("0.003", "1", RARE),
    TACIT__REAL("first_share", "0.75", 0.01, 0.99,
                "of the privacy budget, for the regression of values; the rest is for their "
                "squares"),
};

static const tacit_parameter linopt_vi_parameters[] = {SHARED("0.1", "0.2", RARE),
                                                       TRANSITION_SHARE};

static const tacit_parameter linopt_po_parameters[] = {
    SHARED("0.05", "0.05", EVERY),
    TRANSITION_SHARE,
    TACIT__REAL("step_scale", "20", 0, 1e6,
                "multiplies the step of the policy; 1 is the theorem, and the default if "
                "bonus_scale is 1"),
};

#define APPROXIMATE (TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL)
#define PURE (TACIT_AGENT_JOINT_PURE | TACIT_AGENT_LOCAL_PURE)

/* The scales of [Z22]. */
#define OF_Z22                                                                                     \
    {                                                                                              \
        .joint = "[Z22, Theorem 6.4]: (H D / epsilon) sqrt(32 m ln(4H/delta)), m = ceil(log2 K), " \
                 "D = d H^2, sqrt(d) H^2, 1, 1",                                                   \
        .local = "[Z22, section 6]: sketched only"                                                 \
    }

static const tacit__agent_row rows[] = {
    {.kind = {"ucrl-vtr", "value-targeted regression of an unknown mixture; rewards are known",
              "Luyo, Garcelon, Lazaric, Pirotta 2021, Alg. 1", APPROXIMATE | PURE,
              ucrl_vtr_parameters, TACIT__COUNT(ucrl_vtr_parameters)},
     .print = {.joint = "[LGLP21, Cor. 5]: (32 H^2 / epsilon) sqrt(2 H K0 log(8H/delta) "
                        "log(4/delta) log(16 H K0/delta)) on every node, K0 = ceil(log2(K) + 1)",
               .local = "[LGLP21, Cor. 6]: (4 H^3 / epsilon) sqrt(2 log(4H/delta))"},
     .curator = &tacit__one_curator,
     .parts = &(const mixture_parts){.form = TACIT__PLAIN,
                                     .confidence = tacit__ucrl_vtr_confidence,
                                     .print = tacit__printed_ucrl_vtr,
                                     .clip = TACIT__CLIP_HORIZON,
                                     .rare = true,
                                     .events = 6,
                                     .streams = {"transitions"}}},
    {.kind = {"ucrl-vtr-plus", "the same, weighted by estimated variances",
              "Luyo, Garcelon, Lazaric, Pirotta 2021, Alg. 3", APPROXIMATE | PURE,
              ucrl_vtr_plus_parameters, TACIT__COUNT(ucrl_vtr_plus_parameters)},
     .print = {.joint = "[LGLP21, Cor. 10]: (64 d / epsilon) c and (64 H^4 / epsilon) c, c = "
                        "sqrt(2 H K0 log(16H/delta) log(8/delta) log(32 H K0/delta))",
               .local = "[LGLP21, Cor. 11]: (8 d H / epsilon) c and (8 H^5 / epsilon) c, c = "
                        "sqrt(2 log(8H/delta))"},
     .curator = &tacit__one_curator,
     .parts = &(const mixture_parts){.form = TACIT__VARIANCE,
                                     .confidence = tacit__ucrl_vtr_plus_confidence,
                                     .print = tacit__printed_ucrl_vtr_plus,
                                     .clip = TACIT__CLIP_HORIZON,
                                     .rare = true,
                                     .events = 24,
                                     .streams = {"transitions", "squares"},
                                     .share = "first_share"}},
    {.kind = {"linopt-vi", "value iteration for an unknown mixture with unknown rewards",
              "Zhou 2022, Alg. 1", APPROXIMATE, linopt_vi_parameters,
              TACIT__COUNT(linopt_vi_parameters)},
     .print = OF_Z22,
     .curator = &tacit__one_curator,
     .parts = &(const mixture_parts){.form = TACIT__REWARDS,
                                     .confidence = tacit__linopt_confidence,
                                     .print = tacit__printed_linopt,
                                     .clip = TACIT__CLIP_SUM,
                                     .rare = true,
                                     .events = 4,
                                     .streams = {"transitions", "rewards"},
                                     .share = "transition_share"}},
    {.kind = {"linopt-po", "policy optimization for an unknown mixture with unknown rewards",
              "Zhou 2022, Alg. 2", APPROXIMATE, linopt_po_parameters,
              TACIT__COUNT(linopt_po_parameters)},
     .print = OF_Z22,
     .curator = &tacit__one_curator,
     .parts = &(const mixture_parts){.form = TACIT__REWARDS,
                                     .confidence = tacit__linopt_confidence,
                                     .soft = &tacit__linopt_po,
                                     .print = tacit__printed_linopt,
                                     .clip = TACIT__CLIP_SUM,
                                     .events = 4,
                                     .streams = {"transitions", "rewards"},
                                     .share = "transition_share"}},
};

const tacit__agent_rows tacit__mixture_rows = {rows, TACIT__COUNT(rows)};

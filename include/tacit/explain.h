/* Explanations: the guarantee that an agent claims, its releases, and what the accountant computes from them,
 * as plain data.
 *
 *     tacit_explanation_request request = {.claim = guarantee, .plan = tacit_agent_release_plan(agent)};
 *     tacit_explanation_create(&request, &explanation, &err);
 *     puts(explanation->words);                       "the claim holds"
 *
 * `tacit explain` and the report print the same explanation. It does not depend on the noise that is drawn.
 * Sentences are in English, without a period at the end, and call epsilon and delta by these names. */
#ifndef TACIT_EXPLAIN_H
#define TACIT_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/agent.h>
#include <tacit/plan.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacit_verdict {
    TACIT_VERDICT_NOTHING, /* there is no guarantee */
    TACIT_VERDICT_HOLDS,
    TACIT_VERDICT_OPEN, /* less can be proved than was claimed, but the claim is not refuted */
    TACIT_VERDICT_FAILS
} tacit_verdict;

/* "promises nothing", "holds", "open", "fails". */
TACIT_API const char *tacit_verdict_name(tacit_verdict verdict);
/* "gaussian", "laplace", "response", "none"; "joint", "local", "none". */
TACIT_API const char *tacit_law_name(tacit_law law);
TACIT_API const char *tacit_model_name(tacit_model model);

/* One line of the release plan. */
typedef struct tacit_explained_release {
    tacit_release release; /* as it was declared */
    double scale;          /* of the noise: a standard deviation (Gaussian) or Laplace's b */
    double reach; /* how far one user moves all steps together, in the law's norm: l * column */
    double cost;  /* reach / scale: mu of Gaussian DP (squares add), or epsilon (they add) */
    const char *words; /* what is released, how far a person moves it, the noise: one paragraph */
} tacit_explained_release;

/* A point of the privacy profile: the epsilon that holds at this delta. */
typedef struct tacit_explained_point {
    double delta, epsilon;
} tacit_explained_point;

typedef struct tacit_explanation {
    tacit_guarantee claim;
    tacit_calibration calibration;
    tacit_verdict verdict;
    const char *words;     /* the verdict */
    const char *against;   /* the observers that the guarantee holds against */
    const char *neighbors; /* the data sets that must be indistinguishable */
    const char *remark;    /* tacit_agent_remark, or "" */
    const char *outside;   /* what happens to users outside the declared domain; "": refused */
    /* The rest is empty if there is no guarantee. */
    tacit_law law;
    const tacit_explained_release *releases;
    size_t n_releases;
    tacit_composition real;  /* what the scales give at the delta of the claim */
    const char *composition; /* how the costs of the releases add up to that */
    tacit_composition twice; /* the same for a person in two continuations of one saved state */
    /* The same scales at other deltas, ascending; empty for pure epsilon, which holds at every delta. */
    const tacit_explained_point *curve;
    size_t n_curve;
    const char *paper; /* where the constants of this kind and model are printed, or "" */
    /* Local model: what leaves a device, byte by byte, and the number of bytes (those of the numbers alone,
     * if the size of a report is not known); else "" and 0. */
    const char *report;
    uint64_t report_bytes;
    /* What the agent plays beside what its paper prints, with or without a guarantee. */
    const tacit_play *plays;
    size_t n_plays;
} tacit_explanation;

/* What to explain: the guarantee that was requested, and what an agent has declared for it. */
typedef struct tacit_explanation_request {
    tacit_guarantee claim;
    tacit_calibration calibration;
    const tacit_plan *plan;   /* calibrated; NULL: there are no private releases */
    const char *kind;         /* of the agent; NULL: nothing is said about a paper */
    const char *remark;       /* tacit_agent_remark; NULL: none */
    tacit_outside outside;    /* as in the agent's request */
    bool baseline;            /* does not learn from users */
    size_t report_bytes;      /* local: what tacit_agent_report says a report takes; 0: not known */
    const char *beside;       /* local: what else leaves the device, in words; NULL: nothing */
    const tacit_agent *agent; /* whose constants are compared with its paper's; NULL: nobody's */
} tacit_explanation_request;

/* Everything is copied. A claim without a plan is BAD_PLAN. */
TACIT_API TACIT_MUST_USE tacit_status tacit_explanation_create(
    const tacit_explanation_request *request, tacit_explanation **out, tacit_error *err);
TACIT_API void tacit_explanation_destroy(tacit_explanation *explanation);

/* What no guarantee here covers: sentence i, or NULL beyond the last. */
TACIT_API const char *tacit_explanation_exception(size_t i);

#ifdef __cplusplus
}
#endif

#endif

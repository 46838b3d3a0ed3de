/* A report as plain data: filled from an experiment and its results, then rendered. */
#ifndef TACIT_REPORT_MODEL_H
#define TACIT_REPORT_MODEL_H

#include <tacit/explain.h>
#include <tacit/lab.h>

/* An agent in a world. Curves are NULL, and numbers NaN, where no run was finished. */
typedef struct tacit__report_outcome {
    const char *kind; /* that plays: what the entry's kind stands for */
    uint64_t n_runs;
    double regret, error, half, late, switches, seconds; /* error, half: as in tacit_summary */
    double *per_run;                                     /* [runs], NaN where not finished */
    double *mean, *low, *high;                           /* [n_points], over the finished runs */
    double *errors;             /* [n_points], standard errors of the mean */
    tacit_explanation *promise; /* NULL: not known before the agent has played */
    bool plays;
    tacit_estimate estimate; /* where the world is a log */
    uint64_t n_not_learned;  /* of the runs */
    bool flagged;            /* a learner of which half of the runs or more did not learn */
} tacit__report_outcome;

typedef struct tacit__report_world {
    const char *name, *kind;
    const tacit_setting *settings;
    size_t n_settings;
    tacit_visitors visitors;
    size_t n_states, n_actions, horizon; /* 0: unknown */
    double optimal_value;
    bool logged;    /* a log of what others did: nothing is exact */
    bool has_share; /* regret may be given as a share of what the best policy earns */
    tacit_bar bar;  /* what a run must beat to have learned */
    tacit__report_outcome *outcomes; /* [n_agents] */
} tacit__report_world;

/* The looks of an agent in all figures. Agents that differ in epsilon alone are a family: one hue, lighter
 * for a smaller epsilon. Among lines of one hue no dash occurs twice. */
typedef struct tacit__style {
    int color; /* 0 no privacy, 1 .. TACIT__COLORS families, TACIT__GRAY baselines */
    int shade; /* -TACIT__SHADES, darkest, .. TACIT__SHADES, lightest */
    int dash;  /* 0 solid, 1, 2, .. see style.c */
} tacit__style;
enum { TACIT__COLORS = 6, TACIT__GRAY = 7, TACIT__SHADES = 4 };

typedef struct tacit__report_agent {
    const tacit_entry *entry;
    const tacit_agent_kind *kind;
    size_t family; /* of the private agents; SIZE_MAX: none */
    tacit__style style;
} tacit__report_agent;

/* A family of private agents, members by ascending epsilon. */
typedef struct tacit__report_family {
    size_t *members, n_members;
    char name[96];
    tacit__style style;
} tacit__report_family;

typedef struct tacit__report {
    const char *title, *file, *version;
    const char *command; /* NULL: made from the rest */
    uint64_t episodes, runs, seed;
    uint64_t n_jobs, n_done;
    tacit__report_world *worlds;
    size_t n_worlds;
    tacit__report_agent *agents;
    size_t n_agents;
    tacit__report_family *families;
    size_t n_families;
    size_t *members; /* [n_agents], storage of the families */
    uint64_t *at;    /* [n_points] episodes */
    size_t n_points;
} tacit__report;

/* Everything is copied or belongs to the results, which must outlive the report. */
TACIT_MUST_USE tacit_status tacit__report_fill(const tacit_results *results, tacit__report *out,
                                               tacit_error *err);
void tacit__report_empty(tacit__report *report);

/* Fails unless there is this world, and these agents (NULL: all). */
TACIT_MUST_USE tacit_status tacit__report_check(const tacit__report *report, size_t world,
                                                const size_t *agents, size_t n_agents,
                                                tacit_error *err);

/* Groups agents into families and gives styles; called by fill. */
void tacit__report_families(tacit__report *report);

#endif

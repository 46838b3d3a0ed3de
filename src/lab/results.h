/* The results of an experiment in memory. */
#ifndef TACIT_LAB_RESULTS_H
#define TACIT_LAB_RESULTS_H

#include <tacit/lab.h>

/* A curve has at most MAX_POINTS, and all curves together ALL_POINTS (160 MB): a stated choice. */
enum { TACIT__MAX_POINTS = 1000, TACIT__ALL_POINTS = 20000000 };
enum { TACIT__REMARK_BYTES = 400, TACIT__KIND_BYTES = 68 };

/* The facts about an agent in a world before it has played. */
typedef struct tacit__part {
    char kind[TACIT__KIND_BYTES]; /* never an alias */
    char remark[TACIT__REMARK_BYTES];
    tacit_plan *plan; /* NULL: nothing is promised */
} tacit__part;

struct tacit_results {
    tacit_experiment *experiment; /* shared */
    char version[32];
    size_t n_points, n_pairs, n_jobs;     /* job = run * n_pairs + pair */
    uint64_t *at;                         /* [n_points] episodes, ascending */
    tacit_job *jobs;                      /* [n_jobs] */
    double *curves;                       /* [n_jobs][n_points] */
    tacit_world_facts *worlds;            /* [n_worlds] */
    char (*remarks)[TACIT__REMARK_BYTES]; /* [n_worlds], theirs */
    double *optimal;                      /* [n_worlds], in original units */
    tacit__part *parts;                   /* [n_pairs] */
};

TACIT_MUST_USE tacit_status tacit__results_create(const tacit_experiment *experiment,
                                                  tacit_results **out, tacit_error *err);

#endif

/* Where jobs leave what they found. */
#ifndef TACIT_LAB_RESULTS_H
#define TACIT_LAB_RESULTS_H

#include <tacit/lab.h>

enum { TACIT__MAX_POINTS = 1000, TACIT__REMARK_BYTES = 240 };

struct tacit_results {
    size_t n_agents, n_points;
    uint64_t n_runs;
    double optimal_value;
    uint64_t *at;                         /* [n_points] episodes, ascending */
    tacit_job *jobs;                      /* [n_runs][n_agents]: the order of play */
    double *curves;                       /* [n_runs][n_agents][n_points] */
    char (*remarks)[TACIT__REMARK_BYTES]; /* [n_agents] */
};

TACIT_MUST_USE tacit_status tacit__results_create(const tacit_experiment_facts *facts,
                                                  tacit_results **out, tacit_error *err);

#endif

/* Settings that several families read from a request in the same way. */
#ifndef TACIT_AGENTS_READING_H
#define TACIT_AGENTS_READING_H

#include <tacit/agent.h>
#include <tacit/sum.h>

#include "text/values.h"

/* Rows of tables of parameters: name, default, range, help. */
#define TACIT__TEXT(name, fallback, help)                                                          \
    {                                                                                              \
        name, TACIT_PARAMETER_TEXT, fallback, 0, 0, help                                           \
    }
#define TACIT__REAL(name, fallback, low, high, help)                                               \
    {                                                                                              \
        name, TACIT_PARAMETER_REAL, fallback, low, high, help                                      \
    }
#define TACIT__INTEGER(name, fallback, low, high, help)                                            \
    {                                                                                              \
        name, TACIT_PARAMETER_INTEGER, fallback, low, high, help                                   \
    }

/* A request whose settings have been checked. */
typedef struct tacit__reading {
    const tacit_agent_request *request;
    const tacit_agent_kind *kind;
    tacit__values values;
} tacit__reading;

TACIT_MUST_USE tacit_status tacit__reading_open(const tacit_agent_request *request,
                                                const tacit_agent_kind *kind, tacit__reading *out,
                                                tacit_error *err);

/* A failure at the line of the agent. */
__attribute__((format(printf, 4, 5))) tacit_status tacit__reading_fail(
    const tacit__reading *reading, tacit_error *err, tacit_status status, const char *format, ...);

/* Fails unless `what`, which would need this many bytes, fits into half of the machine's memory;
 * `remedy` is what to do. In doubles, before anything is multiplied in integers. */
TACIT_MUST_USE tacit_status tacit__reading_check_memory(const tacit__reading *reading, double bytes,
                                                        const char *what, const char *remedy,
                                                        tacit_error *err);

/* Return whether a private request plays the algorithm of its paper as a whole (calibration:
 * published), and whether its noise is printed or recalled (noise: published, recalled) or that of a
 * figure as well. */
bool tacit__is_published(const tacit_agent_request *request);
bool tacit__is_noise_printed(const tacit_agent_request *request);

/* A number if it was given; else, under calibration: published, what the paper prints; else its default. */
double tacit__reading_real(const tacit__reading *reading, const char *name, double printed);

/* The mechanism of running sums: what `sums` says, else the papers' tree for their own
 * calibrations, else the least noisy one. */
TACIT_MUST_USE tacit_status tacit__reading_mechanism(const tacit__reading *reading,
                                                     tacit_sum_mechanism *out, tacit_error *err);

/* Refuses what learners without a paper do not have: a private request with any calibration but tight;
 * and those whose batches of users are shown once, running sums. */
TACIT_MUST_USE tacit_status tacit__check_tight(const tacit_agent_request *request,
                                               tacit_error *err);
TACIT_MUST_USE tacit_status tacit__check_batches(const tacit_agent_request *request,
                                                 tacit_error *err);

/* The setting `growth` of the users from release to release, from `least`; 0 means the usual one. */
TACIT_MUST_USE tacit_status tacit__reading_growth(const tacit__reading *reading, double least,
                                                  double usual, double *growth, tacit_error *err);

/* Reads how often sums are released: `schedule` is every, growth or growth(G). Every is 0, growth alone
 * `usual`, and `otherwise` is what it is if it was not given. */
TACIT_MUST_USE tacit_status tacit__reading_schedule(const tacit__reading *reading, double usual,
                                                    double otherwise, double *growth,
                                                    tacit_error *err);

/* Public chance that breaks ties; without a source of noise (model none) a fixed one. */
uint64_t tacit__reading_tie_seed(tacit_noise *noise);

#endif

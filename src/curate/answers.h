/* Local privacy for tables: a user answers one question about one step, by randomized response. The question
 * is where in the table the step is: which state, which action, which state follows, and how much it paid.
 * docs/why/posterior-tabular.md#local-privacy */
#ifndef TACIT_CURATE_ANSWERS_H
#define TACIT_CURATE_ANSWERS_H

#include "base/bytes.h"
#include "curate/weighted_curator.h"
#include "noise/response.h"

/* What follows from public numbers. */
typedef struct tacit__answers_shape {
    size_t cells;     /* (table, state, action, next state, how much it paid) */
    size_t followers; /* next states that are told apart: all, or 1 if nothing follows */
    size_t levels;    /* of what it paid, from 0 to 1; at least 2 */
    /* an answer is either about where a step led or about what it paid: there are cells for each */
    bool apart;
    size_t each;              /* answers of a user, about as many steps */
    bool hashed;              /* there are fewer answers than cells: each stands for many */
    tacit__response response; /* with epsilon / (each visits) */
    double expected,
        gain;        /* a cell's share of answers: of others' steps, and how much more of its own */
    double variance; /* of a cell's estimate, for each answer about another one */
} tacit__answers_shape;

/* False: the guarantee is too strong, or the table too large, for any answer to tell something. */
TACIT_MUST_USE bool tacit__answers_find(const tacit__weighted_options *options,
                                        tacit__answers_shape *out);

typedef struct tacit__answers tacit__answers;

TACIT_MUST_USE tacit_status tacit__answers_create(const tacit__weighted_options *options,
                                                  tacit_noise *noise, tacit__answers **out,
                                                  tacit_ledger **ledger, tacit_error *err);
void tacit__answers_destroy(tacit__answers *answers);

/* A user's report, which is all that leaves a device: [tacit__answers_bytes]. */
size_t tacit__answers_bytes(const tacit__answers *answers);
TACIT_MUST_USE tacit_status tacit__answers_give(tacit__answers *answers,
                                                const tacit_trajectory *user, void *bytes,
                                                tacit_error *err);

/* Whether a device can have made it, and adding it, if so. */
TACIT_MUST_USE tacit_status tacit__answers_check(const tacit__answers *answers, const void *bytes,
                                                 size_t size, tacit_error *err);
void tacit__answers_absorb(tacit__answers *answers, const void *bytes);

/* What the reports of so many users say: visits [rows], moves [rows][states] and rewards [rows], of
 * r - 1/2. */
void tacit__answers_estimate(const tacit__answers *answers, uint64_t users, double *visits,
                             double *moves, double *rewards);

/* Standard deviations of the noise of a row's visits, of a move, and of a row's rewards. Infinite: not
 * told; a row's visits are then the sum of its moves. */
typedef struct tacit__answers_noise {
    double visits, moves, rewards;
} tacit__answers_noise;
tacit__answers_noise tacit__answers_noise_of(const tacit__answers_shape *shape, double users);
const tacit__answers_shape *tacit__answers_shape_of(const tacit__answers *answers);

/* As part of a saved state (base/bytes.h), of so many users whose reports were added. */
void tacit__answers_fields(tacit__answers *answers, uint64_t users, tacit__saved *s);

#endif

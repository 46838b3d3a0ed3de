/* Local privacy for tables: a user answers one question about one step, by randomized response. The question
 * is where in the table the step is: which state, which action, which state follows, and how much it paid.
 * docs/why/posterior-tabular.md#local-privacy */
#ifndef TACIT_CONTRIBUTE_TABLE_ANSWERS_H
#define TACIT_CONTRIBUTE_TABLE_ANSWERS_H

#include "contribute/weighted.h"
#include "noise/response.h"

/* What follows from public numbers. */
typedef struct tacit__table_answers_shape {
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
} tacit__table_answers_shape;

/* False: the guarantee is too strong, or the table too large, for any answer to tell something;
 * `check` says so in words. */
TACIT_MUST_USE bool tacit__table_answers_find(const tacit__weighted_options *options,
                                              tacit__table_answers_shape *out);
TACIT_MUST_USE tacit_status tacit__table_answers_check(const tacit__weighted_options *options,
                                                       tacit_error *err);

typedef struct tacit__table_answers tacit__table_answers;

TACIT_MUST_USE tacit_status tacit__table_answers_create(const tacit__weighted_options *options,
                                                        tacit__table_answers **out,
                                                        tacit_error *err);

/* What passes the door. */
tacit__stream_spec tacit__table_answers_stream(const tacit__table_answers *answers);

/* The functions of such answers. */
extern const tacit__responder tacit__table_responder;

/* What the answers say at the last release, which is of so many users. */
tacit__weighted_counts tacit__table_answers_view(const tacit__table_answers *answers,
                                                 uint64_t users);

/* Standard deviations of the noise of a row's visits, of a move, and of a row's rewards. Infinite: not
 * told; a row's visits are then the sum of its moves. */
typedef struct tacit__table_answers_noise {
    double visits, moves, rewards;
} tacit__table_answers_noise;
tacit__table_answers_noise tacit__table_answers_noise_of(const tacit__table_answers_shape *shape,
                                                         double users);

#endif

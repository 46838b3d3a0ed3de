/* The model of a bandit world: how users are drawn, what each action earns on average, and the law of
 * rewards. */
#ifndef TACIT_WORLDS_BANDIT_H
#define TACIT_WORLDS_BANDIT_H

#include <tacit/world.h>

#include "text/values.h"

enum { TACIT__REMARK = 400 };

typedef struct tacit__bandit {
    tacit_bandit face;
    size_t n_contexts; /* 0: not numbered */
    size_t n_actions;
    /* 0: no limit. Otherwise `begin` gets the number of a person, not of a round */
    uint64_t people;
    bool shuffled; /* people come in an order of their own in each run */
    bool labeled;
    double reward_low, reward_high, optimal; /* optimal: with rewards in [0, 1], or NaN */
    char remark[TACIT__REMARK];
    size_t n_words; /* of chance that a context takes */
    /* Draws a user: fills the visitor; `features` and `means` are scratch for worlds that do not store
     * them. */
    void (*begin)(const void *self, uint64_t number, const uint64_t *words, double *features,
                  double *means, tacit_visitor *out);
    /* The reward in [0, 1] of an action that has one. */
    double (*reward)(const void *self, const tacit_visitor *visitor, uint32_t action,
                     uint64_t word);
    void (*destroy)(void *self); /* accepts NULL */
    void *self;
} tacit__bandit;

/* The following rounds are visits of this person, below 2^62: all have the same context, which is drawn
 * from the root and the person's number alone; rewards are drawn anew. Where users are people of a
 * file, it is theirs. */
void tacit__rounds_set_person(tacit_rounds *rounds, uint64_t person);

/* Randomness of a reward around its mean, both in [0, 1]. */
typedef struct tacit__reward_law {
    bool bernoulli;
    double half_width; /* of a uniform law, otherwise */
} tacit__reward_law;

/* The value `noise`, or, if that is empty, `otherwise`, which may be NULL: "bernoulli", or the
 * half-width in original units, which is what *half_width becomes. */
TACIT_MUST_USE tacit_status tacit__reward_law_read(const tacit__values *values,
                                                   const char *otherwise, bool *bernoulli,
                                                   double *half_width, tacit_error *err);
double tacit__reward_draw(tacit__reward_law law, double mean, uint64_t word);

/* Makes a number in [0, 1) of a random word. */
static inline double tacit__unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

#endif

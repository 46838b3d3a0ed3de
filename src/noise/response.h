/* Randomized response: answers out of g that may be given at random instead of truly.
 *
 * A word decides. The first g * share words give each answer as often, whatever the truth is; the others
 * give the true one. So an answer has probability share / 2^64 if it is not true, and if it is true as much
 * and the rest T = 2^64 - g * share: 1 + T / share times as much. */
#ifndef TACIT_NOISE_RESPONSE_H
#define TACIT_NOISE_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/status.h>

typedef struct tacit__response {
    uint64_t answers; /* g, at least 2 */
    uint64_t share;   /* words, at least 1 */
} tacit__response;

enum { TACIT__MOST_RESPONSE = 40 }; /* epsilon: more than that is not told apart by 64 bits */
#define TACIT__MOST_ANSWERS 0x1p40

/* The smallest share with which the true answer is at most e^epsilon times as likely as another one;
 * 2 <= answers <= MOST_ANSWERS. False: epsilon is so small that 64 bits do not tell the truth from chance. */
TACIT_MUST_USE bool tacit__response_find(double epsilon, uint64_t answers, tacit__response *out);

/* The probability that a given answer comes if it is not true, and how much more likely it is if it is. */
double tacit__response_other(const tacit__response *r);
double tacit__response_gain(const tacit__response *r);

static inline uint64_t tacit__response_give(const tacit__response *r, uint64_t word, uint64_t truth)
{
    const uint64_t at = word / r->share;
    return at < r->answers ? at : truth;
}

#endif

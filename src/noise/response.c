/* See noise/response.h. */
#include "noise/response.h"

#include <math.h>

#include "base/error.h"

/* Words that give the true answer: 2^64 - g * share, modulo 2^64; 0 only if there are none. */
static uint64_t true_words(const tacit__response *r)
{
    return 0 - r->answers * r->share;
}

/* 1 + T / share <= e^epsilon, with T = 2^64 - g share, if and only if share >= 2^64 / (e^epsilon - 1 + g).
 * The quotient is rounded up by more than the doubles are off; the condition is checked afterwards. */
bool tacit__response_find(double epsilon, uint64_t answers, tacit__response *out)
{
    TACIT__REQUIRE(answers >= 2 && (double)answers <= TACIT__MOST_ANSWERS);
    const double more = expm1(fmin(epsilon, TACIT__MOST_RESPONSE));
    const double least = 0x1p64 / (more + (double)answers) * (1 + 0x1p-40);
    const uint64_t most = UINT64_MAX / answers;
    *out = (tacit__response){.answers = answers, .share = most};
    if (least < (double)most && (uint64_t)ceil(least) < most)
        out->share = (uint64_t)ceil(least);
    return (double)true_words(out) <= more * (double)out->share;
}

double tacit__response_other(const tacit__response *r)
{
    return (double)r->share * 0x1p-64;
}

double tacit__response_gain(const tacit__response *r)
{
    return (double)true_words(r) * 0x1p-64;
}

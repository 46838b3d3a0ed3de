/* Bandit worlds share the law of a reward. */
#include "worlds/bandit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

tacit_status tacit__reward_law_read(const tacit__values *values, const char *otherwise,
                                    bool *bernoulli, double *half_width, tacit_error *err)
{
    TACIT__REQUIRE(bernoulli != NULL && half_width != NULL);
    *half_width = 0;
    const char *text = tacit__value_of(values, "noise")->text;
    if (text[0] == '\0' && otherwise != NULL)
        text = otherwise;
    *bernoulli = strcmp(text, "bernoulli") == 0;
    if (*bernoulli || (tacit__read_real(text, strlen(text), half_width) && *half_width >= 0))
        return TACIT_OK;
    return tacit__value_fail(values, "noise", err, TACIT_BAD_ARGUMENT,
                             "%s: noise is '%.40s', expected bernoulli, or the half-width of a "
                             "uniform law: a number >= 0",
                             values->origin.kind, text);
}

double tacit__reward_draw(tacit__reward_law law, double mean, uint64_t word)
{
    TACIT__REQUIRE(law.bernoulli || law.half_width >= 0);
    double u = tacit__unit(word);
    if (law.bernoulli)
        return u < mean;
    return fmin(1, fmax(0, mean + law.half_width * (2 * u - 1))); /* outside by rounding only */
}

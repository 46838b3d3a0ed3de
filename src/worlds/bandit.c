/* What bandit worlds share: the law of a reward. */
#include "worlds/bandit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

tacit_status tacit__reward_law_read(const tacit__value *value, const tacit__origin *origin,
                                    bool *bernoulli, double *half_width, tacit_error *err)
{
    TACIT__REQUIRE(bernoulli != NULL && half_width != NULL);
    *half_width = 0;
    *bernoulli = strcmp(value->text, "bernoulli") == 0;
    if (*bernoulli ||
        (tacit__read_real(value->text, strlen(value->text), half_width) && *half_width >= 0))
        return TACIT_OK;
    return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)value->line,
                          "%s: noise is '%.40s', expected bernoulli, or the half-width of a "
                          "uniform law: a number >= 0",
                          origin->kind, value->text);
}

double tacit__reward_draw(tacit__reward_law law, double mean, uint64_t word)
{
    TACIT__REQUIRE(law.bernoulli || law.half_width >= 0);
    double u = tacit__unit(word);
    if (law.bernoulli)
        return u < mean;
    return fmin(1, fmax(0, mean + law.half_width * (2 * u - 1))); /* outside by rounding only */
}

/* What bandit worlds share: the law of a reward, and words for those that are drawn at random. */
#include "worlds/bandit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/stream.h"

tacit_status tacit__reward_law_read(const tacit__value *value, const tacit__origin *origin,
                                    bool *bernoulli, double *half_width, tacit_error *err)
{
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
    double u = tacit__unit(word);
    if (law.bernoulli)
        return u < mean;
    return fmin(1, fmax(0, mean + law.half_width * (2 * u - 1))); /* outside by rounding only */
}

enum { BUFFER = 64 };

struct tacit__draws {
    tacit__site site;
    uint64_t drawn;
    size_t used;
    uint64_t buffer[BUFFER];
};

tacit_status tacit__draws_create(uint64_t seed, const char *name, tacit__draws **out)
{
    tacit_noise *noise;
    tacit_status status = tacit_noise_create_simulated(seed, &noise);
    if (status != TACIT_OK)
        return status;
    tacit__draws *d = tacit__alloc(1, sizeof *d);
    if (d != NULL) {
        tacit__site_open(&d->site, noise, name);
        d->used = BUFFER;
        *out = d;
    }
    tacit_noise_destroy(noise);
    return d != NULL ? TACIT_OK : TACIT_NO_MEMORY;
}

void tacit__draws_destroy(tacit__draws *draws)
{
    tacit__free(draws);
}

uint64_t tacit__draws_word(tacit__draws *d)
{
    if (d->used == BUFFER) {
        tacit__site_words(&d->site, 0, d->drawn, BUFFER, d->buffer);
        d->drawn += BUFFER;
        d->used = 0;
    }
    return d->buffer[d->used++];
}

double tacit__draws_normal(tacit__draws *d)
{
    double u = (tacit__unit(tacit__draws_word(d)) + 0x1p-54), v = tacit__unit(tacit__draws_word(d));
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v); /* Box and Muller */
}

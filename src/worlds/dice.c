/* Gamma variates by the method of Marsaglia and Tsang (2000), for shapes below one with their boost, as
 * logarithms: at concentration 0.001 the variates themselves would all be 0. */
#include "worlds/dice.h"

#include <math.h>

#include "base/error.h"

tacit_status tacit__dice_open(tacit__dice *dice, uint64_t seed, const char *name)
{
    TACIT__REQUIRE(name != NULL);
    tacit_noise *noise;
    TRY(tacit_noise_create_simulated(seed, &noise));
    *dice = (tacit__dice){.used = TACIT__DICE_BUFFER};
    tacit__site_open(&dice->site, noise, name);
    tacit_noise_destroy(noise);
    return TACIT_OK;
}

void tacit__dice_next(tacit__dice *dice)
{
    dice->step++;
    dice->drawn = 0;
    dice->used = TACIT__DICE_BUFFER;
}

uint64_t tacit__dice_word(tacit__dice *dice)
{
    if (dice->used == TACIT__DICE_BUFFER) {
        tacit__site_words(&dice->site, dice->step, dice->drawn, TACIT__DICE_BUFFER, dice->buffer);
        dice->drawn += TACIT__DICE_BUFFER;
        dice->used = 0;
    }
    return dice->buffer[dice->used++];
}

double tacit__dice_uniform(tacit__dice *dice)
{
    return ((double)(tacit__dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}

double tacit__dice_normal(tacit__dice *dice)
{
    double radius = sqrt(-2 * log(tacit__dice_uniform(dice)));
    return radius * cos(2 * M_PI * tacit__dice_uniform(dice)); /* Box and Muller */
}

double tacit__dice_log_gamma(tacit__dice *dice, double shape)
{
    TACIT__REQUIRE(shape > 0);
    if (shape < 1) { /* G(a) = G(a + 1) U^(1/a) */
        double log_larger = tacit__dice_log_gamma(dice, shape + 1);
        return log_larger + log(tacit__dice_uniform(dice)) / shape;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = tacit__dice_normal(dice), t = 1 + c * x, v = t * t * t;
        if (t > 0 && log(tacit__dice_uniform(dice)) < 0.5 * x * x + d - d * v + d * log(v))
            return log(d) + log(v);
    }
}

void tacit__dice_simplex(tacit__dice *dice, double concentration, size_t n, double *out)
{
    TACIT__REQUIRE(concentration > 0 && n > 0);
    double largest = -HUGE_VAL, sum = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = tacit__dice_log_gamma(dice, concentration);
        largest = fmax(largest, out[i]);
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = exp(out[i] - largest);
        sum += out[i];
    }
    for (size_t i = 0; i < n; i++)
        out[i] = out[i] / sum < TACIT__LEAST_PROB ? 0 : out[i] / sum;
}

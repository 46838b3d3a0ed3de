/* See contribute/questions.h. */
#include "contribute/questions.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

bool tacit__question_find(double cells, double epsilon, tacit__question *out)
{
    TACIT__REQUIRE(cells >= 2 && cells <= TACIT__MOST_ANSWERS);
    const double power = exp(fmin(epsilon, TACIT__MOST_RESPONSE));
    out->hashed = cells >= 3 * power + 2;
    const uint64_t answers = out->hashed ? (uint64_t)rint(power + 1) : (uint64_t)cells;
    if (!tacit__response_find(epsilon, answers, &out->response))
        return false;
    const double even = 1 / (double)answers, gain = tacit__response_gain(&out->response);
    out->expected = out->hashed ? even : tacit__response_other(&out->response);
    out->gain = out->hashed ? gain * (1 - even) : gain;
    out->variance = out->expected * (1 - out->expected) / (out->gain * out->gain);
    return isfinite(out->variance);
}

/* Words are public, so that a bias of 2^-40 is harmless. */
size_t tacit__question_step(uint64_t word, size_t left, size_t from, size_t steps)
{
    TACIT__REQUIRE(left > 0 && from + left <= steps);
    const double unit = tacit__question_unit(word);
    double none = 1;
    size_t h = from;
    for (; h + left < steps; h++) { /* the first of those that are left is not at h or before */
        none *= 1 - (double)left / (double)(steps - h);
        if (unit > none)
            break;
    }
    return h;
}

void tacit__question_fields(tacit__site *chance, tacit__saved *s)
{
    struct {
        uint8_t key[TACIT__KEY_BYTES];
        uint64_t simulated;
    } saved = {.simulated = chance->simulated};
    memcpy(saved.key, chance->key, sizeof saved.key);
    tacit__saved_value(s, &saved, sizeof saved);
    tacit__saved_check(s, saved.simulated <= 1);
    if (s->pass == TACIT__APPLY)
        tacit__site_restore(chance, saved.key, saved.simulated != 0);
}

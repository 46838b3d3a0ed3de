/* See audit/models.h. A model is a header of 24 bytes, which says whose it is, and numbers of 64 bits, low
 * byte first (agents/agent_bytes.c). More is not assumed: what no longer makes sense is declined by the
 * device, which is as it should be. */
#include "audit/models.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { HEADER = 24, NUMBER = 8 };

tacit_status tacit__model_first(const tacit__subject *s, uint64_t seed, tacit__message *out,
                                tacit_error *err)
{
    void *instance = NULL;
    tacit_billboard board;
    *out = (tacit__message){0};
    if (s->publish == NULL)
        return TACIT_OK;
    tacit_status status = s->open(s, seed, &instance, err);
    if (status == TACIT_OK)
        status = s->plan(instance, &board, err);
    if (status == TACIT_OK)
        status = s->publish(instance, NULL, &out->size, err);
    if (status == TACIT_OK) {
        out->bytes = tacit__alloc(out->size, 1);
        status = out->bytes != NULL ? s->publish(instance, out->bytes, &out->size, err)
                                    : tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    s->close(instance);
    return status;
}

static double number_at(const uint8_t *at)
{
    uint64_t bits = 0;
    double x;
    for (int i = 0; i < NUMBER; i++)
        bits |= (uint64_t)at[i] << (8 * i);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void set_number(uint8_t *at, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < NUMBER; i++)
        at[i] = (uint8_t)(bits >> (8 * i));
}

static void mutate_number(tacit__generator *generator, uint8_t *at, const uint8_t *neighbor)
{
    static const double values[] = {0, 1, -1, 1e3, -1e3, 1e200, -1e200, 1e-300};
    static const double factors[] = {-1, 0.5, 2, 30, 1e3, 1e200};
    uint64_t how = tacit__generator_below(generator, 4);
    if (how == 0)
        set_number(at, values[tacit__generator_below(generator, sizeof values / sizeof *values)]);
    else if (how == 1)
        set_number(
            at, number_at(at) *
                    factors[tacit__generator_below(generator, sizeof factors / sizeof *factors)]);
    else if (how == 2)
        set_number(at, number_at(at) + 2 * tacit__generator_unit(generator) - 1);
    else
        memcpy(at, neighbor, NUMBER);
}

size_t tacit__model_numbers(const tacit__message *model)
{
    return model->size < HEADER ? 0 : (model->size - HEADER) / NUMBER;
}

void tacit__model_set(tacit__message *model, size_t i, double value)
{
    TACIT__REQUIRE(i < tacit__model_numbers(model));
    set_number(model->bytes + HEADER + i * NUMBER, value);
}

void tacit__model_mutate(tacit__generator *generator, tacit__message *model)
{
    TACIT__REQUIRE(tacit__model_numbers(model) > 0);
    const size_t n = tacit__model_numbers(model);
    if (n == 0)
        return;
    uint64_t changes = tacit__generator_below(generator, 4) == 0
                           ? 1 + n / 2
                           : 1 + tacit__generator_below(generator, 3);
    for (; changes > 0; changes--) {
        size_t i = tacit__generator_below(generator, n), j = i + 1 < n ? i + 1 : 0;
        mutate_number(generator, model->bytes + HEADER + i * NUMBER,
                      model->bytes + HEADER + j * NUMBER);
    }
}

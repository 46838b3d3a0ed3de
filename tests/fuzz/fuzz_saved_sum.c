/* Loads saved sums that were tampered with.
 *
 * An input is a recipe: the first byte chooses the mechanism and its law, the second how many users the
 * saved sum has had, the third what is done to its bytes; the rest is for that:
 *
 *     bit 0   set: the checksum is made right afterwards, so that the code behind it is reached
 *     bit 1   clear: edits of three bytes each, offset (two, low first) and what is xored there;
 *             set: the rest replaces the state; with bit 2 the header of the true state is kept
 *
 * So every input contains a whole valid state, whatever the format is today, and the corpus stays small.
 *
 * A refusal must leave the sum fresh. An accepted state must be saved as the same bytes again and be able to
 * release; where only the header and the position were touched, it must be able to go on as well. (Numbers
 * are not judged: whoever can make a checksum right could have written any numbers.) */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/sum.h>

#include "fuzz/fuzz.h"
#include "noise/stream.h"
#include "support/scoped.h"

enum { N = 3, USERS = 6, KINDS = 8, MAX_STATE = 4096 };
enum { RIGHT_CHECKSUM = 1, REPLACE = 2, KEEP_HEADER = 4 };
enum { AT_PADDING = 13, HEADER = 160, CHECKSUM = 32 };

static const struct kind {
    tacit_sum_mechanism mechanism;
    tacit_law law;
    size_t position; /* bytes of the strategy's first region */
} kinds[KINDS] = {
    {TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN, 84},   {TACIT_SUM_TREE, TACIT_LAW_LAPLACE, 84},
    {TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN, 84}, {TACIT_SUM_SMOOTH, TACIT_LAW_LAPLACE, 84},
    {TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, 8},     {TACIT_SUM_LOCAL, TACIT_LAW_GAUSSIAN, 8},
    {TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE, 8},    {TACIT_SUM_EXACT, TACIT_LAW_NONE, 8},
};

static const double x[N] = {0.25, -0.5, 0.125};

/* A ledger of this kind; plans and noise are made once. */
static tacit_ledger *open_ledger(size_t kind, tacit_sum_spec *spec)
{
    static tacit_plan *plans[KINDS];
    static tacit_noise *noise;
    *spec = (tacit_sum_spec){.mechanism = kinds[kind].mechanism,
                             .law = kinds[kind].law,
                             .dimension = N,
                             .users = USERS,
                             .bound = {.l1 = 1, .l2 = 1}};
    if (noise == NULL)
        require(tacit_noise_create_simulated(1, &noise) == TACIT_OK);
    if (plans[kind] == NULL) {
        tacit_release line;
        require(tacit_sum_declare(spec, "sum", &line, NULL) == TACIT_OK);
        require(tacit_plan_create(&plans[kind]) == TACIT_OK);
        require(tacit_plan_declare(plans[kind], &line, NULL) == TACIT_OK);
        tacit_guarantee target = {TACIT_MODEL_JOINT, 1, spec->law == TACIT_LAW_GAUSSIAN ? 1e-6 : 0};
        if (spec->law == TACIT_LAW_NONE)
            target.model = TACIT_MODEL_NONE;
        require(tacit_plan_calibrate(plans[kind], target, NULL) == TACIT_OK);
    }
    tacit_ledger *ledger;
    require(tacit_ledger_create(plans[kind], noise, &ledger, NULL) == TACIT_OK);
    return ledger;
}

static tacit_sum *open_sum(size_t kind, tacit_ledger **ledger)
{
    tacit_sum_spec spec;
    tacit_sum *sum;
    *ledger = open_ledger(kind, &spec);
    require(tacit_sum_create(&spec, *ledger, "sum", &sum, NULL) == TACIT_OK);
    return sum;
}

/* The state after so many users. */
static size_t true_state(size_t kind, uint64_t users, uint8_t out[MAX_STATE])
{
    SCOPED(tacit_ledger) *ledger = NULL;
    SCOPED(tacit_sum) *sum = open_sum(kind, &ledger);
    size_t size = MAX_STATE;
    for (uint64_t k = 0; k < users; k++)
        require(tacit_sum_add(sum, x, NULL) == TACIT_OK);
    require(tacit_sum_save(sum, out, &size, NULL) == TACIT_OK);
    return size;
}

/* Follows the recipe; returns the new size, and how far into the state it was changed. */
static size_t tamper(uint8_t *saved, size_t n, uint8_t mode, const uint8_t *rest, size_t left,
                     size_t *changed_until)
{
    *changed_until = 0;
    if (mode & REPLACE) {
        size_t keep = mode & KEEP_HEADER ? HEADER : 0;
        left = left < MAX_STATE - keep ? left : MAX_STATE - keep;
        if (left > 0)
            memcpy(saved + keep, rest, left);
        *changed_until = SIZE_MAX;
        n = keep + left;
    } else {
        for (; left >= 3; rest += 3, left -= 3) {
            size_t at = (rest[0] | (size_t)rest[1] << 8) % n;
            saved[at] ^= rest[2];
            if (at < n - CHECKSUM && at >= *changed_until)
                *changed_until = at + 1;
        }
    }
    if ((mode & RIGHT_CHECKSUM) && n >= CHECKSUM)
        tacit__digest(&(tacit__bytes){saved, n - CHECKSUM}, 1, saved + n - CHECKSUM);
    return n;
}

/* (A local sum may have drawn the noise of more reports than it has added: then that is the end.) */
static void go_on(tacit_sum *sum, const tacit_ledger *ledger)
{
    double noisy[N];
    while (tacit_sum_step(sum) < USERS && tacit_ledger_passed(ledger, 0) < USERS) {
        require(tacit_sum_add(sum, x, NULL) == TACIT_OK);
        require(tacit_sum_release(sum, noisy, NULL) == TACIT_OK);
    }
    require(tacit_sum_add(sum, x, NULL) == TACIT_EXHAUSTED);
}

/* What was loaded is saved as the same bytes, but for three that mean nothing. */
static void save_again(const tacit_sum *sum, uint8_t *saved, size_t n)
{
    uint8_t again[MAX_STATE];
    size_t size = sizeof again;
    require(tacit_sum_save(sum, again, &size, NULL) == TACIT_OK);
    memset(saved + AT_PADDING, 0, 3);
    require(size == n && memcmp(again, saved, n - CHECKSUM) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    size_t kind = data[0] % KINDS, changed_until;
    uint8_t saved[MAX_STATE];
    size_t n = true_state(kind, data[1] % (USERS + 1), saved);
    n = tamper(saved, n, data[2], data + 3, size - 3, &changed_until);

    SCOPED(tacit_ledger) *ledger = NULL;
    tacit_error err = {0};
    SCOPED(tacit_sum) *sum = open_sum(kind, &ledger);
    tacit_status status = tacit_sum_load(sum, saved, n, &err);
    if (status == TACIT_OK) {
        double noisy[N];
        save_again(sum, saved, n);
        status = tacit_sum_release(sum, noisy, NULL);
        require(status == TACIT_OK || status == TACIT_RELEASED_TWICE ||
                status == TACIT_NOTHING_TO_RELEASE);
        if (changed_until <= HEADER + kinds[kind].position)
            go_on(sum, ledger);
    } else {
        require(status == TACIT_CORRUPT || status == TACIT_WRONG_VERSION ||
                status == TACIT_WRONG_PLAN);
        require(err.status == status && err.message[0] != '\0');
        require(tacit_sum_step(sum) == 0 && tacit_ledger_passed(ledger, 0) == 0);
        go_on(sum, ledger);
    }
    return 0;
}

/* The ledger and its door. See include/tacit/ledger.h and account/door.h.
 *
 * A gate's scale in lattice steps is scale * 2^bits, an exact product. What passes is exact + noise in
 * 64-bit integers; sums/ keeps |exact| below 2^61 and a draw is below MAX_DRAW * MAX_SCALE < 2^55, so the
 * addition cannot overflow; should it ever, the program stops rather than show a wrapped number. */
#include <tacit/ledger.h>

#include <math.h>
#include <string.h>

#include "account/door.h"
#include "account/plan.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/sampler.h"

struct tacit__gate {
    tacit_ledger *ledger;
    size_t index;
    bool open;
    tacit__site site;
    double scale; /* in lattice steps */
    double lattice;
    uint64_t passed;    /* steps begun */
    size_t next_offset; /* coordinates of the current step that have passed */
    int64_t *ahead;     /* noise of step `ahead_step`, drawn before it was wanted; NULL: none */
    uint64_t ahead_step, ahead_generation;
};

struct tacit_ledger {
    tacit_plan *plan;
    tacit__gate *gates; /* one for each line of the plan */
    bool simulated;
    tacit_journal_fn *journal;
    void *journal_context;
    tacit__recorder_fn *recorder;
    void *recorder_context;
};

tacit_status tacit_ledger_create(const tacit_plan *plan, tacit_noise *noise, tacit_ledger **out,
                                 tacit_error *err)
{
    if (plan == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (!tacit__plan_is_calibrated(plan))
        return tacit__fail(
            err, TACIT_BAD_PLAN,
            "the plan has no noise scales yet; calibrate it before opening a ledger");
    if (noise == NULL && tacit_plan_law(plan) != TACIT_LAW_NONE)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a plan with noise needs a source of noise");
    tacit_ledger *ledger = tacit__alloc(1, sizeof *ledger);
    if (ledger == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    ledger->gates = tacit__alloc(tacit_plan_size(plan), sizeof *ledger->gates);
    if (ledger->gates == NULL || tacit__plan_copy(plan, &ledger->plan) != TACIT_OK) {
        tacit_ledger_destroy(ledger);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    ledger->simulated = noise != NULL && tacit_noise_is_simulated(noise);
    uint64_t scope = noise != NULL ? tacit__noise_scope(noise) : 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        ledger->gates[i].ledger = ledger;
        ledger->gates[i].index = i;
        if (noise != NULL)
            tacit__site_open_scoped(&ledger->gates[i].site, noise, scope,
                                    tacit_plan_release(plan, i)->name);
    }
    *out = ledger;
    return TACIT_OK;
}

static void forget_ahead(tacit__gate *gate)
{
    const tacit_plan *plan = gate->ledger->plan;
    if (gate->ahead != NULL)
        tacit__free_secret(gate->ahead,
                           tacit_plan_release(plan, gate->index)->dimension * sizeof *gate->ahead);
    gate->ahead = NULL;
}

void tacit_ledger_destroy(tacit_ledger *ledger)
{
    if (ledger == NULL)
        return;
    for (size_t i = 0; ledger->plan != NULL && i < tacit_plan_size(ledger->plan); i++)
        if (ledger->gates[i].ledger != NULL)
            forget_ahead(&ledger->gates[i]);
    if (ledger->plan != NULL)
        tacit__free_secret(ledger->gates, tacit_plan_size(ledger->plan) * sizeof *ledger->gates);
    else
        tacit__free(ledger->gates);
    tacit_plan_destroy(ledger->plan);
    tacit__free(ledger);
}

const tacit_plan *tacit_ledger_plan(const tacit_ledger *ledger)
{
    return ledger->plan;
}

uint64_t tacit_ledger_passed(const tacit_ledger *ledger, size_t index)
{
    return ledger->gates[index].passed;
}

bool tacit_ledger_is_simulated(const tacit_ledger *ledger)
{
    return ledger->simulated;
}

void tacit_ledger_set_journal(tacit_ledger *ledger, tacit_journal_fn *journal, void *context)
{
    ledger->journal = journal;
    ledger->journal_context = context;
}

void tacit__ledger_set_recorder(tacit_ledger *ledger, tacit__recorder_fn *recorder, void *context)
{
    ledger->recorder = recorder;
    ledger->recorder_context = context;
}

tacit_status tacit__gate_open(tacit_ledger *ledger, const char *name, int lattice_bits,
                              tacit__gate **out, tacit_error *err)
{
    size_t index = tacit_plan_index(ledger->plan, name);
    if (index == tacit_plan_size(ledger->plan))
        return tacit__fail(err, TACIT_UNDECLARED, "the plan has no release '%s'", name);
    tacit__gate *gate = &ledger->gates[index];
    if (gate->open)
        return tacit__fail(err, TACIT_RELEASED_TWICE,
                           "release '%s' has a sum already; each needs a line of its own", name);
    double scale = ldexp(tacit_plan_scale(ledger->plan, index), lattice_bits);
    if (tacit_plan_law(ledger->plan) != TACIT_LAW_NONE && !(scale > 0 && scale <= TACIT__MAX_SCALE))
        return tacit__fail(
            err, TACIT_BAD_SCALE,
            "release '%s': noise of scale %g is outside what the lattice of step 2^%d "
            "can hold; the wanted epsilon is too small or too large",
            name, tacit_plan_scale(ledger->plan, index), -lattice_bits);
    gate->open = true;
    gate->scale = scale;
    gate->lattice = ldexp(1, -lattice_bits);
    *out = gate;
    return TACIT_OK;
}

void tacit__gate_close(tacit__gate *gate)
{
    if (gate != NULL && gate->passed == 0)
        gate->open = false;
}

tacit_status tacit__gate_begin(tacit__gate *gate, tacit_error *err)
{
    tacit_ledger *ledger = gate->ledger;
    const tacit_release *release = tacit_plan_release(ledger->plan, gate->index);
    if (gate->passed == release->steps)
        return tacit__fail(err, TACIT_EXHAUSTED,
                           "release '%s' was declared for %llu steps and has passed them all",
                           release->name, (unsigned long long)release->steps);
    if (ledger->journal != NULL) {
        tacit_status status = ledger->journal(ledger->journal_context, release, gate->passed);
        if (status != TACIT_OK)
            return tacit__fail(err, status,
                               "release '%s', step %llu: the journal refused the charge",
                               release->name, (unsigned long long)gate->passed);
    }
    tacit__site_refresh(&gate->site);
    gate->passed++;
    gate->next_offset = 0;
    return TACIT_OK;
}

static tacit__law law_of(const tacit_ledger *ledger)
{
    return tacit_plan_law(ledger->plan) == TACIT_LAW_GAUSSIAN ? TACIT__GAUSSIAN : TACIT__LAPLACE;
}

void tacit__ledger_draw_ahead(tacit_ledger *ledger, size_t most)
{
    for (size_t i = 0; i < tacit_plan_size(ledger->plan); i++) {
        tacit__gate *gate = &ledger->gates[i];
        const tacit_release *release = tacit_plan_release(ledger->plan, i);
        if (!gate->open || tacit_plan_law(ledger->plan) == TACIT_LAW_NONE ||
            gate->passed == release->steps || release->dimension > most)
            continue;
        tacit__site_refresh(&gate->site);
        if (gate->ahead != NULL && gate->ahead_step == gate->passed &&
            gate->ahead_generation == gate->site.generation)
            continue;
        if (gate->ahead == NULL)
            gate->ahead = tacit__alloc(release->dimension, sizeof *gate->ahead);
        if (gate->ahead == NULL)
            continue; /* then it is drawn when it is wanted */
        gate->ahead_step = gate->passed;
        gate->ahead_generation = gate->site.generation;
        tacit__noise_draw(&gate->site, gate->ahead_step, 0, law_of(ledger), gate->scale,
                          release->dimension, gate->ahead);
    }
}

/* The noise of coordinates offset .. offset+n-1 of the step begun. After a fork the site has another key: what was drawn
 * ahead is the other process's then. */
static void draw(const tacit__gate *gate, size_t offset, size_t n, int64_t *out)
{
    uint64_t step = gate->passed - 1;
    if (gate->ahead != NULL && gate->ahead_step == step &&
        gate->ahead_generation == gate->site.generation)
        memcpy(out, gate->ahead + offset, n * sizeof *out);
    else
        tacit__noise_draw(&gate->site, step, offset, law_of(gate->ledger), gate->scale, n, out);
}

/* sum[i] += x[i]; false on overflow: both summands then have the sign that the sum lacks. */
TACIT__INLINE bool add(int64_t *restrict sum, const int64_t *restrict x, size_t n)
{
    uint64_t overflow = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t a = (uint64_t)sum[i], b = (uint64_t)x[i], c = a + b;
        overflow |= (c ^ a) & (c ^ b);
        sum[i] = (int64_t)c;
    }
    return overflow >> 63 == 0;
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static bool add_avx2(int64_t *sum, const int64_t *x, size_t n)
{
    return add(sum, x, n);
}
#endif

static bool add_to(int64_t *sum, const int64_t *x, size_t n)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2())
        return add_avx2(sum, x, n);
#endif
    return add(sum, x, n);
}

void tacit__gate_pass(tacit__gate *gate, size_t offset, size_t n, const int64_t *exact,
                      int64_t *released)
{
    const tacit_ledger *ledger = gate->ledger;
    const tacit_release *release = tacit_plan_release(ledger->plan, gate->index);
    tacit_law law = tacit_plan_law(ledger->plan);
    TACIT__REQUIRE(gate->passed > 0 && law != TACIT_LAW_NONE);
    TACIT__REQUIRE(offset == gate->next_offset && n <= release->dimension - offset);
    gate->next_offset = offset + n;

    draw(gate, offset, n, released);
    TACIT__REQUIRE(add_to(released, exact, n));

    if (ledger->recorder != NULL) {
        tacit__passage passage = {.release = release,
                                  .step = gate->passed - 1,
                                  .offset = offset,
                                  .n = n,
                                  .law = law,
                                  .scale = gate->scale,
                                  .lattice = gate->lattice,
                                  .exact = exact,
                                  .released = released};
        ledger->recorder(ledger->recorder_context, &passage);
    }
}

uint64_t tacit__gate_steps_passed(const tacit__gate *gate)
{
    return gate->passed;
}

void tacit__gate_save(const tacit__gate *gate, uint8_t key[TACIT__KEY_BYTES], bool *simulated)
{
    for (int i = 0; i < TACIT__KEY_BYTES; i++)
        key[i] = gate->site.key[i];
    *simulated = gate->site.simulated;
}

void tacit__gate_restore(tacit__gate *gate, const uint8_t key[TACIT__KEY_BYTES], bool simulated,
                         uint64_t steps_passed)
{
    TACIT__REQUIRE(gate->passed == 0);
    forget_ahead(gate); /* it was another key's */
    tacit__site_restore(&gate->site, key, simulated);
    gate->ledger->simulated |= simulated; /* one reproducible stream is enough */
    gate->passed = steps_passed;
}

/* The ledger and its door. See include/tacit/ledger.h and account/door.h.
 *
 * Two lives of one state. The ledger counts the steps of its own life and cannot know of another one of the
 * same saved state. Since their noise is independent from the first difference on, a user who is in both is
 * protected by both plans together: mu grows by sqrt(2) (Gaussian), epsilon doubles (Laplace), at most;
 * tacit_plan_account_lives says it.
 *
 * A gate's scale in lattice steps is scale * 2^bits, an exact product. What passes is exact + noise in
 * 64-bit integers; sums/ keeps |exact| below 2^61 and a draw is below MAX_DRAW * MAX_SCALE < 2^55, so the
 * addition cannot overflow; should it ever, the program stops rather than show a wrapped number. */
#include <tacit/ledger.h>

#include <math.h>
#include <string.h>

#include "account/door.h"
#include "account/plan_inside.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/workspace.h"
#include "noise/response.h"
#include "noise/sampler.h"
#include "noise/seal.h"

struct tacit__gate {
    tacit_ledger *ledger;
    size_t index;
    bool open;
    tacit__site site; /* of the next step */
    double scale;     /* in lattice steps */
    double lattice;
    uint64_t passed;       /* steps begun */
    size_t next_offset;    /* coordinates of the current step that have passed */
    tacit__tagger *tagger; /* NULL: a plan without noise, or digests come from elsewhere */
    tacit__labels labels;
    tacit__link link;         /* the noise of the step begun */
    tacit__response response; /* where answers pass */
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
    tacit_ledger w = {.simulated = noise != NULL && tacit_noise_is_simulated(noise)};
    tacit_ledger *ledger = TACIT__WORKSPACE(w, TACIT__PIECE(w.gates, tacit_plan_size(plan)));
    if (ledger == NULL || tacit__plan_copy(plan, &ledger->plan) != TACIT_OK) {
        tacit_ledger_destroy(ledger);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
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

void tacit_ledger_destroy(tacit_ledger *ledger)
{
    if (ledger == NULL)
        return;
    for (size_t i = 0; ledger->plan != NULL && i < tacit_plan_size(ledger->plan); i++)
        tacit__tagger_destroy(ledger->gates[i].tagger);
    tacit_plan_destroy(ledger->plan);
    tacit__workspace_destroy(ledger);
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
    TACIT__REQUIRE(ledger != NULL);
    ledger->recorder = recorder;
    ledger->recorder_context = context;
}

/* The gate's inputs are tagged under a key of their own, made from the site's. */
static tacit_status open_tagger(tacit__gate *gate, const tacit__gate_spec *spec)
{
    uint8_t key[TACIT__KEY_BYTES];
    tacit__key_derive(gate->site.key, "tacit: tags of inputs", key);
    tacit_status status = tacit__tagger_create(key, spec->places, spec->largest, &gate->tagger);
    tacit__wipe(key, sizeof key);
    return status;
}

tacit_status tacit__gate_open(tacit_ledger *ledger, const tacit__gate_spec *spec, tacit__gate **out,
                              tacit_error *err)
{
    TACIT__REQUIRE(spec->name != NULL);
    size_t index = tacit_plan_index(ledger->plan, spec->name);
    if (index == tacit_plan_size(ledger->plan))
        return tacit__fail(err, TACIT_UNDECLARED, "the plan has no release '%s'", spec->name);
    tacit__gate *gate = &ledger->gates[index];
    if (gate->open)
        return tacit__fail(err, TACIT_RELEASED_TWICE,
                           "release '%s' has a sum already; each needs a line of its own",
                           spec->name);
    bool noisy = tacit_plan_law(ledger->plan) != TACIT_LAW_NONE;
    double scale = ldexp(tacit_plan_scale(ledger->plan, index), spec->lattice_bits);
    if (noisy && !(scale > 0 && scale <= TACIT__MAX_SCALE))
        return tacit__fail(
            err, TACIT_BAD_SCALE,
            "release '%s': noise of scale %g is outside what the lattice of step 2^%d "
            "can hold; the wanted epsilon is too small or too large",
            spec->name, tacit_plan_scale(ledger->plan, index), -spec->lattice_bits);
    const uint64_t answers = tacit_plan_release(ledger->plan, index)->answers;
    if (noisy && answers > 0 && !tacit__response_find(1 / scale, answers, &gate->response))
        return tacit__fail(err, TACIT_BAD_SCALE,
                           "release '%s': with epsilon %g one of %llu answers would tell nothing",
                           spec->name, 1 / scale, (unsigned long long)answers);
    if (noisy && spec->places > 0 && open_tagger(gate, spec) != TACIT_OK)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    gate->open = true;
    gate->scale = scale;
    gate->lattice = ldexp(1, -spec->lattice_bits);
    *out = gate;
    return TACIT_OK;
}

void tacit__gate_close(tacit__gate *gate)
{
    if (gate == NULL || gate->passed > 0)
        return;
    tacit__tagger_destroy(gate->tagger);
    gate->tagger = NULL;
    gate->labels = (tacit__labels){0};
    gate->open = false;
}

void tacit__ledger_label(tacit_ledger *ledger, const uint8_t label[TACIT__LABEL_BYTES])
{
    TACIT__REQUIRE(ledger != NULL && label != NULL);
    for (size_t i = 0; i < tacit_plan_size(ledger->plan); i++)
        if (ledger->gates[i].tagger != NULL)
            tacit__labels_add(ledger->gates[i].tagger, label, &ledger->gates[i].labels);
}

tacit__tag tacit__gate_digest(tacit__gate *gate, const tacit__input *input)
{
    TACIT__REQUIRE(gate->tagger != NULL && (input->n == 0 || input->value != NULL));
    tacit__tagger_prepare(gate->tagger);
    return tacit__tag_of(gate->tagger, &gate->labels, input);
}

tacit_status tacit__gate_begin(tacit__gate *gate, tacit__tag digest, tacit_error *err)
{
    tacit_ledger *ledger = gate->ledger;
    const tacit_release *release = tacit_plan_release(ledger->plan, gate->index);
    TACIT__REQUIRE(gate->open && gate->passed <= release->steps);
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
    if (tacit_plan_law(ledger->plan) != TACIT_LAW_NONE) {
        tacit__site_refresh(&gate->site);
        tacit__site_advance(&gate->site, digest, release->dimension, &gate->link);
    }
    gate->passed++;
    gate->next_offset = 0;
    return TACIT_OK;
}

static tacit__noise_law law_of(const tacit_ledger *ledger)
{
    return tacit_plan_law(ledger->plan) == TACIT_LAW_GAUSSIAN ? TACIT__GAUSSIAN : TACIT__LAPLACE;
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

/* Each answer by a word of its own. */
static void give_answers(const tacit__gate *gate, size_t offset, size_t n, const int64_t *exact,
                         int64_t *released)
{
    tacit__link_words(&gate->link, offset, n, (uint64_t *)released);
    for (size_t i = 0; i < n; i++) {
        TACIT__REQUIRE(exact[i] >= 0 && (uint64_t)exact[i] < gate->response.answers);
        released[i] = (int64_t)tacit__response_give(&gate->response, (uint64_t)released[i],
                                                    (uint64_t)exact[i]);
    }
}

void tacit__gate_pass(tacit__gate *gate, size_t offset, size_t n, const int64_t *exact,
                      int64_t *released)
{
    TACIT__REQUIRE(exact != NULL && released != NULL && offset % 8 == 0);
    const tacit_ledger *ledger = gate->ledger;
    const tacit_release *release = tacit_plan_release(ledger->plan, gate->index);
    tacit_law law = tacit_plan_law(ledger->plan);
    TACIT__REQUIRE(gate->passed > 0 && law != TACIT_LAW_NONE);
    TACIT__REQUIRE(offset == gate->next_offset && n <= release->dimension - offset);
    gate->next_offset = offset + n;

    if (law == TACIT_LAW_RESPONSE) {
        give_answers(gate, offset, n, exact, released);
    } else {
        tacit__link_draw(&gate->link, offset, law_of(ledger), gate->scale, n, released);
        TACIT__REQUIRE(add_to(released, exact, n));
    }

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

void tacit__gate_save(tacit__gate *gate, tacit__gate_state *state)
{
    TACIT__REQUIRE(gate->open);
    tacit__site_refresh(&gate->site);
    *state = (tacit__gate_state){
        .labels = gate->labels, .simulated = gate->site.simulated, .passed = gate->passed};
    memcpy(state->key, gate->site.key, sizeof state->key);
    if (gate->tagger != NULL)
        memcpy(state->tag_key, tacit__tagger_key(gate->tagger), sizeof state->tag_key);
}

bool tacit__gate_check(const tacit__gate *gate, const tacit__gate_state *state)
{
    static const uint8_t none[TACIT__KEY_BYTES] = {0};
    const tacit_release *release = tacit_plan_release(gate->ledger->plan, gate->index);
    bool tagged = gate->tagger != NULL;
    return state->simulated <= 1 && state->passed <= release->steps &&
           (tagged ? tacit__labels_are_sound(&state->labels)
                   : state->labels.low == 0 && state->labels.high == 0 &&
                         memcmp(state->tag_key, none, sizeof none) == 0);
}

void tacit__gate_restore(tacit__gate *gate, const tacit__gate_state *state)
{
    TACIT__REQUIRE(gate->passed == 0 && tacit__gate_check(gate, state));
    tacit__site_restore(&gate->site, state->key, state->simulated != 0);
    if (gate->tagger != NULL)
        tacit__tagger_rekey(gate->tagger, state->tag_key);
    gate->ledger->simulated |= state->simulated != 0; /* one reproducible stream is enough */
    gate->labels = state->labels;
    gate->passed = state->passed;
}

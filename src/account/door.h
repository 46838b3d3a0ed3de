/* The door: the one place where noise is added to a number.
 *
 * A gate is the right to pass one declared release. Each step is opened once (charged to the ledger, and
 * to its journal, before any noise exists), then its coordinates pass in order, in as many pieces as the
 * caller likes, and that is all: steps cannot be repeated, skipped or added.
 *
 * The caller that opens a step passes a digest of its input: of what the step depends on and the steps before
 * did not. The noise is a function of the gate's key and of the digests so far (noise/stream.c), so the same
 * noise never meets different data, however often a saved state is loaded. All that passes in a step must
 * follow from the inputs so far and from what is public.
 *
 * A caller that holds the input has the gate compute its digest (tacit__gate_digest). One that does not, such
 * as a party that holds a share of it, brings a digest from elsewhere: 94 bits that differ for different
 * inputs except with negligible probability, even if an adversary chose them, and that depend on the users'
 * labels where there are any. */
#ifndef TACIT_ACCOUNT_DOOR_H
#define TACIT_ACCOUNT_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/ledger.h>

#include "noise/tag.h"

typedef struct tacit__gate tacit__gate;

/* The description of what passes a gate, and of what its steps are opened with. */
typedef struct tacit__gate_spec {
    const char *name; /* of the release */
    int lattice_bits; /* integers on the lattice of step 2^-lattice_bits */
    size_t places;    /* of an input; 0: the gate sees no inputs, digests come from elsewhere */
    double largest;   /* magnitude of a value of an input */
} tacit__gate_spec;

/* A release has one gate; asking twice is refused (RELEASED_TWICE). The ledger owns it. */
TACIT_MUST_USE tacit_status tacit__gate_open(tacit_ledger *ledger, const tacit__gate_spec *spec,
                                             tacit__gate **out, tacit_error *err);

/* Gives the gate back unused, so that a constructor that fails leaves the ledger as it was. */
void tacit__gate_close(tacit__gate *gate);

/* The digest of an input, and of the labels so far, under a key of the gate's own. Changes nothing. */
tacit__tag tacit__gate_digest(tacit__gate *gate, const tacit__input *input);

/* Charges the next step, whose input has this digest; EXHAUSTED after the declared number. */
TACIT_MUST_USE tacit_status tacit__gate_begin(tacit__gate *gate, tacit__tag digest,
                                              tacit_error *err);

/* released = exact + noise, or an answer where answers pass, for coordinates offset .. offset+n-1 of
 * the step begun; offset is a multiple of 8 and follows the previous call's end. */
void tacit__gate_pass(tacit__gate *gate, size_t offset, size_t n, const int64_t *exact,
                      int64_t *released);

/* The inputs that come next are those of a user with this label: the digests of every open gate that
 * sees inputs depend on it from now on. Users with different labels have independent noise even if
 * their data are equal, in states that are continued twice as well. */
void tacit__ledger_label(tacit_ledger *ledger, const uint8_t label[TACIT__LABEL_BYTES]);

uint64_t tacit__gate_steps_passed(const tacit__gate *gate);

/* For saved states: the gate's position in its noise. A forked child has keys of its own from its first
 * save or step on. `check` says whether these bytes can have been saved after that many steps; `restore`
 * requires it, and a gate that was never begun. */
typedef struct tacit__gate_state {
    uint8_t key[TACIT__KEY_BYTES], tag_key[TACIT__KEY_BYTES];
    tacit__labels labels;
    uint64_t simulated, passed;
} tacit__gate_state;
void tacit__gate_save(tacit__gate *gate, tacit__gate_state *state);
TACIT_MUST_USE bool tacit__gate_check(const tacit__gate *gate, const tacit__gate_state *state);
void tacit__gate_restore(tacit__gate *gate, const tacit__gate_state *state);

/* Everything that a test can see of a passage; it may overwrite `released`, which is how a replay
 * freezes the outputs. scale and sensitivities are in lattice steps. */
typedef struct tacit__passage {
    const tacit_release *release;
    uint64_t step;
    size_t offset, n;
    tacit_law law;
    double scale, lattice;
    const int64_t *exact;
    int64_t *released;
} tacit__passage;
typedef void tacit__recorder_fn(void *context, const tacit__passage *passage);
void tacit__ledger_set_recorder(tacit_ledger *ledger, tacit__recorder_fn *recorder, void *context);

#endif

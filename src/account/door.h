/* The door: the one place where noise is added to a number.
 *
 * A gate is the right to pass one declared release. Each step is opened once (charged to the ledger, and
 * to its journal, before any noise exists), then its coordinates pass in order, in as many pieces as the
 * caller likes, and that is all: steps cannot be repeated, skipped or added. */
#ifndef TACIT_ACCOUNT_DOOR_H
#define TACIT_ACCOUNT_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/ledger.h>

#include "noise/stream.h"

typedef struct tacit__gate tacit__gate;

/* The gate of release `name` for integers on the lattice of step 2^-lattice_bits. A release has one
 * gate; asking twice is refused (RELEASED_TWICE). The ledger owns it. */
TACIT_MUST_USE tacit_status tacit__gate_open(tacit_ledger *ledger, const char *name,
                                             int lattice_bits, tacit__gate **out, tacit_error *err);

/* Gives the gate back unused, so that a constructor that fails leaves the ledger as it was. */
void tacit__gate_close(tacit__gate *gate);

/* Charges the next step; EXHAUSTED after the declared number. */
TACIT_MUST_USE tacit_status tacit__gate_begin(tacit__gate *gate, tacit_error *err);

/* released = exact + noise for coordinates offset .. offset+n-1 of the step begun; offset is a multiple
 * of 8 and follows the previous call's end. */
void tacit__gate_pass(tacit__gate *gate, size_t offset, size_t n, const int64_t *exact,
                      int64_t *released);

/* Draws the noise of every open release's next step now, if that has at most `most` coordinates, so that passing it is but an
 * addition. Noise is a function of key and step: nothing else changes by it, and what is drawn is not part of a saved state. */
void tacit__ledger_draw_ahead(tacit_ledger *ledger, size_t most);

uint64_t tacit__gate_steps_passed(const tacit__gate *gate);

/* For saved states: the gate's key and position. `restore` needs a gate that was never begun. */
void tacit__gate_save(const tacit__gate *gate, uint8_t key[TACIT__KEY_BYTES], bool *simulated);
void tacit__gate_restore(tacit__gate *gate, const uint8_t key[TACIT__KEY_BYTES], bool simulated,
                         uint64_t steps_passed);

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

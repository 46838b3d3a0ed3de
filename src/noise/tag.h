/* A keyed universal hash of integer vectors, which makes the noise of a step depend on its input.
 *
 * Noise that is a function of (key, step) alone is the same wherever a saved state is continued, and its
 * difference cancels: what is left is the difference of the data. So the noise of a step also depends on a
 * tag of all that the step's input brings (stream.h). The tag is a function of the vector, not of how it
 * is written: zeros may be left out. */
#ifndef TACIT_NOISE_TAG_H
#define TACIT_NOISE_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "noise/stream.h"

/* n integers: at the places `index`, ascending, or, if that is NULL, at 0 .. n-1. All other places hold 0. */
typedef struct tacit__input {
    size_t n;
    const size_t *index;
    const int64_t *value;
} tacit__input;

typedef struct tacit__tagger tacit__tagger;

/* For vectors of `size` places whose values are at most `largest` in magnitude (and 2^62). The table
 * follows from the key. */
TACIT_MUST_USE tacit_status tacit__tagger_create(const uint8_t key[TACIT__KEY_BYTES], size_t size,
                                                 double largest, tacit__tagger **out);
void tacit__tagger_destroy(tacit__tagger *tagger);

/* Fills its table before the first tag. Separate from `create` because many gates that are opened, or loaded,
 * never pass a step. */
void tacit__tagger_prepare(tacit__tagger *tagger);

/* The same for another key; to be prepared again. */
void tacit__tagger_rekey(tacit__tagger *tagger, const uint8_t key[TACIT__KEY_BYTES]);
const uint8_t *tacit__tagger_key(const tacit__tagger *tagger);

/* Labels: the names of the users whose inputs came, chained. Every later tag depends on all of them. */
typedef struct tacit__labels {
    uint64_t low, high; /* a residue modulo 2^107 - 1 */
} tacit__labels;
enum { TACIT__LABEL_BYTES = 16 };
void tacit__labels_add(const tacit__tagger *tagger, const uint8_t label[TACIT__LABEL_BYTES],
                       tacit__labels *labels);
bool tacit__labels_are_sound(const tacit__labels *labels); /* whether they can have been saved */

tacit__tag tacit__tag_of(const tacit__tagger *tagger, const tacit__labels *labels,
                         const tacit__input *input);

#endif

/* The envelope of a saved state (base/bytes.h): magic word, format version, size, fingerprint, checksum.
 *
 * A header begins with the magic word. With a version it goes on with that, 4 bytes and the size of the
 * whole; without one, with the size. The rest is the owner's, and a fingerprint somewhere in it. The
 * checksum (BLAKE2b) comes last. It finds damage, not forgery: an attacker who can write the state has the
 * raw data anyway. The magic word shows when a state comes from a machine of another byte order. */
#ifndef TACIT_NOISE_ENVELOPE_H
#define TACIT_NOISE_ENVELOPE_H

#include "base/bytes.h"
#include "noise/stream.h"

typedef struct tacit__envelope {
    uint64_t magic;
    uint32_t version;    /* of the format; 0: it has none */
    size_t header;       /* bytes */
    size_t print_at;     /* where the header has the fingerprint; 0: nowhere */
    const char *what;    /* "agent": what was saved, for messages */
    const char *foreign; /* what to say of another fingerprint or size: WRONG_PLAN */
} tacit__envelope;

/* Saving completes the header, in which the owner has set its own fields, and writes it. Loading reads it and
 * checks magic word, version, size, checksum and fingerprint. `size` is what the whole must have; 0: any.
 * Returns the start of the state, for tacit__envelope_close. */
size_t tacit__envelope_open(const tacit__envelope *e, const uint8_t *print, size_t size,
                            void *header, tacit__saved *s);
/* Saving sets the size and writes the checksum of everything since the start. Loading checks that everything
 * has been read. */
void tacit__envelope_close(const tacit__envelope *e, size_t start, tacit__saved *s);

/* The same for a state that has a checksum and no header. */
size_t tacit__checksum_open(const char *what, tacit__saved *s);
void tacit__checksum_close(size_t start, tacit__saved *s);

#endif

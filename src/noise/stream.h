/* Sites: the sources of random words. A site has its own key, derived from the root and the site's name, and
 * names its words by (step, index), so that every word can be computed again and none is ever shared.
 *
 * A release draws its noise from a chain of sites: the key of each step is made by the step before it, and
 * the words of a step depend on a tag of the step's input. See stream.c for the reason. */
#ifndef TACIT_NOISE_STREAM_H
#define TACIT_NOISE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/noise.h>

enum { TACIT__KEY_BYTES = 32, TACIT__WORDS_PER_BLOCK = 8 };

typedef struct tacit__site {
    uint8_t key[TACIT__KEY_BYTES];
    uint64_t generation; /* forks seen when the key was made */
    uint64_t block; /* where the words of every step begin: 0, or by the tag of a step of a chain */
    bool simulated;
} tacit__site;

/* 94 bits that identify a step's input (noise/tag.h). */
typedef struct tacit__tag {
    uint64_t nonce; /* below 2^63 */
    uint32_t high;  /* below 2^31 */
} tacit__tag;

/* `name` may be any string; different names give independent keys. For randomness that is not the noise of
 * a release. */
void tacit__site_open(tacit__site *site, tacit_noise *root, const char *name);

/* A number that this root gives once: 0, 1, 2, ... Two ledgers of one root must not share noise, even if
 * their releases have the same names: each takes a scope of its own. */
uint64_t tacit__noise_scope(tacit_noise *root);

/* The site of a release in a scope: never the key of any other (scope, name), nor of tacit__site_open. */
void tacit__site_open_scoped(tacit__site *site, tacit_noise *root, uint64_t scope,
                             const char *name);

/* A site with a key that was saved; `simulated` as it was saved. */
void tacit__site_restore(tacit__site *site, const uint8_t key[TACIT__KEY_BYTES], bool simulated);

void tacit__site_wipe(tacit__site *site);

/* In a forked child an OS-keyed site gets a fresh key; otherwise nothing happens. */
void tacit__site_refresh(tacit__site *site);

/* Words first .. first+n-1 of this step; `first` is a multiple of WORDS_PER_BLOCK, step < 2^63. There are
 * 2^36 words. */
void tacit__site_words(const tacit__site *site, uint64_t step, uint64_t first, size_t n,
                       uint64_t *out);

/* The words that extend word `index` of this step when 63 bits do not decide: a stream of its own, so
 * that no other word changes, however many are used. At most WORDS_PER_BLOCK of them. */
void tacit__site_extension(const tacit__site *site, uint64_t step, uint64_t index,
                           uint64_t out[TACIT__WORDS_PER_BLOCK]);

/* The words of one step of a chain. */
enum { TACIT__HEAD_WORDS = 256 };
typedef struct tacit__link {
    tacit__site site;
    uint64_t step;                    /* of that site */
    uint64_t first;                   /* where the step's own words begin */
    size_t n_head;                    /* of them are here already */
    uint64_t head[TACIT__HEAD_WORDS]; /* a few words cost less when they come with the next key */
} tacit__link;

/* Opens the current step of the chain `site`, for `n` words and this input, and advances the site: its key is
 * then another one, which cannot be computed without this step's key and input. */
void tacit__site_advance(tacit__site *site, tacit__tag input, uint64_t n, tacit__link *out);

void tacit__wipe(void *p, size_t bytes);

/* Hash of several byte strings, for fingerprints and checksums (BLAKE2b-256). */
typedef struct tacit__bytes {
    const void *data;
    size_t size;
} tacit__bytes;
void tacit__digest(const tacit__bytes *parts, size_t n_parts, uint8_t out[TACIT__KEY_BYTES]);

#endif

/* Saved states as bytes: a writer that can also just count, and a reader that cannot run past the end. */
#ifndef TACIT_BASE_BYTES_H
#define TACIT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct tacit__writer {
    uint8_t *at; /* NULL: nothing is written, only counted */
    size_t size; /* written, or counted, so far */
} tacit__writer;

typedef struct tacit__reader {
    const uint8_t *at;
    size_t left;
    bool failed; /* more was asked for than was there */
} tacit__reader;

static inline void tacit__put(tacit__writer *w, const void *data, size_t size)
{
    if (w->at != NULL && size > 0) {
        memcpy(w->at, data, size);
        w->at += size;
    }
    w->size += size;
}

/* The next `size` bytes, not aligned; NULL if fewer are left, and from then on. */
static inline const void *tacit__take(tacit__reader *r, size_t size)
{
    if (r->failed || size > r->left) {
        r->failed = true;
        return NULL;
    }
    const void *at = r->at;
    r->at += size;
    r->left -= size;
    return at;
}

/* The same, copied; `out` is zeroed if too few bytes are left. */
static inline void tacit__take_into(tacit__reader *r, void *out, size_t size)
{
    const void *at = tacit__take(r, size);
    if (at != NULL && size > 0)
        memcpy(out, at, size);
    else if (size > 0)
        memset(out, 0, size);
}

/* The next n elements of `size` bytes; overflow of n * size is an end as well. */
static inline const void *tacit__take_array(tacit__reader *r, size_t n, size_t size)
{
    if (size > 0 && n > r->left / size) {
        r->failed = true;
        return NULL;
    }
    return tacit__take(r, n * size);
}

/* Numbers that travel between machines: low byte first. */
static inline void tacit__put_le64(tacit__writer *w, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    tacit__put(w, bytes, sizeof bytes);
}

static inline uint64_t tacit__take_le64(tacit__reader *r)
{
    const uint8_t *bytes = tacit__take(r, 8);
    uint64_t value = 0;
    if (bytes == NULL)
        return 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline void tacit__put_real(tacit__writer *w, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    tacit__put_le64(w, bits);
}

static inline double tacit__take_real(tacit__reader *r)
{
    uint64_t bits = tacit__take_le64(r);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Whether n doubles, not aligned, are numbers of at most `most`. */
static inline bool tacit__are_reals(const void *bytes, size_t n, double most)
{
    for (size_t i = 0; i < n; i++) {
        double x;
        memcpy(&x, (const uint8_t *)bytes + i * sizeof x, sizeof x);
        if (!(x >= -most && x <= most))
            return false;
    }
    return true;
}

/* Versions and other counts that nothing declares stay below what a double holds. */
#define TACIT__MOST_COUNT ((uint64_t)1 << 53)

/* What a released sum cannot exceed: 2^63 steps of a lattice that is finer than 1. */
#define TACIT__MOST_SUM 0x1p63

#endif

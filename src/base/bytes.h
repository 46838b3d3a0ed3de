/* Saved states, and bytes that are sent to other machines.
 *
 * A saved state is described once, by a function that names its fields in order:
 *
 *     static void fields(thing *x, tacit__saved *s)
 *     {
 *         uint64_t users = x->users;
 *         tacit__saved_value(s, &users, sizeof users);
 *         tacit__saved_check(s, users <= x->most_users);
 *         tacit__saved_reals(s, x->sums, x->n, TACIT__MOST_SUM);
 *         if (s->pass == TACIT__APPLY)
 *             x->users = users;
 *     }
 *
 * The function runs once for each pass. Saving counts the bytes, then writes them. Loading checks all bytes,
 * and applies them only if all are valid: a state that is refused changes nothing. So memory that a load
 * needs is allocated during the check, which may still fail.
 *
 *     tacit__saved s = tacit__saved_load(bytes, size, err);
 *     while (tacit__saved_next(&s))
 *         fields(x, &s);
 *     return s.status;
 *
 * States are in the machine's byte order. Data for other machines (reports, models) have the low byte first
 * and use the writer, which can also just count, and the reader, which cannot read past the end. */
#ifndef TACIT_BASE_BYTES_H
#define TACIT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tacit/status.h>

/* --- Saved states --------------------------------------------------------------------------------- */

typedef enum tacit__pass {
    TACIT__COUNT,
    TACIT__WRITE,
    TACIT__CHECK,
    TACIT__APPLY,
    TACIT__NO_PASS
} tacit__pass;

typedef struct tacit__saved {
    tacit__pass pass;
    tacit_status status; /* the first failure; nothing is read or written after it */
    const char *wrong;   /* what to say of bytes that cannot be right; NULL: the plain sentence */
    size_t at, end;      /* the position; loading: where the bytes end */
    uint8_t *out;        /* saving */
    const uint8_t *in;   /* loading */
    size_t *size;        /* saving: the caller's */
    tacit_error *err;
} tacit__saved;

/* `bytes` NULL asks for the size; else *size is that of the buffer. */
tacit__saved tacit__saved_save(void *bytes, size_t *size, tacit_error *err);
tacit__saved tacit__saved_load(const void *bytes, size_t size, tacit_error *err);
/* The next pass; false: that was the last one, and `status` is the result. */
bool tacit__saved_next(tacit__saved *s);

static inline bool tacit__saved_is_loading(const tacit__saved *s)
{
    return s->pass == TACIT__CHECK || s->pass == TACIT__APPLY;
}

/* Ends the passes with this failure, if there was none before. */
void tacit__saved_fail(tacit__saved *s, tacit_status status, const char *words);
/* CORRUPT, with the words of `wrong`, if what is loaded does not fit or has come to an end too soon. */
void tacit__saved_check(tacit__saved *s, bool fits);

/* A value that belongs to the function itself: read in both passes of a load; 0 if there is none. */
void tacit__saved_value(tacit__saved *s, void *value, size_t size);
/* `size` bytes that the function applies by itself. Returns those that are loaded, not aligned; NULL:
 * nothing is loaded, or too few are left. `data` NULL: it writes them by itself as well. */
const void *tacit__saved_bytes(tacit__saved *s, const void *data, size_t size);
/* n elements that belong to the object: only TACIT__APPLY changes them. Returns as tacit__saved_bytes. */
const void *tacit__saved_array(tacit__saved *s, void *data, size_t n, size_t size);
/* The same for numbers of at most `most`, and for indices below `limit`. */
const void *tacit__saved_reals(tacit__saved *s, double *x, size_t n, double most);
void tacit__saved_chances(tacit__saved *s, double *x, size_t n); /* from 0 to 1 */
void tacit__saved_integers(tacit__saved *s, int64_t *x, size_t n, double most);
void tacit__saved_indices(tacit__saved *s, uint32_t *x, size_t n, size_t limit);

/* A part of `size` bytes, all of which must be used. `leave` takes what `enter` returned. */
size_t tacit__saved_enter(tacit__saved *s, size_t size);
void tacit__saved_leave(tacit__saved *s, size_t end);

/* Models travel, and are states of 64-bit numbers only: `reorder`, after a save, makes the low byte first
 * of n of them. `copy` is the way back: a copy to load from, to be freed; OUT_OF_BOUND if the model has
 * not the size it must have. */
void tacit__model_reorder(uint8_t *bytes, size_t n);
TACIT_MUST_USE tacit_status tacit__model_copy(const void *bytes, size_t size, size_t needed,
                                              uint8_t **out, tacit_error *err);

/* Element i of doubles that are not aligned. */
static inline double tacit__real_at(const void *bytes, size_t i)
{
    double x;
    memcpy(&x, (const uint8_t *)bytes + i * sizeof x, sizeof x);
    return x;
}

/* --- Bytes that travel ---------------------------------------------------------------------------- */

typedef struct tacit__writer {
    uint8_t *at; /* NULL: nothing is written, only counted */
    size_t size; /* written, or counted, so far */
} tacit__writer;

typedef struct tacit__reader {
    const uint8_t *at;
    size_t left;
    bool failed; /* more was asked for than was there */
} tacit__reader;

static inline void tacit__write_bytes(tacit__writer *w, const void *data, size_t size)
{
    if (w->at != NULL && size > 0) {
        memcpy(w->at, data, size);
        w->at += size;
    }
    w->size += size;
}

/* The next `size` bytes, not aligned; NULL if fewer are left, and from then on. */
static inline const void *tacit__read_bytes(tacit__reader *r, size_t size)
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

/* Numbers that travel between machines: low byte first. */
static inline void tacit__write_le64(tacit__writer *w, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    tacit__write_bytes(w, bytes, sizeof bytes);
}

static inline uint64_t tacit__read_le64(tacit__reader *r)
{
    const uint8_t *bytes = tacit__read_bytes(r, 8);
    uint64_t value = 0;
    if (bytes == NULL)
        return 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline void tacit__write_double(tacit__writer *w, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    tacit__write_le64(w, bits);
}

static inline double tacit__read_double(tacit__reader *r)
{
    uint64_t bits = tacit__read_le64(r);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns whether n doubles, not aligned, are numbers of at most `most`. */
static inline bool tacit__are_reals(const void *bytes, size_t n, double most)
{
    for (size_t i = 0; i < n; i++)
        if (!(tacit__real_at(bytes, i) >= -most && tacit__real_at(bytes, i) <= most))
            return false;
    return true;
}

/* Versions and other counts that nothing declares stay below what a double holds. */
#define TACIT__MOST_COUNT ((uint64_t)1 << 53)

/* What a released sum cannot exceed: 2^63 steps of a lattice that is finer than 1. */
#define TACIT__MOST_SUM 0x1p63

#endif

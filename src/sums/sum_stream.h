/* A stream: one vector that people add to, and the way in which its sum is shown. It is the part of a
 * curator that keeps data; what people add, and when it is shown, are decided above it.
 *
 *     kind       what is shown                                              noise
 *     exact      the sum so far, or of the batch that is over               none
 *     counted    the same, of doubles that are added as they come           none
 *     running    the sum so far (tacit/sum.h)                               shared between releases, or each user's
 *     fresh      the sum of the batch that is over, once (sums/fresh_releases.h)      of its own, or each user's
 *
 * Under local privacy every user's vector passes the door by itself, and only what has passed is added up. */
#ifndef TACIT_SUMS_SUM_STREAM_H
#define TACIT_SUMS_SUM_STREAM_H

#include <tacit/sum.h>

#include "base/bytes.h"
#include "noise/tag.h"
#include "sums/fresh_releases.h"
#include "sums/lattice.h"
#include "sums/returning.h"

typedef enum tacit__stream_kind {
    TACIT__STREAM_EXACT,
    TACIT__STREAM_COUNTED,
    TACIT__STREAM_RUNNING,
    TACIT__STREAM_FRESH
} tacit__stream_kind;

enum { TACIT__FADE_WHOLE = 1 << 16 }; /* shares of a sum that stay are whole numbers below it */

typedef struct tacit__stream_spec {
    const char *name; /* of its line in the plan; kept by reference */
    tacit__stream_kind kind;
    size_t dimension;
    int bits;       /* exact and fresh: people add integers on the lattice of step 2^-bits */
    double largest; /* magnitude of a person's number: in lattice steps; counted: as it is */
    bool restarts;  /* exact and counted: a release begins a new batch, as fresh ones do */
    bool local;
    /* running, joint: a batch is one step of the sum, so that `sum` is declared for whole batches */
    bool whole_batches;
    uint32_t fade;          /* fresh, joint: a release has this share of the one before; 0: none */
    tacit_sum_spec sum;     /* running; its dimension is this one's */
    tacit__fresh_spec once; /* fresh; its dimension, bits and ends are filled in */
    double printed;         /* the scale of the noise that a paper prints; 0: calibrated */
} tacit__stream_spec;

typedef struct tacit__stream tacit__stream;

/* The line that it needs in a plan; `releases` says how often it is shown, and after how many people. */
TACIT_MUST_USE tacit_status tacit__stream_declare(const tacit__stream_spec *spec,
                                                  const tacit__batches *releases,
                                                  tacit_release *line, tacit_error *err);

/* `ledger` NULL: without noise. It must outlive the stream. */
TACIT_MUST_USE tacit_status tacit__stream_create(const tacit__stream_spec *spec,
                                                 const tacit__batches *releases,
                                                 tacit_ledger *ledger, tacit__stream **out,
                                                 tacit_error *err);
void tacit__stream_destroy(tacit__stream *stream);

/* Returns the lattice on which contributions are placed; NULL unless the stream is running. */
const tacit__lattice *tacit__stream_lattice(const tacit__stream *stream);
double tacit__stream_scale(const tacit__stream *stream); /* of a draw of its noise; 0: none */
/* The standard deviation of a number that is shown by the k-th release; local and fresh: of a user's. */
double tacit__stream_stddev(const tacit__stream *stream, uint64_t k);
/* The running sum behind it, and the door of fresh releases; NULL: it has none. */
tacit_sum *tacit__stream_sum(const tacit__stream *stream);
tacit__fresh_releases *tacit__stream_fresh(const tacit__stream *stream);

/* One person's integers, which keep the declared bound. Fresh and local: all numbers, no index. */
TACIT_MUST_USE tacit_status tacit__stream_add(tacit__stream *stream, const tacit__input *x,
                                              tacit_error *err);
/* Counted: the sums that people are added to. */
double *tacit__stream_counts(tacit__stream *stream);

/* Local: both halves of `add`. A report takes tacit__stream_report_bytes; of a fresh stream only the first
 * `active` numbers travel, because the others are 0 by public knowledge. */
void tacit__stream_set_active(tacit__stream *stream, size_t active);
size_t tacit__stream_report_bytes(const tacit__stream *stream);
TACIT_MUST_USE tacit_status tacit__stream_report(tacit__stream *stream, const tacit__input *x,
                                                 void *bytes, tacit_error *err);
/* Checks that a device can have made the report. */
TACIT_MUST_USE tacit_status tacit__stream_check_report(const tacit__stream *stream,
                                                       const void *bytes, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__stream_absorb(tacit__stream *stream, const void *bytes,
                                                 tacit_error *err);

/* Shows the sum, through the door if there is noise. */
TACIT_MUST_USE tacit_status tacit__stream_release(tacit__stream *stream, tacit_error *err);
/* Returns what was shown last [dimension]; zeros before the first release. Counted streams that do not
 * restart show their sums as they are. */
const double *tacit__stream_shown(const tacit__stream *stream);

/* Saves or loads the stream as part of a saved state (base/bytes.h): of `users` people, after `released`
 * releases. */
void tacit__stream_fields(tacit__stream *s, uint64_t users, uint64_t released, tacit__saved *f);

#endif

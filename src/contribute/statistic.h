/* A statistic: what people tell a curator, as a public function of a trajectory.
 *
 * To add one: a file in this folder with the function, how far it can move when one person is replaced, and
 * the proof at its head. It fills a tacit__stream_spec for each vector that it writes; the curator
 * (release/curator.h) then sums, releases, reports, saves and declares it, under every model. */
#ifndef TACIT_CONTRIBUTE_STATISTIC_H
#define TACIT_CONTRIBUTE_STATISTIC_H

#include <tacit/billboard.h>

#include "board/gram_sums.h"
#include "sums/sum_stream.h"

enum { TACIT__MAX_STREAMS = 4 };

/* A person as a statistic sees one: through what is public. */
typedef struct tacit__user_view {
    const tacit_trajectory *trajectory;
    const tacit__lens *lenses; /* of sums of Gram matrices: one for each stream */
    const double *vector;      /* of bandits: features, or the vector of an epoch; NULL: none */
    size_t size, block;        /* numbers of the vector; its block, or of an epoch the context */
    double y;                  /* the reward, in [-1, 1] */
} tacit__user_view;

/* Its functions. A `form` is what the statistic knows: public numbers, and scratch. */
typedef struct tacit__statistic {
    void (*destroy)(void *form); /* accepts NULL */
    /* OUT_OF_BOUND if a person is not one of the space. */
    tacit_status (*check)(const void *form, const tacit__user_view *user, tacit_error *err);
    /* The integers of a person who was checked, for each stream, in the form's memory. `turn` numbers the
     * people whose noise is drawn here, for public chance. */
    tacit_status (*contribute)(void *form, const tacit__user_view *user, uint64_t turn,
                               tacit__input *out, tacit_error *err);
    void (*wipe)(void *form); /* what `contribute` has left; NULL: nothing */
    /* Without privacy, where doubles are added as they come: adds a person who was checked to the sums of the
     * streams. On failure nothing has changed. NULL: integers are added then, too. */
    tacit_status (*count)(void *form, const tacit__user_view *user, double *const *sums,
                          tacit_error *err);
    /* The weight of a stream's line when noise is divided among them; NULL: 1. */
    double (*weigh)(const void *form, size_t stream, const tacit_release *line);
    /* The streams are open: takes lattices and scales from them, and fails if a condition of the proof does
     * not hold. `plan` is NULL without privacy. NULL: there is nothing to do. */
    tacit_status (*open)(void *form, const tacit_plan *plan, tacit__stream *const *streams,
                         tacit_error *err);
    /* Reports begin with this many bytes that public chance decides; `write_public` follows `contribute`,
     * and `read_public` refuses what cannot be. */
    size_t public_bytes;
    void (*write_public)(const void *form, void *bytes);
    tacit_status (*read_public)(void *form, const void *bytes, tacit_error *err);
    /* A person has passed the streams: by `contribute`, or after `read_public`. NULL: nothing follows. */
    tacit_status (*passed)(void *form, tacit__stream *const *streams, tacit_error *err);
    bool shows; /* `passed` releases the streams by itself, after every person */
    /* What the form knows of releases, as part of a saved state of so many people; NULL: nothing. */
    void (*fields)(void *form, uint64_t users, tacit__saved *s);
} tacit__statistic;

/* People who answer questions about their steps by randomized response, instead of adding numbers. The
 * curator opens one fresh stream, whose door every person's answers pass. */
typedef struct tacit__responder {
    void (*destroy)(void *self); /* accepts NULL */
    tacit_status (*open)(void *self, tacit_noise *noise, tacit__stream *door, tacit_error *err);
    size_t (*bytes)(const void *self); /* of a report */
    tacit_status (*give)(void *self, const tacit__user_view *user, void *bytes, tacit_error *err);
    tacit_status (*check)(const void *self, const void *bytes, tacit_error *err);
    void (*absorb)(void *self, const void *bytes);
    /* A batch is over, and there are so many people in all. */
    void (*release)(void *self, uint64_t users);
    /* Of so many people whose reports were added. */
    void (*fields)(void *self, uint64_t users, tacit__saved *s);
} tacit__responder;

/* What a curator is made of: what people add, and when it is shown. */
typedef struct tacit__curator_spec {
    tacit_guarantee guarantee;
    uint64_t episodes; /* K: people who may come; the last one's data are never used */
    /* Sums are shown when there are so many people, ascending and below K, and never after the last of them.
     * The array is copied. NULL: after each, whenever somebody looks. */
    const uint64_t *ends;
    size_t n_ends;
    const tacit__statistic *statistic;
    void *form;
    const tacit__responder *responder; /* NULL: people add numbers */
    void *responding;
    size_t n_streams;
    tacit__stream_spec streams[TACIT__MAX_STREAMS];
} tacit__curator_spec;

#endif

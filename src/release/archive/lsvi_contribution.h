/* What a user of an LSVI learner adds, exactly: integers, made of what the user saw and of public knowledge
 * alone. Gram matrices are added up user by user; responses are made of all users at once, from what the
 * archive has kept of them. */
#ifndef TACIT_RELEASE_LSVI_CONTRIBUTION_H
#define TACIT_RELEASE_LSVI_CONTRIBUTION_H

#include <tacit/billboard.h>

#include "noise/tag.h"
#include "release/archive/archive.h"
#include "release/archive/feature_log.h"

/* Public: how a user's steps become integers. The arrays are the curator's. */
typedef struct tacit__lsvi_form {
    tacit__linear_space space;
    const double *range;  /* [H]: of targets */
    size_t n_active;      /* coordinates of one Gram matrix, */
    const size_t *active; /* and the packed index of each; NULL: all */
    int gram_bits,
        target_bits; /* lattices; responses have feature_bits and target_bits, and one more if */
    bool centered;   /* targets are measured from the middle of their range */
    bool spans;      /* which is that of the values at hand, where states are numbered */
} tacit__lsvi_form;
tacit__lsvi_form tacit__lsvi_form_of(const tacit__archive *curator);

/* A user on the lattice, and what it takes to make it. */
typedef struct tacit__lsvi_user {
    double *placed;  /* [H][A][d], features that came with the user; else NULL */
    double *rewards; /* [H], in lattice steps of targets */
    int64_t *gram;   /* [tacit__gram_count][n_active], or one-hot [H] */
    size_t *cell;    /* one-hot [H]: where they are; else NULL */
    double *outer;   /* [packed] scratch */
} tacit__lsvi_user;

/* Room for any number of users; NULL: no memory. `wipe` forgets the last one. */
tacit__lsvi_user *tacit__lsvi_user_create(const tacit__lsvi_form *form);
void tacit__lsvi_user_destroy(tacit__lsvi_user *user);
void tacit__lsvi_user_wipe(const tacit__lsvi_form *form, tacit__lsvi_user *user);

/* Features and rewards of a user on the lattice; OUT_OF_BOUND, or BAD_ARGUMENT, if they are not those of the
 * space. */
TACIT_MUST_USE tacit_status tacit__lsvi_place_user(const tacit__lsvi_form *form,
                                                   const tacit_trajectory *user,
                                                   tacit__lsvi_user *out, tacit_error *err);

/* The Gram matrices [tacit__gram_count][n_active] of a user who was placed. */
tacit__input tacit__lsvi_contribute_gram(const tacit__lsvi_form *form, const tacit_trajectory *user,
                                         tacit__lsvi_user *out);

/* How values become targets of step h, where `table` [S] holds the values after it; NULL: they are not
 * numbered, or 0. */
tacit__target tacit__lsvi_target(const tacit__lsvi_form *form, size_t h, const double *table);
tacit__target_unit tacit__lsvi_unit(const tacit__lsvi_form *form, const tacit__target *target);

#endif

/* The inside of the curator of LSVI learners, shared by the files that hold its parts. */
#ifndef TACIT_RELEASE_ARCHIVE_INSIDE_H
#define TACIT_RELEASE_ARCHIVE_INSIDE_H

#include "release/archive/archive.h"
#include "release/archive/feature_log.h"
#include "release/archive/lsvi_contribution.h"
#include "release/archive/visits.h"
#include "sums/fresh_releases.h"

struct tacit__archive {
    tacit__archive_options o;
    double *range;        /* [H] */
    double *most_rewards; /* [H]: of one user, in lattice steps of targets */
    size_t size;          /* coordinates of all Gram matrices */
    size_t packed;        /* of one */
    /* packed index of each coordinate that is not 0 by public knowledge; NULL: all */
    size_t *active;
    size_t n_active;                         /* of one matrix */
    const uint64_t *leaf_ends, *switch_ends; /* while releases are declared, if people come back */
    int gram_bits, target_bits, response_bits;
    int shown_bits; /* of a noisy response; at most response_bits */
    tacit_ledger *ledger;
    tacit_sum *sum;               /* of Gram matrices */
    tacit__fresh_releases *fresh; /* of Gram matrices, instead */
    tacit__fresh_releases *responses;
    tacit__visits *visits; /* one of the two; neither once it is closed */
    tacit__feature_log *archive;
    int64_t *leaf;          /* [tacit__gram_count][n_active]: what the current leaf adds up to */
    int64_t *total;         /* the same for all users: without noise, or for fresh releases */
    double *gram;           /* [tacit__gram_count][packed]: the last release */
    double *shown;          /* as leaf, scratch */
    tacit__lsvi_user *user; /* scratch: a user on the lattice */
    double *next, *sums;    /* [S], [S A] scratch */
    double *exact_double;   /* [d] scratch */
    double stretch;         /* of the response that it holds */
    int64_t *exact;         /* [d] scratch */
    uint64_t users, leaves; /* complete ones */
    bool ready;
    bool closed; /* nothing more will be asked, and nothing is kept */
    /* a charge was refused halfway through a switch or a user: nothing more is released */
    bool broken;
};

static inline bool tacit__archive_is_private(const tacit__archive *c)
{
    return c->o.scheme.law != TACIT_LAW_NONE;
}

/* No charge was refused halfway; after one that was, nothing is taken, shown or saved. */
TACIT_MUST_USE tacit_status tacit__archive_check_whole(const tacit__archive *c, tacit_error *err);

/* Nothing will ever be asked about the next user. */
bool tacit__archive_is_over(const tacit__archive *c);

/* There is room for one user more. */
TACIT_MUST_USE tacit_status tacit__archive_check_room(const tacit__archive *c, tacit_error *err);

/* Counts a user whose Gram matrices these are, and passes the leaf on when it is complete. */
TACIT_MUST_USE tacit_status tacit__archive_count_user(tacit__archive *c, const tacit__input *gram,
                                                      tacit_error *err);

/* The response that exact_double holds, with noise. */
TACIT_MUST_USE tacit_status tacit__archive_show_response(tacit__archive *c, double *response,
                                                         tacit_error *err);

/* --- archive_plan.c: lattices and declared releases */

/* The lattices of Gram matrices, targets and responses, of the options alone. */
void tacit__archive_choose_bits(tacit__archive *c);

/* Plan, ledger and mechanisms of the private curator, whose bits are chosen. */
TACIT_MUST_USE tacit_status tacit__archive_open_releases(tacit__archive *c, tacit_noise *noise,
                                                         tacit_error *err);

#endif

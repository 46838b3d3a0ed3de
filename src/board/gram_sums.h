/* What passes between the rooms of a learner by regression: the lens through which a user's step
 * becomes a feature vector and a target, and the noisy sums that come of it. Plain data; S states,
 * A actions; a pair is state * A + action. */
#ifndef TACIT_BOARD_GRAM_SUMS_H
#define TACIT_BOARD_GRAM_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* Regressions of one kind, one for each of `steps` steps. Parameters come in blocks of `width`;
 * with a single block all pairs share it, else there is a block for each pair, in which alone the
 * pair's features are not 0: the Gram matrix is block-diagonal by public knowledge, and what is
 * outside the blocks does not exist. */
typedef struct tacit__frame {
    size_t steps, blocks, width, pairs;
} tacit__frame;

/* Numbers of one block in a sum: the packed Gram matrix, then the response. */
static inline size_t tacit__frame_cell(const tacit__frame *f)
{
    return f->width * (f->width + 1) / 2 + f->width;
}

static inline size_t tacit__frame_size(const tacit__frame *f)
{
    return f->steps * f->blocks * tacit__frame_cell(f);
}

/* Public: a function of earlier releases. Norms of features, and targets, are at most 1 (or what
 * the curator was told); it clips what is not. */
typedef struct tacit__lens {
    const double *features; /* [step][width][pair], or with many blocks [step][width] */
    size_t stride;          /* from one step's features to the next; 0: the same at every step */
    const double *targets;  /* [step][next state]; NULL: the reward */
    const double *weights;  /* [step][pair] in [0, 1], of both sums; NULL: ones */
} tacit__lens;

/* sum of weight x x^T and of weight x y over users 1 .. users, noisy or exact: [step][block][cell]. */
typedef struct tacit__gram_sums {
    uint64_t users;
    const double *sums;
    /* With probability 1 - failure, now and before, for every block: the noise of the Gram matrix
     * has an operator norm of at most gram_level, that of the response a length of at most
     * response_level. 0: exact. */
    double gram_level, response_level;
} tacit__gram_sums;

#endif

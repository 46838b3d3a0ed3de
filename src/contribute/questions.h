/* Questions about one step, which users answer by randomized response: what is chosen by public chance, and
 * what answers tell. Tables and scores (score_answers.c) are learned of them. */
#ifndef TACIT_CONTRIBUTE_QUESTIONS_H
#define TACIT_CONTRIBUTE_QUESTIONS_H

#include "base/bytes.h"
#include "noise/response.h"
#include "noise/stream.h"

/* A step is one of so many cells. If these are fewer than 3 e^epsilon + 2 the answer is the cell itself, out
 * of g = cells; else public chance draws a hash from cells to g = e^epsilon + 1 answers, rounded, and the
 * answer is that of the cell [WBLJ17].
 *
 * An answer supports the cells that it stands for. A cell is supported by an answer about another one with
 * probability u, and by one about itself with u + d: without a hash u is the chance of a wrong answer and d =
 * T / 2^64 (noise/response.h); with one u = 1/g, since a hash sends the cell anywhere alike, and d = (T /
 * 2^64) (1 - 1/g). So (support - n u) / d is unbiased, and has variance n v, v = u (1 - u) / d^2, where the
 * cell never occurs. */
typedef struct tacit__question {
    bool hashed;
    tacit__response response;
    double expected, gain; /* u and d */
    double variance;       /* v */
} tacit__question;

/* With this epsilon for one answer; 2 to 2^40 cells. False: an answer would tell nothing. */
TACIT_MUST_USE bool tacit__question_find(double cells, double epsilon, tacit__question *out);

/* Which answer stands for a cell: a mixed word (SplitMix64), from 0 to g - 1. */
static inline uint64_t tacit__question_answer(uint64_t hash, uint64_t cell, uint64_t g)
{
    uint64_t z = hash + cell * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return ((z ^ (z >> 31)) >> 32) * g >> 32;
}

/* A public word as a number in (0, 1]. */
static inline double tacit__question_unit(uint64_t word)
{
    return (double)((word >> 11) + 1) * 0x1p-53;
}

/* The first of `left` steps that are asked about, every choice of them from `from` .. `steps` - 1 as likely:
 * a step is taken with probability (left to take) / (steps left). */
size_t tacit__question_step(uint64_t word, size_t left, size_t from, size_t steps);

/* The public chance, as part of a saved state (base/bytes.h). */
void tacit__question_fields(tacit__site *chance, tacit__saved *s);

#endif

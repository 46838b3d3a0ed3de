/* These tests find out whether the noise that was added at the door is what was declared.
 *
 * The auditor sees exact and released values, and so the noise itself. It tests the mean, the size, whether
 * draws are correlated from step to step or from coordinate to coordinate, and whether draws are zero or
 * repeated more often than chance allows. A curator that adds half the noise, leaves out a coordinate, or
 * uses a draw twice is found within a few thousand draws. */
#ifndef TACIT_AUDIT_RESIDUALS_H
#define TACIT_AUDIT_RESIDUALS_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/plan.h>

typedef enum tacit__residual_test {
    TACIT__TEST_MEAN,
    TACIT__TEST_SIZE,
    TACIT__TEST_STEPS,       /* correlation with the same coordinate's draw one step ago */
    TACIT__TEST_COORDINATES, /* correlation with the coordinate before */
    TACIT__TEST_ZEROS,
    TACIT__TEST_SAME_STEP,       /* equal to the draw one step ago */
    TACIT__TEST_SAME_COORDINATE, /* equal to the draw of the coordinate before */
    TACIT__TEST_SAME_RUN,        /* equal to the draw of a run with another seed */
    TACIT__RESIDUAL_TESTS
} tacit__residual_test;

/* Says it in words: "the noise is not as large as declared", and so on. */
const char *tacit__residual_words(tacit__residual_test test);

/* Sums over draws, in units of the declared scale. Zero to begin with. */
typedef struct tacit__residuals {
    double n, sum, size, variance; /* draws, of draws, of |draws| or squares, of all variances */
    double n_steps, steps;         /* pairs, of their products */
    double n_coordinates, coordinates;                                    /* likewise */
    double count[TACIT__RESIDUAL_TESTS], expected[TACIT__RESIDUAL_TESTS]; /* coincidences */
    double law_gaussian; /* draws of that law; the others are Laplace's */
} tacit__residuals;

/* n draws of one passage. `before` is what the same coordinates drew a step ago, NULL: nothing; `other`
 * what they drew in another run, NULL: not known. */
void tacit__residuals_add(tacit__residuals *r, tacit_law law, double scale, size_t n,
                          const int64_t *x, const int64_t *before, const int64_t *other);
/* The same of answers: x is 0 where the true one was given. How often that is is tested, as TEST_MEAN. */
void tacit__residuals_add_answers(tacit__residuals *r, double scale, uint64_t answers, size_t n,
                                  const int64_t *x);
void tacit__residuals_merge(tacit__residuals *into, const tacit__residuals *from);

/* The test that fails most clearly at this error probability for all of them together, or
 * TACIT__RESIDUAL_TESTS. Fewer draws than MIN_DRAWS are never judged. */
enum { TACIT__MIN_DRAWS = 256 };
tacit__residual_test tacit__residuals_judge(const tacit__residuals *r, double error);

/* Measured size of the noise over the declared one. */
double tacit__residuals_size(const tacit__residuals *r);

#endif

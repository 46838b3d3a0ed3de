/* The LSVI curator for users whose data stay elsewhere, with their devices or with a party that holds no
 * sums: see lsvi_curator.h. Gram matrices and responses come as integers, are checked, added, and leave
 * through the same releases as those of users whose data the curator has.
 *
 * What is checked is that one user's integers are no longer than a user's can be, in the norm of the noise:
 * with |phi| <= 1 a Gram matrix has |phi phi^T|_F <= 1, and half a lattice step of rounding in each
 * coordinate; a response has |phi y| <= 1, half of that if targets are centered, and no rounding. Both L1
 * norms are at most half of what a replaced user can move (lsvi_scheme.c). Pooled, both are sums of H such
 * terms. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "curate/lsvi_curator_inside.h"
#include "noise/stream.h"

static tacit_status refuse(tacit_error *err)
{
    return tacit__fail(err, TACIT_OUT_OF_BOUND,
                       "a contribution that was made elsewhere exceeds its declared bound");
}

/* No longer than these norms, of which the law of the noise says which counts. */
static bool is_within(const tacit__lsvi_data *c, const int64_t *x, size_t n, double l1, double l2)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        sum += fabs((double)x[i]);
        square += (double)x[i] * (double)x[i];
    }
    const double slack = 1 + (double)(n + 2) * 0x1p-52; /* what adding up n doubles can lose */
    return sqrt(square) <= l2 * slack &&
           (c->o.scheme.law != TACIT_LAW_LAPLACE || sum <= l1 * slack);
}

/* One number for each step, 1 on the lattice, in a coordinate of its Gram matrix. */
static bool is_one_hot(const tacit__lsvi_data *c, const tacit__input *gram)
{
    const size_t H = c->o.space.horizon;
    bool fits = gram->index != NULL && gram->n == H;
    for (size_t h = 0; h < H && fits; h++)
        fits = gram->index[h] / c->n_active == (c->o.space.pooled ? 0 : h) &&
               gram->value[h] == (int64_t)1 << c->gram_bits;
    return fits;
}

static bool is_gram(const tacit__lsvi_data *c, const tacit__input *gram)
{
    if (c->o.space.form == TACIT__ONE_HOT)
        return is_one_hot(c, gram);
    const double one = ldexp(1, c->gram_bits), n = (double)c->n_active,
                 steps = (double)tacit__gram_steps(&c->o.space);
    bool fits = gram->index == NULL && gram->n == c->size;
    for (size_t g = 0; g < tacit__gram_count(&c->o.space) && fits; g++)
        fits =
            is_within(c, gram->value + g * c->n_active, c->n_active,
                      steps * (one * c->o.scheme.gram_l1 / 2 + n / 2), steps * (one + sqrt(n) / 2));
    return fits;
}

tacit_status tacit__lsvi_data_add_contribution(tacit__lsvi_data *c, const tacit__input *gram,
                                               tacit_error *err)
{
    TACIT__REQUIRE(c->o.elsewhere && gram->value != NULL);
    if (!is_gram(c, gram))
        return refuse(err);
    TRY(tacit__lsvi_data_check_room(c, err));
    if (!tacit__lsvi_data_is_over(c))
        return tacit__lsvi_data_count_user(c, gram, err);
    c->users++;
    return TACIT_OK;
}

tacit_status tacit__lsvi_data_ask(tacit__lsvi_data *c, size_t h, const double *table,
                                  tacit_error *err)
{
    TACIT__REQUIRE(c->o.elsewhere && h < c->o.space.horizon);
    TRY(tacit__lsvi_data_check_whole(c, err));
    if (c->closed)
        return tacit__fail_plain(err, TACIT_NOTHING_TO_RELEASE);
    const tacit__lsvi_form form = tacit__lsvi_form_of(c);
    c->stretch = tacit__lsvi_target(&form, h, table).stretch;
    memset(c->exact_double, 0, c->o.space.dimension * sizeof *c->exact_double);
    c->asked =
        tacit__lsvi_data_is_over(c) ? tacit__lsvi_leaf_end(&c->o.scheme, c->leaves) : c->users;
    c->answers = 0;
    return TACIT_OK;
}

tacit_status tacit__lsvi_data_add_response(tacit__lsvi_data *c, const int64_t *response,
                                           tacit_error *err)
{
    TACIT__REQUIRE(c->o.elsewhere);
    const size_t d = c->o.space.dimension;
    const double one =
        (double)tacit__gram_steps(&c->o.space) * ldexp(1 / c->stretch, c->response_bits);
    if (c->answers == c->asked)
        return tacit__fail(err, TACIT_EXHAUSTED, "all %llu users who were asked have answered",
                           (unsigned long long)c->asked);
    if (!is_within(c, response, d, one * c->o.scheme.response_l1 / 2,
                   c->o.centered ? one / 2 : one))
        return refuse(err);
    for (size_t j = 0; j < d; j++)
        c->exact_double[j] += (double)response[j];
    c->answers++;
    return TACIT_OK;
}

tacit_status tacit__lsvi_data_release_response(tacit__lsvi_data *c, double *response,
                                               tacit_error *err)
{
    TACIT__REQUIRE(c->o.elsewhere);
    TRY(tacit__lsvi_data_check_whole(c, err));
    if (c->asked == 0 || c->answers < c->asked)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%llu of %llu users have answered",
                           (unsigned long long)c->answers, (unsigned long long)c->asked);
    TRY(tacit__lsvi_data_show_response(c, response, err));
    tacit__wipe(c->exact_double, c->o.space.dimension * sizeof *c->exact_double);
    c->asked = c->answers = 0;
    return TACIT_OK;
}

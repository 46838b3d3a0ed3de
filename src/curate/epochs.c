/* See curate/epochs.h.
 *
 * A user adds y v with |y| <= 1 and |v| <= 1, as integers on a lattice, clipped to length 1 there.
 * Replacing the user moves the sum of one epoch by at most 2, which y v against -y v reaches for
 * the longest v: no smaller number would do. Which epoch a user is in follows from their place in
 * line, so a user is in one shown sum only, and everything later is made from sums that were shown:
 * epochs compose in parallel, and the plan pays once whatever their number
 * (docs/why/kernel.md#epochs-compose-in-parallel).
 *
 * People who come back. A visit moves the sum of its epoch by at most 2, so n visits in one epoch
 * move it by at most 2 n, and 2 (n_1, n_2, ..) is the move of all: its length is largest for visits
 * that are opposite to their replacement in the same direction, which is attained, and for the
 * pattern that tacit__returning_in_batches finds exactly. The ends of epochs are public. Local:
 * every report has noise of its own, so k reports move by 2 sqrt(k), at whatever distance.
 *
 * A user without a vector, whose action was dropped before the reward was told, adds the zero
 * vector and counts. 0 lies in the ball that y v lies in, so two users are still at most 2 apart;
 * and every user who is accepted counts, so an epoch begins at the same user whatever the data
 * are. Both are needed: without the second, one user's action would decide which epoch everybody
 * after them is in, and epochs would not compose in parallel.
 *
 * A learner of one epoch shows nothing; it declares one release all the same, so that its promise has a plan.
 *
 * Joint: the sum passes the door when its epoch is over. Local: every user's vector passes it, with
 * noise in all coordinates, and sums are of what passed. */
#include "curate/epochs.h"

#include <math.h>
#include <string.h>

#include "account/single.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/workspace.h"
#include "contribute/user_check.h"
#include "curate/curators.h"
#include "noise/sampler.h"
#include "noise/stream.h"
#include "sums/once.h"

static const char name[] = "epochs";
static const char reason[] =
    "y v against y' v', |y v| <= 1, reached by opposite rewards; a user is in "
    "one epoch only, so epochs compose in parallel",
                  reason_with_contexts[] =
                      "(y v, a number for the context) against another such vector, both no longer "
                      "than 1; a user is in one epoch only, so epochs compose in parallel",
                  reason_of_visits[] =
                      "y v against y' v', |y v| <= 1, reached by opposite rewards; visits in one "
                      "epoch add up, and epochs have noise of their own",
                  reason_of_visits_with_contexts[] =
                      "(y v, a number for the context) against another such vector, both no longer "
                      "than 1; visits in one epoch add up, and epochs have noise of their own",
                  reason_of_reports[] = "y v against y' v', |y v| <= 1, reached by opposite "
                                        "rewards; every report has noise of its own",
                  reason_of_reports_with_contexts[] =
                      "(y v, a number for the context) against another such vector, both no longer "
                      "than 1; every report has noise of its own";

struct tacit__epochs {
    tacit__epochs_options o;
    tacit__lattice lattice;
    tacit_ledger *ledger;
    tacit__once *once; /* NULL without privacy */
    double scale;
    double *x, *noisy;  /* [dimension] scratch */
    int64_t *q, *exact; /* the user on the lattice; joint: the epoch's raw sum */
    double *total;      /* none and local: the epoch's sum */
    uint64_t users;
    bool broken;
};

static bool is_private(const tacit__epochs *c)
{
    return c->o.guarantee.model != TACIT_MODEL_NONE;
}

static bool is_local(const tacit__epochs *c)
{
    return c->o.guarantee.model == TACIT_MODEL_LOCAL;
}

static const char *reason_of(const tacit__epochs *c)
{
    if (c->o.visits > 1 && is_local(c))
        return c->o.with_contexts ? reason_of_reports_with_contexts : reason_of_reports;
    if (c->o.visits > 1)
        return c->o.with_contexts ? reason_of_visits_with_contexts : reason_of_visits;
    return c->o.with_contexts ? reason_with_contexts : reason;
}

/* What all of them have in common; a learner of one epoch shows nothing. */
static tacit__once_spec spec_of(const tacit__epochs_options *o)
{
    const bool local = o->guarantee.model == TACIT_MODEL_LOCAL;
    return (tacit__once_spec){.law = TACIT_LAW_GAUSSIAN,
                              .dimension = o->dimension,
                              .releases = (local ? o->users : o->n_epochs) + (o->n_epochs == 0),
                              .l2 = 2,
                              .disjoint = true,
                              .visits = o->visits,
                              .apart = local ? 1 : o->apart, /* a device may report at once */
                              .ends = local || o->n_epochs == 0 ? NULL : o->ends};
}

tacit_status tacit__epochs_column(const tacit__epochs_options *options, double *out,
                                  tacit_error *err)
{
    const tacit__once_spec spec = spec_of(options);
    tacit_release line;
    TRY(tacit__once_declare(&spec, name, &line, err));
    *out = line.column_l2;
    return TACIT_OK;
}

static tacit_status open_door(tacit__epochs *c, tacit_noise *noise, tacit_error *err)
{
    const tacit_sum_spec bound = {.mechanism = TACIT_SUM_EXACT,
                                  .law = TACIT_LAW_GAUSSIAN,
                                  .dimension = c->o.dimension,
                                  .users = c->o.users + (c->o.n_epochs == 0),
                                  .bound = {.l2 = 1, .clip = true}};
    tacit_release line;
    tacit_status status = tacit__lattice_choose(&bound, c->o.dimension, &c->lattice, err);
    tacit__once_spec spec = spec_of(&c->o);
    spec.bits = c->lattice.bits;
    spec.largest = is_local(c) ? c->lattice.largest : 0;
    spec.reason = reason_of(c);
    TACIT__REQUIRE(c->o.visits <= 1 || c->o.ends != NULL);
    if (status == TACIT_OK)
        status = tacit__once_declare(&spec, name, &line, err);
    if (status == TACIT_OK)
        status = tacit__ledger_open_single(&line, c->o.guarantee, c->o.published_scale, noise,
                                           &c->ledger, &c->scale, err);
    return status == TACIT_OK ? tacit__once_create(&spec, c->ledger, name, &c->once, err) : status;
}

tacit_status tacit__epochs_create(const tacit__epochs_options *options, tacit_noise *noise,
                                  tacit__epochs **out, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || options->guarantee.model == TACIT_MODEL_NONE);
    const size_t n = options->dimension;
    tacit__epochs w = {.o = *options};
    tacit__epochs *c =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.x, n), TACIT__PIECE(w.noisy, n),
                         TACIT__PIECE(w.total, n), TACIT__PIECE(w.q, n), TACIT__PIECE(w.exact, n));
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    if (is_private(c))
        status = open_door(c, noise, err);
    c->o.ends = NULL; /* the caller's */
    if (status != TACIT_OK) {
        tacit__epochs_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__epochs_destroy(void *curator)
{
    tacit__epochs *c = curator;
    if (c == NULL)
        return;
    tacit__once_destroy(c->once);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

tacit_ledger *tacit__epochs_ledger(const void *curator)
{
    const tacit__epochs *c = curator;
    return c->ledger;
}

double tacit__epochs_scale(const tacit__epochs *c)
{
    return c->scale;
}

/* y v, or 0 without a vector. */
static void multiply(size_t dimension, size_t size, const double *vector, double y, double *x)
{
    memset(x, 0, dimension * sizeof *x);
    for (size_t i = 0; i < size && vector != NULL; i++)
        x[i] = y * vector[i];
}

static tacit_status check_user(size_t dimension, size_t size, double y, tacit_error *err)
{
    return size <= dimension && y >= -1 && y <= 1
               ? TACIT_OK
               : tacit__fail(err, TACIT_OUT_OF_BOUND, "a vector is too large, or a reward");
}

tacit_status tacit__epochs_contribute(const tacit__lattice *lattice, size_t dimension, size_t size,
                                      const double *vector, double y, double *x, int64_t *out,
                                      tacit_error *err)
{
    TACIT__REQUIRE(size <= dimension);
    TRY(check_user(dimension, size, y, err));
    multiply(dimension, size, vector, y, x);
    return tacit__lattice_quantize(lattice, x, dimension, out, err);
}

const tacit__lattice *tacit__epochs_lattice(const tacit__epochs *c)
{
    return is_private(c) ? &c->lattice : NULL;
}

/* The user's y v in c->x or, if anything is private, on the lattice in c->q. */
static tacit_status place(tacit__epochs *c, size_t size, const double *vector, double y,
                          tacit_error *err)
{
    if (is_private(c))
        return tacit__epochs_contribute(&c->lattice, c->o.dimension, size, vector, y, c->x, c->q,
                                        err);
    tacit_status status = check_user(c->o.dimension, size, y, err);
    if (status == TACIT_OK)
        multiply(c->o.dimension, size, vector, y, c->x);
    return status;
}

static tacit_status check_room(const tacit__epochs *c, tacit_error *err)
{
    return tacit__check_room(c->broken, c->users, c->o.users, err);
}

tacit_status tacit__epochs_report(tacit__epochs *c, size_t size, const double *vector, double y,
                                  double *noisy, tacit_error *err)
{
    TACIT__REQUIRE(is_local(c));
    tacit_status status = place(c, size, vector, y, err);
    if (status == TACIT_OK) /* all coordinates pass; those that are always 0 need not be sent */
        status = tacit__once_release(c->once, c->q, c->noisy, err);
    if (status == TACIT_OK)
        memcpy(noisy, c->noisy, size * sizeof *noisy);
    return status;
}

static double largest_report(const tacit__epochs *c)
{
    return 2 + TACIT__MAX_DRAW * c->scale;
}

/* An honest report is on the lattice, and no larger than the largest vector and the largest draw together. */
tacit_status tacit__epochs_check_report(const tacit__epochs *c, size_t size, const double *noisy,
                                        tacit_error *err)
{
    TACIT__REQUIRE(is_local(c));
    TRY(check_room(c, err));
    const double limit = largest_report(c);
    for (size_t i = 0; i < size; i++) {
        double steps = noisy[i] * c->lattice.per_unit;
        if (!(fabs(noisy[i]) <= limit) || rint(steps) != steps)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "no device can make number %zu of the report", i);
    }
    return size <= c->o.dimension
               ? TACIT_OK
               : tacit__fail(err, TACIT_OUT_OF_BOUND, "the report has too many numbers");
}

tacit_status tacit__epochs_absorb(tacit__epochs *c, size_t size, const double *noisy,
                                  tacit_error *err)
{
    TACIT__REQUIRE(size <= c->o.dimension);
    TRY(tacit__epochs_check_report(c, size, noisy, err));
    for (size_t i = 0; i < size; i++)
        c->total[i] += noisy[i];
    c->users++;
    return TACIT_OK;
}

/* A user on the lattice: into the epoch's raw sum or, local, with noise into what is added up. */
static tacit_status add_placed(tacit__epochs *c, size_t size, const int64_t *placed,
                               tacit_error *err)
{
    if (is_local(c)) {
        tacit_status status = tacit__once_release(c->once, placed, c->noisy, err);
        return status == TACIT_OK ? tacit__epochs_absorb(c, size, c->noisy, err) : status;
    }
    for (size_t i = 0; i < size; i++)
        c->exact[i] += placed[i];
    c->users++;
    return TACIT_OK;
}

tacit_status tacit__epochs_add(tacit__epochs *c, size_t size, const double *vector, double y,
                               tacit_error *err)
{
    TACIT__REQUIRE(size <= c->o.dimension);
    tacit_status status = check_room(c, err);
    if (status == TACIT_OK)
        status = place(c, size, vector, y, err);
    if (status != TACIT_OK || is_private(c))
        return status == TACIT_OK ? add_placed(c, size, c->q, err) : status;
    for (size_t i = 0; i < size; i++)
        c->total[i] += c->x[i];
    c->users++;
    return TACIT_OK;
}

tacit_status tacit__epochs_add_contribution(tacit__epochs *c, size_t size,
                                            const int64_t *contribution, tacit_error *err)
{
    TACIT__REQUIRE(is_private(c));
    tacit_status status = check_room(c, err);
    bool fits = size <= c->o.dimension &&
                tacit__lattice_contains(&c->lattice, contribution, c->o.dimension);
    for (size_t i = size; i < c->o.dimension && fits; i++)
        fits = contribution[i] == 0;
    if (status == TACIT_OK && !fits)
        status = tacit__fail(err, TACIT_OUT_OF_BOUND,
                             "a contribution that was made elsewhere is longer than 1");
    return status == TACIT_OK ? add_placed(c, size, contribution, err) : status;
}

tacit_status tacit__epochs_release(tacit__epochs *c, size_t size, double *sum, tacit_error *err)
{
    TACIT__REQUIRE(size <= c->o.dimension);
    tacit_status status = TACIT_OK;
    const double *from = c->total;
    if (is_private(c) && !is_local(c)) {
        status = tacit__once_release(c->once, c->exact, c->noisy, err);
        from = c->noisy;
        c->broken = status != TACIT_OK;
    }
    if (status != TACIT_OK)
        return status;
    memcpy(sum, from, size * sizeof *sum);
    memset(c->total, 0, c->o.dimension * sizeof *c->total);
    memset(c->exact, 0, c->o.dimension * sizeof *c->exact);
    return TACIT_OK;
}

/* --- Saving: users, totals, the door's own state ------------------------------------------------- */

void tacit__epochs_fields(tacit__epochs *c, tacit__saved *s)
{
    TACIT__REQUIRE(c->users <= c->o.users);
    uint64_t users = c->users;
    const char *outside = s->wrong;
    s->wrong = "the saved epochs contradict themselves";
    tacit__saved_value(s, &users, sizeof users);
    tacit__saved_check_curator(s, c->broken, c->users == 0);
    if (users > c->o.users)
        tacit__saved_fail(s, TACIT_CORRUPT, "the saved epochs have more users than there are");
    tacit__saved_reals(s, c->total, c->o.dimension, (double)users * largest_report(c));
    /* raw sums of this many users, each of length 1 */
    tacit__saved_integers(s, c->exact, c->o.dimension,
                          is_private(c) ? (double)users * c->lattice.per_unit : 0);
    if (c->once != NULL)
        tacit__once_fields(c->once, s);
    if (s->pass == TACIT__APPLY)
        c->users = users;
    s->wrong = outside;
}

/* --- The table ------------------------------------------------------------------------------------- */

static tacit_status add_user(void *curator, const tacit__user_view *user, tacit_error *err)
{
    return tacit__epochs_add(curator, user->size, user->vector, user->y, err);
}

const tacit__curator_kind tacit__epochs_curator = {.destroy = tacit__epochs_destroy,
                                                   .add = add_user,
                                                   .ledger = tacit__epochs_ledger,
                                                   .returning = true};

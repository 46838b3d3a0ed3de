/* See contribute/epochs.h.
 *
 * A user adds y v with |y| <= 1 and |v| <= 1, as integers on a lattice, clipped to length 1 there.
 * Replacing the user moves the sum of one epoch by at most 2, which y v against -y v reaches for
 * the longest v: no smaller number would do. Which epoch a user is in follows from their place in
 * line, so a user is in one shown sum only, and everything later is made from sums that were shown:
 * epochs compose in parallel, and the plan pays once whatever their number
 * (docs/why/kernel.md#epochs-compose-in-parallel).
 *
 * Contexts. Where their law is learned, a user adds (y v, cell e_c): e_c is 1 in the cell of the context.
 * That is no longer than 1, since |v|^2 + cell^2 <= 1, and it is clipped as y v is, so the reach is what it
 * was.
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
 * A learner of one epoch shows nothing; it declares one release all the same, so that its promise has a
 * plan. */
#include "contribute/epochs.h"

#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

static const char name[] = "epochs";

/* For one visit, for visits that share epochs, and for reports, which have noise of their own; y v alone, and
 * with a number for the context. */
static const char *const reasons[3][2] = {
    {"y v against y' v', |y v| <= 1, reached by opposite rewards; a user is in "
     "one epoch only, so epochs compose in parallel",
     "(y v, a number for the context) against another such vector, both no longer "
     "than 1; a user is in one epoch only, so epochs compose in parallel"},
    {"y v against y' v', |y v| <= 1, reached by opposite rewards; visits in one "
     "epoch add up, and epochs have noise of their own",
     "(y v, a number for the context) against another such vector, both no longer "
     "than 1; visits in one epoch add up, and epochs have noise of their own"},
    {"y v against y' v', |y v| <= 1, reached by opposite "
     "rewards; every report has noise of its own",
     "(y v, a number for the context) against another such vector, both no longer "
     "than 1; every report has noise of its own"}};

/* --- The statistic -------------------------------------------------------------------------------- */

typedef struct epochs {
    size_t dimension, cells;
    double cell;
    tacit__lattice lattice; /* with privacy */
    double *x;              /* [dimension]: what the user adds, */
    int64_t *placed;        /* [dimension]: and on the lattice */
} epochs;

static tacit_status check(const void *form, const tacit__user_view *user, tacit_error *err)
{
    const epochs *e = form;
    return user->size + e->cells <= e->dimension && user->y >= -1 && user->y <= 1 &&
                   (e->cells == 0 || user->block < e->cells)
               ? TACIT_OK
               : tacit__fail(err, TACIT_OUT_OF_BOUND,
                             "a vector is too large, or a reward or a context is out of range");
}

/* (y v, cell e_c); 0 without a vector. */
static void write_user(epochs *e, const tacit__user_view *user)
{
    memset(e->x, 0, e->dimension * sizeof *e->x);
    if (user->vector == NULL)
        return;
    for (size_t i = 0; i < user->size; i++)
        e->x[i] = user->y * user->vector[i];
    if (e->cells > 0)
        e->x[user->size + user->block] = e->cell;
}

static tacit_status contribute(void *form, const tacit__user_view *user, uint64_t turn,
                               tacit__input *out, tacit_error *err)
{
    epochs *e = form;
    (void)turn;
    write_user(e, user);
    *out = (tacit__input){.n = e->dimension, .value = e->placed};
    return tacit__lattice_quantize(&e->lattice, e->x, e->dimension, e->placed, err);
}

static void wipe(void *form)
{
    epochs *e = form;
    tacit__wipe(e->x, e->dimension * sizeof *e->x);
    tacit__wipe(e->placed, e->dimension * sizeof *e->placed);
}

static tacit_status count(void *form, const tacit__user_view *user, double *const *sums,
                          tacit_error *err)
{
    epochs *e = form;
    (void)err;
    write_user(e, user);
    for (size_t i = 0; i < e->dimension; i++)
        sums[0][i] += e->x[i];
    return TACIT_OK;
}

static const tacit__statistic statistic = {.destroy = tacit__workspace_destroy,
                                           .check = check,
                                           .contribute = contribute,
                                           .wipe = wipe,
                                           .count = count};

/* --- What is declared ----------------------------------------------------------------------------- */

static bool is_local(const tacit__epochs_options *o)
{
    return o->guarantee.model == TACIT_MODEL_LOCAL;
}

/* Users in epochs that are shown. */
static uint64_t shown_users(const tacit__epochs_options *o)
{
    return o->n_ends > 0 ? o->ends[o->n_ends - 1] : 1;
}

/* Reports that have noise. The device of one person makes as many as it may, whatever is shown of them. */
static uint64_t reports_of(const tacit__epochs_options *o)
{
    return shown_users(o) > o->visits ? shown_users(o) : o->visits;
}

/* All but the lattice. Without privacy a number is at most 1, but for the planner's rounding. */
static tacit__stream_spec stream_of(const tacit__epochs_options *o)
{
    const bool local = is_local(o);
    const int visits = o->visits <= 1 ? 0 : local ? 2 : 1;
    return (tacit__stream_spec){
        .name = name,
        .kind =
            o->guarantee.model == TACIT_MODEL_NONE ? TACIT__STREAM_COUNTED : TACIT__STREAM_FRESH,
        .dimension = o->dimension,
        .largest = 2,
        .restarts = true,
        .local = local,
        .once = {.law = TACIT_LAW_GAUSSIAN,
                 .releases = local           ? reports_of(o)
                             : o->n_ends > 0 ? o->n_ends
                                             : 1,
                 .l2 = 2,
                 .reason = reasons[visits][o->cells > 0],
                 .visits = o->visits,
                 .apart = local ? 1 : o->apart}, /* a device may report at once */
        .printed = o->published_scale};
}

tacit_status tacit__epochs_column(const tacit__epochs_options *o, double *out, tacit_error *err)
{
    tacit__stream_spec stream = stream_of(o);
    stream.kind = TACIT__STREAM_FRESH;
    tacit_release line;
    TRY(tacit__stream_declare(&stream, &(tacit__batches){o->n_ends, o->ends}, &line, err));
    *out = line.column_l2;
    return TACIT_OK;
}

static tacit_status choose_lattice(const tacit__epochs_options *o, tacit__stream_spec *stream,
                                   tacit__lattice *out, tacit_error *err)
{
    const tacit_sum_spec bound = {.mechanism = TACIT_SUM_EXACT,
                                  .law = TACIT_LAW_GAUSSIAN,
                                  .dimension = o->dimension,
                                  .users = shown_users(o),
                                  .bound = {.l2 = 1, .clip = true}};
    TRY(tacit__lattice_choose(&bound, o->dimension, out, err));
    stream->bits = out->bits;
    stream->largest = out->largest;
    stream->once.largest = is_local(o) ? out->largest : 0;
    return TACIT_OK;
}

tacit_status tacit__epochs_describe(const tacit__epochs_options *o, tacit__curator_spec *out,
                                    tacit_error *err)
{
    TACIT__REQUIRE(o->ends != NULL && o->dimension > 0 && o->cells <= o->dimension);
    tacit__stream_spec stream = stream_of(o);
    epochs w = {.dimension = o->dimension, .cells = o->cells, .cell = o->cell};
    if (stream.kind == TACIT__STREAM_FRESH)
        TRY(choose_lattice(o, &stream, &w.lattice, err));
    epochs *form =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.x, o->dimension), TACIT__PIECE(w.placed, o->dimension));
    if (form == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *out = (tacit__curator_spec){.guarantee = o->guarantee,
                                 .episodes = o->users,
                                 .ends = o->ends,
                                 .n_ends = o->n_ends,
                                 .statistic = &statistic,
                                 .form = form,
                                 .n_streams = 1,
                                 .streams = {stream}};
    return TACIT_OK;
}

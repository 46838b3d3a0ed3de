/* The curator's life, its users and what it shows; see archive.h. Lattices and declared releases are in
 * archive_plan.c, sensitivities in lsvi_scheme.c, what a user adds in lsvi_contribution.c, bytes in
 * archive_saved.c.
 *
 * The response of the curator to a value function is a function of it and of users' data alone; V is cut
 * here, so the sensitivity does not depend on who asks. */
#include "release/archive/archive.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "noise/stream.h"
#include "release/archive/archive_inside.h"
#include "release/curator_kind.h"
#include "sums/regions.h"

#define DENSE_CELLS 0x1p23 /* next-state counts as a table: 64 MB */

/* --- Building ------------------------------------------------------------------------------------ */

/* Marks the coordinates of a Gram matrix that some pair of the public table can make other than 0,
 * and counts them. */
static size_t find_active(const tacit__linear_space *sp, size_t packed, bool *seen)
{
    for (size_t row = 0; row < sp->n_states * sp->n_actions; row++) {
        const double *phi = sp->table + row * sp->dimension;
        for (size_t j = 0, at = 0; j < sp->dimension; j++)
            for (size_t i = 0; i <= j; i++, at++)
                seen[at] = seen[at] || (phi[i] != 0 && phi[j] != 0);
    }
    size_t n = 0;
    for (size_t at = 0; at < packed; at++)
        n += seen[at];
    if (n == 0) { /* all features are 0: one coordinate keeps the plan well-formed */
        seen[0] = true;
        n = 1;
    }
    return n;
}

static tacit_status open_memory(tacit__archive *c, tacit_error *err)
{
    const tacit__linear_space *sp = &c->o.space;
    if (sp->form != TACIT__CARRIED) {
        tacit_status status = tacit__visits_create(sp->n_states, sp->n_actions, sp->horizon,
                                                   sp->pooled, DENSE_CELLS, &c->visits);
        return status == TACIT_OK ? status : tacit__fail_plain(err, status);
    }
    uint64_t users = tacit__lsvi_leaf_end(&c->o.scheme, c->o.scheme.leaves);
    double needed =
        tacit__feature_log_bytes(sp->n_actions, sp->horizon, sp->dimension, c->o.wide, users);
    if (needed > c->o.archive_bytes)
        return tacit__fail(err, TACIT_TOO_LARGE,
                           "the features of %llu users take %.0f MB, but archive_mb allows %.0f; "
                           "raise it, or store them as float32, or declare fewer episodes",
                           (unsigned long long)users, ceil(needed / 1e6), c->o.archive_bytes / 1e6);
    tacit_status status = tacit__feature_log_create(sp->n_actions, sp->horizon, sp->dimension,
                                                    c->o.wide, &c->archive);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

static size_t sums_size(const tacit__archive *c)
{
    const tacit__linear_space *sp = &c->o.space;
    return sp->form == TACIT__CARRIED ? 1 : sp->n_states * sp->n_actions;
}

static void wipe_scratch(tacit__archive *c)
{
    tacit__wipe(c->shown, c->size * sizeof *c->shown);
    const tacit__lsvi_form form = tacit__lsvi_form_of(c);
    tacit__lsvi_user_wipe(&form, c->user);
    tacit__wipe(c->sums, sums_size(c) * sizeof *c->sums);
    tacit__wipe(c->exact_double, c->o.space.dimension * sizeof *c->exact_double);
    tacit__wipe(c->exact, c->o.space.dimension * sizeof *c->exact);
}

static tacit__archive *allocate(const tacit__archive_options *options)
{
    tacit__archive w = {.o = *options, .packed = tacit__gram_size(&options->space)};
    const tacit__linear_space *sp = &w.o.space;
    const size_t d = sp->dimension, H = sp->horizon, G = tacit__gram_count(sp);
    bool *seen = sp->form == TACIT__TABLE ? tacit__alloc(w.packed, sizeof *seen) : NULL;
    if (sp->form == TACIT__TABLE && seen == NULL)
        return NULL;
    w.n_active = seen != NULL ? find_active(sp, w.packed, seen) : w.packed;
    w.size = G * w.n_active;
    tacit__archive *c =
        TACIT__WORKSPACE(w, TACIT__PIECE_IF(w.n_active < w.packed, w.active, w.n_active),
                         TACIT__PIECE(w.range, H), TACIT__PIECE(w.most_rewards, H),
                         TACIT__PIECE(w.leaf, w.size), TACIT__PIECE(w.total, w.size),
                         TACIT__PIECE(w.gram, G * w.packed), TACIT__PIECE(w.shown, w.size),
                         TACIT__PIECE(w.next, sp->n_states), TACIT__PIECE(w.sums, sums_size(&w)),
                         TACIT__PIECE(w.exact_double, d), TACIT__PIECE(w.exact, d));
    for (size_t at = 0, n = 0; c != NULL && c->active != NULL && at < w.packed; at++)
        if (seen != NULL && seen[at])
            c->active[n++] = at;
    tacit__free(seen);
    return c;
}

tacit_status tacit__archive_create(const tacit__archive_options *options, tacit_noise *noise,
                                   tacit__archive **out, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || options->guarantee.model == TACIT_MODEL_NONE);
    TACIT__REQUIRE(options->space.horizon > 0 && options->range != NULL);
    tacit__archive *c = allocate(options);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(c->range, options->range, c->o.space.horizon * sizeof *c->range);
    tacit__archive_choose_bits(c);
    for (size_t h = 0; h < c->o.space.horizon; h++)
        c->most_rewards[h] = floor(ldexp(1 / c->range[c->o.space.pooled ? 0 : h], c->target_bits));
    tacit_status status = open_memory(c, err);
    const tacit__lsvi_form form = tacit__lsvi_form_of(c);
    if (status == TACIT_OK && (c->user = tacit__lsvi_user_create(&form)) == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK && tacit__archive_is_private(c))
        status = tacit__archive_open_releases(c, noise, err);
    if (status != TACIT_OK) {
        tacit__archive_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__archive_destroy(void *curator)
{
    tacit__archive *c = curator;
    if (c == NULL)
        return;
    tacit_sum_destroy(c->sum);
    tacit__fresh_destroy(c->fresh);
    tacit__fresh_destroy(c->responses);
    tacit_ledger_destroy(c->ledger);
    tacit__visits_destroy(c->visits);
    tacit__feature_log_destroy(c->archive);
    tacit__lsvi_user_destroy(c->user);
    tacit__workspace_destroy(c);
}

tacit__lsvi_form tacit__lsvi_form_of(const tacit__archive *c)
{
    return (tacit__lsvi_form){.space = c->o.space,
                              .range = c->range,
                              .n_active = c->n_active,
                              .active = c->active,
                              .gram_bits = c->gram_bits,
                              .target_bits = c->target_bits,
                              .centered = c->o.centered,
                              .spans = c->o.spans};
}

tacit_ledger *tacit__archive_ledger(const void *curator)
{
    const tacit__archive *c = curator;
    return c->ledger;
}

tacit_status tacit__archive_check_whole(const tacit__archive *c, tacit_error *err)
{
    return !c->broken
               ? TACIT_OK
               : tacit__fail(err, TACIT_SYSTEM,
                             "an earlier charge was refused halfway; the statistics are closed");
}

/* --- Users ---------------------------------------------------------------------------------------- */

/* Passes a complete leaf on. Only a journal can refuse here, and then the leaf is closed for good. */
static tacit_status end_leaf(tacit__archive *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (c->sum != NULL) {
        double unit = ldexp(1, -c->gram_bits);
        for (size_t i = 0; i < c->size; i++)
            c->shown[i] = (double)c->leaf[i] * unit;
        status = tacit_sum_add(c->sum, c->shown, err);
    } else {
        for (size_t i = 0; i < c->size; i++)
            c->total[i] += c->leaf[i];
    }
    memset(c->leaf, 0, c->size * sizeof *c->leaf);
    c->broken = status != TACIT_OK;
    c->leaves++;
    c->ready = !c->broken;
    return status;
}

/* Adds a user's Gram matrices to the leaf. */
static void add_gram(tacit__archive *c, const tacit__input *gram)
{
    if (gram->index == NULL)
        for (size_t i = 0; i < gram->n; i++)
            c->leaf[i] += gram->value[i];
    else
        for (size_t i = 0; i < gram->n; i++)
            c->leaf[gram->index[i]] += gram->value[i];
}

bool tacit__archive_is_over(const tacit__archive *c)
{
    return c->closed || c->leaves == c->o.scheme.leaves;
}

tacit_status tacit__archive_check_room(const tacit__archive *c, tacit_error *err)
{
    TRY(tacit__archive_check_whole(c, err));
    if (c->users == c->o.episodes)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu episodes",
                           (unsigned long long)c->o.episodes);
    if (c->o.visits > 1 &&
        c->ready) /* a release that waits would hold visits that it does not pay for */
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a leaf is complete: it is released before the next user is added");
    return TACIT_OK;
}

tacit_status tacit__archive_count_user(tacit__archive *c, const tacit__input *gram,
                                       tacit_error *err)
{
    TACIT__REQUIRE(!tacit__archive_is_over(c) && c->users < c->o.episodes);
    add_gram(c, gram);
    c->users++;
    return c->users == tacit__lsvi_leaf_end(&c->o.scheme, c->leaves + 1) ? end_leaf(c, err)
                                                                         : TACIT_OK;
}

tacit_status tacit__archive_add(tacit__archive *c, const tacit_trajectory *u, tacit_error *err)
{
    const tacit__lsvi_form form = tacit__lsvi_form_of(c);
    TRY(tacit__lsvi_place_user(&form, u, c->user, err));
    TRY(tacit__archive_check_room(c, err));
    if (tacit__archive_is_over(c)) {
        wipe_scratch(c);
        c->users++;
        return TACIT_OK;
    }
    const double *rewards = c->user->rewards;
    tacit_status status =
        c->visits != NULL
            ? tacit__visits_add(c->visits, u->states, u->actions, rewards)
            : tacit__feature_log_add(c->archive, c->user->placed, u->actions, rewards);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    const tacit__input gram = tacit__lsvi_contribute_gram(&form, u, c->user);
    return tacit__archive_count_user(c, &gram, err);
}

bool tacit__archive_is_exhausted(const tacit__archive *c)
{
    return c->leaves == c->o.scheme.leaves && !c->ready;
}

void tacit__archive_close(tacit__archive *c)
{
    c->closed = true;
    c->ready = false;
    tacit__visits_destroy(c->visits);
    tacit__feature_log_destroy(c->archive);
    c->visits = NULL;
    c->archive = NULL;
    if (c->sum != NULL)
        tacit__sum_wipe(c->sum);
    tacit__wipe(c->leaf, c->size * sizeof *c->leaf);
    tacit__wipe(c->total, c->size * sizeof *c->total);
    wipe_scratch(c);
}

/* --- Releases ------------------------------------------------------------------------------------- */

bool tacit__archive_ready(const tacit__archive *c)
{
    return c->ready;
}

tacit_status tacit__archive_gram(tacit__archive *c, const double **gram, tacit_error *err)
{
    if (!c->ready)
        return tacit__fail_plain(err, TACIT_NOTHING_TO_RELEASE);
    TACIT__REQUIRE(!c->broken && !c->closed);
    double *to = c->active == NULL ? c->gram : c->shown;
    tacit_status status = TACIT_OK;
    if (c->sum != NULL) {
        status = tacit_sum_release(c->sum, to, err);
    } else if (c->fresh != NULL) {
        status = tacit__fresh_release(c->fresh, c->total, to, err);
    } else {
        double unit = ldexp(1, -c->gram_bits);
        for (size_t i = 0; i < c->size; i++)
            to[i] = (double)c->total[i] * unit;
    }
    if (status != TACIT_OK)
        return status;
    for (size_t h = 0; c->active != NULL && h < tacit__gram_count(&c->o.space); h++)
        for (size_t i = 0; i < c->n_active; i++)
            c->gram[h * c->packed + c->active[i]] = to[h * c->n_active + i];
    c->ready = false;
    *gram = c->gram;
    return TACIT_OK;
}

/* exact[d] = sum over users of phi_h target_h, or pooled of all their steps, from the counts. */
static void respond_from_visits(tacit__archive *c, size_t h, const double *table,
                                const tacit__target *target)
{
    const tacit__linear_space *sp = &c->o.space;
    size_t d = sp->dimension, pairs = sp->n_states * sp->n_actions, at = sp->pooled ? 0 : h;
    for (size_t s = 0; table != NULL && s < sp->n_states; s++)
        c->next[s] = tacit__target_place(target, table[s]);
    tacit__visits_sums(c->visits, at, table != NULL ? c->next : NULL, c->sums);
    const double *counts = tacit__visits_counts(c->visits, at);
    double one = ldexp(1, sp->feature_bits);
    memset(c->exact_double, 0, d * sizeof *c->exact_double);
    for (size_t i = 0; i < pairs; i++) {
        if (counts[i] == 0)
            continue;
        double y = target->times * c->sums[i] - target->center * counts[i];
        if (sp->form == TACIT__ONE_HOT) {
            c->exact_double[i] = one * y;
            continue;
        }
        const double *phi = sp->table + i * d;
        for (size_t j = 0; j < d; j++)
            c->exact_double[j] += y * phi[j];
    }
}

tacit_status tacit__archive_show_response(tacit__archive *c, double *response, tacit_error *err)
{
    const size_t d = c->o.space.dimension;
    if (!tacit__archive_is_private(c)) {
        for (size_t j = 0; j < d; j++)
            response[j] = ldexp(c->stretch * c->exact_double[j], -c->response_bits);
        return TACIT_OK;
    }
    for (size_t j = 0; j < d; j++) {
        const double stretched = c->stretch * c->exact_double[j];
        TACIT__REQUIRE(fabs(stretched) <= 0x1p53);
        c->exact[j] = llrint(ldexp(stretched, c->shown_bits - c->response_bits));
    }
    tacit_status status = tacit__fresh_release(c->responses, c->exact, response, err);
    c->broken = status != TACIT_OK && status != TACIT_EXHAUSTED;
    return status;
}

tacit_status tacit__archive_respond(tacit__archive *c, size_t h, const double *table,
                                    const tacit__optimism *function, double *response,
                                    tacit__target_unit *unit, tacit_error *err)
{
    TRY(tacit__archive_check_whole(c, err));
    if (c->closed)
        return tacit__fail_plain(err, TACIT_NOTHING_TO_RELEASE);
    const tacit__lsvi_form form = tacit__lsvi_form_of(c);
    const tacit__target target = tacit__lsvi_target(&form, h, table);
    *unit = tacit__lsvi_unit(&form, &target);
    c->stretch = target.stretch;
    if (c->visits != NULL)
        respond_from_visits(c, h, table, &target);
    else
        tacit__feature_log_respond(c->archive, h, function, &target, c->exact_double);
    return tacit__archive_show_response(c, response, err);
}

/* --- The table ------------------------------------------------------------------------------------- */

static tacit_status add_user(void *curator, const tacit__user_view *user, tacit_error *err)
{
    return tacit__archive_add(curator, user->trajectory, err);
}

const tacit__curator_kind tacit__archive_curator = {.destroy = tacit__archive_destroy,
                                                    .add = add_user,
                                                    .ledger = tacit__archive_ledger,
                                                    .returning = true};

/* Tabular counts: the curator's life, its users, and what it shows of them. See curate/tabular_curator.h;
 * what a user may contribute, and the plan made of it, is in tabular_plan.c.
 *
 * A user's H steps become three sparse vectors (tabular_contribution.c), which pass the door. Without privacy
 * they are counted as they are: in tables, or, where a table of the moves would be too large, in lists of the
 * next states that occurred. The last user's data are never used. */
#include "curate/tabular_curator.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "contribute/user_check.h"
#include "curate/curator.h"
#include "curate/sparse_row.h"
#include "curate/tabular_curator_inside.h"
#include "release/schedule.h"
#include "sums/sum_inside.h"
#include "sums/sum_steps.h"

/* Exact moves are kept as lists from this many cells on: 32 MB. */
#define DENSE_CELLS 0x1p22

static tacit_status check_options(const tacit__tabular_options *o, tacit_error *err)
{
    if (o->space.n_states == 0 || o->space.n_actions == 0 || o->space.horizon == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "states, actions and horizon must be at least 1");
    if (o->episodes == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "episodes is 0, expected at least 1");
    if (o->one_step && (o->guarantee.model != TACIT_MODEL_LOCAL || o->space.tables == 1))
        return tacit__fail(
            err, TACIT_UNSUPPORTED,
            "reports of a single step are for the local model with a table for each step "
            "(pooled: no); with one table they would gain nothing");
    if (o->drop_last && (o->space.tables == 1 || o->one_step))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "the moves of the last step are left out only where all steps of a user "
                           "have tables of their own");
    if (o->visits_from_moves && (o->guarantee.model == TACIT_MODEL_NONE || o->drop_last))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "visits are sums of moves only under privacy, and where all moves are "
                           "counted");
    if (o->user_visits > 0 && (o->guarantee.model == TACIT_MODEL_NONE || o->space.tables > 1))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "visits of a user are left out only under privacy, from one table");
    if (o->growth > 1 && o->guarantee.model == TACIT_MODEL_LOCAL)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "rare releases lower the noise of joint privacy; a local report has "
                           "its noise already");
    return TACIT_OK;
}

/* The counts that the sums do not have at hand. */
static tacit_status place_counts(tacit__tabular *c, tacit_error *err)
{
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &c->streams[i];
        if (s->sum != NULL && !c->o.one_step)
            s->shown = tacit__sum_get_released(s->sum);
        if (s->shown != NULL || s->size == 0)
            continue;
        s->shown = s->counts = tacit__alloc(s->size, sizeof *s->counts);
        if (s->counts == NULL)
            return tacit__fail(err, TACIT_NO_MEMORY, "counts of %zu cells do not fit into memory",
                               s->size);
    }
    return TACIT_OK;
}

static tacit__tabular sizes_of(const tacit__tabular_options *o)
{
    tacit__tabular c = {.o = *o};
    const tacit__space *sp = &o->space;
    const size_t pairs = sp->n_states * sp->n_actions, rows = sp->tables * pairs,
                 moves = tacit__tabular_move_tables(o) * pairs * sp->n_states;
    const uint64_t counted = o->episodes > 1 ? o->episodes - 1 : 1;
    c.releases =
        tacit__tabular_has_batches(&c) ? tacit__schedule_count(counted, o->growth, NULL) : counted;
    c.due = tacit__tabular_has_batches(&c);
    c.eta = o->failure / (3 * tacit__tabular_cells(o) *
                          (double)(tacit__tabular_has_batches(&c) ? c.releases : o->episodes));
    if (!tacit__tabular_is_private(&c) && tacit__tabular_cells(o) > DENSE_CELLS)
        c.n_rows = rows;
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &c.streams[i];
        s->size = i != MOVES ? rows : c.n_rows > 0 ? 0 : moves;
        s->report = i == VISITS && o->visits_from_moves ? 0
                    : o->one_step                       ? s->size / sp->tables
                                                        : s->size;
    }
    return c;
}

/* The curator with all arrays but the counts. */
static tacit__tabular *allocate(tacit__tabular w)
{
    const size_t H = w.o.space.horizon;
    tacit__piece pieces[2 * STREAMS + 2];
    size_t n = 0, report = 0;
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &w.streams[i];
        report += s->report;
        pieces[n++] = TACIT__PIECE_IF(w.o.one_step, s->total, s->report);
        pieces[n++] = TACIT__PIECE_IF(w.o.one_step, s->before, s->report);
    }
    pieces[n++] = TACIT__PIECE(w.reports, H);
    pieces[n++] = TACIT__PIECE_IF(w.o.mechanism == TACIT_SUM_LOCAL, w.scratch, report);
    return tacit__workspace_create(&w, sizeof w, pieces, n);
}

tacit_status tacit__tabular_create(const tacit__tabular_options *options, tacit_noise *noise,
                                   tacit__tabular **out, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || options->guarantee.model == TACIT_MODEL_NONE);
    TACIT__REQUIRE(options->episodes > 0 && options->space.horizon > 0);
    tacit_status status = check_options(options, err);
    if (status != TACIT_OK)
        return status;
    const tacit__tabular sizes = sizes_of(options);
    if (tacit__tabular_is_private(&sizes)) {
        TRY(tacit__tabular_check_memory(&sizes, err));
    }
    tacit__tabular *c = allocate(sizes);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (c->n_rows > 0 && (c->rows = tacit__alloc(c->n_rows, sizeof *c->rows)) == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK && tacit__tabular_is_private(c)) {
        tacit__site_open(&c->chance, noise, "public: the step that a user reports");
        status = tacit__tabular_open_sums(c, noise, err);
        if (status == TACIT_OK && (c->user = tacit__tabular_user_create(&c->o)) == NULL)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    if (status == TACIT_OK)
        status = place_counts(c, err);
    if (status != TACIT_OK) {
        tacit__tabular_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__tabular_destroy(void *curator)
{
    tacit__tabular *c = curator;
    if (c == NULL)
        return;
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &c->streams[i];
        tacit_sum_destroy(s->sum);
        tacit__free_secret(s->counts, s->size * sizeof *s->counts);
    }
    tacit_ledger_destroy(c->ledger);
    tacit__tabular_user_destroy(c->user);
    for (size_t i = 0; i < c->n_rows && c->rows != NULL; i++)
        tacit__workspace_destroy(c->rows[i].next);
    tacit__free(c->rows);
    tacit__workspace_destroy(c);
}

tacit_ledger *tacit__tabular_ledger(const void *curator)
{
    const tacit__tabular *c = curator;
    return c->ledger;
}

/* The visits of every row, from what is shown of its moves; four sums at a time, which do not wait
 * for each other. */
static void sum_moves(tacit__tabular *c)
{
    const size_t n_states = c->o.space.n_states;
    const double *moves = c->streams[MOVES].shown;
    double *visits = c->streams[VISITS].counts;
    for (size_t row = 0; row < c->streams[VISITS].size; row++, moves += n_states) {
        double part[4] = {0};
        size_t next = 0;
        for (; next + 4 <= n_states; next += 4)
            for (size_t i = 0; i < 4; i++)
                part[i] += moves[next + i];
        for (; next < n_states; next++)
            part[0] += moves[next];
        visits[row] = (part[0] + part[1]) + (part[2] + part[3]);
    }
}

/* The sums are shown; those of batches pass the door first. */
static tacit_status release_sums(tacit__tabular *c, tacit_error *err)
{
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &c->streams[i];
        if (s->sum == NULL)
            continue;
        TRY(s->counts == NULL ? tacit__sum_release_in_place(s->sum, err)
                              : tacit_sum_release(s->sum, s->counts, err));
    }
    if (c->o.visits_from_moves)
        sum_moves(c);
    return TACIT_OK;
}

tacit_status tacit__tabular_release(tacit__tabular *c, tacit__counts *out, tacit_error *err)
{
    const bool batches = tacit__tabular_has_batches(c);
    const bool due = tacit__tabular_is_private(c) && c->users > 0 && !c->fresh && !batches;
    if (due && !c->o.one_step)
        TRY(release_sums(c, err));
    else if (due && c->o.visits_from_moves)
        sum_moves(c);
    c->fresh = true;
    *out = (tacit__counts){.users = batches ? c->shown : c->users,
                           .visits = c->streams[VISITS].shown,
                           .moves = c->streams[MOVES].shown,
                           .rows = c->rows,
                           .drop_last = c->o.drop_last,
                           .rewards = c->streams[REWARDS].shown,
                           .center = c->o.centered ? 0.5 : 0};
    if (tacit__tabular_is_private(c)) {
        out->moves_error = tacit__tabular_level(c, MOVES);
        out->rewards_error = tacit__tabular_level(c, REWARDS);
        out->visits_error = tacit__tabular_level(c, VISITS);
        out->moves_stddev = tacit__tabular_stddev(c, MOVES);
        out->rewards_stddev = tacit__tabular_stddev(c, REWARDS);
        out->visits_stddev = tacit__tabular_stddev(c, VISITS);
    }
    return TACIT_OK;
}

/* One user's moves into the lists. On failure the lists count as before, with some room more. */
static tacit_status list_moves(tacit__tabular *c, const tacit_trajectory *u, tacit_error *err)
{
    const tacit__space *sp = &c->o.space;
    for (int round = 0; round < 2; round++) /* make room for all, then count */
        for (size_t h = 0; h < sp->horizon - c->o.drop_last; h++) {
            tacit__sparse_row *row = &c->rows[tacit__tabular_row(&c->o, u, h)];
            uint32_t i = 0;
            while (i < row->length && row->next[i] != u->states[h + 1])
                i++;
            if (round == 0) {
                while (i == row->length && row->capacity - row->length < sp->horizon &&
                       row->capacity < 2 * sp->n_states)
                    if (!tacit__row_reserve(row, row->capacity == 0 ? 4 : 2 * row->capacity))
                        return tacit__fail_plain(err, TACIT_NO_MEMORY);
                continue;
            }
            if (i == row->length) {
                row->next[i] = u->states[h + 1];
                row->count[i] = 0;
                row->length++;
            }
            row->count[i] += 1;
        }
    return TACIT_OK;
}

/* Adds a user to the exact counts. */
static void count(tacit__tabular *c, const tacit_trajectory *u)
{
    const tacit__space *sp = &c->o.space;
    double center = c->o.centered ? 0.5 : 0;
    for (size_t h = 0; h < sp->horizon; h++) {
        size_t row = tacit__tabular_row(&c->o, u, h);
        c->streams[VISITS].counts[row] += 1;
        c->streams[REWARDS].counts[row] += u->rewards[h] - center;
        if (c->rows == NULL && h < sp->horizon - c->o.drop_last)
            c->streams[MOVES].counts[row * sp->n_states + u->states[h + 1]] += 1;
    }
}

tacit_status tacit__tabular_collect(tacit__tabular *c, size_t h, tacit_error *err)
{
    TACIT__REQUIRE(c->o.one_step && h < c->o.space.horizon);
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &c->streams[i];
        if (s->sum == NULL)
            continue;
        double *kept = s->before, *table = s->counts + h * s->report;
        s->before = s->total;
        s->total = kept;
        TRY(tacit_sum_release(s->sum, s->total, err));
        for (size_t j = 0; j < s->report; j++)
            table[j] += (double)c->o.space.horizon * (s->total[j] - s->before[j]);
    }
    c->reports[h]++;
    return TACIT_OK;
}

/* The users up to the next one, who has just been added, become a release. */
static tacit_status release_batch(tacit__tabular *c, tacit_error *err)
{
    TRY(release_sums(c, err));
    c->shown = c->due;
    c->due = tacit__schedule_next(c->due, c->o.growth);
    return TACIT_OK;
}

/* Passes a contribution, of the user's step `step` if it is of one, through the door. Only a journal can
 * refuse here, and if it does so halfway, nothing more is released. */
static tacit_status pass(tacit__tabular *c, const tacit__input *stream, size_t step,
                         tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++)
        if (c->streams[i].sum != NULL)
            status = tacit__sum_add_placed(c->streams[i].sum, &stream[i], err);
    if (status == TACIT_OK && c->o.one_step)
        status = tacit__tabular_collect(c, step, err);
    if (status == TACIT_OK && tacit__tabular_has_batches(c) && c->users + 1 == c->due)
        status = release_batch(c, err);
    c->broken = status != TACIT_OK;
    return status;
}

tacit_status tacit__tabular_check_open(const tacit__tabular *c, tacit_error *err)
{
    return tacit__check_room(c->broken, c->users, c->o.episodes, err);
}

void tacit__tabular_steps(const tacit__tabular *c, size_t *first, size_t *last)
{
    TACIT__REQUIRE(c->o.space.horizon > 0);
    *first = 0;
    *last = c->o.space.horizon;
    if (c->o.one_step) {
        uint64_t word;
        tacit__site_words(&c->chance, c->drawn, 0, 1, &word);
        *first = (size_t)(word % c->o.space.horizon); /* public: a bias of 2^-60 is harmless */
        *last = *first + 1;
    }
}

static void count_user(tacit__tabular *c, bool needed)
{
    c->users++;
    c->drawn++;
    c->fresh = !needed;
}

tacit_status tacit__tabular_add(tacit__tabular *c, const tacit_trajectory *u, tacit_error *err)
{
    tacit_status status = tacit__tabular_check_user(&c->o, u, err);
    if (status == TACIT_OK)
        status = tacit__tabular_check_open(c, err);
    if (status != TACIT_OK)
        return status;
    size_t first, last;
    tacit__tabular_steps(c, &first, &last);
    bool needed = tacit__tabular_is_needed(c);
    if (needed && tacit__tabular_is_private(c)) {
        status = tacit__tabular_contribute(&c->form, u, first, last, c->user, err);
        if (status == TACIT_OK)
            status = pass(c, c->user->stream, first, err);
    } else if (needed && c->rows != NULL) {
        status = list_moves(c, u, err);
    }
    if (status != TACIT_OK)
        return status;
    if (needed && !tacit__tabular_is_private(c))
        count(c, u);
    count_user(c, needed);
    return TACIT_OK;
}

tacit_status tacit__tabular_add_contribution(tacit__tabular *c, const tacit__input *stream,
                                             tacit_error *err)
{
    TACIT__REQUIRE(tacit__tabular_is_private(c));
    size_t first, last;
    bool needed = tacit__tabular_is_needed(c);
    tacit__tabular_steps(c, &first, &last);
    tacit_status status = tacit__tabular_check_open(c, err);
    for (int i = 0; i < STREAMS && status == TACIT_OK && needed; i++)
        if (c->streams[i].sum != NULL)
            status = tacit__sum_check_foreign(c->streams[i].sum, &stream[i], err);
    if (status == TACIT_OK && needed)
        status = pass(c, stream, first, err);
    if (status == TACIT_OK)
        count_user(c, needed);
    return status;
}

const tacit__tabular_form *tacit__tabular_form_of(const tacit__tabular *c)
{
    return tacit__tabular_is_private(c) ? &c->form : NULL;
}

/* --- The table ------------------------------------------------------------------------------------- */

static tacit_status add_user(void *curator, const tacit__user_view *user, tacit_error *err)
{
    return tacit__tabular_add(curator, user->trajectory, err);
}

static tacit_status report_user(void *curator, const tacit__user_view *user, void *bytes,
                                size_t *size, tacit_error *err)
{
    return tacit__tabular_report(curator, user->trajectory, bytes, size, err);
}

const tacit__curator_kind tacit__tabular_curator = {.destroy = tacit__tabular_destroy,
                                                    .add = add_user,
                                                    .report = report_user,
                                                    .check_report = tacit__tabular_check_report,
                                                    .absorb = tacit__tabular_absorb,
                                                    .ledger = tacit__tabular_ledger,
                                                    .returning = true};

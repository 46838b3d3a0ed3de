/* Tabular counts as a statistic: what the form keeps, what is shown of it, and how it is saved. See
 * contribute/tabular.h; what a user may contribute, and what is declared of it, is in tabular_reach.c.
 *
 * A user's H steps become three sparse vectors (tabular.c), which pass the door. Without privacy they are
 * counted as they are: in tables, or, where a table of the moves would be too large, in lists of the next
 * states that occurred.
 *
 * Reports begin with the step that they are about (all ones: every step), which is public chance. If users
 * report one step, what the sums have got since the last user goes into the table of that step. */
#include "contribute/tabular.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "contribute/sparse_row.h"
#include "contribute/tabular_inside.h"
#include "contribute/user_check.h"

/* Exact moves are kept as lists from this many cells on: 32 MB. */
#define DENSE_CELLS 0x1p22
#define ALL_STEPS UINT64_MAX

/* --- Users ---------------------------------------------------------------------------------------- */

static tacit_status check(const void *form, const tacit__user_view *user, tacit_error *err)
{
    const tacit__space *sp = &((const tacit__tabular *)form)->rule.o.space;
    return tacit__check_trajectory(user->trajectory, sp->n_states, sp->n_actions, sp->horizon, err);
}

/* The step that the next user shows, by public chance; or all. */
static uint64_t draw_step(const tacit__tabular *f, uint64_t turn)
{
    uint64_t word;
    if (!f->rule.o.one_step)
        return ALL_STEPS;
    tacit__site_words(&f->chance, turn, 0, 1, &word);
    return word % f->rule.o.space.horizon; /* public: a bias of 2^-60 is harmless */
}

static tacit_status contribute(void *form, const tacit__user_view *user, uint64_t turn,
                               tacit__input *out, tacit_error *err)
{
    tacit__tabular *f = form;
    f->step = draw_step(f, turn);
    const bool all = f->step == ALL_STEPS;
    TRY(tacit__tabular_contribute(&f->rule, user->trajectory, all ? 0 : (size_t)f->step,
                                  all ? f->rule.o.space.horizon : (size_t)f->step + 1, f->user,
                                  err));
    for (int i = 0; i < STREAMS; i++)
        if (f->streams[i].stream != NULL)
            out[f->streams[i].place] = f->user->stream[i];
    return TACIT_OK;
}

static void wipe(void *form)
{
    tacit__tabular *f = form;
    tacit__tabular_user_wipe(f->user, f->rule.o.space.horizon);
}

/* One user's moves into the lists. On failure the lists count as before, with some room more. */
static tacit_status list_moves(tacit__tabular *f, const tacit_trajectory *u, tacit_error *err)
{
    const tacit__tabular_options *o = &f->rule.o;
    const tacit__space *sp = &o->space;
    for (int round = 0; round < 2; round++) /* make room for all, then count */
        for (size_t h = 0; h < sp->horizon - o->drop_last; h++) {
            tacit__sparse_row *row = &f->rows[tacit__tabular_row(o, u, h)];
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
static tacit_status count(void *form, const tacit__user_view *user, double *const *sums,
                          tacit_error *err)
{
    tacit__tabular *f = form;
    const tacit__tabular_options *o = &f->rule.o;
    const tacit_trajectory *u = user->trajectory;
    const double center = o->centered ? 0.5 : 0;
    if (f->rows != NULL)
        TRY(list_moves(f, u, err));
    for (size_t h = 0; h < o->space.horizon; h++) {
        const size_t row = tacit__tabular_row(o, u, h);
        sums[f->streams[VISITS].place][row] += 1;
        sums[f->streams[REWARDS].place][row] += u->rewards[h] - center;
        if (f->rows == NULL && h < o->space.horizon - o->drop_last)
            sums[f->streams[MOVES].place][row * o->space.n_states + u->states[h + 1]] += 1;
    }
    return TACIT_OK;
}

/* --- Reports: the step that they are about ----------------------------------------------------------- */

static void write_public(const void *form, void *bytes)
{
    tacit__writer w = {.at = bytes};
    tacit__write_le64(&w, ((const tacit__tabular *)form)->step);
}

static tacit_status read_public(void *form, const void *bytes, tacit_error *err)
{
    tacit__tabular *f = form;
    tacit__reader r = {.at = bytes, .left = sizeof f->step};
    f->step = tacit__read_le64(&r);
    if (f->rule.o.one_step ? f->step >= f->rule.o.space.horizon : f->step != ALL_STEPS)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the report is about a step that is not there");
    return TACIT_OK;
}

/* One step: what the sums have got since the last user, multiplied by H, into the table of that step. */
static tacit_status passed(void *form, tacit__stream *const *streams, tacit_error *err)
{
    tacit__tabular *f = form;
    (void)streams;
    for (int i = 0; i < STREAMS; i++) {
        const count_stream *s = &f->streams[i];
        if (s->stream == NULL)
            continue;
        TRY(tacit__stream_release(s->stream, err));
        const double *total = tacit__stream_shown(s->stream);
        double *table = s->counts + (size_t)f->step * s->report;
        for (size_t j = 0; j < s->report; j++)
            table[j] += (double)f->rule.o.space.horizon * (total[j] - s->before[j]);
        memcpy(s->before, total, s->report * sizeof *s->before);
    }
    f->reports[f->step]++;
    return TACIT_OK;
}

/* --- What is shown -------------------------------------------------------------------------------- */

static const double *shown(const tacit__tabular *f, stream_name which)
{
    const count_stream *s = &f->streams[which];
    return s->counts != NULL   ? s->counts
           : s->stream != NULL ? tacit__stream_shown(s->stream)
                               : NULL;
}

/* The visits of every row, from what is shown of its moves; four sums at a time, which do not wait
 * for each other. */
static void sum_moves(tacit__tabular *f)
{
    const size_t n_states = f->rule.o.space.n_states;
    const double *moves = shown(f, MOVES);
    double *visits = f->streams[VISITS].counts;
    for (size_t row = 0; row < f->streams[VISITS].size; row++, moves += n_states) {
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

tacit__counts tacit__tabular_view(tacit__tabular *f, uint64_t users)
{
    const tacit__tabular_options *o = &f->rule.o;
    TACIT__REQUIRE(users <= o->episodes);
    if (o->visits_from_moves && f->summed != users + 1)
        sum_moves(f);
    f->summed = users + 1;
    tacit__counts out = {.users = users,
                         .visits = shown(f, VISITS),
                         .moves = shown(f, MOVES),
                         .rows = f->rows,
                         .drop_last = o->drop_last,
                         .rewards = shown(f, REWARDS),
                         .center = o->centered ? 0.5 : 0};
    if (!tacit__tabular_is_private(o))
        return out;
    out.moves_error = tacit__tabular_level(f, MOVES, users);
    out.rewards_error = tacit__tabular_level(f, REWARDS, users);
    out.visits_error = tacit__tabular_level(f, VISITS, users);
    out.moves_stddev = tacit__tabular_stddev(f, MOVES, users);
    out.rewards_stddev = tacit__tabular_stddev(f, REWARDS, users);
    out.visits_stddev = tacit__tabular_stddev(f, VISITS, users);
    return out;
}

const tacit__tabular_rule *tacit__tabular_rule_of(const tacit__tabular *f)
{
    TACIT__REQUIRE(f != NULL);
    return &f->rule;
}

/* --- Saving: levels, public chance, the tables of one-step reports, and the lists of large spaces ------
 *
 * How many users the local levels are computed for is kept, because they were computed ahead, at a moment
 * that does not follow from the rest. */

typedef struct known {
    uint64_t level_users;
    double local_level[STREAMS];
    uint8_t chance[TACIT__KEY_BYTES];
    uint8_t simulated, padding[7];
} known;

/* Levels are computed for at most 1 % more users than there are, and follow from how many. */
static bool is_known(const tacit__tabular *f, const known *k)
{
    double levels[STREAMS];
    if (k->simulated > 1 || (double)k->level_users > ceil(1.01 * (double)f->rule.o.episodes))
        return false;
    tacit__tabular_local_levels(f, k->level_users, levels);
    return memcmp((const uint8_t *)levels, (const uint8_t *)k->local_level, sizeof levels) == 0;
}

/* Reports of single steps are those of the users. */
static bool are_reports(const tacit__tabular *f, const uint8_t *bytes, uint64_t left)
{
    for (size_t h = 0; h < f->rule.o.space.horizon; h++) {
        uint64_t n;
        memcpy(&n, bytes + h * sizeof n, sizeof n);
        if (n > left)
            return false;
        left -= n;
    }
    return left == 0;
}

static void known_fields(tacit__tabular *f, tacit__saved *s)
{
    known k = {.level_users = f->level_users, .simulated = f->chance.simulated};
    memcpy(k.local_level, f->local_level, sizeof k.local_level);
    memcpy(k.chance, f->chance.key, sizeof k.chance);
    tacit__saved_value(s, &k, sizeof k);
    tacit__saved_check(s, is_known(f, &k));
    if (s->pass == TACIT__APPLY) {
        f->level_users = k.level_users;
        memcpy(f->local_level, k.local_level, sizeof f->local_level);
        tacit__site_restore(&f->chance, k.chance, k.simulated != 0);
        f->summed = 0;
    }
    tacit__wipe(&k, sizeof k);
}

static void fields(void *form, uint64_t users, tacit__saved *s)
{
    tacit__tabular *f = form;
    const tacit__space *sp = &f->rule.o.space;
    if (tacit__tabular_is_private(&f->rule.o))
        known_fields(f, s);
    if (f->rule.o.one_step) {
        const void *reports = tacit__saved_array(s, f->reports, sp->horizon, sizeof *f->reports);
        tacit__saved_check(s, reports == NULL || are_reports(f, reports, users));
    }
    for (int i = 0; i < STREAMS; i++) {
        const count_stream *stream = &f->streams[i];
        if (stream->before == NULL)
            continue;
        tacit__saved_reals(s, stream->counts, stream->size, TACIT__MOST_SUM);
        tacit__saved_reals(s, stream->before, stream->report, TACIT__MOST_SUM);
    }
    for (size_t i = 0; i < f->n_rows; i++) {
        uint32_t n;
        const void *counts = tacit__row_fields(&f->rows[i], sp->n_states, &n, s);
        tacit__saved_check(s, counts == NULL ||
                                  tacit__are_reals(counts, n, (double)users * (double)sp->horizon));
    }
}

/* --- What a curator is made of -------------------------------------------------------------------- */

static void destroy(void *form)
{
    tacit__tabular *f = form;
    if (f == NULL)
        return;
    tacit__tabular_user_destroy(f->user);
    for (size_t i = 0; i < f->n_rows; i++)
        tacit__workspace_destroy(f->rows[i].next);
    tacit__workspace_destroy(f);
}

static double weigh(const void *form, size_t stream, const tacit_release *line)
{
    const tacit__tabular *f = form;
    int which = MOVES;
    (void)line;
    for (int i = 0; i < STREAMS; i++)
        if (tacit__tabular_is_released(&f->rule.o, i) && f->streams[i].place == stream)
            which = i;
    return tacit__tabular_weight(&f->rule.o, (stream_name)which);
}

static tacit_status open(void *form, const tacit_plan *plan, tacit__stream *const *streams,
                         tacit_error *err)
{
    tacit__tabular *f = form;
    for (int i = 0; i < STREAMS; i++)
        if (tacit__tabular_is_released(&f->rule.o, i) && f->streams[i].size > 0)
            f->streams[i].stream = streams[f->streams[i].place];
    return plan != NULL ? tacit__tabular_open(f, plan, err) : TACIT_OK;
}

#define FUNCTIONS                                                                                  \
    .destroy = destroy, .check = check, .contribute = contribute, .wipe = wipe, .count = count,    \
    .weigh = weigh, .open = open, .public_bytes = sizeof(uint64_t), .write_public = write_public,  \
    .read_public = read_public, .fields = fields

static const tacit__statistic of_all_steps = {FUNCTIONS},
                              of_one_step = {FUNCTIONS, .passed = passed, .shows = true};

static tacit_status check_options(const tacit__tabular_options *o, tacit_error *err)
{
    if (o->space.n_states == 0 || o->space.n_actions == 0 || o->space.horizon == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "states, actions and horizon must be at least 1");
    if (o->episodes == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "episodes is 0, expected at least 1");
    if (o->one_step && (!tacit__tabular_is_local(o) || o->space.tables == 1))
        return tacit__fail(
            err, TACIT_UNSUPPORTED,
            "reports of a single step are for the local model with a table for each step "
            "(pooled: no); with one table they would gain nothing");
    if (o->drop_last && (o->space.tables == 1 || o->one_step))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "the moves of the last step are left out only where all steps of a user "
                           "have tables of their own");
    if (o->visits_from_moves && (!tacit__tabular_is_private(o) || o->drop_last))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "visits are sums of moves only under privacy, and where all moves are "
                           "counted");
    if (o->user_visits > 0 && (!tacit__tabular_is_private(o) || o->space.tables > 1))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "visits of a user are left out only under privacy, from one table");
    if (o->ends != NULL && tacit__tabular_is_local(o))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "rare releases lower the noise of joint privacy; a local report has "
                           "its noise already");
    return TACIT_OK;
}

static tacit__tabular sizes_of(const tacit__tabular_options *o)
{
    tacit__tabular f = {.rule = {.o = *o}};
    const tacit__space *sp = &o->space;
    const size_t pairs = sp->n_states * sp->n_actions, rows = sp->tables * pairs,
                 moves = tacit__tabular_move_tables(o) * pairs * sp->n_states;
    size_t place = 0;
    f.eta = o->failure /
            (3 * tacit__tabular_cells(o) * (double)(o->ends != NULL ? o->n_ends : o->episodes));
    if (!tacit__tabular_is_private(o) && tacit__tabular_cells(o) > DENSE_CELLS)
        f.n_rows = rows;
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &f.streams[i];
        s->size = i != MOVES ? rows : f.n_rows > 0 ? 0 : moves;
        s->report = !tacit__tabular_is_released(o, i) ? 0
                    : o->one_step                     ? s->size / sp->tables
                                                      : s->size;
        s->place = place;
        place += s->report > 0;
    }
    return f;
}

/* The form with all arrays but the scratch of a user. */
static tacit__tabular *allocate(tacit__tabular w)
{
    const tacit__tabular_options *o = &w.rule.o;
    tacit__piece pieces[2 * STREAMS + 2];
    size_t n = 0;
    for (int i = 0; i < STREAMS; i++) {
        count_stream *s = &w.streams[i];
        const bool summed = !tacit__tabular_is_released(o, i);
        pieces[n++] = TACIT__PIECE_IF(o->one_step || summed, s->counts, s->size);
        pieces[n++] = TACIT__PIECE_IF(o->one_step && !summed, s->before, s->report);
    }
    pieces[n++] = TACIT__PIECE_IF(o->one_step, w.reports, o->space.horizon);
    pieces[n++] = TACIT__PIECE_IF(w.n_rows > 0, w.rows, w.n_rows);
    return tacit__workspace_create(&w, sizeof w, pieces, n);
}

tacit_status tacit__tabular_describe(const tacit__tabular_options *o, tacit_noise *noise,
                                     tacit__curator_spec *out, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || !tacit__tabular_is_private(o));
    TRY(check_options(o, err));
    const tacit__tabular sizes = sizes_of(o);
    if (tacit__tabular_is_private(o))
        TRY(tacit__tabular_check_memory(&sizes, err));
    tacit__tabular *f = allocate(sizes);
    if (f == NULL ||
        (tacit__tabular_is_private(o) && (f->user = tacit__tabular_user_create(o)) == NULL)) {
        destroy(f);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    if (tacit__tabular_is_private(o))
        tacit__site_open(&f->chance, noise, "public: the step that a user reports");
    f->rule.o.ends = NULL; /* the caller's */
    *out = (tacit__curator_spec){.guarantee = o->guarantee,
                                 .episodes = o->episodes,
                                 .ends = o->ends,
                                 .n_ends = o->n_ends,
                                 .statistic = o->one_step ? &of_one_step : &of_all_steps,
                                 .form = f};
    for (int i = 0; i < STREAMS; i++)
        if (f->streams[i].report > 0)
            out->streams[out->n_streams++] = tacit__tabular_stream(f, (stream_name)i);
    return TACIT_OK;
}

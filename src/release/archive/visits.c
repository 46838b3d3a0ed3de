/* See visits.h. A list of next states for each pair, or a table of them where that is small; the
 * value after the last step is 0, so its next states are not counted, unless all steps are one. */
#include "release/archive/visits.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/workspace.h"
#include "contribute/sparse_row.h"

enum { LANES = 4 };

struct tacit__visits {
    size_t n_states, n_actions, horizon;
    bool pooled;
    size_t pairs;             /* S A */
    double *counts;           /* [H][pairs]; pooled: [1] in the place of [H] and [H - 1] */
    double *rewards;          /* [H][pairs] */
    double *moves;            /* [H - 1][pairs][S]; NULL: lists */
    tacit__sparse_row *lists; /* [H - 1][pairs]; NULL: moves */
};

static size_t tables(const tacit__visits *v)
{
    return v->pooled ? 1 : v->horizon;
}

/* Whether it matters where step h leads to. */
static bool leads_on(const tacit__visits *v, size_t h)
{
    return v->pooled || h + 1 < v->horizon;
}

static size_t move_rows(const tacit__visits *v)
{
    return (v->pooled ? 1 : v->horizon - 1) * v->pairs;
}

static size_t row_of(const tacit__visits *v, size_t h, uint32_t state, uint32_t action)
{
    return (v->pooled ? 0 : h * v->pairs) + state * v->n_actions + action;
}

void tacit__visits_destroy(tacit__visits *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; v->lists != NULL && i < move_rows(v); i++)
        tacit__workspace_destroy(v->lists[i].next);
    tacit__workspace_destroy(v);
}

tacit_status tacit__visits_create(size_t n_states, size_t n_actions, size_t horizon, bool pooled,
                                  double dense_cells, tacit__visits **out)
{
    TACIT__REQUIRE(n_states > 0 && n_actions > 0 && horizon > 0);
    tacit__visits w = {
        .n_states = n_states, .n_actions = n_actions, .horizon = horizon, .pooled = pooled};
    size_t cells;
    if (__builtin_mul_overflow(n_states, n_actions, &w.pairs) ||
        __builtin_mul_overflow(tables(&w), w.pairs, &cells))
        return TACIT_NO_MEMORY;
    const bool dense = (double)move_rows(&w) * (double)n_states <= dense_cells;
    *out = TACIT__WORKSPACE(w, TACIT__PIECE(w.counts, cells), TACIT__PIECE(w.rewards, cells),
                            TACIT__PIECE_IF(dense, w.moves, move_rows(&w) * n_states),
                            TACIT__PIECE_IF(!dense, w.lists, move_rows(&w)));
    return *out != NULL ? TACIT_OK : TACIT_NO_MEMORY;
}

static uint32_t find(const tacit__sparse_row *l, uint32_t next)
{
    uint32_t i = 0;
    while (i < l->length && l->next[i] != next)
        i++;
    return i;
}

tacit_status tacit__visits_add(tacit__visits *v, const uint32_t *states, const uint32_t *actions,
                               const double *rewards)
{
    const size_t most = v->pooled ? v->horizon : 1; /* next states that one user brings to a row */
    for (size_t h = 0; v->lists != NULL && h < v->horizon && leads_on(v, h); h++) { /* room first */
        tacit__sparse_row *l = &v->lists[row_of(v, h, states[h], actions[h])];
        if (l->length + most > l->capacity && find(l, states[h + 1]) == l->length &&
            !tacit__row_reserve(l, (uint32_t)(most > 1           ? 2 * l->length + most
                                              : l->capacity == 0 ? 4
                                                                 : 2 * l->capacity)))
            return TACIT_NO_MEMORY;
    }
    for (size_t h = 0; h < v->horizon; h++) {
        size_t row = row_of(v, h, states[h], actions[h]);
        v->counts[row] += 1;
        v->rewards[row] += rewards[h];
        if (!leads_on(v, h))
            break;
        if (v->moves != NULL) {
            v->moves[row * v->n_states + states[h + 1]] += 1;
            continue;
        }
        TACIT__REQUIRE(v->lists != NULL);
        tacit__sparse_row *l = &v->lists[row];
        uint32_t i = find(l, states[h + 1]);
        if (i == l->length) {
            l->next[i] = states[h + 1];
            l->count[i] = 0;
            l->length++;
        }
        l->count[i] += 1;
    }
    return TACIT_OK;
}

TACIT__INLINE double inner(const double *restrict x, const double *restrict y, size_t n)
{
    double sum[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            sum[lane] += x[i + lane] * y[i + lane];
    for (; i < n; i++)
        sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static double inner_avx2(const double *x, const double *y, size_t n)
{
    return inner(x, y, n);
}
#endif

static double inner_fast(const double *x, const double *y, size_t n)
{
#if TACIT__HAVE_AVX2
    if (n >= 16 && tacit__cpu_has_avx2())
        return inner_avx2(x, y, n);
#endif
    return inner(x, y, n);
}

void tacit__visits_sums(const tacit__visits *v, size_t h, const double *next, double *sums)
{
    TACIT__REQUIRE(h < tables(v));
    size_t first = h * v->pairs;
    memcpy(sums, v->rewards + first, v->pairs * sizeof *sums);
    for (size_t i = 0; i < v->pairs && next != NULL && leads_on(v, h); i++) {
        if (v->counts[first + i] == 0)
            continue;
        if (v->moves != NULL) {
            sums[i] += inner_fast(v->moves + (first + i) * v->n_states, next, v->n_states);
            continue;
        }
        const tacit__sparse_row *l = &v->lists[first + i];
        for (uint32_t j = 0; j < l->length; j++)
            sums[i] += l->count[j] * next[l->next[j]];
    }
}

const double *tacit__visits_counts(const tacit__visits *v, size_t h)
{
    return v->counts + h * v->pairs;
}

/* --- Saved states: counts, rewards, then moves, or for each list its length, next states and counts ---- */

static bool is_count(double x, double most)
{
    return x >= 0 && x <= most && x == floor(x);
}

/* Whether this many users can have been counted: each is in one row of each step, or in H of all steps. */
static bool are_visits(const tacit__visits *v, const void *counts, const void *rewards,
                       uint64_t users, const double *most)
{
    const double all = (double)users * (double)(v->pooled ? v->horizon : 1);
    for (size_t h = 0; h < tables(v); h++) {
        double sum = 0;
        for (size_t row = h * v->pairs; row < (h + 1) * v->pairs; row++) {
            const double count = tacit__real_at(counts, row);
            if (!is_count(count, all) || !is_count(tacit__real_at(rewards, row), count * most[h]))
                return false;
            sum += count;
        }
        if (sum != all)
            return false;
    }
    return true;
}

/* The moves of a row are as many as its visits. */
static bool are_moves(const void *moves, size_t n, double visits)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_count(tacit__real_at(moves, i), visits))
            return false;
        sum += tacit__real_at(moves, i);
    }
    return sum == visits;
}

void tacit__visits_fields(tacit__visits *v, uint64_t users, const double *most, tacit__saved *s)
{
    TACIT__REQUIRE(most != NULL);
    const size_t cells = tables(v) * v->pairs;
    const char *outside = s->wrong;
    s->wrong = NULL;
    const void *counts = tacit__saved_array(s, v->counts, cells, sizeof *v->counts),
               *rewards = tacit__saved_array(s, v->rewards, cells, sizeof *v->rewards);
    tacit__saved_check(s, rewards == NULL || are_visits(v, counts, rewards, users, most));
    for (size_t i = 0; i < move_rows(v); i++) {
        uint32_t n = (uint32_t)v->n_states;
        const void *moves = v->lists != NULL ? tacit__row_fields(&v->lists[i], v->n_states, &n, s)
                                             : tacit__saved_array(s, v->moves + i * v->n_states, n,
                                                                  sizeof *v->moves);
        tacit__saved_check(s, moves == NULL || are_moves(moves, n, tacit__real_at(counts, i)));
    }
    s->wrong = outside;
}

/* See visits.h. A list of next states for each pair, or a table of them where that is small; the
 * value after the last step is 0, so its next states are not counted. */
#include "curate/visits.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/workspace.h"

enum { LANES = 4 };

/* The next states that have followed a pair so far, in order of appearance. */
typedef struct list {
    uint32_t *next;
    double *count;
    uint32_t length, capacity;
} list;

struct tacit__visits {
    size_t n_states, n_actions, horizon;
    size_t pairs;    /* S A */
    double *counts;  /* [H][pairs] */
    double *rewards; /* [H][pairs] */
    double *moves;   /* [H - 1][pairs][S]; NULL: lists */
    list *lists;     /* [H - 1][pairs]; NULL: moves */
};

static size_t move_rows(const tacit__visits *v)
{
    return (v->horizon - 1) * v->pairs;
}

void tacit__visits_destroy(tacit__visits *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; v->lists != NULL && i < move_rows(v); i++)
        tacit__workspace_destroy(v->lists[i].next);
    tacit__workspace_destroy(v);
}

tacit_status tacit__visits_create(size_t n_states, size_t n_actions, size_t horizon,
                                  double dense_cells, tacit__visits **out)
{
    tacit__visits w = {.n_states = n_states, .n_actions = n_actions, .horizon = horizon};
    size_t cells;
    if (__builtin_mul_overflow(n_states, n_actions, &w.pairs) ||
        __builtin_mul_overflow(horizon, w.pairs, &cells))
        return TACIT_NO_MEMORY;
    const bool dense = (double)move_rows(&w) * (double)n_states <= dense_cells;
    *out = TACIT__WORKSPACE(w, TACIT__PIECE(w.counts, cells), TACIT__PIECE(w.rewards, cells),
                            TACIT__PIECE_IF(dense, w.moves, move_rows(&w) * n_states),
                            TACIT__PIECE_IF(!dense, w.lists, move_rows(&w)));
    return *out != NULL ? TACIT_OK : TACIT_NO_MEMORY;
}

/* Room for `capacity` next states. */
static bool grow(list *l, uint32_t capacity)
{
    list w = {.length = l->length, .capacity = capacity};
    if (TACIT__PIECES(TACIT__PIECE(w.next, capacity), TACIT__PIECE(w.count, capacity)) == NULL)
        return false;
    if (l->length > 0) {
        memcpy(w.next, l->next, l->length * sizeof *w.next);
        memcpy(w.count, l->count, l->length * sizeof *w.count);
    }
    tacit__workspace_destroy(l->next);
    *l = w;
    return true;
}

static uint32_t find(const list *l, uint32_t next)
{
    uint32_t i = 0;
    while (i < l->length && l->next[i] != next)
        i++;
    return i;
}

tacit_status tacit__visits_add(tacit__visits *v, const uint32_t *states, const uint32_t *actions,
                               const double *rewards)
{
    for (size_t h = 0; v->lists != NULL && h + 1 < v->horizon; h++) { /* room first */
        list *l = &v->lists[h * v->pairs + states[h] * v->n_actions + actions[h]];
        if (l->length == l->capacity && find(l, states[h + 1]) == l->length &&
            !grow(l, l->capacity == 0 ? 4 : 2 * l->capacity))
            return TACIT_NO_MEMORY;
    }
    for (size_t h = 0; h < v->horizon; h++) {
        size_t row = h * v->pairs + states[h] * v->n_actions + actions[h];
        v->counts[row] += 1;
        v->rewards[row] += rewards[h];
        if (h + 1 == v->horizon)
            break;
        if (v->moves != NULL) {
            v->moves[row * v->n_states + states[h + 1]] += 1;
            continue;
        }
        list *l = &v->lists[row];
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
    size_t first = h * v->pairs;
    memcpy(sums, v->rewards + first, v->pairs * sizeof *sums);
    for (size_t i = 0; i < v->pairs && next != NULL && h + 1 < v->horizon; i++) {
        if (v->counts[first + i] == 0)
            continue;
        if (v->moves != NULL) {
            sums[i] += inner_fast(v->moves + (first + i) * v->n_states, next, v->n_states);
            continue;
        }
        const list *l = &v->lists[first + i];
        for (uint32_t j = 0; j < l->length; j++)
            sums[i] += l->count[j] * next[l->next[j]];
    }
}

const double *tacit__visits_counts(const tacit__visits *v, size_t h)
{
    return v->counts + h * v->pairs;
}

/* --- Saved states: counts, rewards, then moves, or for each list its length, next states and counts ---- */

size_t tacit__visits_saved_size(const tacit__visits *v)
{
    size_t size = 2 * v->horizon * v->pairs * sizeof *v->counts;
    if (v->moves != NULL)
        return size + move_rows(v) * v->n_states * sizeof *v->moves;
    for (size_t i = 0; i < move_rows(v); i++)
        size += sizeof v->lists[i].length +
                v->lists[i].length * (sizeof *v->lists[i].next + sizeof *v->lists[i].count);
    return size;
}

static uint8_t *put(uint8_t *at, const void *data, size_t size)
{
    if (size > 0)
        memcpy(at, data, size);
    return at + size;
}

void tacit__visits_save(const tacit__visits *v, void *bytes)
{
    size_t cells = v->horizon * v->pairs;
    uint8_t *at = put(bytes, v->counts, cells * sizeof *v->counts);
    at = put(at, v->rewards, cells * sizeof *v->rewards);
    if (v->moves != NULL) {
        (void)put(at, v->moves, move_rows(v) * v->n_states * sizeof *v->moves);
        return;
    }
    for (size_t i = 0; i < move_rows(v); i++) {
        const list *l = &v->lists[i];
        at = put(at, &l->length, sizeof l->length);
        at = put(at, l->next, l->length * sizeof *l->next);
        at = put(at, l->count, l->length * sizeof *l->count);
    }
}

typedef struct reader {
    const uint8_t *at;
    size_t left;
} reader;

static bool get(reader *r, void *data, size_t size)
{
    if (size > r->left)
        return false;
    if (size > 0)
        memcpy(data, r->at, size);
    r->at += size;
    r->left -= size;
    return true;
}

static tacit_status load_list(tacit__visits *v, list *l, reader *r)
{
    uint32_t length;
    if (!get(r, &length, sizeof length) || length > v->n_states)
        return TACIT_CORRUPT;
    if (length == 0)
        return TACIT_OK;
    if (!grow(l, length))
        return TACIT_NO_MEMORY;
    if (!get(r, l->next, length * sizeof *l->next) || !get(r, l->count, length * sizeof *l->count))
        return TACIT_CORRUPT;
    for (uint32_t j = 0; j < length; j++)
        if (l->next[j] >= v->n_states)
            return TACIT_CORRUPT;
    l->length = length;
    return TACIT_OK;
}

static bool is_count(double x, double most)
{
    return x >= 0 && x <= most && x == floor(x);
}

/* The moves of a row are as many as its visits. */
static bool row_adds_up(const tacit__visits *v, size_t row)
{
    const list *l = v->lists != NULL ? &v->lists[row] : NULL;
    const double *moves = l != NULL ? l->count : v->moves + row * v->n_states;
    const size_t n = l != NULL ? l->length : v->n_states;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_count(moves[i], v->counts[row]))
            return false;
        sum += moves[i];
    }
    return sum == v->counts[row];
}

/* Whether so many users can have been counted: each is in one row of each step. */
static bool adds_up(const tacit__visits *v, uint64_t users, double most)
{
    for (size_t h = 0; h < v->horizon; h++) {
        double sum = 0;
        for (size_t row = h * v->pairs; row < (h + 1) * v->pairs; row++) {
            if (!is_count(v->counts[row], (double)users) ||
                !is_count(v->rewards[row], v->counts[row] * most) ||
                (h + 1 < v->horizon && !row_adds_up(v, row)))
                return false;
            sum += v->counts[row];
        }
        if (sum != (double)users)
            return false;
    }
    return true;
}

tacit_status tacit__visits_load(tacit__visits *v, const void *bytes, size_t size, uint64_t users,
                                double most)
{
    size_t cells = v->horizon * v->pairs;
    reader r = {bytes, size};
    tacit_status status = TACIT_OK;
    /* the size of a table is known, so that nothing is written if it is wrong */
    if (v->moves != NULL && size != tacit__visits_saved_size(v))
        return TACIT_CORRUPT;
    if (!get(&r, v->counts, cells * sizeof *v->counts) ||
        !get(&r, v->rewards, cells * sizeof *v->rewards))
        status = TACIT_CORRUPT;
    if (status == TACIT_OK && v->moves != NULL)
        (void)get(&r, v->moves, move_rows(v) * v->n_states * sizeof *v->moves);
    for (size_t i = 0; status == TACIT_OK && v->lists != NULL && i < move_rows(v); i++)
        status = load_list(v, &v->lists[i], &r);
    if (status == TACIT_OK && (r.left > 0 || !adds_up(v, users, most)))
        status = TACIT_CORRUPT;
    if (status == TACIT_OK)
        return TACIT_OK;
    memset(v->counts, 0, cells * sizeof *v->counts);
    memset(v->rewards, 0, cells * sizeof *v->rewards);
    if (v->moves != NULL)
        memset(v->moves, 0, move_rows(v) * v->n_states * sizeof *v->moves);
    for (size_t i = 0; v->lists != NULL && i < move_rows(v); i++)
        v->lists[i].length = 0;
    return status;
}

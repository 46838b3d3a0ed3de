/* See archive.h. Users are kept in chunks of CHUNK, step by step within a chunk:
 *
 *     features of step 0 (the chosen action's only), then of steps 1 .. H-1 (all actions'), then choices and rewards
 *
 * The features of step h + 1 serve twice: all actions' for V_{h+1}, and the chosen one's for the
 * regression of step h + 1. Those after the last step are never needed. */
#include "release/archive/feature_log.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

enum {
    CHUNK = 512, /* users */
    /* Bytes of features that are evaluated together; a few times that fits the second-level cache. */
    BLOCK = 65536
};

typedef struct chunk {
    void *first;       /* [CHUNK][d] */
    void *others;      /* [H - 1][CHUNK][A][d] */
    uint32_t *actions; /* [H][CHUNK] */
    double *rewards;   /* [H][CHUNK] */
} chunk;

struct tacit__feature_log {
    size_t n_actions, horizon, dimension;
    bool wide;
    uint64_t users;
    chunk *chunks;
    size_t n_chunks, capacity;
    size_t block;    /* users that are evaluated together */
    double *columns; /* [block][A][d] */
    double *work;    /* the same */
    double *q;       /* [block][A] */
    double *targets; /* [block] */
};

static size_t element(const tacit__feature_log *a)
{
    return a->wide ? sizeof(double) : sizeof(float);
}

double tacit__feature_log_bytes(size_t n_actions, size_t horizon, size_t dimension, bool wide,
                                uint64_t users)
{
    TACIT__REQUIRE(n_actions > 0 && horizon > 0 && dimension > 0);
    double features = (double)dimension * (1 + (double)(horizon - 1) * (double)n_actions);
    const uint64_t whole = users / CHUNK;
    double chunks = (double)(whole + (users % CHUNK > 0));
    return chunks * CHUNK *
           (features * (wide ? sizeof(double) : sizeof(float)) +
            (double)horizon * (sizeof(double) + sizeof(uint32_t)));
}

static size_t first_size(const tacit__feature_log *a)
{
    return CHUNK * a->dimension * element(a);
}

static size_t others_size(const tacit__feature_log *a)
{
    return (a->horizon - 1) * CHUNK * a->n_actions * a->dimension * element(a);
}

void tacit__feature_log_destroy(tacit__feature_log *a)
{
    if (a == NULL)
        return;
    for (size_t i = 0; i < a->n_chunks; i++)
        tacit__workspace_destroy(a->chunks[i].first);
    tacit__free(a->chunks);
    tacit__workspace_destroy(a);
}

tacit_status tacit__feature_log_create(size_t n_actions, size_t horizon, size_t dimension,
                                       bool wide, tacit__feature_log **out)
{
    TACIT__REQUIRE(n_actions > 0 && horizon > 0 && dimension > 0);
    tacit__feature_log w = {
        .n_actions = n_actions, .horizon = horizon, .dimension = dimension, .wide = wide};
    w.block = BLOCK / (n_actions * dimension * sizeof *w.columns);
    w.block = w.block == 0 ? 1 : w.block > CHUNK ? CHUNK : w.block;
    const size_t columns = w.block * n_actions;
    *out = TACIT__WORKSPACE(w, TACIT__PIECE(w.columns, columns * dimension),
                            TACIT__PIECE(w.work, columns * dimension), TACIT__PIECE(w.q, columns),
                            TACIT__PIECE(w.targets, w.block));
    return *out != NULL ? TACIT_OK : TACIT_NO_MEMORY;
}

/* Chunks that hold somebody. */
static size_t held_chunks(const tacit__feature_log *a)
{
    return (size_t)(a->users / CHUNK + (a->users % CHUNK > 0));
}

/* One more chunk at the end of the list. */
static bool open_chunk(tacit__feature_log *a)
{
    if (a->n_chunks == a->capacity) {
        size_t capacity = a->capacity == 0 ? 16 : 2 * a->capacity;
        chunk *chunks = tacit__alloc(capacity, sizeof *chunks);
        if (chunks == NULL)
            return false;
        if (a->n_chunks > 0)
            memcpy(chunks, a->chunks, a->n_chunks * sizeof *chunks);
        tacit__free(a->chunks);
        a->chunks = chunks;
        a->capacity = capacity;
    }
    chunk *c = &a->chunks[a->n_chunks];
    if (TACIT__PIECES({&c->first, first_size(a), 1}, {&c->others, others_size(a), 1},
                      TACIT__PIECE(c->actions, a->horizon * CHUNK),
                      TACIT__PIECE(c->rewards, a->horizon * CHUNK)) == NULL)
        return false;
    a->n_chunks++;
    return true;
}

/* n numbers to place `at` of a piece of memory. */
static void store(const tacit__feature_log *a, void *piece, size_t at, const double *x, size_t n)
{
    if (a->wide) {
        memcpy((double *)piece + at, x, n * sizeof *x);
        return;
    }
    float *y = (float *)piece + at;
    for (size_t i = 0; i < n; i++)
        y[i] = (float)x[i];
}

tacit_status tacit__feature_log_add(tacit__feature_log *a, const double *features,
                                    const uint32_t *actions, const double *rewards)
{
    TACIT__REQUIRE(features != NULL && actions[0] < a->n_actions);
    size_t slot = a->users % CHUNK, d = a->dimension, all = a->n_actions * d;
    if (slot == 0 && a->users / CHUNK == a->n_chunks && !open_chunk(a))
        return TACIT_NO_MEMORY;
    chunk *c = &a->chunks[a->users / CHUNK];
    store(a, c->first, slot * d, features + actions[0] * d, d);
    for (size_t h = 0; h < a->horizon; h++) {
        if (h > 0)
            store(a, c->others, ((h - 1) * CHUNK + slot) * all, features + h * all, all);
        c->actions[h * CHUNK + slot] = actions[h];
        c->rewards[h * CHUNK + slot] = rewards[h];
    }
    a->users++;
    return TACIT_OK;
}

/* --- Responses ------------------------------------------------------------------------------------ */

/* n stored numbers from place `at` on, as doubles in the scratch block. */
TACIT__INLINE void fetch(bool wide, const void *piece, size_t at, size_t n, double *restrict out)
{
    if (wide) {
        memcpy(out, (const double *)piece + at, n * sizeof *out);
        return;
    }
    const float *restrict x = (const float *)piece + at;
    for (size_t i = 0; i < n; i++)
        out[i] = (double)x[i];
}

/* response += phi y. */
TACIT__INLINE void add_scaled(bool wide, const void *piece, size_t at, double y, size_t d,
                              double *restrict response)
{
    if (wide) {
        const double *restrict x = (const double *)piece + at;
        for (size_t j = 0; j < d; j++)
            response[j] += y * x[j];
        return;
    }
    const float *restrict x = (const float *)piece + at;
    for (size_t j = 0; j < d; j++)
        response[j] += y * (double)x[j];
}

/* Users first .. first+n-1 of a chunk. */
TACIT__INLINE void respond_block(tacit__feature_log *a, const chunk *c, size_t first, size_t n,
                                 size_t h, const tacit__target *target, double *response)
{
    size_t d = a->dimension, A = a->n_actions;
    const uint32_t *actions = c->actions + h * CHUNK + first;
    const double *rewards = c->rewards + h * CHUNK + first;
    for (size_t i = 0; i < n; i++) {
        double y = target->times * (rewards[i] + a->targets[i]) - target->center;
        if (h == 0)
            add_scaled(a->wide, c->first, (first + i) * d, y, d, response);
        else
            add_scaled(a->wide, c->others, (((h - 1) * CHUNK + first + i) * A + actions[i]) * d, y,
                       d, response);
    }
}

/* The values of the states that followed, as targets. */
static void place_values(tacit__feature_log *a, size_t n, const tacit__target *target)
{
    size_t A = a->n_actions;
    for (size_t i = 0; i < n; i++) {
        const double *q = a->q + i * A;
        double best = q[0];
        for (size_t k = 1; k < A; k++)
            best = q[k] > best ? q[k] : best;
        a->targets[i] = tacit__target_place(target, best);
    }
}

TACIT__INLINE void respond(tacit__feature_log *a, size_t h, const tacit__optimism *next,
                           const tacit__target *target, double *response)
{
    size_t all = a->n_actions * a->dimension;
    memset(response, 0, a->dimension * sizeof *response);
    memset(a->targets, 0, a->block * sizeof *a->targets);
    for (size_t i = 0; i < held_chunks(a); i++) {
        const chunk *c = &a->chunks[i];
        uint64_t rest = a->users - i * CHUNK;
        size_t held = rest < CHUNK ? (size_t)rest : CHUNK;
        for (size_t first = 0; first < held; first += a->block) {
            size_t n = held - first < a->block ? held - first : a->block;
            if (next != NULL) {
                fetch(a->wide, c->others, (h * CHUNK + first) * all, n * all, a->columns);
                tacit__optimism_evaluate(next, n * a->n_actions, a->columns, a->work, a->q);
                place_values(a, n, target);
            }
            respond_block(a, c, first, n, h, target, response);
        }
    }
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static void respond_avx2(tacit__feature_log *a, size_t h, const tacit__optimism *next,
                                     const tacit__target *target, double *response)
{
    respond(a, h, next, target, response);
}
#endif

void tacit__feature_log_respond(tacit__feature_log *a, size_t h, const tacit__optimism *next,
                                const tacit__target *target, double *response)
{
    TACIT__REQUIRE(h < a->horizon);
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        respond_avx2(a, h, next, target, response);
        return;
    }
#endif
    respond(a, h, next, target, response);
}

/* --- Saved states: the number of users, then whole chunks ------------------------------------------- */

/* Whether n stored vectors, from vector `at` on, are features. */
static bool are_features(const tacit__feature_log *a, const uint8_t *piece, size_t at, size_t n,
                         const tacit__feature_log_limits *limits)
{
    const size_t d = a->dimension;
    for (size_t i = at; i < at + n; i++) {
        double square = 0, sum = 0, least = 0;
        for (size_t j = i * d; j < (i + 1) * d; j++) {
            float narrow;
            memcpy(&narrow, piece + j * element(a), sizeof narrow);
            const double x = a->wide ? tacit__real_at(piece, j) : (double)narrow;
            if (!(fabs(x) <= limits->longest && x == trunc(x)))
                return false;
            square += x * x; /* exact: whole numbers below 2^53 */
            sum += x;
            least = fmin(least, x);
        }
        if (square > limits->longest * limits->longest ||
            (limits->simplex && (least < 0 || sum > limits->longest)))
            return false;
    }
    return true;
}

/* Whether the first `held` users of a chunk can have been. */
static bool is_chunk(const tacit__feature_log *a, const void *const part[4], size_t held,
                     const tacit__feature_log_limits *limits)
{
    const size_t A = a->n_actions;
    bool whole = are_features(a, part[0], 0, held, limits);
    for (size_t h = 0; h < a->horizon && whole; h++) {
        if (h > 0)
            whole = are_features(a, part[1], (h - 1) * CHUNK * A, held * A, limits);
        for (size_t i = h * CHUNK; i < h * CHUNK + held && whole; i++) {
            uint32_t action;
            memcpy(&action, (const uint8_t *)part[2] + i * sizeof action, sizeof action);
            const double reward = tacit__real_at(part[3], i);
            whole =
                action < A && reward >= 0 && reward <= limits->most[h] && reward == floor(reward);
        }
    }
    return whole;
}

static void chunk_fields(tacit__feature_log *a, chunk *c, size_t held,
                         const tacit__feature_log_limits *limits, tacit__saved *s)
{
    const size_t steps = a->horizon * CHUNK;
    const void *part[4];
    part[0] = tacit__saved_array(s, c->first, first_size(a), 1);
    part[1] = tacit__saved_array(s, c->others, others_size(a), 1);
    part[2] = tacit__saved_array(s, c->actions, steps, sizeof *c->actions);
    part[3] = tacit__saved_array(s, c->rewards, steps, sizeof *c->rewards);
    tacit__saved_check(s, part[3] == NULL || is_chunk(a, part, held, limits));
}

void tacit__feature_log_fields(tacit__feature_log *a, uint64_t users,
                               const tacit__feature_log_limits *limits, tacit__saved *s)
{
    TACIT__REQUIRE(limits->longest > 0 && limits->most != NULL);
    const char *outside = s->wrong;
    const bool loading = tacit__saved_is_loading(s);
    uint64_t saved = a->users;
    s->wrong = NULL;
    tacit__saved_value(s, &saved, sizeof saved);
    tacit__saved_check(s, saved == users && (a->users == 0 || s->pass != TACIT__CHECK));
    if (!loading)
        users = a->users;
    for (uint64_t i = 0; i * CHUNK < users && s->status == TACIT_OK; i++) {
        const uint64_t rest = users - i * CHUNK;
        if (i < a->n_chunks || open_chunk(a))
            chunk_fields(a, &a->chunks[i], rest < CHUNK ? (size_t)rest : CHUNK, limits, s);
        else
            tacit__saved_fail(s, TACIT_NO_MEMORY, NULL);
    }
    if (s->pass == TACIT__APPLY)
        a->users = users;
    s->wrong = outside;
}

/* Binary counters: `tree` [CSS11, DNPR10] and `smooth`, the constant-weight tree after [AP23].
 *
 * Both walk an increasing sequence of words w_0 < w_1 < ...; user t arrives between w_{t-1} and w_t. Let b
 * be the highest bit in which w_{t-1} and w_t differ. A node is made at b that holds all users since the
 * last node at a bit above b; nodes below b are dropped. The prefix 1..t is the sum of the nodes alive, so
 * one fresh draw for each coordinate and step is all the noise there is. Node noise never leaves.
 *
 *     tree    w_t = t:            a user is in at most floor(log2 K) + 1 nodes, popcount(t) are alive
 *     smooth  w_t = the t-th word with p ones and z zeros (C(p+z, z) > K): a user is in at most z nodes
 *             (those of the zero bits of its word), p minus the trailing ones of w_t are alive
 *
 * docs/why/sums.md has the proofs. (p, z) are chosen for the least z sqrt(p) (Laplace) or sqrt(z p)
 * (Gaussian). State: for each live node the exact prefix (secret) and the noisy prefix (public) at its
 * end; memory 16 bytes times depth for each coordinate, five streams of memory a step. The sum of all
 * users so far is the exact prefix of the node made last. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "sums/strategy.h"

enum { WORD_BITS = 63 };

/* ones = 0 is the plain counter. */
typedef struct code {
    unsigned ones, zeros; /* smooth */
    unsigned depth;       /* nodes alive at once, at most */
    unsigned nodes;       /* nodes a user is in, at most */
} code;

typedef struct position {
    uint64_t word, steps;
    uint32_t alive;
    uint8_t bit[64]; /* of each live node, descending */
} position;

typedef struct tree {
    code code;
    size_t dimension;
    double unit;
    position at, next;    /* now, and after one more user */
    int64_t *exact_until; /* [depth][dimension]: sum of all users when node i was made */
    int64_t *noisy_until; /* [depth][dimension]: noisy prefix at that moment */
} tree;

static double binomial(unsigned n, unsigned k)
{
    double c = 1; /* exact below 2^53, and only compared with K < 2^53 */
    for (unsigned i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return c;
}

static code plain_code(uint64_t users)
{
    code c = {0};
    while (users >> c.nodes != 0) /* floor(log2 K) + 1 */
        c.nodes++;
    /* the largest popcount up to K: all ones below the top bit, or K itself when it is all ones */
    c.depth = (users & (users + 1)) == 0 || c.nodes == 1 ? c.nodes : c.nodes - 1;
    return c;
}

static double noise_factor(const code *c, tacit_law law)
{
    return law == TACIT_LAW_LAPLACE ? c->nodes * sqrt(c->depth) : sqrt((double)c->nodes * c->depth);
}

static code smooth_code(uint64_t users, tacit_law law)
{
    code best = {0};
    for (unsigned zeros = 1; zeros < WORD_BITS; zeros++) {
        unsigned ones = 1;
        while (ones + zeros < WORD_BITS && binomial(ones + zeros, zeros) <= (double)users)
            ones++;
        if (binomial(ones + zeros, zeros) <= (double)users)
            continue;
        code c = {.ones = ones, .zeros = zeros, .depth = ones, .nodes = zeros};
        if (best.ones == 0 || noise_factor(&c, law) < noise_factor(&best, law))
            best = c;
        if (ones == 1)
            break; /* more zeros would only be more nodes */
    }
    return best;
}

static uint64_t first_word(const code *c)
{
    return ((uint64_t)1 << c->ones) - 1;
}

static uint64_t next_word(const code *c, uint64_t word)
{
    if (c->ones == 0)
        return word + 1;
    uint64_t lowest = word & (~word + 1), ripple = word + lowest; /* Gosper: same number of ones */
    return (((ripple ^ word) >> 2) / lowest) | ripple;
}

/* p after one more user. */
static void move_on(const code *c, position *p)
{
    uint64_t word = next_word(c, p->word);
    uint8_t bit = (uint8_t)(63 - __builtin_clzll(word ^ p->word));
    p->word = word;
    p->steps++;
    while (p->alive > 0 && p->bit[p->alive - 1] < bit)
        p->alive--;
    p->bit[p->alive++] = bit;
}

/* The nodes of a user are named by zero bits of the word before it: the node at such a bit is made
 * when a carry reaches the bit. Two users share it if their words agree in the bit and in all above
 * it. It is never made if that is not so by the last word, nor, where the number of ones is
 * constant, if there is no one below the bit that could move there. */
typedef struct words {
    const uint64_t *word; /* [steps]: before each user */
    uint64_t last;
    bool constant; /* number of ones */
} words;

static double shared_nodes(const void *context, uint64_t i, uint64_t l)
{
    const words *n = context;
    const uint64_t word = n->word[i], differ = word ^ n->word[l], left = word ^ n->last;
    uint64_t zeros = ~word & (((uint64_t)2 << (63 - __builtin_clzll(left))) - 1);
    if (n->constant)
        zeros &= ~((word & -word) - 1);
    if (differ != 0)
        zeros &= ~(((uint64_t)2 << (63 - __builtin_clzll(differ))) - 1);
    return __builtin_popcountll(zeros);
}

/* Nodes are nested or disjoint, so two users share fewer the farther they are apart, as returning.h asks. */
static tacit_status columns_of(const code *c, const tacit__shape *shape, tacit__columns *out,
                               tacit_error *err)
{
    const tacit__batches steps = {.n = shape->steps, .ends = shape->ends};
    *out = (tacit__columns){.l1 = c->nodes, .l2 = sqrt(c->nodes)};
    if (shape->visits.most <= 1)
        return TACIT_OK;
    const bool few = shape->ends != NULL || tacit__returning_are_few(&shape->visits, &steps);
    uint64_t *before = few ? tacit__alloc(shape->steps, sizeof *before) : NULL;
    if (few && before == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    uint64_t word = first_word(c);
    for (uint64_t i = 0; few && i < shape->steps; i++, word = next_word(c, word))
        before[i] = word;
    const words all = {before, word, c->ones > 0};
    const tacit__overlaps of = {shared_nodes, &all, c->nodes};
    double square = 0;
    tacit_status status = tacit__returning_sum(&shape->visits, &steps, &of, &out->l1, err);
    if (status == TACIT_OK)
        status = tacit__returning_bound(&shape->visits, &steps, &of, &square, err);
    out->l2 = nextafter(sqrt(square), HUGE_VAL);
    tacit__free(before);
    return status;
}

static tacit_status tree_columns(const tacit__shape *shape, tacit__columns *out, tacit_error *err)
{
    code c = plain_code(shape->steps);
    return columns_of(&c, shape, out, err);
}

static tacit_status smooth_columns(const tacit__shape *shape, tacit__columns *out, tacit_error *err)
{
    code c = smooth_code(shape->steps, shape->law);
    return columns_of(&c, shape, out, err);
}

static tacit_status create_with(code c, const tacit__shape *shape, void **state, tacit_error *err)
{
    tree w = {.code = c, .dimension = shape->dimension, .unit = shape->unit};
    w.at.word = w.next.word = first_word(&c);
    move_on(&c, &w.next);
    const size_t nodes = w.dimension * c.depth;
    *state =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.exact_until, nodes), TACIT__PIECE(w.noisy_until, nodes));
    return *state != NULL ? TACIT_OK
                          : tacit__fail(err, TACIT_NO_MEMORY, "a tree of depth %u needs %zu bytes",
                                        c.depth, 2 * nodes * sizeof *w.exact_until);
}

static tacit_status tree_create(const tacit__shape *shape, void **state, tacit_error *err)
{
    return create_with(plain_code(shape->steps), shape, state, err);
}

static tacit_status smooth_create(const tacit__shape *shape, void **state, tacit_error *err)
{
    return create_with(smooth_code(shape->steps, shape->law), shape, state, err);
}

/* Exact prefixes of a node, from coordinate `offset` on. */
static int64_t *exact_of(const tree *s, uint32_t node, size_t offset)
{
    return s->exact_until + node * s->dimension + offset;
}

/* y = the users of the node that this step makes. */
static void encode(const void *state, size_t offset, size_t n, const int64_t *x, int64_t *y)
{
    const tree *s = state;
    uint32_t node = s->next.alive - 1;
    if (s->at.alive == 0) { /* the first user */
        memcpy(y, x, n * sizeof *y);
        return;
    }
    const int64_t *exact = exact_of(s, s->at.alive - 1, offset);
    if (node == 0) {
        for (size_t i = 0; i < n; i++)
            y[i] = exact[i] + x[i];
    } else {
        const int64_t *before = exact_of(s, node - 1, offset);
        for (size_t i = 0; i < n; i++)
            y[i] = exact[i] + x[i] - before[i];
    }
}

static void absorb(void *state, size_t offset, size_t n, const int64_t *x, const int64_t *y)
{
    tree *s = state;
    uint32_t node = s->next.alive - 1;
    int64_t *until = exact_of(s, node, offset);
    int64_t *noisy = s->noisy_until + node * s->dimension + offset;
    if (s->at.alive == 0) {
        memcpy(until, x, n * sizeof *until);
    } else {
        const int64_t *exact = exact_of(s, s->at.alive - 1, offset);
        for (size_t i = 0; i < n; i++)
            until[i] = exact[i] + x[i];
    }
    if (node == 0) {
        for (size_t i = 0; i < n; i++)
            noisy[i] = y[i];
    } else {
        const int64_t *before = noisy - s->dimension;
        for (size_t i = 0; i < n; i++)
            noisy[i] = before[i] + y[i];
    }
}

static void advance(void *state)
{
    tree *s = state;
    s->at = s->next;
    move_on(&s->code, &s->next);
}

static void read(const void *state, double *out)
{
    const tree *s = state;
    const int64_t *noisy = s->noisy_until + (s->at.alive - 1) * s->dimension;
    for (size_t i = 0; i < s->dimension; i++)
        out[i] = (double)noisy[i] * s->unit;
}

/* w_k. Constant weight: by the combinatorial number system, it is the k-th word in increasing order. */
static uint64_t word_at(const code *c, uint64_t k)
{
    if (c->ones == 0)
        return k;
    double rank = (double)k;
    uint64_t word = 0;
    for (unsigned left = c->ones, bit = c->ones + c->zeros; left > 0; left--) {
        do /* the highest bit whose words with this and lower bits only do not exceed the rank */
            bit--;
        while (binomial(bit, left) > rank);
        rank -= binomial(bit, left);
        word |= (uint64_t)1 << bit;
    }
    return word;
}

/* The ones of w_k that name nodes: all of them, or those that are not at its very end. */
static uint64_t nodes_at(const code *c, uint64_t k)
{
    uint64_t word = word_at(c, k);
    return c->ones == 0 ? word : word & (word + 1);
}

static double variance(const void *state, uint64_t k)
{
    TACIT__REQUIRE(k > 0);
    const tree *s = state;
    return __builtin_popcountll(nodes_at(&s->code, k));
}

static size_t regions(void *state, tacit__region out[TACIT__MAX_REGIONS])
{
    tree *s = state;
    size_t bytes = s->dimension * sizeof(int64_t);
    out[0] = (tacit__region){&s->at, sizeof s->at};
    out[1] = (tacit__region){s->exact_until, bytes * s->code.depth};
    out[2] = (tacit__region){s->noisy_until, bytes * s->code.depth};
    return 3;
}

static bool is_position(const code *c, const position *p, uint64_t steps)
{
    uint64_t nodes = nodes_at(c, steps);
    if (p->steps != steps || p->word != word_at(c, steps) ||
        p->alive != (uint32_t)__builtin_popcountll(nodes))
        return false;
    for (uint32_t i = p->alive; i-- > 0; nodes &= nodes - 1)
        if (p->bit[i] != __builtin_ctzll(nodes))
            return false;
    return true;
}

static bool resume(void *state, uint64_t steps)
{
    tree *s = state;
    if (!is_position(&s->code, &s->at, steps))
        return false;
    s->next = s->at;
    move_on(&s->code, &s->next);
    return true;
}

static double most(const void *state, uint64_t users)
{
    (void)users;
    return ((const tree *)state)->code.depth;
}

#define OPERATIONS                                                                                 \
    .needs_noise = true, .destroy = tacit__workspace_destroy, .encode = encode, .absorb = absorb,  \
    .advance = advance, .read = read, .variance = variance, .most = most, .regions = regions,      \
    .resume = resume

const tacit__strategy tacit__strategy_tree = {
    .name = "tree", .columns = tree_columns, .create = tree_create, OPERATIONS};

const tacit__strategy tacit__strategy_smooth = {
    .name = "smooth", .columns = smooth_columns, .create = smooth_create, OPERATIONS};

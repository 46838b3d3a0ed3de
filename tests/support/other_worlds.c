/* See support/other_worlds.h. Sixteen states and four actions, so that few forecasts are about many worlds;
 * contexts and small tables have sizes of their own. Where `shuffled`, which action does what is drawn for each
 * state: there no constant action is good by itself. */
#include "support/other_worlds.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

enum { MOST_OUTCOMES = 40 };

typedef struct outcomes {
    unsigned n;
    struct {
        unsigned next;
        double prob, reward;
    } at[MOST_OUTCOMES];
} outcomes;

typedef struct family {
    const char *name;
    unsigned n_states, n_actions, horizon;
    bool shuffled, zipf;
    void (*row)(const struct family *f, unsigned s, unsigned a, outcomes *out);
    double low, high; /* mean rewards of contexts and of small tables */
    bool sure; /* they are paid as they are: small; else 1 comes with that probability: rare */
} family;

static void add(outcomes *out, unsigned next, double prob, double reward)
{
    assert_true(out->n < MOST_OUTCOMES && reward >= 0 && reward <= 1);
    if (prob <= 0)
        return;
    out->at[out->n].next = next;
    out->at[out->n].prob = prob;
    out->at[out->n++].reward = reward;
}

static double fixed_unit(unsigned seed, unsigned s, unsigned a)
{
    uint64_t state = ((uint64_t)seed << 40) + ((uint64_t)s << 20) + a;
    (void)random_word(&state);
    return random_unit(&state);
}

/* --- 25 steps ------------------------------------------------------------------------------------ */

/* Up to 15 people wait, one comes with probability 1/2; four speeds of service, the faster the dearer. */
static void queue(const family *f, unsigned s, unsigned a, outcomes *out)
{
    static const double served[] = {0.1, 0.4, 0.7, 0.95}, cost[] = {0, 0.05, 0.2, 0.45};
    const double reward = 1 - 0.5 * s / 15 - cost[a], go = s > 0 ? served[a] : 0;
    (void)f;
    add(out, s > 0 ? s - 1 : 0, 0.5 * go, reward);
    add(out, s, 0.5 * go + 0.5 * (1 - go), reward);
    add(out, s < 15 ? s + 1 : 15, 0.5 * (1 - go), reward);
}

/* A stock of up to 15; orders of 0, 3, 6 or 9 arrive at once, demand is 0 to 6. */
static void inventory(const family *f, unsigned s, unsigned a, outcomes *out)
{
    static const double demand[] = {0.05, 0.15, 0.2, 0.2, 0.2, 0.15, 0.05};
    const unsigned stock = s + 3 * a < 15 ? s + 3 * a : 15;
    (void)f;
    for (unsigned d = 0; d < 7; d++) {
        const unsigned sold = d < stock ? d : stock;
        add(out, stock - sold, demand[d],
            0.4 + 0.1 * sold - 0.02 * (stock - sold) - (a > 0 ? 0.1 : 0));
    }
}

/* A machine wears out, and earns less the more it is worn: run, run slowly, repair, replace. */
static void maintenance(const family *f, unsigned s, unsigned a, outcomes *out)
{
    const double earns = 1 - pow(s / 15.0, 2);
    (void)f;
    if (a < 2) {
        add(out, s < 15 ? s + 1 : 15, a == 0 ? 0.5 : 0.2, a == 0 ? earns : 0.7 * earns);
        add(out, s < 12 ? s + 4 : 15, a == 0 ? 0.2 : 0.02, a == 0 ? earns : 0.7 * earns);
        add(out, s, a == 0 ? 0.3 : 0.78, a == 0 ? earns : 0.7 * earns);
    } else if (a == 2) {
        add(out, s > 4 ? s - 4 : 0, 1, 0.3 * earns);
    } else {
        add(out, 0, 1, 0);
    }
}

/* Offers 0 to 14 come; one is accepted (two actions: for all of it, or for two thirds), or the next is waited for. */
static void stopping(const family *f, unsigned s, unsigned a, outcomes *out)
{
    (void)f;
    if (s == 15) {
        add(out, 15, 1, 0);
        return;
    }
    if (a < 2) {
        add(out, 15, 1, (a == 0 ? 1 : 0.67) * pow(s / 14.0, 2));
        return;
    }
    for (unsigned next = 0; next < 15;
         next++) /* high offers are rare; one kind of waiting loses people */
        add(out, next, (a == 2 ? 0.97 : 0.7) * (15 - next) / 120.0, 0);
    add(out, 15, a == 2 ? 0.03 : 0.3, 0);
}

/* --- 12 steps ------------------------------------------------------------------------------------ */

static unsigned moved(unsigned s, unsigned a, int wind)
{
    int row = (int)s / 4 + (a == 1) - (a == 3) - wind, column = (int)s % 4 + (a == 2) - (a == 0);
    row = row < 0 ? 0 : row > 3 ? 3 : row;
    column = column < 0 ? 0 : column > 3 ? 3 : column;
    return (unsigned)(4 * row + column);
}

/* From the bottom left to the bottom right, while wind blows upward in the middle. */
static void wind(const family *f, unsigned s, unsigned a, outcomes *out)
{
    const int blows = s % 4 == 1 || s % 4 == 2;
    (void)f;
    if (s == 15 || s == 0) { /* one starts in state 0, above the start */
        add(out, s == 15 ? 15 : 12, 1, 0);
        return;
    }
    add(out, moved(s, a, 0), 0.6, moved(s, a, 0) == 15);
    add(out, moved(s, a, blows), 0.4, moved(s, a, blows) == 15);
}

/* Along the top from left to right, over a cliff: the two cells between pay nothing and lead back. */
static void cliff(const family *f, unsigned s, unsigned a, outcomes *out)
{
    (void)f;
    if (s == 3 || s == 1 || s == 2) {
        add(out, s == 3 ? 3 : 0, 1, s == 3 ? 0.6 : 0);
        return;
    }
    for (unsigned b = 0; b < 4; b++)
        add(out, moved(s, b, 0), b == a ? 0.85 : 0.05, moved(s, b, 0) == 3 ? 1 : 0.2);
}

/* A circle of sixteen: back, on, a leap of five, stay; staying pays at two places. */
static void ring(const family *f, unsigned s, unsigned a, outcomes *out)
{
    static const unsigned leap[] = {15, 1, 5, 0};
    (void)f;
    const double reward = a == 3 && s == 8 ? 1 : a == 3 && s == 2 ? 0.3 : 0;
    add(out, (s + leap[a]) % 16, 0.8, reward);
    add(out, (s + leap[a] + 1) % 16, 0.2, reward);
}

/* Questions as a tree: two actions lead down to the left, two to the right, one of each less surely; leaves pay
 * with probabilities of their own, and one starts again. */
static void tree(const family *f, unsigned s, unsigned a, outcomes *out)
{
    if (s == 15) {
        add(out, 0, 1, 0);
        return;
    }
    if (s >= 7) {
        const double p = pow(fixed_unit(f->n_actions, s, a), 3);
        add(out, 0, p, 1);
        add(out, 0, 1 - p, 0);
        return;
    }
    add(out, 2 * s + 1 + a % 2, a < 2 ? 0.9 : 0.6, 0);
    add(out, a < 2 ? 0 : 2 * s + 2 - a % 2, a < 2 ? 0.1 : 0.4, 0);
}

/* --- Contexts, and small tables ------------------------------------------------------------------ */

static void pay(const family *f, unsigned next, double prob, double mean, outcomes *out)
{
    add(out, next, f->sure ? prob : prob * mean, f->sure ? mean : 1);
    if (!f->sure)
        add(out, next, prob * (1 - mean), 0);
}

/* One action of each context is better, the others are all alike. */
static void context(const family *f, unsigned s, unsigned a, outcomes *out)
{
    pay(f, s, 1, a == (unsigned)(fixed_unit(7, s, 0) * f->n_actions) ? f->high : f->low, out);
}

/* Every action leads to three states. */
static void small_table(const family *f, unsigned s, unsigned a, outcomes *out)
{
    const double mean = f->low + (f->high - f->low) * fixed_unit(11, s, a);
    for (unsigned i = 0; i < 3; i++)
        pay(f, (unsigned)(fixed_unit(20 + i, s, a) * f->n_states), i == 0 ? 0.6 : 0.2, mean, out);
}

static const family families[] = {
    {"queue", 16, 4, 25, .row = queue},
    {"queue_shuffled", 16, 4, 25, .shuffled = true, .row = queue},
    {"inventory", 16, 4, 25, .row = inventory},
    {"maintenance", 16, 4, 25, .row = maintenance},
    {"maintenance_shuffled", 16, 4, 25, .shuffled = true, .row = maintenance},
    {"stopping", 16, 4, 25, .row = stopping},
    {"wind", 16, 4, 12, .row = wind},
    {"cliff", 16, 4, 12, .row = cliff},
    {"ring", 16, 4, 12, .row = ring},
    {"ring_shuffled", 16, 4, 12, .shuffled = true, .row = ring},
    {"tree", 16, 4, 12, .row = tree},
    {"clicks", 20, 4, 1, .zipf = true, .row = context, .low = 0.2, .high = 0.6},
    {"clicks_faint", 20, 4, 1, .zipf = true, .row = context, .low = 0.45, .high = 0.55},
    {"clicks_rare", 20, 4, 1, .zipf = true, .row = context, .low = 0.04, .high = 0.08},
    {"clicks_very_rare", 20, 4, 1, .zipf = true, .row = context, .low = 0.01, .high = 0.02},
    {"small", 8, 3, 6, .row = small_table, .high = 1},
    {"small_rare", 8, 3, 6, .row = small_table, .high = 0.1},
    {"small_very_rare", 8, 3, 6, .row = small_table, .high = 0.02},
    {"small_sizes", 8, 3, 6, .row = small_table, .high = 0.02, .sure = true},
};

static FILE *open_file(const char *directory, const char *name, const char *end)
{
    FILE *file = fopen(fmt("%s/%s%s.csv", directory, name, end), "w");
    assert_non_null(file);
    return file;
}

const char *other_world(const char *name, const char *directory)
{
    const family *f = families;
    while (strcmp(f->name, name) != 0)
        assert_true(++f < families + sizeof families / sizeof *families);
    FILE *file = open_file(directory, name, "");
    (void)fputs("state,action,next_state,probability,reward\n", file);
    for (unsigned s = 0; s < f->n_states; s++)
        for (unsigned a = 0; a < f->n_actions; a++) {
            const unsigned turn = f->shuffled ? (unsigned)(fixed_unit(3, s, 0) * f->n_actions) : 0;
            outcomes out = {0};
            f->row(f, s, (a + turn) % f->n_actions, &out);
            for (unsigned i = 0; i < out.n; i++)
                (void)fprintf(file, "%u,%u,%u,%.17g,%.17g\n", s, a, out.at[i].next, out.at[i].prob,
                              out.at[i].reward);
        }
    assert_int_equal(fclose(file), 0);
    if (!f->zipf)
        return fmt("kind: table, transitions: %s/%s.csv, horizon: %u", directory, name, f->horizon);
    double sum = 0;
    for (unsigned s = 0; s < f->n_states; s++)
        sum += 1.0 / (s + 1);
    file = open_file(directory, name, "_initial");
    (void)fputs("state,probability\n", file);
    for (unsigned s = 0; s < f->n_states; s++)
        (void)fprintf(file, "%u,%.17g\n", s, 1 / ((s + 1) * sum));
    assert_int_equal(fclose(file), 0);
    return fmt("kind: table, transitions: %s/%s.csv, initial: %s/%s_initial.csv, horizon: %u",
               directory, name, directory, name, f->horizon);
}

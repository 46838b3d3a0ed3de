/* Comparing results: differences of regret with their intervals.
 *
 * All agents of a run meet the same people, and so do agents of other experiments with the same seed and
 * the same world. So runs are compared one by one, and what the people have in common cancels: the
 * interval is that of the mean of the differences. Where seeds differ there are two samples, and the
 * interval is Welch's, with his degrees of freedom rounded down [W47]. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/student.h"
#include "base/workspace.h"
#include "lab/grow.h"
#include "report/compare.h"
#include "report/figure.h"

enum { NOTE = 500, MOST_NOTES = 40 };

struct tacit_comparison {
    tacit_difference *rows;
    size_t n, n_results;
    char (*notes)[NOTE]; /* [MOST_NOTES] */
    size_t n_notes;
};

__attribute__((format(printf, 2, 3))) static void add_note(tacit_comparison *c, const char *format,
                                                           ...)
{
    va_list arguments;
    if (c->n_notes == MOST_NOTES)
        return;
    va_start(arguments, format);
    (void)vsnprintf(c->notes[c->n_notes++], NOTE, format, arguments);
    va_end(arguments);
}

/* --- Numbers ------------------------------------------------------------------------------------- */

/* Two agents in a world, of the same results or of others. */
typedef struct side {
    const tacit_results *results;
    size_t world, agent;
} side;

static const tacit_job *job_of(const side *s, uint64_t run)
{
    return tacit_results_job(s->results, s->world, s->agent, run);
}

static uint64_t runs_of(const side *s)
{
    return tacit_results_describe(s->results)->runs;
}

/* Over the runs that both have finished: d_r = b_r - a_r. */
static void compare_pairs(const side *a, const side *b, tacit_difference *d)
{
    double sum = 0, squares = 0, first = 0, sum_a = 0, sum_b = 0;
    uint64_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t run = 0; run < runs_of(a) && run < runs_of(b); run++) {
            const tacit_job *x = job_of(a, run), *y = job_of(b, run);
            if (!x->done || !y->done)
                continue;
            const double difference = y->regret - x->regret;
            if (pass == 1) {
                const double off = difference - (first + sum / (double)n);
                squares += off * off;
                continue;
            }
            first = n == 0 ? difference : first;
            sum += difference - first;
            sum_a += x->regret;
            sum_b += y->regret;
            n++;
        }
    d->runs = n;
    d->paired = true;
    d->difference = n > 0 ? first + sum / (double)n : (double)NAN;
    d->reference_mean = n > 0 ? sum_a / (double)n : (double)NAN;
    d->mean = n > 0 ? sum_b / (double)n : (double)NAN;
    double half = (double)NAN;
    if (n > 1)
        half = tacit__student_limit(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
    d->low = d->difference - half;
    d->high = d->difference + half;
}

static void compare_samples(const side *a, const side *b, tacit_difference *d)
{
    const tacit_summary x = tacit_results_summary(a->results, a->world, a->agent);
    const tacit_summary y = tacit_results_summary(b->results, b->world, b->agent);
    const double u = x.regret_error * x.regret_error, v = y.regret_error * y.regret_error;
    d->runs = y.runs;
    d->reference_mean = x.regret_mean;
    d->mean = y.regret_mean;
    d->difference = y.regret_mean - x.regret_mean;
    double half = (double)NAN;
    if (u + v > 0) {
        double degrees =
            (u + v) * (u + v) / (u * u / (double)(x.runs - 1) + v * v / (double)(y.runs - 1));
        half = tacit__student_limit(degrees >= 2 ? (uint64_t)degrees : 1) * sqrt(u + v);
    } else if (u + v == 0) {
        half = 0; /* nothing varied */
    }
    d->low = d->difference - half;
    d->high = d->difference + half;
}

/* --- Who is compared with whom ------------------------------------------------------------------- */

static void add_row(tacit_comparison *c, const side *a, const side *b, size_t which, bool paired)
{
    const tacit_experiment_facts *x = tacit_results_describe(a->results);
    const tacit_experiment_facts *y = tacit_results_describe(b->results);
    tacit_difference *d = &c->rows[c->n];
    *d = (tacit_difference){.world = y->worlds[b->world].label,
                            .agent = y->agents[b->agent].label,
                            .reference = x->agents[a->agent].label,
                            .which = which};
    d->runs_not_learned = tacit_results_summary(b->results, b->world, b->agent).runs_not_learned;
    if (paired)
        compare_pairs(a, b, d);
    else
        compare_samples(a, b, d);
    if (d->runs > 0 && !isnan(d->difference))
        c->n++;
    else
        add_note(c, "%.80s in %.80s: no run is finished in both", d->agent, d->world);
}

static size_t find_label(const tacit_experiment_facts *facts, const char *label)
{
    size_t i = 0;
    while (i < facts->n_agents && strcmp(facts->agents[i].label, label) != 0)
        i++;
    return i;
}

static void compare_world(tacit_comparison *c, const tacit_results *first, size_t world,
                          const tacit_results *other, size_t place, size_t which)
{
    TACIT__REQUIRE(world < tacit_results_describe(first)->n_worlds);
    const tacit_experiment_facts *x = tacit_results_describe(first);
    const tacit_experiment_facts *y = tacit_results_describe(other);
    const bool paired = x->seed == y->seed;
    for (size_t j = 0; j < y->n_agents; j++) {
        const size_t i = find_label(x, y->agents[j].label);
        const side b = {other, place, j};
        if (job_of(&b, 0) == NULL)
            continue;
        const side a = {first, world, i};
        if (i == x->n_agents || job_of(&a, 0) == NULL)
            add_note(c, "%.80s: plays in %.80s of results %zu, and not of the first",
                     y->agents[j].label, x->worlds[world].label, which + 1);
        else
            add_row(c, &a, &b, which, paired);
    }
    for (size_t i = 0; i < x->n_agents; i++)
        if (tacit_results_job(first, world, i, 0) != NULL &&
            find_label(y, x->agents[i].label) == y->n_agents)
            add_note(c, "%.80s: plays in %.80s of the first results, and not of results %zu",
                     x->agents[i].label, x->worlds[world].label, which + 1);
    if (!paired)
        add_note(c,
                 "results %zu have another seed (%llu, not %llu): other people, so runs are not "
                 "compared one by one",
                 which + 1, (unsigned long long)y->seed, (unsigned long long)x->seed);
}

static void compare_results(tacit_comparison *c, const tacit_results *first,
                            const tacit_results *other, size_t which)
{
    const tacit_experiment_facts *x = tacit_results_describe(first);
    const tacit_experiment_facts *y = tacit_results_describe(other);
    if (x->episodes != y->episodes) {
        add_note(c,
                 "results %zu have %llu episodes, not %llu, so their regret means something else",
                 which + 1, (unsigned long long)y->episodes, (unsigned long long)x->episodes);
        return;
    }
    for (size_t w = 0; w < x->n_worlds; w++) {
        char why[TACIT__DIFFERENCE];
        const size_t place =
            tacit__experiment_world_of(other->experiment, first->experiment, w, why);
        if (place == SIZE_MAX)
            add_note(c, "%s (results 1 and %zu)", why, which + 1);
        else
            compare_world(c, first, w, other, place, which);
    }
}

/* The agents of one set of results against one of them. */
static tacit_status compare_agents(tacit_comparison *c, const tacit_results *results,
                                   const char *reference, tacit_error *err)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    size_t first = 0;
    while (reference == NULL && first < facts->n_agents && facts->agents[first].baseline)
        first++;
    if (reference == NULL && first == facts->n_agents)
        first = 0;
    if (reference != NULL)
        first = find_label(facts, reference);
    if (first == facts->n_agents)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "no agent is called '%.80s'", reference);
    for (size_t w = 0; w < facts->n_worlds; w++) {
        const side a = {results, w, first};
        for (size_t i = 0; job_of(&a, 0) != NULL && i < facts->n_agents; i++) {
            const side b = {results, w, i};
            if (i != first && job_of(&b, 0) != NULL)
                add_row(c, &a, &b, 0, true);
        }
    }
    return TACIT_OK;
}

tacit_status tacit_comparison_create(const tacit_results *const *results, size_t n,
                                     const char *reference, tacit_comparison **out,
                                     tacit_error *err)
{
    if (results == NULL || n == 0 || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_comparison w = {.n_results = n};
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += tacit_results_describe(results[i])->n_agents *
                tacit_results_describe(results[i])->n_worlds;
    tacit_comparison *c =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.rows, most), TACIT__PIECE(w.notes, MOST_NOTES));
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    if (n == 1)
        status = compare_agents(c, results[0], reference, err);
    for (size_t i = 1; i < n; i++)
        compare_results(c, results[0], results[i], i);
    if (status == TACIT_OK && c->n == 0)
        status = tacit__fail(err, TACIT_BAD_ARGUMENT, "there is nothing to compare%s%s",
                             c->n_notes > 0 ? ": " : "", c->n_notes > 0 ? c->notes[0] : "");
    if (status == TACIT_OK)
        *out = c;
    else
        tacit_comparison_destroy(c);
    return status;
}

void tacit_comparison_destroy(tacit_comparison *comparison)
{
    tacit__workspace_destroy(comparison);
}

size_t tacit_comparison_size(const tacit_comparison *comparison)
{
    return comparison->n;
}

const tacit_difference *tacit_comparison_at(const tacit_comparison *comparison, size_t i)
{
    return i < comparison->n ? &comparison->rows[i] : NULL;
}

const char *tacit_comparison_note(const tacit_comparison *comparison, size_t i)
{
    return i < comparison->n_notes ? comparison->notes[i] : NULL;
}

size_t tacit__comparison_results(const tacit_comparison *comparison)
{
    return comparison->n_results;
}

tacit__outcome tacit__difference_outcome(const tacit_difference *d)
{
    if (isnan(d->low))
        return TACIT__OUTCOME_UNKNOWN;
    if (d->low == 0 && d->high == 0)
        return TACIT__OUTCOME_EQUAL;
    return d->high < 0  ? TACIT__OUTCOME_BETTER
           : d->low > 0 ? TACIT__OUTCOME_WORSE
                        : TACIT__OUTCOME_OPEN;
}

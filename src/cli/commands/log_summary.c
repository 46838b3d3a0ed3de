/* See cli/commands/log_summary.h. The format in summary.json is a contract: docs/reference/run.md. */
#include "cli/commands/log_summary.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/experiment_text.h"

enum { MOST_COLUMNS = 5, CELL = 200 };
static const double limit = 1.959963984540054; /* normal, 97.5 %: users are many */

/* "0.0587 +- 0.0012": two digits of the half, and as many decimals of the value, so that numbers of a column
 * look alike. */
static void put_interval(char cell[CELL], double value, double error)
{
    const double half = limit * error;
    int decimals = 4;
    if (half > 0 && isfinite(half))
        decimals = (int)fmin(12, fmax(0, 1 - floor(log10(half))));
    const double unit = pow(10, -decimals);
    value = fabs(value) < unit / 2 ? 0 : value; /* no minus before a zero */
    (void)snprintf(cell, CELL, "%.*f +- %.*f", decimals, value, decimals, half);
}

/* Two tables under each other, neither wider than a terminal. */
typedef struct block {
    size_t n_columns, n_words; /* words stand to the left */
    const char *heads[MOST_COLUMNS];
    void (*fill)(const tacit_entry *entry, const tacit_estimate *e, char row[MOST_COLUMNS][CELL]);
} block;

static void fill_rewards(const tacit_entry *entry, const tacit_estimate *e,
                         char row[MOST_COLUMNS][CELL])
{
    (void)snprintf(row[0], CELL, "%s", entry->label);
    (void)cli_guarantee_text(row[1], CELL, entry);
    put_interval(row[2], e->doubly_robust, e->doubly_robust_error);
    put_interval(row[3], e->lift_logging, e->lift_logging_error);
    put_interval(row[4], e->lift_constant, e->lift_constant_error);
}

static void fill_others(const tacit_entry *entry, const tacit_estimate *e,
                        char row[MOST_COLUMNS][CELL])
{
    (void)snprintf(row[0], CELL, "%s", entry->label);
    put_interval(row[1], e->self_normalized, e->self_normalized_error);
    put_interval(row[2], e->ips, e->ips_error);
    (void)snprintf(row[3], CELL, "%.0f", e->effective);
}

static const block blocks[] = {
    {5, 2, {"agent", "guarantee", "reward", "over the log", "over constant"}, fill_rewards},
    {4, 1, {"agent", "self-normalized", "inverse propensities", "effective"}, fill_others}};

static void print(const block *b, char row[MOST_COLUMNS][CELL], const size_t *widths)
{
    for (size_t c = 0; c < b->n_columns; c++) {
        if (c < b->n_words)
            cli_print_padded(row[c], widths[c]);
        else
            (void)printf("%*s%s", (int)(widths[c] - cli_columns(row[c])), "", row[c]);
        (void)fputs(c + 1 < b->n_columns ? "  " : "\n", stdout);
    }
}

static void widen(const block *b, char row[MOST_COLUMNS][CELL], size_t *widths)
{
    for (size_t c = 0; c < b->n_columns; c++)
        widths[c] = cli_columns(row[c]) > widths[c] ? cli_columns(row[c]) : widths[c];
}

static void print_block(const block *b, const tacit_results *results, size_t world)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    char row[MOST_COLUMNS][CELL];
    size_t widths[MOST_COLUMNS] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t c = 0; c < b->n_columns; c++)
            (void)snprintf(row[c], CELL, "%s", b->heads[c]);
        widen(b, row, widths);
        if (pass == 1)
            print(b, row, widths);
        for (size_t i = 0; i < facts->n_agents; i++) {
            const tacit_estimate e = tacit_results_estimate(results, world, i);
            if (!e.known)
                continue;
            b->fill(&facts->agents[i], &e, row);
            widen(b, row, widths);
            if (pass == 1)
                print(b, row, widths);
        }
    }
}

void cli_print_estimates(const tacit_results *results, size_t world)
{
    TACIT__REQUIRE(results != NULL);
    char own[CELL];
    bool first = true;
    for (size_t i = 0; first && i < tacit_results_describe(results)->n_agents; i++) {
        const tacit_estimate e = tacit_results_estimate(results, world, i);
        if (!e.known)
            continue;
        put_interval(own, e.logging, e.logging_error);
        (void)printf("the log's own policy earned %s per user\n", own);
        first = false;
    }
    print_block(&blocks[0], results, world);
    (void)puts("");
    print_block(&blocks[1], results, world);
}

void cli_print_estimates_footer(void)
{
    (void)puts(
        "reward: mean per user, estimated from the log (doubly robust), and the lift over the\n"
        "log's own policy and over the best constant action; +- half of the 95 % interval.\n"
        "Then two other estimates, and the effective number of users. Nothing here is\n"
        "exact, and more runs replay the same log: they do not make the intervals smaller");
}

void cli_put_estimate(tacit__json_writer *to, const tacit_results *results, size_t world,
                      size_t agent)
{
    TACIT__REQUIRE(to != NULL && results != NULL);
    const tacit_estimate e = tacit_results_estimate(results, world, agent);
    if (!e.known) {
        tacit__json_put_null(to, "estimate");
        return;
    }
    tacit__json_begin_object(to, "estimate");
    tacit__json_put_real(to, "doubly_robust", e.doubly_robust);
    tacit__json_put_real(to, "doubly_robust_stderr", e.doubly_robust_error);
    tacit__json_put_real(to, "self_normalized", e.self_normalized);
    tacit__json_put_real(to, "self_normalized_stderr", e.self_normalized_error);
    tacit__json_put_real(to, "ips", e.ips);
    tacit__json_put_real(to, "ips_stderr", e.ips_error);
    tacit__json_put_real(to, "effective", e.effective);
    tacit__json_put_count(to, "matched", e.matched);
    tacit__json_put_real(to, "logging", e.logging);
    tacit__json_put_real(to, "constant", e.constant);
    tacit__json_put_real(to, "lift_logging", e.lift_logging);
    tacit__json_put_real(to, "lift_logging_stderr", e.lift_logging_error);
    tacit__json_put_real(to, "lift_constant", e.lift_constant);
    tacit__json_put_real(to, "lift_constant_stderr", e.lift_constant_error);
    tacit__json_end(to);
}

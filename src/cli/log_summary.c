/* See cli/log_summary.h. The format in summary.json is a contract: docs/reference/run.md. */
#include "cli/log_summary.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/experiment_text.h"

enum { COLUMNS = 7, CELL = 200 };
static const double limit = 1.959963984540054; /* normal, 97.5 %: users are many */

static void put_interval(char cell[CELL], double value, double error)
{
    (void)snprintf(cell, CELL, "%.4g (%.3g to %.3g)", value, value - limit * error,
                   value + limit * error);
}

static void fill(const tacit_results *results, size_t world, size_t agent, char row[COLUMNS][CELL])
{
    TACIT__REQUIRE(agent < tacit_results_describe(results)->n_agents);
    const tacit_entry *entry = &tacit_results_describe(results)->agents[agent];
    const tacit_estimate e = tacit_results_estimate(results, world, agent);
    (void)snprintf(row[0], CELL, "%s", entry->label);
    (void)cli_guarantee_text(row[1], CELL, entry);
    put_interval(row[2], e.doubly_robust, e.doubly_robust_error);
    put_interval(row[3], e.lift_logging, e.lift_logging_error);
    put_interval(row[4], e.lift_constant, e.lift_constant_error);
    (void)snprintf(row[5], CELL, "%.4g, %.4g", e.self_normalized, e.ips);
    (void)snprintf(row[6], CELL, "%.0f", e.effective);
}

static void print(char row[COLUMNS][CELL], const size_t *widths)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        if (c < 2)
            cli_print_padded(row[c], widths[c]);
        else
            (void)printf("%*s%s", (int)(widths[c] - cli_columns(row[c])), "", row[c]);
        (void)fputs(c + 1 < COLUMNS ? "  " : "\n", stdout);
    }
}

void cli_print_estimates(const tacit_results *results, size_t world)
{
    TACIT__REQUIRE(results != NULL);
    const size_t n = tacit_results_describe(results)->n_agents;
    char heads[COLUMNS][CELL] = {"agent",        "guarantee",     "reward, estimated",
                                 "over the log", "over constant", "others: SN, IPS",
                                 "effective"};
    char row[COLUMNS][CELL];
    size_t widths[COLUMNS] = {0};
    bool first = true;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            print(heads, widths);
        for (size_t i = 0; i < n; i++) {
            const tacit_estimate e = tacit_results_estimate(results, world, i);
            if (!e.known)
                continue;
            fill(results, world, i, row);
            if (pass == 1)
                print(row, widths);
            for (size_t c = 0; pass == 0 && c < COLUMNS; c++) {
                const size_t wide = cli_columns(row[c]), head = cli_columns(heads[c]);
                widths[c] = wide > widths[c] ? wide : widths[c];
                widths[c] = head > widths[c] ? head : widths[c];
            }
            if (pass == 0 && first) {
                (void)printf("the log's own policy earned %.4g (%.3g to %.3g) per user\n",
                             e.logging, e.logging - limit * e.logging_error,
                             e.logging + limit * e.logging_error);
                first = false;
            }
        }
    }
}

void cli_print_estimates_footer(void)
{
    (void)puts("reward: mean per user, estimated from the log (doubly robust) with its 95 % "
               "interval, and the\n"
               "lift over the log's own policy and over the best constant action; SN: "
               "self-normalized, IPS:\n"
               "inverse propensities; effective: effective number of users. Nothing here is "
               "exact, and\n"
               "more runs replay the same log: they do not make the intervals smaller");
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

/* The formats of summary.json and curves.csv are a contract: docs/reference/run.md. */
#include "cli/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/words.h"

static const char stamp[] = "simulated, not private";

/* --- JSON ---------------------------------------------------------------------------------------- */

static json_t *regret_json(const cli_findings *f, size_t agent, const tacit_summary *s)
{
    json_t *per_run = json_array();
    for (uint64_t run = 0; per_run != NULL && run < f->facts->runs; run++)
        if (json_array_append_new(
                per_run, json_real(tacit_results_job(f->results, agent, run)->regret)) != 0) {
            json_decref(per_run);
            return NULL;
        }
    return json_pack("{s:f, s:o, s:o}", "mean", s->regret_mean, "stderr",
                     cli_json_number(s->regret_error), "per_run", per_run);
}

static json_t *agent_json(const cli_findings *f, size_t agent)
{
    const tacit_entry *entry = &f->facts->agents[agent];
    tacit_summary s = tacit_results_summary(f->results, agent);
    return json_pack("{s:s, s:s, s:o, s:o, s:f, s:f, s:f, s:s}", "label", entry->label, "kind",
                     entry->kind, "guarantee", cli_guarantee_json(entry), "regret",
                     regret_json(f, agent, &s), "late_regret", s.late_mean, "switches", s.switches,
                     "seconds", s.seconds, "remark", s.remark);
}

json_t *cli_summary_json(const cli_findings *f)
{
    const tacit_experiment_facts *facts = f->facts;
    json_t *agents = json_array();
    for (size_t i = 0; agents != NULL && i < facts->n_agents; i++)
        if (json_array_append_new(agents, agent_json(f, i)) != 0) {
            json_decref(agents);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:s, s:s, s:o}", "title", facts->title, "world",
                     cli_world_json(facts, f->world, tacit_results_optimal_value(f->results)),
                     "episodes", (json_int_t)facts->episodes, "runs", (json_int_t)facts->runs,
                     "seed", (json_int_t)facts->seed, "noise", stamp, "version", tacit_version(),
                     "agents", agents);
}

bool cli_summary_write(void *context, FILE *to)
{
    return fprintf(to, "%s\n", (const char *)context) >= 0;
}

/* --- CSV ----------------------------------------------------------------------------------------- */

/* Fields with commas or quotes are quoted, and quotes in them doubled [RFC 4180]; labels have no line breaks. */
static void write_field(FILE *to, const char *text)
{
    if (strpbrk(text, ",\"") == NULL) {
        (void)fputs(text, to);
        return;
    }
    (void)fputc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', to);
        (void)fputc(*text, to);
    }
    (void)fputc('"', to);
}

static void write_number(FILE *to, double x)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) != x)
        (void)snprintf(text, sizeof text, "%.17g", x);
    (void)fputs(text, to);
}

bool cli_curves_write(void *context, FILE *to)
{
    const cli_findings *f = context;
    (void)fputs("agent,run,episode,regret\n", to);
    for (size_t agent = 0; agent < f->facts->n_agents; agent++)
        for (uint64_t run = 0; run < f->facts->runs; run++) {
            const tacit_job *job = tacit_results_job(f->results, agent, run);
            for (size_t point = 0; point < tacit_results_points(f->results); point++) {
                write_field(to, f->facts->agents[agent].label);
                (void)fprintf(to, ",%llu,%llu,", (unsigned long long)run + 1,
                              (unsigned long long)tacit_results_episode(f->results, point));
                write_number(to, job->curve[point]);
                (void)fputc('\n', to);
            }
            if (ferror(to))
                return false;
        }
    return true;
}

/* --- The table ----------------------------------------------------------------------------------- */

enum { LABEL, GUARANTEE, REGRET, LATE, SWITCHES, SECONDS, N_COLUMNS, CELL = 96 };

static void number_text(char cell[CELL], double x)
{
    double size = fabs(x);
    if (size >= 1000 && size < 1e9)
        (void)snprintf(cell, CELL, "%.0f", x);
    else
        (void)snprintf(cell, CELL, "%.4g", x);
}

static void mean_text(char cell[CELL], double mean, double error)
{
    char low[CELL];
    number_text(cell, mean);
    if (isnan(error))
        return;
    (void)snprintf(low, CELL, "%.2g", error);
    if (error >= 100 && error < 1e9)
        (void)snprintf(low, CELL, "%.0f", error);
    size_t n = strlen(cell);
    (void)snprintf(cell + n, CELL - n, " +- %.24s", low);
}

static void fill_row(const cli_findings *f, size_t agent, char row[N_COLUMNS][CELL])
{
    const tacit_entry *entry = &f->facts->agents[agent];
    tacit_summary s = tacit_results_summary(f->results, agent);
    (void)snprintf(row[LABEL], CELL, "%s", entry->label);
    (void)cli_guarantee_text(row[GUARANTEE], CELL, entry);
    mean_text(row[REGRET], s.regret_mean, s.regret_error);
    number_text(row[LATE], s.late_mean);
    number_text(row[SWITCHES], s.switches);
    (void)snprintf(row[SECONDS], CELL, s.seconds < 9.95 ? "%.2f s" : "%.0f s", s.seconds);
}

static void print_row(char row[N_COLUMNS][CELL], const size_t *widths)
{
    for (size_t c = 0; c < N_COLUMNS; c++) {
        size_t columns = cli_columns(row[c]);
        if (c < REGRET)
            cli_print_padded(row[c], widths[c]);
        else /* numbers stand to the right */
            (void)printf("%*s%s", (int)(widths[c] - columns), "", row[c]);
        (void)fputs(c + 1 < N_COLUMNS ? "  " : "\n", stdout);
    }
}

static void print_heading(const cli_findings *f)
{
    const tacit_experiment_facts *facts = f->facts;
    const tacit_world_facts *space = tacit_world_describe(f->world);
    (void)printf("%s\n", facts->title);
    (void)printf("%s: %zu states, %zu actions, horizon %zu; the best policy is worth %.6g\n",
                 facts->world, space->n_states, space->n_actions, space->horizon,
                 tacit_results_optimal_value(f->results));
    (void)printf("%llu episodes, %llu run%s, seed %llu; %s\n\n",
                 (unsigned long long)facts->episodes, (unsigned long long)facts->runs,
                 facts->runs == 1 ? "" : "s", (unsigned long long)facts->seed, stamp);
}

/* Every remark once, with the agents that it is about. */
static void print_remarks(const cli_findings *f)
{
    for (size_t i = 0; i < f->facts->n_agents; i++) {
        const char *remark = tacit_results_summary(f->results, i).remark;
        bool said = remark[0] == '\0';
        for (size_t j = 0; j < i && !said; j++)
            said = strcmp(remark, tacit_results_summary(f->results, j).remark) == 0;
        if (said)
            continue;
        (void)printf("note: %s (", remark);
        const char *between = "";
        for (size_t j = i; j < f->facts->n_agents; j++)
            if (strcmp(remark, tacit_results_summary(f->results, j).remark) == 0) {
                (void)printf("%s%s", between, f->facts->agents[j].label);
                between = ", ";
            }
        (void)puts(")");
    }
}

void cli_summary_print(const cli_findings *f)
{
    char heads[N_COLUMNS][CELL] = {"agent",        "guarantee", "regret",
                                   "late/episode", "switches",  "time"};
    char row[N_COLUMNS][CELL];
    size_t widths[N_COLUMNS];
    for (size_t c = 0; c < N_COLUMNS; c++)
        widths[c] = cli_columns(heads[c]);
    for (size_t i = 0; i < f->facts->n_agents; i++) {
        fill_row(f, i, row);
        for (size_t c = 0; c < N_COLUMNS; c++)
            widths[c] = cli_columns(row[c]) > widths[c] ? cli_columns(row[c]) : widths[c];
    }
    print_heading(f);
    print_row(heads, widths);
    for (size_t i = 0; i < f->facts->n_agents; i++) {
        fill_row(f, i, row);
        print_row(row, widths);
    }
    (void)puts(
        "\nregret: sum of (best - played) over the episodes, exact; mean over runs, standard "
        "error\nlate: regret per episode over the last tenth; time: processor time of a run");
    print_remarks(f);
}

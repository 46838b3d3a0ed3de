/* See cli/findings.h. */
#include "cli/findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/experiment_text.h"

tacit_status cli_findings_make(const tacit_entry *entry, const tacit_plan *plan, tacit_agent *agent,
                               const char *beside, cli_findings *out, tacit_error *err)
{
    TACIT__REQUIRE(entry != NULL && out != NULL);
    size_t report = 0;
    tacit_explanation *explanation = NULL;
    if (agent != NULL && entry->guarantee.model == TACIT_MODEL_LOCAL &&
        tacit_agent_report(agent, &(tacit_trajectory){0}, NULL, &report, NULL) != TACIT_OK)
        report = 0; /* this kind has no reports that travel */
    const char *kind = agent != NULL ? tacit_agent_kind_of(agent)->name : NULL;
    const tacit_explanation_request request = {.claim = entry->guarantee,
                                               .calibration = entry->calibration,
                                               .plan = plan,
                                               .kind = kind != NULL ? kind : entry->kind,
                                               .remark =
                                                   agent != NULL ? tacit_agent_remark(agent) : "",
                                               .outside = entry->outside,
                                               .baseline = entry->baseline,
                                               .report_bytes = report,
                                               .beside = beside,
                                               .agent = agent};
    tacit_status status = tacit_explanation_create(&request, &explanation, err);
    *out = (cli_findings){.entry = entry, .kind = kind, .explanation = explanation};
    return status;
}

/* --- Text ------------------------------------------------------------------------------------------ */

enum { NAME, DIMENSION, STEPS, SENSITIVITY, MECHANISM, COLUMN, SCALE, COST, N_CELLS, CELL = 48 };

static void fill_cells(const tacit_explained_release *line, char cells[N_CELLS][CELL])
{
    const tacit_release *r = &line->release;
    (void)snprintf(cells[NAME], CELL, "%s", r->name);
    (void)snprintf(cells[DIMENSION], CELL, "%zu", r->dimension);
    (void)snprintf(cells[STEPS], CELL, "%llu", (unsigned long long)r->steps);
    /* a norm in which nothing is declared is no zero */
    if (r->l1 > 0) {
        (void)snprintf(cells[SENSITIVITY], CELL, "%.4g, %.4g", r->l1, r->l2);
        (void)snprintf(cells[COLUMN], CELL, "%.4g, %.4g", r->column_l1, r->column_l2);
    } else {
        (void)snprintf(cells[SENSITIVITY], CELL, "-, %.4g", r->l2);
        (void)snprintf(cells[COLUMN], CELL, "-, %.4g", r->column_l2);
    }
    (void)snprintf(cells[MECHANISM], CELL, "%s", r->mechanism);
    (void)snprintf(cells[SCALE], CELL, "%.5g", line->scale);
    (void)snprintf(cells[COST], CELL, "%.4g", line->cost);
}

static void print_cells(char cells[N_CELLS][CELL], const size_t *widths)
{
    (void)fputs("              ", stdout);
    for (size_t c = 0; c < N_CELLS; c++) {
        int blank = (int)(widths[c] - cli_columns(cells[c]));
        if (c == NAME)
            (void)printf("%s%*s", cells[c], blank, "");
        else
            (void)printf("  %*s%s", blank, "", cells[c]);
    }
    (void)fputc('\n', stdout);
}

static void print_releases(const tacit_explanation *e)
{
    char heads[N_CELLS][CELL] = {"name",      "dimension",      "steps", "l1, l2",
                                 "mechanism", "columns l1, l2", "scale", "mu"};
    char cells[N_CELLS][CELL];
    size_t widths[N_CELLS];
    if (e->law != TACIT_LAW_GAUSSIAN)
        (void)snprintf(heads[COST], CELL, "epsilon");
    for (size_t c = 0; c < N_CELLS; c++)
        widths[c] = strlen(heads[c]);
    for (size_t i = 0; i < e->n_releases; i++) {
        fill_cells(&e->releases[i], cells);
        for (size_t c = 0; c < N_CELLS; c++)
            widths[c] = cli_columns(cells[c]) > widths[c] ? cli_columns(cells[c]) : widths[c];
    }
    (void)printf("  releases    with %s%s:\n", tacit_law_name(e->law),
                 e->law == TACIT_LAW_RESPONSE ? "s at random" : " noise");
    print_cells(heads, widths);
    for (size_t i = 0; i < e->n_releases; i++) {
        fill_cells(&e->releases[i], cells);
        print_cells(cells, widths);
    }
    for (size_t i = 0; i < e->n_releases; i++) {
        const tacit_release *r = &e->releases[i].release;
        char head[80];
        (void)snprintf(head, sizeof head, "              %.60s: ", r->name);
        cli_print_wrapped(head, e->releases[i].words);
        if (r->reason[0] != '\0')
            cli_print_wrapped("                because ", r->reason);
    }
}

/* name, printed, played, note; columns as wide as their longest cell */
static void print_plays(const tacit_explanation *e)
{
    static const char *const heads[] = {"", "printed", "played"};
    size_t widths[3] = {0, strlen(heads[1]), strlen(heads[2])};
    for (size_t i = 0; i < e->n_plays; i++) {
        const tacit_play *p = &e->plays[i];
        const size_t cells[] = {strlen(p->name), strlen(p->printed_words), strlen(p->played_words)};
        for (size_t c = 0; c < 3; c++)
            widths[c] = cells[c] > widths[c] ? cells[c] : widths[c];
    }
    if (e->n_plays > 0)
        (void)printf("  plays       %-*s  %*s  %*s\n", (int)widths[0], heads[0], (int)widths[1],
                     heads[1], (int)widths[2], heads[2]);
    for (size_t i = 0; i < e->n_plays; i++) {
        const tacit_play *p = &e->plays[i];
        const char *printed = p->printed_words[0] != '\0' ? p->printed_words : "-",
                   *played = p->played_words[0] != '\0' ? p->played_words : "-";
        const size_t used = 14 + widths[0] + widths[1] + widths[2] + 6;
        const bool fits = used + strlen(p->note) <= CLI_LINE;
        (void)printf("              %-*s  %*s  %*s%s%s\n", (int)widths[0], p->name, (int)widths[1],
                     printed, (int)widths[2], played, fits && p->note[0] != '\0' ? "  " : "",
                     fits ? p->note : "");
        if (!fits)
            cli_print_wrapped("                ", p->note);
    }
}

void cli_findings_print(const cli_findings *f)
{
    TACIT__REQUIRE(f->explanation != NULL);
    const tacit_explanation *e = f->explanation;
    char epsilon[32], kind[CLI_KIND_TEXT];
    (void)printf("%s (%s)\n", f->entry->label,
                 cli_kind_text(kind, sizeof kind, f->entry->kind, f->kind));
    if (f->space != NULL)
        cli_print_wrapped("  space       ", f->space);
    if (f->names != NULL)
        cli_print_wrapped("  names       ", f->names);
    if (f->log != NULL)
        (void)printf("  warm start  %s: its users are users of this budget\n", f->log);
    if (f->record != NULL)
        cli_print_wrapped("  record      ", f->record);
    if (e->verdict == TACIT_VERDICT_NOTHING) {
        (void)printf("  claims      nothing: %s\n", e->words);
    } else {
        (void)printf(
            "  claims      %s differential privacy, epsilon %g, delta %.4g%s; calibration %s\n",
            tacit_model_name(e->claim.model), e->claim.epsilon, e->claim.delta,
            e->claim.delta > 0 ? "" : " (pure)", tacit_calibration_name(e->calibration));
        cli_print_wrapped("  against     ", e->against);
        cli_print_wrapped("  neighbors   ", e->neighbors);
        print_releases(e);
        (void)printf("  accountant  epsilon %s at delta %.4g (method: %s)\n",
                     isinf(e->real.epsilon.high) ? "infinite"
                                                 : cli_rounded_up(epsilon, e->real.epsilon.high),
                     e->claim.delta, e->real.method);
        cli_print_wrapped("              ", e->composition);
        (void)printf("  two lives   epsilon %s at delta %.4g for a person who is in two "
                     "continuations of one saved state\n",
                     isinf(e->twice.epsilon.high) ? "infinite"
                                                  : cli_rounded_up(epsilon, e->twice.epsilon.high),
                     e->claim.delta);
        cli_print_wrapped("  so          ", e->words);
        if (e->paper[0] != '\0')
            cli_print_wrapped("  printed     ", e->paper);
        if (e->report[0] != '\0')
            cli_print_wrapped("  report      ", e->report);
    }
    print_plays(e);
    if (e->outside[0] != '\0')
        cli_print_wrapped("  outside     ", e->outside);
    if (e->remark[0] != '\0')
        cli_print_wrapped("  note        ", e->remark);
    (void)fputc('\n', stdout);
}

void cli_exceptions_print(void)
{
    (void)puts("Sensitivities are for replacing one user by another. l1, l2: how far that moves "
               "one step;\n"
               "columns: how these moves add up over the steps. Not covered by any of this:");
    for (size_t i = 0; tacit_explanation_exception(i) != NULL; i++)
        (void)printf("  - %s\n", tacit_explanation_exception(i));
}

/* --- JSON ------------------------------------------------------------------------------------------ */

void cli_put_exceptions(tacit__json_writer *to)
{
    tacit__json_begin_list(to, "not_covered");
    for (size_t i = 0; tacit_explanation_exception(i) != NULL; i++)
        tacit__json_put_string(to, NULL, tacit_explanation_exception(i));
    tacit__json_end(to);
}

static void put_releases(tacit__json_writer *to, const tacit_explanation *e)
{
    tacit__json_begin_list(to, "releases");
    for (size_t i = 0; i < e->n_releases; i++) {
        const tacit_release *r = &e->releases[i].release;
        tacit__json_begin_object(to, NULL);
        tacit__json_put_string(to, "name", r->name);
        tacit__json_put_count(to, "dimension", r->dimension);
        tacit__json_put_count(to, "steps", r->steps);
        tacit__json_put_real(to, "l1", r->l1);
        tacit__json_put_real(to, "l2", r->l2);
        tacit__json_put_string(to, "mechanism", r->mechanism);
        tacit__json_put_real(to, "column_l1", r->column_l1);
        tacit__json_put_real(to, "column_l2", r->column_l2);
        tacit__json_put_count(to, "visits", r->visits > 0 ? r->visits : 1);
        tacit__json_put_count(to, "apart", r->apart > 0 ? r->apart : 1);
        tacit__json_put_string(to, "law", tacit_law_name(e->law));
        tacit__json_put_real(to, "scale", e->releases[i].scale);
        tacit__json_put_string(to, "reason", r->reason);
        tacit__json_put_real(to, "cost", e->releases[i].cost);
        tacit__json_put_string(to, "words", e->releases[i].words);
        tacit__json_end(to);
    }
    tacit__json_end(to);
}

/* null where nothing is released */
static void put_composition(tacit__json_writer *to, const char *key, const tacit_explanation *e,
                            const tacit_composition *c)
{
    if (e->n_releases == 0) {
        tacit__json_put_null(to, key);
        return;
    }
    tacit__json_begin_object(to, key);
    tacit__json_put_real(to, "epsilon", c->epsilon.high);
    tacit__json_put_real(to, "epsilon_low", c->epsilon.low);
    tacit__json_put_real(to, "delta", c->delta.high);
    tacit__json_put_real(to, "mu", c->mu);
    tacit__json_put_real(to, "rho", c->rho);
    tacit__json_put_string(to, "method", c->method);
    tacit__json_end(to);
}

/* epsilon(delta) at a few deltas */
static void put_curve(tacit__json_writer *to, const tacit_explanation *e)
{
    tacit__json_begin_list(to, "curve");
    for (size_t i = 0; i < e->n_curve; i++) {
        tacit__json_begin_object(to, NULL);
        tacit__json_put_real(to, "delta", e->curve[i].delta);
        tacit__json_put_real(to, "epsilon", e->curve[i].epsilon);
        tacit__json_end(to);
    }
    tacit__json_end(to);
}

/* null unless the model is local */
static void put_report(tacit__json_writer *to, const tacit_explanation *e)
{
    if (e->report[0] == '\0') {
        tacit__json_put_null(to, "report");
        return;
    }
    tacit__json_begin_object(to, "report");
    tacit__json_put_count(to, "bytes", e->report_bytes);
    tacit__json_put_string(to, "words", e->report);
    tacit__json_end(to);
}

/* A number, a text, or null where nothing is printed. */
static void put_constant(tacit__json_writer *to, const char *key, double number, const char *words)
{
    if (!isnan(number))
        tacit__json_put_real(to, key, number);
    else
        tacit__json_put_string(to, key, words[0] != '\0' ? words : NULL);
}

static void put_plays(tacit__json_writer *to, const tacit_explanation *e)
{
    tacit__json_begin_list(to, "plays");
    for (size_t i = 0; i < e->n_plays; i++) {
        const tacit_play *p = &e->plays[i];
        tacit__json_begin_object(to, NULL);
        tacit__json_put_string(to, "name", p->name);
        put_constant(to, "printed", p->printed, p->printed_words);
        put_constant(to, "played", p->played, p->played_words);
        tacit__json_put_string(to, "note", p->note);
        tacit__json_end(to);
    }
    tacit__json_end(to);
}

void cli_put_findings(tacit__json_writer *to, const cli_findings *f)
{
    TACIT__REQUIRE(f->explanation != NULL);
    const tacit_explanation *e = f->explanation;
    tacit__json_put_string(to, "label", f->entry->label);
    cli_put_kind(to, f->entry->kind, f->kind);
    cli_put_guarantee(to, f->entry);
    put_releases(to, e);
    put_composition(to, "accountant", e, &e->real);
    put_composition(to, "two_lives", e, &e->twice);
    tacit__json_put_string(to, "verdict", tacit_verdict_name(e->verdict));
    tacit__json_put_string(to, "words", e->words);
    tacit__json_put_string(to, "composition", e->composition);
    put_curve(to, e);
    tacit__json_put_string(to, "printed", e->paper);
    put_report(to, e);
    put_plays(to, e);
    tacit__json_put_string(to, "against", e->against);
    tacit__json_put_string(to, "neighbors", e->neighbors);
    tacit__json_put_string(to, "remark", e->remark);
    tacit__json_put_string(to, "outside", e->outside[0] != '\0' ? "clip" : "refuse");
}

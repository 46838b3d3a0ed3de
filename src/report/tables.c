/* The table of results for papers (LaTeX), for other programs (CSV) and for other texts (Markdown).
 *
 * CSV has every number with all its digits. The other two have what a reader compares: the guarantee, the
 * mean with half of its 95 % confidence interval, the share of what the best policy earns, and whether the
 * agent learned. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "report/figure.h"
#include "report/render.h"
#include "report/write.h"

/* A row: an agent in a world. */
typedef struct row {
    const tacit__report *r;
    const tacit__report_world *world;
    const tacit__report_agent *agent;
    const tacit__report_outcome *outcome;
} row;

static double share_of(const row *w)
{
    return w->world->has_share
               ? w->outcome->regret / (w->world->optimal_value * (double)w->r->episodes)
               : (double)NAN;
}

static bool is_judged(const row *w)
{
    return !w->agent->entry->baseline && w->world->bar.what != NULL && w->outcome->n_runs > 0;
}

static const char *verdict_of(const row *w)
{
    static const char *const words[] = {"", "yes", "not proved", "no"};
    return w->outcome->promise != NULL ? words[w->outcome->promise->verdict] : "";
}

/* --- CSV ----------------------------------------------------------------------------------------- */

static const char csv_head[] =
    "world,agent,kind,model,epsilon,delta,calibration,guarantee_holds,runs,episodes,regret,"
    "standard_error,ci95_low,ci95_high,share_of_best,late_regret,switches,seconds,learned,"
    "runs_not_learned,"
    "estimated_reward,reward_error,self_normalized,self_normalized_error,inverse_propensities,"
    "inverse_propensities_error,effective_users,lift_over_log,lift_over_log_error,"
    "lift_over_constant,lift_over_constant_error\n";

/* [RFC 4180] */
static void put_field(tacit__text *to, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    tacit__text_put(to, quoted ? "\"" : "");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            tacit__text_put(to, "\"");
        tacit__text_add(to, text, 1);
    }
    tacit__text_put(to, quoted ? "\"," : ",");
}

static void put_real(tacit__text *to, double x)
{
    tacit__write_exact(to, x);
    tacit__text_put(to, ",");
}

/* Regret is not known in a log, and rewards are not estimated elsewhere: such fields are empty. */
static void put_estimate(tacit__text *to, const tacit_estimate *e)
{
    const double numbers[] = {e->doubly_robust,
                              e->doubly_robust_error,
                              e->self_normalized,
                              e->self_normalized_error,
                              e->ips,
                              e->ips_error,
                              e->effective,
                              e->lift_logging,
                              e->lift_logging_error,
                              e->lift_constant,
                              e->lift_constant_error};
    enum { N = sizeof numbers / sizeof *numbers };
    for (size_t i = 0; i < N; i++) {
        tacit__write_exact(to, e->known ? numbers[i] : (double)NAN);
        tacit__text_put(to, i + 1 < N ? "," : "\n");
    }
}

static void put_csv_row(tacit__text *to, const row *w)
{
    const tacit_entry *e = w->agent->entry;
    const bool private = e->guarantee.model != TACIT_MODEL_NONE;
    put_field(to, w->world->name);
    put_field(to, e->label);
    put_field(to, w->outcome->kind);
    put_field(to, tacit_model_name(e->guarantee.model));
    put_real(to, private ? e->guarantee.epsilon : (double)NAN);
    put_real(to, private ? e->guarantee.delta : (double)NAN);
    put_field(to, private ? tacit_calibration_name(e->calibration) : "");
    put_field(to, private ? verdict_of(w) : "");
    tacit__text_print(to, "%llu,%llu,", (unsigned long long)w->outcome->n_runs,
                      (unsigned long long)w->r->episodes);
    const double known = w->world->logged ? (double)NAN : 0;
    put_real(to, w->outcome->regret + known);
    put_real(to, w->outcome->error + known);
    put_real(to, w->outcome->regret - w->outcome->half + known);
    put_real(to, w->outcome->regret + w->outcome->half + known);
    put_real(to, share_of(w));
    put_real(to, w->outcome->late + known);
    put_real(to, w->outcome->switches);
    put_real(to, w->outcome->seconds);
    put_field(to, !is_judged(w) ? "" : w->outcome->flagged ? "no" : "yes");
    put_real(to, is_judged(w) ? (double)w->outcome->n_not_learned : (double)NAN);
    put_estimate(to, &w->outcome->estimate);
}

/* --- LaTeX and Markdown -------------------------------------------------------------------------- */

/* A power of ten, "10⁻⁶" or "×10⁻⁶", as mathematics; returns how long it is in `text`, 0 if there is
 * none. */
static size_t put_power(tacit__text *to, const char *text)
{
    static const char *const signs[] = {"⁻", "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    enum { N = sizeof signs / sizeof *signs };
    const size_t times = strncmp(text, "×", strlen("×")) == 0 ? strlen("×") : 0;
    const char *p = text + times + 2;
    if (strncmp(text + times, "10", 2) != 0)
        return 0;
    for (bool first = true;; first = false) {
        size_t i = 0;
        while (i < N && strncmp(p, signs[i], strlen(signs[i])) != 0)
            i++;
        if (i == N && first)
            return 0;
        if (first)
            tacit__text_print(to, "$%s10^{", times > 0 ? "\\times " : "");
        if (i == N)
            break;
        tacit__text_print(to, "%c", i == 0 ? '-' : (char)('0' + i - 1));
        p += strlen(signs[i]);
    }
    tacit__text_put(to, "}$");
    return (size_t)(p - text);
}

/* Writes the label by which \ref finds the table: "tab:riverswim-6", of the letters and digits of a
 * name. */
static void put_label(tacit__text *to, const char *name)
{
    bool gap = false;
    tacit__text_put(to, "\\label{tab:");
    for (; *name != '\0'; name++) {
        const bool kept = isalnum((unsigned char)*name) != 0;
        if (kept)
            tacit__text_print(to, "%s%c", gap ? "-" : "", tolower((unsigned char)*name));
        gap = !kept;
    }
    tacit__text_put(to, "}\n");
}

/* Text for LaTeX: what it gives a meaning is escaped; Greek letters of ours are mathematics. */
static void put_tex(tacit__text *to, const char *text)
{
    static const struct {
        const char *plain, *tex;
    } signs[] = {{"\\", "\\textbackslash{}"},
                 {"&", "\\&"},
                 {"%", "\\%"},
                 {"$", "\\$"},
                 {"#", "\\#"},
                 {"_", "\\_"},
                 {"{", "\\{"},
                 {"}", "\\}"},
                 {"~", "\\textasciitilde{}"},
                 {"^", "\\textasciicircum{}"},
                 {"<", "$<$"},
                 {">", "$>$"},
                 {"ε", "$\\varepsilon$"},
                 {"δ", "$\\delta$"},
                 {"±", "$\\pm$"},
                 {"×", "$\\times$"},
                 {"−", "$-$"},
                 {"∞", "$\\infty$"},
                 {"–", "--"},
                 {"…", "\\dots{}"},
                 {"\xc2\xa0", "~"}};
    enum { N = sizeof signs / sizeof *signs };
    for (const char *p = text; *p != '\0';) {
        size_t i = 0, n = put_power(to, p);
        if (n > 0) {
            p += n;
            continue;
        }
        n = 1;
        while (i < N && strncmp(p, signs[i].plain, strlen(signs[i].plain)) != 0)
            i++;
        if (i < N) {
            tacit__text_put(to, signs[i].tex);
            n = strlen(signs[i].plain);
        } else {
            tacit__text_add(to, p, 1);
        }
        p += n;
    }
}

/* A table cell: a bar would begin another one. */
static void put_md(tacit__text *to, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\|`*_<>[]", *text) != NULL)
            tacit__text_put(to, "\\");
        tacit__text_add(to, text, 1);
    }
}

static void put_cell(tacit__text *to, bool tex, const char *text)
{
    if (tex)
        put_tex(to, text);
    else
        put_md(to, text);
    tacit__text_put(to, tex ? " & " : " | ");
}

/* "joint, ε = 1, δ = 0.0001" */
static void put_guarantee(tacit__text *to, bool tex, const row *w)
{
    const tacit_entry *e = w->agent->entry;
    char epsilon[TACIT__NUMBER], delta[TACIT__NUMBER];
    tacit__text cell = {0};
    tacit__text_put(&cell, tacit_model_name(e->guarantee.model));
    if (e->guarantee.model != TACIT_MODEL_NONE) {
        tacit__text_print(&cell, ", ε = %s", tacit__number(epsilon, e->guarantee.epsilon, 4));
        if (e->guarantee.delta > 0)
            tacit__text_print(&cell, ", δ = %s", tacit__number(delta, e->guarantee.delta, 2));
        if (e->calibration != TACIT_CALIBRATION_TIGHT)
            tacit__text_print(&cell, ", %s", tacit_calibration_name(e->calibration));
        if (w->outcome->promise != NULL && w->outcome->promise->verdict == TACIT_VERDICT_FAILS)
            tacit__text_put(&cell, " (does not hold)");
    }
    to->failed = to->failed || cell.failed;
    put_cell(to, tex, cell.data != NULL ? cell.data : "");
    tacit__text_destroy(&cell);
}

/* "9 of 10", the runs; and the end of the row. */
static void put_learned(tacit__text *to, bool tex, const row *w)
{
    if (is_judged(w))
        tacit__text_print(to, "%llu of %llu",
                          (unsigned long long)(w->outcome->n_runs - w->outcome->n_not_learned),
                          (unsigned long long)w->outcome->n_runs);
    else
        tacit__text_put(to, tex ? "--" : "–");
    tacit__text_put(to, tex ? " \\\\\n" : " |\n");
}

static void put_row(tacit__text *to, bool tex, const row *w)
{
    char number[TACIT__NUMBER];
    const tacit_estimate *e = &w->outcome->estimate;
    const double limit = 1.959963984540054; /* normal, 97.5 % */
    tacit__text_put(to, tex ? "" : "| ");
    put_cell(to, tex, w->agent->entry->label);
    put_guarantee(to, tex, w);
    if (w->world->logged) {
        put_cell(to, tex, tacit__mean(number, e->doubly_robust, limit * e->doubly_robust_error));
        put_cell(to, tex, tacit__mean(number, e->lift_logging, limit * e->lift_logging_error));
        put_cell(to, tex, tacit__mean(number, e->lift_constant, limit * e->lift_constant_error));
        put_cell(to, tex, tacit__count(number, (uint64_t)llround(e->effective)));
        put_learned(to, tex, w);
        return;
    }
    put_cell(to, tex, tacit__mean(number, w->outcome->regret, w->outcome->half));
    if (w->world->has_share)
        put_cell(to, tex, w->outcome->n_runs > 0 ? tacit__percent(number, share_of(w)) : "–");
    put_cell(to, tex, tacit__number(number, w->outcome->late, 3));
    put_learned(to, tex, w);
}

static void put_world(tacit__text *to, bool tex, const tacit__report *r,
                      const tacit__report_world *s)
{
    char users[TACIT__NUMBER];
    tacit__text_put(to, tex ? "% " : "**");
    if (tex)
        tacit__text_put(to, "needs \\usepackage{booktabs}\n\\begin{table}\n\\caption{");
    if (tex)
        put_tex(to, s->name);
    else
        put_md(to, s->name);
    tacit__text_print(to, "%s: %s %s users, ", tex ? "" : "**",
                      s->logged ? "mean reward per user, estimated (doubly robust) from a log of"
                                : "regret after",
                      tacit__count(users, r->episodes));
    tacit__text_print(to, "%s half of its 95%s confidence interval, %llu run%s.%s\n",
                      tex ? "$\\pm$" : "±", tex ? "\\,\\%" : " %", (unsigned long long)r->runs,
                      r->runs == 1 ? "" : "s", tex ? "}" : "\n");
    if (tex)
        put_label(to, s->name);
    const char *columns = s->logged      ? "reward | over the log | over constant | effective users"
                          : s->has_share ? "regret | of best | late"
                                         : "regret | late";
    size_t n = 1;
    for (const char *c = columns; *c != '\0'; c++)
        n += *c == '|';
    tacit__text_put(to, tex ? "\\begin{tabular}{ll" : "| agent | guarantee | ");
    for (size_t i = 0; tex && i < n; i++)
        tacit__text_put(to, "r");
    if (tex)
        tacit__text_put(to, "l}\n\\toprule\nagent & guarantee & ");
    for (const char *c = columns; *c != '\0'; c++)
        tacit__text_add(to, tex && *c == '|' ? "&" : c, 1);
    tacit__text_put(to, tex ? " & learned \\\\\n\\midrule\n" : " | learned |\n|---|---|");
    for (size_t i = 0; !tex && i < n; i++)
        tacit__text_put(to, "--:|");
    tacit__text_put(to, tex ? "" : "---|\n");
}

/* --- All of it ----------------------------------------------------------------------------------- */

static void put_all(tacit__text *to, const tacit__report *r, const tacit_table_options *o)
{
    const bool csv = o->format == TACIT_TABLE_CSV, tex = o->format == TACIT_TABLE_TEX;
    const size_t n = o->agents != NULL ? o->n_agents : r->n_agents;
    if (csv)
        tacit__text_put(to, csv_head);
    for (size_t w = 0; w < r->n_worlds; w++) {
        const tacit__report_world *s = &r->worlds[w];
        if (o->world != SIZE_MAX && o->world != w)
            continue;
        if (!csv)
            put_world(to, tex, r, s);
        for (size_t k = 0; k < n; k++) {
            const size_t i = o->agents != NULL ? o->agents[k] : k;
            const row one = {r, s, &r->agents[i], &s->outcomes[i]};
            if (!s->outcomes[i].plays)
                continue;
            if (csv)
                put_csv_row(to, &one);
            else
                put_row(to, tex, &one);
        }
        tacit__text_put(to, tex ? "\\bottomrule\n\\end{tabular}\n\\end{table}\n" : csv ? "" : "\n");
    }
}

tacit_status tacit_report_table(const tacit_results *results, const tacit_table_options *options,
                                char **out, size_t *size, tacit_error *err)
{
    if (results == NULL || options == NULL || out == NULL || size == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__report r;
    tacit__text text = {0};
    TRY(tacit__report_fill(results, &r, err));
    const size_t world = options->world != SIZE_MAX ? options->world : 0; /* all */
    tacit_status status = tacit__report_check(&r, world, options->agents, options->n_agents, err);
    if (status == TACIT_OK)
        put_all(&text, &r, options);
    tacit__report_empty(&r);
    if (status == TACIT_OK && text.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK) {
        *out = text.data;
        *size = text.length;
    } else {
        tacit__text_destroy(&text);
    }
    return status;
}

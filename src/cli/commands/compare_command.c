/* tacit compare: differences of regret between experiments, or between the agents of one, with intervals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/report.h>

#include "cli/cli.h"
#include "cli/experiment_text.h"
#include "cli/options.h"
#include "cli/print_json.h"

typedef struct compare_options {
    const char *file, *reference;
    bool json;
} compare_options;

static const tacit__field option_fields[] = {
    {"output", TACIT__FIELD_TEXT, offsetof(compare_options, file), .low = 1, .expected = "a file",
     .letter = 'o', .value = "FILE", .help = "also write a page"},
    {"to", TACIT__FIELD_TEXT, offsetof(compare_options, reference), .low = 1,
     .expected = "the label of an agent", .value = "LABEL",
     .help = "with one DIR: the agent to compare with (default: the first learner)"},
    {"json", TACIT__FIELD_FLAG, offsetof(compare_options, json),
     .help = "print JSON instead of a table"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit compare DIR DIR... [-o FILE.html] [--json]\n"
    "       tacit compare DIR [--to LABEL] [-o FILE.html] [--json]\n"
    "\n"
    "Compares results that tacit run has written. With several directories: agents of the same\n"
    "label, each of the others with the first. With one: its agents with one of them. Runs over\n"
    "the same people (same seed, same world) are compared one by one, which makes the intervals\n"
    "small.\n"
    "\n",
    "\n"
    "examples:\n"
    "  tacit compare before after\n"
    "  tacit compare river --to 'joint eps 1' -o river.html\n",
    option_fields};

static const char *verdict(const tacit_difference *d)
{
    if (isnan(d->low))
        return "one run only";
    if (d->low == 0 && d->high == 0)
        return "equal";
    return d->high < 0 ? "better" : d->low > 0 ? "worse" : "not significant";
}

static const char *number_text(char out[32], double x)
{
    (void)snprintf(out, 32, fabs(x) >= 1000 && fabs(x) < 1e9 ? "%.0f" : "%.4g", x);
    return out;
}

static void print_number(double x)
{
    char text[32];
    (void)printf("%12s", number_text(text, x));
}

static void print_table(const tacit_comparison *c, char *const *names, size_t n_names)
{
    size_t width = 5;
    for (size_t i = 0; i < tacit_comparison_size(c); i++) {
        const size_t n = cli_columns(tacit_comparison_at(c, i)->agent);
        width = n > width ? n : width;
    }
    const tacit_difference *before = NULL;
    for (size_t i = 0; i < tacit_comparison_size(c); i++) {
        const tacit_difference *d = tacit_comparison_at(c, i);
        if (before == NULL || before->which != d->which || strcmp(before->world, d->world) != 0) {
            (void)printf("%s%s: ", i > 0 ? "\n" : "", d->world);
            if (n_names > 1)
                (void)printf("%s compared with %s\n", names[d->which], names[0]);
            else
                (void)printf("compared with %s\n", d->reference);
            cli_print_padded("agent", width);
            (void)printf("%12s%12s%12s%28s  runs\n", "reference", "regret", "difference",
                         "95 % interval");
        }
        cli_print_padded(d->agent, width);
        print_number(d->reference_mean);
        print_number(d->mean);
        print_number(d->difference);
        char interval[72] = "-", low[32], high[32];
        if (!isnan(d->low))
            (void)snprintf(interval, sizeof interval, "%s to %s", number_text(low, d->low),
                           number_text(high, d->high));
        (void)printf("%28s  %llu%s  %s", interval, (unsigned long long)d->runs,
                     d->paired ? "" : " (not paired)", verdict(d));
        if (d->runs_not_learned > 0)
            (void)printf("; %llu did not learn", (unsigned long long)d->runs_not_learned);
        (void)puts("");
        before = d;
    }
    (void)puts("\nlower regret is better; intervals are 95 % confidence intervals of "
               "the mean\ndifference (Student's t), each by itself");
    for (size_t i = 0; tacit_comparison_note(c, i) != NULL; i++)
        (void)printf("note: %s\n", tacit_comparison_note(c, i));
}

static int print_comparison_json(const tacit_comparison *c, char *const *names)
{
    tacit__json_writer to = CLI_JSON_INIT;
    tacit__json_begin_object(&to, NULL);
    tacit__json_begin_list(&to, "differences");
    for (size_t i = 0; i < tacit_comparison_size(c); i++) {
        const tacit_difference *d = tacit_comparison_at(c, i);
        tacit__json_begin_object(&to, NULL);
        tacit__json_put_string(&to, "results", names[d->which]);
        tacit__json_put_string(&to, "world", d->world);
        tacit__json_put_string(&to, "agent", d->agent);
        tacit__json_put_string(&to, "reference", d->reference);
        tacit__json_put_count(&to, "runs", d->runs);
        tacit__json_put_count(&to, "runs_not_learned", d->runs_not_learned);
        tacit__json_put_flag(&to, "paired", d->paired);
        tacit__json_put_real(&to, "reference_regret", d->reference_mean);
        tacit__json_put_real(&to, "regret", d->mean);
        tacit__json_put_real(&to, "difference", d->difference);
        tacit__json_put_real(&to, "low", d->low);
        tacit__json_put_real(&to, "high", d->high);
        tacit__json_put_string(&to, "verdict", verdict(d));
        tacit__json_end(&to);
    }
    tacit__json_end(&to);
    tacit__json_begin_list(&to, "notes");
    for (size_t i = 0; tacit_comparison_note(c, i) != NULL; i++)
        tacit__json_put_string(&to, NULL, tacit_comparison_note(c, i));
    tacit__json_end(&to);
    tacit__json_end(&to);
    return cli_print_json(&to);
}

static int compare(const compare_options *o, const tacit_results *const *results,
                   char *const *names, size_t n)
{
    tacit_error err = {0};
    tacit_comparison *c = NULL;
    tacit_status status = tacit_comparison_create(results, n, o->reference, &c, &err);
    if (status == TACIT_OK && o->file != NULL)
        status = tacit_comparison_write(c, (const char *const *)names, o->file, &err);
    if (status != TACIT_OK) {
        tacit_comparison_destroy(c);
        return cli_failed(status, &err);
    }
    int code = CLI_DONE;
    if (o->json)
        code = print_comparison_json(c, names);
    else
        print_table(c, names, n);
    if (o->file != NULL && !o->json)
        (void)printf("written: %s\n", o->file);
    tacit_comparison_destroy(c);
    return code;
}

int cli_compare(int argc, char **argv)
{
    compare_options o = {0};
    int code = cli_read_options(argc, argv, &form, &o, NULL);
    if (code != CLI_DONE)
        return code;
    const size_t n = (size_t)(argc - optind);
    char *const *names = argv + optind;
    if (n == 0)
        return cli_wrong("no results are given, expected directories that tacit run wrote to; see "
                         "tacit compare --help");
    if (n > 1 && o.reference != NULL)
        return cli_wrong("--to is about one directory; with several, agents of the same label are "
                         "compared");
    tacit_results **results = calloc(n, sizeof(void *));
    if (results == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        tacit_error err = {0};
        tacit_status status = tacit_results_open(names[i], &results[i], &err);
        if (status != TACIT_OK)
            code = cli_failed(status, &err);
    }
    if (code == CLI_DONE)
        code = compare(&o, (const tacit_results *const *)results, names, n);
    for (size_t i = 0; i < n; i++)
        tacit_results_destroy(results[i]);
    free(results);
    return code;
}

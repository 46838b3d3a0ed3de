/* tacit list: lists the results in directories and directly below them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tacit/lab.h>

#include "cli/cli.h"
#include "cli/experiment_text.h"
#include "cli/options.h"
#include "cli/print_json.h"

typedef struct list_options {
    bool all, json;
} list_options;

static const tacit__field option_fields[] = {
    {"agents", TACIT__FIELD_FLAG, offsetof(list_options, all), .letter = 'a',
     .help = "also the agents, with their guarantees and mean regret"},
    {"json", TACIT__FIELD_FLAG, offsetof(list_options, json),
     .help = "print JSON instead of lines"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit list [DIR...] [--agents] [--json]\n"
    "\n"
    "Lists results that tacit run has written: those in DIR, or in the directories directly\n"
    "below it (default: this directory).\n"
    "\n",
    "\n"
    "example:\n"
    "  tacit list --agents /tmp/river\n",
    option_fields};

static bool has_results(const char *directory)
{
    struct stat about;
    char *path = cli_report_path(directory, "results.db");
    bool found = path != NULL && stat(path, &about) == 0 && S_ISREG(about.st_mode);
    free(path);
    return found;
}

/* --- One set of results -------------------------------------------------------------------------- */

static uint64_t count_done(const tacit_results *results)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    uint64_t n = 0;
    for (size_t w = 0; w < facts->n_worlds; w++)
        for (size_t i = 0; i < facts->n_agents; i++)
            n += tacit_results_summary(results, w, i).runs;
    return n;
}

static void print_agents(const tacit_results *results)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    char guarantee[128];
    for (size_t w = 0; w < facts->n_worlds; w++) {
        (void)printf("  %s\n", facts->worlds[w].label);
        for (size_t i = 0; i < facts->n_agents; i++) {
            const tacit_summary s = tacit_results_summary(results, w, i);
            if (tacit_results_job(results, w, i, 0) == NULL)
                continue;
            (void)fputs("    ", stdout);
            cli_print_padded(facts->agents[i].label, 32);
            (void)putchar(' ');
            cli_print_padded(cli_guarantee_text(guarantee, sizeof guarantee, &facts->agents[i]),
                             24);
            (void)printf(" %llu of %llu runs", (unsigned long long)s.runs,
                         (unsigned long long)facts->runs);
            if (s.runs > 0)
                (void)printf(", regret %.4g", s.regret_mean);
            if (s.runs_not_learned > 0)
                (void)printf(", %llu did not learn", (unsigned long long)s.runs_not_learned);
            (void)puts("");
        }
    }
}

static void put_results(tacit__json_writer *to, const char *directory, const tacit_results *results)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "directory", directory);
    tacit__json_put_string(to, "title", facts->title);
    tacit__json_put_string(to, "file", facts->file);
    tacit__json_put_string(to, "version", tacit_results_version(results));
    tacit__json_put_count(to, "episodes", facts->episodes);
    tacit__json_put_count(to, "runs", facts->runs);
    tacit__json_put_count(to, "seed", facts->seed);
    tacit__json_put_count(to, "jobs", facts->n_jobs);
    tacit__json_put_count(to, "finished", count_done(results));
    tacit__json_begin_list(to, "worlds");
    for (size_t w = 0; w < facts->n_worlds; w++)
        tacit__json_put_string(to, NULL, facts->worlds[w].label);
    tacit__json_end(to);
    tacit__json_begin_list(to, "agents");
    for (size_t i = 0; i < facts->n_agents; i++)
        tacit__json_put_string(to, NULL, facts->agents[i].label);
    tacit__json_end(to);
    tacit__json_end(to);
}

static int list_one(const list_options *o, const char *directory, tacit__json_writer *to)
{
    tacit_results *results = NULL;
    tacit_error err = {0};
    tacit_status status = tacit_results_open(directory, &results, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    if (o->json) {
        put_results(to, directory, results);
    } else {
        cli_print_padded(directory, 24);
        (void)printf("  %s: %zu world%s, %zu agents, %llu episodes, %llu runs, seed %llu; ",
                     facts->title, facts->n_worlds, facts->n_worlds == 1 ? "" : "s",
                     facts->n_agents, (unsigned long long)facts->episodes,
                     (unsigned long long)facts->runs, (unsigned long long)facts->seed);
        if (tacit_results_complete(results))
            (void)puts("finished");
        else
            (void)printf("%llu of %llu jobs finished\n", (unsigned long long)count_done(results),
                         (unsigned long long)facts->n_jobs);
        if (o->all)
            print_agents(results);
    }
    tacit_results_destroy(results);
    return CLI_DONE;
}

/* --- Directories --------------------------------------------------------------------------------- */

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The directory itself, or those below it, by name. */
static int list_directory(const list_options *o, const char *directory, tacit__json_writer *to,
                          size_t *n)
{
    struct dirent **entries = NULL;
    if (has_results(directory)) {
        ++*n;
        return list_one(o, directory, to);
    }
    int found = scandir(directory, &entries, is_visible, alphasort), code = CLI_DONE;
    if (found < 0)
        return cli_wrong("'%s' is not a readable directory", directory);
    for (int i = 0; i < found; i++) {
        char *path = strcmp(directory, ".") == 0 ? strdup(entries[i]->d_name)
                                                 : cli_report_path(directory, entries[i]->d_name);
        if (path == NULL) {
            code = cli_failed(TACIT_NO_MEMORY, NULL);
        } else if (has_results(path)) {
            int one = list_one(o, path, to); /* the others are listed all the same */
            code = one != CLI_DONE ? one : code;
            ++*n;
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

int cli_list_results(int argc, char **argv)
{
    list_options o = {0};
    int code = cli_read_options(argc, argv, &form, &o, NULL);
    if (code != CLI_DONE)
        return code;
    tacit__json_writer to = CLI_JSON_INIT;
    size_t n = 0;
    if (o.json)
        tacit__json_begin_list(&to, NULL);
    for (int i = optind; i < argc || i == optind; i++) {
        int one = list_directory(&o, i < argc ? argv[i] : ".", &to, &n);
        code = one != CLI_DONE ? one : code;
    }
    if (o.json) {
        tacit__json_end(&to);
        int printed = cli_print_json(&to);
        code = printed != CLI_DONE ? printed : code;
    } else if (n == 0 && code == CLI_DONE) {
        (void)puts("no results here; tacit run FILE.yaml writes some");
    }
    return code;
}

/* See cli/kinds.h. */
#include "cli/kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/experiment_text.h"
#include "cli/plugins.h"
#include "cli/print_json.h"
#include "text/nearest.h"

enum { MAX_NAMES = 128, LINE = 100 };

typedef struct list_options {
    bool json;
    cli_plugins plugins;
} list_options;

static const tacit__field option_fields[] = {
    CLI_LOAD_OPTION(offsetof(list_options, plugins)),
    {"json", TACIT__FIELD_FLAG, offsetof(list_options, json),
     .help = "one JSON document: name, help, source, parameters and, for agents, models"},
    {.name = NULL}};

static const char *type_name(tacit_parameter_type type)
{
    switch (type) {
    case TACIT_PARAMETER_INTEGER:
        return "integer";
    case TACIT_PARAMETER_REAL:
        return "real";
    case TACIT_PARAMETER_FLAG:
        return "flag";
    case TACIT_PARAMETER_FILE:
        return "file";
    case TACIT_PARAMETER_TEXT:
        break;
    }
    return "text";
}

static bool has_range(const tacit_parameter *p)
{
    return (p->type == TACIT_PARAMETER_INTEGER || p->type == TACIT_PARAMETER_REAL) &&
           isfinite(p->low) && isfinite(p->high);
}

static const struct {
    unsigned bit;
    const char *name;
} models[] = {{TACIT_AGENT_NONE, "none"},
              {TACIT_AGENT_JOINT_PURE, "joint with delta 0"},
              {TACIT_AGENT_JOINT, "joint with delta > 0"},
              {TACIT_AGENT_LOCAL_PURE, "local with delta 0"},
              {TACIT_AGENT_LOCAL, "local with delta > 0"}};
enum { N_MODELS = sizeof models / sizeof *models };

static void put_parameter(tacit__json_writer *to, const tacit_parameter *p)
{
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "name", p->name);
    tacit__json_put_string(to, "type", type_name(p->type));
    tacit__json_put_string(to, "default", p->fallback);
    tacit__json_put_real(to, "low", has_range(p) ? p->low : (double)NAN);
    tacit__json_put_real(to, "high", has_range(p) ? p->high : (double)NAN);
    tacit__json_put_string(to, "help", p->help);
    tacit__json_end(to);
}

static void put_kind(tacit__json_writer *to, const cli_kind *kind)
{
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "name", kind->name);
    tacit__json_put_string(to, "help", kind->help);
    tacit__json_put_string(to, "source", kind->source);
    tacit__json_begin_list(to, "parameters");
    for (size_t i = 0; i < kind->n_parameters; i++)
        put_parameter(to, &kind->parameters[i]);
    tacit__json_end(to);
    if (kind->models != 0) {
        tacit__json_begin_list(to, "models");
        for (size_t i = 0; i < N_MODELS; i++)
            if ((kind->models & models[i].bit) != 0)
                tacit__json_put_string(to, NULL, models[i].name);
        tacit__json_end(to);
        tacit__json_put_flag(to, "returning", kind->returning);
    }
    tacit__json_end(to);
}

static void print_parameter(const tacit_parameter *p)
{
    char low[32], high[32], head[64], text[1200];
    (void)snprintf(head, sizeof head, "    %-14s ", p->name);
    size_t n = (size_t)snprintf(text, sizeof text, "%.1000s", p->help);
    if (p->fallback == NULL)
        n += (size_t)snprintf(text + n, sizeof text - n, "; must be given");
    else if (p->fallback[0] != '\0')
        n += (size_t)snprintf(text + n, sizeof text - n, "; default %.60s", p->fallback);
    if (has_range(p))
        (void)snprintf(text + n, sizeof text - n, "; %s to %s", cli_shortest(low, p->low),
                       cli_shortest(high, p->high));
    cli_print_wrapped(head, text);
}

static void print_kind(const cli_kind *kind)
{
    (void)puts(kind->name);
    cli_print_wrapped("    ", kind->help);
    cli_print_wrapped("    from: ", kind->source);
    const char *between = "    privacy: ";
    for (size_t i = 0; i < N_MODELS; i++)
        if ((kind->models & models[i].bit) != 0) {
            (void)printf("%s%s", between, models[i].name);
            between = ", ";
        }
    if (kind->models != 0)
        (void)fputc('\n', stdout);
    if (kind->models > TACIT_AGENT_NONE)
        cli_print_wrapped("    ",
                          kind->returning
                              ? "people may come back: privacy takes visits and apart"
                              : "each person comes once: its sensitivities are those of one visit");
    for (size_t i = 0; i < kind->n_parameters; i++)
        print_parameter(&kind->parameters[i]);
}

/* "lin-ucb, gp-ucb": the kinds with the word in their name, help or source; false: none. */
static bool find_all(const cli_catalog *c, const char *word, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < c->count() && used < size; i++) {
        const cli_kind kind = c->at(i);
        if (tacit__is_about(word, kind.name, kind.help, kind.source))
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", kind.name);
    }
    return used > 0;
}

static int fail_name(const cli_catalog *c, const char *name)
{
    const char *names[MAX_NAMES] = {NULL};
    for (size_t i = 0; i < c->count() && i < MAX_NAMES; i++)
        names[i] = c->at(i).name;
    char found[200];
    if (find_all(c, name, found, sizeof found))
        return cli_wrong("no %s is called '%s'; these have it in their name or description: %s",
                         c->noun, name, found);
    char hint[TACIT__SUGGESTION], where[64];
    (void)snprintf(where, sizeof where, "; tacit %s lists them", c->command);
    return cli_wrong("no %s is called '%s'%s", c->noun, name,
                     tacit__suggest(name, names, MAX_NAMES, where, hint));
}

static int print_json_list(const cli_catalog *c)
{
    tacit__json_writer out = CLI_JSON_INIT;
    tacit__json_begin_list(&out, NULL);
    for (size_t i = 0; i < c->count(); i++) {
        cli_kind kind = c->at(i);
        put_kind(&out, &kind);
    }
    tacit__json_end(&out);
    return cli_print_json(&out);
}

static int print_one(const cli_catalog *c, const char *name, bool json)
{
    for (size_t i = 0; i < c->count(); i++) {
        cli_kind kind = c->at(i);
        if (strcmp(kind.name, name) != 0)
            continue;
        if (json) {
            tacit__json_writer out = CLI_JSON_INIT;
            put_kind(&out, &kind);
            return cli_print_json(&out);
        }
        print_kind(&kind);
        return CLI_DONE;
    }
    return fail_name(c, name);
}

/* One line each: the name, and its help up to the first semicolon, cut between words if the line is full. */
static void print_lines(const cli_catalog *c)
{
    size_t width = 0;
    for (size_t i = 0; i < c->count(); i++) {
        const size_t n = strlen(c->at(i).name);
        width = n > width ? n : width;
    }
    for (size_t i = 0; i < c->count(); i++) {
        const cli_kind kind = c->at(i);
        const size_t room = LINE - width - 2;
        size_t n = strcspn(kind.help, ";");
        const bool cut = n > room;
        for (n = cut ? room - 3 : n; cut && n > 0 && kind.help[n] != ' ';)
            n--;
        (void)printf("%-*s  %.*s%s\n", (int)width, kind.name, (int)n, kind.help, cut ? "..." : "");
    }
    (void)printf("\n`tacit %s NAME` shows parameters, defaults and sources.\n", c->command);
}

int cli_list(int argc, char **argv, const cli_catalog *c)
{
    list_options o = {0};
    const cli_form form = {c->before, c->after, option_fields};
    for (size_t i = 0; cli_is_completing() && i < c->count(); i++)
        cli_offer(c->at(i).name, c->at(i).help);
    int status = cli_read_options(argc, argv, &form, &o, NULL);
    if (status == CLI_DONE)
        status = cli_load_plugins(&o.plugins);
    if (status != CLI_DONE)
        return status;
    if (optind + 1 < argc)
        return cli_wrong("unexpected argument '%s', expected one name", argv[optind + 1]);
    if (optind < argc)
        return print_one(c, argv[optind], o.json);
    if (o.json)
        return print_json_list(c);
    print_lines(c);
    return CLI_DONE;
}

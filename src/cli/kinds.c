#include "cli/kinds.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/print_json.h"
#include "cli/words.h"

enum { JSON = 1, HELP, MAX_NAMES = 128 };

static const struct option options[] = {
    {"json", no_argument, NULL, JSON}, {"help", no_argument, NULL, HELP}, {NULL, 0, NULL, 0}};

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

static json_t *parameter_json(const tacit_parameter *p)
{
    return json_pack("{s:s, s:s, s:s?, s:o, s:o, s:s}", "name", p->name, "type", type_name(p->type),
                     "default", p->fallback, "low", has_range(p) ? json_real(p->low) : json_null(),
                     "high", has_range(p) ? json_real(p->high) : json_null(), "help", p->help);
}

static json_t *kind_json(const cli_kind *kind)
{
    json_t *parameters = json_array();
    for (size_t i = 0; parameters != NULL && i < kind->n_parameters; i++)
        if (json_array_append_new(parameters, parameter_json(&kind->parameters[i])) != 0) {
            json_decref(parameters);
            return NULL;
        }
    json_t *object = json_pack("{s:s, s:s, s:s, s:o}", "name", kind->name, "help", kind->help,
                               "source", kind->source, "parameters", parameters);
    json_t *list = kind->models != 0 ? json_array() : NULL;
    for (size_t i = 0; list != NULL && i < N_MODELS; i++)
        if ((kind->models & models[i].bit) != 0)
            (void)json_array_append_new(list, json_string(models[i].name));
    if (object != NULL && list != NULL)
        (void)json_object_set(object, "models", list);
    json_decref(list);
    return object;
}

static void print_parameter(const tacit_parameter *p)
{
    char low[32], high[32], head[64], text[400];
    (void)snprintf(head, sizeof head, "    %-14s ", p->name);
    size_t n = (size_t)snprintf(text, sizeof text, "%.200s", p->help);
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
    for (size_t i = 0; i < kind->n_parameters; i++)
        print_parameter(&kind->parameters[i]);
}

static int fail_name(const cli_catalogue *c, const char *name)
{
    const char *names[MAX_NAMES + 1] = {NULL};
    for (size_t i = 0; i < c->n && i < MAX_NAMES; i++)
        names[i] = c->at(i).name;
    const char *near = cli_nearest(name, names);
    if (near != NULL)
        return cli_wrong("no %s is called '%s', did you mean '%s'?", c->noun, name, near);
    return cli_wrong("no %s is called '%s'; tacit %s lists them", c->noun, name, c->command);
}

static int print_json_list(const cli_catalogue *c)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < c->n; i++) {
        cli_kind kind = c->at(i);
        if (json_array_append_new(list, kind_json(&kind)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return cli_print_json(list);
}

static int print_one(const cli_catalogue *c, const char *name, bool json)
{
    for (size_t i = 0; i < c->n; i++) {
        cli_kind kind = c->at(i);
        if (strcmp(kind.name, name) != 0)
            continue;
        if (json)
            return cli_print_json(kind_json(&kind));
        print_kind(&kind);
        return CLI_DONE;
    }
    return fail_name(c, name);
}

int cli_list(int argc, char **argv, const cli_catalogue *c)
{
    bool json = false;
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (code == '?' || code == ':')
            return cli_bad_option(argv, code, options);
        if (code == JSON) {
            json = true;
        } else {
            (void)fputs(c->usage, stdout);
            return CLI_DONE;
        }
    }
    if (optind + 1 < argc)
        return cli_wrong("unexpected argument '%s', expected one name", argv[optind + 1]);
    if (optind < argc)
        return print_one(c, argv[optind], json);
    if (json)
        return print_json_list(c);
    for (size_t i = 0; i < c->n; i++) {
        cli_kind kind = c->at(i);
        if (i > 0)
            (void)fputc('\n', stdout);
        print_kind(&kind);
    }
    return CLI_DONE;
}

#include "cli/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tacit/explain.h>

#include "cli/cli.h"
#include "cli/print_json.h"

char *cli_guarantee_text(char *buffer, size_t size, const tacit_entry *entry)
{
    const tacit_guarantee *g = &entry->guarantee;
    const char *mark = "";
    if (g->model == TACIT_MODEL_NONE) {
        (void)snprintf(buffer, size, "none");
        return buffer;
    }
    if (entry->calibration == TACIT_CALIBRATION_PUBLISHED)
        mark = ", published";
    else if (entry->calibration == TACIT_CALIBRATION_FIGURE)
        mark = ", figure: NOT PRIVATE";
    if (g->delta > 0)
        (void)snprintf(buffer, size, "%s (%g, %.3g)%s", tacit_model_name(g->model), g->epsilon,
                       g->delta, mark);
    else
        (void)snprintf(buffer, size, "%s %g%s", tacit_model_name(g->model), g->epsilon, mark);
    return buffer;
}

json_t *cli_guarantee_json(const tacit_entry *entry)
{
    const tacit_guarantee *g = &entry->guarantee;
    if (g->model == TACIT_MODEL_NONE)
        return json_pack("{s:s, s:n, s:n, s:n}", "model", "none", "epsilon", "delta",
                         "calibration");
    return json_pack("{s:s, s:f, s:f, s:s}", "model", tacit_model_name(g->model), "epsilon",
                     g->epsilon, "delta", g->delta, "calibration",
                     tacit_calibration_name(entry->calibration));
}

/* A setting as what its parameter says it is. */
static json_t *setting_json(const tacit_world_kind *kind, const tacit_setting *setting)
{
    for (size_t i = 0; kind != NULL && i < kind->n_parameters; i++) {
        if (strcmp(kind->parameters[i].name, setting->key) != 0)
            continue;
        switch (kind->parameters[i].type) {
        case TACIT_PARAMETER_INTEGER:
            return json_integer(strtoll(setting->value, NULL, 10));
        case TACIT_PARAMETER_REAL:
            return cli_json_number(strtod(setting->value, NULL));
        case TACIT_PARAMETER_FLAG:
            return json_boolean(strcasecmp(setting->value, "yes") == 0 ||
                                strcasecmp(setting->value, "true") == 0);
        case TACIT_PARAMETER_TEXT:
        case TACIT_PARAMETER_FILE:
            break;
        }
    }
    return json_string(setting->value);
}

json_t *cli_world_json(const tacit_world_entry *entry, const tacit_world_facts *space,
                       double optimal_value)
{
    json_t *settings = json_object();
    for (size_t i = 0; settings != NULL && i < entry->n_settings; i++)
        if (json_object_set_new(settings, entry->settings[i].key,
                                setting_json(space->kind, &entry->settings[i])) != 0) {
            json_decref(settings);
            return NULL;
        }
    return json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:b, s:o}", "label", entry->label, "kind",
                     entry->kind, "settings", settings, "states", (json_int_t)space->n_states,
                     "actions", (json_int_t)space->n_actions, "horizon", (json_int_t)space->horizon,
                     "stationary", space->stationary, "optimal_value",
                     cli_json_number(optimal_value));
}

size_t cli_columns(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80; /* not the continuation of a character */
    return n;
}

void cli_print_padded(const char *text, size_t width)
{
    size_t n = cli_columns(text);
    (void)printf("%s%*s", text, n < width ? (int)(width - n) : 0, "");
}

void cli_print_wrapped(const char *head, const char *text)
{
    enum { LINE = 100 };
    size_t indent = cli_columns(head), column = indent;
    (void)fputs(head, stdout);
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char word[128];
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t width = length < sizeof word ? cli_columns(word) : length;
        if (column > indent && column + 1 + width > LINE) {
            (void)printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            (void)fputc(' ', stdout);
            column++;
        }
        (void)printf("%.*s", (int)length, text);
        column += width;
        text += length;
        text += strspn(text, " ");
    }
    (void)fputc('\n', stdout);
}

char *cli_rounded_up(char buffer[32], double x)
{
    /* Six digits are off by 5e-7 at most, relatively. */
    (void)snprintf(buffer, 32, "%.6g", isfinite(x) ? x + fabs(x) * 5.1e-7 : x);
    return buffer;
}

int cli_read_count(const char *name, const char *text, uint64_t most, uint64_t *out)
{
    if (!cli_count(text, out) || *out > most)
        return cli_wrong("%s is '%s', expected a whole number from 1 to %llu", name, text,
                         (unsigned long long)most);
    return CLI_DONE;
}

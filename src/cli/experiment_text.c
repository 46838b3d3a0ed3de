/* See cli/experiment_text.h. */
#include "cli/experiment_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tacit/explain.h>

#include "base/error.h"
#include "cli/cli.h"

char *cli_guarantee_text(char *buffer, size_t size, const tacit_entry *entry)
{
    TACIT__REQUIRE(buffer != NULL && size > 0 && entry != NULL);
    const tacit_guarantee *g = &entry->guarantee;
    if (g->model == TACIT_MODEL_NONE) {
        (void)snprintf(buffer, size, "none");
        return buffer;
    }
    char mark[40] = "";
    if (entry->calibration != TACIT_CALIBRATION_TIGHT)
        (void)snprintf(mark, sizeof mark, ", %s%s", tacit_calibration_name(entry->calibration),
                       entry->calibration == TACIT_CALIBRATION_FIGURE ? ": NOT PRIVATE" : "");
    if (g->delta > 0)
        (void)snprintf(buffer, size, "%s (%g, %.3g)%s", tacit_model_name(g->model), g->epsilon,
                       g->delta, mark);
    else
        (void)snprintf(buffer, size, "%s %g%s", tacit_model_name(g->model), g->epsilon, mark);
    return buffer;
}

char *cli_kind_text(char *buffer, size_t size, const char *written, const char *kind)
{
    TACIT__REQUIRE(buffer != NULL && size > 0 && written != NULL);
    if (kind == NULL || kind[0] == '\0' || strcmp(written, kind) == 0)
        (void)snprintf(buffer, size, "%s", written);
    else
        (void)snprintf(buffer, size, "%s: %s", written, kind);
    return buffer;
}

void cli_put_kind(tacit__json_writer *to, const char *written, const char *kind)
{
    tacit__json_put_string(to, "kind", written);
    tacit__json_put_string(to, "stands_for",
                           kind != NULL && kind[0] != '\0' && strcmp(written, kind) != 0 ? kind
                                                                                         : NULL);
}

void cli_put_guarantee(tacit__json_writer *to, const tacit_entry *entry)
{
    TACIT__REQUIRE(entry != NULL);
    const tacit_guarantee *g = &entry->guarantee;
    const bool none = g->model == TACIT_MODEL_NONE;
    tacit__json_begin_object(to, "guarantee");
    tacit__json_put_string(to, "model", none ? "none" : tacit_model_name(g->model));
    tacit__json_put_real(to, "epsilon", none ? (double)NAN : g->epsilon);
    tacit__json_put_real(to, "delta", none ? (double)NAN : g->delta);
    tacit__json_put_string(to, "calibration",
                           none ? NULL : tacit_calibration_name(entry->calibration));
    tacit__json_end(to);
}

/* A setting as what its parameter says it is. */
static void put_setting(tacit__json_writer *to, const tacit_world_kind *kind,
                        const tacit_setting *setting)
{
    tacit_parameter_type type = TACIT_PARAMETER_TEXT;
    for (size_t i = 0; kind != NULL && i < kind->n_parameters; i++)
        if (strcmp(kind->parameters[i].name, setting->key) == 0)
            type = kind->parameters[i].type;
    switch (type) {
    case TACIT_PARAMETER_INTEGER:
        tacit__json_put_integer(to, setting->key, strtoll(setting->value, NULL, 10));
        return;
    case TACIT_PARAMETER_REAL:
        tacit__json_put_real(to, setting->key, strtod(setting->value, NULL));
        return;
    case TACIT_PARAMETER_FLAG:
        tacit__json_put_flag(to, setting->key,
                             strcasecmp(setting->value, "yes") == 0 ||
                                 strcasecmp(setting->value, "true") == 0);
        return;
    case TACIT_PARAMETER_TEXT:
    case TACIT_PARAMETER_FILE:
        break;
    }
    tacit__json_put_string(to, setting->key, setting->value);
}

void cli_put_world(tacit__json_writer *to, const tacit_world_entry *entry,
                   const tacit_world_facts *space, double optimal_value)
{
    tacit__json_put_string(to, "label", entry->label);
    tacit__json_put_string(to, "kind", entry->kind);
    tacit__json_begin_object(to, "settings");
    for (size_t i = 0; i < entry->n_settings; i++)
        put_setting(to, space->kind, &entry->settings[i]);
    tacit__json_end(to);
    tacit__json_put_count(to, "states", space->n_states);
    tacit__json_put_count(to, "actions", space->n_actions);
    tacit__json_put_count(to, "horizon", space->horizon);
    tacit__json_put_flag(to, "stationary", space->stationary);
    tacit__json_put_real(to, "optimal_value", optimal_value);
    const tacit_visitors *v = &entry->visitors;
    if (v->people == 0)
        return;
    tacit__json_begin_object(to, "visitors");
    tacit__json_put_count(to, "people", v->people);
    tacit__json_put_count(to, "visits", v->visits);
    tacit__json_put_count(to, "apart", v->apart);
    tacit__json_put_string(to, "order", v->order == TACIT_ORDER_RANDOM ? "random" : "rounds");
    tacit__json_end(to);
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
    TACIT__REQUIRE(head != NULL && text != NULL);
    size_t indent = cli_columns(head), column = indent;
    (void)fputs(head, stdout);
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char word[128];
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t width = length < sizeof word ? cli_columns(word) : length;
        if (column > indent && column + 1 + width > CLI_LINE) {
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

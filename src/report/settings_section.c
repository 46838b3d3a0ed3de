/* The settings of the experiment, and the command that repeats it. */
#include <stdio.h>
#include <string.h>

#include "report/render.h"
#include "report/write.h"

static void put_settings(tacit__text *to, const tacit_setting *settings, size_t n, const char *sums)
{
    const char *between = "";
    for (size_t i = 0; i < n; i++) {
        tacit__text_put(to, between);
        tacit__write_html(to, settings[i].key);
        tacit__text_put(to, " = ");
        tacit__write_html(to, settings[i].value);
        between = ", ";
    }
    if (sums != NULL) {
        tacit__text_print(to, "%ssums = ", between);
        tacit__write_html(to, sums);
    } else if (n == 0) {
        tacit__text_put(to, "<span class=\"soft\">defaults</span>");
    }
}

static void put_row(tacit__text *to, const char *name, const char *value)
{
    tacit__text_print(to, "<tr><th scope=\"row\">%s</th><td>", name);
    tacit__write_html(to, value);
    tacit__text_put(to, "</td></tr>\n");
}

static void put_visitors(tacit__text *to, const tacit_visitors *v)
{
    char people[TACIT__NUMBER], visits[TACIT__NUMBER], apart[TACIT__NUMBER];
    if (v->people > 0)
        tacit__text_print(
            to, "; visitors: %s people, up to %s visit%s each, at least %s users apart, %s",
            tacit__count(people, v->people), tacit__count(visits, v->visits),
            v->visits == 1 ? "" : "s", tacit__count(apart, v->apart),
            v->order == TACIT_ORDER_RANDOM ? "in random order" : "in rounds");
}

/* 'it'\''s' */
static void put_quoted(tacit__text *to, const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./=:,@%+";
    if (text[0] != '\0' && text[0] != '-' && text[strspn(text, safe)] == '\0') {
        tacit__text_put(to, text);
        return;
    }
    tacit__text_put(to, text[0] == '-' ? "./'" : "'");
    for (; *text != '\0'; text++)
        if (*text == '\'')
            tacit__text_put(to, "'\\''");
        else
            tacit__text_add(to, text, 1);
    tacit__text_put(to, "'");
}

void tacit__command(tacit__text *to, const tacit__report *r)
{
    if (r->command != NULL) {
        tacit__text_put(to, r->command);
        return;
    }
    tacit__text_put(to, "tacit run ");
    put_quoted(to, r->file);
    tacit__text_print(to, " --episodes %llu --runs %llu", (unsigned long long)r->episodes,
                      (unsigned long long)r->runs);
    if (r->seed > 0)
        tacit__text_print(to, " --seed %llu", (unsigned long long)r->seed);
}

void tacit__settings(tacit__text *to, const tacit__report *r)
{
    char number[TACIT__NUMBER];
    tacit__text_put(to, "<section id=\"settings\">\n<h2>Settings</h2>\n<div class=\"wide\" "
                        "tabindex=\"0\" role=\"region\" aria-label=\"Settings\">\n<table "
                        "class=\"settings\"><tbody>\n");
    put_row(to, "experiment file", r->file);
    put_row(to, "users (episodes)", tacit__count(number, r->episodes));
    put_row(to, "runs", tacit__count(number, r->runs));
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)r->seed);
    put_row(to, "seed", number);
    for (size_t w = 0; w < r->n_worlds; w++) {
        const tacit__report_world *s = &r->worlds[w];
        tacit__text_put(to, "<tr><th scope=\"row\">world ");
        tacit__write_html(to, s->name);
        tacit__text_put(to, "</th><td>");
        if (strcmp(s->name, s->kind) != 0) {
            tacit__write_html(to, s->kind);
            tacit__text_put(to, ": ");
        }
        put_settings(to, s->settings, s->n_settings, NULL);
        put_visitors(to, &s->visitors);
        tacit__text_put(to, "</td></tr>\n");
    }
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit_entry *e = r->agents[i].entry;
        tacit__text_put(to, "<tr><th scope=\"row\">agent ");
        tacit__write_html(to, e->label);
        tacit__text_put(to, "</th><td>");
        tacit__write_html(to, e->kind);
        tacit__text_put(to, ": ");
        put_settings(to, e->settings, e->n_settings, e->sums);
        tacit__text_put(to, "</td></tr>\n");
    }
    put_row(to, "tacit", r->version);
    tacit__text_put(to, "</tbody></table>\n</div>\n</section>\n");
}

/* The numbers that figures show under the cursor, as JSON inside the page. */
#include "base/error.h"
#include "report/figure.h"
#include "report/render.h"
#include "report/write.h"

static void put_numbers(tacit__text *to, const char *name, const double *values, size_t n)
{
    tacit__text_print(to, ",\"%s\":", name);
    if (values == NULL) {
        tacit__text_put(to, "null");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        tacit__text_put(to, i == 0 ? "[" : ",");
        tacit__write_json_number(to, values[i]);
    }
    tacit__text_put(to, "]");
}

static void put_style(tacit__text *to, tacit__style style)
{
    char dash[TACIT__DASH];
    tacit__text_print(to, ",\"hue\":%d,\"shade\":%d,\"dash\":\"%s\"", style.color, style.shade,
                      tacit__dash(style, dash));
}

static void put_agents(tacit__text *to, const tacit__report *r, const tacit__report_world *s)
{
    tacit__text_put(to, "\"agents\":[");
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit__report_outcome *o = &s->outcomes[i];
        tacit__text_put(to, i == 0 ? "{\"label\":" : ",\n{\"label\":");
        tacit__write_json(to, r->agents[i].entry->label);
        put_style(to, r->agents[i].style);
        put_numbers(to, "mean", o->mean, r->n_points);
        tacit__text_put(to, "}");
    }
    tacit__text_put(to, "]");
}

static void put_family(tacit__text *to, const tacit__report *r, const tacit__report_world *s,
                       size_t f)
{
    TACIT__REQUIRE(f < r->n_families);
    const tacit__report_family *family = &r->families[f];
    bool first = true;
    tacit__text_print(to, "%s{\"series\":%zu,\"label\":", f == 0 ? "" : ",\n", f);
    tacit__write_json(to, family->name);
    put_style(to, family->style);
    tacit__text_put(to, ",\"points\":[");
    for (size_t m = 0; m < family->n_members; m++) {
        size_t i = family->members[m];
        const tacit__report_outcome *o = &s->outcomes[i];
        if (o->n_runs == 0)
            continue;
        tacit__text_put(to, first ? "[" : ",[");
        tacit__write_json_number(to, r->agents[i].entry->guarantee.epsilon);
        tacit__text_put(to, ",");
        tacit__write_json_number(to, o->regret);
        tacit__text_put(to, "]");
        first = false;
    }
    tacit__text_put(to, "]}");
}

static void put_price(tacit__text *to, const tacit__report *r, const tacit__report_world *s)
{
    tacit__text_put(to, "\"families\":[");
    for (size_t f = 0; f < r->n_families; f++)
        put_family(to, r, s, f);
    tacit__text_put(to, "],\"levels\":[");
    bool first = true;
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit__report_outcome *o = &s->outcomes[i];
        if (r->agents[i].family != SIZE_MAX || o->n_runs == 0 || !(o->regret > 0))
            continue;
        tacit__text_print(to, "%s{\"series\":%zu,\"label\":", first ? "" : ",\n",
                          r->n_families + i);
        tacit__write_json(to, r->agents[i].entry->label);
        put_style(to, r->agents[i].style);
        tacit__text_put(to, ",\"value\":");
        tacit__write_json_number(to, o->regret);
        tacit__text_put(to, "}");
        first = false;
    }
    tacit__text_put(to, "]");
}

void tacit__data(tacit__text *to, const tacit__report *r)
{
    tacit__text_print(to, "{\"episodes\":%llu,\n\"at\":[", (unsigned long long)r->episodes);
    for (size_t i = 0; i < r->n_points; i++)
        tacit__text_print(to, "%s%llu", i == 0 ? "" : ",", (unsigned long long)r->at[i]);
    tacit__text_put(to, "],\n\"worlds\":[");
    for (size_t w = 0; w < r->n_worlds; w++) {
        tacit__text_put(to, w == 0 ? "{" : ",\n{");
        put_agents(to, r, &r->worlds[w]);
        tacit__text_put(to, ",\n");
        put_price(to, r, &r->worlds[w]);
        tacit__text_put(to, "}");
    }
    tacit__text_put(to, "]}");
}

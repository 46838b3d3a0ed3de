/* See serve/learner/action_names.h. */
#include "serve/learner/action_names.h"

#include <string.h>

#include "base/error.h"
#include "text/json_text.h"

/* --- Digest ---------------------------------------------------------------------------------------- */

/* Hashes each part with its length, after all parts before it. */
static void add(uint8_t state[TACIT__KEY_BYTES], const void *data, size_t size)
{
    const uint64_t length = size;
    tacit__digest(
        (tacit__bytes[]){{state, TACIT__KEY_BYTES}, {&length, sizeof length}, {data, size}}, 3,
        state);
}

static void add_column(uint8_t state[TACIT__KEY_BYTES], const tacit__column *c)
{
    const uint8_t flags[] = {c->numeric, c->missing, c->others, c->logarithmic};
    const double range[] = {c->low, c->high};
    add(state, c->name.text, c->name.size);
    add(state, flags, sizeof flags);
    add(state, range, sizeof range);
    add(state, &c->n_categories, sizeof c->n_categories);
    for (size_t i = 0; i < c->n_categories; i++)
        add(state, c->category[i].text, c->category[i].size);
}

size_t tacit__action_names_digest(const tacit__learner_config *l, uint8_t out[TACIT__KEY_BYTES])
{
    const tacit__columns_list *columns = l->context.columns;
    if (l->action_names == NULL && columns == NULL)
        return 0;
    memset(out, 0, TACIT__KEY_BYTES);
    const char *const *names = l->action_names;
    const size_t n_names = names != NULL ? l->request.n_actions : 0;
    add(out, &n_names, sizeof n_names);
    for (size_t i = 0; names != NULL && i < n_names; i++)
        add(out, names[i], strlen(names[i]));
    if (columns == NULL)
        return TACIT__KEY_BYTES;
    const uint8_t flags[] = {l->context.intercept, l->context.unit};
    add(out, flags, sizeof flags);
    for (size_t i = 0; i < columns->n; i++)
        add_column(out, &columns->column[i]);
    return TACIT__KEY_BYTES;
}

/* --- JSON ------------------------------------------------------------------------------------------ */

static void put_span(tacit__text *out, tacit__span span)
{
    tacit__text_json_string(out, span.text, span.size);
}

static void put_column(tacit__text *out, const tacit__column *c)
{
    tacit__text_put(out, "{\"name\":");
    put_span(out, c->name);
    if (c->numeric) {
        tacit__text_put(out, ",\"low\":");
        tacit__text_number(out, c->low);
        tacit__text_put(out, ",\"high\":");
        tacit__text_number(out, c->high);
        if (c->logarithmic)
            tacit__text_put(out, ",\"log\":true");
        if (c->missing)
            tacit__text_put(out, ",\"missing\":true");
    } else {
        tacit__text_put(out, ",\"categories\":[");
        for (size_t i = 0; i < c->n_categories; i++) {
            tacit__text_put(out, i > 0 ? "," : "");
            put_span(out, c->category[i]);
        }
        tacit__text_put(out, c->others ? "],\"others\":true" : "]");
    }
    tacit__text_put(out, "}");
}

void tacit__action_names_describe(const tacit__learner_config *l, tacit__text *out)
{
    const tacit__columns_list *columns = l->context.columns;
    for (uint32_t i = 0; l->action_names != NULL && i < l->request.n_actions; i++) {
        tacit__text_put(out, i == 0 ? ",\"action_names\":[" : ",");
        tacit__action_names_write(l, i, out);
    }
    tacit__text_put(out, l->action_names != NULL ? "]" : "");
    if (columns == NULL)
        return;
    for (size_t i = 0; i < columns->n; i++) {
        tacit__text_put(out, i == 0 ? ",\"columns\":[" : ",");
        put_column(out, &columns->column[i]);
    }
    tacit__text_print(out, "],\"intercept\":%s,\"unit\":%s",
                      l->context.intercept ? "true" : "false", l->context.unit ? "true" : "false");
}

void tacit__action_names_write(const tacit__learner_config *l, uint32_t action, tacit__text *out)
{
    TACIT__REQUIRE(action < l->request.n_actions);
    if (l->action_names != NULL)
        tacit__text_json_string(out, l->action_names[action], strlen(l->action_names[action]));
    else
        tacit__text_count(out, action);
}

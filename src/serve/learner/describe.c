/* Learners as JSON. See serve/learner/describe.h. */
#include "serve/learner/describe.h"
#include "base/error.h"
#include "text/json_text.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "serve/learner/action_names.h"

const char *tacit__model_name(tacit_model model)
{
    return model == TACIT_MODEL_JOINT ? "joint" : model == TACIT_MODEL_LOCAL ? "local" : "none";
}

static void put_string(tacit__text *out, const char *text)
{
    tacit__text_json_string(out, text, strlen(text));
}

void tacit__describe_guarantee(const tacit_guarantee *g, tacit__text *out)
{
    if (g->model == TACIT_MODEL_NONE) {
        tacit__text_put(out, "null");
        return;
    }
    tacit__text_put(out, "{\"epsilon\":");
    tacit__text_number(out, g->epsilon);
    tacit__text_put(out, ",\"delta\":");
    tacit__text_number(out, g->delta);
    tacit__text_put(out, "}");
}

void tacit__describe_learner(const tacit__learner_config *c, tacit__text *out)
{
    TACIT__REQUIRE(c != NULL && out != NULL);
    const tacit_agent_request *q = &c->request;
    tacit__text_print(out,
                      "\"model\":\"%s\",\"guarantee\":", tacit__model_name(q->guarantee.model));
    tacit__describe_guarantee(&q->guarantee, out);
    tacit__text_put(out, ",\"agent\":{\"kind\":");
    put_string(out, q->kind);
    tacit__text_put(out, ",\"sums\":");
    if (q->sums != NULL)
        put_string(out, q->sums);
    else
        tacit__text_put(out, "null");
    tacit__text_put(out, ",\"settings\":[");
    for (size_t i = 0; i < q->n_settings; i++) {
        tacit__text_put(out, i > 0 ? ",[" : "[");
        put_string(out, q->settings[i].key);
        tacit__text_put(out, ",");
        put_string(out, q->settings[i].value);
        tacit__text_put(out, "]");
    }
    tacit__text_print(
        out, "]},\"space\":{\"states\":%zu,\"actions\":%zu,\"horizon\":%zu,\"stationary\":%s",
        q->n_states, q->n_actions, q->horizon, q->stationary ? "true" : "false");
    if (q->reward_low != 0 || q->reward_high != 0) {
        tacit__text_put(out, ",\"reward_low\":");
        tacit__text_number(out, q->reward_low);
        tacit__text_put(out, ",\"reward_high\":");
        tacit__text_number(out, q->reward_high);
    }
    const tacit__world_tables *k = &c->known;
    if (k->features > 0) {
        tacit__text_print(out, ",\"features\":%zu,\"shared\":%s,\"bound\":", k->features,
                          k->disjoint ? "false" : "true");
        tacit__text_number(out, k->bound);
    }
    if (k->simplex)
        tacit__text_put(out, ",\"simplex\":true");
    if (k->complementary)
        tacit__text_put(out, ",\"complementary\":true");
    if (k->parameter_norm > 0) {
        tacit__text_put(out, ",\"parameter_norm\":");
        tacit__text_number(out, k->parameter_norm);
    }
    if (k->table[TACIT__TABLE_WEIGHTS] != NULL)
        tacit__text_put(out, ",\"weights\":true");
    if (k->context > 0)
        tacit__text_print(out, ",\"context\":%zu", k->context);
    if (k->kernel != NULL) {
        tacit__text_put(out, ",\"kernel\":");
        put_string(out, k->kernel);
    }
    if (k->parts > 0)
        tacit__text_print(out, ",\"parts\":%zu", k->parts);
    tacit__action_names_describe(c, out);
    if (c->user_required)
        tacit__text_put(out, ",\"user\":\"required\"");
    tacit__text_print(out, "},\"episodes\":%llu", (unsigned long long)q->episodes);
    if (q->visits > 1)
        tacit__text_print(out, ",\"visits\":%llu,\"apart\":%llu", (unsigned long long)q->visits,
                          (unsigned long long)q->apart);
    tacit__text_put(out, c->log_decisions ? ",\"log_decisions\":true" : "");
}

void tacit__describe_monitor(const tacit__learner_config *c, tacit__text *out)
{
    tacit__text_put(out, ",\"monitor\":");
    tacit__describe_guarantee(&c->monitor, out);
    tacit__text_put(out, ",\"together\":");
    tacit__describe_guarantee(&c->together, out);
}

/* Writes bytes as base64url under a key, after what is already there. */
static void put_bytes(tacit__text *out, const char *key, const void *bytes, size_t size)
{
    char *text = tacit__alloc(TACIT__BASE64_SIZE(size), 1);
    if (text == NULL) {
        out->failed = true;
        return;
    }
    tacit__base64_write(bytes, size, text);
    tacit__text_print(out, "\"%s\":\"", key);
    tacit__text_put(out, text);
    tacit__text_put(out, "\"");
    tacit__free(text);
}

/* Writes the tables that devices need to be agents of the same request: 64 bits a number, low byte first. */
static void put_tables(const tacit__learner_config *c, tacit__text *out)
{
    bool first = true;
    for (size_t i = 0; i < TACIT__N_TABLES; i++) {
        const double *table = c->known.table[i];
        size_t n = table != NULL
                       ? tacit__world_tables_size(&c->known, &c->request, (tacit__table_name)i)
                       : 0;
        uint8_t *bytes = n > 0 ? tacit__alloc(n, 8) : NULL;
        if (n == 0)
            continue;
        if (bytes == NULL) {
            out->failed = true;
            return;
        }
        tacit__writer w = {.at = bytes};
        for (size_t j = 0; j < n; j++)
            tacit__write_double(&w, table[j]);
        tacit__text_put(out, first ? ",\"tables\":{" : ",");
        put_bytes(out, tacit__table_names[i], bytes, w.size);
        tacit__free(bytes);
        first = false;
    }
    if (!first)
        tacit__text_put(out, "}");
}

void tacit__describe_board(const tacit__learner_config *c, const tacit__board *board,
                           tacit__text *out)
{
    TACIT__REQUIRE(board != NULL);
    const tacit_billboard *look = tacit__board_view(board);
    const size_t states = c->request.n_states, actions = c->request.n_actions;
    size_t size;
    const void *model = tacit__board_model(board, &size);
    if (c->request.guarantee.model == TACIT_MODEL_LOCAL)
        put_tables(c, out);
    if (model != NULL) {
        tacit__text_put(out, ",");
        put_bytes(out, "model_bytes", model, size);
    }
    if (look->policy == NULL && look->mixed == NULL)
        return;
    tacit__text_put(out, look->policy != NULL ? ",\"policy\":[" : ",\"mixed\":[");
    for (size_t h = 0; h < c->request.horizon; h++) {
        tacit__text_put(out, h > 0 ? ",[" : "[");
        for (size_t s = 0; s < states; s++) {
            if (s > 0)
                tacit__text_put(out, ",");
            if (look->policy != NULL) {
                tacit__text_count(out, look->policy[h * states + s]);
                continue;
            }
            for (size_t a = 0; a < actions; a++) {
                tacit__text_put(out, a > 0 ? "," : "[");
                tacit__text_number(out, look->mixed[(h * states + s) * actions + a]);
            }
            tacit__text_put(out, "]");
        }
        tacit__text_put(out, "]");
    }
    tacit__text_put(out, "]");
}

void tacit__describe_figures(const tacit__learner_figures *f, tacit__text *out)
{
    TACIT__REQUIRE(f != NULL && out != NULL);
    const bool closed = f->store_status != TACIT__STORE_FINE;
    const char *reason = closed                    ? tacit__store_status_reason(f->store_status)
                         : f->failed               ? "the learner has failed; see the log"
                         : f->accepted >= f->limit ? "the budget is spent: all users have come"
                                                   : NULL;
    tacit__text_print(out,
                      "\"limit\":%llu,\"accepted\":%llu,\"users\":%llu,\"refused\":0,"
                      "\"left\":%llu,\"version\":%llu,\"learning\":%s,\"reason\":",
                      (unsigned long long)f->limit, (unsigned long long)f->accepted,
                      (unsigned long long)f->users,
                      (unsigned long long)(f->limit > f->accepted ? f->limit - f->accepted : 0),
                      (unsigned long long)f->version, reason == NULL ? "true" : "false");
    if (reason != NULL)
        put_string(out, reason);
    else
        tacit__text_put(out, "null");
    tacit__text_print(out, ",\"learns_here\":%s", f->leads ? "true" : "false");
    tacit__text_put(out, ",\"reward\":");
    tacit__text_number(out, f->reward);
    tacit__text_put(out, ",\"reward_error\":");
    tacit__text_number(out, f->reward_error);
}

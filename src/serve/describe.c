#include "serve/describe.h"
#include "base/json_text.h"

#include <string.h>

#include "base/memory.h"
#include "noise/seal.h"

const char *tacit__model_name(tacit_model model)
{
    return model == TACIT_MODEL_JOINT ? "joint" : model == TACIT_MODEL_LOCAL ? "local" : "none";
}

static void put_string(tacit__text *out, const char *text)
{
    tacit__text_json_string(out, text, strlen(text));
}

void tacit__describe_learner(const tacit__learner_config *c, tacit__text *out)
{
    const tacit_agent_request *q = &c->request;
    tacit__text_print(out,
                      "\"model\":\"%s\",\"guarantee\":", tacit__model_name(q->guarantee.model));
    if (q->guarantee.model == TACIT_MODEL_NONE) {
        tacit__text_put(out, "null");
    } else {
        tacit__text_put(out, "{\"epsilon\":");
        tacit__text_number(out, q->guarantee.epsilon);
        tacit__text_put(out, ",\"delta\":");
        tacit__text_number(out, q->guarantee.delta);
        tacit__text_put(out, "}");
    }
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
    if (c->per_user > 0) {
        tacit__text_print(out, ",\"features\":%zu,\"shared\":%s,\"bound\":", c->linear.dimension,
                          c->bandit.disjoint ? "false" : "true");
        tacit__text_number(out, c->linear.bound);
    }
    tacit__text_print(out, "},\"episodes\":%llu", (unsigned long long)q->episodes);
}

/* The model as base64url. */
static void put_model(const tacit__board *board, tacit__text *out)
{
    size_t size;
    const void *model = tacit__board_model(board, &size);
    char *text = model != NULL ? tacit__alloc(TACIT__BASE64_SIZE(size), 1) : NULL;
    if (model == NULL)
        return;
    if (text == NULL) {
        out->failed = true;
        return;
    }
    tacit__base64_write(model, size, text);
    tacit__text_put(out, ",\"model_bytes\":\"");
    tacit__text_put(out, text);
    tacit__text_put(out, "\"");
    tacit__free(text);
}

void tacit__describe_board(const tacit__learner_config *c, const tacit__board *board,
                           tacit__text *out)
{
    const tacit_billboard *look = tacit__board_look(board);
    const size_t states = c->request.n_states, actions = c->request.n_actions;
    put_model(board, out);
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
    const char *reason = f->closed   ? "the store is a copy: the original may go on learning"
                         : f->failed ? "the learner has failed; see the log"
                         : f->accepted >= f->limit ? "the budget is spent: all users have come"
                                                   : NULL;
    tacit__text_print(out,
                      "\"limit\":%llu,\"accepted\":%llu,\"users\":%llu,\"refused\":%llu,"
                      "\"left\":%llu,\"version\":%llu,\"learning\":%s,\"reason\":",
                      (unsigned long long)f->limit, (unsigned long long)f->accepted,
                      (unsigned long long)f->users, (unsigned long long)f->refused,
                      (unsigned long long)(f->limit - f->accepted), (unsigned long long)f->version,
                      reason == NULL ? "true" : "false");
    if (reason != NULL)
        put_string(out, reason);
    else
        tacit__text_put(out, "null");
    tacit__text_put(out, ",\"reward\":");
    tacit__text_number(out, f->reward);
    tacit__text_put(out, ",\"reward_error\":");
    tacit__text_number(out, f->reward_error);
}

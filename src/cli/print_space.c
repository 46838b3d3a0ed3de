/* See cli/print_space.h. What is not declared is not mentioned, in text or in JSON, as on a billboard. */
#include "cli/print_space.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- Text ------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void add(char out[CLI_SPACE_TEXT], const char *format,
                                                      ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(out + used, CLI_SPACE_TEXT - used, format, args);
    va_end(args);
}

static void add_bandit(char out[CLI_SPACE_TEXT], const tacit_bandit *b)
{
    add(out, "; %zu features of each %s, of norm at most %g", b->dimension,
        b->disjoint ? "user" : "action", b->bound);
    if (b->context_dimension > 0)
        add(out, ", the first %zu of the context", b->context_dimension);
    if (b->complementary)
        add(out, "; the rewards of both actions sum to 1 (complementary)");
    if (b->parameter_norm > 0)
        add(out, "; parameters of norm at most %g (parameter_norm)", b->parameter_norm);
    if (b->weights != NULL)
        add(out, "; it is known how likely each context is (weights)");
    if (b->kernel != NULL)
        add(out, "; mean rewards are smooth in %.120s (kernel)", b->kernel);
}

const char *cli_space_text(const tacit_agent_request *q, char out[CLI_SPACE_TEXT])
{
    out[0] = '\0';
    if (q->n_states > 0)
        add(out, "%zu states, ", q->n_states);
    add(out, "%zu actions, horizon %zu", q->n_actions, q->horizon);
    if (q->stationary && q->horizon > 1)
        add(out, ", all steps alike");
    if (q->bandit != NULL)
        add_bandit(out, q->bandit);
    if (q->linear != NULL)
        add(out, "; %zu features of each action, %s %g", q->linear->dimension,
            q->linear->simplex ? "not negative and of sum" : "of norm at most",
            q->linear->simplex ? 1 : q->linear->bound);
    if (q->linear != NULL && q->linear->simplex)
        add(out, " (simplex)");
    if (q->mixture != NULL)
        add(out, "; transitions are an unknown mixture of %zu known ones", q->mixture->dimension);
    if (q->rewards != NULL)
        add(out, "; expected rewards are known");
    return out;
}

/* As many names as take little room. */
static void add_actions(char out[CLI_SPACE_TEXT], const char *const *names, size_t n)
{
    enum { ROOM = 200 };
    size_t i = 0;
    for (; i < n && strlen(out) < ROOM; i++)
        add(out, "%s%s", i == 0 ? "actions are " : ", ", names[i]);
    if (i < n)
        add(out, " and %zu more", n - i);
}

const char *cli_names_text(const tacit_service_learner *l, char out[CLI_SPACE_TEXT])
{
    enum { MOST = 240 }; /* bytes of a declaration that are shown */
    size_t shown = l->context != NULL ? strnlen(l->context, MOST + 1) : 0;
    const bool cut = shown > MOST;
    while (shown > 0 && (shown > MOST || (cut && (l->context[shown] & 0xc0) == 0x80)))
        shown--; /* no character in two */
    out[0] = '\0';
    if (l->action_names != NULL)
        add_actions(out, l->action_names, l->request->n_actions);
    if (l->context != NULL)
        add(out, "%sthe context is %.*s%s, encoded as in logged-bandit", out[0] != '\0' ? "; " : "",
            (int)shown, l->context, cut ? " ..." : "");
    if (l->user_required)
        add(out, "%susers must say who they are (user: required)", out[0] != '\0' ? "; " : "");
    return out[0] != '\0' ? out : NULL;
}

/* --- JSON ------------------------------------------------------------------------------------------ */

static void set_count(json_t *out, const char *key, size_t n)
{
    (void)json_object_set_new(out, key, json_integer((json_int_t)n));
}

static void set_bandit(json_t *out, const tacit_bandit *b)
{
    set_count(out, "features", b->dimension);
    (void)json_object_set_new(out, "shared", json_boolean(!b->disjoint));
    (void)json_object_set_new(out, "bound", json_real(b->bound));
    if (b->context_dimension > 0)
        set_count(out, "context", b->context_dimension);
    if (b->complementary)
        (void)json_object_set_new(out, "complementary", json_true());
    if (b->parameter_norm > 0)
        (void)json_object_set_new(out, "parameter_norm", json_real(b->parameter_norm));
    if (b->weights != NULL)
        (void)json_object_set_new(out, "weights", json_true());
    if (b->kernel != NULL)
        (void)json_object_set_new(out, "kernel", json_string(b->kernel));
}

static void set_names(json_t *out, const tacit_service_learner *l)
{
    json_t *names = l->action_names != NULL ? json_array() : NULL;
    for (size_t i = 0; names != NULL && i < l->request->n_actions; i++)
        (void)json_array_append_new(names, json_string(l->action_names[i]));
    if (names != NULL)
        (void)json_object_set_new(out, "action_names", names);
    if (l->context != NULL)
        (void)json_object_set_new(out, "columns", json_string(l->context));
    if (l->user_required)
        (void)json_object_set_new(out, "user", json_string("required"));
}

json_t *cli_space_json(const tacit_service_learner *l)
{
    const tacit_agent_request *q = l->request;
    json_t *out = json_object();
    set_count(out, "states", q->n_states);
    set_count(out, "actions", q->n_actions);
    set_count(out, "horizon", q->horizon);
    (void)json_object_set_new(out, "stationary", json_boolean(q->stationary));
    if (q->bandit != NULL)
        set_bandit(out, q->bandit);
    if (q->linear != NULL) {
        set_count(out, "features", q->linear->dimension);
        (void)json_object_set_new(out, "shared", json_true());
        (void)json_object_set_new(out, "bound", json_real(q->linear->bound));
        if (q->linear->simplex)
            (void)json_object_set_new(out, "simplex", json_true());
    }
    if (q->mixture != NULL)
        set_count(out, "parts", q->mixture->dimension);
    set_names(out, l);
    return out;
}

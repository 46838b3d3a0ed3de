/* See print_space.h. What is not declared is not mentioned, in text or in JSON, as on a billboard. */
#include "cli/commands/print_space.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

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
        add(out, "; the probability of each context is known (weights)");
    if (b->kernel != NULL)
        add(out, "; mean rewards are smooth in %.120s (kernel)", b->kernel);
}

const char *cli_space_text(const tacit_agent_request *q, char out[CLI_SPACE_TEXT])
{
    TACIT__REQUIRE(q->n_actions > 0);
    out[0] = '\0';
    if (q->n_states > 0)
        add(out, "%zu states, ", q->n_states);
    add(out, "%zu actions, horizon %zu", q->n_actions, q->horizon);
    if (q->stationary && q->horizon > 1)
        add(out, ", all steps alike");
    if (q->reward_low != 0 || q->reward_high != 0)
        add(out, "; rewards from %g to %g, which learners see as 0 to 1", q->reward_low,
            q->reward_high);
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

/* Prints as many names as take little room. */
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
        add(out, "%severy user needs an id (user: required)", out[0] != '\0' ? "; " : "");
    return out[0] != '\0' ? out : NULL;
}

/* --- JSON ------------------------------------------------------------------------------------------ */

static void put_bandit(tacit__json_writer *to, const tacit_bandit *b)
{
    tacit__json_put_count(to, "features", b->dimension);
    tacit__json_put_flag(to, "shared", !b->disjoint);
    tacit__json_put_real(to, "bound", b->bound);
    if (b->context_dimension > 0)
        tacit__json_put_count(to, "context", b->context_dimension);
    if (b->complementary)
        tacit__json_put_flag(to, "complementary", true);
    if (b->parameter_norm > 0)
        tacit__json_put_real(to, "parameter_norm", b->parameter_norm);
    if (b->weights != NULL)
        tacit__json_put_flag(to, "weights", true);
    if (b->kernel != NULL)
        tacit__json_put_string(to, "kernel", b->kernel);
}

static void put_linear(tacit__json_writer *to, const tacit_linear *l)
{
    tacit__json_put_count(to, "features", l->dimension);
    tacit__json_put_flag(to, "shared", true);
    tacit__json_put_real(to, "bound", l->bound);
    if (l->simplex)
        tacit__json_put_flag(to, "simplex", true);
}

static void put_names(tacit__json_writer *to, const tacit_service_learner *l)
{
    if (l->action_names != NULL) {
        tacit__json_begin_list(to, "action_names");
        for (size_t i = 0; i < l->request->n_actions; i++)
            tacit__json_put_string(to, NULL, l->action_names[i]);
        tacit__json_end(to);
    }
    if (l->context != NULL)
        tacit__json_put_string(to, "columns", l->context);
    if (l->user_required)
        tacit__json_put_string(to, "user", "required");
}

void cli_put_space(tacit__json_writer *to, const tacit_service_learner *l)
{
    const tacit_agent_request *q = l->request;
    tacit__json_begin_object(to, "space");
    tacit__json_put_count(to, "states", q->n_states);
    tacit__json_put_count(to, "actions", q->n_actions);
    tacit__json_put_count(to, "horizon", q->horizon);
    tacit__json_put_flag(to, "stationary", q->stationary);
    if (q->reward_low != 0 || q->reward_high != 0) {
        tacit__json_put_real(to, "reward_low", q->reward_low);
        tacit__json_put_real(to, "reward_high", q->reward_high);
    }
    if (q->bandit != NULL)
        put_bandit(to, q->bandit);
    if (q->linear != NULL)
        put_linear(to, q->linear);
    if (q->mixture != NULL)
        tacit__json_put_count(to, "parts", q->mixture->dimension);
    put_names(to, l);
    tacit__json_end(to);
}

/* See context_action_pairs.h. */
#include "agents/bandit/context_action_pairs.h"

#include "base/error.h"

tacit_status tacit__pairs_read(const tacit__reading *r, tacit__pairs *out, tacit_error *err)
{
    TACIT__REQUIRE(r != NULL && out != NULL);
    const tacit_agent_request *q = r->request;
    const tacit_bandit *b = q->bandit;
    if (b == NULL || b->points == NULL || b->disjoint)
        return tacit__reading_fail(
            r, err, TACIT_UNSUPPORTED,
            "%s needs numbered contexts and features for each of their actions, as in "
            "kernel-bandit, or linear-bandit with shared arms and contexts > 0; in a service, "
            "space: {states: 20, horizon: 1, features: FILE}",
            r->kind->name);
    const char *text = tacit__value_of(&r->values, "kernel")->text;
    tacit_error reason = {0};
    if (text[0] == '\0')
        text = b->kernel != NULL ? b->kernel : "se(0.2)";
    *out = (tacit__pairs){.n_contexts = q->n_states,
                          .n_actions = q->n_actions,
                          .points = b->points,
                          .weights = b->weights};
    if (tacit__kernel_read(text, b->dimension, b->context_dimension, &out->kernel, &reason) !=
        TACIT_OK)
        return tacit__value_fail(&r->values, "kernel", err, TACIT_BAD_ARGUMENT, "%s: %s",
                                 r->kind->name, reason.message);
    tacit__kernel_fit(&out->kernel, q->n_states * q->n_actions, b->points);
    return TACIT_OK;
}

double tacit__pairs_norm(const tacit__reading *r)
{
    TACIT__REQUIRE(r->request->bandit != NULL);
    double known = r->request->bandit->parameter_norm;
    return tacit__value_or(&r->values, "norm", known > 0 ? known : 0.5);
}

tacit_status tacit__pairs_find(const tacit__pairs *pairs, const tacit_trajectory *user,
                               size_t *pair, tacit_error *err)
{
    TACIT__REQUIRE(user->states != NULL && user->actions != NULL);
    if (user->states == NULL || user->states[0] >= pairs->n_contexts ||
        user->actions[0] >= pairs->n_actions || !(user->rewards[0] >= 0 && user->rewards[0] <= 1))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "the context or the action does not exist, or the reward is not in "
                           "[0, 1]");
    *pair = user->states[0] * pairs->n_actions + user->actions[0];
    return TACIT_OK;
}

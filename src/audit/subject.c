/* See audit/subject.h. A subject made from a request: every instance is a fresh agent with the given seed. */
#include "audit/subject.h"

#include "agents/agent_inside.h"
#include "base/error.h"

static tacit_status open(const tacit__subject *subject, uint64_t seed, void **instance,
                         tacit_error *err)
{
    tacit_noise *noise = NULL;
    tacit_agent *agent = NULL;
    tacit_status status = tacit_noise_create_simulated(seed, &noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit_agent_create(subject->self, noise, &agent, err);
    tacit_noise_destroy(noise);
    *instance = agent;
    return status;
}

static void close(void *instance)
{
    tacit_agent_destroy(instance);
}

static tacit_ledger *ledger(void *instance)
{
    return tacit__agent_ledger(instance);
}

static tacit_status plan(void *instance, tacit_billboard *out, tacit_error *err)
{
    return tacit_agent_plan(instance, out, err);
}

static tacit_status act(void *instance, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err)
{
    return tacit_agent_act(instance, situation, chance, action, probability, err);
}

static tacit_status learn(void *instance, const tacit_trajectory *user, tacit_error *err)
{
    return tacit_agent_learn(instance, user, err);
}

static tacit_status report(void *instance, const tacit_trajectory *user, void *bytes, size_t *size,
                           tacit_error *err)
{
    return tacit_agent_report(instance, user, bytes, size, err);
}

static tacit_status publish(void *instance, void *bytes, size_t *size, tacit_error *err)
{
    return tacit_agent_publish(instance, bytes, size, err);
}

static tacit_status follow(void *instance, const void *bytes, size_t size, tacit_error *err)
{
    return tacit_agent_follow(instance, bytes, size, err);
}

tacit__subject tacit__subject_agent(const tacit_agent_request *request, tacit_agent *example)
{
    TACIT__REQUIRE(request != NULL && example != NULL);
    tacit__subject s = {.self = request,
                        .form = tacit__form_of(request),
                        .claim = request->guarantee,
                        .users = request->episodes,
                        .visits = request->visits,
                        .apart = request->apart,
                        .declared = tacit_agent_release_plan(example),
                        .declares_itself = true,
                        .open = open,
                        .close = close,
                        .ledger = ledger,
                        .plan = plan,
                        .act = act,
                        .learn = learn};
    tacit_billboard board;
    size_t size = 0;
    if (request->guarantee.model != TACIT_MODEL_LOCAL)
        return s;
    if (tacit_agent_report(example, &(tacit_trajectory){0}, NULL, &size, NULL) == TACIT_OK)
        s.report = report;
    if (s.report != NULL && tacit_agent_plan(example, &board, NULL) == TACIT_OK &&
        tacit_agent_publish(example, NULL, &size, NULL) == TACIT_OK) {
        s.publish = publish;
        s.follow = follow;
    }
    return s;
}

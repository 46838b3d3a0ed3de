/* See audit/subject.h. */
#include "audit/subject.h"

#include "agents/agent.h"
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

tacit__subject tacit__subject_agent(const tacit_agent_request *request, const tacit_agent *example)
{
    return (tacit__subject){.self = request,
                            .form = tacit__form_of(request),
                            .claim = request->guarantee,
                            .users = request->episodes,
                            .declared = tacit_agent_release_plan(example),
                            .declares_itself = true,
                            .open = open,
                            .close = close,
                            .ledger = ledger,
                            .plan = plan,
                            .act = act,
                            .learn = learn};
}

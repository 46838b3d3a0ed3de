/* The list of agents, and the public face of one. See include/tacit/agent.h.
 *
 * Families of agents (tabular now) keep their kinds in tables; this file strings the tables together, checks what
 * all requests have in common, and forwards. */
#include <tacit/agent.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/agent.h"
#include "agents/tabular.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"

struct tacit_agent {
    tacit__tabular_agent *tabular;
};

size_t tacit_agent_kind_count(void)
{
    return tacit__tabular_kind_count;
}

const tacit_agent_kind *tacit_agent_kind_at(size_t i)
{
    return i < tacit__tabular_kind_count ? &tacit__tabular_kinds[i] : NULL;
}

const tacit_agent_kind *tacit_agent_kind_find(const char *name)
{
    for (size_t i = 0; i < tacit_agent_kind_count(); i++)
        if (strcmp(tacit_agent_kind_at(i)->name, name) == 0)
            return tacit_agent_kind_at(i);
    return NULL;
}

static unsigned model_bit(tacit_guarantee g)
{
    if (g.model == TACIT_MODEL_NONE)
        return TACIT_AGENT_NONE;
    if (g.model == TACIT_MODEL_JOINT)
        return g.delta > 0 ? TACIT_AGENT_JOINT : TACIT_AGENT_JOINT_PURE;
    return g.delta > 0 ? TACIT_AGENT_LOCAL : TACIT_AGENT_LOCAL_PURE;
}

static const char *model_name(unsigned bit)
{
    switch (bit) {
    case TACIT_AGENT_NONE:
        return "none";
    case TACIT_AGENT_JOINT_PURE:
        return "joint with delta 0";
    case TACIT_AGENT_JOINT:
        return "joint with delta > 0";
    case TACIT_AGENT_LOCAL_PURE:
        return "local with delta 0";
    default:
        return "local with delta > 0";
    }
}

static tacit_status refuse_model(const tacit_agent_request *r, const tacit_agent_kind *kind,
                                 tacit_error *err)
{
    char what[160] = "";
    for (unsigned bit = TACIT_AGENT_NONE; bit <= TACIT_AGENT_LOCAL; bit *= 2)
        if (kind->models & bit) {
            size_t used = strlen(what);
            (void)snprintf(what + used, sizeof what - used, "%s%s", used > 0 ? ", " : "",
                           model_name(bit));
        }
    return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
                          "%s has no model '%s'; it has: %s", kind->name,
                          model_name(model_bit(r->guarantee)), what);
}

static tacit_status check_request(const tacit_agent_request *r, const tacit_agent_kind *kind,
                                  tacit_error *err)
{
    const tacit_guarantee *g = &r->guarantee;
    size_t line = (size_t)r->line;
    if (r->n_states == 0 || r->n_actions == 0 || r->horizon == 0)
        return tacit__fail_at(err, TACIT_BAD_COUNT, r->file, line,
                              "states, actions and horizon must be at least 1");
    if (r->episodes == 0)
        return tacit__fail_at(err, TACIT_BAD_COUNT, r->file, line,
                              "episodes is 0, expected at least 1");
    if (g->model != TACIT_MODEL_NONE && !(g->epsilon > 0 && isfinite(g->epsilon)))
        return tacit__fail_at(err, TACIT_BAD_EPSILON, r->file, line,
                              "epsilon is %g, expected a finite number greater than 0", g->epsilon);
    if (g->model != TACIT_MODEL_NONE && !(g->delta >= 0 && g->delta < 1))
        return tacit__fail_at(err, TACIT_BAD_DELTA, r->file, line,
                              "delta is %g, expected a number in [0, 1)", g->delta);
    if ((kind->models & model_bit(*g)) == 0)
        return refuse_model(r, kind, err);
    if (r->calibration != TACIT_CALIBRATION_TIGHT && g->model != TACIT_MODEL_NONE && g->delta > 0)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, line,
                              "the published calibrations use Laplace noise: set delta to 0");
    return TACIT_OK;
}

tacit_status tacit_agent_create(const tacit_agent_request *request, tacit_noise *noise,
                                tacit_agent **out, tacit_error *err)
{
    if (request == NULL || request->kind == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_agent_kind *kind = tacit_agent_kind_find(request->kind);
    if (kind == NULL)
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, request->file, (size_t)request->line,
                              "there is no agent '%s'; `tacit agents` lists them", request->kind);
    tacit_status status = check_request(request, kind, err);
    if (status != TACIT_OK)
        return status;
    if (noise == NULL && request->guarantee.model != TACIT_MODEL_NONE)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a private agent needs a source of noise");
    tacit_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    status = tacit__tabular_agent_create((size_t)(kind - tacit__tabular_kinds), request, noise,
                                         &agent->tabular, err);
    if (status != TACIT_OK) {
        tacit_agent_destroy(agent);
        return status;
    }
    *out = agent;
    return TACIT_OK;
}

void tacit_agent_destroy(tacit_agent *agent)
{
    if (agent != NULL)
        tacit__tabular_agent_destroy(agent->tabular);
    tacit__free(agent);
}

tacit_status tacit_agent_plan(tacit_agent *agent, tacit_billboard *out, tacit_error *err)
{
    return tacit__tabular_agent_plan(agent->tabular, out, err);
}

tacit_status tacit_agent_learn(tacit_agent *agent, const tacit_trajectory *user, tacit_error *err)
{
    return tacit__tabular_agent_learn(agent->tabular, user, err);
}

const tacit_plan *tacit_agent_release_plan(const tacit_agent *agent)
{
    return tacit__tabular_agent_release_plan(agent->tabular);
}

const char *tacit_agent_remark(const tacit_agent *agent)
{
    return tacit__tabular_agent_remark(agent->tabular);
}

tacit_ledger *tacit__agent_ledger(const tacit_agent *agent)
{
    return tacit__tabular_agent_ledger(agent->tabular);
}

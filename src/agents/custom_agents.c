/* Agents that a program registers: a family whose kinds are added at run time, and which calls the methods of
 * the program. */

#include "agents/agent_base.h"
#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/settings.h"

enum { MAX_CUSTOM = 64 };

static tacit__agent_row kinds[MAX_CUSTOM]; /* their parts are their methods */
static tacit__agent_rows rows = {.at = kinds};

typedef struct custom {
    tacit__agent_base base;
    const tacit_agent_methods *methods;
    void *self;
} custom;

static tacit_status build(void *learner, const tacit__reading *r, tacit_noise *noise,
                          tacit_error *err)
{
    custom *agent = learner;
    const tacit_agent_request *q = r->request;
    tacit_error said = {.message = ""};
    agent->methods = agent->base.row->parts;
    const tacit_status status = agent->methods->create(q, r->values.at, noise, &agent->self, &said);
    if (status != TACIT_OK) {
        agent->self = NULL;
        return tacit__reading_fail(r, err, status, "%s: %s", r->kind->name,
                                   said.message[0] != '\0' ? said.message
                                                           : tacit_status_message(status));
    }
    if (agent->methods->ledger != NULL)
        agent->base.ledger = agent->methods->ledger(agent->self);
    if (q->guarantee.model != TACIT_MODEL_NONE && agent->base.ledger == NULL)
        return tacit__reading_fail(r, err, TACIT_BAD_PLAN,
                                   "%s: a guarantee was requested, but there is no ledger",
                                   r->kind->name);
    return TACIT_OK;
}

static void clear(void *learner)
{
    custom *o = learner;
    if (o->self != NULL)
        o->methods->destroy(o->self);
}

/* A failure without words gets the general ones. */
static tacit_status worded(tacit_status status, tacit_error *err)
{
    if (status != TACIT_OK && err != NULL && err->message[0] == '\0')
        return tacit__fail_plain(err, status);
    return status;
}

static tacit_status plan(void *agent, tacit_billboard *out, tacit_error *err)
{
    custom *o = agent;
    tacit_billboard board = {0};
    tacit_status status = worded(o->methods->plan(o->self, &board, err), err);
    if (status == TACIT_OK && (board.policy == NULL) == (board.mixed == NULL))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a billboard needs a policy or a mixed one, and not both");
    if (status == TACIT_OK)
        *out = board;
    return status;
}

static tacit_status learn(void *agent, const tacit_trajectory *user, tacit_error *err)
{
    custom *o = agent;
    return worded(o->methods->learn(o->self, user, err), err);
}

static const char *remark(const void *agent)
{
    const custom *o = agent;
    const char *text = o->methods->remark != NULL ? o->methods->remark(o->self) : NULL;
    return text != NULL ? text : "";
}

const tacit__family tacit__family_custom = {.rows = &rows,
                                            .size = sizeof(custom),
                                            .build = build,
                                            .clear = clear,
                                            .plan = plan,
                                            .learn = learn,
                                            .remark = remark};

tacit_status tacit_agent_register(const tacit_agent_kind *kind, const tacit_agent_methods *methods,
                                  tacit_error *err)
{
    if (kind == NULL || methods == NULL || methods->create == NULL || methods->destroy == NULL ||
        methods->plan == NULL || methods->learn == NULL || kind->help == NULL ||
        kind->source == NULL || kind->models == 0 ||
        (kind->parameters == NULL && kind->n_parameters > 0))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (!tacit__is_name(kind->name))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a kind of agent needs a name of at most 64 lowercase letters, digits, "
                           "dashes and underscores");
    if (kind->models != TACIT_AGENT_NONE && methods->ledger == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "'%s' promises privacy, so it needs a ledger through which its numbers "
                           "are released",
                           kind->name);
    if (tacit_agent_kind_find(kind->name) != NULL || tacit_agent_alias_find(kind->name) != NULL)
        return tacit__fail(err, TACIT_EXISTS, "there is an agent '%s' already", kind->name);
    if (rows.n == MAX_CUSTOM || kind->n_parameters > TACIT__MAX_PARAMETERS)
        return tacit__fail(err, TACIT_TOO_LARGE,
                           "at most %d kinds with at most %d parameters each can be registered",
                           MAX_CUSTOM, TACIT__MAX_PARAMETERS);
    kinds[rows.n++] = (tacit__agent_row){.kind = *kind, .parts = methods};
    return TACIT_OK;
}

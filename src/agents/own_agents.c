/* Agents that a program registers: a family whose kinds are added at run time, and which calls the methods of
 * the program. */

#include "agents/family.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"

enum { MAX_OWN = 64, MAX_PARAMETERS = 32 };

static tacit__agent_row kinds[MAX_OWN]; /* their parts are their methods */
static tacit__agent_rows rows = {.at = kinds};

typedef struct own {
    const tacit_agent_methods *methods;
    void *self;
} own;

static tacit_status create(const tacit__family *family, const tacit__agent_row *row,
                           const tacit_agent_request *request, tacit_noise *noise, void **out,
                           tacit_error *err)
{
    (void)family;
    const tacit_agent_kind *kind = &row->kind;
    const tacit__origin origin = {request->file, request->line, kind->name};
    tacit__value values[MAX_PARAMETERS];
    TRY(tacit__settings_read(kind->parameters, kind->n_parameters, request->settings,
                             request->n_settings, &origin, values, err));
    own *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    agent->methods = row->parts;
    tacit_error said = {.message = ""};
    tacit_status status = agent->methods->create(request, values, noise, &agent->self, &said);
    if (status != TACIT_OK) {
        tacit__free(agent);
        return tacit__fail_at(
            err, status, request->file, (size_t)request->line, "%s: %s", kind->name,
            said.message[0] != '\0' ? said.message : tacit_status_message(status));
    }
    if (request->guarantee.model != TACIT_MODEL_NONE &&
        agent->methods->ledger(agent->self) == NULL) {
        agent->methods->destroy(agent->self);
        tacit__free(agent);
        return tacit__fail_at(err, TACIT_BAD_PLAN, request->file, (size_t)request->line,
                              "%s: a guarantee was requested, but there is no ledger", kind->name);
    }
    *out = agent;
    return TACIT_OK;
}

static void destroy(void *agent)
{
    own *o = agent;
    if (o != NULL)
        o->methods->destroy(o->self);
    tacit__free(o);
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
    own *o = agent;
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
    own *o = agent;
    return worded(o->methods->learn(o->self, user, err), err);
}

static tacit_ledger *ledger(const void *agent)
{
    const own *o = agent;
    return o->methods->ledger != NULL ? o->methods->ledger(o->self) : NULL;
}

static const char *remark(const void *agent)
{
    const own *o = agent;
    const char *text = o->methods->remark != NULL ? o->methods->remark(o->self) : NULL;
    return text != NULL ? text : "";
}

const tacit__family tacit__family_own = {.rows = &rows,
                                         .create = create,
                                         .destroy = destroy,
                                         .plan = plan,
                                         .learn = learn,
                                         .ledger = ledger,
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
    if (rows.n == MAX_OWN || kind->n_parameters > MAX_PARAMETERS)
        return tacit__fail(err, TACIT_TOO_LARGE,
                           "at most %d kinds with at most %d parameters each can be registered",
                           MAX_OWN, MAX_PARAMETERS);
    kinds[rows.n++] = (tacit__agent_row){.kind = *kind, .parts = methods};
    return TACIT_OK;
}

/* Tabular agents: one curator (curate/tabular_curator.c) and the planner of the learner's row
 * (tabular_learners.c). */
#include "agents/tabular_agents.h"
#include "base/error.h"
#include "base/memory.h"

typedef struct tabular_agent {
    tacit__tabular *curator;
    const tacit__planner *methods;
    void *planner;
    char remark[400];
} tabular_agent;

static void destroy(void *self)
{
    tabular_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__tabular_destroy(agent->curator);
    agent->methods->destroy(agent->planner);
    tacit__free(agent);
}

static bool is_sparse(const tabular_agent *agent)
{
    tacit__counts counts;
    return tacit__tabular_release(agent->curator, &counts, NULL) == TACIT_OK &&
           counts.moves == NULL;
}

static tacit_status build(tabular_agent *agent, const tacit__reading *r, const tabular_parts *parts,
                          tacit_noise *noise, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    tacit__tabular_options curator;
    tacit_error reason = {0};
    tacit_status status = tacit__tabular_read(r, parts, &curator, err);
    if (status != TACIT_OK)
        return status;
    status = tacit__tabular_create(&curator, noise, &agent->curator, &reason);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    tacit__planner_options planner = tacit__tabular_planning(r, parts);
    planner.tie_seed = tacit__reading_tie_seed(noise);
    planner.sparse = is_sparse(agent);
    if (planner.sparse && !parts->planner->reads_lists)
        return tacit__fail_at(err, TACIT_TOO_LARGE, q->file, (size_t)q->line,
                              "%s has no sparse counts, which so many states need; ucbvi has",
                              r->kind->name);
    status = parts->planner->create(curator.space, &planner, &r->values, &agent->planner, err);
    if (status != TACIT_OK)
        return status == TACIT_NO_MEMORY ? tacit__fail_plain(err, status) : status;
    tacit__tabular_remark(r, &curator, tacit__tabular_ledger(agent->curator),
                          parts->planner->remark != NULL ? parts->planner->remark(agent->planner)
                                                         : "",
                          agent->remark, sizeof agent->remark);
    return TACIT_OK;
}

static tacit_status create(const tacit__agent_row *row, const tacit_agent_request *request,
                           tacit_noise *noise, void **out, tacit_error *err)
{
    if (request->calibration != TACIT_CALIBRATION_TIGHT && request->guarantee.delta > 0 &&
        request->guarantee.model != TACIT_MODEL_NONE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, request->file, (size_t)request->line,
                              "the published calibrations use Laplace noise: set delta to 0");
    tacit__reading r;
    tacit_status status = tacit__reading_open(request, &row->kind, &r, err);
    if (status != TACIT_OK)
        return status;
    if (request->n_states == 0)
        return tacit__reading_fail(&r, err, TACIT_UNSUPPORTED,
                                   "%s counts states, so they must be numbered; in a service, "
                                   "space: {states: 6}",
                                   row->kind.name);
    const tabular_parts *parts = row->parts;
    tabular_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    agent->methods = parts->planner;
    TACIT__REQUIRE(agent->methods->create != NULL && agent->methods->destroy != NULL &&
                   agent->methods->plan != NULL && agent->methods->fields != NULL);
    status = build(agent, &r, parts, noise, err);
    if (status != TACIT_OK) {
        destroy(agent);
        return status;
    }
    *out = agent;
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__counts counts;
    tacit_status status = tacit__tabular_release(agent->curator, &counts, err);
    if (status == TACIT_OK)
        *out = agent->methods->plan(agent->planner, &counts);
    return status;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    return tacit__tabular_add(((tabular_agent *)self)->curator, user, err);
}

static tacit_status report(void *self, const tacit_trajectory *user, void *bytes, size_t *size,
                           tacit_error *err)
{
    return tacit__tabular_report(((tabular_agent *)self)->curator, user, bytes, size, err);
}

static tacit_status absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    return tacit__tabular_absorb(((tabular_agent *)self)->curator, bytes, size, err);
}

static tacit_status check_report(const void *self, const void *bytes, size_t size, tacit_error *err)
{
    return tacit__tabular_check_report(((const tabular_agent *)self)->curator, bytes, size, err);
}

static void fields(void *self, tacit__saved *s)
{
    tabular_agent *agent = self;
    s->wrong = "the saved planner contradicts itself";
    agent->methods->fields(agent->planner, s);
    tacit__tabular_fields(agent->curator, s);
}

static tacit_ledger *ledger(const void *self)
{
    return tacit__tabular_ledger(((const tabular_agent *)self)->curator);
}

static const char *remark(const void *self)
{
    return ((const tabular_agent *)self)->remark;
}

const tacit__family tacit__family_tabular = {
    .rows = &tacit__tabular_rows,
    .looks_ahead = true,
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .report = report,
    .absorb = absorb,
    .check_report = check_report,
    .fields = fields,
    .ledger = ledger,
    .remark = remark,
};

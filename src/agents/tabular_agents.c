/* Tabular agents: one curator (curate/tabular_curator.c) and the planner of the learner's row
 * (tabular_learners.c). */
#include "agents/tabular_agents.h"
#include "agents/agent_base.h"
#include "base/error.h"

typedef struct tabular_agent {
    tacit__agent_base base;
    void *planner;
    uint64_t planned; /* users in the release that the planner has seen last, + 1; 0: none yet */
    char remark[400];
} tabular_agent;

static const tacit__planner *methods(const tabular_agent *agent)
{
    return ((const tabular_parts *)agent->base.row->parts)->planner;
}

static void clear(void *self)
{
    tabular_agent *agent = self;
    methods(agent)->destroy(agent->planner);
}

static bool is_sparse(const tabular_agent *agent)
{
    tacit__counts counts;
    return tacit__tabular_release(agent->base.curator, &counts, NULL) == TACIT_OK &&
           counts.moves == NULL;
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    tabular_agent *agent = self;
    const tabular_parts *parts = agent->base.row->parts;
    const tacit_agent_request *q = r->request;
    tacit__tabular_options curator;
    tacit_error reason = {0};
    TACIT__REQUIRE(parts->planner->create != NULL && parts->planner->destroy != NULL &&
                   parts->planner->plan != NULL && parts->planner->fields != NULL);
    if (q->n_states == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s counts states, so they must be numbered; in a service, "
                                   "space: {states: 6}",
                                   r->kind->name);
    TRY(tacit__tabular_read(r, parts, &curator, err));
    tacit__tabular *made = NULL;
    tacit_status status = tacit__tabular_create(&curator, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    tacit__planner_options planner = tacit__tabular_planning(r, parts);
    planner.tie_seed = tacit__reading_tie_seed(noise);
    planner.sparse = is_sparse(agent);
    if (planner.sparse && !parts->planner->reads_lists)
        return tacit__fail_at(
            err, TACIT_TOO_LARGE, q->file, (size_t)q->line,
            "this many states need sparse counts, which %s does not have; ucbvi does",
            r->kind->name);
    status = parts->planner->create(curator.space, &planner, &r->values, &agent->planner, err);
    if (status != TACIT_OK)
        return status == TACIT_NO_MEMORY ? tacit__fail_plain(err, status) : status;
    tacit__tabular_fill_plays(&agent->base, r, &curator);
    if (parts->planner->plays != NULL) {
        const tacit__counts last = tacit__tabular_last(agent->base.curator);
        parts->planner->plays(agent->planner, &last, &agent->base.plays);
    }
    tacit__tabular_remark(r, &curator, tacit__tabular_ledger(agent->base.curator),
                          parts->planner->remark != NULL ? parts->planner->remark(agent->planner)
                                                         : "",
                          agent->remark, sizeof agent->remark);
    return TACIT_OK;
}

static tacit_status check(const tacit_agent_request *q, tacit_error *err)
{
    if (q->calibration != TACIT_CALIBRATION_TIGHT && q->guarantee.delta > 0 &&
        q->guarantee.model != TACIT_MODEL_NONE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)q->line,
                              "the published calibrations use Laplace noise: set delta to 0");
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__counts counts;
    TRY(tacit__tabular_release(agent->base.curator, &counts, err));
    counts.again = agent->planned == counts.users + 1;
    agent->planned = counts.users + 1;
    *out = methods(agent)->plan(agent->planner, &counts);
    return TACIT_OK;
}

static void fields(void *self, tacit__saved *s)
{
    tabular_agent *agent = self;
    s->wrong = "the saved planner contradicts itself";
    methods(agent)->fields(agent->planner, s);
    tacit__tabular_fields(agent->base.curator, s);
}

static const char *remark(const void *self)
{
    return ((const tabular_agent *)self)->remark;
}

const tacit__family tacit__family_tabular = {
    .rows = &tacit__tabular_rows,
    .looks_ahead = true,
    .size = sizeof(tabular_agent),
    .check = check,
    .build = build,
    .clear = clear,
    .plan = plan,
    .fields = fields,
    .remark = remark,
};

/* Tabular agents: counts of a table (contribute/tabular.h) and the planner of the learner's row
 * (tabular_learners.c). */
#include "agents/tabular/tabular_agents.h"
#include "agents/agent_base.h"
#include "base/error.h"
#include "base/memory.h"
#include "release/curator.h"
#include "release/schedule.h"

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

static tacit__counts view(const tabular_agent *agent)
{
    const tacit__curator *c = agent->base.curator;
    return tacit__tabular_view(tacit__curator_form(c), tacit__curator_shown(c));
}

/* `growth` above 1: users have grown by so much at each release. */
static tacit_status create_curator(tabular_agent *agent, tacit__tabular_options *o, double growth,
                                   tacit_noise *noise, tacit_error *err)
{
    const uint64_t counted = o->episodes > 1 ? o->episodes - 1 : 1;
    tacit__curator_spec spec;
    tacit__curator *made = NULL;
    uint64_t *ends = NULL;
    if (growth > 1 && o->episodes > 0) {
        o->n_ends = (size_t)tacit__schedule_count(counted, growth, NULL);
        o->ends = ends = tacit__schedule_ends(counted, growth, o->n_ends);
        if (ends == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    tacit_status status = tacit__tabular_describe(o, noise, &spec, err);
    if (status == TACIT_OK)
        status = tacit__curator_create(&spec, noise, &made, err);
    agent->base.curator = made;
    o->ends = NULL;
    tacit__free(ends);
    return status;
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    tabular_agent *agent = self;
    const tabular_parts *parts = agent->base.row->parts;
    const tacit_agent_request *q = r->request;
    tacit__tabular_options counts;
    double growth;
    tacit_error reason = {0};
    TACIT__REQUIRE(parts->planner->create != NULL && parts->planner->destroy != NULL &&
                   parts->planner->plan != NULL && parts->planner->fields != NULL);
    if (q->n_states == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s counts states, so they must be numbered; in a service, "
                                   "space: {states: 6}",
                                   r->kind->name);
    TRY(tacit__tabular_read(r, parts, &counts, &growth, err));
    tacit_status status = create_curator(agent, &counts, growth, noise, &reason);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    tacit__planner_options planner = tacit__tabular_planning(r, parts);
    planner.tie_seed = tacit__reading_tie_seed(noise);
    planner.sparse = view(agent).moves == NULL;
    if (planner.sparse && !parts->planner->reads_lists)
        return tacit__fail_at(
            err, TACIT_TOO_LARGE, q->file, (size_t)q->line,
            "this many states need sparse counts, which %s does not have; ucbvi does",
            r->kind->name);
    status = parts->planner->create(counts.space, &planner, &r->values, &agent->planner, err);
    if (status != TACIT_OK)
        return status == TACIT_NO_MEMORY ? tacit__fail_plain(err, status) : status;
    tacit__tabular_fill_plays(&agent->base, r, &counts, growth);
    if (parts->planner->plays != NULL) {
        const tacit__counts last = tacit__tabular_last(tacit__curator_form(agent->base.curator));
        parts->planner->plays(agent->planner, &last, &agent->base.plays);
    }
    tacit__tabular_remark(r, &counts, tacit__base_ledger(&agent->base),
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
    tacit__curator *c = agent->base.curator;
    if (tacit__curator_ends(c) == NULL)
        TRY(tacit__curator_refresh(c, err));
    tacit__counts counts = view(agent);
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
    (void)tacit__curator_fields(agent->base.curator, s);
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

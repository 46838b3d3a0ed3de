/* lsvi-ucb: least-squares value iteration for linear MDPs, in all its schedules. Settings are in
 * lsvi_settings.c, saved states in lsvi_bytes.c.
 *
 * One curator (release/archive/archive.c), one planner (lsvi.c). A switch goes backwards through
 * the steps: the planner says V_{h+1}, the curator shows the response to it. */
#include <math.h>

#include "agents/linear/lsvi_agent.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

static void clear(void *self)
{
    lsvi_agent *agent = self;
    tacit__lsvi_destroy(agent->planner);
    tacit__free(agent->table);
    tacit__free(agent->response);
}

static tacit_status make_rooms(lsvi_agent *agent, const lsvi_design *g, tacit_noise *noise,
                               tacit_error *err)
{
    const tacit_agent_request *q = g->r->request;
    const tacit__archive_options curator = {.space = agent->space,
                                            .scheme = g->scheme,
                                            .episodes = q->episodes,
                                            .visits = q->visits,
                                            .apart = q->apart,
                                            .guarantee = q->guarantee,
                                            .printed = g->printed,
                                            .centered = g->options.centered,
                                            .spans = g->spans,
                                            .range = g->range,
                                            .wide = g->wide,
                                            .archive_bytes = g->archive_bytes};
    const tacit__lsvi_options planner = {.space = agent->space,
                                         .schedule = g->options.schedule,
                                         .switches = g->scheme.switches,
                                         .switch_factor = g->scheme.switch_factor,
                                         .from_last = g->published,
                                         .ridge = g->ridge,
                                         .floor =
                                             g->private ? fmin(g->options.lambda, g->ridge) : 0,
                                         .bonus = g->bonus,
                                         .cap = g->cap,
                                         .center = g->options.centered ? 0.5 : 0};
    tacit_error reason = {0};
    agent->response = tacit__alloc(agent->space.dimension, sizeof *agent->response);
    tacit_status status = agent->response != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    if (status == TACIT_OK)
        status = tacit__lsvi_create(&planner, &agent->planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    tacit__archive *made = NULL;
    status = tacit__archive_create(&curator, noise, &made, &reason);
    agent->base.curator = made;
    return status == TACIT_OK ? TACIT_OK
                              : tacit__reading_fail(g->r, err, status, "%s", reason.message);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    lsvi_agent *agent = self;
    lsvi_design g = {.r = r};
    agent->come_back = r->request->visits > 1 && r->request->guarantee.model != TACIT_MODEL_NONE;
    TRY(tacit__lsvi_read_space(r, &agent->space, err));
    void *memory = TACIT__PIECES(TACIT__PIECE(g.range, r->request->horizon),
                                 TACIT__PIECE(g.cap, r->request->horizon));
    if (memory == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit__lsvi_read_table(agent, r, err);
    if (status == TACIT_OK)
        status = tacit__lsvi_make_design(&g, agent, err);
    if (status == TACIT_OK)
        status = make_rooms(agent, &g, noise, err);
    if (status == TACIT_OK) {
        tacit__lsvi_fingerprint(agent, &g);
        tacit__lsvi_write_remark(agent, &g);
        tacit__lsvi_fill_plays(agent, &g);
    }
    tacit__workspace_destroy(memory);
    return status;
}

/* A new policy, backwards through the steps; if a response is refused, the last one stays. */
static tacit_status switch_policy(lsvi_agent *agent, const double *gram, tacit_error *err)
{
    TACIT__REQUIRE(gram != NULL);
    tacit_status status = TACIT_OK;
    tacit__lsvi_begin(agent->planner, gram);
    for (size_t h = agent->space.horizon; h-- > 0 && status == TACIT_OK;) {
        tacit__target_unit unit;
        const tacit__lsvi_values next = tacit__lsvi_next(agent->planner, h);
        status = tacit__archive_respond(agent->base.curator, h, next.table, next.function,
                                        agent->response, &unit, err);
        if (status == TACIT_OK)
            tacit__lsvi_fit(agent->planner, h, agent->response, unit);
    }
    if (status == TACIT_OK)
        tacit__lsvi_end(agent->planner);
    else
        tacit__lsvi_cancel(agent->planner);
    return status;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    lsvi_agent *agent = self;
    if (tacit__archive_ready(agent->base.curator)) {
        const double *gram;
        TRY(tacit__archive_gram(agent->base.curator, &gram, err));
        if (tacit__lsvi_is_due(agent->planner, gram))
            TRY(switch_policy(agent, gram, err));
        if (tacit__lsvi_is_done(agent->planner) || tacit__archive_is_exhausted(agent->base.curator))
            tacit__archive_close(agent->base.curator);
    }
    *out = tacit__lsvi_board(agent->planner);
    return TACIT_OK;
}

/* If people come back, what they move rests on when releases are made: at the end of a leaf, whether or not
 * anybody has asked for the plan. */
static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    lsvi_agent *agent = self;
    tacit_billboard board;
    if (agent->come_back)
        TRY(plan(agent, &board, err));
    return agent->base.row->curator->add(agent->base.curator,
                                         &(tacit__user_view){.trajectory = user}, err);
}

static tacit_status act(void *self, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err)
{
    lsvi_agent *agent = self;
    const tacit__linear_space *sp = &agent->space;
    if (sp->form != TACIT__CARRIED)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "there is no plan to act by yet");
    if (situation->features == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "states are not numbered: a situation has features of each action");
    for (size_t i = 0; i < sp->n_actions * sp->dimension; i++)
        if (!isfinite(situation->features[i]))
            return tacit__fail(err, TACIT_NOT_FINITE, "feature %zu is not a finite number", i);
    tacit__lsvi_act(agent->planner, situation->step, situation->features, chance, action,
                    probability);
    return TACIT_OK;
}

static const char *remark(const void *self)
{
    return ((const lsvi_agent *)self)->remark;
}

const tacit__family tacit__family_lsvi = {
    .rows = &tacit__lsvi_rows,
    .looks_ahead = true,
    .no_local =
        "value functions are not sums of users' reports, and the papers leave local privacy "
        "for this family open",
    .size = sizeof(lsvi_agent),
    .build = build,
    .clear = clear,
    .plan = plan,
    .learn = learn,
    .act = act,
    .fields = tacit__lsvi_agent_fields,
    .remark = remark,
};

/* lsvi-ucb: least-squares value iteration for linear MDPs, in all its schedules. Settings are in
 * lsvi_settings.c, saved states in lsvi_bytes.c.
 *
 * One curator (curate/lsvi_curator.c), one planner (plan/lsvi.c). A switch goes backwards through
 * the steps: the planner says V_{h+1}, the curator shows the response to it. */
#include <math.h>

#include "agents/lsvi_agent.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

static void destroy(void *self)
{
    lsvi_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__lsvi_data_destroy(agent->curator);
    tacit__lsvi_destroy(agent->planner);
    tacit__free(agent->table);
    tacit__free(agent->response);
    tacit__free(agent);
}

static tacit_status make_rooms(lsvi_agent *agent, const lsvi_design *g, tacit_noise *noise,
                               tacit_error *err)
{
    const tacit_agent_request *q = g->r->request;
    const tacit__lsvi_data_options curator = {.space = agent->space,
                                              .scheme = g->scheme,
                                              .episodes = q->episodes,
                                              .guarantee = q->guarantee,
                                              .printed = g->printed,
                                              .centred = g->wish.centred,
                                              .range = g->range,
                                              .wide = g->wide,
                                              .archive_bytes = g->archive_bytes};
    const tacit__lsvi_options planner = {.space = agent->space,
                                         .schedule = g->wish.schedule,
                                         .switches = g->scheme.switches,
                                         .switch_factor = g->scheme.switch_factor,
                                         .ridge = g->ridge,
                                         .floor = g->private ? fmin(g->wish.lambda, g->ridge) : 0,
                                         .bonus = g->bonus,
                                         .range = g->range,
                                         .cap = g->cap,
                                         .centre = g->wish.centred ? 0.5 : 0};
    tacit_error reason = {0};
    agent->response = tacit__alloc(agent->space.dimension, sizeof *agent->response);
    tacit_status status = agent->response != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    if (status == TACIT_OK)
        status = tacit__lsvi_create(&planner, &agent->planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit__lsvi_data_create(&curator, noise, &agent->curator, &reason);
    return status == TACIT_OK ? TACIT_OK
                              : tacit__reading_fail(g->r, err, status, "%s", reason.message);
}

static tacit_status create(const tacit__agent_row *row, const tacit_agent_request *request,
                           tacit_noise *noise, void **out, tacit_error *err)
{
    tacit__reading r;
    tacit__linear_space space;
    tacit_status status = tacit__reading_open(request, &row->kind, &r, err);
    if (status == TACIT_OK)
        status = tacit__lsvi_read_space(&r, &space, err);
    if (status != TACIT_OK)
        return status;
    lsvi_agent *agent = tacit__alloc(1, sizeof *agent);
    lsvi_design g = {.r = &r};
    void *memory = TACIT__PIECES(TACIT__PIECE(g.range, request->horizon),
                                 TACIT__PIECE(g.cap, request->horizon));
    if (agent == NULL || memory == NULL) {
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    } else {
        agent->space = space;
        status = tacit__lsvi_read_table(agent, &r, err);
        if (status == TACIT_OK)
            status = tacit__lsvi_make_design(&g, agent, err);
        if (status == TACIT_OK)
            status = make_rooms(agent, &g, noise, err);
    }
    if (status == TACIT_OK) {
        tacit__lsvi_fingerprint(agent, &g);
        tacit__lsvi_write_remark(agent, &g);
        *out = agent;
    } else {
        destroy(agent);
    }
    tacit__workspace_destroy(memory);
    return status;
}

/* A new policy, backwards through the steps. */
static tacit_status switch_policy(lsvi_agent *agent, const double *gram, tacit_error *err)
{
    tacit__lsvi_begin(agent->planner, gram);
    for (size_t h = agent->space.horizon; h-- > 0;) {
        tacit__lsvi_values next = tacit__lsvi_next(agent->planner, h);
        tacit_status status = tacit__lsvi_data_respond(agent->curator, h, next.table, next.function,
                                                       agent->response, err);
        if (status != TACIT_OK)
            return status;
        tacit__lsvi_fit(agent->planner, h, agent->response);
    }
    tacit__lsvi_end(agent->planner);
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    lsvi_agent *agent = self;
    if (tacit__lsvi_data_ready(agent->curator)) {
        const double *gram;
        tacit_status status = tacit__lsvi_data_gram(agent->curator, &gram, err);
        if (status == TACIT_OK && tacit__lsvi_is_due(agent->planner, gram))
            status = switch_policy(agent, gram, err);
        if (status != TACIT_OK)
            return status;
        if (tacit__lsvi_is_done(agent->planner) || tacit__lsvi_data_is_spent(agent->curator))
            tacit__lsvi_data_close(agent->curator);
    }
    *out = tacit__lsvi_board(agent->planner);
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    lsvi_agent *agent = self;
    return tacit__lsvi_data_add(agent->curator, user, err);
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

static tacit_ledger *ledger(const void *self)
{
    return tacit__lsvi_data_ledger(((const lsvi_agent *)self)->curator);
}

static const char *remark(const void *self)
{
    return ((const lsvi_agent *)self)->remark;
}

const tacit__family tacit__family_lsvi = {
    .rows = &tacit__lsvi_rows,
    .looks_ahead = true,
    .no_local = "value functions are no sums of users' reports, and the papers leave local privacy "
                "for this family open",
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .act = act,
    .fields = tacit__lsvi_agent_fields,
    .ledger = ledger,
    .remark = remark,
};

/* Tabular agents: one curator (curate/tabular_curator.c) and one of four planners, which tabular_settings.c chooses. */
#include <string.h>

#include "agents/family.h"
#include "agents/tabular_agents.h"
#include "base/error.h"
#include "base/memory.h"

static void destroy(void *self)
{
    tabular_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__tabular_destroy(agent->curator);
    tacit__ucbvi_destroy(agent->ucbvi);
    tacit__private_ucb_destroy(agent->private_ucb);
    tacit__pucb_destroy(agent->pucb);
    tacit__ldp_obi_destroy(agent->ldp_obi);
    tacit__free(agent);
}

static tacit_status create(size_t kind, const tacit_agent_request *request, tacit_noise *noise,
                           void **out, tacit_error *err)
{
    if (request->calibration != TACIT_CALIBRATION_TIGHT && request->guarantee.delta > 0 &&
        request->guarantee.model != TACIT_MODEL_NONE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, request->file, (size_t)request->line,
                              "the published calibrations use Laplace noise: set delta to 0");
    tacit__reading r;
    tacit_status status = tacit__reading_open(request, &tacit__tabular_kinds[kind], &r, err);
    if (status != TACIT_OK)
        return status;
    if (request->n_states == 0)
        return tacit__reading_fail(&r, err, TACIT_UNSUPPORTED,
                                   "%s counts states, so they must be numbered; in a service, "
                                   "space: {states: 6}",
                                   tacit__tabular_kinds[kind].name);
    tacit__tabular_options curator;
    status = tacit__tabular_read(&r, kind, &curator, err);
    if (status != TACIT_OK)
        return status;
    tabular_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_error reason = {0};
    agent->kind = kind;
    status = tacit__tabular_create(&curator, noise, &agent->curator, &reason);
    if (status != TACIT_OK)
        (void)tacit__fail_at(err, status, request->file, (size_t)request->line, "%s",
                             reason.message);
    if (status == TACIT_OK) {
        status = tacit__tabular_plan_by(agent, &r, &curator, tacit__reading_tie_seed(noise), err);
        if (status == TACIT_NO_MEMORY)
            (void)tacit__fail_plain(err, status);
    }
    if (status != TACIT_OK) {
        destroy(agent);
        return status;
    }
    tacit__tabular_remark(agent, &r, &curator);
    *out = agent;
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__counts counts;
    tacit_status status = tacit__tabular_release(agent->curator, &counts, err);
    if (status != TACIT_OK)
        return status;
    tacit_billboard board = agent->ucbvi != NULL ? tacit__ucbvi_plan(agent->ucbvi, &counts)
                            : agent->private_ucb != NULL
                                ? tacit__private_ucb_plan(agent->private_ucb, &counts)
                            : agent->pucb != NULL ? tacit__pucb_plan(agent->pucb, &counts)
                                                  : tacit__ldp_obi_plan(agent->ldp_obi, &counts);
    *out = board;
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    tabular_agent *agent = self;
    return tacit__tabular_add(agent->curator, user, err);
}

static tacit_status report(void *self, const tacit_trajectory *user, void *bytes, size_t *size,
                           tacit_error *err)
{
    tabular_agent *agent = self;
    return tacit__tabular_report(agent->curator, user, bytes, size, err);
}

static tacit_status absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    return tacit__tabular_absorb(((tabular_agent *)self)->curator, bytes, size, err);
}

static tacit_status check_report(const void *self, const void *bytes, size_t size, tacit_error *err)
{
    return tacit__tabular_check_report(((const tabular_agent *)self)->curator, bytes, size, err);
}

static void save_planner(const tabular_agent *agent, tacit__writer *w)
{
    if (agent->ucbvi != NULL)
        tacit__ucbvi_save(agent->ucbvi, w);
    else if (agent->private_ucb != NULL)
        tacit__private_ucb_save(agent->private_ucb, w);
    else if (agent->pucb != NULL)
        tacit__pucb_save(agent->pucb, w);
    else
        tacit__ldp_obi_save(agent->ldp_obi, w);
}

static bool load_planner(tabular_agent *agent, tacit__reader *r)
{
    return agent->ucbvi != NULL         ? tacit__ucbvi_load(agent->ucbvi, r)
           : agent->private_ucb != NULL ? tacit__private_ucb_load(agent->private_ucb, r)
           : agent->pucb != NULL        ? tacit__pucb_load(agent->pucb, r)
                                        : tacit__ldp_obi_load(agent->ldp_obi, r);
}

static tacit_status save(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const tabular_agent *agent = self;
    tacit__writer w = {.at = bytes};
    save_planner(agent, &w);
    tacit_status status = tacit__tabular_save(agent->curator, &w, err);
    if (status == TACIT_OK)
        *size = w.size;
    return status;
}

static tacit_status load(void *self, const void *bytes, size_t size, tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__writer count = {0};
    save_planner(agent, &count);
    uint8_t *fresh = tacit__alloc(count.size, 1); /* what to go back to if the curator refuses */
    if (fresh == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    save_planner(agent, &(tacit__writer){.at = fresh});
    tacit__reader r = {.at = bytes, .left = size};
    tacit_status status = TACIT_OK;
    if (!load_planner(agent, &r))
        status = tacit__fail(err, TACIT_CORRUPT, "the saved planner contradicts itself");
    else
        status = tacit__tabular_load(agent->curator, &r, err);
    if (status != TACIT_OK)
        TACIT__REQUIRE(load_planner(agent, &(tacit__reader){.at = fresh, .left = count.size}));
    tacit__free(fresh);
    return status;
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
    .kinds = tacit__tabular_kinds,
    .n_kinds = TABULAR_KINDS,
    .looks_ahead = true,
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .report = report,
    .absorb = absorb,
    .check_report = check_report,
    .save = save,
    .load = load,
    .ledger = ledger,
    .remark = remark,
};

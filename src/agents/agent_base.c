/* See agents/agent_base.h. */
#include "agents/agent_base.h"

#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"

tacit_status tacit__base_create(const tacit__family *family, const tacit__agent_row *row,
                                const tacit_agent_request *request, tacit_noise *noise,
                                tacit__agent_base **out, tacit_error *err)
{
    TACIT__REQUIRE(family->size >= sizeof(tacit__agent_base) && family->build != NULL);
    tacit__reading r;
    TRY(family->check != NULL ? family->check(request, err) : TACIT_OK);
    TRY(tacit__reading_open(request, &row->kind, &r, err));
    tacit__agent_base *learner = tacit__alloc(1, family->size);
    if (learner == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *learner = (tacit__agent_base){.family = family, .row = row};
    const tacit_status status = family->build(learner, &r, noise, err);
    if (status != TACIT_OK) {
        tacit__base_destroy(learner);
        return status;
    }
    *out = learner;
    return TACIT_OK;
}

void tacit__base_destroy(tacit__agent_base *learner)
{
    if (learner == NULL)
        return;
    if (learner->row->curator != NULL)
        learner->row->curator->destroy(learner->curator);
    learner->family->clear(learner);
    tacit__free(learner);
}

static tacit_status view_user(tacit__agent_base *learner, const tacit_trajectory *user,
                              tacit__user_view *out, tacit_error *err)
{
    *out = (tacit__user_view){.trajectory = user};
    return learner->family->view_user != NULL ? learner->family->view_user(learner, user, out, err)
                                              : TACIT_OK;
}

/* A user has been added, or was refused: a release may be due to the planner. */
static tacit_status follow_up(tacit__agent_base *learner, tacit_status status)
{
    if (learner->family->learned != NULL)
        learner->family->learned(learner);
    return status;
}

tacit_status tacit__base_learn(tacit__agent_base *learner, const tacit_trajectory *user,
                               tacit_error *err)
{
    if (learner->family->learn != NULL)
        return learner->family->learn(learner, user, err);
    TACIT__REQUIRE(learner->curator != NULL);
    tacit__user_view view;
    TRY(view_user(learner, user, &view, err));
    return follow_up(learner, learner->row->curator->add(learner->curator, &view, err));
}

bool tacit__base_has_reports(const tacit__agent_base *learner)
{
    const tacit__curator_kind *curator = learner->row->curator;
    return learner->family->report != NULL || (curator != NULL && curator->report != NULL);
}

tacit_status tacit__base_report(tacit__agent_base *learner, const tacit_trajectory *user,
                                void *bytes, size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(tacit__base_has_reports(learner));
    if (learner->family->report != NULL)
        return learner->family->report(learner, user, bytes, size, err);
    tacit__user_view view = {.trajectory = NULL};
    TRY(bytes != NULL ? view_user(learner, user, &view, err) : TACIT_OK);
    return learner->row->curator->report(learner->curator, &view, bytes, size, err);
}

tacit_status tacit__base_check_report(const tacit__agent_base *learner, const void *bytes,
                                      size_t size, tacit_error *err)
{
    TACIT__REQUIRE(tacit__base_has_reports(learner));
    if (learner->family->check_report != NULL)
        return learner->family->check_report(learner, bytes, size, err);
    return learner->row->curator->check_report(learner->curator, bytes, size, err);
}

tacit_status tacit__base_absorb(tacit__agent_base *learner, const void *bytes, size_t size,
                                tacit_error *err)
{
    TACIT__REQUIRE(tacit__base_has_reports(learner));
    if (learner->family->absorb != NULL)
        return learner->family->absorb(learner, bytes, size, err);
    return follow_up(learner, learner->row->curator->absorb(learner->curator, bytes, size, err));
}

tacit_ledger *tacit__base_ledger(const tacit__agent_base *learner)
{
    const tacit__curator_kind *curator = learner->row->curator;
    return curator != NULL ? curator->ledger(learner->curator) : learner->ledger;
}

const char *tacit__base_remark(const tacit__agent_base *learner)
{
    return learner->family->remark != NULL ? learner->family->remark(learner) : "";
}

/* See curated.h. */
#include "agents/curated.h"

#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"

tacit_status tacit__curated_create(const tacit__family *family, const tacit__agent_row *row,
                                   const tacit_agent_request *request, tacit_noise *noise,
                                   void **out, tacit_error *err)
{
    TACIT__REQUIRE(family->size >= sizeof(tacit__curated) && family->build != NULL);
    tacit__reading r;
    TRY(family->check != NULL ? family->check(request, err) : TACIT_OK);
    TRY(tacit__reading_open(request, &row->kind, &r, err));
    tacit__curated *agent = tacit__alloc(1, family->size);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *agent = (tacit__curated){.family = family, .row = row};
    tacit_status status = family->build(agent, &r, noise, err);
    if (status == TACIT_OK)
        *out = agent;
    else
        tacit__curated_destroy(agent);
    return status;
}

void tacit__curated_destroy(void *self)
{
    tacit__curated *agent = self;
    if (agent == NULL)
        return;
    if (agent->row->curator != NULL)
        agent->row->curator->destroy(agent->curator);
    agent->family->clear(agent);
    tacit__free(agent);
}

static tacit_status view_user(tacit__curated *agent, const tacit_trajectory *user,
                              tacit__user_view *out, tacit_error *err)
{
    *out = (tacit__user_view){.trajectory = user};
    return agent->family->view_user != NULL ? agent->family->view_user(agent, user, out, err)
                                            : TACIT_OK;
}

tacit_status tacit__curated_learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    TACIT__REQUIRE(((tacit__curated *)self)->curator != NULL);
    tacit__curated *agent = self;
    tacit__user_view view;
    TRY(view_user(agent, user, &view, err));
    return agent->row->curator->add(agent->curator, &view, err);
}

tacit_status tacit__curated_report(void *self, const tacit_trajectory *user, void *bytes,
                                   size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(((tacit__curated *)self)->row->curator->report != NULL);
    tacit__curated *agent = self;
    tacit__user_view view = {.trajectory = NULL};
    TRY(bytes != NULL ? view_user(agent, user, &view, err) : TACIT_OK);
    return agent->row->curator->report(agent->curator, &view, bytes, size, err);
}

tacit_status tacit__curated_check_report(const void *self, const void *bytes, size_t size,
                                         tacit_error *err)
{
    TACIT__REQUIRE(((const tacit__curated *)self)->row->curator->check_report != NULL);
    const tacit__curated *agent = self;
    return agent->row->curator->check_report(agent->curator, bytes, size, err);
}

tacit_status tacit__curated_absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    TACIT__REQUIRE(((tacit__curated *)self)->row->curator->absorb != NULL);
    tacit__curated *agent = self;
    return agent->row->curator->absorb(agent->curator, bytes, size, err);
}

tacit_ledger *tacit__curated_ledger(const void *self)
{
    const tacit__curated *agent = self;
    return agent->row->curator != NULL ? agent->row->curator->ledger(agent->curator) : NULL;
}

const tacit__plays *tacit__curated_plays(const void *self)
{
    return &((const tacit__curated *)self)->plays;
}

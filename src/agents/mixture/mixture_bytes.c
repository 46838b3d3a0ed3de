/* Learners for linear mixtures as bytes: models that the server sends, and saved states.
 *
 * A model is the fields of plan/optimist.c: for each regression its radii, estimates and factors, and for
 * policy optimization the logits; 64 bits each, low byte first. A device that knows the public structure of
 * the world makes the same plan of it, bit for bit, and needs nothing else to act and to report. A saved
 * state says how many users the last plan was made from; the model and the curator follow. */

#include "agents/mixture/mixture_agents.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

static void model_fields(const mixture_agent *agent, bool planned, tacit__saved *s)
{
    const bool sound = s->status == TACIT_OK;
    tacit__optimist_fields(agent->planner, planned, s);
    if (sound && s->status == TACIT_CORRUPT)
        s->status = tacit__fail(s->err, TACIT_OUT_OF_BOUND, "the model has impossible numbers");
}

tacit_status tacit__mixture_publish(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(size != NULL);
    tacit__saved s = tacit__saved_save(bytes, size, err);
    while (tacit__saved_next(&s))
        model_fields(self, false, &s);
    if (s.status == TACIT_OK && bytes != NULL)
        tacit__model_reorder(bytes, *size / 8);
    return s.status;
}

tacit_status tacit__mixture_follow(void *self, const void *bytes, size_t size, tacit_error *err)
{
    mixture_agent *agent = self;
    size_t needed = 0;
    uint8_t *words;
    TRY(tacit__mixture_publish(agent, NULL, &needed, err));
    TRY(tacit__model_copy(bytes, size, needed, &words, err));
    tacit__saved s = tacit__saved_load(words, size, err);
    while (tacit__saved_next(&s))
        model_fields(agent, true, &s);
    tacit__free(words);
    if (s.status != TACIT_OK)
        return s.status;
    tacit__mixture_make_plan(agent);
    agent->planned_users = tacit__curator_shown(agent->base.curator); /* own data ask for nothing */
    return TACIT_OK;
}

void tacit__mixture_fields(void *self, tacit__saved *s)
{
    mixture_agent *agent = self;
    uint64_t planned = agent->planned, users = agent->planned_users;
    s->wrong = "the saved learner contradicts itself";
    tacit__saved_value(s, &planned, sizeof planned);
    tacit__saved_value(s, &users, sizeof users);
    tacit__saved_check(s, planned <= 1);
    model_fields(agent, planned != 0, s);
    const uint64_t *ends = tacit__curator_ends(agent->base.curator);
    const uint64_t released = tacit__curator_fields(agent->base.curator, s),
                   shown = ends == NULL   ? released
                           : released > 0 ? ends[released - 1]
                                          : 0;
    tacit__saved_check(s, users <= shown); /* no plan is of more */
    if (s->pass == TACIT__APPLY && planned != 0) {
        tacit__mixture_make_plan(agent);
        agent->planned_users = users;
    }
}

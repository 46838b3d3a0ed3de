/* The cost of adopting a store: see serve/lives.h. */
#include "serve/lives.h"

#include <math.h>

#include <tacit/account.h>

#include "base/error.h"
#include "base/json_text.h"

/* Adds what one plan costs in all lives. */
static bool add_cost(const tacit_plan *plan, const tacit_guarantee *one, uint64_t lives,
                     tacit_guarantee *all)
{
    TACIT__REQUIRE(lives > 0);
    tacit_composition total;
    if (one->model == TACIT_MODEL_NONE)
        return true;
    if (one->model == TACIT_MODEL_LOCAL || lives == 1) {
        all->epsilon += one->epsilon;
    } else if (plan == NULL ||
               tacit_plan_account_lives(plan, lives, one->delta, &total, NULL) != TACIT_OK ||
               !isfinite(total.epsilon.high)) {
        return false;
    } else {
        all->epsilon += total.epsilon.high;
    }
    all->delta += one->delta;
    return true;
}

bool tacit__lives_cost(const tacit_plan *plan, const tacit_guarantee *guarantee,
                       const tacit_plan *monitor, const tacit_guarantee *of_monitor, uint64_t lives,
                       tacit_guarantee *out)
{
    TACIT__REQUIRE(lives > 0);
    *out = (tacit_guarantee){.model = guarantee->model};
    return guarantee->model != TACIT_MODEL_NONE && add_cost(plan, guarantee, lives, out) &&
           add_cost(monitor, of_monitor, lives, out);
}

tacit_status tacit__lives_describe(tacit__vault *vault, const tacit__learner *l, bool cost,
                                   tacit__text *out, tacit_error *err)
{
    const tacit__learner_config *c = tacit__learner_config_of(l);
    const uint64_t lives = tacit__vault_lives(vault);
    tacit_guarantee all;
    tacit__text_print(out, ",\"lives\":%llu,\"adoptions\":", (unsigned long long)lives);
    TRY(tacit__vault_adoptions(vault, tacit__learner_id(l), out, err));
    if (!cost)
        return TACIT_OK;
    tacit__text_put(out, ",\"in_all_lives\":");
    if (tacit__lives_cost(tacit__learner_plan(l), &c->request.guarantee,
                          tacit__learner_monitor_plan(l), &c->monitor, lives, &all)) {
        tacit__text_put(out, "{\"epsilon\":");
        tacit__text_number(out, all.epsilon);
        tacit__text_put(out, ",\"delta\":");
        tacit__text_number(out, all.delta);
        tacit__text_put(out, "}");
    } else {
        tacit__text_put(out, "null");
    }
    return TACIT_OK;
}

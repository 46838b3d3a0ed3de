/* See cli/commands/simulation_result.h. */
#include "cli/commands/simulation_result.h"

#include <math.h>
#include <stdio.h>

#include "cli/print_json.h"

/* The mean of one user, in original units; NaN: not known. */
typedef struct summary {
    double earned, best, regret;
} summary;

static summary sum_up(const cli_simulation *t, const tacit_world *world)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    const cli_score *s = &t->score;
    double earned = s->known > 0 ? s->earned / (double)s->known : (double)NAN;
    double regret = s->users > 0 ? s->regret / (double)s->users : (double)NAN;
    return (summary){.earned = tacit_world_original_value(world, earned),
                     .best = tacit_world_original_value(world, f->optimal_value),
                     .regret = (f->reward_high - f->reward_low) * regret};
}

static int print_json(const cli_simulation *t, const summary *u)
{
    tacit__json_writer out = {.digits = 9};
    tacit__json_begin_object(&out, NULL);
    tacit__json_put_count(&out, "users", t->done);
    tacit__json_put_count(&out, "failures", t->failures);
    tacit__json_put_count(&out, "full", t->full);
    tacit__json_put_count(&out, "late", t->late);
    tacit__json_put_count(&out, "known", t->score.known);
    tacit__json_put_count(&out, "requests", t->requests);
    tacit__json_put_real(&out, "seconds", t->seconds);
    tacit__json_put_real(&out, "mean_return", u->earned);
    tacit__json_put_real(&out, "best_return", u->best);
    tacit__json_put_real(&out, "mean_regret", u->regret);
    tacit__json_put_real(&out, "mean_ms", t->requests > 0 ? t->sum_ms / (double)t->requests : 0.0);
    tacit__json_put_real(&out, "slowest_ms", t->slowest_ms);
    tacit__json_end(&out);
    return cli_print_json(&out);
}

void cli_simulation_print(const cli_simulation *t, const tacit_world *world, bool json)
{
    const summary u = sum_up(t, world);
    if (json) {
        (void)print_json(t, &u);
        return;
    }
    (void)printf("%llu users in %.2f s, %.0f requests/s, slowest answer %.1f ms",
                 (unsigned long long)t->done, t->seconds, (double)t->requests / t->seconds,
                 t->slowest_ms);
    if (isfinite(u.earned))
        (void)printf("; mean return %.4g", u.earned);
    if (isfinite(u.best))
        (void)printf(" (best possible %.4g)", u.best);
    if (isfinite(u.regret))
        (void)printf(", regret %.4g per user", u.regret);
    if (t->score.known < t->score.users)
        (void)printf("; the log does not know the outcome for %llu of them",
                     (unsigned long long)(t->score.users - t->score.known));
    if (t->late > 0)
        (void)printf("; %llu reports came late, made by a model that had been replaced",
                     (unsigned long long)t->late);
    (void)puts(t->full > 0 ? "; the learner's budget is spent" : "");
}

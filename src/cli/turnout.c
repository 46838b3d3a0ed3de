#include "cli/turnout.h"

#include <math.h>
#include <stdio.h>

/* Of a user, in original units; NaN: not known. */
typedef struct summary {
    double earned, best, regret;
} summary;

static summary sum_up(const cli_turnout *t, const tacit_world *world)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    const cli_score *s = &t->score;
    double earned = s->known > 0 ? s->earned / (double)s->known : (double)NAN;
    double regret = s->users > 0 ? s->regret / (double)s->users : (double)NAN;
    return (summary){.earned = tacit_world_original_value(world, earned),
                     .best = tacit_world_original_value(world, f->optimal_value),
                     .regret = (f->reward_high - f->reward_low) * regret};
}

static json_t *number_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void print_json(const cli_turnout *t, const summary *u)
{
    json_t *out = json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:o,s:o,s:o,s:f,s:f}", "users", (json_int_t)t->done,
        "failures", (json_int_t)t->failures, "full", (json_int_t)t->full, "late",
        (json_int_t)t->late, "known", (json_int_t)t->score.known, "requests",
        (json_int_t)t->requests, "seconds", t->seconds, "mean_return", number_or_null(u->earned),
        "best_return", number_or_null(u->best), "mean_regret", number_or_null(u->regret), "mean_ms",
        t->requests > 0 ? t->sum_ms / (double)t->requests : 0.0, "slowest_ms", t->slowest_ms);
    (void)json_dumpf(out, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    (void)putchar('\n');
    json_decref(out);
}

void cli_turnout_print(const cli_turnout *t, const tacit_world *world, bool json)
{
    const summary u = sum_up(t, world);
    if (json) {
        print_json(t, &u);
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
        (void)printf("; of %llu the log does not know what came of it",
                     (unsigned long long)(t->score.users - t->score.known));
    if (t->late > 0)
        (void)printf("; %llu reports came late, made by a model that had been replaced",
                     (unsigned long long)t->late);
    (void)puts(t->full > 0 ? "; the learner's budget is spent" : "");
}

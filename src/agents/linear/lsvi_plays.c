/* This file says what was decided for lsvi-ucb, in a line and beside what its papers print: [NVW22,
 * Alg. 1] for `doubling` and for our own schedules, [LGLP21, Alg. 2] for `batched` and `every`. Where
 * the print leaves something open, or cannot be played, the note says so: docs/why/lsvi.md, "The
 * papers' constants". */
#include <math.h>
#include <stdio.h>

#include "agents/linear/lsvi_agent.h"
#include "base/error.h"

/* Why the number of switches is what it is. */
static const char *reason_of(const lsvi_design *g)
{
    const tacit__lsvi_schedule schedule = g->options.schedule;
    const char *key = schedule == TACIT__BATCHED ? "batches" : "switches";
    const bool watches = tacit__lsvi_watches(schedule);
    return g->printed                                   ? "as printed"
           : tacit__value_of(&g->r->values, key)->given ? "given"
           : watches && g->private && g->theorem
               ? (schedule == TACIT__DOUBLING ? "the printed bound" : "the proved bound")
           : g->theorem             ? "by the theorem"
           : watches && !g->private ? "the theorem's cap"
           : g->private             ? "the least predicted loss"
                                    : "as many as cost nothing in order";
}

static void write_schedule(const lsvi_design *g, size_t size, char *out)
{
    const tacit__lsvi_scheme *s = &g->scheme;
    const tacit__lsvi_schedule schedule = g->options.schedule;
    const char *by = reason_of(g);
    char cap[60] = "";
    if (tacit__lsvi_watches(schedule) && g->private && !g->printed && s->bound != s->switches)
        (void)snprintf(cap, sizeof cap, "; the %s bound would reserve %llu",
                       schedule == TACIT__DOUBLING ? "printed" : "proved",
                       (unsigned long long)s->bound);
    if (tacit__lsvi_watches(schedule))
        (void)snprintf(out, size,
                       "at most %llu switches (%s%s), when %s has grown %.3g-fold, looked at after "
                       "every %llu users",
                       (unsigned long long)s->switches, by, cap,
                       schedule == TACIT__DOUBLING ? "a determinant" : "some direction",
                       s->switch_factor, (unsigned long long)s->leaf);
    else if (schedule == TACIT__EVERY)
        (void)snprintf(out, size, "a switch after every user");
    else if (schedule == TACIT__GROWTH)
        (void)snprintf(out, size, "%llu batches that grow, the first of %llu users (%s)",
                       (unsigned long long)s->leaves + 1,
                       (unsigned long long)tacit__lsvi_leaf_end(s, 1), by);
    else
        (void)snprintf(out, size, "%llu batches of %llu users (%s)",
                       (unsigned long long)s->leaves + 1, (unsigned long long)s->leaf, by);
}

/* [NVW22, Theorem 16] takes noisy Gram matrices to grow, and no theorem is about rayleigh or pooled
 * steps. */
static const char *missing_theorem(const lsvi_design *g)
{
    const bool noisy_clock = g->private && tacit__lsvi_watches(g->options.schedule);
    return !g->theorem ? "; bonus_scale below 1: the regret theorem does not apply, privacy does "
                         "not depend on it"
           : noisy_clock && g->options.schedule == TACIT__DOUBLING
               ? "; the regret theorem does not apply: its proof takes noisy Gram matrices to "
                 "grow; privacy does not depend on it"
           : noisy_clock || g->options.space.pooled
               ? "; no regret theorem is known for this, privacy does not depend on one"
               : "";
}

void tacit__lsvi_write_remark(lsvi_agent *agent, const lsvi_design *g)
{
    char how[220];
    write_schedule(g, sizeof how, how);
    (void)snprintf(agent->remark, sizeof agent->remark, "%s%s%s%s%s", how,
                   g->options.space.pooled ? "; one regression for all steps" : "",
                   !g->private        ? ""
                   : g->scheme.direct ? "; Gram matrices by direct releases"
                                      : "; Gram matrices by running sums",
                   g->printed && g->options.schedule == TACIT__DOUBLING
                       ? "; UNSOUND: the printed constants do not give the printed guarantee, see "
                         "the accountant"
                       : "",
                   missing_theorem(g));
}

/* --- Plays ---------------------------------------------------------------------------------------- */

static bool is_batched(const lsvi_design *g)
{
    return g->options.schedule == TACIT__BATCHED || g->options.schedule == TACIT__EVERY;
}

/* Bonus, ridge and noise, in the papers' units, which are those of rewards. */
static void say_numbers(tacit__plays *plays, const lsvi_design *g, const tacit__lsvi_printed *paper)
{
    const tacit__lsvi_scheme *s = &g->scheme;
    const char *unit = g->spans ? "; times the span of values, here its largest" : "";
    tacit__plays_number(plays, "bonus beta", paper->beta, g->bonus * g->range[0],
                        "bonus_scale %g%s", g->bonus_scale, unit);
    tacit__plays_number(plays, "ridge and shift", paper->ridge, g->ridge, "%s",
                        is_batched(g) ? "c_K is not defined in print; d Upsilon is played" : "");
    if (!g->private)
        return;
    tacit__plays_number(plays, "noise of Gram matrices", paper->gram, s->gram_scale, "%s",
                        s->direct ? "direct releases" : "of a node");
    tacit__plays_number(plays, "noise of responses", paper->response,
                        s->response_scale * g->range[0], "%s%s", "of a coordinate", unit);
    tacit__plays_number(plays, is_batched(g) ? "batches" : "switches at most", paper->releases,
                        (double)(is_batched(g) ? s->leaves + 1 : s->switches), "%s",
                        g->published ? "rounded up to a whole number" : "");
}

static void say_words(tacit__plays *plays, const lsvi_design *g)
{
    static const char *const played[] = {[TACIT__EVERY] = "every user",
                                         [TACIT__BATCHED] = "equal batches",
                                         [TACIT__DOUBLING] = "a determinant grew",
                                         [TACIT__GROWTH] = "growing batches",
                                         [TACIT__RAYLEIGH] = "a direction grew"};
    const bool doubling = g->options.schedule == TACIT__DOUBLING;
    const char *paper = is_batched(g) ? "equal batches" : "a determinant doubled";
    tacit__plays_words(plays, "a switch when", paper,
                       g->published ? paper : played[g->options.schedule], "%s", "");
    if (doubling)
        tacit__plays_words(plays, "grown since", "the last switch",
                           g->published ? "the last switch" : "the largest at a switch", "%s", "");
    tacit__plays_words(plays, "before the first switch", "", "uniform", "%s",
                       "Q is not defined in print");
    tacit__plays_words(plays, "values of step h", is_batched(g) ? "in [0, H]" : "at most H",
                       g->printed ? "in [0, H]" : "in [0, H - h + 1]", "%s",
                       is_batched(g) ? "" : "sensitivities need the 0");
}

void tacit__lsvi_fill_plays(lsvi_agent *agent, const lsvi_design *g)
{
    TACIT__REQUIRE(g->scheme.switches > 0);
    const double none = (double)NAN;
    tacit__lsvi_printed paper = {none, none, none, none, none};
    if (g->private && g->options.guarantee.delta > 0) {
        const tacit__lsvi_case c = tacit__lsvi_case_of(g);
        paper = is_batched(g) ? tacit__lsvi_print_batched(&c, 0) : tacit__lsvi_print_doubling(&c);
    }
    say_numbers(&agent->base.plays, g, &paper);
    if (g->private)
        say_words(&agent->base.plays, g);
}

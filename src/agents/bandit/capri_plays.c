/* What capri plays beside what [PSZ25, Alg. 1, eq. 5 and 7, Lemma 6.6] prints: the constants of its first
 * epoch, in units of B sigma_max (beta) and B sigma_max^2 (beta_1) as printed. */
#include <math.h>
#include <stdio.h>

#include "agents/bandit/capri_agent.h"
#include "base/error.h"

/* `first_length`: the users of the paper's first epoch. */
static void say_width(capri_agent *agent, bool known, uint64_t first_length)
{
    static const char *const widths[] = {"pairwise", "pointwise", "max4", "theory"};
    const tacit__capri_options *o = &agent->options;
    tacit__plays *plays = &agent->base.base.plays;
    const bool theory = o->width == TACIT__WIDTH_THEORY && o->tau > 0;
    const uint64_t users = tacit__capri_get_epoch(agent->base.planner).users;
    const tacit__capri_betas printed = tacit__capri_theory(o, 1, first_length),
                             played = tacit__capri_theory(o, theory ? o->tau : 1, users);
    tacit__plays_words(plays, "width", "theory", widths[o->width], "%s", "");
    tacit__plays_number(plays, "beta", printed.beta, theory ? played.beta : (double)NAN, "%s",
                        theory ? "" : "other widths have no such constant");
    if (known)
        tacit__plays_number(plays, "beta_1, first epoch", printed.beta_1,
                            theory ? played.beta_1 : (double)NAN, "%s",
                            theory ? "of the two that are printed, Lemma 6.6" : "");
}

void tacit__capri_fill_plays(capri_agent *agent, const tacit__reading *r)
{
    const tacit_agent_request *q = r->request;
    const tacit__capri_options *o = &agent->options;
    const bool noisy = q->guarantee.model != TACIT_MODEL_NONE,
               known = noisy && q->guarantee.epsilon > 0 && q->guarantee.delta > 0;
    tacit__plays *plays = &agent->base.base.plays;
    const tacit__capri_epoch first = tacit__capri_get_epoch(agent->base.planner);
    char epochs[TACIT__PLAYS_WORDS];
    uint64_t lengths[64];
    const size_t n = tacit__capri_schedule(q->episodes, false, lengths);
    if (noisy && first.n_epochs > 1)
        tacit__plays_number(
            plays, "noise", known ? tacit__capri_printed(q) : (double)NAN,
            tacit_plan_scale(tacit_ledger_plan(tacit__base_ledger(&agent->base.base)), 0),
            "in units of B %s",
            o->by_sigma_max ? "sigma_max" : "times the longest vector (printed: sigma_max)");
    say_width(agent, known, lengths[0]);
    tacit__plays_number(plays, "omega", 1, o->bonus_scale, "%s", "");
    if (o->tau > 0)
        tacit__plays_number(plays, "tau", (double)NAN, o->tau, "the paper leaves it open");
    else
        tacit__plays_words(plays, "tau", "", "chosen in every epoch",
                           "the paper leaves it open, and has one for all epochs");
    char printed[TACIT__PLAYS_WORDS];
    (void)snprintf(printed, sizeof printed, "%zu from %llu users on", n,
                   (unsigned long long)lengths[0]);
    (void)snprintf(epochs, sizeof epochs, "%zu from %llu users on", first.n_epochs,
                   (unsigned long long)first.users);
    tacit__plays_words(plays, "epochs", printed, epochs, "%s", "");
    tacit__plays_words(plays, "points S", "drawn", o->sampled ? "drawn" : "all active pairs",
                       "at most %zu independent ones, up to a residual of %g", o->rank, o->tol);
    tacit__plays_number(plays, "covariance points for each user", 1, o->copies, "%s",
                        o->copies == 0 ? "0: their exact expectation" : "");
    tacit__plays_words(plays, "last epoch", "uniform", o->greedy ? "greedy" : "uniform", "%s", "");
}

/* The audit. See include/tacit/audit.h.
 *
 * Error probabilities: of 1 - confidence a quarter goes to the tests on noise; the rest to the proof of an
 * epsilon, or, with Gaussian noise, in halves to that and to the proof of a mu. Record and replay errs never.
 * So a sound agent is convicted with at most the stated probability.
 *
 * Gaussian noise is tested as mu-GDP as well because that is what the plan promises and because it is far
 * sharper: at delta = 1e-5 the (epsilon, delta) test needs 30 times the trials. The epsilon that it proves
 * is that of a Gaussian mechanism with this mu; that the noise is Gaussian is what the second part
 * examines, and what the sampler's own tests prove. */
#include "audit/audit_inside.h"

#include <math.h>
#include <stdio.h>

#include "agents/agent_inside.h"
#include "audit/attack.h"
#include "audit/judge.h"
#include "audit/knowledge.h"
#include "audit/power.h"
#include "base/error.h"
#include "base/memory.h"

/* Effort: users who come during the search; numbers drawn in trials when the caller gave no number of
 * trials. Together about a minute on two processors. */
#define SEARCH_EFFORT 20000
#define TRIAL_EFFORT 3e8

#define DEFAULT_CONFIDENCE 0.99 /* a stated choice; tacit/audit.h documents it */

static const char one_sided_words[] =
    "in some trials one of the two users is accepted and the other is not: epsilon is infinite";
static const char other_view_words[] =
    "in some trials what is sent differs although all releases are the same: it carries exact data";

const char *tacit_audit_verdict_name(tacit_audit_verdict verdict)
{
    static const char *const names[] = {"passed", "violated", "too few trials", "stopped",
                                        "inconclusive"};
    return names[verdict];
}

void tacit_audit_destroy(tacit_audit *audit)
{
    tacit__free(audit);
}

/* --- Parts --------------------------------------------------------------------------------------- */

static void copy_search(tacit__audit_result *f, const tacit__search *s)
{
    tacit_audit *a = &f->face;
    a->neighbors = s->tried;
    a->refused = s->refused;
    a->same_calls = s->same_calls;
    a->same_view = s->same_view;
    a->same_taken = !s->one_sided;
    a->declared_only = !s->undeclared;
    a->moved = s->measured;
    a->declared = s->declared;
    a->share = s->declared > 0 ? s->measured / s->declared : 0;
    a->position = (uint64_t)s->position + 1;
    if (s->one_sided)
        a->replay_epsilon = HUGE_VAL;
    (void)snprintf(f->fault, sizeof f->fault, "%s", s->fault);
}

/* The same learner where its users can come nearer to what it declares. */
static tacit_status search_elsewhere(const tacit__subject *s, const tacit_audit_options *o,
                                     tacit__audit_result *f, tacit_error *err)
{
    tacit__pair pair = {0};
    tacit__search search;
    if (s->elsewhere == NULL || f->face.share >= TACIT__SEARCH_ENOUGH || f->fault[0] != '\0')
        return TACIT_OK;
    tacit_status status = tacit__pair_search(s->elsewhere, o, SEARCH_EFFORT, &pair, &search, err);
    tacit__pair_destroy(&pair);
    if (status != TACIT_OK || search.stopped) {
        f->face.verdict = TACIT_AUDIT_STOPPED;
        return status;
    }
    f->face.neighbors += search.tried;
    f->face.refused += search.refused;
    f->face.share_elsewhere = search.measured / search.declared;
    if (search.fault[0] != '\0')
        tacit__judge_add_reason(f, "by replay, with public knowledge that the auditor chose: %s",
                                search.fault);
    if (search.measured > search.declared * (1 + TACIT__JUDGE_TOL))
        tacit__judge_add_reason(
            f,
            "by replay, with public knowledge that the auditor chose: a pair of users moves "
            "what is released by %s %.4g, and the plan declares %.4g",
            f->face.law == TACIT_LAW_GAUSSIAN ? "mu" : "epsilon", search.measured, search.declared);
    return TACIT_OK;
}

static tacit_audit_proof proof_of(const tacit__proof *p, double epsilon, double mu)
{
    return (tacit_audit_proof){.score = tacit__score_name(p->score),
                               .threshold = p->threshold,
                               .below = !p->above,
                               .hits = p->hits,
                               .alarms = p->alarms,
                               .n = p->n,
                               .epsilon = epsilon,
                               .mu = mu};
}

static void copy_attack(tacit__audit_result *f, const tacit__attack *attack, double noise_error)
{
    tacit_audit *a = &f->face;
    a->selection = attack->selection;
    a->pure = proof_of(&attack->epsilon, fmax(attack->epsilon.value, 0), (double)NAN);
    a->epsilon = a->pure.epsilon;
    if (a->law == TACIT_LAW_GAUSSIAN) {
        double mu = attack->mu.value, epsilon = 0;
        if (mu > 0 && tacit_gdp_epsilon(mu, a->claim.delta, &epsilon) != TACIT_OK)
            epsilon = 0;
        a->gaussian = proof_of(&attack->mu, epsilon, fmax(mu, 0));
        a->epsilon = fmax(a->epsilon, epsilon);
    }
    if (attack->one_sided && a->same_taken)
        (void)snprintf(f->fault, sizeof f->fault, "%s", one_sided_words);
    else if (!attack->same_view && a->same_view)
        (void)snprintf(f->fault, sizeof f->fault, "%s", other_view_words);
    if (attack->one_sided)
        a->replay_epsilon = HUGE_VAL;
    a->same_taken = a->same_taken && !attack->one_sided;
    a->same_view = a->same_view && attack->same_view;
    a->draws = attack->residuals.n;
    a->noise_size = tacit__residuals_size(&attack->residuals);
    tacit__residual_test test = tacit__residuals_judge(&attack->residuals, noise_error);
    if (test < TACIT__RESIDUAL_TESTS)
        (void)snprintf(f->noise_fault, sizeof f->noise_fault, "%s", tacit__residual_words(test));
}

static double numbers_per_trial(const tacit__subject *s)
{
    double numbers = 0;
    for (size_t i = 0; i < tacit_plan_size(s->declared); i++)
        numbers += (double)tacit_plan_release(s->declared, i)->dimension;
    return 4 * numbers *
           (double)(s->claim.model == TACIT_MODEL_LOCAL ? tacit__pair_visits(s) : s->users);
}

static bool report_progress(const void *context, uint64_t done, uint64_t all, double seconds)
{
    const tacit_audit_options *o = context;
    const tacit_audit_progress p = {.trials = done, .n_trials = all, .seconds = seconds};
    return o->progress == NULL || o->progress(o->context, &p);
}

/* The pair's exact loss, what this many trials can find, and the trials themselves. */
static tacit_status attack_pair(const tacit__subject *s, const tacit_audit_options *o,
                                const tacit__pair *pair, double attackable, tacit__audit_result *f,
                                tacit_error *err)
{
    tacit_audit *a = &f->face;
    tacit_cost *costs = NULL;
    tacit_composition exact;
    bool gaussian = a->law == TACIT_LAW_GAUSSIAN;
    double error = 1 - a->confidence;
    tacit__prospect prospect = {.law = a->law,
                                .claim = a->claim,
                                .moved = attackable,
                                .error_epsilon = error * (gaussian ? 3.0 / 8 : 3.0 / 4),
                                .error_mu = gaussian ? error * 3 / 8 : 0};
    bool steady = false;
    tacit_status status =
        tacit__pair_costs(s, pair, o->seed, &costs, &prospect.n_costs, &steady, err);
    prospect.costs = costs;
    steady = steady && prospect.n_costs > 0;
    if (status == TACIT_OK && steady)
        status = tacit_compose_at_delta(costs, prospect.n_costs, a->claim.delta, &exact, err);
    if (status == TACIT_OK && steady && a->same_taken)
        a->replay_epsilon = exact.epsilon.low;
    if (status == TACIT_OK && gaussian)
        status = tacit_gdp_mu(a->claim.epsilon, a->claim.delta, &prospect.claim_mu);
    if (status == TACIT_OK) {
        a->trials = o->trials > 0
                        ? o->trials
                        : tacit__power_choose(&prospect, numbers_per_trial(s), TRIAL_EFFORT);
        a->ceiling = tacit__power_ceiling(a->trials - tacit__attack_selection(a->trials),
                                          a->claim.delta, prospect.error_epsilon);
        a->detectable = tacit__power_factor(&prospect, a->trials);
        if (prospect.no_memory)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    if (status == TACIT_OK) {
        const tacit__attack_options options = {.trials = a->trials,
                                               .seed = o->seed,
                                               .n_threads = o->n_threads,
                                               .delta = a->claim.delta,
                                               .error_epsilon = prospect.error_epsilon,
                                               .error_mu = prospect.error_mu,
                                               .progress = report_progress,
                                               .context = o};
        tacit__attack attack;
        status = tacit__attack_run(s, pair, &options, &attack, err);
        if (status == TACIT_OK && attack.stopped)
            a->verdict = TACIT_AUDIT_STOPPED;
        else if (status == TACIT_OK)
            copy_attack(f, &attack, error / 4);
    }
    tacit__free(costs);
    return status;
}

static tacit_status check_options(const tacit_audit_options *o, tacit_error *err)
{
    if (o->trials > 0 && (o->trials < TACIT_MIN_TRIALS || o->trials > TACIT_MAX_TRIALS))
        return tacit__fail(err, TACIT_BAD_COUNT, "trials is %llu, expected %llu to %llu",
                           (unsigned long long)o->trials, (unsigned long long)TACIT_MIN_TRIALS,
                           (unsigned long long)TACIT_MAX_TRIALS);
    if (o->confidence != 0 && !(o->confidence > 0 && o->confidence < 1))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "confidence is %g, expected a number between 0 and 1", o->confidence);
    return TACIT_OK;
}

tacit_status tacit__audit_subject(const tacit__subject *s, const tacit_audit_options *options,
                                  tacit_audit **out, tacit_error *err)
{
    TACIT__REQUIRE(s->declared != NULL && s->claim.model != TACIT_MODEL_NONE);
    static const tacit_audit_options defaults;
    const tacit_audit_options *o = options != NULL ? options : &defaults;
    TRY(check_options(o, err));
    tacit__audit_result *f = tacit__alloc(1, sizeof *f);
    if (f == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_audit *a = &f->face;
    *a = (tacit_audit){.claim = s->claim,
                       .law = tacit_plan_law(s->declared),
                       .visits = s->visits > 0 ? s->visits : 1,
                       .apart = s->apart > 0 ? s->apart : 1,
                       .confidence = o->confidence > 0 ? o->confidence : DEFAULT_CONFIDENCE,
                       .noise_size = (double)NAN,
                       .detectable = HUGE_VAL,
                       .words = f->words,
                       .fault = f->fault,
                       .noise_fault = f->noise_fault};
    a->pure.score = a->gaussian.score = "";
    a->pure.mu = (double)NAN;
    tacit__pair pair = {0};
    tacit__search search;
    tacit_status status = tacit__pair_search(s, o, SEARCH_EFFORT, &pair, &search, err);
    if (status == TACIT_OK) {
        copy_search(f, &search);
        a->verdict = search.stopped ? TACIT_AUDIT_STOPPED : a->verdict;
    }
    if (status == TACIT_OK && a->verdict != TACIT_AUDIT_STOPPED)
        status = search_elsewhere(s, o, f, err);
    /* two runs that do not even make the same calls have no likelihood ratio */
    if (status == TACIT_OK && a->verdict != TACIT_AUDIT_STOPPED && a->same_calls)
        status = attack_pair(s, o, &pair, search.attackable, f, err);
    if (status == TACIT_OK && a->verdict != TACIT_AUDIT_STOPPED) {
        tacit__judge_replay(f);
        tacit__judge_attack(f);
        tacit__judge_conclude(f);
    }
    tacit__pair_destroy(&pair);
    if (status != TACIT_OK) {
        tacit_audit_destroy(a);
        return status;
    }
    *out = a;
    return TACIT_OK;
}

static tacit_status make_example(const tacit_agent_request *request, uint64_t seed,
                                 tacit_agent **out, tacit_error *err)
{
    tacit_noise *noise = NULL;
    tacit_status status = tacit_noise_create_simulated(seed, &noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit_agent_create(request, noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}

tacit_status tacit_audit_agent(const tacit_agent_request *request,
                               const tacit_audit_options *options, tacit_audit **out,
                               tacit_error *err)
{
    if (request == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (request->guarantee.model == TACIT_MODEL_NONE)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "there is nothing to audit: model none promises nothing");
    uint64_t seed = options != NULL ? options->seed : 0;
    tacit_agent *example = NULL, *other = NULL;
    tacit__knowledge knowledge = {0};
    bool known = false;
    TRY(make_example(request, seed, &example, err));
    tacit__subject subject = tacit__subject_agent(request, example), elsewhere;
    tacit_status status = tacit__knowledge_open(&knowledge, request, &known);
    if (status == TACIT_OK && known)
        status = make_example(&knowledge.request, seed, &other, NULL);
    if (other != NULL) {
        elsewhere = tacit__subject_agent(&knowledge.request, other);
        subject.elsewhere = &elsewhere;
    }
    /* a learner that does not take other knowledge is audited with what it has */
    status = status == TACIT_NO_MEMORY ? tacit__fail_plain(err, status) : TACIT_OK;
    if (status == TACIT_OK)
        status = tacit__audit_subject(&subject, options, out, err);
    if (status == TACIT_OK)
        tacit__judge_add_caveat(
            (tacit__audit_result *)*out,
            tacit__agent_caveat(request->kind, request->guarantee.model, request->calibration));
    tacit_agent_destroy(other);
    tacit_agent_destroy(example);
    tacit__knowledge_close(&knowledge);
    return status;
}

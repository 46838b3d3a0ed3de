/* The list of agents, and the public face of one. See include/tacit/agent.h.
 *
 * Families of agents have their kinds in tables. This file joins the tables, checks what all requests have
 * in common, and calls the family. */
#include <tacit/agent.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "agents/aliases.h"
#include "agents/family.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/settings.h"

size_t tacit_agent_kind_count(void)
{
    size_t n = 0;
    for (size_t f = 0; f < tacit__n_families; f++)
        n += tacit__families[f]->rows->n;
    return n;
}

const tacit_agent_kind *tacit_agent_kind_at(size_t i)
{
    for (size_t f = 0; f < tacit__n_families; f++) {
        if (i < tacit__families[f]->rows->n)
            return &tacit__families[f]->rows->at[i].kind;
        i -= tacit__families[f]->rows->n;
    }
    return NULL;
}

/* The row of a name, and its family; NULL: there is none. */
static const tacit__agent_row *find(const char *name, const tacit__family **family)
{
    for (size_t f = 0; f < tacit__n_families; f++)
        for (size_t i = 0; i < tacit__families[f]->rows->n; i++)
            if (strcmp(tacit__families[f]->rows->at[i].kind.name, name) == 0) {
                *family = tacit__families[f];
                return &tacit__families[f]->rows->at[i];
            }
    return NULL;
}

const tacit_agent_kind *tacit_agent_kind_find(const char *name)
{
    const tacit__family *family;
    const tacit__agent_row *row = find(name, &family);
    return row != NULL ? &row->kind : NULL;
}

bool tacit__agent_chosen_only(const char *name)
{
    const tacit__family *family;
    return find(name, &family) != NULL && family->chosen_only;
}

bool tacit__agent_takes_logs(const char *name)
{
    static const char once[] = "explore-commit-"; /* the family of a name, see aliases.c */
    const tacit__family *family;
    return find(name, &family) != NULL && !family->by_billboard &&
           strncmp(name, once, sizeof once - 1) != 0;
}

tacit__printed_place tacit__agent_printed_at(const char *name, tacit_model model)
{
    const tacit__family *family;
    const tacit__agent_row *row = find(name, &family);
    const char *words = row == NULL                  ? NULL
                        : model == TACIT_MODEL_JOINT ? row->print.joint
                        : model == TACIT_MODEL_LOCAL ? row->print.local
                                                     : NULL;
    return (tacit__printed_place){.words = words != NULL ? words : "",
                                  .recalled = row != NULL && row->print.recalled};
}

bool tacit__agent_prints_pure(const char *name)
{
    const tacit__family *family;
    const tacit__agent_row *row = find(name, &family);
    return row != NULL && row->print.pure;
}

const char *tacit__agent_caveat(const char *name, tacit_model model, tacit_calibration calibration)
{
    const tacit__printed_place printed = tacit__agent_printed_at(name, model);
    return calibration != TACIT_CALIBRATION_TIGHT && printed.recalled && printed.words[0] != '\0'
               ? "; the paper's scales were recalled from later papers, so this is no statement "
                 "about the paper itself"
               : "";
}

static tacit_status refuse_model(const tacit_agent_request *r, const tacit__family *family,
                                 const tacit_agent_kind *kind, tacit_error *err)
{
    const bool local = r->guarantee.model == TACIT_MODEL_LOCAL;
    const char *instead = local && family->no_local != NULL ? family->no_local
                          : r->guarantee.delta == 0         ? family->no_pure
                                                            : NULL;
    char what[160] = "";
    for (unsigned bit = TACIT_AGENT_NONE; bit <= TACIT_AGENT_LOCAL; bit *= 2)
        if (kind->models & bit) {
            size_t used = strlen(what);
            (void)snprintf(what + used, sizeof what - used, "%s%s", used > 0 ? ", " : "",
                           tacit__agent_model_name(bit));
        }
    return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
                          "%s has no model '%s'; it has: %s%s%s", kind->name,
                          tacit__agent_model_name(tacit__agent_model_bit(r->guarantee)), what,
                          instead != NULL ? "; " : "", instead != NULL ? instead : "");
}

/* Tables are products of these numbers. In doubles, before anything is multiplied in integers: so
 * much room that a few more factors do not overflow, and more than any machine has. Families that
 * know better refuse earlier. */
static bool fits(const tacit_agent_request *r)
{
    const double most = 0x1p56;
    double horizon = (double)r->horizon, pairs = (double)r->n_states * (double)r->n_actions;
    double mixture = r->mixture != NULL ? (double)r->mixture->dimension : 1;
    double linear = r->linear != NULL ? (double)r->linear->dimension : 1;
    double bandit = r->bandit != NULL ? (double)r->bandit->dimension : 1;
    return horizon * pairs <= most && horizon * (double)r->n_actions <= most &&
           horizon * mixture * mixture <= most && horizon * linear * linear <= most &&
           (double)r->n_actions * bandit * bandit <= most && pairs * bandit <= most;
}

/* Bounds on features whose inverses and squares are far from the ends of the doubles, as for sums
 * (sums/lattice.c): a bound that arithmetic cannot keep would make learners refuse users by their
 * data. */
#define LEAST_BOUND 1e-100
#define MOST_BOUND 1e100

/* Checks that what is declared of a bandit is possible. A vector of features that breaks it is refused,
 * or clipped, when it comes. */
static tacit_status check_bandit(const tacit_agent_request *r, tacit_error *err)
{
    const tacit_bandit *b = r->bandit;
    size_t line = (size_t)r->line;
    if (!(b->bound >= LEAST_BOUND && b->bound <= MOST_BOUND))
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->file, line,
                              "bound is %g, expected a number from %g to %g", b->bound, LEAST_BOUND,
                              MOST_BOUND);
    if (!(b->parameter_norm >= 0 && isfinite(b->parameter_norm)))
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->file, line,
                              "parameter_norm is %g, expected a finite number > 0, or 0: not known",
                              b->parameter_norm);
    if (b->complementary && !(b->disjoint && r->n_actions == 2))
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, r->file, line,
                              "complementary is for two actions and features of the context "
                              "alone; there are %zu actions%s",
                              r->n_actions, b->disjoint ? "" : ", each with features");
    double sum = 0;
    bool positive = true;
    for (size_t i = 0; b->weights != NULL && i < r->n_states; i++) {
        sum += b->weights[i];
        positive = positive && b->weights[i] >= 0;
    }
    if (b->weights != NULL && !(positive && fabs(sum - 1) <= 1e-9)) /* the caller's rounding */
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->file, line,
                              "the weights of contexts sum to %.9g%s, expected probabilities that "
                              "sum to 1",
                              sum, positive ? "" : ", and some are negative");
    return TACIT_OK;
}

static tacit_status check_guarantee(const tacit_agent_request *r, tacit_error *err)
{
    const tacit_guarantee *g = &r->guarantee;
    size_t line = (size_t)r->line;
    if (!(g->epsilon >= 0 && isfinite(g->epsilon)))
        return tacit__fail_at(err, TACIT_BAD_EPSILON, r->file, line,
                              "epsilon is %g, expected a finite number >= 0", g->epsilon);
    if (!(g->delta >= 0 && g->delta < 1))
        return tacit__fail_at(err, TACIT_BAD_DELTA, r->file, line,
                              "delta is %g, expected a number in [0, 1)", g->delta);
    if (g->epsilon == 0 && g->delta == 0)
        return tacit__fail_at(
            err, TACIT_BAD_EPSILON, r->file, line,
            "epsilon and delta are both 0, but no finite noise keeps that; raise one of "
            "them");
    if (g->epsilon == 0 && r->calibration != TACIT_CALIBRATION_TIGHT)
        return tacit__fail_at(err, TACIT_BAD_EPSILON, r->file, line,
                              "epsilon is 0, by which published scales are divided; use "
                              "calibration tight, or an epsilon > 0");
    return TACIT_OK;
}

/* The range of rewards, and that expected ones lie in it. */
static tacit_status check_rewards(const tacit_agent_request *r, tacit_error *err)
{
    const tacit__domain d = tacit__domain_of(r);
    if (!(d.reward_low < d.reward_high && isfinite(d.reward_high - d.reward_low)))
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->file, (size_t)r->line,
                              "rewards lie from %g to %g, expected two finite numbers, the smaller "
                              "first",
                              d.reward_low, d.reward_high);
    const double tol = 1e-9 * (d.reward_high - d.reward_low); /* sums of the caller's rounding */
    for (size_t i = 0; r->rewards != NULL && i < tacit__agent_expected(r); i++)
        if (!(r->rewards[i] >= d.reward_low - tol && r->rewards[i] <= d.reward_high + tol))
            return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->file, (size_t)r->line,
                                  "an expected reward is %g, outside %g to %g", r->rewards[i],
                                  d.reward_low, d.reward_high);
    return TACIT_OK;
}

static tacit_status check_request(const tacit_agent_request *r, const tacit__family *family,
                                  const tacit_agent_kind *kind, tacit_error *err)
{
    const tacit_guarantee *g = &r->guarantee;
    size_t line = (size_t)r->line;
    bool numbered =
        r->bandit != NULL ? r->bandit->points != NULL : r->linear == NULL || r->linear->row != NULL;
    if ((r->n_states == 0 && numbered) || r->n_actions == 0 || r->horizon == 0)
        return tacit__fail_at(err, TACIT_BAD_COUNT, r->file, line,
                              "states, actions and horizon must be at least 1");
    if (!fits(r))
        return tacit__fail_at(
            err, TACIT_TOO_LARGE, r->file, line,
            "tables for %zu states, %zu actions and %zu steps do not fit into memory", r->n_states,
            r->n_actions, r->horizon);
    TRY(r->bandit != NULL ? check_bandit(r, err) : TACIT_OK);
    if (r->linear != NULL && !(r->linear->bound >= LEAST_BOUND && r->linear->bound <= MOST_BOUND))
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->file, line,
                              "bound is %g, expected a number from %g to %g", r->linear->bound,
                              LEAST_BOUND, MOST_BOUND);
    if (r->outside != TACIT_OUTSIDE_REFUSE && r->outside != TACIT_OUTSIDE_CLIP)
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, r->file, line,
                              "outside is %d, expected refuse (%d) or clip (%d)", (int)r->outside,
                              TACIT_OUTSIDE_REFUSE, TACIT_OUTSIDE_CLIP);
    if (r->episodes == 0)
        return tacit__fail_at(err, TACIT_BAD_COUNT, r->file, line,
                              "episodes is 0, expected at least 1");
    TRY(check_rewards(r, err));
    TRY(g->model != TACIT_MODEL_NONE ? check_guarantee(r, err) : TACIT_OK);
    if ((kind->models & tacit__agent_model_bit(*g)) == 0)
        return refuse_model(r, family, kind, err);
    return TACIT_OK;
}

/* Nothing that was recalled is called published. */
static tacit_status check_calibration(const tacit_agent_request *r, const tacit__print *print,
                                      tacit_error *err)
{
    const bool read =
        r->calibration == TACIT_CALIBRATION_PUBLISHED || r->calibration == TACIT_CALIBRATION_NOISE;
    if (r->guarantee.model == TACIT_MODEL_NONE || (print->joint == NULL && print->local == NULL))
        return TACIT_OK;
    if (read && print->recalled)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
                              "the noise of %s was recalled from later papers and public code, and "
                              "nothing else of its paper is known here: use noise: recalled",
                              r->kind);
    if (r->calibration == TACIT_CALIBRATION_RECALLED && !print->recalled)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
                              "the noise of %s was read in its paper: use noise: published, or "
                              "calibration: published for the whole algorithm",
                              r->kind);
    return TACIT_OK;
}

bool tacit_agent_kind_returning(const char *name)
{
    const tacit__family *family;
    if (name != NULL && tacit_agent_alias_find(name) != NULL)
        return true; /* all that aliases stand for do */
    const tacit__agent_row *row = name != NULL ? find(name, &family) : NULL;
    return row != NULL && row->curator != NULL && row->curator->returning;
}

/* Visits of one person are part of a promise; without one they may come as they like. */
static tacit_status check_visits(const tacit_agent_request *r, tacit_error *err)
{
    const size_t line = (size_t)r->line;
    const uint64_t apart = r->apart > 0 ? r->apart : 1;
    if (r->visits <= 1 && r->apart > 1)
        return tacit__fail_at(err, TACIT_BAD_COUNT, r->file, line,
                              "apart is %llu, but one person has one visit; give visits as well",
                              (unsigned long long)r->apart);
    if (r->visits <= 1 || r->guarantee.model == TACIT_MODEL_NONE)
        return TACIT_OK;
    if (r->visits > r->episodes / apart)
        return tacit__fail_at(err, TACIT_BAD_COUNT, r->file, line,
                              "%llu visits of one person, %llu users apart, do not fit into %llu "
                              "users; declare fewer visits, a smaller distance, or more users",
                              (unsigned long long)r->visits, (unsigned long long)apart,
                              (unsigned long long)r->episodes);
    if (!tacit_agent_kind_returning(r->kind))
        return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, line,
                              "%s supports only one visit of each person; `tacit agents` shows "
                              "which learners support more",
                              r->kind);
    return TACIT_OK;
}

static tacit_agent_facts facts_of(const tacit_agent_request *q, const tacit_agent_kind *kind)
{
    const tacit__domain domain = tacit__domain_of(q);
    return (tacit_agent_facts){.kind = kind,
                               .guarantee = q->guarantee,
                               .calibration = q->calibration,
                               .outside = q->outside,
                               .n_states = q->n_states,
                               .n_actions = q->n_actions,
                               .horizon = q->horizon,
                               .stationary = q->stationary,
                               .episodes = q->episodes,
                               .reward_low = domain.reward_low,
                               .reward_high = domain.reward_high,
                               .per_situation = tacit__domain_brought(q)};
}

tacit_status tacit__agent_create_row(const tacit__family *family, const tacit__agent_row *row,
                                     const tacit_agent_request *request, tacit_noise *noise,
                                     tacit_agent **out, tacit_error *err)
{
    TRY(check_request(request, family, &row->kind, err));
    TRY(check_visits(request, err));
    TRY(check_calibration(request, &row->print, err));
    if (noise == NULL && request->guarantee.model != TACIT_MODEL_NONE)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a private agent needs a source of noise");
    tacit_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *agent = (tacit_agent){.family = family,
                           .row = row,
                           .facts = facts_of(request, &row->kind),
                           .situations = tacit__domain_of(request).situations};
    tacit_agent_request unit = *request;
    tacit_status status = tacit__agent_map_rewards(agent, &unit, err);
    if (status == TACIT_OK)
        status = tacit__base_create(family, row, &unit, noise, &agent->self, err);
    if (status == TACIT_OK &&
        (status = tacit__clipper_create(request, family->looks_ahead, &agent->clipper)) != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    if (status == TACIT_OK &&
        (status = tacit__agent_fingerprint(request, agent->fingerprint)) != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    if (status != TACIT_OK) {
        tacit_agent_destroy(agent);
        return status;
    }
    *out = agent;
    return TACIT_OK;
}

tacit_status tacit_agent_create(const tacit_agent_request *request, tacit_noise *noise,
                                tacit_agent **out, tacit_error *err)
{
    if (request == NULL || request->kind == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_agent_request chosen = *request;
    TRY(tacit_agent_choose(request, &chosen.kind, err));
    const tacit__family *family;
    const tacit__agent_row *row = find(chosen.kind, &family);
    if (row == NULL)
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, request->file, (size_t)request->line,
                              "there is no agent '%s'; `tacit agents` lists them", chosen.kind);
    return tacit__agent_create_row(family, row, &chosen, noise, out, err);
}

const tacit_agent_kind *tacit_agent_kind_of(const tacit_agent *agent)
{
    return agent != NULL ? &agent->row->kind : NULL;
}

const tacit_agent_facts *tacit_agent_describe(const tacit_agent *agent)
{
    return agent != NULL ? &agent->facts : NULL;
}

void tacit__agent_attach(tacit_agent *agent, void *what, void (*destroy)(void *what))
{
    TACIT__REQUIRE(agent->attached == NULL && what != NULL && destroy != NULL);
    agent->attached = what;
    agent->detach = destroy;
}

tacit_status tacit__agent_snapshot(const tacit_agent *agent, tacit_agent **out, tacit_error *err)
{
    TACIT__REQUIRE(!agent->is_snapshot);
    if (agent->family->snapshot == NULL)
        return tacit__fail_plain(err, TACIT_UNSUPPORTED);
    tacit_agent *copy = tacit__alloc(1, sizeof *copy);
    if (copy == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *copy = *agent;
    copy->self = NULL;
    copy->table = NULL;
    copy->clipper = NULL;
    copy->rewards = NULL;
    copy->attached = NULL; /* acting needs none of it */
    copy->is_snapshot = true;
    void *self = NULL;
    tacit_status status = agent->family->snapshot(agent->self, &self, err);
    copy->self = self;
    if (status != TACIT_OK) {
        tacit_agent_destroy(copy);
        return status;
    }
    *out = copy;
    return TACIT_OK;
}

void tacit_agent_destroy(tacit_agent *agent)
{
    if (agent != NULL) {
        tacit__base_destroy(agent->self);
        tacit__clipper_destroy(agent->clipper);
        tacit__free(agent->table);
        tacit__free(agent->rewards);
        if (agent->attached != NULL)
            agent->detach(agent->attached);
    }
    tacit__free(agent);
}

tacit_status tacit_agent_plan(tacit_agent *agent, tacit_billboard *out, tacit_error *err)
{
    TACIT__REQUIRE(!agent->is_snapshot);
    tacit_status status = agent->family->plan(agent->self, &agent->board, err);
    if (status != TACIT_OK)
        return status;
    agent->planned = true;
    *out = agent->board;
    return status;
}

tacit_status tacit_agent_billboard(const tacit_agent *agent, tacit_billboard *out, tacit_error *err)
{
    if (agent == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (!agent->planned)
        return tacit__fail(err, TACIT_NOTHING_TO_RELEASE, "there is no plan yet");
    *out = agent->board;
    return TACIT_OK;
}

void tacit__billboard_act(const tacit_billboard *board, size_t row, size_t n_actions, double chance,
                          uint32_t *action, double *probability)
{
    TACIT__REQUIRE((board->policy != NULL || board->mixed != NULL) && n_actions > 0);
    if (board->policy != NULL) {
        *action = board->policy[row];
        *probability = 1;
        return;
    }
    const double *p = board->mixed + row * n_actions;
    uint32_t a = 0;
    for (double sum = p[0]; a + 1 < n_actions && chance >= sum; sum += p[a])
        a++;
    while (a > 0 && p[a] == 0) /* rounding may lead past the last possible action */
        a--;
    *action = a;
    *probability = p[a];
}

tacit_status tacit__agent_act_inside(tacit_agent *agent, const tacit_situation *situation,
                                     double chance, uint32_t *action, double *probability,
                                     tacit_error *err)
{
    TACIT__REQUIRE(chance >= 0 && chance < 1 && situation->step < agent->facts.horizon);
    bool table = agent->board.policy != NULL || agent->board.mixed != NULL;
    if ((situation->features == NULL || table) && situation->state >= agent->facts.n_states)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the state is not below %zu",
                           agent->facts.n_states);
    if (!agent->planned || (!table && agent->family->act == NULL))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "there is no plan to act by yet");
    if (!table)
        return agent->family->act(agent->self, situation, chance, action, probability, err);
    tacit__billboard_act(&agent->board, situation->step * agent->facts.n_states + situation->state,
                         agent->facts.n_actions, chance, action, probability);
    return TACIT_OK;
}

tacit_status tacit_agent_act(tacit_agent *agent, const tacit_situation *situation, double chance,
                             uint32_t *action, double *probability, tacit_error *err)
{
    if (agent == NULL || situation == NULL || action == NULL || probability == NULL ||
        !(chance >= 0 && chance < 1))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (situation->step >= agent->facts.horizon)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "step is %zu, expected less than %zu",
                           situation->step, agent->facts.horizon);
    if (agent->facts.outside != TACIT_OUTSIDE_CLIP || agent->is_snapshot)
        return tacit__agent_act_inside(agent, situation, chance, action, probability, err);
    agent->holds_user = true;
    const tacit_situation here =
        tacit__clipper_situation(agent->clipper, situation, &agent->was_cut);
    tacit_status status = tacit__agent_act_inside(agent, &here, chance, action, probability, err);
    tacit__agent_wipe_user(agent);
    return status;
}

tacit_status tacit_agent_learn(tacit_agent *agent, const tacit_trajectory *user, tacit_error *err)
{
    tacit_trajectory clipped;
    TRY(tacit__agent_clip_user(agent, user, &clipped, err));
    tacit_status status = tacit__base_learn(agent->self, &clipped, err);
    tacit__agent_wipe_user(agent);
    return status;
}

bool tacit_agent_was_cut(const tacit_agent *agent)
{
    return agent != NULL && agent->was_cut;
}

tacit_ledger *tacit__agent_ledger(const tacit_agent *agent)
{
    return tacit__base_ledger(agent->self);
}

const tacit_ledger *tacit_agent_ledger(const tacit_agent *agent)
{
    return agent != NULL ? tacit__agent_ledger(agent) : NULL;
}

const tacit_plan *tacit_agent_release_plan(const tacit_agent *agent)
{
    tacit_ledger *ledger = tacit__agent_ledger(agent);
    return ledger != NULL ? tacit_ledger_plan(ledger) : NULL;
}

const char *tacit_agent_remark(const tacit_agent *agent)
{
    return tacit__base_remark(agent->self);
}

bool tacit_agent_play_at(const tacit_agent *agent, size_t i, tacit_play *out)
{
    const tacit__plays *plays = &agent->self->plays;
    if (i >= plays->n)
        return false;
    *out = (tacit_play){.name = plays->at[i].name,
                        .printed = plays->at[i].printed,
                        .played = plays->at[i].played,
                        .printed_words = plays->at[i].printed_words,
                        .played_words = plays->at[i].played_words,
                        .note = plays->at[i].note};
    return true;
}

/* lin-ucb: sums of x x^T and x y (contribute/regression.c), and optimism on them (lin_ucb.c).
 *
 * Actions. `shared`: each action has features, one parameter for all. `disjoint`: the features are
 * the context's, each action has its own parameter, so its own sums. `opposite`: two actions whose
 * rewards always sum to 1 (is this person's answer A or B?): x for the first, -x for the second,
 * one parameter, so every reward teaches about both.
 *
 * explore-commit-features is the baseline: random actions, one release of the same sums, and greedy play on
 * them by the same planner.
 *
 * Defaults. bonus_scale 1 is the theorem, and then shift is 2, as in the proof. The practical
 * defaults were chosen on linear-bandit worlds and synthetic people; privacy depends on none of
 * them.
 *
 * Published calibrations, recalled from later papers and public code and not checked against the
 * papers' own texts (the row says so). Only the noise is theirs, widths are ours. Joint [SS18]:
 * binary tree, released after every user, noise of standard deviation 4 sqrt(m) (L^2 + B^2) ln(4 /
 * delta) / epsilon, m = 1 + ceil(log2 T), on the entries of the symmetric matrix of [x y]
 * (diagonal: times sqrt(2)): isometric coordinates with s = sqrt(2). Local [ZCHLW20]: 4 sqrt(2
 * ln(1.25 / delta)) / epsilon on every entry of the upper triangle and of x y. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/bandit/lin_ucb_agent.h"
#include "agents/domain.h"
#include "base/error.h"
#include "base/memory.h"
#include "release/curator.h"
#include "release/schedule.h"

#define LEAST_GROWTH 1.0001

static const tacit_parameter parameters[] = {
    TACIT__REAL("bonus_scale", "0.1", 0, 1e6,
                "multiplies the width of the confidence sets; 1 is the theorem"),
    TACIT__REAL("failure", "0.1", 1e-12, 0.5, "probability that the bounds fail"),
    TACIT__REAL("regularizer", "1", 1e-9, 1e9, "lambda"),
    TACIT__TEXT("arms", "auto",
                "shared, disjoint, opposite (two actions, rewards sum to 1), or auto (as the world "
                "allows)"),
    TACIT__REAL(
        "growth", "", 1, 100,
        "private: news when users have grown by this factor, at least 1.0001; 1: after every "
        "user"),
    TACIT__REAL("shift", "", 0, 100,
                "private: how far the Gram matrix is repaired, in norms of its noise; 2 is the "
                "theorem"),
    TACIT__TEXT("repair", "",
                "private: shift adds that to all eigenvalues, raise lifts those that are lower"),
    TACIT__REAL("response_weight", "", 0.01, 100,
                "private: weight of x y against x x^T in the noise"),
};

static const tacit_parameter commit_parameters[] = {
    TACIT__INTEGER("explore", "0", 0, 1e15,
                   "users who act at random before the release; 0: by a public rule"),
    TACIT__REAL("regularizer", "1", 1e-9, 1e9, "lambda"),
    TACIT__TEXT("arms", "auto",
                "shared, disjoint, opposite (two actions, rewards sum to 1), or auto (as the world "
                "allows)"),
    TACIT__REAL("shift", "0.5", 0, 100,
                "private: up to where eigenvalues of the Gram matrix are raised, in norms of its "
                "noise"),
    TACIT__REAL("response_weight", "1", 0.01, 100,
                "private: weight of x y against x x^T in the noise"),
};

/* What such a learner is made of. */
typedef struct lin_parts {
    bool commits; /* explore-commit-features */
} lin_parts;

static const tacit__agent_row kinds[] = {
    {.kind = {"lin-ucb",
              "optimism with linear rewards; shared or disjoint actions, any contexts; how "
              "features are made counts as public and must not be fitted on the same people",
              "Abbasi-Yadkori, Pal, Szepesvari 2011; joint: Shariff, Sheffet 2018; local: Zheng, "
              "Cai, Huang, Li, Wang 2020",
              TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, parameters,
              TACIT__COUNT(parameters)},
     .print = {.joint = "[SS18]: binary tree, (4 sqrt(m) (L^2 + B^2) / epsilon) ln(4/delta) on "
                        "every entry of a node's matrix of [x y], m = 1 + ceil(log2 T); the widths "
                        "are not the paper's",
               .local = "[ZCHLW20]: (4 / epsilon) sqrt(2 ln(1.25/delta)) on every entry of the "
                        "upper triangle of x x^T and of x y; the widths are not the paper's",
               .recalled = true},
     .curator = &tacit__one_curator,
     .parts = &(const lin_parts){.commits = false}},
    {.kind = {"explore-commit-features",
              "random actions, one release, then the best actions from it for all later users: a "
              "baseline for linear rewards",
              "folklore", TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL,
              commit_parameters, TACIT__COUNT(commit_parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const lin_parts){.commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

static bool commits(const lin_ucb_agent *agent)
{
    return ((const lin_parts *)agent->base.row->parts)->commits;
}

static bool is_theory(const tacit__reading *r)
{
    return tacit__value_real(&r->values, "bonus_scale") >= 1;
}

/* --- Settings ---------------------------------------------------------------------------------- */

static tacit_status read_arms(const tacit__reading *r, arms *out, tacit_error *err)
{
    static const char *const names[] = {"shared", "disjoint", "opposite", "auto", NULL};
    const tacit_bandit *b = r->request->bandit;
    int choice = tacit__value_choose(&r->values, "arms", names, err);
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    if (choice == 3)
        choice = !b->disjoint ? SHARED : b->complementary ? OPPOSITE : DISJOINT;
    if ((choice == SHARED) == b->disjoint || (choice == OPPOSITE && !b->complementary))
        return tacit__value_fail(
            &r->values, "arms", err, TACIT_UNSUPPORTED, "arms: %s does not fit: %s", names[choice],
            !b->disjoint       ? "every action of this world has features, so they are shared"
            : choice == SHARED ? "the features of this world are the context's; actions are "
                                 "disjoint or, if there are two with rewards that sum to 1, "
                                 "opposite"
                               : "opposite needs two actions with rewards that sum to 1");
    *out = (arms)choice;
    return TACIT_OK;
}

/* The published noise, in the coordinates of the curator. */
static double published_scale(const tacit_agent_request *q)
{
    double epsilon = q->guarantee.epsilon, delta = q->guarantee.delta;
    if (q->guarantee.model == TACIT_MODEL_LOCAL)
        return 4 * sqrt(2 * log(1.25 / delta)) / epsilon;
    double m = 1 + ceil(log2((double)q->episodes));
    return M_SQRT2 * 4 * sqrt(m) * 2 * log(4 / delta) / epsilon;
}

/* When sums are released: whenever there are `growth` times as many users, 1: after each; or once, after
 * `explore` of them. */
typedef struct course {
    double growth;
    uint64_t explore;
} course;

static tacit_status read_curator(const tacit__reading *r, arms layout,
                                 tacit__regression_options *out, course *when, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const bool published = tacit__is_noise_printed(q);
    const bool local = q->guarantee.model == TACIT_MODEL_LOCAL;
    double growth = tacit__value_or(&r->values, "growth", published ? 1 : local ? 1.02 : 1.2);
    if (growth > 1 && growth < LEAST_GROWTH) /* the schedule is a list */
        return tacit__value_fail(&r->values, "growth", err, TACIT_BAD_ARGUMENT,
                                 "growth is %.12g, expected 1 or at least %g", growth,
                                 LEAST_GROWTH);
    *when = (course){.growth = q->guarantee.model == TACIT_MODEL_NONE ? 1 : growth};
    *out = (tacit__regression_options){
        .dimension = q->bandit->dimension,
        .blocks = layout == DISJOINT ? q->n_actions : 1,
        .users = q->episodes,
        .visits = q->visits,
        .apart = q->apart,
        .guarantee = q->guarantee,
        .response_weight =
            tacit__value_or(&r->values, "response_weight", published && !local ? M_SQRT2 : 1),
        .published_scale = published ? published_scale(q) : 0,
        .triangle = published && local,
    };
    return tacit__reading_mechanism(r, &out->mechanism, err);
}

/* The same for one release. */
static tacit_status read_explorer(const tacit__reading *r, arms layout,
                                  tacit__regression_options *out, course *when, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    *when =
        (course){.growth = 1, .explore = (uint64_t)tacit__value_of(&r->values, "explore")->integer};
    *out = (tacit__regression_options){
        .dimension = q->bandit->dimension,
        .blocks = layout == DISJOINT ? q->n_actions : 1,
        .users = q->episodes,
        .visits = q->visits,
        .apart = q->apart,
        .guarantee = q->guarantee,
        .response_weight = tacit__value_real(&r->values, "response_weight"),
    };
    TRY(tacit__reading_mechanism(r, &out->mechanism, err));
    if (when->explore == 0)
        when->explore = tacit__lin_explore(out);
    return TACIT_OK;
}

/* Greedy, once there is something to go by. Before that all actions tie, and chance decides. */
static tacit_status make_greedy(lin_ucb_agent *agent, const tacit__reading *r, tacit_error *err)
{
    const tacit__lin_ucb_options o = {
        .dimension = agent->d,
        .blocks = agent->arms == DISJOINT ? agent->n_actions : 1,
        .n_actions = agent->n_actions,
        .users = r->request->episodes,
        .regularizer = tacit__value_real(&r->values, "regularizer"),
        .failure = 0.1, /* of a width that is not used, and of the noise's norm */
        .parameter_norm = 1,
        .shift = tacit__value_real(&r->values, "shift"),
        .raise = true,
    };
    agent->remark = "there is no regret theorem; privacy does not depend on one";
    tacit_status status = tacit__lin_ucb_create(&o, &agent->planner);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

static double shift_of(const tacit__reading *r)
{
    return tacit__value_or(&r->values, "shift", is_theory(r) ? 2 : 0.5);
}

/* Nothing here was read in a paper: [SS18] and [ZCHLW20] were recalled. */
static void fill_plays(lin_ucb_agent *agent, const tacit__reading *r, const course *when)
{
    tacit__plays *plays = &agent->base.plays;
    const double none = (double)NAN;
    const tacit_ledger *ledger = tacit__base_ledger(&agent->base);
    char releases[TACIT__PLAYS_WORDS] = "every user";
    if (ledger != NULL) {
        if (when->growth > 1)
            (void)snprintf(releases, sizeof releases, "growth(%g)", when->growth);
        tacit__plays_number(plays, "noise", none, tacit_plan_scale(tacit_ledger_plan(ledger), 0),
                            "%s", tacit__is_noise_printed(r->request) ? "recalled" : "");
        tacit__plays_number(plays, "shift, in norms of the noise", none, shift_of(r), "%s", "");
        tacit__plays_words(plays, "releases", "", releases, "%s", "");
    }
    tacit__plays_number(plays, "ridge", none, tacit__value_real(&r->values, "regularizer"), "%s",
                        "");
    tacit__plays_number(plays, "bonus_scale", none, tacit__value_real(&r->values, "bonus_scale"),
                        "%s", "");
}

static tacit_status make_planner(lin_ucb_agent *agent, const tacit__reading *r, tacit_error *err)
{
    static const char *const repairs[] = {"shift", "raise", NULL};
    const tacit_agent_request *q = r->request;
    int repair = is_theory(r) ? 0 : 1;
    if (tacit__value_of(&r->values, "repair")->given &&
        (repair = tacit__value_choose(&r->values, "repair", repairs, err)) < 0)
        return TACIT_BAD_ARGUMENT;
    double norm = q->bandit->parameter_norm;
    tacit__lin_ucb_options o = {
        .dimension = agent->d,
        .blocks = agent->arms == DISJOINT ? agent->n_actions : 1,
        .n_actions = agent->n_actions,
        .users = q->episodes,
        .bonus_scale = tacit__value_real(&r->values, "bonus_scale"),
        .regularizer = tacit__value_real(&r->values, "regularizer"),
        .failure = tacit__value_real(&r->values, "failure"),
        .parameter_norm = norm > 0 ? 2 * norm * q->bandit->bound : 1,
        .shift = shift_of(r),
        .raise = repair == 1,
    };
    if (!is_theory(r))
        agent->remark =
            "bonus_scale below 1: the regret theorem does not apply; privacy does not depend on it";
    else if (norm <= 0)
        agent->remark = "the norm of the parameter is not known in this world; 1 is assumed";
    tacit_status status = tacit__lin_ucb_create(&o, &agent->planner);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

/* --- The agent --------------------------------------------------------------------------------- */

static void clear(void *self)
{
    lin_ucb_agent *agent = self;
    tacit__lin_ucb_destroy(agent->planner);
    tacit__free(agent->scratch);
}

/* Doubles for the features of all actions, where the planner wants them otherwise than they come. */
static size_t scaled_size(const lin_ucb_agent *agent)
{
    return agent->arms != OPPOSITE && agent->scale == 1 ? 0 : agent->n_actions * agent->d;
}

/* Doubles for these, the scores, and the planner. */
static size_t scratch_size(const lin_ucb_agent *agent)
{
    return scaled_size(agent) + agent->n_actions + tacit__lin_ucb_act_scratch(agent->planner);
}

/* Features of numbered contexts keep the bound: otherwise the curator would refuse every
 * user in a context that does not. */
static tacit_status check_points(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const tacit__domain domain = tacit__domain_of(q);
    double *row = tacit__alloc(domain.per_situation, sizeof *row);
    tacit_status status = row != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t s = 0; s < q->n_states && q->bandit->points != NULL && status == TACIT_OK; s++) {
        memcpy(row, q->bandit->points + s * domain.per_situation,
               domain.per_situation * sizeof *row);
        if (tacit__domain_clip_features(&domain, row))
            status = tacit__reading_fail(r, err, TACIT_OUT_OF_BOUND,
                                         "the features of context %zu are longer than their bound "
                                         "%g, or not finite",
                                         s, domain.bound);
    }
    tacit__free(row);
    return status;
}

/* The users at each release into memory to be freed; the last user's data are never used. */
static tacit_status find_ends(tacit__regression_options *o, const course *when, uint64_t **ends,
                              tacit_error *err)
{
    const uint64_t used = o->users > 1 ? o->users - 1 : 1;
    if (when->explore == 0 && !(when->growth > 1))
        return TACIT_OK;
    o->n_ends = when->explore > 0 ? 1 : tacit__schedule_from_root(used, when->growth, NULL);
    o->ends = *ends = tacit__alloc(o->n_ends, sizeof **ends);
    if (*ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (when->explore > 0)
        **ends = when->explore < used ? when->explore : used;
    else
        (void)tacit__schedule_from_root(used, when->growth, *ends);
    return TACIT_OK;
}

static tacit_status open_curator(lin_ucb_agent *agent, tacit__regression_options *o,
                                 const course *when, tacit_noise *noise, tacit_error *err)
{
    uint64_t *ends = NULL;
    tacit__curator *made = NULL;
    tacit__curator_spec spec;
    tacit_status status = find_ends(o, when, &ends, err);
    if (status == TACIT_OK)
        status = tacit__regression_describe(o, &spec, err);
    if (status == TACIT_OK)
        status = tacit__curator_create(&spec, noise, &made, err);
    agent->base.curator = made;
    tacit__free(ends);
    return status;
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    lin_ucb_agent *agent = self;
    const tacit_agent_request *q = r->request;
    tacit__regression_options curator = {0};
    course when = {0};
    TRY(check_points(r, err));
    TRY(read_arms(r, &agent->arms, err));
    TRY((commits(agent) ? read_explorer : read_curator)(r, agent->arms, &curator, &when, err));
    agent->d = q->bandit->dimension;
    agent->n_actions = q->n_actions;
    agent->n_states = q->n_states;
    agent->per_user = agent->d * (q->bandit->disjoint ? 1 : q->n_actions);
    agent->points = q->bandit->points;
    agent->scale = 1 / q->bandit->bound;
    agent->remark = "";
    tacit_error reason = {0};
    const tacit_status status = open_curator(agent, &curator, &when, noise, &reason);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    TRY((commits(agent) ? make_greedy : make_planner)(agent, r, err));
    if (!commits(agent))
        fill_plays(agent, r, &when);
    agent->scratch = tacit__alloc(scratch_size(agent), sizeof *agent->scratch);
    return agent->scratch != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

static tacit_status check(const tacit_agent_request *q, tacit_error *err)
{
    if (q->bandit == NULL)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)q->line,
                              "%s is for bandit worlds: linear-bandit, kernel-bandit, "
                              "logged-bandit; in a service, space: {features: 20}",
                              q->kind);
    const bool own = strcmp(q->kind, kinds[0].kind.name) != 0;
    if (own)
        TRY(tacit__check_tight(q, err));
    if (q->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)q->line,
                              "lin-ucb has calibration: tight and noise: recalled");
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    lin_ucb_agent *agent = self;
    tacit__curator *c = agent->base.curator;
    if (!agent->follows) { /* else the model came from elsewhere, and there is nothing to look at */
        if (tacit__curator_ends(c) == NULL)
            TRY(tacit__curator_refresh(c, err));
        const tacit__moments moments = tacit__regression_view(
            tacit__curator_form(c), tacit__curator_stream(c, 0), tacit__curator_users(c),
            tacit__curator_shown(c), tacit__curator_released(c));
        agent->version += tacit__lin_ucb_update(agent->planner, &moments);
    }
    *out = (tacit_billboard){.version = agent->version};
    return TACIT_OK;
}

/* The user's features, at most 1 long, as the planner wants them, perhaps in scratch; NULL: there are
 * none. */
static const double *scaled(const lin_ucb_agent *agent, const double *features, uint32_t state,
                            double *scratch)
{
    if (features == NULL && agent->points == NULL)
        return NULL;
    const double *from = features != NULL ? features : agent->points + state * agent->per_user;
    if (scaled_size(agent) == 0)
        return from;
    for (size_t i = 0; i < agent->per_user; i++)
        scratch[i] = agent->scale * from[i];
    if (agent->arms == OPPOSITE)
        for (size_t i = 0; i < agent->d; i++)
            scratch[agent->d + i] = -scratch[i];
    return scratch;
}

static tacit_status act(void *self, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err)
{
    lin_ucb_agent *agent = self;
    const size_t size = scratch_size(agent);
    double *scratch =
        agent->scratch != NULL ? agent->scratch : tacit__alloc_raw(size, sizeof *scratch);
    if (scratch == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    const double *x = scaled(agent, situation->features, situation->state, scratch);
    double *scores = scratch + scaled_size(agent);
    if (x != NULL)
        *action = tacit__lin_ucb_act(agent->planner, x, chance, probability, scores,
                                     scores + agent->n_actions);
    if (agent->scratch == NULL)
        tacit__free_secret(scratch, size * sizeof *scratch);
    return x != NULL ? TACIT_OK : tacit__fail(err, TACIT_BAD_ARGUMENT, "the user has no features");
}

/* The planner is all that `act` looks at. */
static tacit_status snapshot(const void *self, void **out, tacit_error *err)
{
    const lin_ucb_agent *agent = self;
    lin_ucb_agent *copy = tacit__alloc(1, sizeof *copy);
    if (copy == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *copy = *agent;
    copy->base.curator = NULL;
    copy->planner = NULL;
    copy->scratch = NULL;
    tacit_status status = tacit__lin_ucb_copy(agent->planner, &copy->planner);
    if (status != TACIT_OK) {
        tacit__base_destroy(&copy->base);
        return tacit__fail_plain(err, status);
    }
    *out = copy;
    return TACIT_OK;
}

/* Features of the action taken, their block, a reward in [-1, 1]. */
static tacit_status view_user(void *self, const tacit_trajectory *user, tacit__user_view *out,
                              tacit_error *err)
{
    lin_ucb_agent *agent = self;
    bool numbered = user->features == NULL;
    if ((numbered && (user->states == NULL || user->states[0] >= agent->n_states)) ||
        user->actions[0] >= agent->n_actions || !(user->rewards[0] >= 0 && user->rewards[0] <= 1))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "the context or the action does not exist, or the reward is not in "
                           "[0, 1]");
    uint32_t action = user->actions[0];
    const double *x = scaled(agent, user->features, numbered ? user->states[0] : 0, agent->scratch);
    out->vector = x + (agent->arms == DISJOINT ? 0 : action * agent->d);
    out->block = agent->arms == DISJOINT ? action : 0;
    out->y = 2 * user->rewards[0] - 1;
    return TACIT_OK;
}

/* The model: the version, then the planner's numbers, 64 bits each, low byte first. All of it was
 * made of releases. */
static void model_fields(const lin_ucb_agent *agent, uint64_t *version, tacit__saved *s)
{
    *version = agent->version;
    tacit__saved_value(s, version, sizeof *version);
    tacit__saved_check(s, *version <= TACIT__MOST_COUNT);
    tacit__lin_ucb_fields(agent->planner, s);
}

static tacit_status publish(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    uint64_t version;
    tacit__saved s = tacit__saved_save(bytes, size, err);
    while (tacit__saved_next(&s))
        model_fields(self, &version, &s);
    if (s.status == TACIT_OK && bytes != NULL)
        tacit__model_reorder(bytes, *size / 8);
    return s.status;
}

static tacit_status follow(void *self, const void *bytes, size_t size, tacit_error *err)
{
    lin_ucb_agent *agent = self;
    size_t needed = 0;
    uint8_t *words;
    TRY(publish(agent, NULL, &needed, err));
    TRY(tacit__model_copy(bytes, size, needed, &words, err));
    uint64_t version = 0;
    tacit__saved s = tacit__saved_load(words, size, err);
    while (tacit__saved_next(&s))
        model_fields(agent, &version, &s);
    tacit__free(words);
    if (s.status != TACIT_OK)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the model has impossible numbers");
    agent->version = version;
    agent->follows = true;
    return TACIT_OK;
}

static void fields(void *self, tacit__saved *s)
{
    lin_ucb_agent *agent = self;
    uint64_t version = agent->version;
    s->wrong = "the saved learner contradicts itself";
    (void)tacit__curator_fields(agent->base.curator, s);
    tacit__lin_ucb_fields(agent->planner, s);
    tacit__saved_value(s, &version, sizeof version);
    tacit__saved_check(s, version <= TACIT__MOST_COUNT);
    if (s->pass == TACIT__APPLY)
        agent->version = version;
}

static const char *remark(const void *self)
{
    return ((const lin_ucb_agent *)self)->remark;
}

const tacit__family tacit__family_lin_ucb = {
    .rows = &rows,
    .chosen_only = true,
    .size = sizeof(lin_ucb_agent),
    .check = check,
    .build = build,
    .clear = clear,
    .plan = plan,
    .view_user = view_user,
    .act = act,
    .snapshot = snapshot,
    .publish = publish,
    .follow = follow,
    .fields = fields,
    .remark = remark,
};

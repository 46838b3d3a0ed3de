/* See audit/search.h.
 *
 * The loss of a pair is deterministic once the releases are fixed: no noise is involved in how far exact
 * values move. So the search climbs: from the best of a list of extremes, a change is kept if the loss rises.
 * Under Laplace noise pairs of the same loss differ in how few numbers carry it, and fewer are easier to
 * attack: the sum of squares decides.
 *
 * There are two hills, because the worst users are not always near the extremes: one begins with those,
 * the other with users who cross. What a learner does with a user may also depend on what it released
 * before, and a plan's promise holds for every release, however unlikely. So under joint privacy the noise
 * is what it is on the first hill, where trials start from, and magnified on the other, which drives value
 * functions to their ends and makes policies switch. Under local privacy the server is the adversary: both
 * hills are climbed with the model that it sends, changed at will. */
#include "audit/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/models.h"
#include "audit/proposals.h"
#include "base/error.h"
#include "base/memory.h"

/* Attempts: at least FEWEST whatever they take, at most MOST; LONGEST times as many while less than
 * TACIT__SEARCH_ENOUGH of what is declared was reached, or LONGER times if the learner is searched
 * elsewhere as well. Measured: 300 reach all of it for tables, 1800 nine tenths of it with features.
 * MODELS: numbers of a model that are tried one by one; CROSSINGS: meetings of users who cross; REPORTS:
 * pairs whose reports are compared and nothing else. */
enum {
    FEWEST = 40,
    MOST = 300,
    LONGER = 2,
    LONGEST = 6,
    MODELS = 64,
    CROSSINGS = 5,
    REPORTS = 1000
};

typedef struct hill {
    tacit__pair top;
    double height, loss; /* objective, and what it is mostly made of */
    bool telling;        /* the best pair is distinguishable whatever the noise */
} hill;

typedef struct climb {
    const tacit__subject *subject;
    const tacit_audit_options *options;
    tacit__generator generator;
    bool gaussian, local;
    tacit__search *out;
    hill likely, other;
    tacit__pair attempt;
    tacit__message model; /* an honest one, to start from; size 0: there are none */
} climb;

/* mu or epsilon that the plan's sensitivities and scales add up to. */
static double loss_of(const tacit_plan *plan)
{
    bool gaussian = tacit_plan_law(plan) == TACIT_LAW_GAUSSIAN;
    double loss = 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *r = tacit_plan_release(plan, i);
        double scale = tacit_plan_scale(plan, i);
        loss += gaussian ? pow(r->l2 * r->column_l2 / scale, 2) : r->l1 * r->column_l1 / scale;
    }
    return gaussian ? sqrt(loss) : loss;
}

/* --- One attempt --------------------------------------------------------------------------------- */

static void add_faults(climb *c, const tacit__lockstep *lockstep, const tacit__verdict *v)
{
    tacit__search *out = c->out;
    out->same_calls = out->same_calls && v->same_calls;
    out->same_view = out->same_view && lockstep->same_view;
    out->undeclared = out->undeclared || lockstep->undeclared;
    out->one_sided = out->one_sided || lockstep->one_sided;
    if (out->fault[0] == '\0')
        (void)snprintf(out->fault, sizeof out->fault, "%s", v->fault);
}

static void add_loss(climb *c, hill *h, const tacit__lockstep *lockstep, const tacit__verdict *v)
{
    tacit__search *out = c->out;
    double loss = c->gaussian ? sqrt(v->mu_square) : v->epsilon;
    double few = c->gaussian ? 0 : v->mu_square / fmax(v->epsilon * v->epsilon, 1e-300);
    double objective = loss * (1 + 1e-3 * few);
    if (loss > out->measured) {
        out->measured = loss;
        out->declared = loss_of(tacit__lockstep_plan(lockstep));
        out->position = c->attempt.position;
    }
    /* as good is good enough: plateaus are wide, and what lies beyond them is reached by walking across; a
     * pair that is told apart without noise, by a bare number, by bytes or by silence, beats all others */
    bool telling = lockstep->one_sided || lockstep->other_bytes || lockstep->bare;
    if (telling == h->telling ? objective < h->height * (1 - 1e-12) : h->telling)
        return;
    h->telling = telling;
    h->height = objective;
    h->loss = loss;
    tacit__pair_copy(&c->subject->form, &h->top, &c->attempt);
}

/* Measures c->attempt, and makes it the hill's best pair if its loss is larger. */
static tacit_status measure(climb *c, hill *h, tacit_error *err)
{
    tacit__lockstep lockstep;
    tacit__lockstep_outcome outcome;
    TRY(tacit__lockstep_create(&lockstep, c->subject, c->attempt.seed, err));
    lockstep.compare_views = true;
    lockstep.magnified = c->attempt.magnified;
    lockstep.growth = c->attempt.growth;
    tacit_status status = tacit__pair_run(&c->attempt, &lockstep, 0, &outcome, err);
    tacit__verdict v = tacit__lockstep_verdict(&lockstep);
    c->out->tried++;
    c->out->refused += outcome == TACIT__REFUSED || outcome == TACIT__OUTSIDE;
    if (status == TACIT_OK && outcome != TACIT__OUTSIDE) {
        add_faults(c, &lockstep, &v);
        if (outcome != TACIT__REFUSED)
            add_loss(c, h, &lockstep, &v);
    }
    tacit__lockstep_destroy(&lockstep);
    const tacit_audit_options *o = c->options;
    c->out->stopped = o->progress != NULL && !o->progress(o->context, &(tacit_audit_progress){0});
    return status;
}

static bool goes_on(const climb *c)
{
    return c->out->same_calls && !c->out->one_sided && !c->out->stopped;
}

/* --- Pairs that are far apart by construction ------------------------------------------------------- */

/* A user outside the domain in one way, against a user inside, or one farther outside. */
static tacit_status try_violations(climb *c, tacit_error *err)
{
    static const struct {
        tacit__violation one, other;
    } pairs[] = {
        {TACIT__REWARD_HIGH, TACIT__VIOLATIONS},  {TACIT__REWARD_LOW, TACIT__VIOLATIONS},
        {TACIT__REWARD_NAN, TACIT__VIOLATIONS},   {TACIT__FEATURE_LONG, TACIT__VIOLATIONS},
        {TACIT__FEATURE_BACK, TACIT__VIOLATIONS}, {TACIT__FEATURE_NAN, TACIT__VIOLATIONS},
        {TACIT__REWARD_FAR, TACIT__REWARD_HIGH},  {TACIT__FEATURE_FAR, TACIT__FEATURE_LONG}};
    const tacit__form *form = &c->subject->form;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && status == TACIT_OK && goes_on(c); i++) {
        tacit__pair_copy(form, &c->attempt, &c->likely.top);
        tacit__user_extreme(form, false, 1, &c->attempt.users[0]);
        tacit__user_extreme(form, true, 0, &c->attempt.users[1]);
        if (!tacit__user_violate(form, pairs[i].one, &c->attempt.users[0]))
            continue;
        if (pairs[i].other < TACIT__VIOLATIONS)
            (void)tacit__user_violate(form, pairs[i].other, &c->attempt.users[1]);
        status = measure(c, &c->likely, err);
    }
    return status;
}

static void use_model(climb *c)
{
    memcpy(c->attempt.model.bytes, c->model.bytes, c->model.size);
    c->attempt.model.size = c->model.size;
}

/* A dishonest server wants the users of its choice to fall silent: one number of its model is out of all
 * proportion, and concerns one of two users at most. */
static tacit_status try_models(climb *c, tacit_error *err)
{
    static const double values[] = {1e200, 1e-300};
    const size_t n = tacit__model_numbers(&c->model), places = n < MODELS ? n : MODELS;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < 2 * places && status == TACIT_OK && goes_on(c); i++) {
        tacit__pair_copy(&c->subject->form, &c->attempt, &c->likely.top);
        (void)tacit__propose_extreme(&c->subject->form, 1, c->attempt.users);
        use_model(c);
        size_t place = places > 1 ? i / 2 * (n - 1) / (places - 1) : 0;
        tacit__model_set(&c->attempt.model, place, values[i % 2]);
        status = measure(c, &c->likely, err);
    }
    return status;
}

/* Devices send what many different users make of it: every number of a report is reached by some user. */
static tacit_status try_reports(climb *c, tacit_error *err)
{
    const tacit__form *form = &c->subject->form;
    tacit__user *users = c->attempt.users;
    tacit__lockstep lockstep;
    tacit__lockstep_outcome outcome;
    bool followed;
    if (c->subject->report == NULL)
        return TACIT_OK;
    TRY(tacit__lockstep_create(&lockstep, c->subject, c->attempt.seed, err));
    c->attempt.model.size = 0;
    tacit_status status = tacit__pair_prepare(&c->attempt, &lockstep, &followed, err);
    uint64_t reports = c->subject->users > REPORTS ? REPORTS : c->subject->users - 1;
    for (uint64_t i = 0;
         i < reports && status == TACIT_OK && lockstep.same_view && !lockstep.one_sided; i++) {
        tacit__user_random(form, &c->generator, &users[0]);
        tacit__user_random(form, &c->generator, &users[1]);
        status = tacit__lockstep_add(&lockstep, &users[0], &users[1], &outcome, err);
    }
    bool fine = lockstep.same_view && !lockstep.one_sided;
    tacit__lockstep_destroy(&lockstep);
    return status == TACIT_OK && !fine ? measure(c, &c->likely, err) : status;
}

/* Everywhere with the farthest pair, then everything where that was worst. */
static tacit_status try_extremes(climb *c, tacit_error *err)
{
    const tacit__form *form = &c->subject->form;
    size_t places[TACIT__POSITIONS], n_places = tacit__propose_positions(c->subject, places);
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < n_places && status == TACIT_OK && goes_on(c); i++) {
        (void)tacit__propose_extreme(form, 1, c->attempt.users);
        c->attempt.position = places[i];
        status = measure(c, &c->likely, err);
    }
    for (size_t i = 0; status == TACIT_OK && goes_on(c); i++) {
        c->attempt.position = c->likely.top.position;
        if (!tacit__propose_extreme(form, i, c->attempt.users))
            break;
        status = measure(c, &c->likely, err);
    }
    return status;
}

/* The other hill begins with crossing users. */
static tacit_status try_crossings(climb *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < 3 * CROSSINGS && status == TACIT_OK && goes_on(c); i++) {
        tacit__pair_copy(&c->subject->form, &c->attempt, &c->likely.top);
        if (tacit__propose_crossing(&c->subject->form, 1 + i / 3, 2 * (i % 3), c->attempt.users))
            status = measure(c, &c->other, err);
    }
    return status;
}

/* --- Climbing ------------------------------------------------------------------------------------- */

static void change_circumstances(climb *c, hill *h, const size_t *places, size_t n_places)
{
    static const double factors[] = {1, 10, 1e3, 1e5}, growths[] = {1, 1, 2, 8};
    tacit__pair *p = &c->attempt;
    if (n_places > 1 && tacit__generator_below(&c->generator, 3) == 0)
        p->position = places[tacit__generator_below(&c->generator, n_places)];
    else
        p->seed = tacit__generator_below(&c->generator, UINT32_MAX);
    if (h == &c->other && !c->local) {
        p->magnified = factors[tacit__generator_below(&c->generator, 4)];
        p->growth = growths[tacit__generator_below(&c->generator, 4)];
    }
    if (c->model.size == 0)
        return;
    if (p->model.size == 0)
        use_model(c);
    tacit__model_mutate(&c->generator, &p->model);
}

static void change_users(climb *c)
{
    const tacit__form *form = &c->subject->form;
    uint64_t which = tacit__generator_below(&c->generator, 2),
             how = tacit__generator_below(&c->generator, 8);
    tacit__user *one = &c->attempt.users[which];
    const tacit__user *other = &c->attempt.users[1 - which];
    if (how == 0)
        tacit__user_random(form, &c->generator, one);
    if (how == 1)
        tacit__user_copy(form, one, other);
    for (uint64_t changes = how == 0 ? 0 : 1 + how % 3; changes > 0; changes--)
        tacit__user_mutate(form, &c->generator, one, other);
}

/* The higher one gets three steps of four. */
static hill *choose_hill(climb *c)
{
    bool higher = c->other.height > c->likely.height,
         odd = tacit__generator_below(&c->generator, 4) == 0;
    return higher != odd ? &c->other : &c->likely;
}

static tacit_status climb_on(climb *c, uint64_t attempts, tacit_error *err)
{
    size_t places[TACIT__POSITIONS], n_places = tacit__propose_positions(c->subject, places);
    tacit_status status = TACIT_OK;
    const uint64_t longest = c->local ? 2 * LONGEST : LONGEST; /* reports cost little */
    const uint64_t longer = c->subject->elsewhere != NULL ? LONGER : longest;
    while (status == TACIT_OK && goes_on(c)) {
        bool enough = c->out->measured >= TACIT__SEARCH_ENOUGH * c->out->declared;
        if (c->out->tried >= attempts * (enough ? 1 : longer))
            break;
        hill *h = choose_hill(c);
        tacit__pair_copy(&c->subject->form, &c->attempt, &h->top);
        uint64_t what = tacit__generator_below(&c->generator, 3);
        if (what > 0)
            change_users(c);
        if (what < 2)
            change_circumstances(c, h, places, n_places);
        status = measure(c, h, err);
    }
    return status;
}

/* --- The search ----------------------------------------------------------------------------------- */

static tacit_status open_climb(climb *c, uint64_t seed, tacit__pair *pair, tacit_error *err)
{
    const tacit__subject *s = c->subject;
    tacit_status status = tacit__generator_open(&c->generator, seed, "audit: neighbours");
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    TRY(tacit__model_first(s, seed, &c->model, err));
    if (tacit__pair_create(s, c->model.size, &c->attempt) != TACIT_OK ||
        tacit__pair_create(s, c->model.size, &c->likely.top) != TACIT_OK ||
        tacit__pair_create(s, c->model.size, &c->other.top) != TACIT_OK ||
        tacit__pair_create(s, c->model.size, pair) != TACIT_OK)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__propose_crowd(&s->form, &c->generator, pair->users + 2);
    for (size_t i = 0; i < TACIT__CROWD; i++)
        tacit__user_copy(&s->form, &c->attempt.users[2 + i], &pair->users[2 + i]);
    c->attempt.seed = c->likely.top.seed = seed;
    (void)tacit__propose_extreme(&s->form, 0, c->attempt.users);
    tacit__pair_copy(&s->form, &c->likely.top, &c->attempt);
    return TACIT_OK;
}

/* Keeps the pair from which trials start: under local privacy either hill will do. */
static void best_pairs(climb *c, tacit__pair *pair)
{
    bool other =
        c->local && (c->other.telling != c->likely.telling ? c->other.telling
                                                           : c->other.height > c->likely.height);
    const hill *h = other ? &c->other : &c->likely;
    tacit__pair_copy(&c->subject->form, pair, &h->top);
    c->out->attackable = h->loss;
}

static void close_climb(climb *c)
{
    tacit__pair_destroy(&c->attempt);
    tacit__pair_destroy(&c->likely.top);
    tacit__pair_destroy(&c->other.top);
    tacit__free(c->model.bytes);
}

tacit_status tacit__pair_search(const tacit__subject *subject, const tacit_audit_options *options,
                                uint64_t effort, tacit__pair *pair, tacit__search *out,
                                tacit_error *err)
{
    TACIT__REQUIRE(effort > 0 && pair != NULL);
    *out = (tacit__search){
        .same_calls = true, .same_view = true, .declared = loss_of(subject->declared)};
    climb c = {.subject = subject,
               .options = options,
               .gaussian = tacit_plan_law(subject->declared) == TACIT_LAW_GAUSSIAN,
               .local = subject->claim.model == TACIT_MODEL_LOCAL,
               .out = out};
    uint64_t attempts = effort / (c.local ? 1 : subject->users);
    attempts = attempts < FEWEST ? FEWEST : attempts > MOST ? MOST : attempts;
    tacit_status status = open_climb(&c, options->seed, pair, err);
    if (status == TACIT_OK)
        status = try_extremes(&c, err);
    if (status == TACIT_OK && goes_on(&c))
        status = try_violations(&c, err);
    if (status == TACIT_OK && goes_on(&c))
        status = try_models(&c, err);
    if (status == TACIT_OK && goes_on(&c))
        status = try_reports(&c, err);
    if (status == TACIT_OK) {
        tacit__pair_copy(&subject->form, &c.other.top, &c.likely.top);
        status = try_crossings(&c, err);
    }
    if (status == TACIT_OK)
        status = climb_on(&c, attempts, err);
    if (status == TACIT_OK)
        best_pairs(&c, pair);
    bool nobody = out->tried == out->refused && !out->stopped;
    close_climb(&c);
    if (status == TACIT_OK && nobody)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "the learner accepted none of the users that the audit made up");
    return status;
}

/* See audit/pair.h.
 *
 * The loss of a pair is deterministic: no noise is involved in how far exact values move. So the search climbs: from
 * the best of a list of extremes, a change to one of the two users is kept if the loss rises. Under Laplace noise pairs
 * of the same loss differ in how few numbers carry it, and fewer are easier to attack: the sum of squares decides.
 *
 * Others are adversarial in that they are fixed, extreme as often as not, and the attacker knows them. Actions are the
 * auditor's too: guarantees hold for every trajectory, not only for those of obedient users. */
#include "audit/pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

tacit_status tacit__pair_create(const tacit__subject *subject, tacit__pair *out)
{
    *out = (tacit__pair){.users = tacit__users_create(&subject->form, 2 + TACIT__CROWD)};
    return out->users != NULL ? TACIT_OK : TACIT_NO_MEMORY;
}

void tacit__pair_destroy(tacit__pair *pair)
{
    tacit__free(pair->users);
    pair->users = NULL;
}

double tacit__plan_loss(const tacit_plan *plan)
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

tacit_status tacit__pair_run(const tacit__pair *pair, tacit__duel *duel, int world, bool *refused,
                             tacit_error *err)
{
    const tacit__subject *s = duel->subject;
    uint64_t n = s->claim.model == TACIT_MODEL_LOCAL ? pair->position + 1 : s->users;
    *refused = false;
    for (uint64_t k = 0; k < n && !*refused; k++) {
        const tacit__user *other = &pair->users[2 + k % TACIT__CROWD];
        bool planted = k == pair->position;
        tacit_status status =
            tacit__duel_step(duel, true, planted ? &pair->users[world] : other,
                             planted ? &pair->users[1 - world] : other, refused, err);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

/* --- Search -------------------------------------------------------------------------------------- */

typedef struct climb {
    const tacit__subject *subject;
    uint64_t seed;
    bool gaussian;
    tacit__search *out;
    double best; /* objective */
} climb;

/* Measures a pair; true if it is worse than the worst so far. */
static tacit_status measure(climb *c, const tacit__pair *pair, bool *worse, tacit_error *err)
{
    tacit__duel duel;
    bool refused;
    *worse = false;
    tacit_status status = tacit__duel_open(&duel, c->subject, c->seed + c->out->tried, err);
    if (status != TACIT_OK)
        return status;
    duel.compare_views = true;
    status = tacit__pair_run(pair, &duel, 0, &refused, err);
    tacit__verdict v = tacit__duel_verdict(&duel);
    tacit__search *out = c->out;
    out->tried++;
    out->refused += refused;
    if (status == TACIT_OK && !refused) {
        double loss = c->gaussian ? sqrt(v.mu_square) : v.epsilon;
        double objective = loss * (1 + 1e-3 * v.mu_square / fmax(v.epsilon * v.epsilon, 1e-300));
        out->same_calls = out->same_calls && v.same_calls;
        out->same_view = out->same_view && duel.same_view;
        out->undeclared = out->undeclared || duel.undeclared;
        if (out->fault[0] == '\0')
            (void)snprintf(out->fault, sizeof out->fault, "%s", v.fault);
        *worse = objective > c->best * (1 + 1e-12);
        if (*worse) {
            c->best = objective;
            out->measured = loss;
            out->declared = tacit__plan_loss(tacit__duel_plan(&duel));
            out->mu_square = v.mu_square;
        }
    }
    tacit__duel_close(&duel);
    return status;
}

static void fill_crowd(const tacit__subject *s, tacit__lot *lot, tacit__pair *pair)
{
    for (size_t i = 0; i < TACIT__CROWD; i++) {
        tacit__user *u = &pair->users[2 + i];
        if (i % 2 == 0)
            tacit__user_random(&s->form, lot, u);
        else
            tacit__user_extreme(&s->form, i % 4 == 1, (double)(i / 4 % 2), u);
    }
}

/* Pairs that are far apart by construction; false beyond the last. */
static bool propose(const tacit__form *form, size_t i, tacit__pair *pair)
{
    static const struct {
        bool last[2];
        double reward[2];
    } extremes[] = {{{false, true}, {1, 1}},  {{false, true}, {0, 1}}, {{false, true}, {0, 0}},
                    {{false, false}, {0, 1}}, {{true, true}, {0, 1}},  {{true, false}, {1, 0}}};
    enum { N = sizeof extremes / sizeof *extremes };
    if (i >= N + 2)
        return false;
    for (int w = 0; w < 2 && i < N; w++)
        tacit__user_extreme(form, extremes[i].last[w], extremes[i].reward[w], &pair->users[w]);
    if (i >= N) { /* beyond the bounds: to be refused, or clipped */
        tacit__user_outrageous(form, i == N ? 3 : -3, &pair->users[0]);
        tacit__user_extreme(form, true, i == N ? 0 : 1, &pair->users[1]);
    }
    return true;
}

static void keep(const tacit__form *form, tacit__pair *to, const tacit__pair *from)
{
    tacit__user_copy(form, &to->users[0], &from->users[0]);
    tacit__user_copy(form, &to->users[1], &from->users[1]);
    to->position = from->position;
}

/* Tries *attempt and keeps it in *pair if it is worse than what is there. */
static tacit_status attempt_pair(climb *c, tacit__pair *attempt, tacit__pair *pair,
                                 tacit_error *err)
{
    bool worse;
    tacit_status status = measure(c, attempt, &worse, err);
    if (status == TACIT_OK && worse)
        keep(&c->subject->form, pair, attempt);
    return status;
}

/* Early, middle, late; the last user of all may be of no consequence, so the one before counts as late too. */
static size_t positions(const tacit__subject *s, size_t out[6])
{
    uint64_t k = s->users;
    const uint64_t wanted[6] = {0, 1, k / 4, k / 2, k >= 2 ? k - 2 : 0, k - 1};
    size_t n = 0;
    if (s->claim.model == TACIT_MODEL_LOCAL) { /* a report is a report */
        out[0] = 0;
        return 1;
    }
    for (size_t i = 0; i < 6; i++)
        if (wanted[i] < k && (n == 0 || wanted[i] > out[n - 1]))
            out[n++] = (size_t)wanted[i];
    return n;
}

static tacit_status climb_all(climb *c, tacit__lot *lot, uint64_t attempts, tacit__pair *pair,
                              tacit__pair *attempt, tacit_error *err)
{
    const tacit__form *form = &c->subject->form;
    size_t places[6], n_places = positions(c->subject, places);
    tacit_status status = TACIT_OK;
    /* everywhere with the farthest pair, then everything where that was worst */
    for (size_t i = 0; i < n_places && status == TACIT_OK && c->out->same_calls; i++) {
        (void)propose(form, 0, attempt);
        attempt->position = places[i];
        status = attempt_pair(c, attempt, pair, err);
    }
    for (size_t i = 0; status == TACIT_OK && c->out->same_calls; i++) {
        if (!propose(form, i, attempt))
            break;
        attempt->position = pair->position;
        status = attempt_pair(c, attempt, pair, err);
    }
    while (c->out->tried < attempts && status == TACIT_OK && c->out->same_calls) {
        keep(form, attempt, pair);
        uint64_t how = tacit__lot_below(lot, 8);
        uint64_t which = tacit__lot_below(lot, 2);
        tacit__user *one = &attempt->users[which];
        if (how == 0)
            tacit__user_random(form, lot, one);
        for (uint64_t changes = how == 0 ? 0 : 1 + how % 3; changes > 0; changes--)
            tacit__user_mutate(form, lot, one, &attempt->users[1 - which]);
        if (how == 1 && n_places > 1)
            attempt->position = places[tacit__lot_below(lot, n_places)];
        status = attempt_pair(c, attempt, pair, err);
    }
    return status;
}

tacit_status tacit__pair_search(const tacit__subject *subject, uint64_t seed, uint64_t effort,
                                tacit__pair *pair, tacit__search *out, tacit_error *err)
{
    tacit__lot lot;
    tacit__pair attempt = {0};
    *out = (tacit__search){
        .same_calls = true, .same_view = true, .declared = tacit__plan_loss(subject->declared)};
    climb c = {.subject = subject,
               .seed = seed,
               .gaussian = tacit_plan_law(subject->declared) == TACIT_LAW_GAUSSIAN,
               .out = out,
               .best = 0};
    uint64_t each = subject->claim.model == TACIT_MODEL_LOCAL ? 1 : subject->users;
    uint64_t attempts = effort / each;
    attempts = attempts < 14 ? 14 : attempts > 300 ? 300 : attempts;
    tacit_status status = tacit__lot_open(&lot, seed, "audit: neighbours");
    if (status == TACIT_OK)
        status = tacit__pair_create(subject, &attempt);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    fill_crowd(subject, &lot, pair);
    for (size_t i = 0; i < TACIT__CROWD; i++)
        tacit__user_copy(&subject->form, &attempt.users[2 + i], &pair->users[2 + i]);
    (void)propose(&subject->form, 0, pair);
    status = climb_all(&c, &lot, attempts, pair, &attempt, err);
    tacit__pair_destroy(&attempt);
    if (status == TACIT_OK && out->tried == out->refused)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "the learner took none of the users that the audit made up");
    return status;
}

/* --- The moves of a pair -------------------------------------------------------------------------- */

typedef struct moves {
    tacit_cost *costs;
    size_t n, capacity;
    bool no_memory;
} moves;

static void add_move(moves *m, tacit_law law, double ratio)
{
    for (size_t i = m->n; i-- > 0 && m->n - i < 64;) /* most moves are like a recent one */
        if (fabs(m->costs[i].sensitivity - ratio) <= 1e-9 * ratio) {
            m->costs[i].count++;
            return;
        }
    if (m->n == m->capacity) {
        size_t capacity = 2 * m->capacity + 32;
        tacit_cost *costs = tacit__alloc(capacity, sizeof *costs);
        m->no_memory = m->no_memory || costs == NULL;
        if (costs == NULL)
            return;
        if (m->n > 0)
            memcpy(costs, m->costs, m->n * sizeof *costs);
        tacit__free(m->costs);
        m->costs = costs;
        m->capacity = capacity;
    }
    m->costs[m->n++] =
        (tacit_cost){.kind = law == TACIT_LAW_GAUSSIAN ? TACIT_COST_GAUSSIAN : TACIT_COST_LAPLACE,
                     .sensitivity = ratio,
                     .scale = 1,
                     .count = 1};
}

static void collect(void *context, const tacit__entry *e, const tacit__passage *p)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->exact[i] != p->exact[i])
            add_move(context, e->law, fabs((double)p->exact[i] - (double)e->exact[i]) / e->scale);
}

/* Runs with other noise: enough to see that moves depend on it, if they do. */
enum { OTHER_RUNS = 4 };

static tacit_status run_once(const tacit__subject *subject, const tacit__pair *pair, uint64_t seed,
                             moves *m, tacit__verdict *verdict, tacit_error *err)
{
    tacit__duel duel;
    bool refused;
    tacit_status status = tacit__duel_open(&duel, subject, seed, err);
    if (status != TACIT_OK)
        return status;
    if (m != NULL)
        tacit__tape_on_replay(duel.tape, collect, m);
    status = tacit__pair_run(pair, &duel, 0, &refused, err);
    *verdict = tacit__duel_verdict(&duel);
    verdict->fault = "";
    tacit__duel_close(&duel);
    return status;
}

static bool close_to(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fmax(x, y);
}

tacit_status tacit__pair_costs(const tacit__subject *subject, const tacit__pair *pair,
                               uint64_t seed, tacit_cost **costs, size_t *n_costs, bool *steady,
                               tacit_error *err)
{
    moves m = {0};
    tacit__verdict first, other;
    tacit_status status = run_once(subject, pair, seed, &m, &first, err);
    *steady = true;
    for (uint64_t i = 1; i <= OTHER_RUNS && status == TACIT_OK && *steady; i++) {
        status = run_once(subject, pair, seed + i, NULL, &other, err);
        if (status == TACIT_OK)
            *steady = close_to(first.epsilon, other.epsilon) &&
                      close_to(first.mu_square, other.mu_square);
    }
    if (status == TACIT_OK && m.no_memory)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status != TACIT_OK) {
        tacit__free(m.costs);
        return status;
    }
    *costs = m.costs;
    *n_costs = m.n;
    return TACIT_OK;
}

/* See audit/pair.h.
 *
 * Others are adversarial in that they are fixed, extreme as often as not, and the attacker knows them.
 * Actions are the auditor's too: guarantees hold for every trajectory, not only for those of obedient
 * users. Half of the crowd does what it likes; a quarter does what the billboard says; a quarter comes
 * late: it does what the first billboard of all said, when that may be long out of date. */
#include "audit/pair.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

tacit_status tacit__pair_create(const tacit__subject *subject, size_t model_room, tacit__pair *out)
{
    *out = (tacit__pair){.users = tacit__users_create(&subject->form, 2 + TACIT__CROWD),
                         .magnified = 1,
                         .growth = 1};
    if (model_room > 0)
        out->model.bytes = tacit__alloc(model_room, 1);
    bool made = out->users != NULL && (model_room == 0 || out->model.bytes != NULL);
    return made ? TACIT_OK : TACIT_NO_MEMORY;
}

void tacit__pair_destroy(tacit__pair *pair)
{
    tacit__workspace_destroy(pair->users);
    tacit__free(pair->model.bytes);
    *pair = (tacit__pair){0};
}

void tacit__pair_copy(const tacit__form *form, tacit__pair *to, const tacit__pair *from)
{
    TACIT__REQUIRE(to != from);
    tacit__user_copy(form, &to->users[0], &from->users[0]);
    tacit__user_copy(form, &to->users[1], &from->users[1]);
    to->position = from->position;
    to->seed = from->seed;
    to->magnified = from->magnified;
    to->growth = from->growth;
    to->model.size = from->model.size;
    if (from->model.size > 0)
        memcpy(to->model.bytes, from->model.bytes, from->model.size);
}

/* --- Runs ---------------------------------------------------------------------------------------- */

/* Takes the actions that the billboard gives this user; chance goes by the user's number. */
static tacit_status follow_model(tacit__lockstep *d, const tacit__user *user, size_t number,
                                 uint32_t *actions, tacit_error *err)
{
    const tacit__form *form = &d->subject->form;
    double chance = ((double)number + 0.5) / TACIT__CROWD, probability;
    for (size_t h = 0; h < form->horizon; h++) {
        tacit_situation at = tacit__user_situation(form, user, h);
        TRY(d->subject->act(d->first, &at, chance, &actions[h], &probability, err));
    }
    return TACIT_OK;
}

static bool follows_model(size_t number)
{
    return number % 4 == 2;
}

static bool is_late(size_t number)
{
    return number % 4 == 3;
}

/* Member `number` of the crowd at their turn: as written, or with the actions of a billboard. */
static tacit_status call_member(const tacit__pair *pair, tacit__lockstep *d, size_t number,
                                bool first, uint32_t *actions, tacit__user *out, tacit_error *err)
{
    const size_t horizon = d->subject->form.horizon;
    tacit_status status = TACIT_OK;
    *out = pair->users[2 + number];
    if (d->subject->act == NULL || d->subject->plan == NULL)
        return TACIT_OK;
    for (size_t i = 0; first && i < TACIT__CROWD && status == TACIT_OK; i++)
        if (is_late(i))
            status = follow_model(d, &pair->users[2 + i], i, actions + i * horizon, err);
    if (status == TACIT_OK && follows_model(number))
        status = follow_model(d, out, number, actions + number * horizon, err);
    if (follows_model(number) || is_late(number))
        out->actions = actions + number * horizon;
    return status;
}

uint64_t tacit__pair_visits(const tacit__subject *s)
{
    const uint64_t visits = s->visits > 0 ? s->visits : 1, most = s->users > 1 ? s->users - 1 : 1;
    return s->claim.model == TACIT_MODEL_LOCAL && visits > most ? most : visits;
}

/* Returns whether user k is a visit of the planted person. */
static bool is_planted(const tacit__pair *pair, const tacit__subject *s, uint64_t k)
{
    const uint64_t apart = s->apart > 0 ? s->apart : 1;
    return k >= pair->position && (k - pair->position) % apart == 0 &&
           (k - pair->position) / apart < tacit__pair_visits(s);
}

static tacit_status run_joint(const tacit__pair *pair, tacit__lockstep *d, int world,
                              tacit__lockstep_outcome *outcome, tacit_error *err)
{
    uint32_t *actions = tacit__alloc(TACIT__CROWD * d->subject->form.horizon, sizeof *actions);
    if (actions == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    bool over = false;
    for (uint64_t k = 0; k < d->subject->users && status == TACIT_OK && !over; k++) {
        bool planted = is_planted(pair, d->subject, k);
        tacit__user other;
        tacit__lockstep_outcome now;
        status = tacit__lockstep_plan_both(d, &pair->users[2 + k % TACIT__CROWD], err);
        if (status == TACIT_OK)
            status = call_member(pair, d, k % TACIT__CROWD, k == 0, actions, &other, err);
        if (status == TACIT_OK)
            status = tacit__lockstep_add(d, planted ? &pair->users[world] : &other,
                                         planted ? &pair->users[1 - world] : &other, &now, err);
        if (status != TACIT_OK)
            break;
        over = now == TACIT__ONE_SIDED || now == TACIT__OUTSIDE;
        if (k == pair->position || over)
            *outcome = now;
    }
    tacit__free(actions);
    return status;
}

tacit_status tacit__pair_prepare(const tacit__pair *pair, tacit__lockstep *d, bool *followed,
                                 tacit_error *err)
{
    tacit_status status = tacit__lockstep_plan_both(d, &pair->users[0], err);
    *followed = true;
    if (status == TACIT_OK && pair->model.size > 0)
        status = tacit__lockstep_follow(d, &pair->model, followed, err);
    return status;
}

tacit_status tacit__pair_run(const tacit__pair *pair, tacit__lockstep *lockstep, int world,
                             tacit__lockstep_outcome *outcome, tacit_error *err)
{
    TACIT__REQUIRE(world == 0 || world == 1);
    bool followed;
    *outcome = TACIT__REFUSED;
    if (lockstep->subject->claim.model != TACIT_MODEL_LOCAL)
        return run_joint(pair, lockstep, world, outcome, err);
    tacit_status status = tacit__pair_prepare(pair, lockstep, &followed, err);
    for (uint64_t i = 0; i < tacit__pair_visits(lockstep->subject) && status == TACIT_OK &&
                         followed && (i == 0 || *outcome == TACIT__TAKEN);
         i++)
        status = tacit__lockstep_add(lockstep, &pair->users[world], &pair->users[1 - world],
                                     outcome, err);
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
    m->costs[m->n++] = (tacit_cost){.kind = law == TACIT_LAW_GAUSSIAN   ? TACIT_COST_GAUSSIAN
                                            : law == TACIT_LAW_RESPONSE ? TACIT_COST_BLACK_BOX
                                                                        : TACIT_COST_LAPLACE,
                                    .sensitivity = ratio,
                                    .scale = 1,
                                    .epsilon = ratio,
                                    .count = 1};
}

static void collect(void *context, const tacit__entry *e, const tacit__passage *p)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->exact[i] != p->exact[i])
            add_move(context, e->law,
                     (double)tacit__tape_move(e->law, p->exact[i], e->exact[i]) / e->scale);
}

/* Runs with other noise: enough to see that moves depend on it, if they do. */
enum { OTHER_RUNS = 4 };

static tacit_status run_once(const tacit__subject *subject, const tacit__pair *pair, uint64_t seed,
                             moves *m, tacit__verdict *verdict, tacit_error *err)
{
    tacit__lockstep lockstep;
    tacit__lockstep_outcome outcome;
    TRY(tacit__lockstep_create(&lockstep, subject, seed, err));
    if (m != NULL)
        tacit__tape_on_replay(lockstep.tape, collect, m);
    tacit_status status = tacit__pair_run(pair, &lockstep, 0, &outcome, err);
    *verdict = tacit__lockstep_verdict(&lockstep);
    verdict->fault = "";
    tacit__lockstep_destroy(&lockstep);
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
    TACIT__REQUIRE(costs != NULL && n_costs != NULL && steady != NULL);
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

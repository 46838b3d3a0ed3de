#include "support/neighbors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST_REPORT = 1 << 20, MOST_MODEL = 1 << 20 };

/* What a user carries from the look at the billboard to the end of the episode. */
typedef struct ticket {
    uint32_t actions[PERSON_STEPS];
    tacit_agent *device; /* NULL: there are none */
} ticket;

/* A world: the learner, or the server of devices, and the tapes of what passes its door, or each device's. */
typedef struct world {
    tacit_agent *agent;
    tape **tapes;      /* NULL: nothing is recorded */
    tape_lines *lines; /* NULL: the world that is recorded */
} world;

/* All that others see: a digest of each billboard and of what others do by it, one of each report that leaves a device, and
 * whether users count. */
typedef struct view {
    uint64_t seen[CROWD_USERS], reports[CROWD_USERS];
    tacit_status status[CROWD_USERS];
} view;

static void mix(uint64_t *digest, const void *bytes, size_t size) /* FNV-1a */
{
    for (size_t i = 0; i < size; i++)
        *digest = (*digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static tacit_agent *start(const crowd *c)
{
    return agent_of(&c->request, 3 + c->seed);
}

/* --- One user ------------------------------------------------------------------------------------ */

static size_t features_of_step(const crowd *c)
{
    return c->features == CROWD_NUMBERED ? 0 : c->rows * c->dimension;
}

static void look_at_board(const crowd *c, tacit_agent *agent, uint64_t *digest)
{
    tacit_billboard board;
    const size_t rows = c->request.horizon * c->request.n_states;
    assert_ok(tacit_agent_plan(agent, &board, NULL));
    mix(digest, &board.version, sizeof board.version);
    if (board.policy != NULL)
        mix(digest, board.policy, rows * sizeof *board.policy);
    if (board.mixed != NULL)
        mix(digest, board.mixed, rows * c->request.n_actions * sizeof *board.mixed);
}

static void attach(const world *w, size_t tape_number, tacit_agent *agent)
{
    if (w->tapes == NULL)
        return;
    tape *t = w->tapes[tape_number];
    if (w->lines == NULL) {
        tape_record(t, tacit__agent_ledger(agent));
        return;
    }
    tape_replay(t, tacit__agent_ledger(agent));
    tape_watch(t, w->lines);
}

/* A device of the user's own, which does by the server's model from now on; kinds without models are followed by their
 * billboard alone. */
static tacit_agent *start_device(const crowd *c, const world *w, size_t k)
{
    static uint8_t model[MOST_MODEL];
    size_t size = sizeof model;
    tacit_billboard board;
    tacit_agent *device = start(c);
    attach(w, k, device);
    tacit_status status = tacit_agent_publish(w->agent, model, &size, NULL);
    if (status != TACIT_UNSUPPORTED) {
        assert_ok(status);
        assert_ok(tacit_agent_follow(device, model, size, NULL));
    }
    assert_ok(tacit_agent_plan(device, &board, NULL));
    return device;
}

static void act(const crowd *c, tacit_agent *agent, const person *p, ticket *t)
{
    for (size_t h = 0; h < c->request.horizon; h++) {
        const tacit_situation where = {.step = h,
                                       .state = p->states[h],
                                       .features = c->features == CROWD_NUMBERED
                                                       ? NULL
                                                       : p->features + h * features_of_step(c)};
        double probability;
        t->actions[h] = p->actions[h];
        if (p->follows)
            assert_ok(
                tacit_agent_act(agent, &where, p->chance, &t->actions[h], &probability, NULL));
    }
}

static tacit_status end_episode(const crowd *c, tacit_agent *agent, const person *p,
                                const ticket *t, uint64_t *digest)
{
    static uint8_t report[MOST_REPORT];
    size_t size = sizeof report;
    const bool numbered = c->features == CROWD_NUMBERED;
    const tacit_trajectory user = {STEPS_OF(numbered ? p->states : NULL, t->actions, p->rewards),
                                   .features = numbered ? NULL : p->features, .length = p->length};
    if (t->device == NULL)
        return tacit_agent_learn(agent, &user, NULL);
    tacit_status status = tacit_agent_report(t->device, &user, report, &size, NULL);
    if (status == TACIT_OK)
        mix(digest, report, size);
    return status == TACIT_OK ? tacit_agent_absorb(agent, report, size, NULL) : status;
}

/* --- A world ------------------------------------------------------------------------------------- */

static size_t asks_at(const crowd *c, size_t k)
{
    const size_t late = c->people[k].late;
    return late < k ? k - late : 0;
}

/* Which visit of the person whose first one is user `who` user k is, from 1 on; 0: none. */
static uint64_t visit_at(const crowd *c, size_t who, size_t k)
{
    const uint64_t visits = c->request.visits > 0 ? c->request.visits : 1;
    const uint64_t apart = c->request.apart > 0 ? c->request.apart : 1;
    uint64_t seed = c->gaps, place = who;
    for (uint64_t visit = 1; visit <= visits && place <= k; visit++) {
        if (place == k)
            return visit;
        place += apart;
        if (c->gaps != 0 && random_below(&seed, 2) == 0)
            place += 1 + random_below(&seed, c->n / 2);
    }
    return 0;
}

static void play(const crowd *c, const world *w, size_t except, view *v)
{
    static ticket tickets[CROWD_USERS];
    memset(tickets, 0, sizeof tickets);
    if (!c->devices)
        attach(w, 0, w->agent);
    for (size_t k = 0; k < c->n; k++) {
        v->seen[k] = v->reports[k] = UINT64_C(0xcbf29ce484222325);
        look_at_board(c, w->agent, &v->seen[k]);
        for (size_t j = k; j < c->n; j++) {
            ticket *t = &tickets[j];
            if (asks_at(c, j) != k)
                continue;
            if (c->devices)
                t->device = start_device(c, w, j);
            act(c, c->devices ? t->device : w->agent, &c->people[j], t);
            if (visit_at(c, except, j) == 0)
                mix(&v->seen[k], t->actions, sizeof t->actions);
        }
        v->status[k] = end_episode(c, w->agent, &c->people[k], &tickets[k], &v->reports[k]);
        tacit_agent_destroy(tickets[k].device);
    }
}

size_t crowd_play(const crowd *c, tacit_agent *agent)
{
    static view v;
    size_t counted = 0;
    play(c, &(world){.agent = agent}, SIZE_MAX, &v);
    for (size_t k = 0; k < c->n; k++)
        counted += v.status[k] == TACIT_OK;
    return counted;
}

/* --- Both worlds --------------------------------------------------------------------------------- */

static const char *find_violation(const crowd *c, const view *first, const view *second,
                                  bool same_calls)
{
    for (size_t k = 0; k < c->n; k++)
        if (first->status[k] != second->status[k])
            return "one world counts a user whom the other refuses";
    if (!same_calls)
        return "what passes the door, or when, depends on a user's data";
    if (memcmp(first->reports, second->reports, c->n * sizeof *first->reports) != 0)
        return "a report tells more of a user's data than what passed the door";
    if (memcmp(first->seen, second->seen, c->n * sizeof *first->seen) != 0)
        return "others see a user's data beside the releases";
    return NULL;
}

/* Lines whose bounds hold only together with another line's. */
static size_t partner_of(const tape_lines *l, size_t line)
{
    static const struct {
        const char *words, *with;
    } shared[] = {{"cells agree the visits stand still", "visits"},
                  {"their visits overlap, and stand still", "visits"},
                  {"their visits overlap by a share", "rewards"},
                  {"cells agree but not their moves", "moves"},
                  {"both declared moves together", "gram"}};
    const char *reason = tacit_plan_release(l->plan, line)->reason;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strstr(reason, shared[i].words) != NULL)
            return tacit_plan_index(l->plan, shared[i].with);
    return line;
}

static void find_shares(const tape_lines *l, neighbors *out)
{
    double declared = 0, measured = 0;
    out->n = l->n;
    for (size_t i = 0; i < l->n; i++) {
        const size_t with = partner_of(l, i);
        const double more = with != i;
        out->line[i] = (l->measured[i] + more * l->measured[with]) /
                       (l->declared[i] + more * l->declared[with]);
        declared += l->declared[i];
        measured += l->measured[i];
    }
    out->whole = measured / declared;
}

neighbors neighbors_compare(const crowd *c, size_t who, const person *other)
{
    static view first, second;
    static crowd here, there;
    static tape *tapes[CROWD_USERS];
    const size_t n_tapes = c->devices ? c->n : 1;
    neighbors out = {0};
    bool same_calls = true;
    SCOPED(tacit_agent) *a = start(c), *b = start(c);
    tape_lines lines = tape_lines_of(tacit_agent_release_plan(b));
    for (size_t i = 0; i < n_tapes; i++)
        tapes[i] = tape_create();
    here = there = *c;
    for (size_t k = 0; k < c->n; k++) {
        const uint64_t visit = visit_at(c, who, k);
        if (visit > 0) {
            const bool turned = c->by_turns && visit % 2 == 0;
            here.people[k] = turned ? *other : c->people[who];
            there.people[k] = turned ? c->people[who] : *other;
        }
    }
    play(&here, &(world){a, tapes, NULL}, who, &first);
    play(&there, &(world){b, tapes, &lines}, who, &second);
    for (size_t i = 0; i < n_tapes; i++) {
        same_calls = same_calls && tape_compare(tapes[i]).same_calls;
        tape_destroy(tapes[i]);
    }
    out.violation = find_violation(c, &first, &second, same_calls);
    find_shares(&lines, &out);
    for (size_t k = 0; k < c->n; k++)
        out.refused += first.status[k] != TACIT_OK;
    return out;
}

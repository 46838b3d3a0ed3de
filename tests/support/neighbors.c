#include "support/neighbors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST_REPORT = 1 << 20 };

/* What a user carries from the look at the billboard to the end of the episode. */
typedef struct ticket {
    uint32_t actions[PERSON_STEPS];
    uint8_t *model; /* of a device */
    size_t size;
} ticket;

/* All that others see: a digest of each billboard and of what others do by it, and whether users count. */
typedef struct view {
    uint64_t seen[CROWD_USERS];
    tacit_status status[CROWD_USERS];
} view;

static void mix(uint64_t *digest, const void *bytes, size_t size) /* FNV-1a */
{
    for (size_t i = 0; i < size; i++)
        *digest = (*digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static tacit_agent *start(const crowd *c)
{
    tacit_noise *noise;
    tacit_agent *agent;
    tacit_error err = {0};
    assert_ok(tacit_noise_create_simulated(3, &noise));
    if (tacit_agent_create(&c->request, noise, &agent, &err) != TACIT_OK)
        fail_msg("%s: %s", c->request.kind, err.message);
    tacit_noise_destroy(noise);
    return agent;
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

/* A device keeps the server's model from now on; kinds without models are followed by their billboard alone. */
static void fetch_model(tacit_agent *server, ticket *t)
{
    t->size = 0;
    tacit_status status = tacit_agent_publish(server, NULL, &t->size, NULL);
    if (status == TACIT_UNSUPPORTED)
        return;
    assert_ok(status);
    t->model = malloc(t->size);
    assert_non_null(t->model);
    assert_ok(tacit_agent_publish(server, t->model, &t->size, NULL));
}

static void follow_model(tacit_agent *device, const ticket *t)
{
    tacit_billboard board;
    if (t->model != NULL)
        assert_ok(tacit_agent_follow(device, t->model, t->size, NULL));
    assert_ok(tacit_agent_plan(device, &board, NULL));
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

static tacit_status end_episode(const crowd *c, tacit_agent *agent, tacit_agent *server,
                                const person *p, const ticket *t)
{
    static uint8_t report[MOST_REPORT];
    size_t size = sizeof report;
    const bool numbered = c->features == CROWD_NUMBERED;
    const tacit_trajectory user = {.states = numbered ? p->states : NULL,
                                   .actions = t->actions,
                                   .rewards = p->rewards,
                                   .features = numbered ? NULL : p->features};
    if (server == NULL)
        return tacit_agent_learn(agent, &user, NULL);
    follow_model(agent, t);
    tacit_status status = tacit_agent_report(agent, &user, report, &size, NULL);
    return status == TACIT_OK ? tacit_agent_absorb(server, report, size, NULL) : status;
}

/* --- A world ------------------------------------------------------------------------------------- */

static size_t asks_at(const crowd *c, size_t k)
{
    const size_t late = c->people[k].late;
    return late < k ? k - late : 0;
}

static void play(const crowd *c, tacit_agent *agent, size_t except, view *v)
{
    static ticket tickets[CROWD_USERS];
    tacit_agent *server = c->devices ? start(c) : NULL;
    memset(tickets, 0, sizeof tickets);
    for (size_t k = 0; k < c->n; k++) {
        v->seen[k] = UINT64_C(0xcbf29ce484222325);
        look_at_board(c, server != NULL ? server : agent, &v->seen[k]);
        for (size_t j = k; j < c->n; j++) {
            if (asks_at(c, j) != k)
                continue;
            if (server != NULL) {
                fetch_model(server, &tickets[j]);
                follow_model(agent, &tickets[j]);
            }
            act(c, agent, &c->people[j], &tickets[j]);
            if (j != except)
                mix(&v->seen[k], tickets[j].actions, sizeof tickets[j].actions);
        }
        v->status[k] = end_episode(c, agent, server, &c->people[k], &tickets[k]);
        free(tickets[k].model);
    }
    tacit_agent_destroy(server);
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
    static crowd changed;
    neighbors out = {0};
    tape_lines lines;
    tape *t = tape_create();
    tacit_agent *a = start(c), *b = start(c);
    tape_record(t, tacit__agent_ledger(a));
    play(c, a, who, &first);
    changed = *c;
    changed.people[who] = *other;
    tape_replay(t, tacit__agent_ledger(b));
    tape_watch(t, tacit_agent_release_plan(b), &lines);
    play(&changed, b, who, &second);
    out.violation = find_violation(c, &first, &second, tape_compare(t).same_calls);
    find_shares(&lines, &out);
    for (size_t k = 0; k < c->n; k++)
        out.refused += first.status[k] != TACIT_OK;
    tacit_agent_destroy(a);
    tacit_agent_destroy(b);
    tape_destroy(t);
    return out;
}

/* The layout of an episode in memory and in the store: a header, then for each step the situation (a
 * state, or features), the action and the reward, in one block whose size follows from the
 * learner's declaration. See serve/people/episode.h. */
#include "serve/people/episode.h"

#include <string.h>

#include "agents/domain.h"
#include "base/error.h"
#include "serve/people/feature_grid.h"
#include "store/vault/vault.h"

enum {
    DECIDED = 1,
    REWARDED = 2,
    REACHED = 4, /* the state is known from the step before */
    COUNTED = 8, /* of the first step: nothing else is known of the episode */
    ENDED = 16   /* the episode ended here, before the horizon: there is no such step */
};

/* --- Places ------------------------------------------------------------------------------------- */

size_t tacit__stored_situation_size(const tacit__learner_config *c)
{
    if (c->per_user == 0)
        return 0;
    return c->chosen_only ? c->known.features * sizeof(int32_t) : c->per_user * sizeof(double);
}

/* Where the features of an action begin; they are those of the context if actions have none of their own. */
static size_t row_of(const tacit__learner_config *c, uint32_t action)
{
    return c->known.disjoint ? 0 : action * c->known.features;
}

void tacit__stored_situation_pack(const tacit__learner_config *c, const double *features,
                                  uint32_t action, uint8_t *out)
{
    TACIT__REQUIRE(c->per_user > 0 && action < c->request.n_actions);
    if (c->chosen_only)
        tacit__grid_pack(tacit__grid_step(c->known.bound), c->known.features,
                         features + row_of(c, action), out);
    else if (c->per_user > 0)
        memcpy(out, features, c->per_user * sizeof *features);
}

/* --- Bytes -------------------------------------------------------------------------------------- */

/* Bytes of all situations; with `whole`, of the features of all actions, whatever the learner needs. */
static size_t situations_size(const tacit__learner_config *c, bool whole)
{
    const size_t h = c->request.horizon;
    return c->chosen_only && !whole ? h * tacit__stored_situation_size(c)
                                    : (h + 1) * c->per_user * sizeof(double);
}

static size_t size_with(const tacit__learner_config *c, size_t situations)
{
    const size_t h = c->request.horizon;
    return h * sizeof(double) + situations + (2 * h + 1) * sizeof(uint32_t) + h + 1;
}

static size_t trail_size(const tacit__learner_config *c)
{
    return c->request.horizon * sizeof(tacit__trail);
}

size_t tacit__episode_size(const tacit__learner_config *c)
{
    return size_with(c, situations_size(c, false)) + (c->log_decisions ? trail_size(c) : 0);
}

static tacit__episode view_with(const tacit__learner_config *c, void *bytes, size_t situations)
{
    const size_t h = c->request.horizon;
    tacit__episode e = {.config = c, .rewards = bytes};
    e.situations = (uint8_t *)(e.rewards + h);
    e.states = (uint32_t *)(void *)(e.situations + situations);
    e.actions = e.states + h + 1;
    e.known = (uint8_t *)(e.actions + h);
    e.trail = c->log_decisions ? e.known + h + 1 : NULL;
    return e;
}

tacit__episode tacit__episode_view(const tacit__learner_config *c, void *bytes)
{
    return view_with(c, bytes, situations_size(c, false));
}

static uint8_t *situation_at(const tacit__episode *e, size_t step)
{
    TACIT__REQUIRE(step <= e->config->request.horizon);
    return e->situations + step * tacit__stored_situation_size(e->config);
}

/* Copies from an episode with the features of all actions what the learner needs. */
static void shrink(const tacit__learner_config *c, const uint8_t *bytes, void *out)
{
    const size_t h = c->request.horizon, all = situations_size(c, true);
    const uint8_t *after = bytes + h * sizeof(double) + all;
    tacit__episode e = tacit__episode_view(c, out);
    memcpy(e.rewards, bytes, h * sizeof(double));
    memcpy(e.states, after, size_with(c, 0) - h * sizeof(double));
    for (size_t i = 0; i < h; i++) {
        const size_t row = i * c->per_user + row_of(c, e.actions[i]);
        double x;
        uint8_t *to = situation_at(&e, i);
        for (size_t j = 0; j < c->known.features; j++, to += sizeof(int32_t)) {
            memcpy(&x, bytes + (h + row + j) * sizeof x, sizeof x);
            tacit__grid_pack(tacit__grid_step(c->known.bound), 1, &x, to);
        }
    }
}

bool tacit__episode_read(const tacit__learner_config *c, const void *bytes, size_t size, void *out)
{
    TACIT__REQUIRE(c->request.horizon > 0);
    const size_t own = size_with(c, situations_size(c, false)),
                 all = size_with(c, situations_size(c, true)), trail = trail_size(c);
    const bool whole = c->chosen_only && (size == all || size == all + trail);
    const size_t base = whole ? all : own;
    if (size != base && size != base + trail)
        return false;
    if (whole)
        shrink(c, bytes, out);
    else
        memcpy(out, bytes, own);
    if (c->log_decisions && size > base)
        memcpy((uint8_t *)out + own, (const uint8_t *)bytes + base, trail);
    else if (c->log_decisions)
        memset((uint8_t *)out + own, 0, trail);
    return true;
}

/* --- Growing ------------------------------------------------------------------------------------ */

/* Whether the situation at this step is stored. A learner that needs only choices does not need the last
 * one. */
static bool has_situation(const tacit__episode *e, size_t step)
{
    TACIT__REQUIRE(step <= e->config->request.horizon);
    return !(e->config->chosen_only && step == e->config->request.horizon);
}

static bool same_situation(const tacit__episode *e, size_t step, uint32_t state,
                           const uint8_t *situation)
{
    TACIT__REQUIRE(step <= e->config->request.horizon);
    const size_t n = tacit__stored_situation_size(e->config);
    if (n == 0)
        return e->states[step] == state;
    return !has_situation(e, step) || memcmp(situation_at(e, step), situation, n) == 0;
}

static void set_situation(tacit__episode *e, size_t step, uint32_t state, const uint8_t *situation)
{
    TACIT__REQUIRE(step <= e->config->request.horizon);
    const size_t n = tacit__stored_situation_size(e->config);
    e->states[step] = state;
    if (n > 0 && has_situation(e, step))
        memcpy(situation_at(e, step), situation, n);
}

/* Whether an end after step t agrees with what is known: no later step was observed, and no other end. */
static bool may_end(const tacit__episode *e, size_t step)
{
    const size_t h = e->config->request.horizon, end = tacit__episode_end(e);
    for (size_t i = step + 1; i < h; i++)
        if (e->known[i] & DECIDED)
            return false;
    return end == 0 || end == step + 1;
}

static bool contradicts(const tacit__episode *e, const tacit__observation *t, const char **field)
{
    uint8_t here = e->known[t->step], next = e->known[t->step + 1];
    const size_t end = tacit__episode_end(e);
    *field = "done";
    if (t->done && !may_end(e, t->step))
        return true;
    *field = "decision";
    if (end > 0 && t->step >= end)
        return true; /* there is no such step any more */
    if ((here & DECIDED) &&
        (!same_situation(e, t->step, t->state, t->situation) || e->actions[t->step] != t->action))
        return true; /* another decision of this step was used */
    if ((here & REACHED) && !same_situation(e, t->step, t->state, t->situation))
        return true;
    *field = "reward";
    if (t->has_reward && (here & REWARDED) && e->rewards[t->step] != t->reward)
        return true;
    *field = "next_state";
    return t->has_next && (next & (DECIDED | REACHED)) &&
           !same_situation(e, t->step + 1, t->next_state, t->next_situation);
}

/* The last step ends every episode, and needs no mark. */
static void mark_end(tacit__episode *e, const tacit__observation *t)
{
    if (t->done && t->step + 1 < e->config->request.horizon)
        e->known[t->step + 1] |= ENDED;
}

bool tacit__episode_add(tacit__episode *e, const tacit__observation *t, const char **field)
{
    TACIT__REQUIRE(t->step < e->config->request.horizon);
    if (contradicts(e, t, field))
        return false;
    set_situation(e, t->step, t->state, t->situation);
    e->actions[t->step] = t->action;
    e->known[t->step] |= DECIDED;
    if (e->trail != NULL)
        memcpy(e->trail + t->step * sizeof t->trail, &t->trail, sizeof t->trail);
    if (t->has_reward) {
        e->rewards[t->step] = t->reward;
        e->known[t->step] |= REWARDED;
    }
    if (t->has_next) {
        set_situation(e, t->step + 1, t->next_state, t->next_situation);
        e->known[t->step + 1] |= REACHED;
    }
    mark_end(e, t);
    return true;
}

void tacit__episode_count(tacit__episode *e, const tacit__observation *t)
{
    TACIT__REQUIRE(t->step < e->config->request.horizon);
    memset(e->rewards, 0, (size_t)(e->known - (uint8_t *)e->rewards)); /* all but the marks */
    if (e->trail != NULL)
        memset(e->trail, 0, trail_size(e->config));
    e->known[0] |= COUNTED;
    e->known[t->step] |= (uint8_t)(DECIDED | (t->has_reward ? REWARDED : 0));
    if (t->has_next)
        e->known[t->step + 1] |= REACHED;
    mark_end(e, t);
}

bool tacit__episode_is_counted(const tacit__episode *e)
{
    return (e->known[0] & COUNTED) != 0;
}

size_t tacit__episode_end(const tacit__episode *e)
{
    size_t n = 1;
    while (n < e->config->request.horizon && !(e->known[n] & ENDED))
        n++;
    return n < e->config->request.horizon ? n : 0;
}

size_t tacit__episode_length(const tacit__episode *e)
{
    const size_t h = e->config->request.horizon;
    size_t n = 0;
    while (n < h && (e->known[n] & DECIDED))
        n++;
    return n > 0 && n == tacit__episode_end(e) ? h : n;
}

bool tacit__episode_is_finished(const tacit__episode *e)
{
    const size_t h = e->config->request.horizon, end = tacit__episode_end(e),
                 steps = end > 0 ? end : h;
    for (size_t i = 0; i < steps; i++)
        if ((e->known[i] & (DECIDED | REWARDED)) != (DECIDED | REWARDED))
            return false;
    return h == 1 || (e->known[steps] & REACHED); /* with one step, the next state is not needed */
}

/* --- Learning ----------------------------------------------------------------------------------- */

tacit_trajectory tacit__episode_trajectory(const tacit__episode *e, double *room)
{
    TACIT__REQUIRE(!e->config->chosen_only || room != NULL);
    const tacit__learner_config *c = e->config;
    const size_t h = c->request.horizon;
    const double *features = (const double *)(const void *)e->situations;
    if (h == 1 && !(e->known[1] & REACHED)) {
        e->states[1] = e->states[0];
        if (c->per_user > 0 && !c->chosen_only)
            memcpy(situation_at(e, 1), situation_at(e, 0), tacit__stored_situation_size(c));
    }
    if (c->chosen_only) {
        memset(room, 0, c->per_user * sizeof *room);
        tacit__grid_unpack(tacit__grid_step(c->known.bound), c->known.features, e->situations,
                           room + row_of(c, e->actions[0]));
        features = room;
    }
    return (tacit_trajectory){.states = e->states,
                              .actions = e->actions,
                              .rewards = e->rewards,
                              .features = c->per_user > 0 ? features : NULL,
                              .length = tacit__episode_end(e)};
}

double tacit__episode_mean(const tacit__episode *e)
{
    const tacit__domain domain = tacit__domain_of(&e->config->request);
    return tacit__domain_mean_reward(
        &domain, &(tacit_trajectory){.rewards = e->rewards, .length = tacit__episode_end(e)});
}

/* --- After the end ------------------------------------------------------------------------------ */

/* A digest is a list of MARK bytes each: horizon rewards, horizon actions, horizon + 1 situations. */
enum { MARK = 4 };
typedef enum part { REWARD, ACTION, SITUATION } part;

size_t tacit__episode_digest_size(const tacit__learner_config *c)
{
    return (3 * c->request.horizon + 1) * MARK;
}

/* It is never 0, which stands for what was not observed. */
static uint32_t mark_of(const tacit__digest_key *k, part p, size_t step, const void *data, size_t n)
{
    struct {
        uint8_t name[TACIT__VAULT_KEY];
        uint64_t part, step, data;
    } all = {.part = p, .step = step, .data = tacit__short_hash(k->key, data, n)};
    memcpy(all.name, k->name, sizeof all.name);
    const uint32_t mark = (uint32_t)tacit__short_hash(k->key, &all, sizeof all);
    return mark != 0 ? mark : 1;
}

static uint32_t situation_mark(const tacit__learner_config *c, const tacit__digest_key *k,
                               size_t step, uint32_t state, const uint8_t *situation)
{
    const size_t n = tacit__stored_situation_size(c);
    if (c->chosen_only && step == c->request.horizon)
        return 0;
    return n > 0 ? mark_of(k, SITUATION, step, situation, n)
                 : mark_of(k, SITUATION, step, &state, sizeof state);
}

static uint32_t reward_mark(const tacit__digest_key *k, size_t step, double reward)
{
    const double value = reward + 0.0; /* -0 is 0 */
    return mark_of(k, REWARD, step, &value, sizeof value);
}

static size_t mark_at(const tacit__learner_config *c, part p, size_t step)
{
    TACIT__REQUIRE(step <= c->request.horizon);
    return ((size_t)p * c->request.horizon + step) * MARK;
}

/* The action of a step that does not exist; no learner has so many actions. */
static uint32_t end_mark(const tacit__digest_key *k, size_t step)
{
    const uint32_t none = UINT32_MAX;
    return mark_of(k, ACTION, step, &none, sizeof none);
}

void tacit__episode_digest(const tacit__episode *e, const tacit__digest_key *k, uint8_t *out)
{
    TACIT__REQUIRE(k->key != NULL && k->name != NULL);
    const tacit__learner_config *c = e->config;
    const size_t h = c->request.horizon, end = tacit__episode_end(e), steps = end > 0 ? end : h;
    for (size_t i = 0; i <= h; i++) {
        const bool observed = i < steps || (i == steps && (e->known[i] & REACHED));
        const uint32_t situation =
            observed ? situation_mark(c, k, i, e->states[i], situation_at(e, i)) : 0;
        memcpy(out + mark_at(c, SITUATION, i), &situation, MARK);
        if (i == h)
            break;
        const uint32_t reward = i < steps ? reward_mark(k, i, e->rewards[i]) : 0,
                       action = i < steps
                                    ? mark_of(k, ACTION, i, &e->actions[i], sizeof *e->actions)
                                    : end_mark(k, i);
        memcpy(out + mark_at(c, REWARD, i), &reward, MARK);
        memcpy(out + mark_at(c, ACTION, i), &action, MARK);
    }
}

static bool agrees(const tacit__learner_config *c, const uint8_t *digest, part p, size_t step,
                   uint32_t mark)
{
    uint32_t kept;
    memcpy(&kept, digest + mark_at(c, p, step), MARK);
    return kept == 0 || mark == 0 || kept == mark;
}

bool tacit__digest_agrees(const tacit__learner_config *c, const uint8_t *digest,
                          const tacit__digest_key *k, const tacit__observation *t,
                          const char **field)
{
    TACIT__REQUIRE(t->step < c->request.horizon);
    const size_t h = t->step;
    *field = "done";
    if (t->done && h + 1 < c->request.horizon &&
        !agrees(c, digest, ACTION, h + 1, end_mark(k, h + 1)))
        return false;
    *field = "decision";
    if (!agrees(c, digest, SITUATION, h, situation_mark(c, k, h, t->state, t->situation)) ||
        !agrees(c, digest, ACTION, h, mark_of(k, ACTION, h, &t->action, sizeof t->action)))
        return false;
    *field = "reward";
    if (t->has_reward && !agrees(c, digest, REWARD, h, reward_mark(k, h, t->reward)))
        return false;
    *field = "next_state";
    return !t->has_next || agrees(c, digest, SITUATION, h + 1,
                                  situation_mark(c, k, h + 1, t->next_state, t->next_situation));
}

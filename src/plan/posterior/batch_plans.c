/* See batch_plans.h. Chance here is public (SplitMix64): it carries no secret, and decides nothing
 * about privacy. */
#include "plan/posterior/batch_plans.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "plan/public_chance.h"

struct tacit__batch_plans {
    tacit__batch_plans_options o;
    size_t slots, plan_size; /* exploring + steady, horizon x states */
    size_t sums_size;        /* numbers + states + asked */
    /* batches that are over, and in the next place the present one */
    tacit__played_batch *played; /* [batches + 1] */
    uint32_t *plans;             /* [batches + 1][slots][horizon][state] */
    uint64_t *players;           /* [batches + 1][slots] */
    double *sums;                /* [batches][sums_size] */
    uint64_t *sizes;             /* [batches + 1]: users of each batch */
    double *even;                /* [horizon][state][action], if the first batch is uniform */
    size_t n;                    /* batches that are over */
    uint64_t chance;             /* state of the public chance */
    uint64_t version;            /* of what was shown last, */
    uint64_t shown;              /* and its slot; UINT64_MAX: nothing of this batch */
};

static bool is_uniform(const tacit__batch_plans *b, size_t k)
{
    return b->o.uniform_start && k == 0;
}

/* Nothing is released of the last batch, so exploring there would cost its users and help no one. */
static bool is_last(const tacit__batch_plans *b, size_t k)
{
    return k == b->o.batches;
}

/* How many users of batch k act by exploring plans, and by steady ones; and how many plans these are. */
static uint64_t exploring_users(const tacit__batch_plans *b, size_t k)
{
    if (is_last(b, k))
        return 0;
    return b->sizes[k] < b->o.quota ? b->sizes[k] : b->o.quota;
}

static uint64_t plans_for(uint64_t users, size_t plans)
{
    return users < plans ? users : plans;
}

/* Place `place` of `users` who share the plans: the first `longer` plans have one user more. */
static uint64_t share_of(uint64_t place, uint64_t users, uint64_t plans)
{
    const uint64_t part = users / plans, longer = users % plans;
    return place < longer * (part + 1) ? place / (part + 1) : (place - longer) / part;
}

size_t tacit__batch_plans_turn(const tacit__batch_plans *b, uint64_t place)
{
    const uint64_t exploring = exploring_users(b, b->n), steady = b->sizes[b->n] - exploring;
    if (place < exploring)
        return (size_t)share_of(place, exploring, plans_for(exploring, b->o.exploring));
    if (place >= b->sizes[b->n]) /* after the last user of all */
        return b->o.exploring;
    return b->o.exploring +
           (size_t)share_of(place - exploring, steady, plans_for(steady, b->o.steady));
}

static void share(uint64_t users, size_t most, uint64_t *players)
{
    const uint64_t plans = plans_for(users, most);
    for (uint64_t j = 0; j < plans; j++)
        players[j] = users / plans + (j < users % plans);
}

/* Where the parts of batch k are, and how many users act by each plan. */
static void place_batch(tacit__batch_plans *b, size_t k)
{
    const uint64_t exploring = exploring_users(b, k);
    uint64_t *players = b->players + k * b->slots;
    tacit__played_batch *played = &b->played[k];
    played->n_plans = is_uniform(b, k) ? 1 : b->slots;
    played->plans = is_uniform(b, k) ? NULL : b->plans + k * b->slots * b->plan_size;
    played->players = players;
    if (is_uniform(b, k)) {
        players[0] = b->sizes[k];
        return;
    }
    share(exploring, b->o.exploring, players);
    share(b->sizes[k] - exploring, b->o.steady, players + b->o.exploring);
}

/* The numbers of a batch that is over lie in b->sums. */
static void place_sums(tacit__batch_plans *b, size_t k)
{
    const double *sums = b->sums + k * b->sums_size;
    b->played[k].shown =
        (tacit__score_sums){.users = b->sizes[k],
                            .sums = sums,
                            .starts = sums + b->o.numbers,
                            .asked = b->o.asked > 0 ? sums + b->o.numbers + b->o.n_states : NULL};
    b->played[k].variance = b->o.noise.sum + (double)b->sizes[k] * b->o.noise.user;
    b->played[k].fade = b->o.noise.fade;
    b->played[k].start = b->o.noise.start;
    b->played[k].truth = b->o.noise.each > 0 ? b->o.noise.truth : 1;
    b->played[k].spread = b->o.noise.spread;
}

tacit_status tacit__batch_plans_create(const tacit__batch_plans_options *o,
                                       tacit__batch_plans **out)
{
    const size_t room = o->batches + 1;
    TACIT__REQUIRE(o->steady > 0 && (o->exploring > 0 || o->quota == 0));
    tacit__batch_plans w = {.o = *o,
                            .slots = o->exploring + o->steady,
                            .plan_size = o->horizon * o->n_states,
                            .sums_size = o->numbers + o->n_states + o->asked,
                            .chance = o->tie_seed,
                            .version = 1,
                            .shown = UINT64_MAX};
    tacit__batch_plans *b = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.played, room), TACIT__PIECE(w.plans, room * w.slots * w.plan_size),
        TACIT__PIECE(w.players, room * w.slots), TACIT__PIECE(w.sums, o->batches * w.sums_size),
        TACIT__PIECE(w.sizes, room),
        TACIT__PIECE_IF(o->uniform_start, w.even, w.plan_size * o->n_actions));
    if (b == NULL)
        return TACIT_NO_MEMORY;
    for (size_t k = 0; k < room; k++)
        b->sizes[k] = o->ends[k] - (k > 0 ? o->ends[k - 1] : 0);
    for (size_t i = 0; o->uniform_start && i < b->plan_size * o->n_actions; i++)
        b->even[i] = 1 / (double)o->n_actions;
    b->o.ends = NULL;
    *out = b;
    return TACIT_OK;
}

void tacit__batch_plans_destroy(tacit__batch_plans *b)
{
    tacit__workspace_destroy(b);
}

static void make_some(tacit__batch_plans *b, double scale, size_t first, uint64_t n,
                      tacit__make_plan *make, void *context)
{
    uint32_t *plans = b->plans + (b->n * b->slots + first) * b->plan_size;
    for (uint64_t j = 0; j < n; j++)
        make(context, scale > 0 ? scale * fabs(tacit__chance_normal(&b->chance)) : 0, &b->chance,
             plans + j * b->plan_size);
}

void tacit__batch_plans_make(tacit__batch_plans *b, tacit__make_plan *make, void *context)
{
    const uint64_t exploring = exploring_users(b, b->n), steady = b->sizes[b->n] - exploring;
    b->shown = UINT64_MAX;
    place_batch(b, b->n);
    if (is_uniform(b, b->n))
        return;
    make_some(b, b->o.boldness, 0, plans_for(exploring, b->o.exploring), make, context);
    make_some(b, is_last(b, b->n) ? 0 : b->o.steady_boldness, b->o.exploring,
              plans_for(steady > 0 ? steady : 1, b->o.steady), make, context);
}

void tacit__batch_plans_end(tacit__batch_plans *b, const tacit__score_sums *shown)
{
    double *sums = b->sums + b->n * b->sums_size;
    TACIT__REQUIRE(b->n < b->o.batches && shown->users == b->sizes[b->n] &&
                   (shown->asked != NULL) == (b->o.asked > 0));
    memcpy(sums, shown->sums, b->o.numbers * sizeof *sums);
    memcpy(sums + b->o.numbers, shown->starts, b->o.n_states * sizeof *sums);
    if (b->o.asked > 0)
        memcpy(sums + b->o.numbers + b->o.n_states, shown->asked, b->o.asked * sizeof *sums);
    place_sums(b, b->n);
    b->n++;
}

const tacit__played_batch *tacit__batch_plans_finished(const tacit__batch_plans *b, size_t *n)
{
    *n = b->n;
    return b->played;
}

tacit_billboard tacit__batch_plans_billboard(tacit__batch_plans *b, uint64_t place)
{
    const size_t slot = is_uniform(b, b->n) ? 0 : tacit__batch_plans_turn(b, place);
    b->version += b->shown != slot;
    b->shown = slot;
    if (is_uniform(b, b->n))
        return (tacit_billboard){.version = b->version, .mixed = b->even};
    return (tacit_billboard){.version = b->version,
                             .policy = b->plans + (b->n * b->slots + slot) * b->plan_size};
}

uint64_t *tacit__batch_plans_chance(tacit__batch_plans *b)
{
    return &b->chance;
}

/* --- Saved states -------------------------------------------------------------------------------- */

typedef struct position {
    uint64_t n, chance, version, shown;
} position;

/* Sums and plans of batch k, which is over, or the plans of the present one. */
static void batch_fields(tacit__batch_plans *b, size_t k, bool over, tacit__saved *s)
{
    if (!is_uniform(b, k))
        tacit__saved_indices(s, b->plans + k * b->slots * b->plan_size, b->slots * b->plan_size,
                             b->o.n_actions);
    if (over)
        tacit__saved_reals(s, b->sums + k * b->sums_size, b->sums_size, TACIT__MOST_SUM);
    if (s->pass != TACIT__APPLY)
        return;
    place_batch(b, k);
    if (over)
        place_sums(b, k);
}

size_t tacit__batch_plans_fields(tacit__batch_plans *b, tacit__saved *s)
{
    position at = {b->n, b->chance, b->version, b->shown};
    tacit__saved_value(s, &at, sizeof at);
    const bool sound = at.n <= b->o.batches && at.version <= TACIT__MOST_COUNT &&
                       (at.shown < b->slots || at.shown == UINT64_MAX);
    tacit__saved_check(s, sound);
    for (size_t k = 0; sound && k <= at.n && s->status == TACIT_OK; k++)
        batch_fields(b, k, k < at.n, s);
    if (s->pass == TACIT__APPLY) {
        b->n = (size_t)at.n;
        b->chance = at.chance;
        b->version = at.version;
        b->shown = at.shown;
    }
    return (size_t)at.n;
}

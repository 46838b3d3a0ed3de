/* See simulated_people.h. Regret is as in experiments (docs/why/bandits.md): in a bandit it is the best
 * mean minus the mean of the action that was taken; in a log, the shortfall divided by the action's
 * propensity. In worlds of several steps it is based on the rewards earned, since only the server knows the
 * policy. */
#include "cli/commands/simulated_people.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"

struct cli_people {
    const tacit_world *world;
    const tacit_world_facts *facts;
    size_t width, horizon, step;
    uint32_t *states, *actions;
    double *rewards; /* in the learner's range */
    double reward_low, reward_high;
    double *features; /* [horizon + 1][width], or NULL */
    tacit_walk *walk; /* or */
    tacit_rounds *rounds;
    tacit_visitor visitor;
    double episode; /* earned so far */
    cli_score score;
};

/* --- Spaces ------------------------------------------------------------------------------------- */

/* A member of the space that is being read; NULL: there is none. */
typedef struct members {
    const tacit__json_node *nodes, *space;
} members;

static const tacit__json_node *get(const members *m, const char *key)
{
    return tacit__json_get(m->space, m->nodes, key);
}

static bool get_size(const members *m, const char *key, size_t *out)
{
    const tacit__json_node *value = get(m, key);
    uint64_t n;
    if (value == NULL || !tacit__json_count(value, SIZE_MAX, &n))
        return false;
    *out = (size_t)n;
    return true;
}

static bool get_flag(const members *m, const char *key, bool fallback)
{
    const tacit__json_node *value = get(m, key);
    return value != NULL ? value->kind == TACIT__JSON_TRUE : fallback;
}

static double get_number(const members *m, const char *key, double fallback)
{
    const tacit__json_node *value = get(m, key);
    return value != NULL && value->kind == TACIT__JSON_NUMBER ? value->number : fallback;
}

static bool copy_names(const tacit__json_node *list, const tacit__json_node *nodes, cli_space *out)
{
    const tacit__json_node *end = nodes + list->next;
    size_t size = 0;
    for (const tacit__json_node *name = list + 1; name < end; name = nodes + name->next)
        size += (size_t)name->length + 1;
    out->action_names = calloc(size + 1, 1);
    if (out->action_names == NULL)
        return false;
    char *at = out->action_names;
    for (const tacit__json_node *name = list + 1; name < end; name = nodes + name->next) {
        memcpy(at, name->text, name->length);
        at += name->length + 1;
        out->n_names++;
    }
    return true;
}

bool cli_space_read(const tacit__json_node *board, cli_space *out)
{
    const members m = {board, tacit__json_get(board, board, "space")};
    *out = (cli_space){.shared = true, .bound = HUGE_VAL};
    if (m.space == NULL || m.space->kind != TACIT__JSON_OBJECT ||
        !get_size(&m, "states", &out->n_states) || !get_size(&m, "actions", &out->n_actions) ||
        !get_size(&m, "horizon", &out->horizon) || out->n_actions == 0 || out->horizon == 0)
        return false;
    out->simplex = get_flag(&m, "simplex", false);
    out->complementary = get_flag(&m, "complementary", false);
    out->parameter_norm = get_number(&m, "parameter_norm", 0);
    out->reward_low = get_number(&m, "reward_low", 0);
    out->reward_high = get_number(&m, "reward_high", 1);
    out->user_required = get(&m, "user") != NULL;
    const tacit__json_node *names = get(&m, "action_names");
    if (names != NULL && !copy_names(names, board, out))
        return false;
    if (get(&m, "features") == NULL || out->n_states > 0)
        return out->n_states > 0;
    out->shared = get_flag(&m, "shared", true);
    out->bound = get_number(&m, "bound", out->bound);
    return get_size(&m, "features", &out->n_features) && out->n_features > 0;
}

void cli_space_close(cli_space *s)
{
    free(s->action_names);
    s->action_names = NULL;
}

bool cli_space_action(const cli_space *s, const tacit__json_node *told, uint32_t *action)
{
    uint64_t number = 0;
    if (s->action_names == NULL) {
        bool good = told != NULL && tacit__json_count(told, UINT32_MAX, &number);
        *action = (uint32_t)number;
        return good;
    }
    const char *name = s->action_names;
    for (size_t i = 0; i < s->n_names && told != NULL; i++, name += strlen(name) + 1)
        if (strlen(name) == told->length && memcmp(name, told->text, told->length) == 0) {
            *action = (uint32_t)i;
            return told->kind == TACIT__JSON_STRING;
        }
    return false;
}

size_t cli_space_width(const cli_space *s)
{
    return s->n_features * (s->shared ? s->n_actions : 1);
}

/* The features that a world's people bring, as a space; n_features 0: they bring none. */
static cli_space features_of(const tacit_world_facts *w)
{
    cli_space s = {
        .n_states = w->n_states, .n_actions = w->n_actions, .horizon = w->horizon, .shared = true};
    if (w->bandit != NULL && (w->bandit->points != NULL || w->n_states == 0)) {
        s.n_features = w->bandit->dimension;
        s.shared = !w->bandit->disjoint;
        s.bound = w->bandit->bound;
        s.complementary = w->bandit->complementary;
        s.parameter_norm = w->bandit->parameter_norm;
    } else if (w->linear != NULL && w->linear->row != NULL) {
        s.n_features = w->linear->dimension;
        s.bound = w->linear->bound;
        s.simplex = w->linear->simplex;
    }
    return s;
}

static const char *describe(const cli_space *s, char *out, size_t size)
{
    char features[120] = "", states[40] = "", norm[60] = "";
    if (s->n_states > 0)
        (void)snprintf(states, sizeof states, "%zu states, ", s->n_states);
    if (s->n_features > 0)
        (void)snprintf(features, sizeof features, "%zu features of %s of norm at most %g, ",
                       s->n_features, s->shared ? "each action" : "each user", s->bound);
    if (s->parameter_norm > 0)
        (void)snprintf(norm, sizeof norm, ", parameters of norm at most %g", s->parameter_norm);
    (void)snprintf(out, size, "%s%s%zu actions%s and horizon %zu%s%s", states, features,
                   s->n_actions, s->complementary ? " whose rewards sum to 1" : "", s->horizon,
                   s->simplex ? ", features that sum to 1 (simplex)" : "", norm);
    return out;
}

/* What the learner counts on is true of the world. Of what a world does not know (a norm of 0) nothing is
 * said. */
static bool keeps(const cli_space *world, const cli_space *declared)
{
    return (world->simplex || !declared->simplex) &&
           (world->complementary || !declared->complementary) &&
           !(declared->parameter_norm > 0 &&
             world->parameter_norm > declared->parameter_norm * (1 + 1e-9));
}

int cli_space_fits(const cli_space *s, const tacit_world_facts *w)
{
    cli_space theirs = features_of(w);
    bool fits = s->n_actions == w->n_actions && s->horizon == w->horizon && keeps(&theirs, s);
    if (s->n_features == 0)
        fits = fits && s->n_states == w->n_states;
    else
        fits = fits && s->n_features == theirs.n_features && s->shared == theirs.shared &&
               theirs.bound <= s->bound * (1 + 1e-9); /* rounding, as the service allows it */
    /* what the learner does not count on is no matter */
    theirs.simplex = theirs.simplex && s->simplex;
    theirs.complementary = theirs.complementary && s->complementary;
    theirs.parameter_norm = s->parameter_norm > 0 ? theirs.parameter_norm : 0;
    char mine[400], other[400];
    return fits ? CLI_DONE
                : cli_wrong("the world %s has %s; the learner has %s", w->kind->name,
                            describe(&theirs, other, sizeof other), describe(s, mine, sizeof mine));
}

/* --- People ------------------------------------------------------------------------------------- */

tacit_status cli_people_open(const tacit_world *world, const cli_space *space, uint64_t seed,
                             cli_people **out, tacit_error *err)
{
    TACIT__REQUIRE(world != NULL && space != NULL && out != NULL);
    cli_people *p = calloc(1, sizeof *p);
    tacit_noise *root = NULL;
    if (p == NULL)
        return TACIT_NO_MEMORY;
    p->world = world;
    p->facts = tacit_world_describe(world);
    p->width = cli_space_width(space);
    p->reward_low = space->reward_low;
    p->reward_high = space->reward_high;
    p->horizon = p->facts->horizon;
    p->states = calloc(p->horizon + 1, sizeof *p->states);
    p->actions = calloc(p->horizon, sizeof *p->actions);
    p->rewards = calloc(p->horizon, sizeof *p->rewards);
    if (p->width > 0)
        p->features = calloc((p->horizon + 1) * p->width, sizeof *p->features);
    bool good = p->states != NULL && p->actions != NULL && p->rewards != NULL &&
                (p->width == 0 || p->features != NULL);
    tacit_status status = good ? tacit_noise_create_simulated(seed, &root) : TACIT_NO_MEMORY;
    if (status == TACIT_OK)
        status = p->facts->family == TACIT_WORLD_BANDIT
                     ? tacit_rounds_create(world, root, &p->rounds, err)
                     : tacit_walk_create(world, root, &p->walk, err);
    tacit_noise_destroy(root);
    if (status != TACIT_OK) {
        cli_people_close(p);
        return status;
    }
    *out = p;
    return TACIT_OK;
}

void cli_people_close(cli_people *p)
{
    if (p == NULL)
        return;
    tacit_walk_destroy(p->walk);
    tacit_rounds_destroy(p->rounds);
    free(p->states);
    free(p->actions);
    free(p->rewards);
    free(p->features);
    free(p);
}

/* The situation at a step whose state is known. */
static tacit_situation situation_at(cli_people *p, size_t step)
{
    TACIT__REQUIRE(step <= p->facts->horizon);
    tacit_situation here = {.step = step, .state = p->states[step]};
    if (p->width == 0)
        return here;
    const tacit_bandit *b = p->facts->bandit;
    const tacit_linear *l = p->facts->linear;
    double *x = p->features + step * p->width;
    if (p->rounds != NULL && p->visitor.features != NULL)
        memcpy(x, p->visitor.features, p->width * sizeof *x);
    else if (p->rounds != NULL)
        memcpy(x, b->points + here.state * p->width, p->width * sizeof *x);
    else
        for (uint32_t a = 0; a < p->facts->n_actions; a++)
            l->row(l->context, here.state, a, x + a * l->dimension);
    here.features = x;
    return here;
}

tacit_status cli_people_come(cli_people *p, uint64_t user, tacit_situation *here)
{
    TACIT__REQUIRE(here != NULL);
    tacit_status status;
    if (p->rounds != NULL) {
        status = tacit_rounds_begin(p->rounds, user, &p->visitor);
        p->states[0] = p->states[1] = p->visitor.state;
    } else {
        status = tacit_walk_begin(p->walk, user, &p->states[0]);
    }
    if (status != TACIT_OK)
        return status;
    p->step = 0;
    p->episode = 0;
    *here = situation_at(p, 0);
    return TACIT_OK;
}

/* The end of an episode. */
static void count(cli_people *p, bool known)
{
    const tacit_visitor *v = &p->visitor;
    double regret;
    if (p->walk != NULL) {
        regret = p->facts->optimal_value - p->episode; /* NaN where that is not known */
    } else if (v->means == NULL) {
        regret = known ? (1 - p->episode) / v->propensity : 0;
    } else {
        regret = v->means[0];
        for (size_t a = 1; a < p->facts->n_actions; a++)
            regret = fmax(regret, v->means[a]);
        regret -= v->means[p->actions[0]];
    }
    p->score.users++;
    p->score.known += known;
    p->score.earned += known ? p->episode : 0;
    p->score.regret += regret;
}

tacit_status cli_people_act(cli_people *p, uint32_t action, cli_outcome *out)
{
    TACIT__REQUIRE(out != NULL);
    const size_t h = p->step;
    tacit_status status;
    *out = (cli_outcome){.known = true};
    if (action >= p->facts->n_actions || h >= p->horizon)
        return TACIT_OUT_OF_BOUND;
    p->actions[h] = action;
    if (p->rounds != NULL) {
        out->known = p->visitor.means != NULL || action == p->visitor.logged_action;
        status = out->known ? tacit_rounds_reward(p->rounds, action, &out->reward) : TACIT_OK;
    } else {
        status = tacit_walk_step(p->walk, action, &p->states[h + 1], &out->reward);
    }
    if (status != TACIT_OK)
        return status;
    p->episode += out->reward;
    out->reward = p->reward_low + (p->reward_high - p->reward_low) * out->reward;
    p->rewards[h] = out->reward;
    p->step++;
    out->next = situation_at(p, p->step);
    if (p->step == p->horizon)
        count(p, out->known);
    return TACIT_OK;
}

tacit_trajectory cli_people_trajectory(const cli_people *p)
{
    return (tacit_trajectory){
        .states = p->states, .actions = p->actions, .rewards = p->rewards, .features = p->features};
}

cli_score cli_people_score(const cli_people *p)
{
    return p->score;
}

void cli_score_add(cli_score *sum, const cli_score *more)
{
    TACIT__REQUIRE(sum != more);
    sum->users += more->users;
    sum->known += more->known;
    sum->earned += more->earned;
    sum->regret += more->regret;
}

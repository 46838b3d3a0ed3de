/* See audit/users.h. All users of a list share one allocation. */
#include "audit/users.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

tacit__form tacit__form_of(const tacit_agent_request *q)
{
    TACIT__REQUIRE(q->horizon > 0 && q->n_actions > 0);
    tacit__form form = {.n_states = q->n_states,
                        .n_actions = q->n_actions,
                        .horizon = q->horizon,
                        .vectors = q->n_actions};
    if (q->linear != NULL && q->linear->row == NULL) {
        form.features = q->linear->dimension;
        form.bound = q->linear->bound;
        form.simplex = q->linear->simplex;
    } else if (q->bandit != NULL && q->bandit->points == NULL) {
        form.features = q->bandit->dimension;
        form.bound = q->bandit->bound;
        form.vectors = q->bandit->disjoint ? 1 : q->n_actions;
    }
    return form;
}

static size_t feature_count(const tacit__form *form)
{
    return (form->horizon + 1) * form->vectors * form->features;
}

tacit__user *tacit__users_create(const tacit__form *form, size_t n)
{
    TACIT__REQUIRE(n > 0);
    const size_t H = form->horizon, features = feature_count(form);
    tacit__user *users, all;
    if (TACIT__PIECES(TACIT__PIECE(users, n), {&all.states, n, (H + 1) * sizeof *all.states},
                      {&all.actions, n, H * sizeof *all.actions},
                      {&all.rewards, n, H * sizeof *all.rewards},
                      {&all.features, n, features * sizeof *all.features}) == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        users[i] = (tacit__user){.states = all.states + i * (H + 1),
                                 .actions = all.actions + i * H,
                                 .rewards = all.rewards + i * H};
        if (features > 0)
            users[i].features = all.features + i * features;
    }
    return users;
}

void tacit__user_copy(const tacit__form *form, tacit__user *to, const tacit__user *from)
{
    TACIT__REQUIRE(to != from);
    memcpy(to->states, from->states, (form->horizon + 1) * sizeof *to->states);
    memcpy(to->actions, from->actions, form->horizon * sizeof *to->actions);
    memcpy(to->rewards, from->rewards, form->horizon * sizeof *to->rewards);
    if (form->features > 0)
        memcpy(to->features, from->features, feature_count(form) * sizeof *to->features);
}

tacit_trajectory tacit__user_trajectory(const tacit__user *user)
{
    return (tacit_trajectory){.states = user->features == NULL ? user->states : NULL,
                              .actions = user->actions,
                              .rewards = user->rewards,
                              .features = user->features};
}

tacit_situation tacit__user_situation(const tacit__form *form, const tacit__user *user, size_t h)
{
    TACIT__REQUIRE(h < form->horizon);
    return (tacit_situation){.step = h,
                             .state = user->states[h],
                             .features = user->features != NULL
                                             ? user->features + h * form->vectors * form->features
                                             : NULL};
}

/* --- Lots --------------------------------------------------------------------------------------- */

tacit_status tacit__generator_open(tacit__generator *generator, uint64_t seed, const char *what)
{
    TACIT__REQUIRE(what != NULL);
    tacit_noise *root = NULL;
    TRY(tacit_noise_create_simulated(seed, &root));
    *generator = (tacit__generator){.left = 0};
    tacit__site_open(&generator->site, root, what);
    tacit_noise_destroy(root);
    return TACIT_OK;
}

static uint64_t word(tacit__generator *generator)
{
    if (generator->left == 0) {
        tacit__site_words(&generator->site, generator->step++, 0, TACIT__WORDS_PER_BLOCK,
                          generator->words);
        generator->left = TACIT__WORDS_PER_BLOCK;
    }
    return generator->words[--generator->left];
}

uint64_t tacit__generator_below(tacit__generator *generator, uint64_t n)
{
    TACIT__REQUIRE(n > 0);
    return word(generator) % n; /* the bias of 2^-50 or so is harmless here */
}

double tacit__generator_unit(tacit__generator *generator)
{
    return (double)(word(generator) >> 11) * 0x1p-53;
}

/* --- Users -------------------------------------------------------------------------------------- */

static double *feature_row(const tacit__form *form, tacit__user *user, size_t h, size_t vector)
{
    return user->features + (h * form->vectors + vector) * form->features;
}

/* bound times +-e_j, or a random direction. */
static void set_features(const tacit__form *form, tacit__generator *generator, double *row)
{
    size_t d = form->features;
    memset(row, 0, d * sizeof *row);
    if (tacit__generator_below(generator, 2) == 0) {
        row[tacit__generator_below(generator, d)] = form->simplex ? 1
                                                    : tacit__generator_below(generator, 2) == 0
                                                        ? form->bound
                                                        : -form->bound;
        return;
    }
    double sum = 0, square = 0;
    for (size_t j = 0; j < d; j++) {
        row[j] = form->simplex ? tacit__generator_unit(generator)
                               : 2 * tacit__generator_unit(generator) - 1;
        sum += row[j];
        square += row[j] * row[j];
    }
    /* a little inside the bound, so that rounding does not lead out of it */
    double factor = form->simplex ? 1 / sum : form->bound * (1 - 1e-12) / sqrt(square);
    for (size_t j = 0; j < d && square > 0; j++)
        row[j] *= factor;
}

/* The ends, the middle (where centered rewards are 0), or anywhere. */
static double random_reward(tacit__generator *generator)
{
    uint64_t shape = tacit__generator_below(generator, 5);
    return shape < 3    ? (double)shape / 2
           : shape == 3 ? (double)tacit__generator_below(generator, 2)
                        : tacit__generator_unit(generator);
}

static uint32_t random_state(const tacit__form *form, tacit__generator *generator)
{
    return form->n_states > 0 ? (uint32_t)tacit__generator_below(generator, form->n_states) : 0;
}

void tacit__user_random(const tacit__form *form, tacit__generator *generator, tacit__user *out)
{
    TACIT__REQUIRE(form->n_actions > 0 && form->horizon > 0);
    uint64_t shape = tacit__generator_below(generator, 3);
    uint32_t home = random_state(form, generator),
             hand = (uint32_t)tacit__generator_below(generator, form->n_actions);
    double mood = random_reward(generator);
    for (size_t h = 0; h <= form->horizon; h++) {
        out->states[h] = shape == 0 ? home : random_state(form, generator);
        for (size_t a = 0; form->features > 0 && a < form->vectors; a++)
            set_features(form, generator, feature_row(form, out, h, a));
    }
    for (size_t h = 0; h < form->horizon; h++) {
        out->actions[h] =
            shape < 2 ? hand : (uint32_t)tacit__generator_below(generator, form->n_actions);
        out->rewards[h] = shape == 0 ? mood : random_reward(generator);
    }
}

void tacit__user_extreme(const tacit__form *form, bool last, double reward, tacit__user *out)
{
    TACIT__REQUIRE(reward >= 0 && reward <= 1);
    for (size_t h = 0; h <= form->horizon; h++) {
        out->states[h] = last && form->n_states > 0 ? (uint32_t)(form->n_states - 1) : 0;
        for (size_t a = 0; form->features > 0 && a < form->vectors; a++) {
            double *row = feature_row(form, out, h, a);
            memset(row, 0, form->features * sizeof *row);
            row[last ? form->features - 1 : 0] = form->simplex ? 1 : form->bound;
        }
    }
    for (size_t h = 0; h < form->horizon; h++) {
        out->actions[h] = last ? (uint32_t)(form->n_actions - 1) : 0;
        out->rewards[h] = reward;
    }
}

/* Toward another vector, or away from it, at the same length; on the simplex toward it only. */
static void blend(const tacit__form *form, tacit__generator *generator, double *row,
                  const double *other)
{
    double t = tacit__generator_unit(generator), square = 0;
    if (!form->simplex && tacit__generator_below(generator, 2) == 0)
        t = -t;
    for (size_t j = 0; j < form->features; j++) {
        row[j] = form->simplex ? (1 - t) * row[j] + t * other[j] : row[j] + t * other[j];
        square += row[j] * row[j];
    }
    if (form->simplex)
        return;
    for (size_t j = 0; j < form->features;
         j++) /* two opposite vectors leave nothing: 0 is a user too */
        row[j] *= square > 0 ? form->bound * (1 - 1e-12) / sqrt(square) : 0;
}

void tacit__user_mutate(const tacit__form *form, tacit__generator *generator, tacit__user *user,
                        const tacit__user *other)
{
    bool all = tacit__generator_below(generator, 3) == 0;
    size_t first = all ? 0 : tacit__generator_below(generator, form->horizon),
           end = all ? form->horizon : first + 1;
    uint64_t what = tacit__generator_below(generator, form->features > 0 ? 7 : 4);
    uint32_t state = random_state(form, generator),
             action = (uint32_t)tacit__generator_below(generator, form->n_actions);
    double reward = random_reward(generator);
    for (size_t h = first; h < end; h++) {
        if (what == 0) {
            user->states[h] = state;
            if (all)
                user->states[h + 1] = state;
        } else if (what == 1) {
            user->actions[h] = action;
        } else if (what == 2) {
            user->rewards[h] = reward;
        } else if (what == 3) { /* where the other is, with the opposite to say */
            user->states[h] = other->states[h];
            user->actions[h] = other->actions[h];
            user->rewards[h] = 1 - other->rewards[h];
        } else {
            size_t vector = user->actions[h] % form->vectors;
            double *row = feature_row(form, user, h, vector);
            if (tacit__generator_below(generator, 3) == 0)
                set_features(form, generator, row);
            else
                blend(form, generator, row,
                      other->features +
                          (h * form->vectors + other->actions[h] % form->vectors) * form->features);
        }
    }
}

/* --- The domain ---------------------------------------------------------------------------------- */

#define SLACK 1e-9 /* relative excess of a length, or a sum, that learners take for rounding */

static bool row_fits(const tacit__form *form, const double *row)
{
    double sum = 0, square = 0;
    bool positive = true;
    for (size_t j = 0; j < form->features; j++) {
        sum += row[j];
        square += row[j] * row[j];
        positive = positive && row[j] >= 0;
    }
    if (form->simplex && !(positive && fabs(sum - 1) <= SLACK))
        return false;
    return sqrt(square) <= form->bound * (1 + SLACK);
}

bool tacit__user_fits(const tacit__form *form, const tacit__user *user)
{
    bool fits = true;
    for (size_t h = 0; h <= form->horizon && form->features == 0; h++)
        fits = fits && user->states[h] < form->n_states;
    for (size_t h = 0; h < form->horizon; h++)
        fits = fits && user->actions[h] < form->n_actions && user->rewards[h] >= 0 &&
               user->rewards[h] <= 1;
    for (size_t i = 0; form->features > 0 && i < (form->horizon + 1) * form->vectors; i++)
        fits = fits && row_fits(form, user->features + i * form->features);
    return fits;
}

bool tacit__user_violate(const tacit__form *form, tacit__violation violation, tacit__user *user)
{
    static const double factors[TACIT__VIOLATIONS] = {
        [TACIT__REWARD_HIGH] = 3,    [TACIT__REWARD_LOW] = -3,
        [TACIT__REWARD_FAR] = 1000,  [TACIT__REWARD_NAN] = (double)NAN,
        [TACIT__FEATURE_LONG] = 3,   [TACIT__FEATURE_BACK] = -3,
        [TACIT__FEATURE_FAR] = 1000, [TACIT__FEATURE_NAN] = (double)NAN};
    bool reward = violation < TACIT__FEATURE_LONG;
    for (size_t h = 0; h < form->horizon && reward; h++)
        user->rewards[h] = factors[violation];
    for (size_t i = 0; !reward && form->features > 0 && i < feature_count(form); i++)
        user->features[i] *= factors[violation];
    return reward || form->features > 0;
}

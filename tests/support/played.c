#include "support/played.h"

#include <math.h>

#include "support/check.h"
#include "support/random.h"

void played_draw(played *p, const tacit__walk *walk, size_t numbers, uint64_t users,
                 double variance, uint64_t *seed)
{
    const size_t moves = PLAYED_PLANS * walk->horizon * walk->n_states;
    assert_true(moves <= N_OF(p->plans) && numbers + walk->n_states <= PLAYED_NUMBERS);
    p->batch = (tacit__played_batch){.shown = {users, p->sums, p->sums + numbers, NULL},
                                     .n_plans = PLAYED_PLANS,
                                     .plans = p->plans,
                                     .players = p->players,
                                     .variance = variance,
                                     .start = 0.4,
                                     .truth = 1};
    for (size_t i = 0; i < moves; i++)
        p->plans[i] = (uint32_t)random_below(seed, walk->n_actions);
    p->players[0] = users / 2;
    p->players[1] = 0;
    p->players[2] = users - p->players[0];
    for (size_t i = 0; i < numbers; i++)
        p->sums[i] = 0.2 * (double)users * random_normal(seed);
    for (size_t s = 0; s < walk->n_states; s++)
        p->sums[numbers + s] = 0.4 * (double)users * random_unit(seed);
}

void played_ask(played *p, size_t steps)
{
    double left = (double)p->batch.shown.users;
    assert_true(steps > 2 && steps <= PLAYED_ASKED);
    for (size_t h = 0; h < steps; h++) {
        p->asked[h] = h == 1 ? 0 : h + 1 < steps ? floor(left / 3) : left;
        left -= p->asked[h];
    }
    p->batch.shown.asked = p->asked;
    p->batch.truth = 0.7;
    p->batch.spread = 1.3;
}

/* All trajectories from state s at step h, which are `users` users; plan NULL: every action is as likely. */
static void follow(const tacit__walk *w, const uint32_t *plan, size_t h, size_t s, double users,
                   double *visits)
{
    const size_t S = w->n_states, A = w->n_actions;
    for (size_t a = 0; a < A && h < w->steps; a++) {
        if (plan != NULL && plan[h * S + s] != a)
            continue;
        const double here = plan != NULL ? users : users / (double)A;
        const size_t table = w->tables == 1 ? 0 : h, pair = s * A + a;
        visits[h * S * A + pair] += here;
        for (size_t next = 0; next < S; next++)
            follow(w, plan, h + 1, next, here * w->chances[(table * S * A + pair) * S + next],
                   visits);
    }
}

void played_walk(const tacit__played_batch *b, const tacit__walk *w, double *visits)
{
    const size_t moves = w->horizon * w->n_states;
    for (size_t j = 0; j < b->n_plans; j++)
        for (size_t s = 0; s < w->n_states; s++)
            follow(w, b->plans != NULL ? b->plans + j * moves : NULL, 0, s,
                   (double)b->players[j] * w->start[s], visits);
}

void assert_halves_the_prior(uint64_t (*rule)(const void *model, const tacit__score_noise *noise,
                                              size_t steps, double most),
                             const void *model, double f2, double c2, double prior)
{
    static const double cases[][3] = {{0, 0, 1}, {1, 0, 1}, {100, 0, 1}, {0, 4, 1}, {100, 0, 5}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const double sum = cases[i][0], user = cases[i][1], gain = cases[i][2] * f2;
        const double n = (double)rule(model, NOISE(sum, user), (size_t)cases[i][2], 1e9),
                     less = n - 1;
        assert_true(n >= 4 && n < 1e6);
        assert_true(n * n * gain / (sum + n * (c2 + user)) >= prior * (1 - 1e-9));
        if (n > 4)
            assert_true(less * less * gain / (sum + less * (c2 + user)) < prior);
    }
    assert_int_equal(rule(model, NOISE(100, 0), 1, 12), 12);
    assert_int_equal(rule(model, NOISE(100, 0), 1, 0.5), 1);
}

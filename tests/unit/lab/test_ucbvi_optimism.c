/* Optimism of UCBVI where it is hardest: the noise is as large as the levels allow and pulls every estimate down. There is no
 * chance in it, so nothing may fail. */
#include <math.h>
#include <string.h>

#include "support/random.h"
#include "support/tabular_planners.h"

/* A random world, its optimal values, and exact counts of it: M = N P and R = N (r - 1/2), without any chance. */
typedef struct truth {
    double p[ROWS * S], r[ROWS], n[ROWS], q[ROWS], v[H + 1][S];
} truth;

static void make_truth(uint64_t *seed, size_t tables, truth *w)
{
    for (size_t row = 0; row < tables * S * A; row++) {
        double sum = 0;
        for (size_t next = 0; next < S; next++)
            sum += w->p[row * S + next] = pow(random_unit(seed), 3);
        for (size_t next = 0; next < S; next++)
            w->p[row * S + next] /= sum;
        w->r[row] = random_below(seed, 2) == 0 ? random_unit(seed) : (double)random_below(seed, 2);
        w->n[row] = floor(pow(10, random_between(seed, 0, 5)));
    }
    memset(w->v, 0, sizeof w->v);
    for (size_t h = H; h-- > 0;)
        for (size_t s = 0; s < S; s++)
            for (size_t a = 0; a < A; a++) {
                size_t row = row_at(tables, h, s, a);
                double q = w->r[row];
                for (size_t next = 0; next < S; next++)
                    q += w->p[row * S + next] * w->v[h + 1][next];
                w->q[(h * S + s) * A + a] = q;
                w->v[h][s] = fmax(w->v[h][s], q);
            }
}

/* Noise of the largest size allowed. `way` says how it pulls: 0 every reward down and moves to where the values of the next
 * step are lowest, with visits up; 1 the same with visits down; others at random. Errors `e` are for N, P and R. */
static void disturb(uint64_t *seed, const truth *w, size_t tables, int way, const double e[3],
                    sample *x)
{
    for (size_t row = 0; row < tables * S * A; row++) {
        const double *next_v = w->v[tables == 1 ? 1 : row / (S * A) + 1];
        double middle = 0;
        for (size_t next = 0; next < S; next++)
            middle += next_v[next] / S;
        for (size_t next = 0; next < S; next++) {
            bool up = way < 2 ? next_v[next] < middle : random_below(seed, 2) == 0;
            x->moves[row * S + next] = w->n[row] * w->p[row * S + next] + (up ? e[1] : -e[1]);
        }
        bool up = way < 2 ? way == 0 : random_below(seed, 2) == 0;
        x->visits[row] = w->n[row] + (up ? e[0] : -e[0]);
        x->rewards[row] = w->n[row] * (w->r[row] - 0.5) - e[2];
    }
    x->counts = (tacit__counts){.users = USERS - 1,
                                .visits = x->visits,
                                .moves = x->moves,
                                .rewards = x->rewards,
                                .center = 0.5,
                                .visits_error = e[0],
                                .moves_error = e[1],
                                .rewards_error = e[2]};
}

/* At error_scale 1, Q >= Q* and N <= Nt <= N + 4 e_N, whatever the noise within its levels. With bonus_scale 0 the part of the bonus
 * that pays for noise stands alone; with 1 the whole. */
TEST(noise_within_its_levels_never_hides_a_better_action)
{
    uint64_t seed = 6;
    static const tacit__ucbvi_bonus bonuses[] = {TACIT__BONUS_HOEFFDING, TACIT__BONUS_CERTIFICATE,
                                                 TACIT__BONUS_BERNSTEIN};
    size_t free = 0, all = 0;
    for (size_t b = 0; b < sizeof bonuses / sizeof *bonuses; b++)
        for (int kind = 0; kind < 4; kind++)
            for (int round = 0; round < 300; round++) {
                static truth w;
                static sample x;
                tacit__space space = {S, A, H, (kind & 1) != 0 ? H : 1};
                /* each of the three is the large one at times */
                double e[3];
                for (int i = 0; i < 3; i++)
                    e[i] = round % 4 == 3 || round % 4 == i ? random_between(&seed, 1, 20) : 0.01;
                const ucbvi_case c = {.bonus = bonuses[b],
                                      .o = {.bonus_scale = (kind & 2) != 0 ? 1 : 0,
                                            .error_scale = 1,
                                            .failure = failure,
                                            .episodes = USERS,
                                            .fresh = true}};
                make_truth(&seed, space.tables, &w);
                disturb(&seed, &w, space.tables, round % 3, e, &x);
                if (space.tables == H && round % 2 == 1)
                    drop_last(&x);
                void *planner = make_ucbvi(space, &c, false);
                (void)tacit__ucbvi.plan(planner, &x.counts);
                tacit__ucbvi_view view = tacit__ucbvi_get(planner);
                for (size_t row = 0; row < space.tables * S * A; row++)
                    assert_within(view.visits[row], w.n[row] * (1 - 1e-12),
                                  (w.n[row] + 4 * e[0]) * (1 + 1e-12));
                for (size_t i = 0; i < ROWS; i++) {
                    assert_true(view.q[i] >= w.q[i] - 1e-9);
                    free += view.q[i] < (double)(H - i / (S * A));
                    all++;
                }
                tacit__ucbvi.destroy(planner);
            }
    assert_true(4 * free > all); /* not by the cap alone */
}

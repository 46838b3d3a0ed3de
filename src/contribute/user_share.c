/* See contribute/user_share.h.
 *
 * Let a_x be the weight of row x that was counted so far, used = sum_x a_x^2, and B^2 the budget. A
 * visit of x counts with
 *
 *     w = min(weight of x, -a_x + sqrt(a_x^2 + (B^2 - used) / 2)),     rounded down to the lattice,
 *
 * if the user has fewer than m counted visits of x; then a_x += w. The second term is the w that
 * spends half of what is left: used rises by (a_x + w)^2 - a_x^2 <= (B^2 - used) / 2. So used never
 * exceeds B^2, and no visit finds the budget empty: hard truncation would lose the last, often the
 * rewarding, step of every trajectory. A single step leaves nothing to later ones: it may spend all.
 *
 * Everything here is known before the visit's reward and next state are. What is counted therefore
 * has the law of the world: nothing is biased, only left out. (Scaling a whole trajectory to a norm
 * would depend on how it went on; in worlds that users can leave, survival is then estimated wrong
 * at any epsilon.)
 *
 * The square root is computed in doubles; whether the budget holds is decided in integers,
 * before `used` is updated. */
#include "contribute/user_share.h"

#include <math.h>

#include "base/error.h"

/* The w that spends `most`, or 1 step less; exactly: (a + w)^2 - a^2 = w (2 a + w) <= most. */
static int64_t spending(uint64_t most, int64_t a)
{
    const double root = sqrt((double)a * (double)a + (double)most);
    int64_t w = (int64_t)(root - (double)a);
    while (w > 0 && (uint64_t)w * (2 * (uint64_t)a + (uint64_t)w) > most)
        w--;
    return w;
}

static size_t row_of(const tacit__space *sp, const tacit_trajectory *u, size_t h)
{
    const size_t table = sp->tables == 1 ? 0 : h;
    return (table * sp->n_states + u->states[h]) * sp->n_actions + u->actions[h];
}

size_t tacit__user_share(const tacit__share_rule *rule, const tacit_trajectory *u,
                         tacit__counted_step *out)
{
    uint64_t used = 0;
    size_t n = 0;
    for (size_t h = 0; h < rule->space.horizon; h++) {
        const size_t row = row_of(&rule->space, u, h);
        int64_t a = 0, w = rule->weights != NULL ? rule->weights[row] : rule->unit;
        uint64_t visits = 0;
        for (size_t i = n; i-- > 0 && visits == 0;)
            if (out[i].row == row) {
                a = out[i].sum;
                visits = out[i].visit;
            }
        if (rule->user_visits > 0 && visits >= rule->user_visits)
            continue;
        TACIT__REQUIRE(w >= 0);
        if (rule->square > 0) {
            const uint64_t left = rule->square - used;
            const int64_t most = spending(rule->space.horizon == 1 ? left : left / 2, a);
            w = w < most ? w : most;
            used += (uint64_t)w * (2 * (uint64_t)a + (uint64_t)w);
            TACIT__REQUIRE(used <= rule->square);
        }
        out[n++] = (tacit__counted_step){.h = h,
                                         .row = row,
                                         .next = u->states[h + 1],
                                         .weight = w,
                                         .reward = (int64_t)((double)w * (u->rewards[h] - 0.5)),
                                         .sum = a + w,
                                         .visit = visits + 1};
    }
    return n;
}

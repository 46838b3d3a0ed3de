/* See contribute/tabular.h. A user's H steps become sparse vectors, with their cells in ascending order, on
 * the lattices of the sums: integers, made of the trajectory and of public knowledge alone. What they can be,
 * and how far apart two users' are, is derived in tabular_reach.c. */
#include "contribute/tabular.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/workspace.h"
#include "noise/stream.h"

/* A step of a user, by its cell of the moves: (table, state, action, next state). Sorted by that,
 * they are sorted by (table, state, action) as well. */
typedef struct tacit__visit {
    size_t move, h;
    double weight; /* 1, or less where the user's share says so */
} visit;

tacit__tabular_user *tacit__tabular_user_create(const tacit__tabular_options *o)
{
    const size_t H = o->space.horizon;
    TACIT__REQUIRE(H > 0);
    tacit__tabular_user w = {.order = NULL};
    tacit__piece pieces[3 * TACIT__TABULAR_STREAMS + 2];
    size_t n = 0;
    for (int i = 0; i < TACIT__TABULAR_STREAMS; i++) {
        pieces[n++] = TACIT__PIECE(w.cell[i], H);
        pieces[n++] = TACIT__PIECE(w.placed[i], H);
        pieces[n++] = TACIT__PIECE(w.x[i], H);
    }
    pieces[n++] = TACIT__PIECE(w.order, H);
    pieces[n++] = TACIT__PIECE(w.counted, H);
    return tacit__workspace_create(&w, sizeof w, pieces, n);
}

void tacit__tabular_user_destroy(tacit__tabular_user *user)
{
    tacit__workspace_destroy(user);
}

void tacit__tabular_user_wipe(tacit__tabular_user *user, size_t horizon)
{
    for (int i = 0; i < TACIT__TABULAR_STREAMS; i++) {
        tacit__wipe(user->cell[i], horizon * sizeof *user->cell[i]);
        tacit__wipe(user->placed[i], horizon * sizeof *user->placed[i]);
        tacit__wipe(user->x[i], horizon * sizeof *user->x[i]);
    }
    tacit__wipe(user->order, horizon * sizeof *user->order);
    tacit__wipe(user->counted, horizon * sizeof *user->counted);
}

size_t tacit__tabular_row(const tacit__tabular_options *o, const tacit_trajectory *u, size_t h)
{
    TACIT__REQUIRE(h < o->space.horizon);
    const tacit__space *sp = &o->space;
    size_t table = sp->tables == 1 || o->one_step ? 0 : h;
    return (table * sp->n_states + u->states[h]) * sp->n_actions + u->actions[h];
}

static int by_move(const void *a, const void *b)
{
    const visit *x = a, *y = b;
    return x->move != y->move ? (x->move > y->move) - (x->move < y->move)
                              : (x->h > y->h) - (x->h < y->h);
}

/* Ascending. Tables for each step come sorted; a trajectory of some dozens of steps is sorted by
 * insertion. */
static void sort_visits(visit *order, size_t n)
{
    enum { SHORT = 64 };
    if (n > SHORT) {
        qsort(order, n, sizeof *order, by_move);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        visit v = order[i];
        size_t j = i;
        for (; j > 0 && order[j - 1].move > v.move; j--)
            order[j] = order[j - 1];
        order[j] = v;
    }
}

/* One more number, in a cell that is not below the last one's. */
static void add_cell(tacit__tabular_user *out, int stream, size_t cell, double value)
{
    size_t n = out->stream[stream].n;
    if (n == 0 || out->cell[stream][n - 1] != cell) {
        out->cell[stream][n] = cell;
        out->x[stream][n] = 0;
        out->stream[stream].n = ++n;
    }
    out->x[stream][n - 1] += value;
}

/* The steps that count, sorted; returns how many. */
static size_t count_visits(const tacit__tabular_rule *rule, const tacit_trajectory *u, size_t first,
                           size_t last, tacit__tabular_user *out)
{
    const tacit__tabular_options *o = &rule->o;
    size_t n = 0;
    if (rule->share.unit > 0) {
        n = tacit__user_share(&rule->share, u, out->counted);
        for (size_t i = 0; i < n; i++) {
            const tacit__counted_step *step = &out->counted[i];
            out->order[i] = (visit){step->row * o->space.n_states + step->next, step->h,
                                    (double)step->weight / (double)rule->share.unit};
        }
    } else {
        for (size_t h = first; h < last; h++)
            out->order[n++] =
                (visit){tacit__tabular_row(o, u, h) * o->space.n_states + u->states[h + 1], h, 1};
    }
    sort_visits(out->order, n);
    return n;
}

tacit_status tacit__tabular_contribute(const tacit__tabular_rule *rule, const tacit_trajectory *u,
                                       size_t first, size_t last, tacit__tabular_user *out,
                                       tacit_error *err)
{
    TACIT__REQUIRE(first < last && last <= rule->o.space.horizon);
    const tacit__tabular_options *o = &rule->o;
    const size_t n = count_visits(rule, u, first, last, out);
    double center = o->centered ? 0.5 : 0;
    for (int i = 0; i < TACIT__TABULAR_STREAMS; i++)
        out->stream[i] = (tacit__input){.index = out->cell[i], .value = out->placed[i]};
    for (size_t i = 0; i < n; i++) {
        visit v = out->order[i];
        if (v.h < o->space.horizon - o->drop_last)
            add_cell(out, TACIT__MOVES, v.move, v.weight);
        if (!o->visits_from_moves)
            add_cell(out, TACIT__VISITS, v.move / o->space.n_states, v.weight);
        add_cell(out, TACIT__REWARD_SUMS, v.move / o->space.n_states,
                 v.weight * (u->rewards[v.h] - center));
    }
    tacit_status status = TACIT_OK;
    for (int i = 0; i < TACIT__TABULAR_STREAMS && status == TACIT_OK; i++)
        status = tacit__lattice_quantize(&rule->lattice[i], out->x[i], out->stream[i].n,
                                         out->placed[i], err);
    return status;
}

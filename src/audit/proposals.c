/* See audit/proposals.h. Proposals use public sizes only, so that any subject can be searched. */
#include "audit/proposals.h"

#include <stdlib.h>

#include "base/error.h"

void tacit__propose_crowd(const tacit__form *form, tacit__generator *generator, tacit__user *users)
{
    for (size_t i = 0; i < TACIT__CROWD; i++) {
        tacit__user *u = &users[i];
        if (i % 2 == 0)
            tacit__user_random(form, generator, u);
        else
            tacit__user_extreme(form, i % 8 < 4, (double)(i / 8 % 2), u);
    }
}

bool tacit__propose_extreme(const tacit__form *form, size_t i, tacit__user users[2])
{
    static const struct {
        bool last[2];
        double reward[2];
    } extremes[] = {{{false, true}, {1, 1}},  {{false, true}, {0, 1}}, {{false, true}, {0, 0}},
                    {{false, false}, {0, 1}}, {{true, true}, {0, 1}},  {{true, false}, {1, 0}}};
    if (i >= sizeof extremes / sizeof *extremes)
        return false;
    for (int w = 0; w < 2; w++)
        tacit__user_extreme(form, extremes[i].last[w], extremes[i].reward[w], &users[w]);
    return true;
}

bool tacit__propose_crossing(const tacit__form *form, size_t meetings, size_t spoken,
                             tacit__user users[2])
{
    TACIT__REQUIRE(meetings > 0);
    const size_t steps = form->horizon;
    if (form->features > 0 || form->n_states < 3 || 2 * meetings > steps)
        return false;
    for (size_t w = 0; w < 2; w++) {
        tacit__user *u = &users[w];
        const size_t ways = (form->n_states - w) / 2; /* states 1, 3, .. or 2, 4, .. */
        for (size_t h = 0, alone = 0; h <= steps; h++) {
            bool met = h % 2 == 0 && h < 2 * meetings;
            u->states[h] = met ? 0 : (uint32_t)(1 + w + 2 * (alone / form->n_actions % ways));
            if (h < steps) {
                u->actions[h] = met ? 0 : (uint32_t)(alone % form->n_actions);
                u->rewards[h] = met ? (double)(1 - w) : alone < spoken ? 1 : 0.5;
            }
            alone += !met;
        }
    }
    return true;
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

size_t tacit__propose_positions(const tacit__subject *s, size_t out[TACIT__POSITIONS])
{
    TACIT__REQUIRE(s->users > 0);
    uint64_t k = s->users;
    /* those who come back are tried from the last place from which all visits fit, too */
    const uint64_t apart = s->apart > 0 ? s->apart : 1, later = s->visits > 1 ? s->visits - 1 : 0;
    const uint64_t fits = later > 0 && later < k / apart ? k - 1 - later * apart : 0;
    uint64_t wanted[TACIT__POSITIONS] = {0, 1, fits, k / 4, k / 2, k >= 2 ? k - 2 : 0, k - 1};
    qsort(wanted, TACIT__POSITIONS, sizeof *wanted, ascending);
    size_t n = 0;
    if (s->claim.model == TACIT_MODEL_LOCAL) { /* a report is a report */
        out[0] = 0;
        return 1;
    }
    for (size_t i = 0; i < TACIT__POSITIONS; i++)
        if (wanted[i] < k && (n == 0 || wanted[i] > out[n - 1]))
            out[n++] = (size_t)wanted[i];
    return n;
}

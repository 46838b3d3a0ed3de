/* A search begins with these: users that are far apart by construction, the users around them, and their
 * positions. */
#ifndef TACIT_AUDIT_PROPOSALS_H
#define TACIT_AUDIT_PROPOSALS_H

#include "audit/pair.h"

/* TACIT__CROWD people, ordinary and extreme by turns. */
void tacit__propose_crowd(const tacit__form *form, tacit__generator *generator, tacit__user *users);

/* Pair number i of a list; false beyond its end. */
bool tacit__propose_extreme(const tacit__form *form, size_t i, tacit__user users[2]);

/* Users who meet in one state `meetings` times, say the opposite there, and go different ways from it:
 * they share visits, never a move. Elsewhere the first `spoken` of their pairs have a reward of 1, and all
 * others one in the middle. False: there are too few states or steps. */
bool tacit__propose_crossing(const tacit__form *form, size_t meetings, size_t spoken,
                             tacit__user users[2]);

/* Early, middle, late; the last user of all may be of no consequence, so the one before counts as late
 * too. */
enum { TACIT__POSITIONS = 7 };
size_t tacit__propose_positions(const tacit__subject *subject, size_t out[TACIT__POSITIONS]);

#endif

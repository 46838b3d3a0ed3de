/* What a learner plays, beside what its paper prints: the list behind `plays` of `tacit explain`.
 *
 * A family, or its planner, fills the list of an agent (tacit__learner.plays) in `build`, from the request
 * alone: one line for each constant that its paper prints, under every calibration. `printed` is what the
 * paper's formula gives for this request, `played` what the agent uses; both in the same units. The note says
 * why they differ, or what a symbol of the paper was taken to be; it is empty where both are the same.
 *
 *     tacit__plays_number(&agent->base.plays, "radius", printed, played, "bonus_scale %g", scale);
 *     tacit__plays_words(&agent->base.plays, "schedule", "every user", "growth(1.02)", "");
 */
#ifndef TACIT_BOARD_PLAYS_H
#define TACIT_BOARD_PLAYS_H

#include <stddef.h>

enum { TACIT__MOST_PLAYS = 24, TACIT__PLAYS_WORDS = 64, TACIT__PLAYS_NOTE = 200 };

typedef struct tacit__plays {
    size_t n;
    struct tacit__plays_line {
        char name[TACIT__PLAYS_WORDS];
        double printed, played;
        char printed_words[TACIT__PLAYS_WORDS], played_words[TACIT__PLAYS_WORDS];
        char note[TACIT__PLAYS_NOTE];
    } at[TACIT__MOST_PLAYS];
} tacit__plays;

/* A line of numbers; NaN: the paper prints none, or none is played. */
__attribute__((format(printf, 5, 6))) void tacit__plays_number(tacit__plays *plays,
                                                               const char *name, double printed,
                                                               double played, const char *note,
                                                               ...);
/* A line of words; printed "": the paper prints none. */
__attribute__((format(printf, 5, 6))) void tacit__plays_words(tacit__plays *plays, const char *name,
                                                              const char *printed,
                                                              const char *played, const char *note,
                                                              ...);

#endif

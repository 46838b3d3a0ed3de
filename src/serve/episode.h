/* A user's episode as it comes in: decisions, then rewards in any order, and where it ended. */
#ifndef TACIT_SERVE_EPISODE_H
#define TACIT_SERVE_EPISODE_H

#include <stdbool.h>

#include "serve/config.h"

/* A view of the bytes that an episode is kept as, which begin at an address that doubles can stand at. */
typedef struct tacit__episode {
    const tacit__learner_config *config;
    double *rewards;  /* [horizon] */
    double *features; /* [horizon + 1][per_user]; nothing if states are numbered */
    uint32_t *states; /* [horizon + 1] */
    uint32_t *actions;
    uint8_t *known; /* [horizon + 1]: bits below; the last is about where it ended */
} tacit__episode;

size_t tacit__episode_size(const tacit__learner_config *config);
tacit__episode tacit__episode_view(const tacit__learner_config *config, void *bytes);

/* What is told about one step: its decision, and perhaps what came of it. */
typedef struct tacit__told {
    size_t step;
    uint32_t state, action;
    const double *features; /* [per_user], or NULL */
    bool has_reward, has_next;
    double reward;
    uint32_t next_state;
    const double *next_features;
} tacit__told;

/* Takes it in. False: it contradicts what was told before; *field then names what. An episode that was told the same twice is
 * as it was. */
bool tacit__episode_tell(tacit__episode *episode, const tacit__told *told, const char **field);

/* The same for who will not be learned from: marks how far they are, and wipes everything else that was told. */
void tacit__episode_count(tacit__episode *episode, const tacit__told *told);

/* Steps that have a decision, counted from the first without a gap. */
size_t tacit__episode_length(const tacit__episode *episode);
/* Everything is known. */
bool tacit__episode_is_finished(const tacit__episode *episode);
tacit_trajectory tacit__episode_trajectory(const tacit__episode *episode);
/* The user's mean reward. */
double tacit__episode_mean(const tacit__episode *episode);

#endif

/* A user's episode as it arrives: decisions, then rewards in any order, and the step at which it ended. It
 * has only what the learner needs: if the learner uses only the features of the chosen action, the episode
 * has no others. */
#ifndef TACIT_SERVE_PEOPLE_EPISODE_H
#define TACIT_SERVE_PEOPLE_EPISODE_H

#include <stdbool.h>

#include "noise/seal.h"
#include "serve/config.h"

/* Bytes of the features of one situation in tickets and episodes; 0 if states are numbered. They are the
 * doubles of all actions or, with config->chosen_only, the integers of the chosen one
 * (serve/people/feature_grid.h). */
size_t tacit__stored_situation_size(const tacit__learner_config *config);
/* Packs the features of a situation, in which `action` was chosen, into
 * out[tacit__stored_situation_size()]. */
void tacit__stored_situation_pack(const tacit__learner_config *config, const double *features,
                                  uint32_t action, uint8_t *out);

/* A view of an episode's bytes, which are aligned for doubles. */
typedef struct tacit__episode {
    const tacit__learner_config *config;
    double *rewards; /* [horizon] */
    /* [horizon + 1, or horizon with chosen_only][tacit__stored_situation_size()] */
    uint8_t *situations;
    uint32_t *states; /* [horizon + 1] */
    uint32_t *actions;
    uint8_t *known; /* [horizon + 1]: flags of what is known of a step; the last: where it ended */
    uint8_t *trail; /* [horizon] of tacit__trail, not aligned; NULL: decisions are not recorded */
} tacit__episode;

/* How a decision was made, for the operator's decision log. */
typedef struct tacit__trail {
    double probability; /* 0: not known, because the log was begun after this decision */
    uint64_t version;
} tacit__trail;

size_t tacit__episode_size(const tacit__learner_config *config);
tacit__episode tacit__episode_view(const tacit__learner_config *config, void *bytes);

/* Converts stored bytes of an episode to those of this version, out[tacit__episode_size()]. They may be of
 * this version or of one that stored the features of all actions, with or without a trail. Returns false if
 * they are not an episode. */
bool tacit__episode_read(const tacit__learner_config *config, const void *bytes, size_t size,
                         void *out);

/* An observation of one step: its decision, and perhaps its outcome. Situations are bytes of
 * tacit__stored_situation_pack, or NULL. */
typedef struct tacit__observation {
    size_t step;
    uint32_t state, action;
    const uint8_t *situation;
    bool has_reward, has_next;
    double reward;
    uint32_t next_state;
    const uint8_t *next_situation; /* not used with chosen_only */
    bool done;                     /* the episode ends after this step */
    tacit__trail trail;
} tacit__observation;

/* Adds an observation. Returns false if it contradicts an earlier one; *field then names the field. Adding
 * the same observation twice changes nothing. */
bool tacit__episode_add(tacit__episode *episode, const tacit__observation *observed,
                        const char **field);

/* Counts an observation of a user from whom the learner will not learn: marks the step, and wipes everything
 * else that was observed. Nothing can be learned from such an episode any more. */
void tacit__episode_count(tacit__episode *e, const tacit__observation *t);
bool tacit__episode_is_counted(const tacit__episode *episode);

/* The number of steps with a decision, from the first without a gap; all steps of an episode that ended
 * early. */
size_t tacit__episode_length(const tacit__episode *episode);
/* After how many steps the episode ended, if that was before the horizon; otherwise 0. */
size_t tacit__episode_end(const tacit__episode *episode);
/* Whether everything about the episode is known. */
bool tacit__episode_is_finished(const tacit__episode *episode);
/* The trajectory for agents. With chosen_only the features are made in room[per_user]; those of the other
 * actions are 0. */
tacit_trajectory tacit__episode_trajectory(const tacit__episode *episode, double *room);
/* The user's mean reward, in [0, 1]. */
double tacit__episode_mean(const tacit__episode *episode);

/* --- After the end --------------------------------------------------------------------------------
 *
 * The store keeps short keyed hashes of a finished episode's situations, decisions and rewards until it
 * expires, four bytes each, so that the service can tell a repeated observation from another one.
 * Another value has the same hash with a chance of 2^-32 and then passes for a repetition. What was
 * never reported has the hash 0, which agrees with everything. After an early end there are no steps: what is
 * reported of one contradicts the digest. */

typedef struct tacit__digest_key {
    const uint8_t *key;  /* [TACIT__SHORT_KEY] */
    const uint8_t *name; /* of the episode, [TACIT__VAULT_KEY] */
} tacit__digest_key;

size_t tacit__episode_digest_size(const tacit__learner_config *config);
void tacit__episode_digest(const tacit__episode *episode, const tacit__digest_key *key,
                           uint8_t *out);
/* Whether an observation agrees with the digest of the finished episode. If it does not, *field names the
 * field that differs. */
bool tacit__digest_agrees(const tacit__learner_config *config, const uint8_t *digest,
                          const tacit__digest_key *key, const tacit__observation *observed,
                          const char **field);

#endif

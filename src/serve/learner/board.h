/* A billboard that requests act by while the learner continues to learn. It never changes. A request that
 * acquires a board releases it. */
#ifndef TACIT_SERVE_LEARNER_BOARD_H
#define TACIT_SERVE_LEARNER_BOARD_H

#include <tacit/agent.h>

typedef struct tacit__board tacit__board;

/* An agent that acts for boards that are not tables: a snapshot, or an agent in the same state. The boards of
 * one version share it. The shadow owns the agent, even if `create` fails. */
typedef struct tacit__shadow tacit__shadow;
TACIT_MUST_USE tacit_status tacit__shadow_create(tacit_agent *agent, tacit__shadow **out,
                                                 tacit_error *err);
/* The shadow of a board, which the caller releases; NULL if the board is a table. */
tacit__shadow *tacit__board_acquire_shadow(tacit__board *board);

/* Creates the billboard of `agent`'s last plan, with `users` users in it. If it is not a table, `shadow`
 * acts. The board owns the shadow, even on failure. */
TACIT_MUST_USE tacit_status tacit__board_create(const tacit_agent *agent,
                                                const tacit_agent_request *request,
                                                tacit__shadow *shadow, uint64_t users,
                                                tacit__board **out, tacit_error *err);
tacit__board *tacit__board_acquire(tacit__board *board);
void tacit__board_release(tacit__board *board); /* accepts NULL */

/* Acts as tacit_agent_act does; may be called from any thread. */
TACIT_MUST_USE tacit_status tacit__board_act(tacit__board *board, const tacit_situation *situation,
                                             double chance, uint32_t *action, double *probability,
                                             tacit_error *err);

uint64_t tacit__board_users(const tacit__board *board);
/* The model that users who plan for themselves need besides the table (tacit_agent_publish), or NULL. */
const void *tacit__board_model(const tacit__board *board, size_t *size);
/* The version and the tables. Neither policy nor mixed is set if the board is not a table. */
const tacit_billboard *tacit__board_view(const tacit__board *board);

#endif

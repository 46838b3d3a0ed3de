/* A billboard that requests act by while the learner continues to learn. It never changes. A request that
 * acquires a board releases it. */
#ifndef TACIT_SERVE_LEARNER_BOARD_H
#define TACIT_SERVE_LEARNER_BOARD_H

#include <tacit/agent.h>

typedef struct tacit__board tacit__board;

/* Another agent that acts where a billboard is no table: a snapshot, or one in the same state.
 * Boards of one version share it. The agent is the shadow's, whatever is returned. */
typedef struct tacit__shadow tacit__shadow;
TACIT_MUST_USE tacit_status tacit__shadow_create(tacit_agent *agent, tacit__shadow **out,
                                                 tacit_error *err);
/* That of a board, to be given back; NULL: it is a table. */
tacit__shadow *tacit__board_acquire_shadow(tacit__board *board);

/* The billboard of `agent`'s last plan, `users` of them in it. Where it is no table, `shadow` acts,
 * which the board owns from now on, whatever is returned. */
TACIT_MUST_USE tacit_status tacit__board_create(const tacit_agent *agent,
                                                const tacit_agent_request *request,
                                                tacit__shadow *shadow, uint64_t users,
                                                tacit__board **out, tacit_error *err);
tacit__board *tacit__board_acquire(tacit__board *board);
void tacit__board_release(tacit__board *board); /* accepts NULL */

/* As tacit_agent_act, from any thread. */
TACIT_MUST_USE tacit_status tacit__board_act(tacit__board *board, const tacit_situation *situation,
                                             double chance, uint32_t *action, double *probability,
                                             tacit_error *err);

uint64_t tacit__board_users(const tacit__board *board);
/* What users who plan for themselves need beside the table (tacit_agent_publish); NULL: nothing. */
const void *tacit__board_model(const tacit__board *board, size_t *size);
/* Version and tables; neither policy nor mixed where the board is no table. */
const tacit_billboard *tacit__board_view(const tacit__board *board);

#endif

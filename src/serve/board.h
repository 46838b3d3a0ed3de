/* A billboard that requests act by while the learner goes on. It does not change; whoever takes one gives it back. */
#ifndef TACIT_SERVE_BOARD_H
#define TACIT_SERVE_BOARD_H

#include <tacit/agent.h>

typedef struct tacit__board tacit__board;

/* The billboard of `agent`'s last plan, `users` of them in it. Where it is no table, `shadow` acts: another agent in the same
 * state, which the board owns from now on, whatever is returned. */
TACIT_MUST_USE tacit_status tacit__board_create(const tacit_agent *agent,
                                                const tacit_agent_request *request,
                                                tacit_agent *shadow, uint64_t users,
                                                tacit__board **out, tacit_error *err);
tacit__board *tacit__board_take(tacit__board *board);
void tacit__board_give(tacit__board *board); /* accepts NULL */

/* As tacit_agent_act, from any thread. */
TACIT_MUST_USE tacit_status tacit__board_act(tacit__board *board, const tacit_situation *situation,
                                             double chance, uint32_t *action, double *probability,
                                             tacit_error *err);

uint64_t tacit__board_users(const tacit__board *board);
/* What users who plan for themselves need beside the table (tacit_agent_publish); NULL: nothing. */
const void *tacit__board_model(const tacit__board *board, size_t *size);
/* Version and tables; neither policy nor mixed where the board is no table. */
const tacit_billboard *tacit__board_look(const tacit__board *board);

#endif

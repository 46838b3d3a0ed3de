/* Worlds from tables: the parser, apart from where the text comes from. */
#ifndef TACIT_WORLDS_TABLE_H
#define TACIT_WORLDS_TABLE_H

#include "worlds/mdp.h"
#include "worlds/text_file.h"

typedef struct tacit__table_source {
    tacit__span transitions, initial; /* initial.text NULL: everyone starts in state 0 */
    const char *transitions_name, *initial_name;
    size_t horizon;
    double reward_low, reward_high;
} tacit__table_source;

TACIT_MUST_USE tacit_status tacit__table_create(const tacit__table_source *source, tacit__mdp **out,
                                                tacit_error *err);

#endif

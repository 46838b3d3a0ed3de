/* Grid worlds: the map's parser, apart from where the text comes from. */
#ifndef TACIT_WORLDS_GRID_WORLD_H
#define TACIT_WORLDS_GRID_WORLD_H

#include "worlds/mdp.h"
#include "worlds/text_file.h"

typedef struct tacit__grid_source {
    tacit__span map;
    char separator; /* of rows: '\n' or '/' */
    /* for messages: the map's own file, or the one that contains the inline map */
    const char *file;
    int line; /* of an inline map */
    size_t horizon;
    double slip;
} tacit__grid_source;

TACIT_MUST_USE tacit_status tacit__grid_create(const tacit__grid_source *source, tacit__mdp **out,
                                               tacit_error *err);

#endif

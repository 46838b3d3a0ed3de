/* The promise to one person over the life of a store: learners come and go, and a person may have been in all
 * of them. docs/why/person.md has the rules. */
#ifndef TACIT_SERVE_PEOPLE_PLEDGE_H
#define TACIT_SERVE_PEOPLE_PLEDGE_H

#include "serve/config.h"
#include "store/vault/vault.h"
#include "text/text.h"

typedef struct tacit__pledge {
    /* In all forks of the store, with learners that are no longer served. */
    tacit_service_person person;
    size_t past;    /* such learners, which have had users */
    size_t unknown; /* more of them, whose costs the store does not know */
    uint64_t forks;
} tacit__pledge;

/* Compares the file with what the store has promised: WRONG_PLAN if people who came would be promised less,
 * BAD_PLAN if the learners of the file and those of before exceed the budget. Nothing is written. */
TACIT_MUST_USE tacit_status tacit__pledge_check(const tacit__service_config *config,
                                                tacit__vault *vault, tacit_error *err);

/* The same, and writes the promise down, in a transaction of its own. `changed` gets the sentence for the
 * operator if people who came pay another sum than before, and else stays empty. */
TACIT_MUST_USE tacit_status tacit__pledge_keep(const tacit__service_config *config,
                                               tacit__vault *vault, tacit__pledge *out,
                                               char changed[200], tacit_error *err);

/* {"guarantee":...,"sentences":[...]}, as the shape Person says. */
void tacit__pledge_describe(const tacit__pledge *pledge, tacit__text *out);

#endif

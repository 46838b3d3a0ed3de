/* Whether the service can do its work, and if not, why. */
#ifndef TACIT_SERVE_HEALTH_H
#define TACIT_SERVE_HEALTH_H

#include <tacit/service.h>

/* What keeps it from its work, as bits; the most important first. */
typedef enum tacit__trouble {
    TACIT__TROUBLE_FENCED = 1,  /* the store is another server's */
    TACIT__TROUBLE_FAILING = 2, /* the store cannot be written */
    TACIT__TROUBLE_COPY = 4,    /* it is a copy, went back, or does not add up: nobody learns */
    TACIT__TROUBLE_BEHIND = 8,
    TACIT__TROUBLE_UNSOUND = 16,
    TACIT__TROUBLE_LEARNER = 32, /* a learner has failed */
    TACIT__TROUBLE_STOPPING = 64
} tacit__trouble;

/* All troubles that there are now; 0: none. */
unsigned tacit__health_look(const tacit_service *service);

#endif

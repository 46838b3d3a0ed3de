/* Whether the service can do its work, and if not, why. */
#ifndef TACIT_SERVE_HTTP_HEALTH_H
#define TACIT_SERVE_HTTP_HEALTH_H

#include <tacit/service.h>

/* Reasons why it cannot, as bits; the most important first. */
typedef enum tacit__trouble {
    TACIT__TROUBLE_FAILING = 1, /* the store cannot be written */
    TACIT__TROUBLE_STORE = 2,   /* the store must not be learned from; its status says why */
    TACIT__TROUBLE_LEARNER = 4, /* a learner has failed */
    TACIT__TROUBLE_WARMING = 8, /* users of a warm-start log are still to come */
    TACIT__TROUBLE_STOPPING = 16
} tacit__trouble;

/* All troubles of the moment; 0: none. */
unsigned tacit__health_check(const tacit_service *service);

#endif

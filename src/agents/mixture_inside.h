/* The inside of the learners for linear mixtures, shared by mixture.c and mixture_bytes.c. */
#ifndef TACIT_AGENTS_MIXTURE_INSIDE_H
#define TACIT_AGENTS_MIXTURE_INSIDE_H

#include <tacit/agent.h>

#include "curate/gram.h"
#include "plan/optimist.h"
#include "plan/radius.h"

typedef struct mixture_agent {
    size_t kind;
    tacit__gram *curator;
    tacit__optimist *planner;
    tacit__radius_options radius;
    tacit_billboard board;
    bool planned;
    uint64_t planned_users; /* of the last plan */
    uint64_t interval;      /* users between plans; 0: they double */
    bool theory;
    char remark[240];
} mixture_agent;

/* The plan of the model that the planner has. */
void tacit__mixture_show(mixture_agent *agent);

/* Users act by plans: there must be one before there are users. */
TACIT_MUST_USE tacit_status tacit__mixture_check_planned(const mixture_agent *agent,
                                                         tacit_error *err);

/* What goes into the table of the family; see agents/family.h. */
tacit_status tacit__mixture_report(void *self, const tacit_trajectory *user, void *bytes,
                                   size_t *size, tacit_error *err);
tacit_status tacit__mixture_absorb(void *self, const void *bytes, size_t size, tacit_error *err);
tacit_status tacit__mixture_publish(const void *self, void *bytes, size_t *size, tacit_error *err);
tacit_status tacit__mixture_follow(void *self, const void *bytes, size_t size, tacit_error *err);
tacit_status tacit__mixture_save(const void *self, void *bytes, size_t *size, tacit_error *err);
tacit_status tacit__mixture_load(void *self, const void *bytes, size_t size, tacit_error *err);

#endif

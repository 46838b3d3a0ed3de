/* The inside of the learners for linear mixtures, shared by their files. */
#ifndef TACIT_AGENTS_MIXTURE_AGENTS_H
#define TACIT_AGENTS_MIXTURE_AGENTS_H

#include <tacit/agent.h>

#include "agents/reading.h"
#include "curate/gram.h"
#include "plan/optimist.h"
#include "plan/radius.h"

/* Parameters that all kinds share come first, in this order. */
enum { BONUS_SCALE, SHIFT_SCALE, LAMBDA, FAILURE, CENTER, NONNEG, REPLAN, OWN, OWN_2 };

enum { UCRL_VTR, UCRL_VTR_PLUS, LINOPT_VI, LINOPT_PO, MIXTURE_KINDS };

typedef struct signs {
    bool centred, centred_rewards;
    bool nonnegative, nonnegative_rewards;
} signs;

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

/* --- mixture_settings.c: what a request may say */

extern const tacit_agent_kind tacit__mixture_kinds[MIXTURE_KINDS];

/* bonus_scale: 1, and a scale that is then 1 as well unless it was set. */
bool tacit__mixture_is_theory(const tacit__reading *r);
double tacit__mixture_scale(const tacit__reading *r, size_t parameter);

/* The papers' own noise is asked for. */
bool tacit__mixture_is_printed(const tacit__reading *r);

TACIT_MUST_USE tacit_status tacit__mixture_check(size_t kind, const tacit__reading *r,
                                                 tacit_error *err);
TACIT_MUST_USE tacit_status tacit__mixture_read_signs(const tacit__reading *r, signs *out,
                                                      tacit_error *err);
TACIT_MUST_USE tacit_status tacit__mixture_read_replan(const tacit__reading *r, uint64_t *interval,
                                                       tacit_error *err);

/* --- mixture_agents.c */

/* The plan of the model that the planner has. */
void tacit__mixture_show(mixture_agent *agent);

/* Users act by plans: there must be one before there are users. */
TACIT_MUST_USE tacit_status tacit__mixture_check_planned(const mixture_agent *agent,
                                                         tacit_error *err);

/* --- mixture_bytes.c: what goes into the table of the family; see agents/family.h */

tacit_status tacit__mixture_report(void *self, const tacit_trajectory *user, void *bytes,
                                   size_t *size, tacit_error *err);
tacit_status tacit__mixture_check_report(const void *self, const void *bytes, size_t size,
                                         tacit_error *err);
tacit_status tacit__mixture_absorb(void *self, const void *bytes, size_t size, tacit_error *err);
tacit_status tacit__mixture_publish(const void *self, void *bytes, size_t *size, tacit_error *err);
tacit_status tacit__mixture_follow(void *self, const void *bytes, size_t size, tacit_error *err);
tacit_status tacit__mixture_save(const void *self, void *bytes, size_t *size, tacit_error *err);
tacit_status tacit__mixture_load(void *self, const void *bytes, size_t size, tacit_error *err);

#endif

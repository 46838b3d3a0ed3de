/* The inside of an agent, shared by agent.c and agent_bytes.c, and what audits need of one. */
#ifndef TACIT_AGENTS_AGENT_INSIDE_H
#define TACIT_AGENTS_AGENT_INSIDE_H

#include <tacit/agent.h>

#include "agents/agent_base.h"
#include "agents/domain.h"
#include "noise/stream.h"

struct tacit_agent {
    const tacit__family *family;
    const tacit__agent_row *row;
    tacit__agent_base *self;
    tacit_agent_facts facts;
    size_t situations;       /* of a trajectory whose features users bring */
    bool planned;            /* there has been a plan */
    tacit_billboard board;   /* the last one's */
    void *table;             /* what `board` points to if it was loaded; else NULL */
    tacit__clipper *clipper; /* NULL: of a snapshot */
    double *rewards;         /* expected, in [0, 1], where the request has them in another range */
    bool was_cut;
    bool holds_user;  /* the clipper has a copy of one */
    bool is_snapshot; /* it can act, from any number of threads, and nothing else */
    uint8_t fingerprint[TACIT__KEY_BYTES];
    void *attached; /* see tacit__agent_attach */
    void (*detach)(void *attached);
};

/* An agent of a row, which need not be in a table of learners. The row must outlive the agent. */
TACIT_MUST_USE tacit_status tacit__agent_create_row(const tacit__family *family,
                                                    const tacit__agent_row *row,
                                                    const tacit_agent_request *request,
                                                    tacit_noise *noise, tacit_agent **out,
                                                    tacit_error *err);

/* Hash of all that two agents must agree on to share states and reports, public knowledge included;
 * the same on every machine. NO_MEMORY at worst. The request is one that the kind accepts. */
TACIT_MUST_USE tacit_status tacit__agent_fingerprint(const tacit_agent_request *request,
                                                     uint8_t out[TACIT__KEY_BYTES]);

/* Returns whether agents of this kind learn from the features of the chosen action alone, where users
 * bring them. */
bool tacit__agent_chosen_only(const char *kind);
/* Returns whether agents of this kind learn as much from users who acted by another policy than the
 * billboard's: those do that release who was where, or count it. Others take it from their own plans;
 * and who explores once, by random actions, takes their users to have done that. */
bool tacit__agent_takes_logs(const char *kind);

/* The place where the paper of this kind prints its noise; "": there is nothing to point to. */
typedef struct tacit__printed_place {
    const char *words;
    bool recalled;
} tacit__printed_place;
tacit__printed_place tacit__agent_printed_at(const char *name, tacit_model model);
/* Returns whether that noise is for delta 0 only. */
bool tacit__agent_prints_pure(const char *name);
/* Returns what a verdict on this kind has to add: "; ..." if it uses scales that were recalled, else "". */
const char *tacit__agent_caveat(const char *name, tacit_model model, tacit_calibration calibration);

/* Returns how many expected rewards a request has, if it has any. */
size_t tacit__agent_expected(const tacit_agent_request *request);
/* The request as families see it: expected rewards in [0, 1], which the agent keeps, and no range. */
TACIT_MUST_USE tacit_status tacit__agent_map_rewards(tacit_agent *agent, tacit_agent_request *q,
                                                     tacit_error *err);

/* The action of the last plan in a situation of the domain. */
TACIT_MUST_USE tacit_status tacit__agent_act_inside(tacit_agent *agent,
                                                    const tacit_situation *situation, double chance,
                                                    uint32_t *action, double *probability,
                                                    tacit_error *err);

/* The user as the family is to see them: a full horizon, rewards in [0, 1]. BAD_ARGUMENT: parts are
 * missing, which is a mistake of the caller. OUT_OF_BOUND: they are outside the domain, and are not to
 * be clipped. */
TACIT_MUST_USE tacit_status tacit__agent_clip_user(tacit_agent *agent, const tacit_trajectory *user,
                                                   tacit_trajectory *out, tacit_error *err);
/* The family is done with the user. */
void tacit__agent_wipe_user(tacit_agent *agent);

/* Random bytes that a device puts behind its report, so that no two reports are alike: the bytes of
 * some are few, or have little noise, and the same bytes must mean the same report. */
enum { TACIT__REPORT_NAME = 16 };

/* Reads a table; `row` is that of the step and state. */
void tacit__billboard_act(const tacit_billboard *board, size_t row, size_t n_actions, double chance,
                          uint32_t *action, double *probability);

/* An agent that acts as this one does now, and can do nothing else; any number of threads may ask
 * it at once. It does not clip: situations lie in the domain. For agents whose billboard is no
 * table; UNSUPPORTED: the family has no such thing. */
TACIT_MUST_USE tacit_status tacit__agent_snapshot(const tacit_agent *agent, tacit_agent **out,
                                                  tacit_error *err);

/* From here on the agent owns what its request points to; `destroy` is called after the agent's own end. At
 * most once for an agent. */
void tacit__agent_attach(tacit_agent *agent, void *what, void (*destroy)(void *what));

/* The door of this agent, to be recorded and replayed; NULL with model none. */
tacit_ledger *tacit__agent_ledger(const tacit_agent *agent);

#endif

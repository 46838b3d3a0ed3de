/* The subject of an audit: it serves users one after the other, releases through a ledger's door, and
 * publishes what it computes from its releases. Every agent is a subject; the controls of the self-test are
 * subjects that may be broken on purpose. */
#ifndef TACIT_AUDIT_SUBJECT_H
#define TACIT_AUDIT_SUBJECT_H

#include <tacit/agent.h>

#include "account/door.h"
#include "audit/users.h"

typedef struct tacit__subject tacit__subject;
struct tacit__subject {
    const void *self; /* the methods' own */
    tacit__form form;
    tacit_guarantee claim;
    uint64_t users;             /* that may come */
    uint64_t visits, apart;     /* of one person, at most and at least (0: 1); all are replaced */
    const tacit_plan *declared; /* what was said about the releases */
    /* Every instance declares for itself (what is drawn by public chance may show in a dimension), and is
     * held to that; `declared` is an example. Else all are held to it. */
    bool declares_itself;
    /* A fresh instance whose noise comes from the seed. */
    tacit_status (*open)(const tacit__subject *subject, uint64_t seed, void **instance,
                         tacit_error *err);
    void (*close)(void *instance); /* accepts NULL */
    tacit_ledger *(*ledger)(void *instance);
    /* Returns what is shown before a user acts; NULL: nothing but the releases. */
    tacit_status (*plan)(void *instance, tacit_billboard *out, tacit_error *err);
    tacit_status (*act)(void *instance, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err);
    tacit_status (*learn)(void *instance, const tacit_trajectory *user, tacit_error *err);
    /* Local privacy: what a user's device sends, which is all that others see of the user; bytes NULL asks
     * for the most that it takes. NULL: `learn` is all there is. */
    tacit_status (*report)(void *instance, const tacit_trajectory *user, void *bytes, size_t *size,
                           tacit_error *err);
    /* Local privacy: the model that a server sends, and a device that goes by it. NULL: none. */
    tacit_status (*publish)(void *instance, void *bytes, size_t *size, tacit_error *err);
    tacit_status (*follow)(void *instance, const void *bytes, size_t size, tacit_error *err);
    /* Controls only: may change what passes before it is released, with `tamper_bytes` of memory of its
     * own, zero to begin with. NULL: nothing is broken. */
    void (*tamper)(const tacit__subject *subject, void *memory, const tacit__passage *passage);
    size_t tamper_bytes;
    /* the same, with public knowledge that the auditor chose; NULL: none */
    const tacit__subject *elsewhere;
};

/* An agent as a subject. `example` is an agent of this request, of which a plan is asked; both must
 * outlive the subject. */
tacit__subject tacit__subject_agent(const tacit_agent_request *request, tacit_agent *example);

#endif

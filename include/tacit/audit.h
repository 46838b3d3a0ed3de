/* Audits: attacks on the guarantee of an agent, through the code that serves people.
 *
 *     tacit_audit_agent(&request, NULL, &audit, &err);
 *     puts(audit->words);                             "nothing was found: ..."
 *     if (audit->verdict == TACIT_AUDIT_VIOLATED) ...
 *
 * An audit has three parts:
 *
 *   replay  The learner runs on a sequence of users, and again on a neighboring one with all releases frozen.
 *           Values must pass the door in the same order with the same noise, be charged, and move no farther
 *           than the release plan declares. The billboard, the bytes that a device sends, and whether a user
 *           is accepted must be the same.
 *   noise   The noise added at the door must have the declared distribution.
 *   attack  The learner runs many times in two worlds that differ in one user, the worst that a search found.
 *           The best score that an attacker could compute distinguishes the worlds. How well it does so
 *           proves a lower bound on epsilon.
 *
 * The attacker sees everything that passes the door after the user came, which is more than any observer
 * sees. The attacker also knows and chose all other users, some of whom come late. Under local privacy the
 * attacker is the server: it sees the bytes of a report and chooses the model that it sends to the device. A
 * violation is a proof, up to the stated error probability. The absence of one is evidence, never a proof,
 * and it is only as good as the search: `share` says how much of the declared loss the worst pair reached.
 *
 * Noise comes from seeds, one for each trial. The code is that of production, and an audit with the same
 * seed gives the same result, whatever the number of threads. So an audit cannot find a broken source of
 * system randomness. */
#ifndef TACIT_AUDIT_H
#define TACIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/agent.h>
#include <tacit/plan.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of trials: what fits into memory. */
#define TACIT_MAX_TRIALS UINT64_C(10000000)
#define TACIT_MIN_TRIALS UINT64_C(16)

typedef struct tacit_audit_progress {
    uint64_t trials, n_trials; /* in each world; 0 of 0 while neighbors are searched */
    double seconds;            /* since the trials began */
} tacit_audit_progress;

typedef struct tacit_audit_options {
    uint64_t trials;    /* runs (joint) or reports (local) in each world; 0: chosen by power */
    double confidence;  /* that a conviction is right, in (0, 1); 0: 0.99 */
    uint64_t seed;      /* of the audit's own random choices */
    unsigned n_threads; /* 0: one for each processor that this process may use */
    /* Called by the calling thread after every pair of the search, and some ten times a second during
     * trials; false stops the audit (STOPPED). NULL: none. */
    bool (*progress)(void *context, const tacit_audit_progress *progress);
    void *context;
} tacit_audit_options;

typedef enum tacit_audit_verdict {
    TACIT_AUDIT_PASSED,   /* nothing was found */
    TACIT_AUDIT_VIOLATED, /* the claim is not true */
    TACIT_AUDIT_TOO_FEW,  /* there were too few trials to find anything */
    TACIT_AUDIT_STOPPED,  /* by `progress` */
    /* nothing was found, and the search reached less than TACIT_AUDIT_ENOUGH of what is declared: noise
     * that is too small by the rest would not have been noticed */
    TACIT_AUDIT_INCONCLUSIVE
} tacit_audit_verdict;

#define TACIT_AUDIT_ENOUGH 0.8 /* a stated choice */

/* "passed", "violated", "too few trials", "stopped", "inconclusive". */
TACIT_API const char *tacit_audit_verdict_name(tacit_audit_verdict verdict);

/* What an event proved: it was seen `hits` times in n runs of one world and `alarms` times in n runs of
 * the other. */
typedef struct tacit_audit_proof {
    const char *score; /* what was computed from a run */
    double threshold;  /* the event: the score is above it, or below */
    bool below;
    uint64_t hits, alarms, n;
    double epsilon; /* proved at the claim's delta; 0: nothing */
    double mu;      /* proved, for Gaussian noise tested as mu-GDP; NaN for the other proof */
} tacit_audit_proof;

typedef struct tacit_audit {
    tacit_guarantee claim;
    tacit_law law;
    tacit_audit_verdict verdict;
    const char *words; /* the verdict and its reason */

    /* Record and replay. Losses are epsilon (Laplace) or mu (Gaussian). */
    uint64_t neighbors, refused; /* tried; refused by the curator, which it may do */
    bool same_calls;             /* what passes the door does not depend on a user's data */
    bool same_view;  /* what is shown, and what a device sends, depends on releases only */
    bool same_taken; /* of two users who are both within the domain, both are accepted or neither */
    bool declared_only;     /* everything that passed was declared, and charged */
    double moved, declared; /* loss of the worst pair; loss of the plan */
    double share;           /* moved / declared */
    /* The same for this learner in a world whose expected rewards and features the auditor chose, at the
     * ends of their declared ranges; 0: not tried, because there are none or `share` was large. */
    double share_elsewhere;
    /* of the replaced user, counted from 1; the first visit of one who comes back */
    uint64_t position;
    uint64_t visits, apart; /* of one person; all that fit were replaced */
    /* Of the attacked pair at the claim's delta if the noise is as declared; 0: not known; infinite: only
     * one of the two is accepted. */
    double replay_epsilon;
    const char *fault; /* what was found, or "" */

    /* Noise. */
    double draws;            /* examined */
    double noise_size;       /* measured over declared; NaN: none examined */
    const char *noise_fault; /* or "" */

    /* Attack. */
    uint64_t trials, selection; /* in each world; how many of them chose the events */
    double confidence;
    tacit_audit_proof pure;     /* as (epsilon, delta) */
    tacit_audit_proof gaussian; /* as mu-GDP: Gaussian noise only, else n is 0 */
    double epsilon;             /* the largest that was proved; 0: none */
    double ceiling; /* the largest that this many trials can prove, whatever the mechanism */
    /* Noise too small by this factor is found with 90 % probability; infinite: none is. */
    double detectable;
} tacit_audit;

/* Audits the agent that a request describes. Model none has no guarantee and is UNSUPPORTED. */
TACIT_API TACIT_MUST_USE tacit_status tacit_audit_agent(const tacit_agent_request *request,
                                                        const tacit_audit_options *options,
                                                        tacit_audit **out, tacit_error *err);
TACIT_API void tacit_audit_destroy(tacit_audit *audit);

/* --- The self-test ------------------------------------------------------------------------------- */

/* A control: a mechanism that is known to be sound, or that is broken on purpose. */
typedef struct tacit_control {
    const char *name, *what;
    bool broken;
    uint64_t audits, convicted; /* sound ones are audited many times, with different seeds */
    uint64_t allowed;           /* sound: convictions that the stated rate allows */
    bool right; /* broken and convicted, or sound and convicted no more often than allowed */
    const char *caught_by; /* broken: which parts found it, e.g. "replay, attack" */
    const char *words;     /* of the last audit */
} tacit_control;

typedef struct tacit_self_test {
    const tacit_control *controls;
    size_t n;
    bool right;        /* all are */
    double confidence; /* of each audit: sound ones are convicted with probability 1 - confidence */
    bool stopped;
} tacit_self_test;

/* Audits the controls. `options->trials` is for each audit; 0: few, enough for these. `audits`: of each
 * sound control, 0: 20. */
TACIT_API TACIT_MUST_USE tacit_status tacit_audit_self_test(const tacit_audit_options *options,
                                                            uint64_t audits, tacit_self_test **out,
                                                            tacit_error *err);
TACIT_API void tacit_self_test_destroy(tacit_self_test *test);

#ifdef __cplusplus
}
#endif

#endif

/* See audit/judge.h. Every reason says which part of the audit found it. */
#include "audit/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

void tacit__judge_add_reason(tacit__audit_result *f, const char *format, ...)
{
    size_t used = strlen(f->words);
    va_list arguments;
    if (used > 0 && used + 3 < sizeof f->words) {
        memcpy(f->words + used, "; ", 3);
        used += 2;
    }
    va_start(arguments, format);
    (void)vsnprintf(f->words + used, sizeof f->words - used, format, arguments);
    va_end(arguments);
}

void tacit__judge_replay(tacit__audit_result *f)
{
    tacit_audit *a = &f->face;
    if (f->fault[0] != '\0')
        tacit__judge_add_reason(f, "by replay: %s", f->fault);
    if (a->moved > a->declared * (1 + TACIT__JUDGE_TOL))
        tacit__judge_add_reason(
            f,
            "by replay: a pair of users moves what is released by %s %.4g, and the plan "
            "declares %.4g",
            a->law == TACIT_LAW_GAUSSIAN ? "mu" : "epsilon", a->moved, a->declared);
}

void tacit__judge_attack(tacit__audit_result *f)
{
    tacit_audit *a = &f->face;
    if (f->noise_fault[0] != '\0')
        tacit__judge_add_reason(f, "by the noise: %s (measured over declared: %.4g)",
                                f->noise_fault, a->noise_size);
    if (a->epsilon > a->claim.epsilon)
        tacit__judge_add_reason(
            f,
            "by attack: the trials prove epsilon %.4g at %.6g %% confidence, and the claim is %g",
            a->epsilon, 100 * a->confidence, a->claim.epsilon);
    if (isfinite(a->replay_epsilon) &&
        a->replay_epsilon > a->claim.epsilon * (1 + TACIT__JUDGE_TOL))
        tacit__judge_add_reason(
            f,
            "by replay: with the declared noise, a pair of users can be distinguished at epsilon "
            "%.4g, and the claim is %g",
            a->replay_epsilon, a->claim.epsilon);
}

/* The strongest evidence comes first: the replay, then the noise, and last the trials, which are often
 * few. */
static void conclude_passed(tacit__audit_result *f, double share)
{
    const tacit_audit *a = &f->face;
    char noise[80] = "", found[80] = "only noise that is more than 16 times too small";
    if (a->draws > 0)
        (void)snprintf(noise, sizeof noise, ", and %.3g draws of noise have the declared size",
                       a->draws);
    if (!isinf(a->detectable))
        (void)snprintf(found, sizeof found, "noise that is %.3g times too small", a->detectable);
    tacit__judge_add_reason(
        f,
        "no neighbor moved the releases by more than is declared (the worst by %.3f of it)%s; the "
        "trials prove epsilon %.3g of the claimed %g, and alone would find %s. This is evidence, "
        "not proof",
        share, noise, a->epsilon, a->claim.epsilon, found);
}

void tacit__judge_conclude(tacit__audit_result *f)
{
    TACIT__REQUIRE(f->face.claim.epsilon >= 0);
    tacit_audit *a = &f->face;
    if (f->words[0] != '\0') {
        a->verdict = TACIT_AUDIT_VIOLATED;
        return;
    }
    double share = fmax(a->share, a->share_elsewhere);
    if (share < TACIT_AUDIT_ENOUGH) {
        a->verdict = TACIT_AUDIT_INCONCLUSIVE;
        tacit__judge_add_reason(
            f,
            "nothing was found, but the search reached only %.2g of the declared %s: either "
            "what is declared has room, or the worst users were not found. Noise that is "
            "%.3g times as large as it should be could have passed",
            share, a->law == TACIT_LAW_GAUSSIAN ? "mu" : "epsilon", share);
        return;
    }
    bool hopeless =
        a->ceiling <= a->claim.epsilon && isinf(a->detectable); /* even without any noise */
    a->verdict = hopeless ? TACIT_AUDIT_TOO_FEW : TACIT_AUDIT_PASSED;
    if (hopeless)
        tacit__judge_add_reason(
            f,
            "nothing was found, but %llu trials cannot prove more than epsilon %.3g whatever "
            "the mechanism does, and the claim is %g: only record and replay counts here",
            (unsigned long long)a->trials, a->ceiling, a->claim.epsilon);
    else
        conclude_passed(f, share);
}

void tacit__judge_add_caveat(tacit__audit_result *f, const char *caveat)
{
    size_t used = strlen(f->words);
    if (used > 0)
        (void)snprintf(f->words + used, sizeof f->words - used, "%s", caveat);
}

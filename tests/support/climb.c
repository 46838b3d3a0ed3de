#include "support/climb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gcc says so by a macro, clang by a feature. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

double climb_patience(void)
{
#ifdef SANITIZED
    return 0.1; /* all gates within a minute: a stated choice */
#else
    return 1;
#endif
}

static double climb_once(const climb_problem *p, const climb_effort *e, size_t restart,
                         uint64_t *seed, void *here, void *trial)
{
    const size_t moves = (size_t)((double)e->moves * climb_patience());
    p->begin(p->context, restart, seed, here);
    double value = p->value(p->context, here);
    for (size_t i = 0; i < moves && value < e->enough; i++) {
        memcpy(trial, here, p->size);
        p->move(p->context, seed, trial);
        double there = p->value(p->context, trial);
        if (there >= value) {
            memcpy(here, trial, p->size);
            value = there;
        }
    }
    return value;
}

double climb(const climb_problem *p, const climb_effort *e, void *best)
{
    uint8_t *points = malloc(2 * p->size);
    uint64_t seed = e->seed;
    double highest = -1;
    if (points == NULL) {
        fprintf(stderr, "climb: out of memory\n");
        abort();
    }
    for (size_t r = 0; r < e->restarts && highest < e->enough; r++) {
        double value = climb_once(p, e, r, &seed, points, points + p->size);
        if (value > highest) {
            highest = value;
            memcpy(best, points, p->size);
        }
    }
    free(points);
    return highest;
}

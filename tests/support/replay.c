#include "support/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char name[64];
    uint64_t step;
    size_t offset, n;
    tacit_law law;
    double scale, lattice;
    int64_t *exact, *released;
} entry;

struct tape {
    entry *entries;
    size_t length, capacity, played;
    bool same_calls;
    long double mu_square, epsilon;
};

static void *check(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "replay: out of memory\n");
        abort();
    }
    return p;
}

static int64_t *copy(const int64_t *x, size_t n)
{
    int64_t *y = check(malloc(n * sizeof *y));
    memcpy(y, x, n * sizeof *y);
    return y;
}

tape *tape_create(void)
{
    return check(calloc(1, sizeof(tape)));
}

void tape_destroy(tape *t)
{
    for (size_t i = 0; i < t->length; i++) {
        free(t->entries[i].exact);
        free(t->entries[i].released);
    }
    free(t->entries);
    free(t);
}

static void record(void *context, const tacit__passage *p)
{
    tape *t = context;
    if (t->length == t->capacity) {
        t->capacity = 2 * t->capacity + 16;
        t->entries = check(realloc(t->entries, t->capacity * sizeof *t->entries));
    }
    entry *e = &t->entries[t->length++];
    *e = (entry){.step = p->step,
                 .offset = p->offset,
                 .n = p->n,
                 .law = p->law,
                 .scale = p->scale,
                 .lattice = p->lattice,
                 .exact = copy(p->exact, p->n),
                 .released = copy(p->released, p->n)};
    snprintf(e->name, sizeof e->name, "%s", p->release->name);
}

static void replay(void *context, const tacit__passage *p)
{
    tape *t = context;
    if (t->played == t->length) {
        t->same_calls = false;
        return;
    }
    const entry *e = &t->entries[t->played++];
    if (strcmp(e->name, p->release->name) != 0 || e->step != p->step || e->offset != p->offset ||
        e->n != p->n || e->law != p->law || e->scale != p->scale || e->lattice != p->lattice) {
        t->same_calls = false;
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        long double move =
            fabsl((long double)p->exact[i] - (long double)e->exact[i]) / (long double)e->scale;
        t->mu_square += move * move;
        t->epsilon += move;
    }
    memcpy(p->released, e->released, p->n * sizeof *p->released);
}

void tape_record(tape *t, tacit_ledger *ledger)
{
    tacit__ledger_set_recorder(ledger, record, t);
}

void tape_replay(tape *t, tacit_ledger *ledger)
{
    t->played = 0;
    t->same_calls = true;
    t->mu_square = t->epsilon = 0;
    tacit__ledger_set_recorder(ledger, replay, t);
}

size_t tape_length(const tape *t)
{
    return t->length;
}

tape_verdict tape_compare(const tape *t)
{
    return (tape_verdict){.same_calls = t->same_calls && t->played == t->length,
                          .mu_square = (double)t->mu_square,
                          .epsilon = (double)t->epsilon};
}

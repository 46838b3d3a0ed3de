/* See audit/tape.h. Numbers are kept in one array that grows, so that the tape of a lockstep, which is
 * cleared after every call, allocates nothing once it is warm. */
#include "audit/tape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A passage and the position of its numbers: exact, then released. */
typedef struct note {
    tacit__entry entry;
    size_t at;
} note;

struct tacit__tape {
    note *notes;
    size_t length, capacity, played;
    int64_t *numbers;
    size_t n_numbers, number_capacity;
    bool same_calls, no_memory;
    long double mu_square, epsilon;
    tacit__recorder_fn *on_record;
    tacit__replayed_fn *on_replay;
    void *record_context, *replay_context;
    char fault[240];
};

tacit_status tacit__tape_create(tacit__tape **out)
{
    TACIT__REQUIRE(out != NULL);
    *out = tacit__alloc(1, sizeof **out);
    if (*out == NULL)
        return TACIT_NO_MEMORY;
    (*out)->same_calls = true;
    return TACIT_OK;
}

void tacit__tape_destroy(tacit__tape *t)
{
    if (t == NULL)
        return;
    tacit__free(t->notes);
    tacit__free_secret(t->numbers, t->number_capacity * sizeof *t->numbers);
    tacit__free(t);
}

/* Room for one more passage of n numbers. */
static bool grow(tacit__tape *t, size_t n)
{
    if (t->length == t->capacity) {
        size_t capacity = 2 * t->capacity + 16;
        note *notes = tacit__alloc(capacity, sizeof *notes);
        if (notes == NULL)
            return false;
        if (t->length > 0)
            memcpy(notes, t->notes, t->length * sizeof *notes);
        tacit__free(t->notes);
        t->notes = notes;
        t->capacity = capacity;
    }
    if (t->number_capacity - t->n_numbers < 2 * n) {
        size_t capacity = 2 * t->number_capacity + 2 * n + 256;
        int64_t *numbers = tacit__alloc(capacity, sizeof *numbers);
        if (numbers == NULL)
            return false;
        if (t->n_numbers > 0)
            memcpy(numbers, t->numbers, t->n_numbers * sizeof *numbers);
        tacit__free_secret(t->numbers, t->number_capacity * sizeof *t->numbers);
        t->numbers = numbers;
        t->number_capacity = capacity;
    }
    return true;
}

static void record(void *context, const tacit__passage *p)
{
    tacit__tape *t = context;
    if (t->on_record != NULL)
        t->on_record(t->record_context, p);
    if (t->no_memory || !grow(t, p->n)) {
        t->no_memory = true;
        return;
    }
    note *n = &t->notes[t->length++];
    n->entry = (tacit__entry){.step = p->step,
                              .offset = p->offset,
                              .n = p->n,
                              .dimension = p->release->dimension,
                              .law = p->law,
                              .answers = p->release->answers,
                              .scale = p->scale,
                              .lattice = p->lattice};
    size_t name = strlen(p->release->name);
    memcpy(n->entry.name, p->release->name, name < TACIT__TAPE_NAME ? name : TACIT__TAPE_NAME - 1);
    n->at = t->n_numbers;
    memcpy(t->numbers + n->at, p->exact, p->n * sizeof *p->exact);
    memcpy(t->numbers + n->at + p->n, p->released, p->n * sizeof *p->released);
    t->n_numbers += 2 * p->n;
}

static bool agrees(const tacit__entry *e, const tacit__passage *p)
{
    return strncmp(e->name, p->release->name, TACIT__TAPE_NAME - 1) == 0 && e->step == p->step &&
           e->offset == p->offset && e->n == p->n && e->law == p->law && e->scale == p->scale &&
           e->lattice == p->lattice;
}

static void add_fault(tacit__tape *t, const tacit__passage *p, const char *what)
{
    t->same_calls = false;
    if (t->fault[0] == '\0')
        (void)snprintf(t->fault, sizeof t->fault, "release '%.60s', step %llu: %s",
                       p->release->name, (unsigned long long)p->step + 1, what);
}

static void replay(void *context, const tacit__passage *p)
{
    tacit__tape *t = context;
    if (t->played == t->length) {
        add_fault(t, p, "passes the door for one user's data and not for another's");
        return;
    }
    note *n = &t->notes[t->played++];
    tacit__entry *e = &n->entry;
    if (!agrees(e, p)) {
        add_fault(t, p, "its place, size or noise depends on a user's data");
        return;
    }
    e->exact = t->numbers + n->at;
    e->released = e->exact + p->n;
    long double square = 0, sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->exact[i] == e->exact[i])
            continue;
        const long double move =
            tacit__tape_move(e->law, p->exact[i], e->exact[i]) / (long double)e->scale;
        square += move * move;
        sum += move;
    }
    t->mu_square += square;
    t->epsilon += sum;
    if (t->on_replay != NULL)
        t->on_replay(t->replay_context, e, p);
    memcpy(p->released, e->released, p->n * sizeof *p->released);
}

void tacit__tape_record(tacit__tape *t, tacit_ledger *ledger)
{
    TACIT__REQUIRE(ledger != NULL);
    tacit__ledger_set_recorder(ledger, record, t);
}

void tacit__tape_replay(tacit__tape *t, tacit_ledger *ledger)
{
    TACIT__REQUIRE(ledger != NULL);
    t->played = 0;
    t->same_calls = true;
    t->mu_square = t->epsilon = 0;
    tacit__ledger_set_recorder(ledger, replay, t);
}

void tacit__tape_on_record(tacit__tape *t, tacit__recorder_fn *fn, void *context)
{
    t->on_record = fn;
    t->record_context = context;
}

void tacit__tape_on_replay(tacit__tape *t, tacit__replayed_fn *fn, void *context)
{
    t->on_replay = fn;
    t->replay_context = context;
}

void tacit__tape_clear(tacit__tape *t)
{
    if (t->played != t->length) {
        t->same_calls = false;
        if (t->fault[0] == '\0')
            (void)snprintf(t->fault, sizeof t->fault,
                           "release '%s', step %llu: passes the door for one user's data and not "
                           "for another's",
                           t->notes[t->played].entry.name,
                           (unsigned long long)t->notes[t->played].entry.step + 1);
    }
    t->length = t->played = t->n_numbers = 0;
}

size_t tacit__tape_length(const tacit__tape *t)
{
    return t->length;
}

tacit__verdict tacit__tape_verdict(const tacit__tape *t)
{
    return (tacit__verdict){.same_calls = t->same_calls && t->played == t->length,
                            .no_memory = t->no_memory,
                            .mu_square = (double)t->mu_square,
                            .epsilon = (double)t->epsilon,
                            .fault = t->fault};
}

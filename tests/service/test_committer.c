/* The committer's turns: what somebody waits for goes first, and what is bulky goes one at a time, but goes. */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve/committer.h"
#include "support/check.h"

enum { SMALL = 6, BULKY = 3, ALL = SMALL + BULKY };

static const uint8_t master[TACIT__KEY_BYTES] = "a key for a store of no account";

typedef struct place {
    char directory[64], path[80];
    tacit__vault *vault;
    tacit__committer *committer;
} place;

static void open_place(place *p)
{
    tacit_error err = {0};
    (void)snprintf(p->directory, sizeof p->directory, "%s/tacit-committer-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(p->directory));
    (void)snprintf(p->path, sizeof p->path, "%s/v.db", p->directory);
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, master, &p->vault, &err));
    assert_ok(tacit__committer_create(p->vault, NULL, &p->committer, &err));
}

static void close_place(place *p)
{
    tacit__committer_destroy(p->committer);
    tacit__vault_close(p->vault);
    assert_shell("rm -rf '%s'", p->directory);
}

/* A job that holds the committer up until it may go on. */
typedef struct gate {
    tacit__job job;
    sem_t entered, open;
} gate;

static tacit_status pass(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    gate *g = (gate *)job;
    (void)vault, (void)err;
    (void)sem_post(&g->entered);
    (void)sem_wait(&g->open);
    return TACIT_OK;
}

static void nothing(tacit__job *job, tacit_status status)
{
    (void)job, (void)status;
}

/* A job that notes the transaction that it was in. */
typedef struct noted {
    tacit__job job;
    const tacit__committer *committer;
    uint64_t transaction;
    sem_t *done;
} noted;

static tacit_status note(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    noted *n = (noted *)job;
    (void)vault, (void)err;
    n->transaction = tacit__committer_figures_of(n->committer).commits;
    return TACIT_OK;
}

static void finish(tacit__job *job, tacit_status status)
{
    if (status == TACIT_OK)
        (void)sem_post(((noted *)job)->done);
}

TEST(bulky_jobs_take_turns_with_others)
{
    SCOPED_BY(close_place) place p;
    gate first = {.job = {.apply = pass, .done = nothing}}, second = first;
    noted jobs[ALL];
    sem_t done;
    open_place(&p);
    gate *gates[] = {&first, &second};
    (void)sem_init(&done, 0, 0);
    for (int i = 0; i < 2; i++) {
        (void)sem_init(&gates[i]->entered, 0, 0);
        (void)sem_init(&gates[i]->open, 0, 0);
    }
    for (int i = 0; i < ALL; i++)
        jobs[i] = (noted){.job = {.apply = note, .done = finish, .bulk = i < BULKY},
                          .committer = p.committer,
                          .done = &done};
    tacit__committer_post(p.committer, &first.job);
    (void)sem_wait(&first.entered);
    for (int i = 0; i < ALL - 1; i++) /* the bulky ones were there first */
        tacit__committer_post(p.committer, &jobs[i].job);
    tacit__committer_post(p.committer, &second.job); /* with which the last one comes */
    (void)sem_post(&first.open);
    (void)sem_wait(&second.entered);
    tacit__committer_post(p.committer, &jobs[ALL - 1].job);
    (void)sem_post(&second.open);
    for (int i = 0; i < ALL; i++)
        (void)sem_wait(&done);
    const uint64_t start = jobs[BULKY].transaction;
    for (int i = BULKY; i < ALL - 1;
         i++) /* all that waited, at once, though the bulky were before them */
        assert_true(jobs[i].transaction == start);
    assert_true(jobs[0].transaction == start); /* and one of those */
    assert_true(jobs[ALL - 1].transaction == start + 1 && jobs[1].transaction == start + 2);
    assert_true(jobs[2].transaction == start + 3);
}

#include "support/replay.h"

#include <stdio.h>
#include <stdlib.h>

static void require(bool there)
{
    if (!there) {
        fprintf(stderr, "replay: out of memory\n");
        abort();
    }
}

tape *tape_create(void)
{
    tape *t = NULL;
    require(tacit__tape_create(&t) == TACIT_OK);
    return t;
}

void tape_destroy(tape *t)
{
    tacit__tape_destroy(t);
}

void tape_record(tape *t, tacit_ledger *ledger)
{
    tacit__tape_record(t, ledger);
}

void tape_replay(tape *t, tacit_ledger *ledger)
{
    tacit__tape_replay(t, ledger);
}

size_t tape_length(const tape *t)
{
    return tacit__tape_length(t);
}

tape_verdict tape_compare(const tape *t)
{
    tacit__verdict v = tacit__tape_verdict(t);
    require(!v.no_memory);
    return (tape_verdict){
        .same_calls = v.same_calls, .mu_square = v.mu_square, .epsilon = v.epsilon};
}

#include "store_fill.h"

#include "base/memory.h"
#include "harness.h"

enum { GROUP = 1000 }; /* inputs that wait for the state */

/* Counts all inputs that there are as users of the state. */
static void pass_inputs(tacit__vault *vault, tacit__vault_learner *row)
{
    uint8_t key[TACIT__VAULT_KEY], *data = NULL;
    size_t size = 1;
    while (size > 0) {
        tacit_error err = {0};
        int64_t number = 0;
        bench_check(
            tacit__vault_next_input(vault, row->id, row->taken, &number, key, &data, &size, &err),
            &err);
        if (size > 0) {
            tacit__free_secret(data, size);
            row->taken = number;
            row->users++;
        }
    }
}

void bench_fill_store(tacit__vault *vault, const char *learner, uint64_t n)
{
    tacit__vault_learner row;
    tacit_error err = {0};
    uint8_t *state;
    size_t size;
    bool found;
    bench_check(tacit__vault_find_learner(vault, learner, &found, &row, &state, &size, &err), &err);
    if (!found)
        bench_die("the store has no such learner");
    bench_check(tacit__vault_begin(vault, &err), &err);
    for (uint64_t i = 1; i <= n; i++) { /* names that were seen, and people who took part */
        uint8_t name[TACIT__VAULT_KEY] = {0};
        tacit__vault_answer answer;
        memcpy(name, &i, sizeof i);
        bench_check(tacit__vault_add_user(vault, row.id, name, name, NULL, "x", 1, &answer, &err),
                    &err);
        if (answer != TACIT__VAULT_TAKEN)
            bench_die("the store takes no more users");
        if (i % GROUP == 0 || i == n) {
            pass_inputs(vault, &row);
            bench_check(tacit__vault_save_learner(vault, &row, state, size, NULL, 0, &err), &err);
        }
    }
    tacit__free_secret(state, size);
    bench_check(tacit__vault_commit(vault, &err), &err);
}

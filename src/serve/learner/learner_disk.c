/* What a learner writes to disk, and when: what it publishes, and checkpoints. See serve/learner/learner.h;
 * docs/why/service.md has the argument.
 *
 * After every batch the learner writes a small record: the ledger, the number of users behind the billboard,
 * points of the curves. Then it publishes the billboard. The inputs on disk are the journal: an earlier state
 * and the inputs since then give the same numbers again. A checkpoint writes the state, after which those
 * inputs are removed. A state of up to SMALL bytes is written together with the record, in one transaction.
 * A larger one is written when the time since the last checkpoint is SPARSE times what that one took, so
 * checkpoints take at most a twentieth of the time. It is written no later than LONGEST_MS after the first
 * user who is not in the last checkpoint, and when the learner stops. It goes to disk in parts, so no other
 * writer waits for all of it. */
#include <math.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "serve/learner/learner_inside.h"

enum {
    MAX_LINES = 64,
    SMALL = 1 << 16, /* bytes that take no longer to write than the sync that follows */
    SPARSE = 20,
    LONGEST_MS = 2000,
    DROPPED = 1 << 20 /* bytes of inputs that are removed in one transaction */
};

/* --- The curves --------------------------------------------------------------------------------- */

/* Points of the history are every user at first, then steps of 2 %. */
uint64_t tacit__learner_point_after(uint64_t users)
{
    uint64_t point = 1;
    while (point <= users && point <= UINT64_MAX / 2) /* users may be anything in a damaged store */
        point += point / 50 + 1;
    return point;
}

tacit_status tacit__learner_record_history(tacit__learner *l, tacit_error *err)
{
    TACIT__REQUIRE(l->n_points < TACIT__LEARNER_POINTS);
    if (l->row.users < l->next_point && l->row.users < l->row.limit)
        return TACIT_OK;
    tacit_billboard board;
    TRY(tacit_agent_billboard(l->agent, &board, err));
    tacit__vault_point *point = &l->points[l->n_points++];
    *point = (tacit__vault_point){l->row.users, board.version, (double)NAN, (double)NAN};
    if (l->monitor != NULL)
        tacit__monitor_read(l->monitor, &point->reward, &point->error);
    l->next_point = tacit__learner_point_after(l->row.users);
    return TACIT_OK;
}

/* --- Showing ------------------------------------------------------------------------------------ */

typedef struct showing {
    tacit__job job;
    tacit__learner *learner;
    bool keep; /* the state, too */
    tacit__vault_ledger_line lines[MAX_LINES];
    size_t n_lines;
} showing;

static void add_lines(showing *k, const tacit_ledger *ledger)
{
    if (ledger == NULL)
        return;
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    for (size_t i = 0; i < tacit_plan_size(plan) && k->n_lines < MAX_LINES; i++)
        k->lines[k->n_lines++] =
            (tacit__vault_ledger_line){.release = tacit_plan_release(plan, i)->name,
                                       .declared = tacit_plan_release(plan, i)->steps,
                                       .passed = tacit_ledger_passed(ledger, i)};
}

static tacit_status apply_showing(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    showing *k = (showing *)job;
    tacit__learner *l = k->learner;
    TRY(tacit__vault_check_lease(vault, &l->row, err));
    tacit_status status = k->keep
                              ? tacit__vault_save_learner(vault, &l->row, l->state, l->state_size,
                                                          k->lines, k->n_lines, err)
                              : tacit__vault_save_shown(vault, &l->row, k->lines, k->n_lines, err);
    for (size_t i = 0; status == TACIT_OK && i < l->n_points; i++)
        status = tacit__vault_add_point(vault, l->row.id, &l->points[i], err);
    return status;
}

/* A small state is written together with what is published. */
static tacit_status save_if_small(tacit__learner *l, bool *small, tacit_error *err)
{
    size_t size = 0;
    tacit_status status = tacit__learner_state_size(l, &size, err);
    *small = size <= SMALL;
    return status == TACIT_OK && *small ? tacit__learner_save(l, err) : status;
}

tacit_status tacit__learner_save_and_publish(tacit__learner *l, tacit_error *err)
{
    TACIT__REQUIRE(l->committer != NULL);
    tacit__board *board = NULL;
    showing k = {.job = {.apply = apply_showing}, .learner = l};
    tacit_status status = tacit__learner_make_board(l, &board, err);
    if (status == TACIT_OK)
        status = save_if_small(l, &k.keep, err);
    if (status != TACIT_OK) {
        tacit__board_release(board);
        return status;
    }
    l->row.version = tacit__board_view(board)->version;
    l->row.shown = l->row.users;
    add_lines(&k, tacit__agent_ledger(l->agent));
    if (l->monitor != NULL)
        add_lines(&k, tacit__monitor_ledger(l->monitor));
    status = tacit__committer_wait(l->committer, &k.job);
    if (status != TACIT_OK) {
        tacit__board_release(board);
        return tacit__fail(err, status, "the store could not be written");
    }
    if (k.keep) {
        l->kept = l->row.users;
        l->row.dropped = l->row.taken;
    }
    l->n_points = 0;
    l->news = false;
    tacit__learner_publish(l, board);
    return TACIT_OK;
}

/* --- Checkpoints -------------------------------------------------------------------------------- */

double tacit__learner_checkpoint_due(const tacit__learner *l)
{
    return l->kept == l->row.users
               ? HUGE_VAL
               : fmin(l->kept_at + SPARSE * l->keep_cost, l->unkept_since + LONGEST_MS);
}

/* One transaction of a checkpoint: a part, or the flip. */
typedef struct keeping {
    tacit__job job;
    tacit__learner *learner;
    tacit__edition edition;
    bool flip;
} keeping;

static tacit_status apply_keeping(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    const keeping *k = (const keeping *)job;
    const tacit__vault_learner *row = &k->learner->row;
    TRY(tacit__vault_check_lease(vault, row, err));
    return k->flip ? tacit__vault_checkpoint(vault, row, &k->edition, err)
                   : tacit__vault_write_part(vault, row->id, &k->edition, err);
}

tacit_status tacit__learner_checkpoint(tacit__learner *l, tacit_error *err)
{
    TACIT__REQUIRE(l->row.shown == l->row.users); /* all that was taken is on the board */
    const double start = tacit__now_ms();
    keeping k = {.job = {.apply = apply_keeping, .bulk = true}, .learner = l};
    TRY(tacit__learner_save(l, err));
    TRY(tacit__edition_open(&k.edition, l->state, l->state_size, err));
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK &&
           tacit__edition_next(&k.edition)) /* sealed here, not by the committer */
        status = tacit__committer_wait(l->committer, &k.job);
    k.flip = true;
    if (status == TACIT_OK)
        status = tacit__committer_wait(l->committer, &k.job);
    tacit__edition_close(&k.edition);
    if (status != TACIT_OK)
        return tacit__fail(err, status, "the store could not be written");
    l->kept = l->row.users;
    l->kept_input = l->row.taken;
    l->has_leftover = true;
    l->kept_at = tacit__now_ms();
    l->keep_cost = l->kept_at - start;
    return TACIT_OK;
}

typedef struct dropping {
    tacit__job job;
    const tacit__learner *learner;
    bool more;
} dropping;

static tacit_status apply_dropping(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    dropping *d = (dropping *)job;
    const tacit__vault_learner *row = &d->learner->row;
    TRY(tacit__vault_check_lease(vault, row, err));
    const size_t most = DROPPED / (d->learner->input_size + 1) + 1;
    return tacit__vault_delete_inputs(vault, row->id, row->dropped, most, &d->more, err);
}

tacit_status tacit__learner_drop_inputs(tacit__learner *l, tacit_error *err)
{
    TACIT__REQUIRE(l->has_leftover && l->kept <= l->row.users);
    dropping d = {.job = {.apply = apply_dropping, .bulk = true}, .learner = l, .more = true};
    const double start = tacit__now_ms();
    tacit_status status = TACIT_OK;
    while (d.more && status == TACIT_OK)
        status = tacit__committer_wait(l->committer, &d.job);
    if (status != TACIT_OK)
        return tacit__fail(err, status, "the store could not be written");
    l->has_leftover = false;
    l->row.dropped = l->kept_input;
    l->kept_at = tacit__now_ms();
    l->keep_cost += l->kept_at - start; /* a part of the checkpoint's */
    return TACIT_OK;
}

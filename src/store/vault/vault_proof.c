/* Proofs: keyed hashes that bind the parts of a vault together. See store/vault/vault_inside.h.
 *
 * Counters, marks and the ledger are not secret, so they are not sealed. But if a person who can write to the
 * file, or a failing disk, raises a limit, hides releases, puts an older state under newer counters, or makes
 * a copy look like an original, the service must notice. So there is a keyed hash for each learner: over its
 * row, its lines of the ledger and, through its tag, its state. One more hash covers the facts in `meta`, the
 * adoptions and the proofs of all learners, so that none of these can be restored alone. Every transaction
 * that changes any of this computes the hashes again, as its last step. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"
#include "text/json_text.h"

static void append_bytes(tacit__column_type type, const char *bytes, size_t size, tacit__text *out)
{
    tacit__text_count(out, (uint64_t)type);
    tacit__text_put(out, " ");
    tacit__text_count(out, size);
    tacit__text_put(out, " ");
    tacit__text_add(out, bytes != NULL ? bytes : "", size);
}

static void append_cell(tacit__cursor *s, int i, tacit__text *out)
{
    size_t size;
    char number[24];
    const char *bytes = tacit__cursor_bytes(s, i, &size);
    if (tacit__cursor_type(s, i) == TACIT__COLUMN_INTEGER) {
        size = (size_t)snprintf(number, sizeof number, "%lld", (long long)tacit__cursor_int(s, i));
        bytes = number;
    }
    append_bytes(tacit__cursor_type(s, i), bytes, size, out);
}

/* Appends a row, every column as type, size and bytes. */
static tacit_status append_row(void *context, tacit__cursor *row, tacit_error *err)
{
    (void)err;
    tacit__text *out = context;
    for (int i = 0; i < tacit__cursor_columns(row); i++)
        append_cell(row, i, out);
    tacit__text_put(out, ";");
    return TACIT_OK;
}

#define PROVE                                                                                      \
    "SELECT name, fingerprint, users_limit, accepted, users, refused, version, taken,"             \
    " shown, edition, tag, visits, apart, named, epoch FROM learner WHERE id=?"
#define PROVE_LINES "SELECT release, declared, passed FROM ledger WHERE learner=? ORDER BY release"
#define PROVE_META                                                                                 \
    "SELECT name, value FROM meta WHERE name IN ('check', 'behind', 'copy', 'generation', 'gone'," \
    " 'identity', 'lives', 'owner', 'place', 'promise', 'secrets', 'unmarked', 'unsafe')"          \
    " OR substr(name, 1, 5) = 'warm:' ORDER BY name"
#define PROVE_ADOPTIONS "SELECT number, at, learner, users, lives FROM adoption ORDER BY number"
#define PROVE_PROOFS "SELECT id, proof FROM learner ORDER BY id"

/* What is proved of a learner; the tag stands for the state. */
typedef struct proved {
    tacit__text row, lines;
} proved;

static tacit_status ask_proved(tacit__vault *vault, int64_t learner, proved *out, tacit_error *err)
{
    TRY(tacit__connection_ask(vault->db, SQL_PROVE, PROVE, append_row, &out->row, err, "i",
                              learner));
    return tacit__connection_ask(vault->db, SQL_PROVE_LINES, PROVE_LINES, append_row, &out->lines,
                                 err, "i", learner);
}

/* Makes the proof of a learner. Returns false if there is no memory. */
static bool make_proof(const tacit__vault *vault, const proved *of,
                       uint8_t proof[TACIT__PROOF_BYTES])
{
    tacit__text all = {0};
    tacit__text_add(&all, of->row.data, of->row.length);
    tacit__text_put(&all, ".");
    tacit__text_add(&all, of->lines.data, of->lines.length);
    tacit__text_put(&all, ".");
    const bool good = !all.failed && !of->row.failed && !of->lines.failed;
    if (good)
        tacit__keyed_hash(vault->key_proof, all.data, all.length, proof, TACIT__PROOF_BYTES);
    tacit__text_destroy(&all);
    return good;
}

static void free_proved(proved *of)
{
    tacit__text_destroy(&of->row);
    tacit__text_destroy(&of->lines);
}

/* Ends the questions of a function whose texts go out of scope. */
static tacit_status end_questions(tacit__vault *vault, tacit_status status)
{
    if (status != TACIT_OK)
        tacit__connection_reset_all(vault->db);
    return status;
}

static tacit_status prove_one(tacit__vault *vault, int64_t learner,
                              uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    proved of = {0};
    tacit_status status = ask_proved(vault, learner, &of, err);
    if (status == TACIT_OK)
        status = tacit__connection_await(vault->db, err);
    if (end_questions(vault, status) == TACIT_OK && !make_proof(vault, &of, proof))
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    free_proved(&of);
    return status;
}

static tacit_status set_proof(tacit__vault *vault, int64_t learner,
                              const uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    return tacit__connection_write(vault->db, SQL_SET_PROOF,
                                   "UPDATE learner SET proof=? WHERE id=?", err, "bi", proof,
                                   (size_t)TACIT__PROOF_BYTES, learner);
}

static tacit_status write_proof(tacit__vault *vault, int64_t learner, tacit_error *err)
{
    uint8_t proof[TACIT__PROOF_BYTES];
    TRY(prove_one(vault, learner, proof, err));
    return set_proof(vault, learner, proof, err);
}

/* What is proved of a whole store, and the proofs of learners that are not in their rows yet. */
typedef struct whole {
    tacit__text meta, adoptions, proofs;
    size_t n;
    const int64_t *learners;
    proved of[TACIT__VAULT_TOUCHED];
    uint8_t fresh[TACIT__VAULT_TOUCHED][TACIT__PROOF_BYTES];
} whole;

static tacit_status ask_whole(tacit__vault *vault, whole *w, tacit_error *err)
{
    for (size_t i = 0; i < w->n; i++)
        TRY(ask_proved(vault, w->learners[i], &w->of[i], err));
    TRY(tacit__connection_ask(vault->db, SQL_PROVE_META, PROVE_META, append_row, &w->meta, err,
                              ""));
    return tacit__connection_ask(vault->db, SQL_PROVE_ADOPTIONS, PROVE_ADOPTIONS, append_row,
                                 &w->adoptions, err, "");
}

/* Appends the proofs of all learners, those that are not in their rows yet in place of those that are. */
static tacit_status read_proofs(tacit__vault *vault, whole *w, tacit_error *err)
{
    tacit__cursor *s;
    bool more;
    TRY(tacit__connection_prepare(vault->db, SQL_PROVE_PROOFS, PROVE_PROOFS, &s, err));
    TRY(tacit__cursor_next(s, &more, err)); /* everything that was asked before is there now */
    for (size_t i = 0; i < w->n; i++)
        if (!make_proof(vault, &w->of[i], w->fresh[i]))
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
    while (more) {
        size_t i = 0;
        while (i < w->n && w->learners[i] != tacit__cursor_int(s, 0))
            i++;
        append_cell(s, 0, &w->proofs);
        if (i < w->n)
            append_bytes(TACIT__COLUMN_BYTES, (const char *)w->fresh[i], TACIT__PROOF_BYTES,
                         &w->proofs);
        else
            append_cell(s, 1, &w->proofs);
        tacit__text_put(&w->proofs, ";");
        TRY(tacit__cursor_next(s, &more, err));
    }
    return TACIT_OK;
}

/* Makes the proof of the whole store, which covers what the proofs of the rows do not. */
static tacit_status make_whole_proof(tacit__vault *vault, whole *w,
                                     uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    enum { PARTS = 3 };
    const tacit__text *const parts[PARTS] = {&w->meta, &w->adoptions, &w->proofs};
    tacit__text all = {0};
    tacit_status status = ask_whole(vault, w, err);
    if (status == TACIT_OK)
        status = read_proofs(vault, w, err);
    for (size_t i = 0; i < PARTS; i++) {
        tacit__text_add(&all, parts[i]->data, parts[i]->length);
        tacit__text_put(&all, ".");
        all.failed = all.failed || parts[i]->failed;
    }
    if (end_questions(vault, status) == TACIT_OK && all.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        tacit__keyed_hash(vault->key_proof, all.data, all.length, proof, TACIT__PROOF_BYTES);
    tacit__text_destroy(&all);
    return status;
}

static void free_whole(whole *w)
{
    for (size_t i = 0; w != NULL && i < w->n; i++)
        free_proved(&w->of[i]);
    if (w != NULL) {
        tacit__text_destroy(&w->meta);
        tacit__text_destroy(&w->adoptions);
        tacit__text_destroy(&w->proofs);
    }
    tacit__free(w);
}

tacit_status tacit__vault_prove_all(tacit__vault *vault, tacit_error *err)
{
    TACIT__REQUIRE(vault->n_touched <= TACIT__VAULT_TOUCHED);
    _Static_assert(sizeof vault->last_proof == TACIT__PROOF_BYTES, "room for a proof");
    uint8_t proof[TACIT__PROOF_BYTES];
    if (vault->n_terms > 0)
        TRY(tacit__vault_write_terms(vault, err));
    whole *w = tacit__alloc(1, sizeof *w);
    if (w == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    w->n = vault->n_touched;
    w->learners = vault->touched;
    tacit_status status = make_whole_proof(vault, w, proof, err);
    for (size_t i = 0; i < w->n && status == TACIT_OK; i++)
        status = set_proof(vault, w->learners[i], w->fresh[i], err);
    free_whole(w);
    if (status == TACIT_OK)
        status = tacit__vault_set_fact(vault, "proof", proof, sizeof proof, err);
    if (status != TACIT_OK)
        return status;
    vault->n_touched = 0;
    memcpy(vault->last_proof, proof, sizeof proof);
    return TACIT_OK;
}

tacit_status tacit__vault_prove(tacit__vault *vault, int64_t learner, tacit_error *err)
{
    TACIT__REQUIRE(learner > 0);
    tacit_status status = TACIT_OK;
    bool known = false;
    for (size_t i = 0; i < vault->n_touched; i++)
        known = known || vault->touched[i] == learner;
    if (!known && vault->n_touched == TACIT__VAULT_TOUCHED) {
        TRY(tacit__vault_write_terms(vault, err)); /* a proof is of what is written */
        status = write_proof(vault, vault->touched[--vault->n_touched], err);
    }
    if (!known && status == TACIT_OK)
        vault->touched[vault->n_touched++] = learner;
    if (status == TACIT_OK && !tacit__connection_in_transaction(vault->db))
        status = tacit__vault_prove_all(vault, err);
    return status;
}

tacit_status tacit__vault_check_proof(tacit__vault *vault, int64_t learner, tacit_error *err)
{
    uint8_t proof[TACIT__PROOF_BYTES];
    tacit__cursor *s;
    bool found;
    TRY(prove_one(vault, learner, proof, err));
    TRY(tacit__connection_prepare(vault->db, SQL_PROOF, "SELECT proof FROM learner WHERE id=?", &s,
                                  err));
    tacit__cursor_bind_int(s, 1, learner);
    TRY(tacit__cursor_next(s, &found, err));
    tacit_status status = TACIT_OK;
    size_t size = 0;
    const void *kept = found ? tacit__cursor_bytes(s, 0, &size) : NULL;
    if (size != sizeof proof || !tacit__same_bytes(proof, kept, size))
        status = tacit__fail(err, TACIT_CORRUPT,
                             "%.200s: the state, the counters and the ledger of a learner do not "
                             "match: something was changed",
                             vault->path);
    tacit__cursor_reset(s);
    return status;
}

static tacit_status compare_facts(tacit__vault *vault, tacit_error *err)
{
    uint8_t proof[TACIT__PROOF_BYTES];
    tacit__cursor *s;
    whole *w = tacit__alloc(1, sizeof *w);
    tacit_status status = w != NULL ? make_whole_proof(vault, w, proof, err)
                                    : tacit__fail_plain(err, TACIT_NO_MEMORY);
    free_whole(w);
    if (status != TACIT_OK)
        return status;
    TRY(tacit__vault_prepare(vault, "SELECT value FROM meta WHERE name='proof'", &s, err));
    bool found;
    status = tacit__cursor_next(s, &found, err);
    size_t size = 0;
    const void *kept = found ? tacit__cursor_bytes(s, 0, &size) : NULL;
    if (status == TACIT_OK && (size != sizeof proof || !tacit__same_bytes(proof, kept, size)))
        status =
            tacit__fail(err, TACIT_CORRUPT,
                        "%.200s: facts about the store were changed: whether it is a copy, how "
                        "far it has come, or which learners it has",
                        vault->path);
    tacit__cursor_close(s);
    return status;
}

tacit_status tacit__vault_check_facts(tacit__vault *vault, tacit_error *err)
{
    /* one snapshot of rows and proof, while another connection writes */
    bool alone;
    TRY(tacit__vault_begin_snapshot(vault, &alone, err));
    tacit_status status = compare_facts(vault, err);
    tacit__vault_end_snapshot(vault, alone);
    return status;
}

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

/* Appends the rows of a statement, every column as type, size and bytes; ?1, if there is one, is the
 * learner. */
static tacit_status append_rows(tacit__vault *vault, int number, const char *sql, int64_t learner,
                                tacit__text *out, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__connection_prepare(vault->db, number, sql, &s, err));
    tacit_status status = TACIT_OK;
    if (tacit__cursor_parameters(s) > 0)
        tacit__cursor_bind_int(s, 1, learner);
    for (bool more = true; more && status == TACIT_OK;) {
        status = tacit__cursor_next(s, &more, err);
        for (int i = 0; more && status == TACIT_OK && i < tacit__cursor_columns(s); i++)
            append_cell(s, i, out);
        tacit__text_put(out, more ? ";" : ".");
    }
    tacit__cursor_reset(s);
    return status;
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

/* The columns that are proved. The tag stands for the state. */
static tacit_status make_proof(tacit__vault *vault, int64_t learner,
                               uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    tacit__text all = {0};
    tacit_status status = append_rows(vault, SQL_PROVE, PROVE, learner, &all, err);
    if (status == TACIT_OK)
        status = append_rows(vault, SQL_PROVE_LINES, PROVE_LINES, learner, &all, err);
    if (status == TACIT_OK && all.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        tacit__keyed_hash(vault->key_proof, all.data, all.length, proof, TACIT__PROOF_BYTES);
    tacit__text_destroy(&all);
    return status;
}

/* Proofs of learners that this transaction has changed, which are not in their rows yet. */
typedef struct fresh_proofs {
    size_t n;
    int64_t learners[TACIT__VAULT_TOUCHED];
    uint8_t proofs[TACIT__VAULT_TOUCHED][TACIT__PROOF_BYTES];
} fresh_proofs;

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
    TRY(make_proof(vault, learner, proof, err));
    return set_proof(vault, learner, proof, err);
}

/* Appends what append_rows of PROVE_PROOFS would append after the fresh proofs were written. */
static tacit_status append_proofs(tacit__vault *vault, const fresh_proofs *fresh, tacit__text *out,
                                  tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__connection_prepare(vault->db, SQL_PROVE_PROOFS, PROVE_PROOFS, &s, err));
    for (bool more = true; more;) {
        TRY(tacit__cursor_next(s, &more, err));
        size_t i = 0;
        while (more && i < fresh->n && fresh->learners[i] != tacit__cursor_int(s, 0))
            i++;
        if (more)
            append_cell(s, 0, out);
        if (more && i < fresh->n)
            append_bytes(TACIT__COLUMN_BYTES, (const char *)fresh->proofs[i], TACIT__PROOF_BYTES,
                         out);
        else if (more)
            append_cell(s, 1, out);
        tacit__text_put(out, more ? ";" : ".");
    }
    tacit__cursor_reset(s);
    return TACIT_OK;
}

/* Makes the proof of the whole store, which covers what the proofs of the rows do not. */
static tacit_status make_whole_proof(tacit__vault *vault, const fresh_proofs *fresh,
                                     uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    tacit__text all = {0};
    tacit_status status = append_rows(vault, SQL_PROVE_META, PROVE_META, 0, &all, err);
    if (status == TACIT_OK)
        status = append_rows(vault, SQL_PROVE_ADOPTIONS, PROVE_ADOPTIONS, 0, &all, err);
    if (status == TACIT_OK)
        status = append_proofs(vault, fresh, &all, err);
    if (status == TACIT_OK && all.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        tacit__keyed_hash(vault->key_proof, all.data, all.length, proof, TACIT__PROOF_BYTES);
    tacit__text_destroy(&all);
    return status;
}

/* Announces all reads at once, before a write that would invalidate them. */
static void expect_proofs(tacit__vault *vault)
{
    for (size_t i = 0; i < vault->n_touched; i++) {
        tacit__connection_expect(vault->db, SQL_PROVE, PROVE, "i", vault->touched[i]);
        tacit__connection_expect(vault->db, SQL_PROVE_LINES, PROVE_LINES, "i", vault->touched[i]);
    }
    tacit__connection_expect(vault->db, SQL_PROVE_META, PROVE_META, "");
    tacit__connection_expect(vault->db, SQL_PROVE_ADOPTIONS, PROVE_ADOPTIONS, "");
    tacit__connection_expect(vault->db, SQL_PROVE_PROOFS, PROVE_PROOFS, "");
}

tacit_status tacit__vault_prove_all(tacit__vault *vault, tacit_error *err)
{
    TACIT__REQUIRE(vault->n_touched <= TACIT__VAULT_TOUCHED);
    _Static_assert(sizeof vault->last_proof == TACIT__PROOF_BYTES, "room for a proof");
    uint8_t proof[TACIT__PROOF_BYTES];
    fresh_proofs fresh = {0};
    if (vault->n_terms > 0)
        TRY(tacit__vault_write_terms(vault, err));
    expect_proofs(vault);
    for (; fresh.n < vault->n_touched; fresh.n++) {
        fresh.learners[fresh.n] = vault->touched[fresh.n];
        TRY(make_proof(vault, fresh.learners[fresh.n], fresh.proofs[fresh.n], err));
    }
    TRY(make_whole_proof(vault, &fresh, proof, err));
    for (size_t i = 0; i < fresh.n; i++)
        TRY(set_proof(vault, fresh.learners[i], fresh.proofs[i], err));
    TRY(tacit__vault_set_fact(vault, "proof", proof, sizeof proof, err));
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
    TRY(make_proof(vault, learner, proof, err));
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
    TRY(make_whole_proof(vault, &(fresh_proofs){0}, proof, err));
    TRY(tacit__vault_prepare(vault, "SELECT value FROM meta WHERE name='proof'", &s, err));
    bool found;
    tacit_status status = tacit__cursor_next(s, &found, err);
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

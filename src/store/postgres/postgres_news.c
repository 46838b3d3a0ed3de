/* What front ends tell each other, by NOTIFY. See tacit__vault_news in store/vault/vault.h.
 *
 * Every transaction notifies; what it tells is in the text of the notification, sealed, because every role
 * that may connect to the database can listen. The server gives notifications of committed transactions
 * only, in the order of their commits, to every session that listens; who begins to listen has missed what
 * was before, and reads the store. */
#include <string.h>

#include "base/error.h"
#include "noise/seal.h"
#include "store/postgres/postgres_store.h"

/* A notification has at most 7999 bytes. 280 announcements, sealed and in base64, have 7533. */
enum { MOST = 280, ROOM = MOST * TACIT__NEWS_BYTES + (int)sizeof(uint64_t) };

static tacit_status send(tacit__vault *vault, const char *news, size_t size, tacit_error *err)
{
    uint8_t plain[ROOM], sealed[ROOM + TACIT__SEAL_BYTES];
    char text[TACIT__BASE64_SIZE(sizeof sealed)];
    const size_t whole = sizeof vault->lineage->sender + size;
    memcpy(plain, &vault->lineage->sender, sizeof vault->lineage->sender);
    memcpy(plain + sizeof vault->lineage->sender, news, size);
    tacit__seal(vault->key_input, plain, whole, sealed);
    tacit__base64_write(sealed, whole + TACIT__SEAL_BYTES, text);
    return tacit__connection_write(vault->db, SQL_PG_NOTIFY, "SELECT pg_notify('tacit', ?)", err,
                                   "t", text);
}

tacit_status tacit__pg_notify(tacit__vault *vault, tacit_error *err)
{
    const size_t most = (size_t)MOST * TACIT__NEWS_BYTES,
                 all = vault->announcements.failed ? 0 : vault->announcements.length;
    size_t at = 0;
    if (all == 0)
        return tacit__connection_write(vault->db, SQL_PG_NOTIFY, "SELECT pg_notify('tacit', ?)",
                                       err, "t", "");
    for (; at < all; at += most)
        TRY(send(vault, vault->announcements.data + at, all - at < most ? all - at : most, err));
    return TACIT_OK;
}

tacit_status tacit__pg_listen(tacit__vault *vault, tacit__vault_news *news, tacit_error *err)
{
    tacit__pg_connection *c = tacit__pg_of(vault->db);
    TRY(tacit__pg_connect(c, err));
    if (vault->lineage->session == c->sessions)
        return TACIT_OK;
    /* what this session writes is beats of leases, which need not survive */
    TRY(tacit__connection_run(vault->db, "LISTEN tacit; SET synchronous_commit = off", "read",
                              err));
    TRY(tacit__pg_join(vault, err));
    vault->lineage->session = c->sessions;
    news->missed = true;
    return TACIT_OK;
}

/* Ignores a text that is not ours, or is under another key. */
static void pass_on(const tacit__vault *vault, const tacit__vault *served, const char *text,
                    const tacit__vault_news *news)
{
    uint8_t sealed[ROOM + TACIT__SEAL_BYTES], plain[ROOM];
    uint64_t sender;
    size_t n = 0;
    if (news->receive == NULL ||
        !tacit__base64_read(text, strlen(text), sealed, sizeof sealed, &n) ||
        n < TACIT__SEAL_BYTES + sizeof sender || !tacit__unseal(vault->key_input, sealed, n, plain))
        return;
    memcpy(&sender, plain, sizeof sender);
    if (sender == served->lineage->sender)
        return;
    n -= TACIT__SEAL_BYTES;
    for (size_t at = sizeof sender; at + TACIT__NEWS_BYTES <= n; at += TACIT__NEWS_BYTES)
        news->receive(news->context, plain + at);
}

tacit_status tacit__pg_receive_news(tacit__vault *vault, const tacit__vault *served, int ms,
                                    tacit__vault_news *news, tacit_error *err)
{
    tacit__pg_connection *c = tacit__pg_of(vault->db);
    PGnotify *n = PQnotifies(c->link); /* what came with the answers to earlier statements */
    if (n == NULL && ms > 0 && tacit__pg_wait(c, ms) && PQconsumeInput(c->link) != 1) {
        tacit__pg_drop(c);
        return tacit__pg_fail(c, "reach the database", "the connection was lost", err);
    }
    for (n = n != NULL ? n : PQnotifies(c->link); n != NULL; n = PQnotifies(c->link)) {
        news->any = true;
        pass_on(vault, served, n->extra, news);
        PQfreemem(n);
    }
    return TACIT_OK;
}

/* See client/device_state.h. A state is
 *
 *     mark, version      8 bytes each
 *     terms              32 bytes: a digest of the learner's name, its request and its monitor
 *     made               8 bytes
 *     key                TACIT_CLIENT_KEY_SIZE bytes, with its NUL
 *     size, body         of the last report
 *     check              32 bytes: a digest of all of it
 *
 * with numbers low byte first. The digest detects damage and nothing else: a device is trusted with its own
 * state, and only the device itself could notice that an older state was restored. */
#include "client/device_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

static const uint64_t mark = UINT64_C(0x6563697665647463), version = 1; /* "ctdevice" */

enum {
    HEAD = 8 + 8 + TACIT__KEY_BYTES + 8 + TACIT_CLIENT_KEY_SIZE + 8, /* before the body */
    TAIL = TACIT__KEY_BYTES
};

/* The terms that reports are made under: what they cost, and how many there are of them. */
static void digest_terms(const tacit_client *c, uint8_t out[TACIT__KEY_BYTES])
{
    const tacit_client_facts *f = &c->facts;
    tacit__digest((tacit__bytes[]){{f->learner, strlen(f->learner)},
                                   {c->agent->fingerprint, sizeof c->agent->fingerprint},
                                   {&f->monitor.epsilon, sizeof f->monitor.epsilon},
                                   {&f->monitor.delta, sizeof f->monitor.delta}},
                  4, out);
}

static tacit_status fail_damaged(tacit_error *err)
{
    return tacit__fail(err, TACIT_CORRUPT,
                       "the device's state is damaged; without it the reports that were made "
                       "cannot be counted, so no more are made");
}

tacit_status tacit__client_load_state(tacit_client *c, const tacit_client_terms *terms,
                                      tacit_error *err)
{
    TACIT__REQUIRE(c->last == NULL && c->facts.made == 0);
    c->save = terms->save;
    c->save_context = terms->save_context;
    if (c->facts.visits > 1 && terms->save == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a person may report %llu times to this learner, so the device must "
                           "keep how often it has: give the terms a function `save`",
                           (unsigned long long)c->facts.visits);
    if (terms->state == NULL)
        return TACIT_OK;
    uint8_t check[TACIT__KEY_BYTES], own[TACIT__KEY_BYTES];
    const size_t size = terms->state_size;
    const uint8_t *bytes = terms->state;
    if (size < HEAD + TAIL)
        return fail_damaged(err);
    tacit__digest(&(tacit__bytes){bytes, size - TAIL}, 1, check);
    tacit__reader r = {.at = bytes, .left = size - TAIL};
    if (memcmp(check, bytes + size - TAIL, TAIL) != 0 || tacit__read_le64(&r) != mark ||
        tacit__read_le64(&r) != version)
        return fail_damaged(err);
    digest_terms(c, own);
    if (memcmp(tacit__read_bytes(&r, sizeof own), own, sizeof own) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN,
                           "the device's state is of another learner, or this one has changed its "
                           "terms since the first report; what a report costs was agreed then");
    c->facts.made = tacit__read_le64(&r);
    const char *key = tacit__read_bytes(&r, TACIT_CLIENT_KEY_SIZE);
    const uint64_t length = tacit__read_le64(&r);
    if (c->facts.made == 0 || c->facts.made > c->facts.visits || length == 0 || length != r.left ||
        key[TACIT_CLIENT_KEY_SIZE - 1] != '\0')
        return fail_damaged(err);
    c->last = tacit__alloc((size_t)length + 1, 1);
    if (c->last == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(c->last, tacit__read_bytes(&r, (size_t)length), (size_t)length);
    memcpy(c->last_key, key, sizeof c->last_key);
    return TACIT_OK;
}

static tacit_status save(const tacit_client *c, const char *body, const char *key, tacit_error *err)
{
    TACIT__REQUIRE(c->save != NULL);
    const size_t length = strlen(body), size = HEAD + length + TAIL;
    uint8_t terms[TACIT__KEY_BYTES], check[TACIT__KEY_BYTES], *bytes = tacit__alloc(size, 1);
    if (bytes == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    digest_terms(c, terms);
    tacit__writer w = {.at = bytes};
    tacit__write_le64(&w, mark);
    tacit__write_le64(&w, version);
    tacit__write_bytes(&w, terms, sizeof terms);
    tacit__write_le64(&w, c->facts.made + 1);
    tacit__write_bytes(&w, key, TACIT_CLIENT_KEY_SIZE);
    tacit__write_le64(&w, length);
    tacit__write_bytes(&w, body, length);
    tacit__digest(&(tacit__bytes){bytes, w.size}, 1, check);
    tacit__write_bytes(&w, check, sizeof check);
    TACIT__REQUIRE(w.size == size);
    tacit_status status = c->save(c->save_context, bytes, size);
    tacit__free(bytes);
    if (status != TACIT_OK)
        return tacit__fail(err, status,
                           "the device's state could not be saved; nothing has left the device");
    return TACIT_OK;
}

tacit_status tacit__client_save_report(tacit_client *c, const char *body,
                                       const char key[TACIT_CLIENT_KEY_SIZE], tacit_error *err)
{
    TACIT__REQUIRE(c->facts.made < c->facts.visits && body[0] != '\0');
    const size_t length = strlen(body);
    char *copy = tacit__alloc(length + 1, 1);
    if (copy == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(copy, body, length + 1);
    tacit_status status = c->save != NULL ? save(c, body, key, err) : TACIT_OK;
    if (status != TACIT_OK) {
        tacit__free(copy);
        return status;
    }
    tacit__free(c->last);
    c->last = copy;
    memcpy(c->last_key, key, sizeof c->last_key);
    c->facts.made++;
    return TACIT_OK;
}

/* See noise/envelope.h. */
#include "noise/envelope.h"

#include "base/error.h"

static size_t size_at(const tacit__envelope *e)
{
    return e->version != 0 ? 16 : 8;
}

/* --- The checksum --------------------------------------------------------------------------------- */

/* Returns whether this many bytes are left, of which the checksum is one part. */
static bool has(const char *what, size_t size, tacit__saved *s)
{
    if (s->status == TACIT_OK && s->end - s->at < size + TACIT__KEY_BYTES)
        s->status = tacit__fail(s->err, TACIT_CORRUPT, "%zu bytes are too few for a saved %s",
                                s->end - s->at, what);
    return s->status == TACIT_OK;
}

size_t tacit__checksum_open(const char *what, tacit__saved *s)
{
    uint8_t digest[TACIT__KEY_BYTES];
    const size_t start = s->at;
    if (!tacit__saved_is_loading(s) || !has(what, 0, s))
        return start;
    s->end -= sizeof digest;
    if (s->pass != TACIT__CHECK)
        return start;
    tacit__digest(&(tacit__bytes){s->in + s->at, s->end - s->at}, 1, digest);
    if (memcmp(digest, s->in + s->end, sizeof digest) != 0)
        s->status = tacit__fail(s->err, TACIT_CORRUPT,
                                "the saved %s is damaged: its checksum does not match", what);
    return start;
}

void tacit__checksum_close(size_t start, tacit__saved *s)
{
    TACIT__REQUIRE(start <= s->at);
    uint8_t digest[TACIT__KEY_BYTES] = {0};
    tacit__saved_check(s, s->at == s->end);
    if (tacit__saved_is_loading(s) && s->status == TACIT_OK)
        s->end += sizeof digest;
    if (s->pass == TACIT__WRITE && s->status == TACIT_OK)
        tacit__digest(&(tacit__bytes){s->out + start, s->at - start}, 1, digest);
    tacit__saved_value(s, digest, sizeof digest);
}

/* --- The header ----------------------------------------------------------------------------------- */

/* Checks, before the checksum, whether the bytes are such a state at all. */
static void check_header(const tacit__envelope *e, const uint8_t *header, size_t size,
                         tacit__saved *s)
{
    uint64_t magic, saved_size;
    uint32_t version = 0;
    memcpy(&magic, header, sizeof magic);
    memcpy(&saved_size, header + size_at(e), sizeof saved_size);
    if (e->version != 0)
        memcpy(&version, header + sizeof magic, sizeof version);
    if (magic != e->magic)
        s->status = tacit__fail(
            s->err, TACIT_CORRUPT,
            "this is not a saved %s, or one from a machine of another byte order", e->what);
    else if (version != e->version)
        s->status = tacit__fail(s->err, TACIT_WRONG_VERSION,
                                "the saved %s has format version %u, expected %u", e->what,
                                (unsigned)version, (unsigned)e->version);
    else if (saved_size != size)
        s->status =
            tacit__fail(s->err, TACIT_CORRUPT, "the saved %s should have %llu bytes, there are %zu",
                        e->what, (unsigned long long)saved_size, size);
}

static void load_header(const tacit__envelope *e, const uint8_t *print, size_t size,
                        uint8_t *header, tacit__saved *s)
{
    const size_t total = s->end - s->at;
    if (has(e->what, e->header, s))
        check_header(e, s->in + s->at, total, s);
    (void)tacit__checksum_open(e->what, s);
    tacit__saved_value(s, header, e->header);
    if ((e->print_at > 0 && memcmp(header + e->print_at, print, TACIT__KEY_BYTES) != 0) ||
        (size > 0 && size != total))
        tacit__saved_fail(s, TACIT_WRONG_PLAN, e->foreign);
}

size_t tacit__envelope_open(const tacit__envelope *e, const uint8_t *print, size_t size,
                            void *header, tacit__saved *s)
{
    TACIT__REQUIRE(e->print_at == 0 || e->print_at + TACIT__KEY_BYTES <= e->header);
    const size_t start = s->at;
    if (tacit__saved_is_loading(s)) {
        load_header(e, print, size, header, s);
        return start;
    }
    uint8_t *bytes = header;
    memcpy(bytes, &e->magic, sizeof e->magic);
    if (e->version != 0)
        memcpy(bytes + sizeof e->magic, &e->version, sizeof e->version);
    if (e->print_at > 0)
        memcpy(bytes + e->print_at, print, TACIT__KEY_BYTES);
    tacit__saved_value(s, bytes, e->header);
    return start;
}

void tacit__envelope_close(const tacit__envelope *e, size_t start, tacit__saved *s)
{
    const uint64_t size = s->at - start + TACIT__KEY_BYTES;
    if (s->pass == TACIT__WRITE && s->status == TACIT_OK)
        memcpy(s->out + start + size_at(e), &size, sizeof size);
    tacit__checksum_close(start, s);
}

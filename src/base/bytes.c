/* See base/bytes.h. */
#include "base/bytes.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

tacit__saved tacit__saved_save(void *bytes, size_t *size, tacit_error *err)
{
    return (tacit__saved){.pass = TACIT__NO_PASS, .out = bytes, .size = size, .err = err};
}

tacit__saved tacit__saved_load(const void *bytes, size_t size, tacit_error *err)
{
    return (tacit__saved){.pass = TACIT__NO_PASS, .in = bytes, .end = size, .err = err};
}

/* After the count: whether there is a buffer to write to, and it is large enough. */
static bool begin_write(tacit__saved *s)
{
    const bool fits = s->out == NULL || *s->size >= s->at;
    if (s->status == TACIT_OK && !fits)
        s->status = tacit__fail(s->err, TACIT_BAD_ARGUMENT,
                                "the state takes %zu bytes, the buffer has %zu", s->at, *s->size);
    if (s->status != TACIT_OK)
        return false;
    *s->size = s->at;
    s->at = 0;
    s->pass = TACIT__WRITE;
    return s->out != NULL;
}

bool tacit__saved_next(tacit__saved *s)
{
    switch (s->pass) {
    case TACIT__NO_PASS:
        s->pass = s->size != NULL ? TACIT__COUNT : TACIT__CHECK;
        return true;
    case TACIT__COUNT:
        return begin_write(s);
    case TACIT__WRITE:
        TACIT__REQUIRE(s->status != TACIT_OK || s->at == *s->size);
        return false;
    case TACIT__CHECK:
        tacit__saved_check(s, s->at == s->end);
        s->at = 0;
        s->pass = TACIT__APPLY;
        return s->status == TACIT_OK;
    case TACIT__APPLY:
        TACIT__REQUIRE(s->status == TACIT_OK && s->at == s->end); /* all of it was checked */
        return false;
    }
    return false;
}

void tacit__saved_fail(tacit__saved *s, tacit_status status, const char *words)
{
    if (s->status == TACIT_OK)
        s->status = words != NULL ? tacit__fail(s->err, status, "%s", words)
                                  : tacit__fail_plain(s->err, status);
}

void tacit__saved_check(tacit__saved *s, bool fits)
{
    if (!fits && tacit__saved_is_loading(s))
        tacit__saved_fail(s, TACIT_CORRUPT, s->wrong);
}

const void *tacit__saved_bytes(tacit__saved *s, const void *data, size_t size)
{
    const bool loading = tacit__saved_is_loading(s);
    if (loading && s->status == TACIT_OK)
        tacit__saved_check(s, size <= s->end - s->at);
    if (s->status != TACIT_OK)
        return NULL;
    const size_t at = s->at;
    s->at += size;
    if (s->pass == TACIT__WRITE && data != NULL && size > 0)
        memcpy(s->out + at, data, size);
    return loading ? s->in + at : NULL;
}

const void *tacit__saved_array(tacit__saved *s, void *data, size_t n, size_t size)
{
    TACIT__REQUIRE(size > 0);
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        total = SIZE_MAX;
    const void *bytes = tacit__saved_bytes(s, data, total);
    if (s->pass == TACIT__APPLY && bytes != NULL && total > 0)
        memcpy(data, bytes, total);
    return bytes;
}

void tacit__saved_value(tacit__saved *s, void *value, size_t size)
{
    TACIT__REQUIRE(value != NULL && size > 0);
    const void *bytes = tacit__saved_bytes(s, value, size);
    if (bytes != NULL)
        memcpy(value, bytes, size);
    else if (tacit__saved_is_loading(s))
        memset(value, 0, size);
}

const void *tacit__saved_reals(tacit__saved *s, double *x, size_t n, double most)
{
    TACIT__REQUIRE(most >= 0);
    const void *bytes = tacit__saved_array(s, x, n, sizeof *x);
    tacit__saved_check(s, bytes == NULL || tacit__are_reals(bytes, n, most));
    return bytes;
}

void tacit__saved_chances(tacit__saved *s, double *x, size_t n)
{
    const void *bytes = tacit__saved_reals(s, x, n, 1);
    for (size_t i = 0; i < n && bytes != NULL; i++)
        tacit__saved_check(s, tacit__real_at(bytes, i) >= 0);
}

void tacit__saved_integers(tacit__saved *s, int64_t *x, size_t n, double most)
{
    TACIT__REQUIRE(most >= 0);
    const uint8_t *bytes = tacit__saved_array(s, x, n, sizeof *x);
    for (size_t i = 0; i < n && bytes != NULL; i++) {
        int64_t element;
        memcpy(&element, bytes + i * sizeof element, sizeof element);
        tacit__saved_check(s, fabs((double)element) <= most);
    }
}

void tacit__saved_indices(tacit__saved *s, uint32_t *x, size_t n, size_t limit)
{
    TACIT__REQUIRE(limit > 0 || n == 0);
    const uint8_t *bytes = tacit__saved_array(s, x, n, sizeof *x);
    for (size_t i = 0; i < n && bytes != NULL; i++) {
        uint32_t element;
        memcpy(&element, bytes + i * sizeof element, sizeof element);
        tacit__saved_check(s, element < limit);
    }
}

size_t tacit__saved_enter(tacit__saved *s, size_t size)
{
    const size_t end = s->end;
    if (tacit__saved_is_loading(s) && s->status == TACIT_OK) {
        tacit__saved_check(s, size <= s->end - s->at);
        s->end = s->status == TACIT_OK ? s->at + size : s->end;
    }
    return end;
}

void tacit__saved_leave(tacit__saved *s, size_t end)
{
    if (tacit__saved_is_loading(s)) {
        tacit__saved_check(s, s->at == s->end);
        s->end = end;
    }
}

void tacit__model_reorder(uint8_t *bytes, size_t n)
{
    TACIT__REQUIRE(bytes != NULL || n == 0);
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, sizeof word);
        tacit__write_le64(&(tacit__writer){.at = bytes + 8 * i}, word);
    }
}

tacit_status tacit__model_copy(const void *bytes, size_t size, size_t needed, uint8_t **out,
                               tacit_error *err)
{
    if (size != needed)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a model has %zu bytes here, this one has %zu",
                           needed, size);
    *out = tacit__alloc(size, 1);
    if (*out == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(*out, bytes, size);
    tacit__model_reorder(*out, size / 8);
    return TACIT_OK;
}

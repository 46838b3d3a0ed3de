/* See base/workspace.h. A workspace is lines of 64 bytes: one with the number of lines in all, those of the
 * object, those of each piece. Every part begins a line, so the parts cost what as many calls of tacit__alloc
 * would, and one line more.
 *
 * The address sanitizer cannot see an index that runs from one piece into the next. In its builds the end
 * of each part's last line, and a line after it, are poisoned. */
#include "base/workspace.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* gcc says so by a macro, clang by a feature. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
#define RED_LINES 1
#else
#define RED_LINES 0
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { LINE = 64 }; /* a cache line, and the alignment of tacit__alloc */

/* Lines of n elements; 0 if they are too many to count. */
static size_t lines_of(uint64_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n == 0 ? 1 : n, size, &bytes) || bytes > SIZE_MAX - LINE)
        return 0;
    return (bytes + LINE - 1) / LINE + RED_LINES;
}

/* The lines of all parts, or 0. */
static size_t count(size_t object, const tacit__piece *pieces, size_t n)
{
    size_t lines = 1 + (object > 0 ? lines_of(1, object) : 0);
    for (size_t i = 0; i < n; i++) {
        size_t more = pieces[i].size > 0 ? lines_of(pieces[i].n, pieces[i].size) : 0;
        if ((pieces[i].size > 0 && more == 0) || __builtin_add_overflow(lines, more, &lines))
            return 0;
    }
    return lines;
}

/* The part at `next`, which moves past it. */
static void *part(char **next, size_t n, size_t size)
{
    char *at = *next;
    size_t bytes = (n == 0 ? 1 : n) * size;
    *next += lines_of(n, size) * LINE;
    ASAN_POISON_MEMORY_REGION(at + bytes, (size_t)(*next - at) - bytes);
    return at;
}

void *tacit__workspace_create(const void *object, size_t size, const tacit__piece *pieces, size_t n)
{
    TACIT__REQUIRE(size > 0 || (n > 0 && pieces[0].size > 0));
    const size_t lines = count(size, pieces, n);
    char *memory = lines > 0 ? tacit__alloc(lines, LINE) : NULL;
    if (memory == NULL)
        return NULL;
    memcpy(memory, &lines, sizeof lines);
    char *front = memory + LINE, *next = front;
    if (size > 0)
        (void)part(&next, 1, size);
    for (size_t i = 0; i < n; i++) {
        void *at = pieces[i].size > 0 ? part(&next, (size_t)pieces[i].n, pieces[i].size) : NULL;
        memcpy(pieces[i].pointer, &at, sizeof at); /* a pointer of any type */
    }
    if (size > 0)
        memcpy(front, object, size);
    return front;
}

void tacit__workspace_destroy(void *workspace)
{
    if (workspace == NULL)
        return;
    char *memory = (char *)workspace - LINE;
    size_t lines;
    memcpy(&lines, memory, sizeof lines);
    ASAN_UNPOISON_MEMORY_REGION(memory, lines * LINE);
    tacit__free_secret(memory, lines * LINE);
}

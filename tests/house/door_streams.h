/* The tape of tests/house/door_tape.c: named streams of words, and the steps that have passed the door since the last word. */
#ifndef TACIT_TESTS_DOOR_STREAMS_H
#define TACIT_TESTS_DOOR_STREAMS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STREAMS = 24, MOST_PENDING = 64, WORD = 1200 };
#define BASIS UINT64_C(14695981039346656037)

/* FNV-1a; differences are looked for, not forgeries. */
static inline uint64_t hash(uint64_t h, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return h;
}

static inline uint64_t hash_text(uint64_t h, const char *text)
{
    return text != NULL ? hash(h, text, strlen(text) + 1) : h;
}

static inline uint32_t folded(uint64_t h)
{
    return (uint32_t)(h ^ h >> 32);
}

static inline void *resized(void *p, size_t size)
{
    p = realloc(p, size);
    if (p == NULL)
        exit(3);
    return p;
}

typedef struct stream {
    char name[80], last[160]; /* of a door: what was last said about the integers */
    char *text;
    size_t size, mark;
} stream;

/* One step at one site. */
typedef struct passing {
    char site[64], kind[160];
    uint64_t step, exact, released;
    size_t n;
} passing;

typedef struct tape_of_case {
    stream streams[MOST_STREAMS];
    size_t n, n_pending;
    passing pending[MOST_PENDING];
} tape_of_case;

static inline stream *stream_at(tape_of_case *t, const char *prefix, const char *name)
{
    char whole[sizeof t->streams[0].name];
    (void)snprintf(whole, sizeof whole, "%s%s", prefix, name);
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->streams[i].name, whole) == 0)
            return &t->streams[i];
    if (t->n == MOST_STREAMS)
        exit(3);
    stream *s = &t->streams[t->n++];
    *s = (stream){.text = NULL};
    memcpy(s->name, whole, sizeof whole);
    return s;
}

__attribute__((format(printf, 2, 3))) static inline void say(stream *s, const char *format, ...)
{
    char word[WORD];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(word, sizeof word, format, values);
    va_end(values);
    const size_t size = strlen(word);
    s->text = resized(s->text, s->size + size + 2);
    s->text[s->size++] = ' ';
    memcpy(s->text + s->size, word, size + 1);
    s->size += size;
}

static inline void tape_end(tape_of_case *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->streams[i].text);
    free(t);
}

static inline int by_site_and_step(const void *a, const void *b)
{
    const passing *x = a, *y = b;
    const int sites = strcmp(x->site, y->site);
    return sites != 0 ? sites : (x->step > y->step) - (x->step < y->step);
}

/* What has passed since the last call becomes words. */
static inline void flush(tape_of_case *t)
{
    qsort(t->pending, t->n_pending, sizeof t->pending[0], by_site_and_step);
    for (size_t i = 0; i < t->n_pending; i++) {
        const passing *p = &t->pending[i];
        stream *door = stream_at(t, "door ", p->site), *noise = stream_at(t, "noise ", p->site);
        char kind[sizeof door->last];
        (void)snprintf(kind, sizeof kind, "%zu,%.140s", p->n, p->kind);
        if (strcmp(kind, door->last) != 0)
            say(door, "%s", kind);
        memcpy(door->last, kind, sizeof kind);
        say(door, "%" PRIu64 "=%08" PRIx32, p->step, folded(p->exact));
        say(noise, "%" PRIu64 "=%08" PRIx32, p->step, folded(p->released));
    }
    t->n_pending = 0;
}

/* The tape of a learner that is continued from here begins here. */
static inline void mark(tape_of_case *t)
{
    flush(t);
    for (size_t i = 0; i < t->n; i++) {
        t->streams[i].mark = t->streams[i].size;
        t->streams[i].last[0] = 0;
    }
}

#endif

/* A server whose clock on the wall can be set while it runs. The file DIRECTORY/clock has the seconds that it is moved by. */
#ifndef TACIT_TESTS_SERVICE_WALL_H
#define TACIT_TESTS_SERVICE_WALL_H

#include <stdio.h>
#include <unistd.h>

#include "service/plain.h"

/* A sanitizer's run-time must be the first library, so nothing can be put before it. */
#ifdef TACIT_SANITIZED
static const bool may_preload = false;
#else
static const bool may_preload = true;
#endif

enum { WALL_DAY = 86400 };

typedef struct wall {
    char preload[600], path[300], variable[400];
} wall;

/* For servers that are started from now on. */
static inline void wall_arm(wall *w, server *s)
{
    (void)snprintf(w->preload, sizeof w->preload, "LD_PRELOAD=%s", TACIT_FAULT_IO);
    (void)snprintf(w->path, sizeof w->path, "%s/clock", s->directory);
    (void)snprintf(w->variable, sizeof w->variable, "TACIT_FAULT_CLOCK=%s", w->path);
    s->environment[s->n_environment++] = w->preload;
    s->environment[s->n_environment++] = w->variable;
}

/* For servers that are started from now on: the store's disk is full while the file `flag` exists. */
typedef struct full_disk {
    char preload[600], flag[300], variable[400];
} full_disk;

static inline void full_disk_arm(full_disk *d, server *s)
{
    (void)snprintf(d->preload, sizeof d->preload, "LD_PRELOAD=%s", TACIT_FAULT_IO);
    (void)snprintf(d->flag, sizeof d->flag, "%s/full", s->directory);
    (void)snprintf(d->variable, sizeof d->variable, "TACIT_FAULT_FULL_FLAG=%s", d->flag);
    s->environment[s->n_environment++] = d->preload;
    s->environment[s->n_environment++] = d->variable;
    s->environment[s->n_environment++] = "TACIT_FAULT_PATH=/service.db";
}

/* In one step, as the clock itself is set. */
static inline void wall_move(const wall *w, long seconds)
{
    const char *fresh = fmt("%s.new", w->path);
    FILE *file = fopen(fresh, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%ld\n", seconds) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(fresh, w->path), 0);
}

/* A figure of /metrics without labels. */
static inline double figure(const server *s, const char *name)
{
    assert_int_equal(server_get(s, "/metrics", answer), 200);
    const char *line = fmt("\n%s ", name);
    const char *at = strstr(answer, line);
    assert_non_null(at);
    return strtod(at + strlen(line), NULL);
}

/* The store was looked through once more, whoever else writes. */
static inline void await_sweep(const server *s)
{
    double jobs = figure(s, "tacit_store_jobs_total");
    await(figure(s, "tacit_store_jobs_total") > jobs);
}

#endif

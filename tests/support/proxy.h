/* A proxy between clients and a PostgreSQL: real TCP on one side, the server's socket on the other. It cuts and freezes connections
 * when it is told to, or when a COMMIT comes by. */
#ifndef TACIT_TESTS_PROXY_H
#define TACIT_TESTS_PROXY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support/cluster.h"

/* What befalls the connection that sends the next COMMIT. */
typedef enum proxy_trap {
    PROXY_NO_TRAP,
    PROXY_CUT_BEFORE,   /* the server does not get it; both sides are reset */
    PROXY_CUT_WITHIN,   /* the server gets a part of it; both sides are reset */
    PROXY_CUT_AFTER,    /* it is done, and the answer is lost; the client is reset */
    PROXY_FREEZE_AFTER, /* it is done; the client hears nothing, then or later */
    PROXY_LATE          /* it is held back, and delivered when the proxy thaws */
} proxy_trap;

/* Whose connections: those that listen for notifications, those by which learners read users, or all that there are. */
typedef enum proxy_who { PROXY_LISTENER, PROXY_READER, PROXY_EVERYBODY } proxy_who;

typedef struct proxy {
    unsigned port;
    int listener;
    char server[108]; /* the path of its socket */
    pthread_t thread;
    pthread_mutex_t lock;
    struct proxy_link *links; /* all that there were */
    atomic_bool stop;
    atomic_bool frozen; /* nothing is passed on, new connections are accepted and left alone */
    atomic_bool
        mute_after;  /* connections are let through until they are logged in, and frozen then */
    atomic_int trap; /* a proxy_trap; falls back to PROXY_NO_TRAP when it has sprung */
    atomic_ulong sprung;
} proxy;

void proxy_open(proxy *p, const cluster *c);
void proxy_close(proxy *p);
/* The URI of a database through it, as the role tacit. */
void proxy_uri(const proxy *p, const char *database, char *out, size_t size);
/* Resets connections. */
void proxy_reset(proxy *p, proxy_who who);
/* The server's side of connections ends, and clients hear nothing of it. */
void proxy_leave_half_open(proxy *p, proxy_who who);

#endif

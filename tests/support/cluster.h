/* A real PostgreSQL in a directory of its own, on a socket there: started, stopped and killed by tests. */
#ifndef TACIT_TESTS_CLUSTER_H
#define TACIT_TESTS_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct cluster {
    char directory[200]; /* of the socket; the data are in data */
    char data[256];
    unsigned port; /* a name of the socket; nothing listens on the network unless `host` is set */
    bool network;  /* it listens on 127.0.0.1, too */
    pid_t pid;     /* 0: not running */
} cluster;

/* False: PostgreSQL is not installed here. The test then says so, and ends with CLUSTER_SKIP. */
bool cluster_is_there(void);
enum { CLUSTER_SKIP = 77 };

/* Makes one, with these lines in its configuration (or NULL), and starts it. */
void cluster_open(cluster *c, const char *settings);
/* A copy of a running one that follows it, as a standby by the name `standby`; started. */
void cluster_follow(cluster *c, cluster *primary, const char *settings);
/* Kills it, if it runs, and removes it. */
void cluster_close(cluster *c);

void cluster_start(cluster *c);
/* SIGINT: fast; SIGQUIT: immediate, which is a crash; SIGKILL. */
void cluster_stop(cluster *c, int signal);
void cluster_promote(cluster *c);

/* The URI of a database, as the role tacit, by the socket. */
void cluster_uri(const cluster *c, const char *database, char *out, size_t size);
/* Makes a database that the role tacit owns; there may be one of this name. */
void cluster_database(cluster *c, const char *name);
/* Runs a statement as the administrator; the first value of its first row is in `out` (or NULL). False: it
 * failed. */
bool cluster_sql(cluster *c, const char *database, const char *sql, char *out, size_t size);

/* The one that the tests of the service share if they are to use PostgreSQL (TACIT_TEST_STORE=postgresql): NULL
 * if not. It ends with the program. */
cluster *cluster_of_tests(void);

#endif

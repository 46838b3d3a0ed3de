/* Real `tacit serve` processes and load for them: wrk for decide, and a crowd of threads for what is durable. */
#ifndef TACIT_BENCH_SERVICE_LOAD_H
#define TACIT_BENCH_SERVICE_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LOAD_MOST_CLIENTS = 512, LOAD_MOST_TURNS = 60, LOAD_MOST_SERVERS = 2 };

/* A service in a directory of its own, with service.yaml in it. */
typedef struct load_server {
    char directory[64];
    char url[128], token[128];
    pid_t pid; /* 0: not running */
} load_server;

/* A new directory; load_server_remove removes it. */
void load_server_open(load_server *s, const char *yaml);
void load_server_remove(load_server *s);
void load_server_write(const load_server *s, const char *name, const char *text);
/* `tacit ARGUMENTS` in the directory; its first line in `line` (or NULL). It must succeed. */
void load_server_tool(const load_server *s, const char *arguments, char *line, size_t size);
/* A token for everything, which the server knows from its next start on. */
void load_server_make_token(load_server *s);
/* Returns when it listens. */
void load_server_start(load_server *s);
void load_server_stop(load_server *s, int signal);
/* The status of a GET; the body, if wanted, is cut to `size`. */
int load_server_get(const load_server *s, const char *path, char *body, size_t size);

/* Brings so many users, each with a name, into the learner of its store, which is the file service.db and has
 * been served before. What they did is not learned. */
void load_fill_store(const load_server *s, const char *learner, uint64_t n);

/* --- wrk ---------------------------------------------------------------------------------------- */

/* A body: JSON, or features as bytes. */
typedef struct load_body {
    const char *type;
    const void *bytes;
    size_t size;
} load_body;
load_body load_json(const char *text);

/* The turns of one server; a turn takes a second. Processor times are for a request. */
typedef struct load_turns {
    double rate[LOAD_MOST_TURNS], p99_ms[LOAD_MOST_TURNS];
    double cpu_us[LOAD_MOST_TURNS], client_cpu_us[LOAD_MOST_TURNS];
} load_turns;
void load_take_turn(load_turns *t, int i, const load_server *s, const char *address,
                    load_body sent);

/* --- A crowd ------------------------------------------------------------------------------------ */

struct load_crowd;
/* What a client does until `over`: calls load_note after each thing that is counted. */
typedef void load_client(struct load_crowd *c, int client);

/* Clients that each do one thing after the other, and what came of it. */
typedef struct load_crowd {
    load_client *play;
    const load_server *servers[LOAD_MOST_SERVERS]; /* clients take them in turn */
    int n_servers, clients;
    const char *decide; /* the body of a decision */
    int batch; /* users in one request, each with a name of their own; 0: one, without a name */
    atomic_bool over;
    double rate, p50_ms, p99_ms;
    struct load_client_state *states;
} load_crowd;
/* decide, then observe; the time of observe counts. */
load_client load_observe;
void load_note(load_crowd *c, int client, double start, int n);
void load_crowd_start(load_crowd *c);
/* How many there were since `start`. */
uint64_t load_crowd_end(load_crowd *c, double start);
/* Starts it, waits, ends it. */
uint64_t load_crowd_run(load_crowd *c, double seconds);

#endif

#include "service_load.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands/wire.h"
#include "harness.h"
#include "store_fill.h"

enum { KEPT = 200000 }; /* latencies of a crowd */

/* --- Servers -------------------------------------------------------------------------------------- */

void load_server_write(const load_server *s, const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", s->directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        bench_die("cannot write");
}

void load_server_open(load_server *s, const char *yaml)
{
    *s = (load_server){.directory = "/tmp/tacit-serve-bench-XXXXXX"};
    if (mkdtemp(s->directory) == NULL)
        bench_die("mkdtemp");
    load_server_write(s, "service.yaml", yaml);
}

void load_server_remove(load_server *s)
{
    char command[128];
    load_server_stop(s, SIGKILL);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", s->directory);
    if (system(command) != 0)
        bench_die("cannot remove a directory");
}

void load_server_tool(const load_server *s, const char *arguments, char *line, size_t size)
{
    char command[900], text[256] = "";
    (void)snprintf(command, sizeof command, "cd '%s' && %s %s", s->directory, TACIT_COMMAND,
                   arguments);
    FILE *pipe = popen(command, "r");
    const char *got = pipe != NULL ? fgets(text, sizeof text, pipe) : NULL;
    while (got != NULL && fgetc(pipe) != EOF)
        ;
    if (pipe == NULL || pclose(pipe) != 0)
        bench_die(arguments);
    text[strcspn(text, "\n")] = '\0';
    if (line != NULL)
        (void)snprintf(line, size, "%s", text);
}

void load_server_make_token(load_server *s)
{
    load_server_tool(s, "token create service.yaml --name bench --scopes admin", s->token,
                     sizeof s->token);
}

void load_server_start(load_server *s)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/out", s->directory);
    (void)unlink(path);
    (void)fflush(stdout);
    s->pid = fork();
    if (s->pid == 0) {
        static char name[] = "tacit", serve[] = "serve", file[] = "service.yaml";
        char *arguments[] = {name, serve, file, NULL};
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chdir(s->directory) != 0 || freopen("out", "w", stdout) == NULL)
            _exit(1);
        (void)execv(TACIT_COMMAND, arguments);
        _exit(127);
    }
    for (int i = 0; i < 120000; i++) {
        char line[200] = "";
        FILE *file = fopen(path, "r");
        char *got = file != NULL ? fgets(line, sizeof line, file) : NULL;
        if (file != NULL)
            (void)fclose(file);
        const char *at = got != NULL && strchr(line, '\n') != NULL ? strstr(line, "http") : NULL;
        if (at != NULL) {
            (void)snprintf(s->url, sizeof s->url, "%.*s", (int)strcspn(at, "\n"), at);
            return;
        }
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
            bench_die("the server does not start");
        (void)usleep(1000);
    }
    bench_die("the server does not start");
}

void load_server_stop(load_server *s, int signal)
{
    if (s->pid <= 0)
        return;
    (void)kill(s->pid, signal);
    (void)waitpid(s->pid, NULL, 0);
    s->pid = 0;
}

int load_server_get(const load_server *s, const char *path, char *body, size_t size)
{
    cli_wire wire;
    const char *text = "";
    size_t length = 0;
    (void)cli_wire_open(&wire, s->url, s->token);
    const int status = cli_wire_ask(&wire, "GET", path, NULL, NULL, &text, &length);
    if (body != NULL)
        (void)snprintf(body, size, "%.*s", status > 0 ? (int)length : 0, text);
    cli_wire_close(&wire);
    return status;
}

/* --- wrk ------------------------------------------------------------------------------------------ */

typedef struct figures {
    double rate, p99_ms;
} figures;

static double milliseconds(const char *text)
{
    char unit[8] = "";
    double value = 0;
    if (sscanf(text, "%lf%7[a-z]", &value, unit) != 2)
        return (double)NAN;
    return strcmp(unit, "us") == 0 ? value / 1e3 : strcmp(unit, "s") == 0 ? value * 1e3 : value;
}

load_body load_json(const char *text)
{
    return (load_body){"application/json", text, strlen(text)};
}

/* False: there is no wrk. */
static bool wrk(const load_server *s, const char *address, load_body sent, figures *out)
{
    char command[512], line[256];
    FILE *script;
    (void)snprintf(command, sizeof command, "%s/wrk.lua", s->directory);
    script = fopen(command, "w");
    if (script == NULL)
        bench_die("cannot write");
    (void)fprintf(script,
                  "wrk.method='POST'\nwrk.headers['Authorization']='Bearer %s'\n"
                  "wrk.headers['Content-Type']='%s'\nwrk.body='",
                  s->token, sent.type);
    for (size_t i = 0; i < sent.size; i++)
        (void)fprintf(script, "\\%03u", ((const unsigned char *)sent.bytes)[i]);
    (void)fputs("'\n", script);
    (void)fclose(script);
    /* wrk counts in whole seconds; interrupted, it prints what it has */
    (void)snprintf(
        command, sizeof command, "%swrk -t1 -c32 -d1s --latency -s %s/wrk.lua %s 2>/dev/null",
        bench_is_moment() ? "timeout --preserve-status -s INT 0.1 " : "", s->directory, address);
    FILE *pipe = popen(command, "r");
    *out = (figures){(double)NAN, (double)NAN};
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        if (strstr(line, "99%") != NULL)
            out->p99_ms = milliseconds(strstr(line, "99%") + 3);
        if (strstr(line, "Non-2xx") != NULL)
            bench_die("wrk was refused");
        if (strncmp(line, "Requests/sec:", 13) == 0)
            out->rate = strtod(line + 13, NULL);
    }
    return pipe != NULL && pclose(pipe) == 0 && isfinite(out->rate);
}

/* Processor time of the children that have ended, in seconds. */
static double children_cpu(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_CHILDREN, &u) != 0)
        bench_die("getrusage");
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

void load_take_turn(load_turns *t, int i, const load_server *s, const char *address, load_body sent)
{
    figures f;
    const double before = bench_cpu_of(s->pid), client_before = children_cpu();
    if (!wrk(s, address, sent, &f))
        bench_skip("wrk is not installed; scripts/setup installs it");
    t->rate[i] = f.rate;
    t->p99_ms[i] = f.p99_ms;
    t->cpu_us[i] = 1e6 * (bench_cpu_of(s->pid) - before) / f.rate;
    t->client_cpu_us[i] = 1e6 * (children_cpu() - client_before) / f.rate;
}

/* --- A crowd -------------------------------------------------------------------------------------- */

struct load_client_state {
    load_crowd *crowd;
    int number;
    pthread_t thread;
    uint64_t done;
    double *latencies; /* ms */
    size_t n, capacity;
};

void load_note(load_crowd *c, int client, double start, int n)
{
    struct load_client_state *s = &c->states[client];
    if (s->n < s->capacity)
        s->latencies[s->n++] = 1e3 * (bench_wall() - start);
    s->done += (uint64_t)n;
}

/* The body of a decision of `batch` users who were never here before. */
static void write_decisions(const load_crowd *c, char *out, size_t size)
{
    static atomic_ulong next;
    size_t used = 0;
    const int stem = (int)strcspn(c->decide, "}");
    for (int i = 0; i < c->batch; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%.*s,\"user\":\"%d-%lu\"}",
                                 i > 0          ? ","
                                 : c->batch > 1 ? "["
                                                : "",
                                 stem, c->decide, (int)getpid(), atomic_fetch_add(&next, 1));
    if (c->batch > 1)
        (void)snprintf(out + used, size - used, "]");
}

/* What the answer's decisions came to. To be freed. */
static char *write_observations(const char *answer, int batch)
{
    static const char mark[] = "\"decision\":\"";
    const size_t size = strlen(answer) + (size_t)(batch + 1) * 64;
    char *out = malloc(size);
    size_t used = 0;
    int n = 0;
    for (const char *at = answer; (at = strstr(at, mark)) != NULL; n++) {
        at += sizeof mark - 1;
        used +=
            (size_t)snprintf(out + used, size - used, "%s{\"decision\":\"%.*s\",\"reward\":0.5}",
                             n > 0       ? ","
                             : batch > 1 ? "["
                                         : "",
                             (int)strcspn(at, "\""), at);
    }
    if (n != (batch > 1 ? batch : 1))
        bench_die("decide");
    if (batch > 1)
        (void)snprintf(out + used, size - used, "]");
    return out;
}

void load_observe(load_crowd *c, int client)
{
    const load_server *s = c->servers[client % c->n_servers];
    cli_wire wire;
    const char *text;
    size_t size;
    const size_t room = (size_t)(c->batch + 1) * 128;
    char *decisions = malloc(room);
    (void)cli_wire_open(&wire, s->url, s->token);
    while (!atomic_load(&c->over)) {
        if (c->batch > 0)
            write_decisions(c, decisions, room);
        if (cli_wire_ask(&wire, "POST", "/v1/decide", NULL, c->batch > 0 ? decisions : c->decide,
                         &text, &size) != 200)
            bench_die("decide");
        char *body = write_observations(text, c->batch);
        const double start = bench_wall();
        if (cli_wire_ask(&wire, "POST", "/v1/observe", NULL, body, &text, &size) != 200 ||
            (c->batch > 1 && strstr(text, "\"status\":5") != NULL))
            bench_die("observe");
        load_note(c, client, start, c->batch > 1 ? c->batch : 1);
        free(body);
    }
    free(decisions);
    cli_wire_close(&wire);
}

static void *play(void *context)
{
    const struct load_client_state *s = context;
    s->crowd->play(s->crowd, s->number);
    return NULL;
}

void load_crowd_start(load_crowd *c)
{
    atomic_store(&c->over, false);
    c->states = calloc((size_t)c->clients + 1, sizeof *c->states);
    for (int i = 0; i < c->clients; i++) {
        const size_t room = KEPT / (size_t)c->clients;
        c->states[i] = (struct load_client_state){
            .crowd = c, .number = i, .latencies = malloc(room * sizeof(double)), .capacity = room};
        if (pthread_create(&c->states[i].thread, NULL, play, &c->states[i]) != 0)
            bench_die("thread");
    }
}

uint64_t load_crowd_end(load_crowd *c, double start)
{
    static double all[KEPT];
    uint64_t done = 0;
    size_t n = 0;
    atomic_store(&c->over, true);
    for (int i = 0; i < c->clients; i++) {
        struct load_client_state *s = &c->states[i];
        (void)pthread_join(s->thread, NULL);
        done += s->done;
        memcpy(all + n, s->latencies, s->n * sizeof(double));
        n += s->n;
        free(s->latencies);
    }
    free(c->states);
    c->states = NULL;
    c->rate = (double)done / (bench_wall() - start);
    c->p50_ms = bench_quantile(all, n, 0.5);
    c->p99_ms = bench_quantile(all, n, 0.99);
    return done;
}

uint64_t load_crowd_run(load_crowd *c, double seconds)
{
    const double start = bench_wall();
    load_crowd_start(c);
    (void)usleep((useconds_t)(1e6 * seconds));
    return load_crowd_end(c, start);
}

/* --- Many users in the store -------------------------------------------------------------------------- */

void load_fill_store(const load_server *s, const char *learner, uint64_t n)
{
    char path[256], key_path[300];
    uint8_t key[TACIT__KEY_BYTES];
    tacit__vault *vault;
    tacit_error err = {0};
    (void)snprintf(path, sizeof path, "%s/service.db", s->directory);
    (void)snprintf(key_path, sizeof key_path, "%s.key", path);
    FILE *file = fopen(key_path, "r");
    if (file == NULL || fread(key, 1, sizeof key, file) != sizeof key)
        bench_die("key");
    (void)fclose(file);
    bench_check(tacit__vault_open(path, TACIT__VAULT_SERVE, key, &vault, &err), &err);
    bench_fill_store(vault, learner, n);
    tacit__vault_close(vault);
}

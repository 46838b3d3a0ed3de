/* The decision service under load, beside a bare libmicrohttpd echo on the same machine.
 *
 * Server and load share the processors, as they do on a small machine; so beside every rate stands the server's processor time per
 * request, which does not depend on what else runs. `decide` is loaded by wrk where it is installed, all else by threads of this
 * program that keep their connections.
 *
 * decide and the echo of the same request take turns of a second, so that both see the same machine; the ratio is the median over
 * the turns.
 *
 *     serve_bench [SECONDS] [decide]      JSON lines; decide: nothing else */
#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <microhttpd.h>

#include <tacit/client.h>

#include "base/memory.h"
#include "cli/wire.h"
#include "harness.h"
#include "store/service_store.h"

enum { CLIENTS = 64, ACTIONS = 5, MILLION = 1000000, KEPT = 200000, MOST_TURNS = 60 };

static char directory[] = "/tmp/tacit-serve-bench-XXXXXX";
static char token[128], url[128];
static double seconds = 5;
static pid_t server;

/* --- The server ---------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        bench_die("cannot write");
}

static void start_server(void)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/out", directory);
    (void)unlink(path);
    (void)fflush(stdout);
    server = fork();
    if (server == 0) {
        static char name[] = "tacit", serve[] = "serve", file[] = "service.yaml";
        char *arguments[] = {name, serve, file, NULL};
        if (chdir(directory) != 0 || freopen("out", "w", stdout) == NULL)
            _exit(1);
        (void)execv(TACIT_COMMAND, arguments);
        _exit(127);
    }
    for (int i = 0; i < 60000; i++) {
        char line[200] = "";
        FILE *file = fopen(path, "r");
        char *got = file != NULL ? fgets(line, sizeof line, file) : NULL;
        if (file != NULL)
            (void)fclose(file);
        const char *at = got != NULL && strchr(line, '\n') != NULL ? strstr(line, "http") : NULL;
        if (at != NULL) {
            (void)snprintf(url, sizeof url, "%.*s", (int)strcspn(at, "\n"), at);
            return;
        }
        if (waitpid(server, NULL, WNOHANG) == server)
            bench_die("the server does not start");
        (void)usleep(1000);
    }
    bench_die("the server does not start");
}

static void stop_server(void)
{
    (void)kill(server, SIGTERM);
    (void)waitpid(server, NULL, 0);
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

/* A body: JSON, or features as bytes. */
typedef struct load {
    const char *type;
    const void *body;
    size_t size;
} load;

static load json(const char *body)
{
    return (load){"application/json", body, strlen(body)};
}

/* False: there is no wrk. */
static bool wrk(const char *address, load sent, figures *out)
{
    char command[512], line[256];
    FILE *script;
    (void)snprintf(command, sizeof command, "%s/wrk.lua", directory);
    script = fopen(command, "w");
    if (script == NULL)
        bench_die("cannot write");
    (void)fprintf(script,
                  "wrk.method='POST'\nwrk.headers['Authorization']='Bearer %s'\n"
                  "wrk.headers['Content-Type']='%s'\nwrk.body='",
                  token, sent.type);
    for (size_t i = 0; i < sent.size; i++)
        (void)fprintf(script, "\\%03u", ((const unsigned char *)sent.body)[i]);
    (void)fputs("'\n", script);
    (void)fclose(script);
    (void)snprintf(command, sizeof command,
                   "wrk -t1 -c32 -d1s --latency -s %s/wrk.lua %s 2>/dev/null", directory, address);
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

/* --- A bare echo ---------------------------------------------------------------------------------- */

static enum MHD_Result echo(void *cls, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **context)
{
    static int seen;
    static char text[] = "{\"action\":0,\"probability\":1,\"version\":1,\"step\":0}";
    (void)cls, (void)path, (void)method, (void)version, (void)data;
    if (*context == NULL) {
        *context = &seen;
        return MHD_YES;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof text - 1, text, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

static pid_t echo_server;
static char echo_url[64];

/* Spreads its connections over two workers, as the service does: without that, the first worker to wake serves them all, and rates
 * depend on luck. Writes its port; returns if it cannot be started. */
static void serve_echo(int out)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr *const address = (struct sockaddr *)&at;
    socklen_t length = sizeof at;
    const int silent = socket(AF_INET, SOCK_DGRAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, echo, NULL,
        MHD_OPTION_LISTEN_SOCKET, silent, MHD_OPTION_THREAD_POOL_SIZE, 2U, MHD_OPTION_END);
    if (daemon == NULL || bind(fd, address, length) != 0 || listen(fd, CLIENTS) != 0 ||
        getsockname(fd, address, &length) != 0)
        return;
    const unsigned port = ntohs(at.sin_port);
    if (write(out, &port, sizeof port) != sizeof port)
        return;
    for (int one; (one = accept(fd, address, &length)) >= 0; length = sizeof at)
        (void)MHD_add_connection(daemon, one, address, length);
}

static void start_echo(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        bench_die("pipe");
    (void)fflush(stdout);
    echo_server = fork();
    if (echo_server == 0) {
        serve_echo(ends[1]);
        _exit(1);
    }
    unsigned port = 0;
    if (read(ends[0], &port, sizeof port) != sizeof port || port == 0)
        bench_die("no echo");
    (void)snprintf(echo_url, sizeof echo_url, "http://127.0.0.1:%u/", port);
}

static void stop_echo(void)
{
    (void)kill(echo_server, SIGKILL);
    (void)waitpid(echo_server, NULL, 0);
}

/* The medians over the turns of one server. */
typedef struct turns {
    double rate[MOST_TURNS], p99_ms[MOST_TURNS], cpu_us[MOST_TURNS];
} turns;

static void take_turn(turns *t, int i, const char *address, pid_t pid, load sent)
{
    figures f;
    const double before = bench_cpu_of(pid);
    if (!wrk(address, sent, &f))
        bench_die("wrk is not installed");
    t->rate[i] = f.rate;
    t->p99_ms[i] = f.p99_ms;
    t->cpu_us[i] = 1e6 * (bench_cpu_of(pid) - before) / f.rate;
}

static void bench_decide(const char *name, const char *query, load sent)
{
    static turns service, bare;
    double ratio[MOST_TURNS];
    char address[200];
    const int n = seconds < MOST_TURNS ? (int)ceil(seconds) : MOST_TURNS;
    (void)snprintf(address, sizeof address, "%s/v1/decide%s", url, query);
    for (int i = 0; i < n; i++) {
        take_turn(&bare, i, echo_url, echo_server, sent);
        take_turn(&service, i, address, server, sent);
        ratio[i] = service.rate[i] / bare.rate[i];
    }
    const size_t m = (size_t)n;
    (void)printf("{\"bench\":\"%s\",\"per_second\":%.0f,\"p99_ms\":%.2f,\"server_cpu_us\":%.1f,"
                 "\"echo_per_second\":%.0f,\"echo_cpu_us\":%.1f,\"of_echo\":%.2f}\n",
                 name, bench_quantile(service.rate, m, 0.5), bench_quantile(service.p99_ms, m, 0.5),
                 bench_quantile(service.cpu_us, m, 0.5), bench_quantile(bare.rate, m, 0.5),
                 bench_quantile(bare.cpu_us, m, 0.5), bench_quantile(ratio, m, 0.5));
    (void)fflush(stdout);
}

/* --- Durable writes ------------------------------------------------------------------------------- */

typedef struct worker {
    const char *decide;
    atomic_bool *over;
    uint64_t done;
    double *latencies; /* ms */
    size_t n, capacity;
} worker;

static void note(worker *w, double start)
{
    if (w->n < w->capacity)
        w->latencies[w->n++] = 1e3 * (bench_wall() - start);
    w->done++;
}

/* decide, then observe; the time of observe counts. */
static void *observe(void *context)
{
    worker *w = context;
    cli_wire wire;
    const char *text;
    size_t size;
    static const char mark[] = "\"decision\":\"";
    (void)cli_wire_open(&wire, url, token);
    while (!atomic_load(w->over)) {
        if (cli_wire_ask(&wire, "POST", "/v1/decide", NULL, w->decide, &text, &size) != 200)
            bench_die("decide");
        const char *at = strstr(text, mark) + sizeof mark - 1;
        size_t length = strcspn(at, "\"");
        char *body = malloc(length + 64);
        (void)snprintf(body, length + 64, "{\"decision\":\"%.*s\",\"reward\":0.5}", (int)length,
                       at);
        double start = bench_wall();
        if (cli_wire_ask(&wire, "POST", "/v1/observe", NULL, body, &text, &size) != 200)
            bench_die("observe");
        note(w, start);
        free(body);
    }
    cli_wire_close(&wire);
    return NULL;
}

/* Reports, each of a device of its own, since the same bytes count once. What the device does is not timed. */
static void *report(void *context)
{
    worker *w = context;
    cli_wire wire;
    const char *text;
    size_t size;
    char key[TACIT_CLIENT_KEY_SIZE], *board = NULL;
    const uint32_t states[21] = {0}, actions[20] = {0};
    const double rewards[20] = {0};
    const tacit_trajectory episode = {.states = states, .actions = actions, .rewards = rewards};
    const tacit_client_terms any = {.epsilon = HUGE_VAL, .delta = 1};
    (void)cli_wire_open(&wire, url, token);
    if (cli_wire_ask(&wire, "GET", "/v1/billboard?learner=river", NULL, NULL, &text, &size) !=
            200 ||
        (board = malloc(size)) == NULL)
        bench_die("report");
    const size_t board_size = size;
    memcpy(board, text, size);
    while (!atomic_load(w->over)) {
        tacit_client *client = NULL;
        char *body = NULL;
        if (tacit_client_create(board, board_size, &any, &client, NULL) != TACIT_OK ||
            tacit_client_report(client, &episode, &body, key, NULL) != TACIT_OK)
            bench_die("report");
        double start = bench_wall();
        if (cli_wire_ask(&wire, "POST", "/v1/reports", key, body, &text, &size) != 202)
            bench_die("reports");
        note(w, start);
        free(body);
        tacit_client_destroy(client);
    }
    free(board);
    cli_wire_close(&wire);
    return NULL;
}

/* Clients of one learner: what they ask, and what came of it. */
typedef struct crowd {
    const char *decide;
    bool local;
    int clients;
    double rate, p50_ms, p99_ms;
    worker workers[CLIENTS];
    pthread_t threads[CLIENTS];
} crowd;

static void start_crowd(crowd *c, atomic_bool *over)
{
    for (int i = 0; i < c->clients; i++) {
        c->workers[i] = (worker){.decide = c->decide,
                                 .over = over,
                                 .latencies = malloc(KEPT / CLIENTS * sizeof(double)),
                                 .capacity = KEPT / CLIENTS};
        if (pthread_create(&c->threads[i], NULL, c->local ? report : observe, &c->workers[i]) != 0)
            bench_die("thread");
    }
}

/* How many there were. */
static uint64_t end_crowd(crowd *c, double start)
{
    static double all[KEPT];
    uint64_t done = 0;
    size_t n = 0;
    for (int i = 0; i < c->clients; i++) {
        (void)pthread_join(c->threads[i], NULL);
        done += c->workers[i].done;
        memcpy(all + n, c->workers[i].latencies, c->workers[i].n * sizeof(double));
        n += c->workers[i].n;
        free(c->workers[i].latencies);
    }
    c->rate = (double)done / (bench_wall() - start);
    c->p50_ms = bench_quantile(all, n, 0.5);
    c->p99_ms = bench_quantile(all, n, 0.99);
    return done;
}

static void bench_durable(const char *name, const char *decide, bool local)
{
    static crowd c;
    atomic_bool over = false;
    double cpu = bench_cpu_of(server), start = bench_wall();
    c = (crowd){.decide = decide, .local = local, .clients = CLIENTS};
    start_crowd(&c, &over);
    (void)usleep((useconds_t)(1e6 * seconds));
    atomic_store(&over, true);
    double done = (double)end_crowd(&c, start);
    (void)printf("{\"bench\":\"%s\",\"per_second\":%.0f,\"p99_ms\":%.2f,\"server_cpu_us\":%.1f}\n",
                 name, c.rate, c.p99_ms, 1e6 * (bench_cpu_of(server) - cpu) / done);
    (void)fflush(stdout);
}

/* Whether one learner's load keeps another's users waiting: few clients of `decide` alone, then beside many of `heavy`. */
static void bench_beside(const char *name, const char *decide, const char *heavy)
{
    enum { FEW = 4, MANY = 16 };
    static crowd alone, beside, other;
    for (int round = 0; round < 2; round++) {
        atomic_bool over = false;
        crowd *c = round == 0 ? &alone : &beside;
        *c = (crowd){.decide = decide, .clients = FEW};
        other = (crowd){.decide = heavy, .clients = round == 0 ? 0 : MANY};
        double start = bench_wall();
        start_crowd(&other, &over);
        start_crowd(c, &over);
        (void)usleep((useconds_t)(1e6 * seconds));
        atomic_store(&over, true);
        (void)end_crowd(c, start);
        (void)end_crowd(&other, start);
    }
    (void)printf("{\"bench\":\"%s\",\"alone_p50_ms\":%.2f,\"alone_p99_ms\":%.2f,"
                 "\"beside_p50_ms\":%.2f,\"beside_p99_ms\":%.2f,\"ratio_p99\":%.2f,"
                 "\"beside_per_second\":%.0f,\"other_per_second\":%.0f}\n",
                 name, alone.p50_ms, alone.p99_ms, beside.p50_ms, beside.p99_ms,
                 beside.p99_ms / alone.p99_ms, beside.rate, other.rate);
    (void)fflush(stdout);
}

/* --- A million users in the store ------------------------------------------------------------------ */

/* Counts all inputs that there are as users of the state. */
static void pass_inputs(tacit__vault *vault, tacit__vault_learner *row)
{
    uint8_t key[TACIT__VAULT_KEY], *data = NULL;
    size_t size = 1;
    while (size > 0) {
        tacit_error err = {0};
        int64_t number = 0;
        bench_check(
            tacit__vault_next_input(vault, row->id, row->taken, &number, key, &data, &size, &err),
            &err);
        if (size > 0) {
            tacit__free_secret(data, size);
            row->taken = number;
            row->users++;
        }
    }
}

static void fill_store(void)
{
    char path[256], key_path[300];
    uint8_t key[TACIT__KEY_BYTES];
    tacit__vault *vault;
    tacit__vault_learner row;
    tacit_error err = {0};
    bool found;
    (void)snprintf(path, sizeof path, "%s/service.db", directory);
    (void)snprintf(key_path, sizeof key_path, "%s.key", path);
    FILE *file = fopen(key_path, "r");
    if (file == NULL || fread(key, 1, sizeof key, file) != sizeof key)
        bench_die("key");
    (void)fclose(file);
    uint8_t *state;
    size_t size;
    bench_check(tacit__vault_open(path, TACIT__VAULT_SERVE, key, &vault, &err), &err);
    bench_check(tacit__vault_find_learner(vault, "arms", &found, &row, &state, &size, &err), &err);
    bench_check(tacit__vault_begin(vault, &err), &err);
    for (uint64_t i = 1; i <= MILLION; i++) { /* names that were seen, and people that took part */
        uint8_t name[TACIT__VAULT_KEY] = {0};
        tacit__vault_answer answer;
        memcpy(name, &i, sizeof i);
        bench_check(tacit__vault_add_user(vault, row.id, name, name, NULL, "x", 1, &answer, &err),
                    &err);
        if (answer != TACIT__VAULT_TAKEN)
            bench_die("the store takes no more users");
        if (i % 1000 == 0) {
            pass_inputs(vault, &row);
            bench_check(tacit__vault_save_learner(vault, &row, state, size, NULL, 0, &err), &err);
        }
    }
    tacit__free_secret(state, size);
    bench_check(tacit__vault_commit(vault, &err), &err);
    tacit__vault_close(vault);
}

static void bench_start(const char *name)
{
    double start = bench_wall();
    start_server();
    double took = bench_wall() - start;
    cli_wire wire;
    const char *text;
    size_t size;
    (void)cli_wire_open(&wire, url, token);
    if (cli_wire_ask(&wire, "GET", "/readyz", NULL, NULL, &text, &size) != 200)
        bench_die("the service does not learn: /readyz is not 200");
    cli_wire_close(&wire);
    (void)printf("{\"bench\":\"%s\",\"seconds\":%.3f,\"server_cpu_s\":%.2f}\n", name, took,
                 bench_cpu_of(server));
    (void)fflush(stdout);
}

static const char yaml[] =
    "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 5000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: linear-20, space: {features: 20, actions: 5}, users: 1000000,\n"
    "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: linear-100, space: {features: 100, actions: 5}, users: 1000000,\n"
    "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: linear-500, space: {features: 500, actions: 5}, users: 1000000,\n"
    "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: river, space: {states: 6, actions: 2, horizon: 20, stationary: yes}, users: "
    "5000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}}\n";

/* Features of the actions: unit vectors, the same every time. */
static double feature(int d, int i)
{
    return 0.99 / sqrt(d) * ((i / d * 7 + i % d * 3) % 5 < 3 ? 1 : -1);
}

/* The body of a decision with d features for each action. To be freed. */
static char *make_context(int d)
{
    size_t size = 64 + 12 * (size_t)(ACTIONS * d), used;
    char *out = malloc(size);
    used = (size_t)snprintf(out, size, "{\"learner\":\"linear-%d\",\"context\":[", d);
    for (int i = 0; i < ACTIONS * d; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%.6f", i > 0 ? "," : "", feature(d, i));
    (void)snprintf(out + used, size - used, "]}");
    return out;
}

static void bench_service(bool only_decide)
{
    static const char table[] = "{\"learner\":\"arms\",\"state\":1}",
                      person[] = "{\"learner\":\"arms\",\"state\":1,\"user\":\"ann\"}";
    char *d20 = make_context(20), *d100 = make_context(100), *d500 = make_context(500);
    static double bytes[ACTIONS * 500];
    for (int i = 0; i < ACTIONS * 500; i++)
        bytes[i] = feature(500, i);
    bench_decide("decide, table", "", json(table));
    bench_decide("decide, table, with a user", "", json(person));
    bench_decide("decide, linear d=20", "", json(d20));
    bench_decide("decide, linear d=500", "", json(d500));
    bench_decide("decide, linear d=500, bytes", "?learner=linear-500",
                 (load){"application/octet-stream", bytes, sizeof bytes});
    if (!only_decide) {
        bench_durable("observe, durable", table, false);
        bench_durable("observe, durable, linear d=20", d20, false);
        bench_durable("observe, durable, linear d=100", d100, false);
        bench_durable("observe, durable, linear d=500", d500, false);
        bench_beside("observe, durable, beside linear d=500", table, d500);
        bench_durable("report, durable", NULL, true);
        double memory = bench_memory_of(server);
        bench_decide("decide, table, again", "", json(table));
        (void)printf("{\"bench\":\"memory\",\"before_mb\":%.1f,\"after_mb\":%.1f}\n", memory,
                     bench_memory_of(server));
    }
    free(d20);
    free(d100);
    free(d500);
}

static void bench_million(void)
{
    fill_store();
    bench_start("start, a million users");
    stop_server();
}

int main(int argc, char **argv)
{
    char command[512];
    const bool only_decide = argc > 2 && strcmp(argv[2], "decide") == 0;
    if (argc > 1)
        seconds = strtod(argv[1], NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(directory) == NULL)
        bench_die("mkdtemp");
    write_file("service.yaml", yaml);
    (void)snprintf(command, sizeof command,
                   "cd %s && %s token create service.yaml --name bench --scopes admin", directory,
                   TACIT_COMMAND);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL || fgets(token, sizeof token, pipe) == NULL || pclose(pipe) != 0)
        bench_die("token");
    token[strcspn(token, "\n")] = '\0';
    bench_start("start, new store");
    start_echo();
    bench_service(only_decide);
    stop_echo();
    stop_server();
    if (!only_decide)
        bench_million();
    (void)snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 ? 0 : 1;
}

/* The decision service under load, beside a bare libmicrohttpd echo on the same machine.
 *
 * Server and load share the processors, as they do on a small machine; so beside every rate stands the server's processor time per
 * request, which does not depend on what else runs. `decide` is loaded by wrk where it is installed, all else by threads of this
 * program that keep their connections.
 *
 * decide and an echo, which receives the same request and answers as many bytes, take turns of a second, so that both see the same
 * machine; the ratios are medians over the turns. of_echo is that of the rates, and true where nothing else runs. of_echo_cpu is
 * that of the processor times, server and wrk together, which two processes on full processors come to; it hardly depends on other
 * load. server_of_echo is that of the servers' alone.
 *
 * On PostgreSQL (serve_postgres.c) pgbench is what stands beside it.
 *
 *     serve_bench [SECONDS] [decide]                             JSON lines; decide: nothing else
 *     serve_bench --store postgresql [SECONDS] [million]         million: a million people, nothing else */
#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include <tacit/client.h>

#include "cli/commands/wire.h"
#include "harness.h"
#include "linalg/forms.h"
#include "serve_postgres.h"
#include "service_load.h"
#include "text/json.h"

enum { CLIENTS = 64, ACTIONS = 5, MILLION = 1000000, LONGEST_ANSWER = 1 << 14 };

static double seconds = 5;
static load_server server;

/* --- A bare echo ---------------------------------------------------------------------------------- */

/* Answers as many bytes as the path says, after it has received the body. */
static enum MHD_Result echo(void *cls, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **context)
{
    static int seen;
    static char text[LONGEST_ANSWER];
    (void)cls, (void)method, (void)version, (void)data;
    if (*context == NULL) {
        *context = &seen;
        return MHD_YES;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    const size_t length = strtoul(path + 1, NULL, 10);
    struct MHD_Response *response = MHD_create_response_from_buffer(
        length < sizeof text ? length : sizeof text, text, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

static load_server echo_server; /* its directory is the other's */

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
    echo_server = server;
    echo_server.pid = fork();
    if (echo_server.pid == 0) {
        serve_echo(ends[1]);
        _exit(1);
    }
    unsigned port = 0;
    if (read(ends[0], &port, sizeof port) != sizeof port || port == 0)
        bench_die("no echo");
    (void)snprintf(echo_server.url, sizeof echo_server.url, "http://127.0.0.1:%u/", port);
}

/* Features of the actions: unit vectors, the same every time. */
static double feature(int d, int i)
{
    return 0.99 / sqrt(d) * ((i / d * 7 + i % d * 3) % 5 < 3 ? 1 : -1);
}

/* How many bytes the service answers. */
static size_t answer_size(const char *decide)
{
    cli_wire wire;
    const char *text;
    size_t size = 0;
    (void)cli_wire_open(&wire, server.url, server.token);
    if (cli_wire_ask(&wire, "POST", "/v1/decide", NULL, decide, &text, &size) != 200 ||
        size > LONGEST_ANSWER)
        bench_die("decide");
    cli_wire_close(&wire);
    return size;
}

/* `json`: the same decision as is sent, as JSON. */
static void bench_decide(const char *name, const char *query, load_body sent, const char *json)
{
    static load_turns service, bare;
    double ratio[LOAD_MOST_TURNS], cpu_ratio[LOAD_MOST_TURNS], server_ratio[LOAD_MOST_TURNS];
    char address[200], echo_address[200];
    const int n = seconds < LOAD_MOST_TURNS ? (int)ceil(seconds) : LOAD_MOST_TURNS;
    const size_t answered = answer_size(json);
    (void)snprintf(address, sizeof address, "%s/v1/decide%s", server.url, query);
    (void)snprintf(echo_address, sizeof echo_address, "%s%zu", echo_server.url, answered);
    for (int i = 0; i < n; i++) {
        load_take_turn(&bare, i, &echo_server, echo_address, sent);
        load_take_turn(&service, i, &server, address, sent);
        ratio[i] = service.rate[i] / bare.rate[i];
        cpu_ratio[i] = (bare.cpu_us[i] + bare.client_cpu_us[i]) /
                       (service.cpu_us[i] + service.client_cpu_us[i]);
        server_ratio[i] = bare.cpu_us[i] / service.cpu_us[i];
    }
    const size_t m = (size_t)n;
    (void)printf("{\"bench\":\"%s\",\"sent_bytes\":%zu,\"answered_bytes\":%zu,\"per_second\":%.0f,"
                 "\"p99_ms\":%.2f,\"server_cpu_us\":%.1f,\"echo_per_second\":%.0f,"
                 "\"echo_cpu_us\":%.1f,\"of_echo\":%.2f,\"of_echo_cpu\":%.2f,"
                 "\"server_of_echo\":%.2f}\n",
                 name, sent.size, answered, bench_quantile(service.rate, m, 0.5),
                 bench_quantile(service.p99_ms, m, 0.5), bench_quantile(service.cpu_us, m, 0.5),
                 bench_quantile(bare.rate, m, 0.5), bench_quantile(bare.cpu_us, m, 0.5),
                 bench_quantile(ratio, m, 0.5), bench_quantile(cpu_ratio, m, 0.5),
                 bench_quantile(server_ratio, m, 0.5));
    (void)fflush(stdout);
}

/* What a linear decision cannot do without, beside the echo, each alone in this process: its numbers are read, and L z = x is
 * solved for the features x of every action. */
static void bench_floor(int d, const char *json)
{
    enum { TIMES = 200, PARTS = 2 };
    const size_t n = (size_t)d, m = n * ACTIONS, size = strlen(json);
    tacit__json_node *nodes = calloc(m + 16, sizeof *nodes);
    double *factor = calloc(n * n, sizeof *factor), *rest = calloc(2 * n + m, sizeof *rest),
           inner[ACTIONS], square[ACTIONS], us[PARTS][TIMES];
    float *scratch = calloc(tacit__forms_scratch(n), sizeof *scratch),
          *panels = calloc(tacit__panels_size(n), sizeof *panels);
    const char *why;
    if (nodes == NULL || factor == NULL || rest == NULL || scratch == NULL || panels == NULL)
        bench_die("memory");
    double *pivots = rest, *theta = pivots + n, *x = theta + n;
    for (size_t i = 0; i < n; i++) {
        factor[i * n + i] = pivots[i] = theta[i] = 1;
        for (size_t j = 0; j < i; j++)
            factor[j * n + i] = 1e-3;
    }
    tacit__panels_pack(n, factor, pivots, panels);
    for (size_t i = 0; i < m; i++)
        x[i] = feature(d, (int)i);
    for (int i = 0; i < TIMES; i++) {
        const double start = bench_now();
        if (tacit__json_parse(json, size, nodes, m + 16, &why) == 0)
            bench_die(why);
        const double parsed = bench_now();
        tacit__forms(n, ACTIONS, panels, theta, x, scratch, inner, square);
        us[0][i] = 1e6 * (parsed - start);
        us[1][i] = 1e6 * (bench_now() - parsed);
    }
    (void)printf("{\"bench\":\"floor, linear d=%d\",\"numbers\":%zu,\"multiply_adds\":%zu,"
                 "\"read_us\":%.1f,\"forms_us\":%.1f}\n",
                 d, m, ACTIONS * n * (n + 1) / 2, bench_quantile(us[0], TIMES, 0.5),
                 bench_quantile(us[1], TIMES, 0.5));
    free(nodes);
    free(factor);
    free(rest);
    free(scratch);
    free(panels);
}

/* --- Durable writes ------------------------------------------------------------------------------- */

/* Reports, each of a device of its own, since the same bytes count once. What the device does is not timed. */
static void report(load_crowd *c, int number)
{
    cli_wire wire;
    const char *text;
    size_t size;
    char key[TACIT_CLIENT_KEY_SIZE], *board = NULL;
    const uint32_t states[21] = {0}, actions[20] = {0};
    const double rewards[20] = {0};
    const tacit_trajectory episode = {.states = states, .actions = actions, .rewards = rewards};
    const tacit_client_terms any = {.epsilon = HUGE_VAL, .delta = 1};
    (void)cli_wire_open(&wire, server.url, server.token);
    if (cli_wire_ask(&wire, "GET", "/v1/billboard?learner=river", NULL, NULL, &text, &size) !=
            200 ||
        (board = malloc(size)) == NULL)
        bench_die("report");
    const size_t board_size = size;
    memcpy(board, text, size);
    while (!atomic_load(&c->over)) {
        tacit_client *client = NULL;
        char *body = NULL;
        if (tacit_client_create(board, board_size, &any, &client, NULL) != TACIT_OK ||
            tacit_client_report(client, &episode, &body, key, NULL) != TACIT_OK)
            bench_die("report");
        double start = bench_wall();
        if (cli_wire_ask(&wire, "POST", "/v1/reports", key, body, &text, &size) != 202)
            bench_die("reports");
        load_note(c, number, start, 1);
        free(body);
        tacit_client_destroy(client);
    }
    free(board);
    cli_wire_close(&wire);
}

static load_crowd crowd_of(const char *decide, int clients)
{
    return (load_crowd){.play = load_observe,
                        .servers = {&server},
                        .n_servers = 1,
                        .clients = clients,
                        .decide = decide};
}

static void bench_durable(const char *name, const char *decide, bool local)
{
    const double cpu = bench_cpu_of(server.pid);
    load_crowd c = crowd_of(decide, CLIENTS);
    if (local)
        c.play = report;
    const double done = (double)load_crowd_run(&c, seconds);
    (void)printf("{\"bench\":\"%s\",\"per_second\":%.0f,\"p99_ms\":%.2f,\"server_cpu_us\":%.1f}\n",
                 name, c.rate, c.p99_ms, 1e6 * (bench_cpu_of(server.pid) - cpu) / done);
    (void)fflush(stdout);
}

/* Whether one learner's load keeps another's users waiting: few clients of `decide` alone, then beside many of `heavy`. */
static void bench_beside(const char *name, const char *decide, const char *heavy)
{
    enum { FEW = 4, MANY = 16 };
    load_crowd alone = crowd_of(decide, FEW), beside = alone, other = crowd_of(heavy, MANY);
    (void)load_crowd_run(&alone, seconds);
    const double start = bench_wall();
    load_crowd_start(&other);
    (void)load_crowd_run(&beside, seconds);
    (void)load_crowd_end(&other, start);
    (void)printf("{\"bench\":\"%s\",\"alone_p50_ms\":%.2f,\"alone_p99_ms\":%.2f,"
                 "\"beside_p50_ms\":%.2f,\"beside_p99_ms\":%.2f,\"ratio_p99\":%.2f,"
                 "\"beside_per_second\":%.0f,\"other_per_second\":%.0f}\n",
                 name, alone.p50_ms, alone.p99_ms, beside.p50_ms, beside.p99_ms,
                 beside.p99_ms / alone.p99_ms, beside.rate, other.rate);
    (void)fflush(stdout);
}

/* --- All of it ---------------------------------------------------------------------------------------- */

static void bench_start(const char *name)
{
    double start = bench_wall();
    load_server_start(&server);
    double took = bench_wall() - start;
    if (load_server_get(&server, "/readyz", NULL, 0) != 200)
        bench_die("the service does not learn: /readyz is not 200");
    (void)printf("{\"bench\":\"%s\",\"seconds\":%.3f,\"server_cpu_s\":%.2f}\n", name, took,
                 bench_cpu_of(server.pid));
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
    bench_decide("decide, table", "", load_json(table), table);
    bench_decide("decide, table, with a user", "", load_json(person), person);
    bench_decide("decide, linear d=20", "", load_json(d20), d20);
    bench_decide("decide, linear d=100", "", load_json(d100), d100);
    bench_decide("decide, linear d=500", "", load_json(d500), d500);
    bench_decide("decide, linear d=500, bytes", "?learner=linear-500",
                 (load_body){"application/octet-stream", bytes, sizeof bytes}, d500);
    bench_floor(20, d20);
    bench_floor(100, d100);
    bench_floor(500, d500);
    if (!only_decide) {
        bench_durable("observe, durable", table, false);
        bench_durable("observe, durable, linear d=20", d20, false);
        bench_durable("observe, durable, linear d=100", d100, false);
        bench_durable("observe, durable, linear d=500", d500, false);
        bench_beside("observe, durable, beside linear d=500", table, d500);
        bench_durable("report, durable", NULL, true);
        double memory = bench_memory_of(server.pid);
        bench_decide("decide, table, again", "", load_json(table), table);
        (void)printf("{\"bench\":\"memory\",\"before_mb\":%.1f,\"after_mb\":%.1f}\n", memory,
                     bench_memory_of(server.pid));
    }
    free(d20);
    free(d100);
    free(d500);
}

static void bench_million(void)
{
    load_fill_store(&server, "arms", bench_times(MILLION));
    bench_start("start, a million users");
    load_server_stop(&server, SIGTERM);
}

static int bench_file(bool only_decide)
{
    load_server_open(&server, yaml);
    load_server_make_token(&server);
    bench_start("start, new store");
    start_echo();
    bench_service(only_decide);
    load_server_stop(&echo_server, SIGKILL);
    load_server_stop(&server, SIGTERM);
    if (!only_decide)
        bench_million();
    load_server_remove(&server);
    return 0;
}

int main(int argc, char **argv)
{
    bool only_decide = false, only_million = false, postgres = false;
    bench_begin(&argc, argv);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--store") == 0 && i + 1 < argc) {
            i++;
            postgres = strcmp(argv[i], "postgresql") == 0;
            if (!postgres && strcmp(argv[i], "sqlite") != 0)
                bench_die("--store is sqlite or postgresql");
        } else if (strcmp(argv[i], "decide") == 0) {
            only_decide = true;
        } else if (strcmp(argv[i], "million") == 0) {
            only_million = true;
        } else {
            seconds = strtod(argv[i], NULL);
        }
    }
    if (!(seconds > 0))
        bench_die("serve_bench [--store sqlite|postgresql] [SECONDS] [decide|million]");
    (void)signal(SIGPIPE, SIG_IGN);
    seconds = bench_seconds(seconds);
    return postgres ? bench_postgres(seconds, only_million) : bench_file(only_decide);
}

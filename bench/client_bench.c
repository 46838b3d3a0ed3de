/* What a device needs to open a billboard: CPU time of the first time (which calibrates) and of further ones, and memory, by
 * libtacit_client.
 *
 *     client_bench [BILLBOARD...]      files as GET /v1/billboard gives them; without any, a few learners of this file */
#include <pthread.h>
#include <stdint.h>

#include <tacit/client.h>

#include "harness.h"
#include "noise/seal.h"

enum { ROOM = 1 << 21, TIMES = 20 };

static const tacit_client_terms any = {.epsilon = 1e9, .delta = 0.5};

static tacit_client *open_board(const char *text, size_t size, size_t memory)
{
    tacit_client_terms terms = any;
    tacit_client *client = NULL;
    tacit_error err = {0};
    terms.memory = memory;
    tacit_status status = tacit_client_create(text, size, &terms, &client, &err);
    if (status != TACIT_OK && memory == 0)
        bench_check(status, &err);
    return status == TACIT_OK ? client : NULL;
}

typedef struct board {
    const char *name, *text;
    size_t size;
} board;

static void *measure_here(void *argument)
{
    const board *b = argument;
    const char *text = b->text;
    size_t size = b->size;
    const int times = (int)bench_times(TIMES);
    double start = bench_now(), first, again;
    tacit_client_destroy(open_board(text, size, 0));
    first = bench_now() - start;
    start = bench_now();
    for (int i = 0; i < times; i++)
        tacit_client_destroy(open_board(text, size, 0));
    again = (bench_now() - start) / times;
    size_t low = 0, high = TACIT_CLIENT_MEMORY; /* the smallest allowance that is enough */
    while (high - low > 512) {
        size_t middle = low + (high - low) / 2;
        tacit_client *client = open_board(text, size, middle);
        *(client != NULL ? &high : &low) = middle;
        tacit_client_destroy(client);
    }
    printf("{\"billboard\": \"%s\", \"bytes\": %zu, \"first_ms\": %.3f, \"again_ms\": %.3f, "
           "\"memory_kib\": %.1f}\n",
           b->name, size, 1e3 * first, 1e3 * again, (double)high / 1024);
    return NULL;
}

/* In a thread of its own: a thread remembers its last calibration. */
static void measure(const char *name, const char *text, size_t size)
{
    board b = {name, text, size};
    pthread_t thread;
    if (pthread_create(&thread, NULL, measure_here, &b) == 0)
        (void)pthread_join(thread, NULL);
}

typedef struct learner {
    const char *name, *kind;
    size_t n_states, n_actions, horizon, features;
    bool stationary;
    double delta;
    uint64_t users;
} learner;

/* The billboard before anybody has come. */
static size_t write_board(const learner *l, char *text)
{
    const tacit_bandit bandit = {.dimension = l->features, .bound = 1};
    const tacit_agent_request request = {.kind = l->kind,
                                         .guarantee = {TACIT_MODEL_LOCAL, 1, l->delta},
                                         .n_states = l->n_states,
                                         .n_actions = l->n_actions,
                                         .horizon = l->horizon,
                                         .stationary = l->stationary,
                                         .episodes = l->users,
                                         .bandit = l->features > 0 ? &bandit : NULL};
    tacit_noise *noise;
    tacit_agent *agent;
    tacit_billboard look;
    tacit_error err = {0};
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_agent_create(&request, noise, &agent, &err), &err);
    tacit_noise_destroy(noise);
    bench_check(tacit_agent_plan(agent, &look, &err), &err);
    size_t n = (size_t)snprintf(
        text, ROOM,
        "{\"learner\":\"l\",\"version\":%llu,\"users\":0,\"model\":\"local\",\"guarantee\":"
        "{\"epsilon\":1,\"delta\":%g},\"agent\":{\"kind\":\"%s\",\"sums\":null,\"settings\":[]},"
        "\"space\":{\"states\":%zu,\"actions\":%zu,\"horizon\":%zu,\"stationary\":%s",
        (unsigned long long)look.version, l->delta, l->kind, l->n_states, l->n_actions, l->horizon,
        l->stationary ? "true" : "false");
    if (l->features > 0)
        n += (size_t)snprintf(text + n, ROOM - n, ",\"features\":%zu,\"shared\":true,\"bound\":1",
                              l->features);
    n += (size_t)snprintf(text + n, ROOM - n, "},\"episodes\":%llu", (unsigned long long)l->users);
    static uint8_t model[ROOM / 2];
    size_t size = sizeof model;
    if (tacit_agent_publish(agent, model, &size, NULL) == TACIT_OK) {
        n += (size_t)snprintf(text + n, ROOM - n, ",\"model_bytes\":\"");
        tacit__base64_write(model, size, text + n);
        n += strlen(text + n);
        n += (size_t)snprintf(text + n, ROOM - n, "\"");
    }
    for (size_t h = 0; look.policy != NULL && h < l->horizon; h++)
        for (size_t s = 0; s < l->n_states; s++)
            n += (size_t)snprintf(text + n, ROOM - n, "%s%u%s",
                                  s > 0   ? ","
                                  : h > 0 ? ",["
                                          : ",\"policy\":[[",
                                  (unsigned)look.policy[h * l->n_states + s],
                                  s + 1 < l->n_states  ? ""
                                  : h + 1 < l->horizon ? "]"
                                                       : "]]");
    n += (size_t)snprintf(text + n, ROOM - n, "}");
    tacit_agent_destroy(agent);
    return n;
}

int main(int argc, char **argv)
{
    static const learner learners[] = {
        {"dp-ucbvi, 6 x 2 x 20, 1e5 users", "dp-ucbvi", 6, 2, 20, 0, true, 1e-6, 100000},
        {"dp-ucbvi, 6 x 2 x 20, 1e9 users", "dp-ucbvi", 6, 2, 20, 0, true, 1e-6, 1000000000},
        {"dp-ucbvi, 50 x 5 x 20, 1e6 users", "dp-ucbvi", 50, 5, 20, 0, true, 0, 1000000},
        {"linopt-vi, 6 x 2 x 20, 1e6 users", "linopt-vi", 6, 2, 20, 0, false, 1e-6, 1000000},
        {"lin-ucb, 20 features, 10 actions, 1e6 users", "lin-ucb", 0, 10, 1, 20, true, 1e-6,
         1000000},
    };
    static char text[ROOM];
    bench_begin(&argc, argv);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");
        if (file == NULL) {
            perror(argv[i]);
            return 1;
        }
        size_t size = fread(text, 1, sizeof text, file);
        fclose(file);
        measure(argv[i], text, size);
    }
    for (size_t i = 0; i < sizeof learners / sizeof *learners && argc == 1; i++)
        measure(learners[i].name, text, write_board(&learners[i], text));
    return 0;
}

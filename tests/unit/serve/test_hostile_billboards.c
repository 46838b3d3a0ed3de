/* Billboards by a server that means harm: a device that has seen its data always reports.
 *
 * The server is honest enough to be believed: it makes learners of every local kind with settings of its
 * choice, publishes what they say, and changes some of it. Numbers of a model become huge, or no numbers;
 * bounds become tiny; a policy is not the model's, or no policy; anything may be garbled. The device refuses
 * such a billboard before the episode begins, or goes through with it: whatever its person meets, however far
 * outside the domain, it acts, and its report is made. Fixed seeds: the same billboards every time. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>

#include "base/memory.h"
#include "noise/seal.h"
#include "serve/learner/board.h"
#include "serve/learner/describe.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

enum { S = 3, A = 2, H = 2, D = 3, PARTS = 2, ROUNDS = 24, USERS = 4 };

typedef struct learner {
    const char *kind;
    bool pure, steps, rewards, mixture, numbered, disjoint;
    size_t features;
} learner;

static const learner learners[] = {
    {.kind = "dp-ucbvi", .steps = true},
    {.kind = "dp-ucbvi", .steps = true, .pure = true},
    {.kind = "private-ucb-vi", .steps = true, .pure = true},
    {.kind = "ldp-obi", .steps = true, .pure = true},
    {.kind = "lin-ucb", .features = D},
    {.kind = "lin-ucb", .features = D, .disjoint = true},
    {.kind = "lin-ucb", .features = D, .numbered = true},
    {.kind = "capri", .features = D, .numbered = true},
    {.kind = "ucrl-vtr", .steps = true, .rewards = true, .mixture = true},
    {.kind = "ucrl-vtr-plus", .steps = true, .rewards = true, .mixture = true},
    {.kind = "linopt-vi", .steps = true, .mixture = true},
    {.kind = "linopt-po", .steps = true, .mixture = true},
    {.kind = "posterior-kernel", .features = D, .numbered = true},
    {.kind = "explore-commit-kernel", .features = D, .numbered = true},
    {.kind = "explore-commit-features", .features = D},
    {.kind = "posterior-tabular", .steps = true},
    {.kind = "posterior-tabular", .steps = true, .pure = true},
    {.kind = "explore-commit-tabular", .steps = true, .pure = true},
};

static const double wild[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, DBL_MAX, -DBL_MAX,  1e200,
                              -1e200,      1e154,    1e100,     -1e30,   0x1p-1074, 1e-200,
                              0,           -1,       7,         0.5};

static double pick(uint64_t *seed)
{
    return wild[random_below(seed, N_OF(wild))];
}

/* --- The server ------------------------------------------------------------------------------------ */

static double *table_of(size_t n)
{
    double *table = tacit__alloc(n, sizeof *table);
    assert_non_null(table);
    return table;
}

/* A parameter of the kind at one end of its range; false: it keeps its default. */
static bool set_parameter(const char *kind, uint64_t *seed, tacit_setting *out)
{
    static char text[40];
    const tacit_agent_kind *k = tacit_agent_kind_find(kind);
    const tacit_parameter *p = &k->parameters[random_below(seed, k->n_parameters)];
    const double end = random_below(seed, 2) == 0 ? p->low : p->high;
    if (p->type != TACIT_PARAMETER_REAL && p->type != TACIT_PARAMETER_INTEGER)
        return false;
    (void)snprintf(text, sizeof text, "%.17g", end);
    *out = (tacit_setting)SET(p->name, text);
    return true;
}

/* Settings of the server's choice; bounds and numbers of users from one end of what is possible to the other.
 */
static void declare(const learner *l, uint64_t *seed, tacit__learner_config *c)
{
    static const double bounds[] = {1, 1e-3, 1e-99, 1e99, 1e-101, 0x1p-1074, 1e300, 40};
    static const uint64_t users[] = {1, 2, 30, 1000, 1000000000000};
    static const double epsilons[] = {1, 0.1, 1e-6, 9};
    tacit_agent_request *q = &c->request;
    tacit__world_tables *k = &c->known;
    *c = (tacit__learner_config){.name = "hostile", .plan_every = 1};
    *q = (tacit_agent_request){
        SPACE_OF(l->steps || l->numbered ? S : 0, A, l->steps ? H : 1), .kind = l->kind,
        .guarantee = {TACIT_MODEL_LOCAL, epsilons[random_below(seed, N_OF(epsilons))],
                      l->pure ? 0 : 1e-4},
        .stationary = random_below(seed, 2) == 0,
        .episodes = users[random_below(seed, N_OF(users))]};
    static tacit_setting setting;
    if (random_below(seed, 2) == 0 && set_parameter(l->kind, seed, &setting)) {
        q->settings = &setting;
        q->n_settings = 1;
    }
    if (random_below(seed, 2) == 0)
        c->monitor = (tacit_guarantee){TACIT_MODEL_LOCAL, 0.5, 0};
    k->features = l->features;
    k->disjoint = l->disjoint;
    k->bound = l->features > 0 ? bounds[random_below(seed, N_OF(bounds))] : 0;
    k->parts = l->mixture ? PARTS : 0;
    if (l->numbered) {
        size_t n = S * A * D;
        double *x = k->table[TACIT__TABLE_FEATURES] = table_of(n);
        for (size_t i = 0; i < n; i++)
            x[i] = 0.5 * k->bound * random_unit(seed);
        if (random_below(seed, 3) == 0) { /* one context at the end of what is taken for rounding */
            memset(x, 0, D * sizeof *x);
            x[1] = k->bound * (1 + 9e-10);
        }
    }
    if (l->rewards) {
        double *x = k->table[TACIT__TABLE_REWARDS] = table_of(H * S * A);
        for (size_t i = 0; i < H * S * A; i++)
            x[i] = random_unit(seed);
    }
    if (l->mixture) {
        double *x = k->table[TACIT__TABLE_MIXTURE] = table_of(S * A * PARTS * S);
        for (size_t i = 0; i < S * A * PARTS; i++)
            x[i * S + random_below(seed, S)] = 1;
    }
    tacit__world_tables_set_request(k, q);
    c->per_user = tacit__world_tables_per_user(k, q);
}

static void learn_something(tacit_agent *agent, const tacit__learner_config *c, uint64_t *seed)
{
    double features[2 * A * D] = {0}, rewards[H];
    uint32_t states[H + 1], actions[H];
    for (int k = 0; k < USERS; k++) {
        tacit_billboard board;
        for (size_t h = 0; h < H; h++) {
            rewards[h] = random_unit(seed);
            actions[h] = (uint32_t)random_below(seed, A);
        }
        for (size_t h = 0; h <= H; h++)
            states[h] = (uint32_t)random_below(seed, S);
        const tacit_trajectory t = {
            STEPS_OF(c->request.n_states > 0 ? states : NULL, actions, rewards),
            .features = c->per_user > 0 ? features : NULL};
        assert_ok(tacit_agent_plan(agent, &board, NULL));
        tacit_status status = tacit_agent_learn(agent, &t, NULL);
        assert_true(status == TACIT_OK || status == TACIT_EXHAUSTED);
    }
}

/* Words of a model become wild: few or all. */
static void spoil_model(char *text, uint64_t *seed)
{
    static uint8_t bytes[1 << 16];
    char *start = strstr(text, "\"model_bytes\":\"");
    size_t size = 0;
    if (start == NULL)
        return;
    start += strlen("\"model_bytes\":\"");
    size_t length = strcspn(start, "\"");
    assert_true(tacit__base64_read(start, length, bytes, sizeof bytes, &size));
    const uint64_t share = random_below(seed, 2) == 0 ? 2 : size / 8;
    for (size_t at = 24; at + 8 <= size; at += 8)
        if (random_below(seed, share) == 0) {
            double x = pick(seed);
            memcpy(bytes + at, &x, sizeof x); /* low byte first, as here */
        }
    char kept = start[length];
    tacit__base64_write(bytes, size, start);
    start[length] = kept;
}

static void spoil_digit(char *text, const char *key, uint64_t *seed)
{
    char *at = strstr(text, key);
    size_t skip = random_below(seed, 12);
    for (; at != NULL && *at != '\0'; at++)
        if (*at >= '0' && *at <= '9' && skip-- == 0) {
            *at = (char)('0' + random_below(seed, 10));
            return;
        }
}

/* A billboard, and then one that is worse; to be freed. NULL: the server itself cannot make such a learner.
 */
static char *publish(const learner *l, uint64_t *seed)
{
    tacit__learner_config c;
    SCOPED(tacit_agent) *agent = NULL;
    tacit__board *board = NULL;
    tacit__text out = {0};
    declare(l, seed, &c);
    tacit_status status = agent_try(&c.request, *seed, &agent, NULL);
    if (status == TACIT_OK) {
        tacit_billboard look;
        learn_something(agent, &c, seed);
        assert_ok(tacit_agent_plan(agent, &look, NULL));
        assert_ok(tacit__board_create(agent, &c.request, NULL, USERS, &board, NULL));
        tacit__text_put(&out, "{\"learner\":\"hostile\",\"version\":1,\"users\":4,");
        tacit__describe_learner(&c, &out);
        tacit__describe_monitor(&c, &out);
        tacit__describe_board(&c, board, &out);
        tacit__text_put(&out, "}");
    }
    tacit__board_release(board);
    tacit__world_tables_destroy(&c.known);
    return out.data;
}

/* --- The device ------------------------------------------------------------------------------------ */

/* Every step, every number: anything. */
static void live(tacit_client *client, uint64_t *seed)
{
    const tacit_client_facts *f = tacit_client_describe(client);
    static uint32_t states[64], actions[64];
    static double rewards[64], features[1024];
    assert_true(f->horizon < 64 && (f->horizon + 1) * f->per_situation <= N_OF(features));
    for (size_t h = 0; h <= f->horizon; h++)
        states[h] = random_below(seed, 2) == 0 ? (uint32_t)random_word(seed)
                                               : (uint32_t)random_below(seed, S);
    for (size_t i = 0; i < (f->horizon + 1) * f->per_situation; i++)
        features[i] = pick(seed);
    tacit_error err = {0};
    for (size_t h = 0; h < f->horizon; h++) {
        double p;
        rewards[h] = pick(seed);
        const tacit_situation here = {
            .step = h,
            .state = states[h],
            .features = f->per_situation > 0 ? features + h * f->per_situation : NULL};
        if (tacit_client_act(client, &here, &actions[h], &p, &err) != TACIT_OK)
            fail_msg("a device does not act: %s", err.message);
        assert_true(actions[h] < f->n_actions && p >= 0 && p <= 1.001);
        if (random_below(seed, 4) == 0)
            actions[h] = (uint32_t)random_word(seed); /* the program on the device is wrong */
    }
    const tacit_trajectory t = {STEPS_OF(f->per_situation > 0 ? NULL : states, actions, rewards),
                                .features = f->per_situation > 0 ? features : NULL};
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    if (tacit_client_report(client, &t, &body, key, &err) != TACIT_OK)
        fail_msg("a device is silent: %s", err.message);
    free(body);
}

static bool believe(const char *text, uint64_t *seed)
{
    static const tacit_client_terms terms = {.epsilon = 10, .delta = 0.01, .memory = 1 << 26};
    SCOPED(tacit_client) *client = NULL;
    tacit_error err = {0};
    if (tacit_client_create(text, strlen(text), &terms, &client, &err) != TACIT_OK) {
        assert_true(client == NULL && err.message[0] != '\0');
        return false;
    }
    live(client, seed);
    return true;
}

TEST(a_device_reports_or_does_not_begin)
{
    tacit__seal_start();
    for (size_t i = 0; i < N_OF(learners); i++) {
        size_t believed = 0, refused = 0, honest = 0;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t seed = 1000 * i + round;
            SCOPED_FREE char *text = publish(&learners[i], &seed);
            if (text == NULL)
                continue;
            if (!believe(text, &seed))
                fail_msg("%s: an honest billboard is refused", learners[i].kind);
            honest++;
            if (round % 3 > 0)
                spoil_model(text, &seed);
            if (round % 3 != 1)
                spoil_digit(text, round % 2 ? "\"policy\"" : "\"mixed\"", &seed);
            if (round % 7 == 0)
                text[random_below(&seed, strlen(text))] = (char)(32 + random_below(&seed, 90));
            if (believe(text, &seed))
                believed++;
            else
                refused++;
        }
        if (honest < ROUNDS / 4 || believed == 0 || refused == 0)
            fail_msg("%s: %zu honest, %zu believed, %zu refused", learners[i].kind, honest,
                     believed, refused);
    }
}

/* --- The cases that are known ---------------------------------------------------------------------- */

/* NULL: refused. */
static tacit_client *open_client(const char *text)
{
    static const tacit_client_terms terms = {.epsilon = 10, .delta = 0.01, .memory = 1 << 26};
    tacit_client *client = NULL;
    tacit_error err = {0};
    tacit_status status = tacit_client_create(text, strlen(text), &terms, &client, &err);
    assert_true(status == TACIT_OK || status == TACIT_OUT_OF_BOUND);
    return client;
}

/* Another action in row `row` of the table, in as many characters; false: there is no such row. */
static bool change_table(char *text, size_t row)
{
    char *table = strstr(text, "\"policy\":[[");
    if (table != NULL) {
        char *end = strstr(table, "]]");
        for (table += strlen("\"policy\":[["); table < end; table++)
            if ((*table == '0' || *table == '1') && row-- == 0) {
                *table ^= 1; /* actions 0 and 1 */
                return true;
            }
        return false;
    }
    table = strstr(text, "\"mixed\":[[[");
    assert_non_null(table);
    table += strlen("\"mixed\":[[[");
    const char *other = strncmp(table, "1,0]", 4) == 0 ? "0,1" : "1,0";
    memset(table, ' ', strcspn(table, "]"));
    memcpy(table, other, 3);
    return row == 0;
}

/* How likely the client plays this action; 0: it was not seen in 400 trials, which an action of 1/20 is once
 * in 10^9 times. */
static double chance_of(tacit_client *client, uint32_t s, uint32_t wanted)
{
    for (int trial = 0; trial < 400; trial++) {
        uint32_t action;
        double probability;
        assert_ok(
            tacit_client_act(client, &(tacit_situation){.state = s}, &action, &probability, NULL));
        if (action == wanted)
            return probability;
    }
    return 0;
}

/* Acting by one thing and reporting by another would let the server choose who reports. A policy that is not
 * the model's is refused; where the model holds two actions for equally good it may name the other one, and
 * then it changes nothing: the device goes by the model. */
TEST(a_policy_that_is_not_the_models_is_refused)
{
    static const size_t with_tables[] = {7, 8, 11,
                                         12}; /* capri, ucrl-vtr, linopt-po, posterior-kernel */
    for (size_t i = 0; i < N_OF(with_tables); i++) {
        uint64_t seed = 77 + i;
        size_t refused = 0;
        SCOPED_FREE char *text = NULL;
        while (text == NULL)
            text = publish(&learners[with_tables[i]], &seed);
        SCOPED(tacit_client) *honest = open_client(text);
        assert_non_null(honest);
        SCOPED_FREE char *other = malloc(strlen(text) + 1);
        for (size_t row = 0; strcpy(other, text) != NULL && change_table(other, row); row++) {
            SCOPED(tacit_client) *changed = open_client(other);
            refused += changed == NULL;
            for (uint32_t s = 0; s < S && changed != NULL; s++)
                for (uint32_t a = 0; a < A; a++) {
                    double p = chance_of(honest, s, a);
                    if (p > 0.05)
                        assert_true(chance_of(changed, s, a) == p);
                }
            if (changed != NULL)
                live(changed, &seed);
        }
        assert_true(refused > 0);
    }
}

/* One entry of 1e200 in a vector of the model does not make the people silent whose vector it is. */
TEST(a_huge_number_in_a_model_silences_nobody)
{
    const learner *capri = &learners[7];
    uint64_t seed = 5;
    static uint8_t bytes[1 << 16];
    size_t size = 0;
    tacit__seal_start();
    const size_t vectors =
        24 + 24 + 8 * S * A; /* where they begin; in the last epoch there are none */
    char *text = NULL, *start = NULL;
    size_t length = 0;
    while (size <= vectors) {
        free(text);
        text = publish(capri, &seed);
        if (text == NULL)
            continue;
        start = strstr(text, "\"model_bytes\":\"") + strlen("\"model_bytes\":\"");
        length = strcspn(start, "\"");
        assert_true(tacit__base64_read(start, length, bytes, sizeof bytes, &size));
    }
    const double huge = 1e200;
    for (size_t at = vectors; at < size; at += 8)
        memcpy(bytes + at, &huge, sizeof huge);
    tacit__base64_write(bytes, size, start);
    start[length] = '"';
    for (int k = 0; k < 20; k++)
        assert_true(believe(text, &seed));
    free(text);
}

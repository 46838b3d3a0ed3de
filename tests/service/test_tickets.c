/* What decisions carry: features on a grid, tickets that are small, episodes that hold no more than is
 * learned; and that nothing else is learned for it. Bodies of bytes are here, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noise/seal.h"
#include "serve/people/episode.h"
#include "serve/people/feature_grid.h"
#include "serve/people/ticket.h"
#include "service/plain.h"
#include "store/vault/vault.h"
#include "support/random.h"

/* --- The grid ----------------------------------------------------------------------------------- */

TEST(rounding_twice_is_rounding_once_and_nothing_grows)
{
    enum { N = 64 };
    static const double bounds[] = {1, 0.75, 1.5, 3, 1e-100, 1e100, 0x1p-30, 12345.678};
    uint64_t seed = 7;
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        const double bound = bounds[b], step = tacit__grid_step(bound);
        assert_true(0x1p30 * step <= bound && bound < 0x1p31 * step);
        for (int round = 0; round < 200; round++) {
            double x[N], once[N], twice[N], back[N];
            uint8_t bytes[4 * N];
            for (size_t i = 0; i < N; i++) {
                x[i] = (2 * random_unit(&seed) - 1) * bound;
                if (round % 10 == 0) /* the ends, and near nothing */
                    x[i] = i % 4 == 0 ? bound : i % 4 == 1 ? -bound * (1 + 1e-9) : x[i] * 0x1p-28;
                if (i == 0)
                    x[i] = -0.0;
            }
            memcpy(once, x, sizeof x);
            tacit__grid_round(step, N, once);
            memcpy(twice, once, sizeof once);
            tacit__grid_round(step, N, twice);
            assert_memory_equal(once, twice, sizeof once);
            tacit__grid_pack(step, N, x, bytes);
            tacit__grid_unpack(step, N, bytes, back);
            assert_memory_equal(back, once, sizeof back); /* by either way */
            for (size_t i = 0; i < N; i++) {
                assert_true(fabs(once[i]) <= fabs(x[i]) && fabs(once[i] - x[i]) <= 2 * step);
            }
        }
    }
}

/* --- Episodes ----------------------------------------------------------------------------------- */

enum { D = 6, ACTIONS = 5, USERS = 40 };

static const tacit_bandit shared = {.dimension = D, .bound = 1.5},
                          disjoint = {.dimension = D, .bound = 1.5, .disjoint = true};

static tacit__learner_config make_config(const tacit_bandit *bandit)
{
    tacit__learner_config c = {
        .request = {.kind = "lin-ucb",
                    .guarantee = {TACIT_MODEL_JOINT, 1, 1e-6},
                    .n_actions = ACTIONS,
                    .horizon = 1,
                    .episodes = USERS + 1,
                    .bandit = bandit,
                    .outside = TACIT_OUTSIDE_CLIP},
        .known = {.features = D, .bound = bandit->bound, .disjoint = bandit->disjoint},
        .per_user = D * (bandit->disjoint ? 1 : ACTIONS),
        .chosen_only = true};
    return c;
}

static tacit_agent *make_agent(const tacit__learner_config *c)
{
    tacit_agent *agent;
    SCOPED(tacit_noise) *noise = simulated_noise(11);
    assert_ok(tacit_agent_create(&c->request, noise, &agent, NULL));
    return agent;
}

static uint8_t *save(const tacit_agent *agent, size_t *size)
{
    assert_ok(tacit_agent_save(agent, NULL, size, NULL));
    uint8_t *bytes = malloc(*size);
    assert_ok(tacit_agent_save(agent, bytes, size, NULL));
    return bytes;
}

/* A user whose features are on the grid already, as the door leaves them. */
static void make_user(const tacit__learner_config *c, uint64_t *seed, double *features,
                      uint32_t *action, double *reward)
{
    for (size_t i = 0; i < c->per_user; i++)
        features[i] = (2 * random_unit(seed) - 1) * c->known.bound / sqrt(D);
    tacit__grid_round(tacit__grid_step(c->known.bound), c->per_user, features);
    *action = (uint32_t)random_below(seed, ACTIONS);
    *reward = random_unit(seed);
}

TEST(what_is_learned_is_the_same_bit_for_bit)
{
    const tacit_bandit *bandits[] = {&shared, &disjoint};
    for (size_t b = 0; b < 2; b++) {
        const tacit__learner_config c = make_config(bandits[b]);
        SCOPED(tacit_agent) *with_all = make_agent(&c), *with_chosen = make_agent(&c);
        const size_t size = tacit__episode_size(&c);
        uint64_t seed = 5;
        assert_true(size < 100); /* 6 features, and not 2 x 30 */
        for (int k = 0; k < USERS; k++) {
            double features[D * ACTIONS], reward, bytes[32] = {0}, room[D * ACTIONS];
            uint32_t action, states[2] = {0};
            uint8_t situation[4 * D];
            const char *field;
            make_user(&c, &seed, features, &action, &reward);
            const tacit_trajectory whole = {STEPS_OF(states, &action, &reward),
                                            .features = features};
            assert_ok(tacit_agent_learn(with_all, &whole, NULL));
            tacit__stored_situation_pack(&c, features, action, situation);
            tacit__episode e = tacit__episode_view(&c, bytes);
            const tacit__observation told = {
                .action = action, .situation = situation, .has_reward = true, .reward = reward};
            assert_true(tacit__episode_add(&e, &told, &field));
            tacit_trajectory t = tacit__episode_trajectory(&e, room);
            assert_ok(tacit_agent_learn(with_chosen, &t, NULL));
        }
        size_t one_size, other_size;
        uint8_t *one = save(with_all, &one_size), *other = save(with_chosen, &other_size);
        assert_true(one_size == other_size);
        assert_memory_equal(one, other, one_size);
        free(one);
        free(other);
    }
}

/* As episodes were kept before: rewards, all features of two situations, states, actions, marks. */
TEST(an_episode_of_an_earlier_version_is_understood)
{
    const tacit__learner_config c = make_config(&shared);
    tacit__learner_config before = c;
    before.chosen_only = false;
    uint64_t seed = 9;
    double features[D * ACTIONS], reward, old[128] = {0}, expected[32] = {0}, got[32] = {0};
    uint32_t action;
    uint8_t situation[4 * D];
    const char *field;
    make_user(&c, &seed, features, &action, &reward);
    tacit__episode e = tacit__episode_view(&before, old);
    tacit__observation told = {.action = action,
                               .situation = (const uint8_t *)features,
                               .has_reward = true,
                               .reward = reward};
    assert_true(tacit__episode_size(&before) <= sizeof old);
    assert_true(tacit__episode_add(&e, &told, &field));
    e = tacit__episode_view(&c, expected);
    tacit__stored_situation_pack(&c, features, action, situation);
    told.situation = situation;
    assert_true(tacit__episode_add(&e, &told, &field));
    assert_true(tacit__episode_read(&c, old, tacit__episode_size(&before), got));
    assert_memory_equal(got, expected, tacit__episode_size(&c));
    assert_true(tacit__episode_read(&c, expected, tacit__episode_size(&c), got));
    assert_false(tacit__episode_read(&c, old, tacit__episode_size(&before) - 1, got));
    assert_false(tacit__episode_read(&before, expected, tacit__episode_size(&c), got));
}

/* --- Digests ------------------------------------------------------------------------------------ */

TEST(a_digest_knows_a_repetition_from_a_contradiction)
{
    const uint8_t key[TACIT__SHORT_KEY] = {1}, name[TACIT__VAULT_KEY] = {2}, other[16] = {3};
    const tacit__digest_key k = {key, name}, elsewhere = {key, other};
    const tacit__learner_config c = {.request = {SPACE_OF(9, 3, 2)}};
    double bytes[16] = {0};
    const char *field;
    tacit__episode e = tacit__episode_view(&c, bytes);
    tacit__observation told[2] = {
        {.step = 0, .state = 1, .action = 2, .has_reward = true, .reward = 0, .has_next = true},
        {.step = 1, .state = 0, .action = 1, .has_reward = true, .reward = 1, .has_next = true}};
    told[1].next_state = 7;
    assert_true(tacit__episode_add(&e, &told[0], &field) &&
                tacit__episode_add(&e, &told[1], &field) && tacit__episode_is_finished(&e));
    uint8_t digest[64], again[64];
    assert_true(tacit__episode_digest_size(&c) <= sizeof digest);
    tacit__episode_digest(&e, &k, digest);
    for (int h = 0; h < 2; h++) {
        assert_true(tacit__digest_agrees(&c, digest, &k, &told[h], &field));
        tacit__observation t = told[h];
        t.reward = h == 0 ? -0.0 : 0.999; /* -0 is 0 */
        assert_int_equal(tacit__digest_agrees(&c, digest, &k, &t, &field), h == 0);
        t.has_reward = false;
        assert_true(tacit__digest_agrees(&c, digest, &k, &t, &field));
        t.next_state++;
        assert_false(tacit__digest_agrees(&c, digest, &k, &t, &field));
        assert_string_equal(field, "next_state");
        t = told[h];
        t.action = 0;
        assert_false(tacit__digest_agrees(&c, digest, &k, &t, &field));
        assert_string_equal(field, "decision");
        t = told[h];
        t.state = 5;
        assert_false(tacit__digest_agrees(&c, digest, &k, &t, &field));
        assert_string_equal(field, "decision");
    }
    tacit__episode_digest(&e, &elsewhere, again); /* equal data of two people look unlike */
    for (size_t i = 0; i < tacit__episode_digest_size(&c); i += 4)
        assert_memory_not_equal(digest + i, again + i, 4);
}

/* --- The service -------------------------------------------------------------------------------- */

#define LINEAR "agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}"

static char large[1 << 18];

/* Speaks a body that may be bytes; the status, and the answer in `answer`. */
static int post_bytes(const server *s, const char *path, const char *extra, const void *body,
                      size_t size)
{
    char head[600];
    int fd = server_connect(s);
    int n =
        snprintf(head, sizeof head,
                 "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n"
                 "Content-Length: %zu\r\n%s\r\n",
                 path, s->token, size, extra);
    server_say(fd, head, (size_t)n);
    server_say(fd, body, size);
    size_t got = server_hear(fd, answer, sizeof answer - 1, 10000);
    (void)close(fd);
    answer[got] = '\0';
    int status = 0;
    (void)sscanf(answer, "HTTP/1.1 %d", &status);
    return status;
}

TEST(a_ticket_is_small)
{
    enum { FEATURES = 150, CHOICES = 100 };
    char decision[2048];
    SERVER(s, "listen: 127.0.0.1:0\nstore: service.db\nlimits: {body: 400000}\nlearners:\n"
              "  - {name: wide, space: {features: 150, actions: 100}, users: 1000, " LINEAR "}\n");
    size_t used = (size_t)snprintf(large, sizeof large, "{\"context\":[");
    for (int i = 0; i < FEATURES * CHOICES; i++)
        used += (size_t)snprintf(large + used, sizeof large - used, "%s%.4f", i > 0 ? "," : "",
                                 0.08 * ((i * 7) % 11 - 5) / 5);
    used += (size_t)snprintf(large + used, sizeof large - used, "]}");
    assert_int_equal(post_bytes(&s, "/v1/decide", "", large, used), 200);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    assert_true(strlen(decision) < 1024);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_error(observe(&s, decision, ",\"reward\":0"), 409, "contradiction", "reward");
    server_wait_users(&s, "wide", 1);
}

static const char two[] =
    "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
    "  - {name: lin, space: {features: 3, actions: 2}, users: 100, " LINEAR "}\n"
    "  - {name: arms, space: {states: 2, actions: 2, horizon: 1}, users: 100,"
    " agent: " JOINT "}\n"
    "  - {name: walk, space: {features: 2, actions: 2, horizon: 2}, users: "
    "100, agent: {kind: lsvi-ucb, privacy: {model: joint, epsilon: 1}}}\n";

TEST(contexts_come_as_bytes)
{
    static const char bytes[] = "Content-Type: application/octet-stream\r\n",
                      ann[] = "Content-Type: application/octet-stream; x=1\r\nTacit-User: ann\r\n";
    double x[6] = {0.5, -0.25, 0.125, 0.1, 0.2, 0.3};
    char decision[1024], word[64], episode[512];
    SERVER(s, two);
    assert_int_equal(post_bytes(&s, "/v1/decide?learner=lin", ann, x, sizeof x), 200);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    /* the same user by the other way */
    assert_int_equal(server_post(&s, "/v1/decide",
                                 "{\"learner\":\"lin\",\"user\":\"ann\",\"context\":[0.5,-0.25,"
                                 "0.125,0.1,0.2,0.3]}",
                                 answer),
                     200);
    assert_non_null(strstr(answer, "\"learned\":false"));
    assert_error(post_bytes(&s, "/v1/decide?learner=lin", bytes, x, sizeof x - 1), 422,
                 "out_of_range", "body");
    assert_error(post_bytes(&s, "/v1/decide?learner=lin", bytes, x, 0), 422, "out_of_range",
                 "body");
    assert_error(post_bytes(&s, "/v1/decide?learner=arms", bytes, x, sizeof x), 422, "out_of_range",
                 "body");
    x[2] = (double)NAN;
    assert_error(post_bytes(&s, "/v1/decide?learner=lin", bytes, x, sizeof x), 422, "out_of_range",
                 "context");
    x[2] = 17;
    assert_error(post_bytes(&s, "/v1/decide?learner=lin", bytes, x, sizeof x), 422, "out_of_range",
                 "context");
    assert_error(server_ask(&s, s.token, "POST", "/v1/decide", "Tacit-User: bob\r\n",
                            "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann\"}", answer),
                 422, "out_of_range", "user");
    /* the step, where there are several, is in the query */
    x[2] = 0.125;
    open_episode(&s, "{\"learner\":\"walk\"}", episode);
    assert_int_equal(
        post_bytes(&s, fmt("/v1/episodes/%s/decide?step=1", episode), bytes, x, 4 * sizeof *x),
        200);
    assert_true(json_field(answer, "step", word, sizeof word));
    assert_string_equal(word, "1");
    assert_error(
        post_bytes(&s, fmt("/v1/episodes/%s/decide?step=2", episode), bytes, x, 4 * sizeof *x), 422,
        "out_of_range", "step");
}

/* A decision that was given before tickets were small. */
TEST(a_ticket_of_an_earlier_version_is_understood)
{
    uint8_t master[TACIT__KEY_BYTES], key[TACIT__KEY_BYTES];
    tacit__vault *vault = NULL;
    SERVER(s, two);
    FILE *file = fopen(s.key, "r");
    assert_true(file != NULL && fread(master, 1, sizeof master, file) == sizeof master);
    (void)fclose(file);
    assert_ok(tacit__vault_open(s.store, TACIT__VAULT_READ, master, &vault, NULL));
    memcpy(key, tacit__vault_key(vault, TACIT__VAULT_TICKETS), sizeof key);
    tacit__vault_close(vault);
    const double x[6] = {0.5, -0.25, 0.125, 0.1, 0.2, 0.3};
    tacit__ticket t = {.kind = TACIT__TICKET_DECISION,
                       .learner = 1,
                       .opened = time(NULL),
                       .episode = {42},
                       .action = 1,
                       .n_features = 6,
                       .version = 1,
                       .probability = 1};
    SCOPED_BY(tacit__text_destroy) tacit__text text = {0};
    tacit__ticket_write(key, &t, (const uint8_t *)x, true, &text);
    assert_observed(&s, text.data, ",\"reward\":1", "finished");
    assert_observed(&s, text.data, ",\"reward\":1", "finished");
    server_wait_users(&s, "lin", 1);
    tacit__text_destroy(&text);
    t.n_features = 5; /* of no shape */
    t.episode[0] = 43;
    tacit__ticket_write(key, &t, (const uint8_t *)x, true, &text);
    assert_error(observe(&s, text.data, ",\"reward\":1"), 422, "out_of_range", "decision");
}

int main(void)
{
    tacit__seal_start();
    return test_run(NULL, NULL);
}

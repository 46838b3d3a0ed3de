/* Parts of the service on their own: files, tickets, episodes, the monitor, the vault, the table of routes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "noise/seal.h"
#include "release/monitor.h"
#include "serve/config.h"
#include "serve/http/routes.h"
#include "serve/key.h"
#include "serve/people/episode.h"
#include "serve/people/ticket.h"
#include "store/vault/vault.h"
#include "store/vault/vault_maintenance.h"
#include "support/cases.h"
#include "support/check.h"

SCOPED_TYPE(tacit__monitor, tacit__monitor_destroy)

/* --- Files -------------------------------------------------------------------------------------- */

#define AGENT "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"
#define SPACE "space: {states: 3, actions: 2, horizon: 4}"

static void refuse(char *text, char answer[CASE_TEXT])
{
    tacit__service_config c;
    tacit_error err = {0};
    assert_true(tacit__service_config_parse(text, strlen(text), "dir/s.yaml", &c, &err) !=
                TACIT_OK);
    (void)snprintf(answer, CASE_TEXT, "%s", err.message);
}

TEST(files_are_read_or_refused_with_the_line)
{
    cases_run("service/cases/parts", (const case_word[]){{"$SPACE", SPACE}, {"$AGENT", AGENT}, {0}},
              refuse);
    static const char meant[] =
        "store: a\nlearners:\n  - {name: a, " SPACE ", users: 5, agent: {kind: dp-ucbvi, privacy: "
        "{model: joint, epsilon: 1, delta: 0.25, delta_above_one_over_users: yes}}, monitor: "
        "{epsilon: 1, delta: 0.3, delta_above_one_over_users: yes}}\n"
        "  - {name: b, " SPACE ", users: 5, agent: {kind: ucbvi, privacy: {model: none}}}\n"
        "  - {name: c, " SPACE ", users: 5, agent: {kind: dp-ucbvi, privacy: {model: joint, "
        "epsilon: 1, delta: 0.2}}}\n";
    SCOPED_BY(tacit__service_config_free) tacit__service_config c;
    assert_ok(tacit__service_config_parse(meant, sizeof meant - 1, "dir/s.yaml", &c, NULL));
    assert_true(c.learners[0].request.guarantee.delta == 0.25 &&
                c.learners[0].monitor.delta == 0.3);
    tacit__service_config_free(&c);
    static const char good[] =
        "listen: \"[::1]:99\"\nstore: a.db\nkey: /etc/key\nlimits: {body: 100}\n"
        "learners:\n  - {name: a, " SPACE ", users: 5, " AGENT "}\n"
        "  - {name: b, space: {features: 7, actions: 3}, users: 9, " AGENT "}\n";
    assert_ok(tacit__service_config_parse(good, sizeof good - 1, "dir/s.yaml", &c, NULL));
    assert_string_equal(c.host, "::1");
    assert_true(c.port == 99 && c.limits.body == 100 && c.n_learners == 2);
    assert_string_equal(c.store, "dir/a.db"); /* beside the file */
    assert_string_equal(c.key, "/etc/key");
    assert_true(c.learners[0].request.horizon == 4 && c.learners[0].per_user == 0);
    assert_true(c.learners[1].per_user == 21 && c.learners[1].request.horizon == 1);
    assert_true(c.learners[1].request.guarantee.delta == 1 / 90.0);
    tacit__service_config_free(&c);
    assert_survives_no_memory(
        tacit__service_config_parse(good, sizeof good - 1, "dir/s.yaml", &c, NULL), (void)0);
}

/* --- Tickets ------------------------------------------------------------------------------------ */

TEST(tickets_come_back_as_they_went_and_cannot_be_made)
{
    const uint8_t key[TACIT__KEY_BYTES] = {7}, other[TACIT__KEY_BYTES] = {8};
    static double features[300];
    for (size_t n = 0; n <= 300; n += 150) {
        tacit__ticket t = {.kind = TACIT__TICKET_DECISION,
                           .learner = 3,
                           .opened = 1700000000,
                           .step = 4,
                           .state = 5,
                           .action = 6,
                           .n_features = (uint32_t)n,
                           .version = 9,
                           .probability = 0.25},
                      back;
        SCOPED_BY(tacit__text_destroy) tacit__text text = {0};
        uint8_t *x = NULL;
        for (size_t i = 0; i < n; i++)
            features[i] = (double)i / 300;
        tacit__ticket_write(key, &t, (const uint8_t *)features, n > 150, &text);
        assert_true(
            tacit__ticket_read(key, TACIT__TICKET_DECISION, text.data, text.length, &back, &x));
        assert_memory_equal(&t, &back, sizeof t);
        if (n > 0)
            assert_memory_equal(features, x, n * sizeof *features);
        tacit__free(x);
        assert_false(
            tacit__ticket_read(other, TACIT__TICKET_DECISION, text.data, text.length, &back, &x));
        assert_false(
            tacit__ticket_read(key, TACIT__TICKET_EPISODE, text.data, text.length, &back, &x));
        for (size_t cut = 0; cut < text.length; cut += 1 + text.length / 40)
            assert_false(
                tacit__ticket_read(key, TACIT__TICKET_DECISION, text.data, cut, &back, &x));
        for (size_t i = 0; i + 1 < text.length; i += 1 + text.length / 40) {
            char kept = text.data[i];
            text.data[i] = kept == 'x' ? 'y' : 'x';
            assert_false(
                tacit__ticket_read(key, TACIT__TICKET_DECISION, text.data, text.length, &back, &x));
            text.data[i] = kept;
        }
    }
}

/* --- Episodes ----------------------------------------------------------------------------------- */

TEST(who_is_not_learned_from_is_only_counted)
{
    enum { STEPS = 3, FEATURES = 4 };
    const tacit__learner_config c = {.request = {.n_actions = 2, .horizon = STEPS},
                                     .per_user = FEATURES};
    double bytes[64] = {0}, features[FEATURES] = {0.25, 0.5, 0.75, 1};
    const char *field;
    assert_true(tacit__episode_size(&c) <= sizeof bytes);
    tacit__episode e = tacit__episode_view(&c, bytes);
    tacit__observation told = {.state = 7,
                               .action = 1,
                               .situation = (const uint8_t *)features,
                               .has_reward = true,
                               .has_next = true,
                               .reward = 0.5,
                               .next_state = 9,
                               .next_situation = (const uint8_t *)features};
    assert_true(tacit__episode_add(&e, &told, &field)); /* before the last user came */
    for (size_t h = 0; h < STEPS; h++) {
        assert_false(tacit__episode_is_finished(&e));
        told.step = h;
        tacit__episode_count(&e, &told);
        tacit__episode_count(&e, &told); /* again: the same */
        assert_int_equal(tacit__episode_length(&e), h + 1);
        const uint8_t *raw = (const uint8_t *)bytes;
        for (size_t i = 0; i < tacit__episode_size(&c) - (STEPS + 1); i++)
            assert_int_equal(raw[i], 0);
    }
    assert_true(tacit__episode_is_finished(&e));
}

TEST(episodes_grow_in_any_order)
{
    const tacit__learner_config c = {.request = {SPACE_OF(5, 3, 3)}, .per_user = 0};
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}};
    for (size_t o = 0; o < N_OF(orders); o++) {
        double bytes[32] = {0};
        const char *field;
        assert_true(tacit__episode_size(&c) <= sizeof bytes);
        tacit__episode e = tacit__episode_view(&c, bytes);
        for (size_t i = 0; i < 3; i++) {
            size_t h = (size_t)orders[o][i];
            assert_false(tacit__episode_is_finished(&e));
            tacit__observation told = {.step = h,
                                       .state = (uint32_t)h,
                                       .action = (uint32_t)h,
                                       .has_reward = true,
                                       .reward = 0.25 * (double)h,
                                       .has_next = h == 2,
                                       .next_state = 4};
            assert_true(tacit__episode_add(&e, &told, &field));
            assert_true(tacit__episode_add(&e, &told, &field)); /* again: the same */
            told.reward = 0.9;
            assert_false(tacit__episode_add(&e, &told, &field));
            assert_string_equal(field, "reward");
            told.action = 2 - told.action;
            if (told.action != h) {
                assert_false(tacit__episode_add(&e, &told, &field));
                assert_string_equal(field, "decision");
            }
        }
        assert_true(tacit__episode_is_finished(&e) && tacit__episode_length(&e) == 3);
        tacit_trajectory t = tacit__episode_trajectory(&e, NULL);
        assert_true(t.states[0] == 0 && t.states[2] == 2 && t.states[3] == 4 && t.actions[1] == 1);
        assert_true(t.rewards[2] == 0.5 && tacit__episode_mean(&e) == 0.25 && t.features == NULL);
    }
}

/* --- The monitor -------------------------------------------------------------------------------- */

TEST(the_monitor_goes_on_where_it_was_saved)
{
    const tacit_guarantee g = {TACIT_MODEL_JOINT, 1, 1e-6};
    tacit_noise *noise;
    SCOPED(tacit__monitor) *a = NULL, *b = NULL;
    double x, y, error;
    assert_ok(tacit_noise_create_simulated(3, &noise));
    assert_ok(tacit__monitor_create(g, &(tacit__monitored){.users = 1000}, noise, &a, NULL));
    assert_ok(tacit__monitor_create(g, &(tacit__monitored){.users = 1000}, noise, &b, NULL));
    tacit_noise_destroy(noise);
    tacit__monitor_read(a, &x, &error);
    assert_true(isnan(x) && isnan(error));
    for (int i = 0; i < 500; i++)
        assert_ok(tacit__monitor_add(a, 0.75, NULL));
    uint8_t bytes[4096];
    size_t size = sizeof bytes;
    assert_ok(tacit__monitor_save(a, NULL, &size, NULL));
    assert_true(size <= sizeof bytes);
    assert_ok(tacit__monitor_save(a, bytes, &size, NULL));
    assert_status(tacit__monitor_load(b, bytes, 4, NULL), TACIT_CORRUPT);
    assert_ok(tacit__monitor_load(b, bytes, size, NULL));
    for (int i = 0; i < 500; i++) {
        assert_ok(tacit__monitor_add(a, 0.25, NULL));
        assert_ok(tacit__monitor_add(b, 0.25, NULL));
        tacit__monitor_read(a, &x, &error);
        tacit__monitor_read(b, &y, &error);
        assert_true(x == y);
    }
    assert_within(x, 0.5 - 6 * error, 0.5 + 6 * error); /* fails once in 10^8 */
    assert_status(tacit__monitor_add(a, 0.25, NULL), TACIT_EXHAUSTED);
    assert_status(tacit__monitor_add(b, 1.25, NULL), TACIT_EXHAUSTED);
}

TEST(devices_report_to_the_monitor)
{
    enum { USERS = 4000 };
    const tacit_guarantee both[] = {{TACIT_MODEL_LOCAL, 1, 0}, {TACIT_MODEL_LOCAL, 1, 1e-6}};
    for (int i = 0; i < 2; i++) {
        tacit_noise *noise, *other;
        SCOPED(tacit__monitor) *device = NULL, *server = NULL;
        double mean, error;
        uint8_t report[TACIT__MONITOR_REPORT];
        assert_ok(tacit_noise_create_simulated(5, &noise));
        assert_ok(tacit_noise_create_simulated(6, &other));
        assert_ok(tacit__monitor_create(both[i], &(tacit__monitored){.users = USERS}, noise,
                                        &device, NULL));
        assert_ok(tacit__monitor_create(both[i], &(tacit__monitored){.users = USERS}, other,
                                        &server, NULL));
        tacit_noise_destroy(noise);
        tacit_noise_destroy(other);
        assert_status(tacit__monitor_report(device, 1.25, report, NULL), TACIT_OUT_OF_BOUND);
        assert_status(tacit__monitor_report(device, (double)NAN, report, NULL), TACIT_NOT_FINITE);
        memset(report, 0x7f, sizeof report); /* no honest device is that far off */
        assert_status(tacit__monitor_check(server, report, NULL), TACIT_OUT_OF_BOUND);
        assert_status(tacit__monitor_absorb(server, report, NULL), TACIT_OUT_OF_BOUND);
        for (int k = 0; k < USERS; k++) {
            assert_ok(tacit__monitor_report(device, k % 4 == 0 ? 1 : 0.2, report, NULL));
            assert_ok(tacit__monitor_check(server, report, NULL));
            assert_ok(tacit__monitor_absorb(server, report, NULL));
        }
        tacit__monitor_read(server, &mean, &error);
        /* sqrt(2) / epsilon, or the Gaussian's scale, over sqrt(users) */
        assert_within(error, i == 0 ? 0.0223 : 0.06, i == 0 ? 0.0225 : 0.08);
        assert_within(mean, 0.4 - 6 * error, 0.4 + 6 * error); /* fails once in 10^8 */
        assert_status(tacit__monitor_report(device, 0.5, report, NULL), TACIT_EXHAUSTED);
    }
}

/* --- The vault ---------------------------------------------------------------------------------- */

static const uint8_t master[TACIT__KEY_BYTES] = "a test's";

TEST(a_vault_counts_everybody_once)
{
    char directory[] = P_tmpdir "/tacit-vault-XXXXXX", path[128];
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/v.db", directory);
    tacit__vault *v, *second;
    tacit_error err = {0};
    assert_status(tacit__vault_open(path, TACIT__VAULT_TOOL, master, &v, &err), TACIT_BAD_ARGUMENT);
    assert_ok(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_status(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &second, &err), TACIT_SYSTEM);
    const uint8_t wrong[TACIT__KEY_BYTES] = "another's";
    assert_status(tacit__vault_open(path, TACIT__VAULT_READ, wrong, &second, &err),
                  TACIT_WRONG_PLAN);
    tacit__vault_learner l = {.limit = 3};
    const uint8_t data[] = "somebody's data", state_bytes[] = "everything";
    assert_ok(tacit__vault_add_learner(v, "one", &l, state_bytes, sizeof state_bytes, &err));
    const uint8_t ann[TACIT__VAULT_KEY] = {1}, bob[TACIT__VAULT_KEY] = {2};
    tacit__vault_answer answer;
    uint8_t name[TACIT__VAULT_KEY] = {10}, key[TACIT__VAULT_KEY], *bytes;
    size_t size;
    bool seen, has;
    assert_ok(tacit__vault_save_episode(v, l.id, name, ann, 100, data, sizeof data, &answer, &err));
    assert_int_equal(answer, TACIT__VAULT_TAKEN);
    assert_ok(tacit__vault_get_episode(v, l.id, name, &bytes, &size, &seen, &err));
    assert_true(size == sizeof data && !seen && memcmp(bytes, data, size) == 0);
    tacit__free_secret(bytes, size);
    assert_ok(tacit__vault_has_person(v, l.id, ann, name, &has, &err));
    assert_false(has); /* this is her episode */
    name[0] = 11;
    assert_ok(tacit__vault_has_person(v, l.id, ann, name, &has, &err));
    assert_true(has);
    assert_ok(tacit__vault_add_user(v, l.id, name, ann, NULL, data, sizeof data, &answer, &err));
    assert_int_equal(answer, TACIT__VAULT_PERSON);
    name[0] = 10;
    assert_ok(tacit__vault_add_user(v, l.id, name, ann, NULL, data, sizeof data, &answer, &err));
    assert_int_equal(answer, TACIT__VAULT_TAKEN);
    assert_ok(tacit__vault_add_user(v, l.id, name, ann, NULL, data, sizeof data, &answer, &err));
    assert_int_equal(answer, TACIT__VAULT_SEEN);
    assert_ok(tacit__vault_get_episode(v, l.id, name, &bytes, &size, &seen, &err));
    assert_true(size == 0 && seen);
    for (uint8_t i = 0; i < 4; i++) { /* two more, and then it is full */
        name[0] = (uint8_t)(20 + i);
        assert_ok(
            tacit__vault_add_user(v, l.id, name, NULL, NULL, data, sizeof data, &answer, &err));
        assert_int_equal(answer, i < 2 ? TACIT__VAULT_TAKEN : TACIT__VAULT_FULL);
    }
    tacit__vault_health health;
    assert_ok(tacit__vault_check(v, &health, &err));
    assert_true(health.inputs == 3 && health.open == 0 && health.seen == 3);
    int64_t number = 0, first = 0;
    assert_ok(tacit__vault_next_input(v, l.id, 0, &first, key, &bytes, &size, &err));
    assert_true(size == sizeof data && memcmp(bytes, data, size) == 0);
    assert_true(key[0] == 10 && key[1] == 0); /* the name that it came under */
    tacit__free_secret(bytes, size);
    /* two of them into the state; a transaction that is undone leaves them */
    assert_ok(tacit__vault_next_input(v, l.id, first, &number, key, &bytes, &size, &err));
    tacit__free_secret(bytes, size);
    l.users = 2;
    l.taken = number;
    const tacit__vault_ledger_line line = {"visits", 3, 2};
    uint64_t passed;
    for (int round = 0; round < 2; round++) {
        assert_ok(tacit__vault_begin(v, &err));
        assert_ok(
            tacit__vault_save_learner(v, &l, state_bytes, sizeof state_bytes, &line, 1, &err));
        if (round == 0)
            tacit__vault_undo(v);
        else
            assert_ok(tacit__vault_commit(v, &err));
        assert_ok(tacit__vault_check(v, &health, &err));
        assert_true(health.inputs == (round == 0 ? 3 : 1));
        assert_ok(tacit__vault_get_steps_passed(v, l.id, "visits", &passed, &err));
        assert_true(passed == (round == 0 ? 0 : 2));
    }
    /* expiry forgets the episode and sets the person free */
    name[0] = 30;
    uint64_t expired;
    assert_ok(tacit__vault_save_episode(v, l.id, name, bob, 100, data, sizeof data, &answer, &err));
    assert_ok(tacit__vault_expire_episodes(v, 100, 10, &expired, &err));
    assert_true(expired == 0);
    assert_ok(tacit__vault_expire_episodes(v, 101, 10, &expired, &err));
    assert_true(expired == 1);
    assert_ok(tacit__vault_has_person(v, l.id, bob, NULL, &has, &err));
    assert_false(has);
    tacit__vault_close(v);
    assert_shell("rm -rf '%s'", directory);
}

/* --- Keys --------------------------------------------------------------------------------------- */

static void write_key(const char *path, const char *text, size_t size, mode_t mode)
{
    (void)unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fwrite(text, 1, size, file) == size && fclose(file) == 0);
    assert_int_equal(chmod(path, mode), 0);
}

TEST(keys_are_read_from_where_they_belong_and_made_once)
{
    char directory[] = P_tmpdir "/tacit-parts-XXXXXX", store[80], beside[90], other[90],
         credential[90];
    assert_non_null(mkdtemp(directory));
    (void)snprintf(store, sizeof store, "%s/a.db", directory);
    (void)snprintf(beside, sizeof beside, "%s.key", store);
    (void)snprintf(other, sizeof other, "%s/other", directory);
    (void)snprintf(credential, sizeof credential, "%s/tacit-key", directory);
    tacit__service_config c = {.store = store, .beside = store};
    tacit__key key, again;
    tacit_error err = {0};
    struct stat entry;
    assert_status(tacit__key_read(&c, NULL, false, &key, &err), TACIT_BAD_ARGUMENT); /* no store */
    assert_ok(tacit__key_read(&c, NULL, true, &key, &err));
    assert_true(stat(beside, &entry) == 0 && (entry.st_mode & 0777) == 0600);
    assert_ok(tacit__key_read(&c, NULL, true, &again, &err));
    assert_memory_equal(key.bytes, again.bytes, sizeof key.bytes);
    /* raw, or as hexadecimal digits; nothing else is a key */
    static const char hex[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
    for (size_t n = 0; n <= 70; n++) {
        char text[80] = {0};
        memcpy(text, hex, sizeof hex - 1);
        write_key(beside, text, n, 0600);
        tacit_status status = tacit__key_read(&c, NULL, true, &key, &err);
        bool good = n == 32 || n == 64 || n == 65;
        assert_status(status, good ? TACIT_OK : TACIT_BAD_ARGUMENT);
        for (uint8_t i = 0; i < 32 && n >= 64 && good; i++)
            assert_int_equal(key.bytes[i], i);
    }
    write_key(beside, "000102030405060708090A0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 64, 0600);
    assert_status(tacit__key_read(&c, NULL, true, &key, &err), TACIT_BAD_ARGUMENT);
    /* others may not read it; a credential may belong to a group */
    write_key(beside, hex, 64, 0640);
    assert_status(tacit__key_read(&c, NULL, true, &key, &err), TACIT_BAD_ARGUMENT);
    write_key(credential, hex, 32, 0440);
    assert_ok(tacit__key_read(&c, directory, true, &key, &err)); /* and comes first */
    assert_memory_equal(key.bytes, hex, sizeof key.bytes);
    write_key(credential, hex, 32, 0444);
    assert_status(tacit__key_read(&c, directory, true, &key, &err), TACIT_BAD_ARGUMENT);
    assert_int_equal(unlink(credential), 0);
    write_key(beside, hex, 65, 0600);
    assert_ok(tacit__key_read(&c, directory, true, &key, &err));
    /* the one that the file names, or none */
    c.key = other;
    assert_status(tacit__key_read(&c, NULL, true, &key, &err), TACIT_BAD_ARGUMENT);
    write_key(other, hex, 32, 0600);
    assert_ok(tacit__key_read(&c, NULL, true, &key, &err));
    assert_memory_equal(key.bytes, hex, sizeof key.bytes);
    /* a store without its key gets no new one; and a key needs a situation */
    c.key = NULL;
    assert_int_equal(unlink(beside), 0);
    write_key(store, "x", 1, 0600);
    assert_status(tacit__key_read(&c, NULL, true, &key, &err), TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "the store exists, but its key does not"));
    (void)snprintf(store, sizeof store, "%s/nowhere/a.db", directory);
    assert_status(tacit__key_read(&c, NULL, true, &key, &err), TACIT_SYSTEM);
    assert_shell("rm -rf '%s'", directory);
}

/* --- Routes ------------------------------------------------------------------------------------- */

TEST(routes_are_found_by_method_and_path)
{
    const char *id;
    size_t length;
    const char *allowed;
    assert_non_null(tacit__route_find("GET", "/healthz", &id, &length, &allowed));
    assert_non_null(tacit__route_find("HEAD", "/healthz", &id, &length, &allowed));
    assert_null(tacit__route_find("POST", "/healthz", &id, &length, &allowed));
    assert_string_equal(allowed, "GET, HEAD");
    assert_null(tacit__route_find("GET", "/healthz/", &id, &length, &allowed));
    assert_null(allowed);
    const tacit__route *route =
        tacit__route_find("POST", "/v1/episodes/abc/decide", &id, &length, &allowed);
    assert_true(route != NULL && length == 3 && strncmp(id, "abc", 3) == 0);
    assert_null(tacit__route_find("POST", "/v1/episodes//decide", &id, &length, &allowed));
    assert_null(tacit__route_find("POST", "/v1/episodes/a/b/decide", &id, &length, &allowed));
    unsigned bits;
    char text[64];
    assert_true(tacit__scopes_read("decide,observe", &bits) &&
                bits == (TACIT__SCOPE_DECIDE | TACIT__SCOPE_OBSERVE));
    assert_string_equal(tacit__scopes_write(bits, text), "decide,observe");
    static const char *const bad[] = {"",   ",", "decide,", ",decide", "decid", "decide observe",
                                      "all"};
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_false(tacit__scopes_read(bad[i], &bits));
}

TEST(the_reference_page_is_current)
{
    static char page[1 << 16];
    FILE *file = fopen(TACIT_TESTS_DIR "/../docs/reference/http.md", "r");
    assert_non_null(file);
    size_t n = fread(page, 1, sizeof page - 1, file);
    (void)fclose(file);
    page[n] = '\0';
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    tacit__routes_reference(&out);
    if (strcmp(page, out.data) != 0)
        fail_msg("docs/reference/http.md is not what `tacit serve --reference` prints");
}

/* Every route is in the document, under a name of its own; cli.serve reads it as JSON, and node and a
 * validator look closer, where they are (tests/openapi). */
TEST(the_openapi_document_has_every_route)
{
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    tacit__routes_openapi(&out);
    assert_false(out.failed);
    for (size_t i = 0; i < tacit__n_routes; i++) {
        const tacit__route *r = &tacit__routes[i];
        const char *path = fmt("\"%s\":{", r->path);
        const char *method = fmt("\"%s\":{", strcmp(r->method, "GET") == 0 ? "get" : "post");
        const char *at = strstr(out.data, path);
        assert_non_null(at);
        assert_non_null(strstr(at, method));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(r->name, tacit__routes[j].name);
    }
}

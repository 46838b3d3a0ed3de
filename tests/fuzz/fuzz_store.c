/* Stores that a disk or a hand has damaged: checked, exported, listed, served.
 *
 * An input is a recipe for damage to a sound store with four learners, an open episode, people who came back
 * and a token. Byte 0 says which:
 *
 *     bit 0 clear   bytes of the file: edits of four bytes each, offset (three, low first) and what is xored there
 *     bit 0 set     rows: edits of three bytes each, two of them used: which column of which table, and what it becomes in all
 *                   rows; the database itself stays sound, so that what is written in it is read
 *     bit 1 set     it is served too, which takes longer than all the tools
 *
 * Whatever is in the file: every tool says what it finds or why it cannot, and a service starts or says why
 * not. One that starts answers, and what was sealed and does not open any more is never taken for sound. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/service.h>

#include "base/memory.h"
#include "fuzz/fuzz.h"
#include "serve/http/routes.h"
#include "serve/service_inside.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"
#include "text/json.h"

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: fuzz.db\n"
    "threads: 1\n"
    "learners:\n"
    "  - {name: arms, space: {states: 2, actions: 2, horizon: 1}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 1}}\n"
    "  - {name: walk, space: {states: 2, actions: 2, horizon: 2}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: ours, space: {states: 2, actions: 2, horizon: 1}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}}\n"
    "  - {name: back, space: {states: 2, actions: 2, horizon: 1}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1, visits: 3, apart: 2}}}\n";

static char directory[] = P_tmpdir "/tacit-fuzz-XXXXXX", file_path[128], store_path[128];
static const tacit_service_options options = {.file = file_path};
static uint8_t *sound; /* the file as it was */
static size_t sound_size;
static char decision[1024];
static atomic_bool resumed;

/* --- A service, asked from within --------------------------------------------------------------- */

static void resume(tacit__request *r)
{
    (void)r;
    atomic_store(&resumed, true);
}

/* Status of the answer; its text up to `room` in `text` if that is not NULL. */
static unsigned ask(tacit_service *service, const char *path, const char *learner, const char *body,
                    char *text, size_t room)
{
    size_t i = 0;
    while (strcmp(tacit__routes[i].path, path) != 0)
        i++;
    tacit__request r = {.service = service,
                        .route = &tacit__routes[i],
                        .learner = learner,
                        .body = body,
                        .body_size = body != NULL ? strlen(body) : 0,
                        .resume = resume};
    atomic_store(&resumed, false);
    if (!r.route->handle(&r))
        while (!atomic_load(&resumed))
            (void)usleep(50);
    static tacit__json_node nodes[1 << 14];
    const char *why;
    if (r.type == NULL)
        require(tacit__json_parse(r.answer.data, r.answer.length, nodes,
                                  sizeof nodes / sizeof *nodes, &why) > 0);
    require(r.status < 500 || r.status == 503);
    if (text != NULL)
        (void)snprintf(text, room, "%.*s", (int)r.answer.length, r.answer.data);
    unsigned status = r.status;
    tacit__text_destroy(&r.answer);
    tacit__free_secret(r.data, r.data != NULL ? r.data_size : 0);
    return status;
}

static void cut(const char *answer, const char *key, char *out, size_t room)
{
    const char *at = strstr(answer, key);
    require(at != NULL);
    (void)snprintf(out, room, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
}

/* --- The sound store ---------------------------------------------------------------------------- */

static void finish(void)
{
    char command[160];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    (void)!system(command);
}

static void read_file(void)
{
    FILE *file = fopen(store_path, "rb");
    require(file != NULL && fseek(file, 0, SEEK_END) == 0);
    sound_size = (size_t)ftell(file);
    sound = malloc(sound_size);
    rewind(file);
    require(fread(sound, 1, sound_size, file) == sound_size && fclose(file) == 0);
}

/* A step of an episode for `walk` that is not its last one, and `users` whole ones for `arms`. */
static void live(tacit_service *service, int users)
{
    char answer[4096], body[2048];
    for (int i = 0; i < users; i++) {
        require(ask(service, "/v1/decide", NULL, "{\"learner\":\"arms\",\"state\":1}", answer,
                    sizeof answer) == 200);
        cut(answer, "\"decision\":\"", decision, sizeof decision);
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5}", decision);
        require(ask(service, "/v1/observe", NULL, body, NULL, 0) == 200);
    }
}

/* A visit of somebody who comes back; what a damaged store says of it is its own affair. */
static void visit(tacit_service *service, const char *user)
{
    char answer[4096], body[2048], own[1024];
    (void)snprintf(body, sizeof body, "{\"learner\":\"back\",\"state\":1,\"user\":\"%s\"}", user);
    if (ask(service, "/v1/decide", NULL, body, answer, sizeof answer) != 200)
        return;
    cut(answer, "\"decision\":\"", own, sizeof own);
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5}", own);
    (void)ask(service, "/v1/observe", NULL, body, NULL, 0);
}

static void start(void)
{
    char token[TACIT_TOKEN_SIZE];
    tacit_service *service;
    require(mkdtemp(directory) != NULL);
    (void)snprintf(file_path, sizeof file_path, "%s/service.yaml", directory);
    (void)snprintf(store_path, sizeof store_path, "%s/fuzz.db", directory);
    FILE *file = fopen(file_path, "w");
    require(file != NULL && fputs(yaml, file) >= 0 && fclose(file) == 0);
    (void)atexit(finish);
    require(tacit_token_create(&options, &(tacit_token_request){.name = "all", .scopes = "admin"},
                               token, NULL) == TACIT_OK);
    require(tacit_service_open(&options, &service, NULL) == TACIT_OK);
    live(service, 5);
    static const char *const visitors[] = {"bob", "carl", "bob", "bob"}; /* the last is too soon */
    for (int i = 0; i < 4; i++)
        visit(service, visitors[i]);
    char answer[4096], body[2048];
    require(ask(service, "/v1/episodes", NULL, "{\"learner\":\"walk\",\"user\":\"ann\"}", answer,
                sizeof answer) == 201);
    char episode[512];
    cut(answer, "\"episode\":\"", episode, sizeof episode);
    tacit__request r = {.service = service,
                        .route = &tacit__routes[1],
                        .path_id = episode,
                        .path_id_length = strlen(episode),
                        .body = "{\"state\":1}",
                        .body_size = 11,
                        .resume = resume};
    require(r.route->handle(&r) && r.status == 200);
    cut(r.answer.data, "\"decision\":\"", decision, sizeof decision);
    tacit__text_destroy(&r.answer);
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5,\"next_state\":0}",
                   decision);
    require(ask(service, "/v1/observe", NULL, body, NULL, 0) == 200);
    tacit_service_close(service);
    read_file();
}

/* --- Damage ------------------------------------------------------------------------------------- */

static void write_file(const uint8_t *edits, size_t left)
{
    char path[160];
    static const char *const beside[] = {"-wal", "-shm"};
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s%s", store_path, beside[i]);
        (void)unlink(path);
    }
    uint8_t *bytes = malloc(sound_size);
    memcpy(bytes, sound, sound_size);
    for (; left >= 4; edits += 4, left -= 4)
        bytes[(edits[0] | (size_t)edits[1] << 8 | (size_t)edits[2] << 16) % sound_size] ^= edits[3];
    FILE *file = fopen(store_path, "wb");
    require(file != NULL && fwrite(bytes, 1, sound_size, file) == sound_size && fclose(file) == 0);
    free(bytes);
}

static const struct column {
    const char *table, *name;
    bool sealed;
} columns[] = {{"state", "data", true},
               {"learner", "fingerprint", false},
               {"learner", "users_limit", false},
               {"learner", "accepted", false},
               {"learner", "users", false},
               {"learner", "refused", false},
               {"learner", "version", false},
               {"learner", "taken", false},
               {"learner", "name", false},
               {"open", "data", true},
               {"open", "opened", false},
               {"open", "key", false},
               {"open", "learner", false},
               {"seen", "key", false},
               {"person", "key", false},
               {"person", "hash", false},
               {"ledger", "passed", false},
               {"ledger", "declared", false},
               {"ledger", "release", false},
               {"history", "reward", false},
               {"history", "version", false},
               {"history", "users", false},
               {"token", "name", false},
               {"token", "hash", false},
               {"token", "scopes", false},
               {"meta", "value", false},
               {"meta", "name", false},
               {"person", "visits", false},
               {"person", "last_place", false},
               {"person", "tag", true}, /* under the key, although it can be read */
               {"learner", "visits", false},
               {"learner", "apart", false},
               {"learner", "named", false},
               {"verdict", "soon", false},
               {"verdict", "key", false},
               {"verdict", "opened", false}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Returns whether something sealed was changed. */
static bool edit_rows(const uint8_t *edits, size_t left)
{
    static const char *const values[] = {"NULL",
                                         "-1",
                                         "0",
                                         "9223372036854775807",
                                         "1e300",
                                         "'text'",
                                         "x''",
                                         "zeroblob(16)",
                                         "zeroblob(40)",
                                         "zeroblob(100000)",
                                         "substr(%s, 2)",
                                         "%s || x'00'",
                                         "hex(%s)",
                                         "(SELECT data FROM state LIMIT 1)",
                                         "(SELECT data FROM open LIMIT 1)",
                                         "CAST('' || char(9731, 0, 10, 34) AS TEXT)"};
    sqlite3 *db;
    bool sealed = false;
    char value[200], sql[400];
    require(sqlite3_open(store_path, &db) == SQLITE_OK);
    for (; left >= 3; edits += 3, left -= 3) {
        const struct column *c = &columns[edits[0] % COLUMNS];
        const char *v = values[edits[1] % (sizeof values / sizeof *values)], *mark;
        mark = strstr(v, "%s");
        if (mark != NULL)
            (void)snprintf(value, sizeof value, "%.*s%s%s", (int)(mark - v), v, c->name, mark + 2);
        else
            (void)snprintf(value, sizeof value, "%s", v);
        (void)snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s=%s", c->table, c->name, value);
        int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
        /* a state of all learners that is one's own is sound for that one */
        sealed = sealed || (c->sealed && code == SQLITE_OK && strncmp(v, "(SELECT", 7) != 0 &&
                            sqlite3_changes(db) > 0);
    }
    (void)sqlite3_close(db);
    return sealed;
}

/* --- What must hold ----------------------------------------------------------------------------- */

static void count_token(void *context, const tacit_token_facts *token)
{
    require(token->name[0] != '\0' || token->scopes != NULL);
    ++*(size_t *)context;
}

static void require_reason(tacit_status status, tacit_error *err)
{
    require((status == TACIT_OK) == (err->message[0] == '\0'));
    err->message[0] = '\0';
}

static void use_tools(bool unsealed)
{
    tacit_error err = {0};
    tacit_store_health health;
    char *json = NULL;
    size_t tokens = 0;
    tacit_status status = tacit_store_check(&options, &health, &err);
    require_reason(status, &err);
    require(!(unsealed && status == TACIT_OK));
    status = tacit_store_export(&options, &json, &err);
    require_reason(status, &err);
    static tacit__json_node nodes[1 << 14];
    const char *why;
    if (status == TACIT_OK)
        require(tacit__json_parse(json, strlen(json), nodes, sizeof nodes / sizeof *nodes, &why) >
                0);
    free(json);
    status = tacit_token_list(&options, count_token, &tokens, &err);
    require_reason(status, &err);
}

static void serve(void)
{
    static const char *const paths[] = {"/v1/learners", "/v1/ledger",    "/v1/history",
                                        "/metrics",     "/v1/billboard", "/healthz"};
    tacit_error err = {0};
    tacit_service *service = NULL;
    tacit_status status = tacit_service_open(&options, &service, &err);
    require_reason(status, &err);
    if (status != TACIT_OK)
        return;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        (void)ask(service, paths[i], "arms", NULL, NULL, 0);
    char answer[4096], body[2048], other[1024];
    if (ask(service, "/v1/decide", NULL, "{\"learner\":\"arms\",\"state\":0}", answer,
            sizeof answer) == 200) {
        cut(answer, "\"decision\":\"", other, sizeof other);
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":1}", other);
        (void)ask(service, "/v1/observe", NULL, body, NULL, 0);
    }
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5}", decision);
    (void)ask(service, "/v1/observe", NULL, body, NULL, 0);
    visit(service, "dora");
    visit(service, "bob");
    tacit_service_close(service);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool unsealed = false;
    if (sound == NULL)
        start();
    if (size == 0)
        return 0;
    bool rows = (data[0] & 1) != 0;
    write_file(data + 1, rows ? 0 : size - 1);
    if (rows)
        unsealed = edit_rows(data + 1, size - 1);
    use_tools(unsealed);
    if (data[0] & 2)
        serve();
    return 0;
}

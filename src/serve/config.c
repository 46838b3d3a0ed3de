/* See serve/config.h. The reader is that of experiments, so an agent has the same form in a service file as
 * in an experiment. */
#include "serve/config.h"

#include <arpa/inet.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "lab/config_space.h"
#include "lab/space_names.h"
#include "lab/yaml_fields.h"
#include "serve/body_limit.h"
#include "serve/config_learner.h"
#include "serve/config_person.h"
#include "serve/learner/warm_log.h"
#include "store/vault/vault.h"

typedef tacit__service_config config;

static bool read_log(const char *text, void *out)
{
    *(bool *)out = strcmp(text, "json") == 0;
    return *(bool *)out || strcmp(text, "text") == 0;
}

static bool read_people(const char *text, void *out)
{
    *(bool *)out = strcmp(text, "separate") == 0;
    return *(bool *)out || strcmp(text, "shared") == 0;
}

enum {
    LISTEN,
    STORE,
    KEY,
    MARK,
    TLS,
    EXPIRE,
    THREADS,
    LIMITS,
    BUDGET,
    PEOPLE,
    LEARNERS,
    ADMIN,
    LOG,
    ORIGINS,
    DEMO,
    UNSAFE,
    DRAIN,
    END
};
static const tacit__field fields[] = {
    [LISTEN] = {"listen", TACIT__FIELD_OTHER, .parse = NULL},
    [STORE] = {"store", TACIT__FIELD_OTHER, .example = "store: service.db"},
    [KEY] = {"key", TACIT__FIELD_OTHER, .parse = NULL},
    [MARK] = {"mark", TACIT__FIELD_OTHER, .parse = NULL},
    [TLS] = {"tls", TACIT__FIELD_OTHER, .parse = NULL},
    [EXPIRE] = {"expire", TACIT__FIELD_COUNT, offsetof(config, expire), .low = 1,
                .high = 100000000},
    [THREADS] = {"threads", TACIT__FIELD_COUNT, offsetof(config, threads), .low = 1, .high = 64},
    [LIMITS] = {"limits", TACIT__FIELD_OTHER, .parse = NULL},
    [BUDGET] = {"budget", TACIT__FIELD_OTHER, .parse = NULL},
    [PEOPLE] = {"people", TACIT__FIELD_OTHER, offsetof(config, person.separate),
                .parse = read_people, .expected = "shared or separate"},
    [LEARNERS] = {"learners", TACIT__FIELD_OTHER, .example = "learners: [{name: river, ...}]"},
    [ADMIN] = {"admin", TACIT__FIELD_OTHER, .parse = NULL},
    [LOG] = {"log", TACIT__FIELD_OTHER, offsetof(config, log_json), .parse = read_log,
             .expected = "text or json"},
    [ORIGINS] = {"origins", TACIT__FIELD_OTHER, .parse = NULL},
    [DEMO] = {"demo", TACIT__FIELD_FLAG, offsetof(config, demo), .parse = NULL},
    [UNSAFE] = {"unsafe", TACIT__FIELD_FLAG, offsetof(config, unsafe), .parse = NULL},
    [DRAIN] = {"drain", TACIT__FIELD_COUNT, offsetof(config, drain), .high = 3600},
    [END] = {.name = NULL}};

static const tacit__field tls_fields[] = {
    {"certificate", TACIT__FIELD_OTHER, .example = "{certificate: cert.pem, key: key.pem}"},
    {"key", TACIT__FIELD_OTHER, .example = "{certificate: cert.pem, key: key.pem}"},
    {.name = NULL}};

static const tacit__range epsilons = {.high = HUGE_VAL, .expected = "a number >= 0"},
                          deltas = {.high = 1, .expected = "a number from 0 to below 1"};
static const tacit__field budget_fields[] = {
    {"epsilon", TACIT__FIELD_REAL, offsetof(tacit_guarantee, epsilon), .range = &epsilons,
     .example = "budget: {epsilon: 3, delta: 1e-6}"},
    {"delta", TACIT__FIELD_REAL, offsetof(tacit_guarantee, delta), .range = &deltas,
     .example = "budget: {epsilon: 3, delta: 1e-6}"},
    {.name = NULL}};

#define LIMIT(member) TACIT__FIELD_COUNT, offsetof(tacit__limits, member)
static const tacit__field limit_fields[] = {
    {"body", LIMIT(body), .low = 64, .high = TACIT__MOST_BODY},
    {"header", LIMIT(header), .low = 1024, .high = 1 << 20},
    {"connections", LIMIT(connections), .low = 1, .high = 100000},
    {"per_address", LIMIT(per_address), .high = 100000},
    {"rate", LIMIT(rate), .high = 10000000},
    {"timeout", LIMIT(timeout), .low = 1, .high = 3600},
    {"episodes", LIMIT(episodes), .low = 1, .high = 1000000000},
    {"keys", LIMIT(keys), .low = 1, .high = 1000000000},
    {"people", LIMIT(people), .low = 1, .high = 1000000000},
    {.name = NULL}};

/* A path, relative to the file's directory; to be freed. */
static tacit_status read_path(const config *c, const tacit__node *map, const char *key, char **out,
                              tacit_error *err)
{
    const tacit__field path = {key, TACIT__FIELD_TEXT, .high = 1024};
    const tacit__node *node = tacit__node_get(map, key);
    const char *text;
    if (node == NULL)
        return TACIT_OK;
    TRY(tacit__node_read(c->yaml, node, &path, &text, err));
    const char *directory = text[0] == '/' ? "" : c->directory;
    size_t n = strlen(directory), size = n + strlen(text) + 1;
    *out = tacit__alloc(size, 1);
    if (*out == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(*out, directory, n);
    memcpy(*out + n, text, size - n);
    return TACIT_OK;
}

/* HOST:PORT with a numeric host, [::1]:PORT, or PORT alone. */
static tacit_status read_address(const config *c, const tacit__node *root, const char *key,
                                 const char **out_host, char **owned, uint64_t *out_port,
                                 tacit_error *err)
{
    const tacit__field address_text = {key, TACIT__FIELD_TEXT, .high = 128};
    const tacit__node *node = tacit__node_get(root, key);
    if (node == NULL)
        return TACIT_OK;
    *out_host = "127.0.0.1";
    const char *text;
    TRY(tacit__node_read(c->yaml, node, &address_text, &text, err));
    const char *colon = strrchr(text, ':'), *port = colon != NULL ? colon + 1 : text;
    int64_t number;
    bool good = tacit__read_integer(port, strlen(port), &number) && number >= 0 && number < 65536;
    if (good && colon != NULL) {
        size_t n = (size_t)(colon - text);
        bool six = n > 2 && text[0] == '[' && text[n - 1] == ']';
        char *host = tacit__alloc(n + 1, 1);
        if (host == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        memcpy(host, text + (six ? 1 : 0), n - (six ? 2 : 0));
        uint8_t address[16];
        good = inet_pton(six ? AF_INET6 : AF_INET, host, address) == 1;
        *out_host = *owned = host;
    }
    if (!good)
        return tacit__yaml_fail(c->yaml, node->line, err, TACIT_SYNTAX,
                                "%s is '%.80s', expected an address and a port, for example "
                                "127.0.0.1:8470 or [::1]:8470",
                                key, text);
    *out_port = (uint64_t)number;
    return TACIT_OK;
}

static tacit_status read_listen(config *c, const tacit__node *root, tacit_error *err)
{
    c->host = "127.0.0.1";
    c->port = 8470;
    TRY(read_address(c, root, fields[LISTEN].name, &c->host, &c->owned_host, &c->port, err));
    return read_address(c, root, fields[ADMIN].name, &c->admin_host, &c->owned_admin_host,
                        &c->admin_port, err);
}

static tacit_status read_limits(config *c, const tacit__node *root, tacit_error *err)
{
    /* Stated choices: bodies of a few thousand features, headers of a browser (libmicrohttpd clears that
     * much memory for every request), a page of connections. */
    tacit__limits l = {.body = 1 << 18,
                       .header = 1 << 14,
                       .connections = 1000,
                       .per_address = UINT64_MAX,
                       .rate = 0,
                       .timeout = 15,
                       .episodes = 1000000,
                       .keys = 1000000,
                       .people = 10000000};
    const tacit__node *node = tacit__node_get(root, fields[LIMITS].name);
    tacit_status status = TACIT_OK;
    if (node != NULL)
        status = tacit__map_check(c->yaml, node, fields[LIMITS].name, limit_fields, err);
    if (node != NULL && status == TACIT_OK)
        status = tacit__map_read(c->yaml, node, limit_fields, &l, err);
    if (l.per_address == UINT64_MAX) /* a quarter: no three addresses take all places */
        l.per_address = (l.connections + 3) / 4;
    c->limits = l;
    return status;
}

static tacit_status read_tls(config *c, const tacit__node *root, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(root, fields[TLS].name);
    if (node == NULL)
        return TACIT_OK;
    TRY(tacit__map_check(c->yaml, node, fields[TLS].name, tls_fields, err));
    TRY(tacit__map_read(c->yaml, node, tls_fields, c, err));
    TRY(read_path(c, node, "certificate", &c->certificate, err));
    return read_path(c, node, "key", &c->private_key, err);
}

static tacit_status read_budget(config *c, const tacit__node *root, tacit_error *err)
{
    const tacit__node *people = tacit__node_get(root, fields[PEOPLE].name),
                      *node = tacit__node_get(root, fields[BUDGET].name);
    c->people_line = people != NULL ? people->line : 0;
    if (node == NULL)
        return TACIT_OK;
    c->budget_line = node->line;
    c->person.budget.model = TACIT_MODEL_JOINT;
    TRY(tacit__map_check(c->yaml, node, fields[BUDGET].name, budget_fields, err));
    return tacit__map_read(c->yaml, node, budget_fields, &c->person.budget, err);
}

/* --- Learners ---------------------------------------------------------------------------------- */

static tacit_status read_learners(config *c, const tacit__node *root, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    const tacit__node *list = tacit__node_get(root, fields[LEARNERS].name);
    if (list->kind != TACIT__LIST || list->n_children == 0 ||
        list->n_children > TACIT__MAX_LEARNERS)
        return tacit__yaml_fail(c->yaml, list->line, err, TACIT_SYNTAX,
                                "learners is %s, expected a list of 1 to %d learners",
                                tacit__node_format(list, shown), TACIT__MAX_LEARNERS);
    c->learners = tacit__alloc(list->n_children, sizeof *c->learners);
    if (c->learners == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (const tacit__node *node = list->first; node != NULL; node = node->next) {
        tacit__learner_config *next = &c->learners[c->n_learners++]; /* also freed if it fails */
        TRY(tacit__learner_config_read(c, node, next, err));
    }
    return TACIT_OK;
}

/* --- The store --------------------------------------------------------------------------------- */

static tacit_status copy_text(const char *first, const char *second, char **out, tacit_error *err)
{
    const size_t n = strlen(first), size = n + strlen(second) + 1;
    *out = tacit__alloc(size, 1);
    if (*out == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(*out, first, n);
    memcpy(*out + n, second, size - n);
    return TACIT_OK;
}

/* A file, or a database; the key and the mark of a database are beside the service file. */
static tacit_status read_store(config *c, const tacit__node *root, tacit_error *err)
{
    static const tacit__field any = {"store", TACIT__FIELD_TEXT, .high = 1024};
    const char *text;
    TRY(tacit__node_read(c->yaml, tacit__node_get(root, any.name), &any, &text, err));
    if (!tacit__vault_is_remote(text)) {
        TRY(read_path(c, root, any.name, &c->store, err));
        return copy_text(c->store, "", &c->beside, err);
    }
    TRY(copy_text(text, "", &c->store, err));
    return copy_text(c->directory, "tacit", &c->beside, err);
}

/* --- The file ---------------------------------------------------------------------------------- */

static tacit_status set_directory(config *c, tacit_error *err)
{
    const char *name = tacit__yaml_name(c->yaml), *slash = strrchr(name, '/');
    size_t n = slash != NULL ? (size_t)(slash - name) + 1 : 0;
    c->directory = tacit__alloc(n + 1, 1);
    if (c->directory == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(c->directory, name, n);
    return TACIT_OK;
}

static tacit_status fill(config *c, tacit_error *err)
{
    const tacit__node *root = tacit__yaml_root(c->yaml);
    c->expire = 7 * 86400; /* a stated choice: a week for the last reward */
    c->threads = 2;
    const tacit__node *agents = root->kind == TACIT__MAP ? tacit__node_get(root, "agents") : NULL;
    if (agents != NULL && tacit__node_get(root, "learners") == NULL)
        return tacit__yaml_fail(
            c->yaml, agents->line, err, TACIT_SYNTAX,
            "this is an experiment: it has 'agents'; expected a service file. `tacit run` "
            "plays an experiment, `tacit explain` explains both");
    TRY(tacit__map_check(c->yaml, root, "a service", fields, err));
    TRY(tacit__map_read(c->yaml, root, fields, c, err));
    TRY(set_directory(c, err));
    TRY(read_listen(c, root, err));
    TRY(read_store(c, root, err));
    TRY(read_path(c, root, fields[KEY].name, &c->key, err));
    TRY(read_path(c, root, fields[MARK].name, &c->mark, err));
    if (c->mark == NULL && tacit__vault_is_remote(c->store))
        TRY(copy_text(c->beside, ".mark", &c->mark, err));
    TRY(read_tls(c, root, err));
    TRY(read_limits(c, root, err));
    TRY(read_budget(c, root, err));
    TRY(tacit__origins_read(c->yaml, tacit__node_get(root, fields[ORIGINS].name), &c->origins,
                            err));
    return read_learners(c, root, err);
}

static tacit_status finish(tacit_status status, config *out, tacit_error *err)
{
    if (status == TACIT_OK)
        status = fill(out, err);
    if (status != TACIT_OK)
        tacit__service_config_free(out);
    return status;
}

tacit_status tacit__service_config_read(const char *path, tacit__service_config *out,
                                        tacit_error *err)
{
    *out = (config){0};
    tacit_status status = tacit__yaml_read(
        path, "a service file, such as examples/service/service.yaml", &out->yaml, err);
    return finish(status, out, err);
}

tacit_status tacit__service_config_parse(const char *text, size_t size, const char *name,
                                         tacit__service_config *out, tacit_error *err)
{
    *out = (config){0};
    return finish(tacit__yaml_parse(text, size, name, &out->yaml, err), out, err);
}

tacit_status tacit__service_config_open(tacit__service_config *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < c->n_learners && status == TACIT_OK; i++)
        if ((status = tacit__space_open(&c->learners[i], err)) == TACIT_OK)
            status = tacit__body_limit_check(&c->learners[i], err);
    for (size_t i = 0; i < c->n_learners && status == TACIT_OK; i++)
        status = tacit__warm_log_check(&c->learners[i], err);
    return status == TACIT_OK ? tacit__config_person_open(c, err) : status;
}

void tacit__service_config_free(tacit__service_config *c)
{
    for (size_t i = 0; i < c->n_learners; i++) {
        tacit__known_destroy(&c->learners[i].known);
        tacit__action_names_free(&c->learners[i]);
    }
    tacit__shares_destroy(c->shares, c->n_learners);
    tacit__yaml_destroy(c->yaml);
    tacit__free(c->directory);
    tacit__free(c->owned_host);
    tacit__free(c->owned_admin_host);
    tacit__free(c->store);
    tacit__free(c->key);
    tacit__free(c->mark);
    tacit__free(c->beside);
    tacit__free(c->certificate);
    tacit__free(c->private_key);
    tacit__free(c->learners);
    *c = (config){0};
}

/* See serve/config.h. The reader is that of experiments, so an agent has the same form in a service file as
 * in an experiment. */
#include "serve/config.h"

#include <arpa/inet.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lab/files/config_space.h"
#include "lab/files/space_names.h"
#include "serve/body_limit.h"
#include "serve/config_learner.h"
#include "serve/config_person.h"
#include "serve/learner/warm_log.h"
#include "store/vault/vault.h"
#include "text/settings.h"

typedef tacit__service_config config;

static const char *const logs[] = {"text", "json", NULL};
static const char *const people[] = {"shared", "separate", NULL};

#define AT(member) offsetof(config, member)
static const tacit__field tls_fields[] = {
    {"certificate", TACIT__FIELD_TEXT, AT(certificate), .high = 1024,
     .example = "certificate: cert.pem"},
    {"key", TACIT__FIELD_TEXT, AT(private_key), .high = 1024, .example = "key: key.pem"},
    {.name = NULL}};

static const tacit__range epsilons = {.high = HUGE_VAL, .expected = "a number >= 0"},
                          deltas = {.high = 1, .expected = "a number from 0 to below 1"};
static const tacit__field budget_fields[] = {
    {"epsilon", TACIT__FIELD_REAL, offsetof(tacit_guarantee, epsilon), .range = &epsilons,
     .example = "epsilon: 3"},
    {"delta", TACIT__FIELD_REAL, offsetof(tacit_guarantee, delta), .range = &deltas,
     .example = "delta: 1e-6"},
    {.name = NULL}};

/* Stated choices: bodies of a few thousand features, headers of a browser (libmicrohttpd clears that much
 * memory for every request), a page of connections. */
#define LIMIT(member) TACIT__FIELD_COUNT, offsetof(tacit__limits, member)
static const tacit__field limit_fields[] = {
    {"body", LIMIT(body), 64, TACIT__MOST_BODY, .fallback = "262144"},
    {"header", LIMIT(header), 1024, 1 << 20, .fallback = "16384"},
    {"connections", LIMIT(connections), 1, 100000, .fallback = "1000"},
    {"per_address", LIMIT(per_address), 0, .high = 100000},
    {"rate", LIMIT(rate), 0, 10000000, .fallback = "0"},
    {"timeout", LIMIT(timeout), 1, 3600, .fallback = "15"},
    {"episodes", LIMIT(episodes), 1, 1000000000, .fallback = "1000000"},
    {"keys", LIMIT(keys), 1, 1000000000, .fallback = "1000000"},
    {"people", LIMIT(people), 1, 1000000000, .fallback = "10000000"},
    {.name = NULL}};

/* Paths and addresses are texts first. */
const tacit__field tacit__service_fields[] = {
    {"listen", TACIT__FIELD_TEXT, AT(host), .high = 128, .fallback = "127.0.0.1:8470"},
    {"store", TACIT__FIELD_TEXT, AT(store), .high = 1024, .example = "store: service.db"},
    {"key", TACIT__FIELD_TEXT, AT(key), .high = 1024},
    {"mark", TACIT__FIELD_TEXT, AT(mark), .high = 1024},
    {"tls", TACIT__FIELD_MAP, .fields = tls_fields},
    /* a week for the last reward: a stated choice */
    {"expire", TACIT__FIELD_COUNT, AT(expire), 1, 100000000, .fallback = "604800"},
    {"threads", TACIT__FIELD_COUNT, AT(threads), 1, 64, .fallback = "2"},
    {"limits", TACIT__FIELD_MAP, AT(limits), .fields = limit_fields},
    {"budget", TACIT__FIELD_MAP, AT(person.budget), .fields = budget_fields},
    {"people", TACIT__FIELD_FLAG, AT(person.separate), .words = people, .fallback = "shared"},
    {"learners", TACIT__FIELD_OTHER, .example = "learners: [{name: river, ...}]"},
    {"admin", TACIT__FIELD_TEXT, AT(admin_host), .high = 128},
    {"log", TACIT__FIELD_FLAG, AT(log_json), .words = logs, .fallback = "text"},
    {"origins", TACIT__FIELD_OTHER, .parse = NULL},
    {"demo", TACIT__FIELD_FLAG, AT(demo), .fallback = "no"},
    {"unsafe", TACIT__FIELD_FLAG, AT(unsafe), .fallback = "no"},
    {"drain", TACIT__FIELD_COUNT, AT(drain), 0, 3600, .fallback = "0"},
    {.name = NULL}};

/* first[0 .. n) and the second, as long as the file. */
static tacit_status join(const config *c, const char *first, size_t n, const char *second,
                         const char **out, tacit_error *err)
{
    const size_t size = strlen(second);
    char *text = tacit__yaml_allocate(c->yaml, n + size + 1);
    if (text == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(text, first, n);
    memcpy(text + n, second, size + 1);
    *out = text;
    return TACIT_OK;
}

/* A path, relative to the file's directory. */
static tacit_status resolve(const config *c, const char **path, tacit_error *err)
{
    const char *name = tacit__yaml_name(c->yaml), *slash = strrchr(name, '/');
    if (*path == NULL || **path == '/' || slash == NULL)
        return TACIT_OK;
    return join(c, name, (size_t)(slash - name) + 1, *path, path, err);
}

/* HOST:PORT with a numeric host, [::1]:PORT, or PORT alone, as *host; NULL stays. */
static tacit_status read_address(const config *c, const char *key, const char **host,
                                 uint64_t *out_port, tacit_error *err)
{
    const char *text = *host;
    if (text == NULL)
        return TACIT_OK;
    const char *colon = strrchr(text, ':'), *port = colon != NULL ? colon + 1 : text;
    int64_t number;
    bool good = tacit__read_integer(port, strlen(port), &number) && number >= 0 && number < 65536;
    *host = "127.0.0.1";
    if (good && colon != NULL) {
        const size_t n = (size_t)(colon - text);
        const bool six = n > 2 && text[0] == '[' && text[n - 1] == ']';
        uint8_t address[16];
        TRY(join(c, text + six, n - (six ? 2 : 0), "", host, err));
        good = inet_pton(six ? AF_INET6 : AF_INET, *host, address) == 1;
    }
    if (!good)
        return tacit__node_fail(tacit__node_get(tacit__yaml_root(c->yaml), key), err,
                                "%s is '%.80s', expected an address and a port, for example "
                                "127.0.0.1:8470 or [::1]:8470",
                                key, text);
    *out_port = (uint64_t)number;
    return TACIT_OK;
}

/* --- Learners ---------------------------------------------------------------------------------- */

static tacit_status read_learners(config *c, const tacit__node *root, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    const tacit__node *list = tacit__node_get(root, "learners");
    if (list->kind != TACIT__LIST || list->n_children == 0 ||
        list->n_children > TACIT__MAX_LEARNERS)
        return tacit__node_fail(list, err, "learners is %s, expected a list of 1 to %d learners",
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

/* --- The file ---------------------------------------------------------------------------------- */

/* The store is a file, or a database; the key and the mark of a database are beside the service file. */
static tacit_status read_paths(config *c, tacit_error *err)
{
    const bool remote = tacit__vault_is_remote(c->store);
    if (!remote)
        TRY(resolve(c, &c->store, err));
    c->beside = remote ? "tacit" : c->store;
    if (remote)
        TRY(resolve(c, &c->beside, err));
    TRY(resolve(c, &c->key, err));
    TRY(resolve(c, &c->certificate, err));
    TRY(resolve(c, &c->private_key, err));
    if (c->mark == NULL && remote)
        return join(c, c->beside, strlen(c->beside), ".mark", &c->mark, err);
    return resolve(c, &c->mark, err);
}

static tacit_status fill(config *c, tacit_error *err)
{
    const tacit__node *root = tacit__yaml_root(c->yaml);
    const tacit__node *agents = root->kind == TACIT__MAP ? tacit__node_get(root, "agents") : NULL;
    if (agents != NULL && tacit__node_get(root, "learners") == NULL)
        return tacit__node_fail(
            agents, err,
            "this is an experiment: it has 'agents'; expected a service file. `tacit run` "
            "plays an experiment, `tacit explain` explains both");
    c->limits.per_address = UINT64_MAX;
    TRY(tacit__map_read(root, "a service", tacit__service_fields, c, err));
    if (c->limits.per_address == UINT64_MAX) /* a quarter: no three addresses take all places */
        c->limits.per_address = (c->limits.connections + 3) / 4;
    TRY(read_address(c, "listen", &c->host, &c->port, err));
    TRY(read_address(c, "admin", &c->admin_host, &c->admin_port, err));
    TRY(read_paths(c, err));
    const tacit__node *whose = tacit__node_get(root, "people"),
                      *budget = tacit__node_get(root, "budget");
    c->people_line = whose != NULL ? whose->line : 0;
    c->budget_line = budget != NULL ? budget->line : 0;
    c->person.budget.model = budget != NULL ? TACIT_MODEL_JOINT : TACIT_MODEL_NONE;
    TRY(tacit__origins_read(tacit__node_get(root, "origins"), &c->origins, err));
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
        tacit__world_tables_destroy(&c->learners[i].known);
        tacit__action_names_free(&c->learners[i]);
    }
    tacit__shares_destroy(c->shares, c->n_learners);
    tacit__yaml_destroy(c->yaml);
    tacit__free(c->learners);
    *c = (config){0};
}

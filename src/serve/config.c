/* See serve/config.h. The reader is the laboratory's, so that an agent is written in a service file as in an experiment. */
#include "serve/config.h"

#include <arpa/inet.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "lab/experiment.h"
#include "serve/fields.h"
#include "serve/space.h"

static const char *const keys[] = {"listen", "store",   "key",    "mark",    "tls",
                                   "expire", "threads", "limits", "learners"};
enum { LISTEN, STORE, KEY, MARK, TLS, EXPIRE, THREADS, LIMITS, LEARNERS, N_KEYS };
static const char *const tls_keys[] = {"certificate", "key"};
static const char *const limit_keys[] = {"body", "header",  "connections", "per_address",
                                         "rate", "timeout", "episodes",    "keys"};
static const char *const learner_keys[] = {"name",  "space",      "users",
                                           "agent", "plan_every", "monitor"};
static const char *const monitor_keys[] = {"epsilon", "delta"};

typedef tacit__service_config config;

/* A path, relative to the file's directory; to be freed. */
static tacit_status read_path(const config *c, const tacit__node *map, const char *key, char **out,
                              tacit_error *err)
{
    const tacit__node *node = tacit__node_get(map, key);
    const char *text;
    if (node == NULL)
        return TACIT_OK;
    tacit_status status = tacit__take_text(c->yaml, node, key, 1024, &text, err);
    if (status != TACIT_OK)
        return status;
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
static tacit_status read_listen(config *c, const tacit__node *root, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(root, keys[LISTEN]);
    c->host = "127.0.0.1";
    c->port = 8470;
    if (node == NULL)
        return TACIT_OK;
    const char *text;
    tacit_status status = tacit__take_text(c->yaml, node, keys[LISTEN], 128, &text, err);
    if (status != TACIT_OK)
        return status;
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
        c->host = c->owned_host = host;
    }
    if (!good)
        return tacit__yaml_fail(c->yaml, node->line, err, TACIT_SYNTAX,
                                "listen is '%.80s', expected an address and a port, for example "
                                "127.0.0.1:8470 or [::1]:8470",
                                text);
    c->port = (uint64_t)number;
    return TACIT_OK;
}

static tacit_status read_limits(config *c, const tacit__node *root, tacit_error *err)
{
    /* Stated choices: bodies of a few thousand features, headers of a browser, a page's worth of connections. */
    tacit__limits l = {.body = 1 << 18,
                       .header = 1 << 14,
                       .connections = 1000,
                       .per_address = 0,
                       .rate = 0,
                       .timeout = 15,
                       .episodes = 1000000,
                       .keys = 1000000};
    const tacit__node *node = tacit__node_get(root, keys[LIMITS]);
    tacit_status status = node != NULL ? tacit__field_map(c->yaml, node, keys[LIMITS], limit_keys,
                                                          TACIT__COUNT(limit_keys), err)
                                       : TACIT_OK;
    const struct {
        const char *key;
        uint64_t low, high, *out;
    } numbers[] = {{"body", 64, 1 << 26, &l.body},
                   {"header", 1024, 1 << 20, &l.header},
                   {"connections", 1, 100000, &l.connections},
                   {"per_address", 0, 100000, &l.per_address},
                   {"rate", 0, 10000000, &l.rate},
                   {"timeout", 1, 3600, &l.timeout},
                   {"episodes", 1, 1000000000, &l.episodes},
                   {"keys", 1, 1000000000, &l.keys}};
    for (size_t i = 0; i < TACIT__COUNT(numbers) && status == TACIT_OK; i++)
        status = tacit__field_count(c->yaml, node, numbers[i].key, numbers[i].low, numbers[i].high,
                                    numbers[i].out, err);
    c->limits = l;
    return status;
}

static tacit_status read_tls(config *c, const tacit__node *root, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(root, keys[TLS]);
    if (node == NULL)
        return TACIT_OK;
    tacit_status status =
        tacit__field_map(c->yaml, node, keys[TLS], tls_keys, TACIT__COUNT(tls_keys), err);
    if (status == TACIT_OK)
        status = read_path(c, node, "certificate", &c->certificate, err);
    if (status == TACIT_OK)
        status = read_path(c, node, "key", &c->private_key, err);
    if (status == TACIT_OK && (c->certificate == NULL || c->private_key == NULL))
        status = tacit__field_missing(c->yaml, node, c->certificate == NULL ? "certificate" : "key",
                                      "{certificate: cert.pem, key: key.pem}", err);
    return status;
}

/* --- Learners ---------------------------------------------------------------------------------- */

static tacit_status read_name(const config *c, const tacit__node *node, tacit__learner_config *l,
                              tacit_error *err)
{
    const tacit__node *name = tacit__node_get(node, "name");
    if (name == NULL)
        return tacit__field_missing(c->yaml, node, "name", "name: river", err);
    tacit_status status = tacit__take_text(c->yaml, name, "name", TACIT__MAX_NAME, &l->name, err);
    for (const char *t = l->name; status == TACIT_OK && *t != '\0'; t++)
        if (!((*t >= 'a' && *t <= 'z') || (*t >= '0' && *t <= '9') || *t == '-' || *t == '_'))
            status = tacit__yaml_fail(c->yaml, name->line, err, TACIT_SYNTAX,
                                      "name is '%.64s', expected small letters, digits, - and _",
                                      l->name);
    for (const tacit__learner_config *other = c->learners; status == TACIT_OK && other < l; other++)
        if (strcmp(other->name, l->name) == 0)
            status = tacit__yaml_fail(c->yaml, name->line, err, TACIT_SYNTAX,
                                      "two learners are called '%s'", l->name);
    return status;
}

static tacit_status read_agent(const config *c, const tacit__node *learner,
                               tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(learner, "agent");
    if (node == NULL)
        return tacit__field_missing(c->yaml, learner, "agent",
                                    "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}",
                                    err);
    tacit_experiment part = {.yaml = c->yaml, .facts = {.episodes = l->request.episodes}};
    tacit__grid grid;
    tacit_entry entry;
    tacit_status status = tacit__entry_grid(&part, node, &grid, err);
    if (status == TACIT_OK && grid.n_axes > 0)
        status = tacit__yaml_fail(c->yaml, node->line, err, TACIT_SYNTAX,
                                  "a learner has one agent: no lists of values here");
    if (status == TACIT_OK)
        status = tacit__entry_read(&part, node, &grid, &entry, err);
    if (status != TACIT_OK)
        return status;
    if (entry.yardstick)
        return tacit__yaml_fail(c->yaml, node->line, err, TACIT_UNSUPPORTED,
                                "%s does not learn; `tacit agents` lists those that do",
                                entry.kind);
    if (entry.calibration != TACIT_CALIBRATION_TIGHT)
        return tacit__yaml_fail(c->yaml, node->line, err, TACIT_UNSUPPORTED,
                                "published constants are for simulations; a service that guards "
                                "people has calibration: tight");
    l->request.kind = entry.kind;
    l->request.settings = entry.settings;
    l->request.n_settings = entry.n_settings;
    l->request.guarantee = entry.guarantee;
    l->request.sums = entry.sums;
    l->request.outside = entry.outside;
    l->request.file = tacit__yaml_name(c->yaml);
    l->request.line = entry.line;
    return TACIT_OK;
}

static tacit_status read_monitor(const config *c, const tacit__node *learner,
                                 tacit__learner_config *l, tacit_error *err)
{
    static const tacit__range epsilons = {.high = HUGE_VAL, .expected = "a number >= 0"};
    static const tacit__range deltas = {.high = 1, .expected = "a number from 0 to below 1"};
    const tacit__node *node = tacit__node_get(learner, "monitor"), *value;
    if (node == NULL)
        return TACIT_OK;
    tacit_status status =
        tacit__field_map(c->yaml, node, "monitor", monitor_keys, TACIT__COUNT(monitor_keys), err);
    if (status != TACIT_OK)
        return status;
    if ((value = tacit__node_get(node, "epsilon")) == NULL)
        return tacit__field_missing(c->yaml, node, "epsilon", "monitor: {epsilon: 0.1}", err);
    bool local = l->request.guarantee.model == TACIT_MODEL_LOCAL;
    l->monitor = (tacit_guarantee){.model = local ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT,
                                   .delta = 1 / (10 * (double)l->request.episodes)};
    status = tacit__take_real(c->yaml, value, "epsilon", &epsilons, &l->monitor.epsilon, err);
    if (status == TACIT_OK && (value = tacit__node_get(node, "delta")) != NULL)
        status = tacit__take_real(c->yaml, value, "delta", &deltas, &l->monitor.delta, err);
    if (status == TACIT_OK && l->monitor.epsilon == 0 && (value == NULL || l->monitor.delta == 0))
        status = tacit__yaml_fail(c->yaml, node->line, err, TACIT_SYNTAX,
                                  "epsilon is 0, which needs a delta > 0 that is given beside it; "
                                  "give one, or an epsilon > 0");
    return status;
}

static tacit_status read_learner(config *c, const tacit__node *node, tacit__learner_config *l,
                                 tacit_error *err)
{
    tacit_status status =
        tacit__field_map(c->yaml, node, "a learner", learner_keys, TACIT__COUNT(learner_keys), err);
    if (status == TACIT_OK)
        status = read_name(c, node, l, err);
    if (status == TACIT_OK)
        status = tacit__space_read(c->yaml, node, l, err);
    if (status == TACIT_OK && tacit__node_get(node, "users") == NULL)
        status = tacit__field_missing(c->yaml, node, "users", "users: 100000", err);
    if (status == TACIT_OK)
        status = tacit__field_count(c->yaml, node, "users", 1, TACIT_MAX_EPISODES,
                                    &l->request.episodes, err);
    l->plan_every = 1;
    if (status == TACIT_OK)
        status = tacit__field_count(c->yaml, node, "plan_every", 1, 1000000, &l->plan_every, err);
    if (status == TACIT_OK)
        status = read_agent(c, node, l, err);
    if (status == TACIT_OK)
        status = read_monitor(c, node, l, err);
    return status;
}

static tacit_status read_learners(config *c, const tacit__node *root, tacit_error *err)
{
    char shown[TACIT__NODE_SHOWN];
    const tacit__node *list = tacit__node_get(root, keys[LEARNERS]);
    if (list == NULL)
        return tacit__field_missing(c->yaml, root, keys[LEARNERS], "learners: [{name: river, ...}]",
                                    err);
    if (list->kind != TACIT__LIST || list->n_children == 0 ||
        list->n_children > TACIT__MAX_LEARNERS)
        return tacit__yaml_fail(c->yaml, list->line, err, TACIT_SYNTAX,
                                "learners is %s, expected a list of 1 to %d learners",
                                tacit__node_show(list, shown), TACIT__MAX_LEARNERS);
    c->learners = tacit__alloc(list->n_children, sizeof *c->learners);
    if (c->learners == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (const tacit__node *node = list->first; node != NULL; node = node->next) {
        tacit_status status = read_learner(c, node, &c->learners[c->n_learners], err);
        if (status != TACIT_OK)
            return status;
        c->n_learners++;
    }
    return TACIT_OK;
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
    tacit_status status = tacit__field_map(c->yaml, root, "a service", keys, N_KEYS, err);
    if (status == TACIT_OK)
        status = set_directory(c, err);
    if (status == TACIT_OK)
        status = read_listen(c, root, err);
    if (status == TACIT_OK)
        status = read_path(c, root, keys[STORE], &c->store, err);
    if (status == TACIT_OK && c->store == NULL)
        status = tacit__field_missing(c->yaml, root, keys[STORE], "store: service.db", err);
    if (status == TACIT_OK)
        status = read_path(c, root, keys[KEY], &c->key, err);
    if (status == TACIT_OK)
        status = read_path(c, root, keys[MARK], &c->mark, err);
    if (status == TACIT_OK)
        status = read_tls(c, root, err);
    c->expire = 7 * 86400; /* a stated choice: a week for the last reward */
    c->threads = 2;
    if (status == TACIT_OK)
        status = tacit__field_count(c->yaml, root, keys[EXPIRE], 1, 100000000, &c->expire, err);
    if (status == TACIT_OK)
        status = tacit__field_count(c->yaml, root, keys[THREADS], 1, 64, &c->threads, err);
    if (status == TACIT_OK)
        status = read_limits(c, root, err);
    if (status == TACIT_OK)
        status = read_learners(c, root, err);
    return status;
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
        status = tacit__space_open(&c->learners[i], err);
    return status;
}

void tacit__service_config_free(tacit__service_config *c)
{
    for (size_t i = 0; i < c->n_learners; i++)
        tacit__known_free(&c->learners[i].known);
    tacit__yaml_destroy(c->yaml);
    tacit__free(c->directory);
    tacit__free(c->owned_host);
    tacit__free(c->store);
    tacit__free(c->key);
    tacit__free(c->mark);
    tacit__free(c->certificate);
    tacit__free(c->private_key);
    tacit__free(c->learners);
    *c = (config){0};
}

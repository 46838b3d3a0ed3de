/* See serve/config.h. The reader is the laboratory's, so that an agent is written in a service file as in an experiment. */
#include "serve/config.h"

#include <arpa/inet.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "lab/experiment.h"
#include "serve/config_learner.h"
#include "serve/config_space.h"
#include "serve/fields.h"
#include "serve/names.h"
#include "serve/room.h"

static const char *const keys[] = {"listen",  "store",  "key",      "mark",  "tls", "expire",
                                   "threads", "limits", "learners", "admin", "log"};
enum { LISTEN, STORE, KEY, MARK, TLS, EXPIRE, THREADS, LIMITS, LEARNERS, ADMIN, LOG, N_KEYS };
static const char *const tls_keys[] = {"certificate", "key"};
static const char *const limit_keys[] = {"body", "header",  "connections", "per_address",
                                         "rate", "timeout", "episodes",    "keys"};

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
static tacit_status read_address(const config *c, const tacit__node *root, const char *key,
                                 const char **out_host, char **owned, uint64_t *out_port,
                                 tacit_error *err)
{
    const tacit__node *node = tacit__node_get(root, key);
    if (node == NULL)
        return TACIT_OK;
    *out_host = "127.0.0.1";
    const char *text;
    tacit_status status = tacit__take_text(c->yaml, node, key, 128, &text, err);
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
    tacit_status status =
        read_address(c, root, keys[LISTEN], &c->host, &c->owned_host, &c->port, err);
    if (status == TACIT_OK)
        status = read_address(c, root, keys[ADMIN], &c->admin_host, &c->owned_admin_host,
                              &c->admin_port, err);
    return status;
}

static tacit_status read_log(config *c, const tacit__node *root, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(root, keys[LOG]);
    const char *text = "text";
    tacit_status status =
        node != NULL ? tacit__take_text(c->yaml, node, keys[LOG], 16, &text, err) : TACIT_OK;
    if (status != TACIT_OK)
        return status;
    c->log_json = strcmp(text, "json") == 0;
    if (!c->log_json && strcmp(text, "text") != 0)
        return tacit__yaml_fail(c->yaml, node->line, err, TACIT_SYNTAX,
                                "log is '%.16s', expected text or json", text);
    return TACIT_OK;
}

static tacit_status read_limits(config *c, const tacit__node *root, tacit_error *err)
{
    /* Stated choices: bodies of a few thousand features, headers of a browser, a page's worth of connections. */
    tacit__limits l = {.body = 1 << 18,
                       .header = 1 << 14,
                       .connections = 1000,
                       .per_address = UINT64_MAX,
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
    } numbers[] = {{"body", 64, TACIT__MOST_BODY, &l.body},
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
    if (l.per_address == UINT64_MAX) /* a quarter: no three addresses take all places */
        l.per_address = (l.connections + 3) / 4;
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
        tacit__learner_config *next = &c->learners[c->n_learners++]; /* also freed if it fails */
        tacit_status status = tacit__learner_config_read(c, node, next, err);
        if (status != TACIT_OK)
            return status;
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
        status = read_log(c, root, err);
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
        if ((status = tacit__space_open(&c->learners[i], err)) == TACIT_OK)
            status = tacit__room_check(&c->learners[i], err);
    return status;
}

void tacit__service_config_free(tacit__service_config *c)
{
    for (size_t i = 0; i < c->n_learners; i++) {
        tacit__known_free(&c->learners[i].known);
        tacit__names_free(&c->learners[i]);
    }
    tacit__yaml_destroy(c->yaml);
    tacit__free(c->directory);
    tacit__free(c->owned_host);
    tacit__free(c->owned_admin_host);
    tacit__free(c->store);
    tacit__free(c->key);
    tacit__free(c->mark);
    tacit__free(c->certificate);
    tacit__free(c->private_key);
    tacit__free(c->learners);
    *c = (config){0};
}

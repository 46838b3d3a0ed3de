/* Reads a billboard, which comes from a server that the device does not trust: every value is checked before
 * it is used, and no allocation is larger than the text justifies. See client_inside.h. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "client/billboard_tables.h"
#include "client/client_inside.h"
#include "noise/seal.h"
#include "text/json.h"

enum { MAX_TEXT = 256 };

typedef struct source {
    const tacit__json_node *nodes;
    tacit_client *client;
    bool good; /* everything so far was as expected */
} source;

static const tacit__json_node *find(source *s, const tacit__json_node *object, const char *key)
{
    const tacit__json_node *node = object != NULL ? tacit__json_get(object, s->nodes, key) : NULL;
    s->good = s->good && node != NULL;
    return node;
}

static bool has(const source *s, const tacit__json_node *object, const char *key)
{
    return s->good && tacit__json_get(object, s->nodes, key) != NULL;
}

static const char *copy_text(source *s, const tacit__json_node *node)
{
    tacit_client *c = s->client;
    char *at = c->texts + c->texts_used;
    if (node == NULL || node->kind != TACIT__JSON_STRING ||
        !tacit__json_string(node, at, c->texts_size - c->texts_used)) {
        s->good = false;
        return "";
    }
    c->texts_used += strlen(at) + 1;
    return at;
}

static uint64_t read_count(source *s, const tacit__json_node *object, const char *key,
                           uint64_t high)
{
    uint64_t n = 0;
    const tacit__json_node *node = find(s, object, key);
    s->good = s->good && tacit__json_count(node, high, &n);
    return n;
}

static double read_number(source *s, const tacit__json_node *object, const char *key)
{
    const tacit__json_node *node = find(s, object, key);
    s->good = s->good && node->kind == TACIT__JSON_NUMBER;
    return s->good ? node->number : 0;
}

/* true, or not there. */
static bool read_flag(source *s, const tacit__json_node *object, const char *key)
{
    const tacit__json_node *node = s->good ? tacit__json_get(object, s->nodes, key) : NULL;
    s->good = s->good && (node == NULL || node->kind == TACIT__JSON_TRUE);
    return s->good && node != NULL;
}

static void read_agent(source *s, const tacit__json_node *root)
{
    tacit_client *c = s->client;
    const tacit__json_node *agent = find(s, root, "agent"), *sums = find(s, agent, "sums");
    const tacit__json_node *list = find(s, agent, "settings");
    c->request.kind = copy_text(s, find(s, agent, "kind"));
    if (sums != NULL && sums->kind != TACIT__JSON_NULL)
        c->request.sums = copy_text(s, sums);
    if (!s->good || list->kind != TACIT__JSON_ARRAY || list->size > TACIT__CLIENT_SETTINGS) {
        s->good = false;
        return;
    }
    const tacit__json_node *pair = list + 1;
    for (uint32_t i = 0; i < list->size && s->good; i++, pair = s->nodes + pair->next) {
        if (pair->kind != TACIT__JSON_ARRAY || pair->size != 2) {
            s->good = false;
            return;
        }
        const tacit__json_node *key = pair + 1;
        c->settings[i].key = copy_text(s, key);
        c->settings[i].value = copy_text(s, s->nodes + key->next);
    }
    c->request.settings = c->settings;
    c->request.n_settings = list->size;
}

static void read_request(source *s, const tacit__json_node *root)
{
    tacit_client *c = s->client;
    const tacit__json_node *space = find(s, root, "space"), *g = find(s, root, "guarantee");
    const tacit__json_node *stationary = find(s, space, "stationary");
    const uint64_t most = UINT32_MAX;
    c->facts.learner = copy_text(s, find(s, root, "learner"));
    c->facts.version = read_count(s, root, "version", UINT64_MAX);
    c->request.episodes = read_count(s, root, "episodes", UINT64_MAX);
    c->request.visits = c->request.apart = 0;
    if (has(s, root, "visits")) { /* both, or neither */
        c->request.visits = read_count(s, root, "visits", UINT64_MAX);
        c->request.apart = read_count(s, root, "apart", UINT64_MAX);
        s->good = s->good && c->request.visits > 1 && c->request.apart > 0;
    }
    c->facts.visits = c->request.visits > 0 ? c->request.visits : 1;
    c->facts.apart = c->request.apart > 0 ? c->request.apart : 1;
    c->request.n_states = (size_t)read_count(s, space, "states", most);
    c->request.n_actions = (size_t)read_count(s, space, "actions", most);
    c->request.horizon = (size_t)read_count(s, space, "horizon", most);
    c->request.stationary = s->good && stationary->kind == TACIT__JSON_TRUE;
    if (has(s, space, "reward_low")) { /* both, or neither */
        c->request.reward_low = read_number(s, space, "reward_low");
        c->request.reward_high = read_number(s, space, "reward_high");
    }
    if (has(s, space, "features")) {
        const tacit__json_node *shared = find(s, space, "shared");
        c->known.features = (size_t)read_count(s, space, "features", most);
        c->known.bound = read_number(s, space, "bound");
        s->good = s->good && c->known.bound > 0;
        c->known.disjoint = s->good && shared->kind == TACIT__JSON_FALSE;
        c->facts.bound = c->known.bound;
    }
    c->known.simplex = read_flag(s, space, "simplex");
    c->known.complementary = read_flag(s, space, "complementary");
    if (has(s, space, "parameter_norm")) {
        c->known.parameter_norm = read_number(s, space, "parameter_norm");
        s->good = s->good && c->known.parameter_norm > 0;
    }
    if (has(s, space, "context"))
        c->known.context = (size_t)read_count(s, space, "context", c->known.features);
    if (has(s, space, "kernel"))
        c->known.kernel = copy_text(s, find(s, space, "kernel"));
    if (has(s, space, "parts"))
        c->known.parts = (size_t)read_count(s, space, "parts", most);
    c->facts.per_situation = tacit__world_tables_per_user(&c->known, &c->request);
    read_agent(s, root);
    if (s->good)
        c->request.guarantee = (tacit_guarantee){.model = TACIT_MODEL_LOCAL,
                                                 .epsilon = read_number(s, g, "epsilon"),
                                                 .delta = read_number(s, g, "delta")};
    const tacit__json_node *m = s->good ? tacit__json_get(root, s->nodes, "monitor") : NULL;
    if (m != NULL && m->kind != TACIT__JSON_NULL)
        c->facts.monitor = (tacit_guarantee){.model = TACIT_MODEL_LOCAL,
                                             .epsilon = read_number(s, m, "epsilon"),
                                             .delta = read_number(s, m, "delta")};
    /* neither may make up for the other */
    s->good = s->good && c->facts.monitor.epsilon >= 0 && c->facts.monitor.delta >= 0 &&
              c->request.guarantee.epsilon >= 0 && c->request.guarantee.delta >= 0;
    c->facts.guarantee = c->request.guarantee;
    c->facts.n_states = c->request.n_states;
    c->facts.n_actions = c->request.n_actions;
    c->facts.horizon = c->request.horizon;
}

/* The actions of a step. */
static bool fill_actions(const source *s, const tacit__json_node *step, uint32_t *out)
{
    const tacit_agent_request *q = &s->client->request;
    if (step->kind != TACIT__JSON_NUMBERS || step->size != q->n_states)
        return false;
    for (size_t i = 0; i < q->n_states; i++) {
        const double x = tacit__json_number_at(step, i);
        if (!(x >= 0 && x < (double)q->n_actions && x == floor(x)))
            return false;
        out[i] = (uint32_t)x;
    }
    return true;
}

/* The probabilities of a step. */
static bool fill_chances(const source *s, const tacit__json_node *step, double *out)
{
    const tacit_agent_request *q = &s->client->request;
    const tacit__json_node *cell = step + 1;
    if (step->kind != TACIT__JSON_ARRAY || step->size != q->n_states)
        return false;
    for (size_t i = 0; i < q->n_states; i++, cell = s->nodes + cell->next) {
        double total = 0;
        if (cell->kind != TACIT__JSON_NUMBERS || cell->size != q->n_actions)
            return false;
        for (size_t a = 0; a < q->n_actions; a++) {
            const double x = tacit__json_number_at(cell, a);
            if (!(x >= 0 && x <= 1))
                return false;
            out[i * q->n_actions + a] = x;
            total += x;
        }
        if (!(total > 0.999 && total < 1.001))
            return false;
    }
    return true;
}

static tacit_status read_table(source *s, const tacit__json_node *root, tacit_error *err)
{
    tacit_client *c = s->client;
    const tacit_agent_request *q = &c->request;
    const tacit__json_node *table = tacit__json_get(root, s->nodes, "policy");
    bool mixed = table == NULL;
    if (mixed)
        table = tacit__json_get(root, s->nodes, "mixed");
    if (table == NULL && c->model != NULL)
        return TACIT_OK; /* the model tells */
    if (table == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED, "the billboard does not say how to act");
    /* what it says of its size is true before room is made for it: the nodes have so many numbers at most */
    const tacit__json_node *step = table + 1;
    const size_t cells = TACIT__JSON_PACKED * (table->next - (size_t)(table - s->nodes)),
                 width = mixed ? q->n_actions : 1;
    bool good = table->kind == TACIT__JSON_ARRAY && table->size == q->horizon && q->n_states > 0 &&
                q->n_states <= cells / q->horizon && width <= cells / (q->horizon * q->n_states);
    if (good) {
        c->table = tacit__alloc(q->horizon * q->n_states * width,
                                mixed ? sizeof(double) : sizeof(uint32_t));
        if (c->table == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    for (size_t h = 0; h < q->horizon && good; h++, step = s->nodes + step->next)
        good = mixed ? fill_chances(s, step, (double *)c->table + h * q->n_states * width)
                     : fill_actions(s, step, (uint32_t *)c->table + h * q->n_states);
    c->board = (tacit_billboard){.version = c->facts.version,
                                 .policy = mixed ? NULL : c->table,
                                 .mixed = mixed ? c->table : NULL};
    return good ? TACIT_OK : tacit__fail(err, TACIT_SYNTAX, "the billboard's policy is malformed");
}

static tacit_status read_model(source *s, const tacit__json_node *root, tacit_error *err)
{
    tacit_client *c = s->client;
    const tacit__json_node *node = tacit__json_get(root, s->nodes, "model_bytes");
    if (node == NULL)
        return TACIT_OK;
    size_t capacity = node->length / 4 * 3 + 3;
    c->model = tacit__alloc(capacity, 1);
    if (c->model == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal_start();
    if (node->kind != TACIT__JSON_STRING ||
        !tacit__base64_read(node->text, node->length, c->model, capacity, &c->model_size))
        return tacit__fail(err, TACIT_SYNTAX, "the billboard's model is malformed");
    return TACIT_OK;
}

/* Not more than the owner of the device agreed to; a NaN agrees to nothing. */
static tacit_status check_terms(tacit_guarantee g, const tacit_client_terms *terms,
                                tacit_error *err)
{
    if (!(g.epsilon <= terms->epsilon))
        return tacit__fail(err, TACIT_BAD_EPSILON,
                           "the billboard asks for epsilon %g, accepted is at most %g", g.epsilon,
                           terms->epsilon);
    if (!(g.delta <= terms->delta))
        return tacit__fail(err, TACIT_BAD_DELTA,
                           "the billboard asks for delta %g, accepted is at most %g", g.delta,
                           terms->delta);
    return TACIT_OK;
}

/* On a device whose sizes have 32 bits, what is made of a billboard must be countable in them. Numbers of
 * people and visits are cast to sizes here and there; products of the others are sizes of tables. Below these
 * limits (a stated choice: tables of half a gigabyte) no such product reaches 2^32, even in bytes. With 64
 * bits, the counts of a billboard are below 2^32 each, and memory ends first. */
static bool is_countable(const tacit_client *c)
{
    const tacit_agent_request *q = &c->request;
    const double most = 0x1p26, many = 0x1p30;
    const double S = (double)q->n_states + 1, A = (double)q->n_actions, H = (double)q->horizon + 1,
                 d = (double)c->known.features + 1, parts = (double)c->known.parts + 1;
    const bool is_small = (double)q->episodes < many && (double)q->visits < many &&
                          (double)q->apart < many && S * S * A * H < most && S * A * H * d < most &&
                          S * S * A * parts < most && H * d * d < most && A * A * d * d < most &&
                          parts * parts * H < most;
    return is_small || sizeof(size_t) > 4;
}

static tacit_status read_billboard(tacit_client *c, const tacit__json_node *nodes,
                                   const tacit_client_terms *terms, tacit_error *err)
{
    source s = {.nodes = nodes, .client = c, .good = true};
    const tacit__json_node *model = find(&s, nodes, "model");
    if (s.good && strcmp(copy_text(&s, model), "local") != 0)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "this learner is not local: it accepts no reports");
    read_request(&s, nodes);
    if (!s.good || (c->request.n_states == 0 && c->facts.per_situation == 0) ||
        c->request.n_actions == 0 || c->request.horizon == 0)
        return tacit__fail(err, TACIT_SYNTAX, "this is not a billboard of the service");
    if (!is_countable(c))
        return tacit__fail(err, TACIT_TOO_LARGE, "the learner is too large for this device");
    tacit_guarantee all = c->facts.guarantee; /* a report has both numbers: their costs add up */
    all.epsilon += c->facts.monitor.epsilon;
    all.delta += c->facts.monitor.delta;
    TRY(check_terms(all, terms, err));
    TRY(tacit__client_tables(nodes, &c->request, &c->known, err));
    tacit__world_tables_set_request(&c->known, &c->request);
    TRY(read_model(&s, nodes, err));
    return read_table(&s, nodes, err);
}

/* At least as many nodes as the text has: each but the first comes after one of these. A model is one
 * node, however long. */
static size_t count_nodes(const char *text, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += text[i] == ',' || text[i] == ':' || text[i] == '[' || text[i] == '{';
    return n;
}

tacit_status tacit__client_read(tacit_client *c, const char *billboard, size_t size,
                                const tacit_client_terms *terms, tacit_error *err)
{
    TACIT__REQUIRE(billboard != NULL && terms != NULL);
    const char *why;
    const size_t room = count_nodes(billboard, size);
    tacit__json_node *nodes = tacit__alloc(room, sizeof *nodes);
    tacit_status status;
    c->texts_size = size + MAX_TEXT;
    c->texts = tacit__alloc(c->texts_size, 1);
    if (nodes == NULL || c->texts == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    else if (tacit__json_parse(billboard, size, nodes, room, &why) == 0 ||
             nodes[0].kind != TACIT__JSON_OBJECT)
        status = tacit__fail(err, TACIT_SYNTAX, "this is not a billboard of the service");
    else
        status = read_billboard(c, nodes, terms, err);
    tacit__free(nodes);
    return status;
}

/* See include/tacit/client.h. A device has an agent of its own with the learner's request, so that its noise is calibrated by the
 * code that the promise was proved for; it learns nothing, it only reports.
 *
 * A device that has seen its data always reports: a report that does not come is an output, too, and who writes billboards must not be
 * able to choose the people from whom none comes. Whatever can be wrong with a billboard is found by tacit_client_create, before
 * anything happened to the person. After that,
 *
 *   - act and report cut what lies outside the billboard's domain (agents/outside.c), so no curator refuses the person, however
 *     small the server has chosen its bounds;
 *   - the action is the one of the model that the report is made by: a table that says otherwise is refused at creation. A
 *     caller who plays another action reports all the same: an action that a model does not have contributes the zero vector
 *     (agents/capri.c), and all other reports do not depend on the model's opinion of an action;
 *   - numbers of the model are finite (checked at creation), and contributions made of them are scaled to their bound however large
 *     they are: sums/lattice.c measures what overflows in smaller units, curate/gram.c cuts features, targets and weights;
 *   - the mean reward for a monitor is one of rewards that were cut, so it is within [0, 1].
 *
 * What remains is memory that runs out, a second report, and arguments that are missing: none depends on the data. */
#include <tacit/client.h>

#include <math.h>
#include <string.h>

#include "agents/agent.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "client/tables.h"
#include "curate/monitor.h"
#include "noise/seal.h"

enum { MAX_SETTINGS = 64, MAX_TEXT = 256 };

struct tacit_client {
    tacit_client_facts facts;
    tacit_agent_request request;
    tacit__known known;
    tacit_setting settings[MAX_SETTINGS];
    char *texts; /* of strings; owned */
    size_t texts_used, texts_size;
    uint8_t *model; /* to make reports by; NULL: none */
    size_t model_size;
    tacit_agent *agent;
    tacit__monitor *monitor; /* or NULL */
    tacit_billboard board;
    void *table; /* to act by; NULL: the model tells */
    bool reported, was_cut;
};

/* --- Reading a billboard ------------------------------------------------------------------------ */

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

static const char *keep_text(source *s, const tacit__json_node *node)
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

static uint64_t take_count(source *s, const tacit__json_node *object, const char *key,
                           uint64_t high)
{
    uint64_t n = 0;
    const tacit__json_node *node = find(s, object, key);
    s->good = s->good && tacit__json_count(node, high, &n);
    return n;
}

static double take_number(source *s, const tacit__json_node *object, const char *key)
{
    const tacit__json_node *node = find(s, object, key);
    s->good = s->good && node->kind == TACIT__JSON_NUMBER;
    return s->good ? node->number : 0;
}

/* true, or not there. */
static bool take_flag(source *s, const tacit__json_node *object, const char *key)
{
    const tacit__json_node *node = s->good ? tacit__json_get(object, s->nodes, key) : NULL;
    s->good = s->good && (node == NULL || node->kind == TACIT__JSON_TRUE);
    return s->good && node != NULL;
}

static void take_agent(source *s, const tacit__json_node *root)
{
    tacit_client *c = s->client;
    const tacit__json_node *agent = find(s, root, "agent"), *sums = find(s, agent, "sums");
    const tacit__json_node *list = find(s, agent, "settings");
    c->request.kind = keep_text(s, find(s, agent, "kind"));
    if (sums != NULL && sums->kind != TACIT__JSON_NULL)
        c->request.sums = keep_text(s, sums);
    if (!s->good || list->kind != TACIT__JSON_ARRAY || list->size > MAX_SETTINGS) {
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
        c->settings[i].key = keep_text(s, key);
        c->settings[i].value = keep_text(s, s->nodes + key->next);
    }
    c->request.settings = c->settings;
    c->request.n_settings = list->size;
}

static void take_request(source *s, const tacit__json_node *root)
{
    tacit_client *c = s->client;
    const tacit__json_node *space = find(s, root, "space"), *g = find(s, root, "guarantee");
    const tacit__json_node *stationary = find(s, space, "stationary");
    const uint64_t most = UINT32_MAX;
    c->facts.learner = keep_text(s, find(s, root, "learner"));
    c->facts.version = take_count(s, root, "version", UINT64_MAX);
    c->request.episodes = take_count(s, root, "episodes", UINT64_MAX);
    c->request.n_states = (size_t)take_count(s, space, "states", most);
    c->request.n_actions = (size_t)take_count(s, space, "actions", most);
    c->request.horizon = (size_t)take_count(s, space, "horizon", most);
    c->request.stationary = s->good && stationary->kind == TACIT__JSON_TRUE;
    if (has(s, space, "features")) {
        const tacit__json_node *shared = find(s, space, "shared");
        c->known.features = (size_t)take_count(s, space, "features", most);
        c->known.bound = take_number(s, space, "bound");
        s->good = s->good && c->known.bound > 0;
        c->known.disjoint = s->good && shared->kind == TACIT__JSON_FALSE;
        c->facts.bound = c->known.bound;
    }
    c->known.simplex = take_flag(s, space, "simplex");
    c->known.complementary = take_flag(s, space, "complementary");
    if (has(s, space, "parameter_norm")) {
        c->known.parameter_norm = take_number(s, space, "parameter_norm");
        s->good = s->good && c->known.parameter_norm > 0;
    }
    if (has(s, space, "context"))
        c->known.context = (size_t)take_count(s, space, "context", c->known.features);
    if (has(s, space, "kernel"))
        c->known.kernel = keep_text(s, find(s, space, "kernel"));
    if (has(s, space, "parts"))
        c->known.parts = (size_t)take_count(s, space, "parts", most);
    c->facts.per_situation = tacit__known_per_user(&c->known, &c->request);
    take_agent(s, root);
    if (s->good)
        c->request.guarantee = (tacit_guarantee){.model = TACIT_MODEL_LOCAL,
                                                 .epsilon = take_number(s, g, "epsilon"),
                                                 .delta = take_number(s, g, "delta")};
    const tacit__json_node *m = s->good ? tacit__json_get(root, s->nodes, "monitor") : NULL;
    if (m != NULL && m->kind != TACIT__JSON_NULL)
        c->facts.monitor = (tacit_guarantee){.model = TACIT_MODEL_LOCAL,
                                             .epsilon = take_number(s, m, "epsilon"),
                                             .delta = take_number(s, m, "delta")};
    /* neither may make up for the other */
    s->good = s->good && c->facts.monitor.epsilon >= 0 && c->facts.monitor.delta >= 0 &&
              c->request.guarantee.epsilon >= 0 && c->request.guarantee.delta >= 0;
    c->facts.guarantee = c->request.guarantee;
    c->facts.n_states = c->request.n_states;
    c->facts.n_actions = c->request.n_actions;
    c->facts.horizon = c->request.horizon;
}

/* The next array of n; NULL: it is none. */
static const tacit__json_node *array_of(const tacit__json_node *node, size_t n)
{
    return node->kind == TACIT__JSON_ARRAY && node->size == n ? node + 1 : NULL;
}

static bool fill_row(const source *s, const tacit__json_node *cell, bool mixed, size_t row)
{
    const tacit_client *c = s->client;
    size_t actions = c->request.n_actions;
    if (!mixed) {
        uint64_t action;
        if (!tacit__json_count(cell, actions - 1, &action))
            return false;
        ((uint32_t *)c->table)[row] = (uint32_t)action;
        return true;
    }
    const tacit__json_node *p = array_of(cell, actions);
    double total = 0;
    for (size_t a = 0; a < actions && p != NULL; a++, p++) {
        if (p->kind != TACIT__JSON_NUMBER || !(p->number >= 0 && p->number <= 1))
            return false;
        ((double *)c->table)[row * actions + a] = p->number;
        total += p->number;
    }
    return p != NULL && total > 0.999 && total < 1.001;
}

static tacit_status take_table(source *s, const tacit__json_node *root, tacit_error *err)
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
        return tacit__fail(err, TACIT_UNSUPPORTED, "the billboard does not tell how to act");
    /* what it says of its size is true before room is made for it: every cell has a node */
    const tacit__json_node *step = array_of(table, q->horizon);
    size_t cells = table->next - (size_t)(table - s->nodes), width = mixed ? q->n_actions : 1;
    bool good = step != NULL && q->n_states > 0 && q->n_states <= cells / q->horizon &&
                width <= cells / (q->horizon * q->n_states);
    if (good) {
        c->table = tacit__alloc(q->horizon * q->n_states * width,
                                mixed ? sizeof(double) : sizeof(uint32_t));
        if (c->table == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    for (size_t h = 0; h < q->horizon && good; h++, step = s->nodes + step->next) {
        const tacit__json_node *cell = array_of(step, q->n_states);
        good = cell != NULL;
        for (size_t i = 0; i < q->n_states && good; i++, cell = s->nodes + cell->next)
            good = fill_row(s, cell, mixed, h * q->n_states + i);
    }
    c->board = (tacit_billboard){.version = c->facts.version,
                                 .policy = mixed ? NULL : c->table,
                                 .mixed = mixed ? c->table : NULL};
    return good ? TACIT_OK : tacit__fail(err, TACIT_SYNTAX, "the billboard's policy is malformed");
}

static tacit_status take_model(source *s, const tacit__json_node *root, tacit_error *err)
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

static tacit_status read_billboard(tacit_client *c, const tacit__json_node *nodes,
                                   const tacit_client_terms *terms, tacit_error *err)
{
    source s = {.nodes = nodes, .client = c, .good = true};
    const tacit__json_node *model = find(&s, nodes, "model");
    if (s.good && strcmp(keep_text(&s, model), "local") != 0)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "this learner is not local: it wants no reports");
    take_request(&s, nodes);
    if (!s.good || (c->request.n_states == 0 && c->facts.per_situation == 0) ||
        c->request.n_actions == 0 || c->request.horizon == 0)
        return tacit__fail(err, TACIT_SYNTAX, "this is not a billboard of the service");
    tacit_guarantee all = c->facts.guarantee; /* a report has both numbers: their costs add up */
    all.epsilon += c->facts.monitor.epsilon;
    all.delta += c->facts.monitor.delta;
    tacit_status status = check_terms(all, terms, err);
    if (status == TACIT_OK)
        status = tacit__client_tables(nodes, &c->request, &c->known, err);
    if (status != TACIT_OK)
        return status;
    tacit__known_tell(&c->known, &c->request);
    status = take_model(&s, nodes, err);
    return status == TACIT_OK ? take_table(&s, nodes, err) : status;
}

/* --- The client --------------------------------------------------------------------------------- */

#define TOL 1e-9 /* absolute, of probabilities that were printed and read again */

/* A plan made of a model from elsewhere gives every situation an action. */
static bool is_plan(const tacit_client *c, const tacit_billboard *plan)
{
    const size_t rows = c->request.horizon * c->request.n_states, n = c->request.n_actions;
    for (size_t row = 0; row < rows && plan->mixed != NULL; row++) {
        double total = 0;
        for (size_t a = 0; a < n; a++) {
            double p = plan->mixed[row * n + a];
            total += p >= 0 ? p : (double)NAN;
        }
        if (!(fabs(total - 1) <= 1e-6)) /* rounding of a softmax, whatever its size */
            return false;
    }
    return true;
}

/* Whether the billboard's table says what its model says. */
static bool agrees(const tacit_client *c, const tacit_billboard *plan)
{
    const size_t rows = c->request.horizon * c->request.n_states;
    if ((plan->policy != NULL) != (c->board.policy != NULL))
        return false;
    if (plan->policy != NULL)
        return memcmp(plan->policy, c->board.policy, rows * sizeof *plan->policy) == 0;
    bool same = plan->mixed != NULL;
    for (size_t i = 0; i < rows * c->request.n_actions && same; i++)
        same = fabs(plan->mixed[i] - c->board.mixed[i]) <= TOL;
    return same;
}

/* Act and report by one thing: the model, if the kind has one. */
static tacit_status follow(tacit_client *c, tacit_error *err)
{
    tacit_billboard plan;
    if (c->model == NULL && c->agent->family->follow == NULL)
        return TACIT_OK;
    if (c->model == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "the billboard has no model to make reports by");
    tacit_status status = tacit_agent_follow(c->agent, c->model, c->model_size, err);
    if (status == TACIT_OK)
        status = tacit_agent_billboard(c->agent, &plan, err);
    if (status != TACIT_OK)
        return status;
    if (!is_plan(c, &plan))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the billboard's model gives no plan");
    if (c->table != NULL && !agrees(c, &plan))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "the billboard's policy is not the one of its model");
    tacit__free(c->table);
    c->table = NULL;
    return TACIT_OK;
}

static tacit_status create_agent(tacit_client *c, tacit_error *err)
{
    tacit_noise *noise;
    tacit_status status = tacit_noise_create_from_os(&noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    c->request.outside = TACIT_OUTSIDE_CLIP;
    status = tacit_agent_create(&c->request, noise, &c->agent, err);
    if (status == TACIT_OK && c->facts.monitor.model == TACIT_MODEL_LOCAL)
        status =
            tacit__monitor_create(c->facts.monitor, c->request.episodes, noise, &c->monitor, err);
    tacit_noise_destroy(noise);
    return status == TACIT_OK ? follow(c, err) : status;
}

/* At least as many nodes as the text has: each but the first comes after one of these. A model is one node, however long. */
static size_t count_nodes(const char *text, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += text[i] == ',' || text[i] == ':' || text[i] == '[' || text[i] == '{';
    return n;
}

static tacit_status build(tacit_client *c, const char *billboard, size_t size,
                          const tacit_client_terms *terms, tacit_error *err)
{
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
    return status == TACIT_OK ? create_agent(c, err) : status;
}

tacit_status tacit_client_create(const char *billboard, size_t size,
                                 const tacit_client_terms *terms, tacit_client **out,
                                 tacit_error *err)
{
    if (billboard == NULL || terms == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_client *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    size_t before = tacit__alloc_allow(terms->memory > 0 ? terms->memory : TACIT_CLIENT_MEMORY);
    tacit_status status = build(c, billboard, size, terms, err);
    (void)tacit__alloc_allow(before);
    if (status != TACIT_OK) {
        tacit_client_destroy(c);
        return status;
    }
    tacit__seal_start();
    *out = c;
    return TACIT_OK;
}

void tacit_client_destroy(tacit_client *c)
{
    if (c == NULL)
        return;
    tacit_agent_destroy(c->agent);
    tacit__monitor_destroy(c->monitor);
    tacit__free(c->texts);
    tacit__free(c->table);
    tacit__free(c->model);
    tacit__known_free(&c->known);
    tacit__free(c);
}

const tacit_client_facts *tacit_client_describe(const tacit_client *client)
{
    return &client->facts;
}

tacit_status tacit_client_act(tacit_client *c, const tacit_situation *situation, uint32_t *action,
                              double *probability, tacit_error *err)
{
    if (c == NULL || situation == NULL || action == NULL || probability == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (c->table == NULL) {
        tacit_status status =
            tacit_agent_act(c->agent, situation, tacit__random_unit(), action, probability, err);
        c->was_cut = tacit_agent_was_cut(c->agent);
        return status;
    }
    if (situation->step >= c->facts.horizon)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "step is %zu, expected less than %zu",
                           situation->step, c->facts.horizon);
    uint32_t state = situation->state;
    c->was_cut = tacit__domain_cut_index(&state, c->facts.n_states);
    tacit__billboard_act(&c->board, situation->step * c->facts.n_states + state, c->facts.n_actions,
                         c->board.policy != NULL ? 0 : tacit__random_unit(), action, probability);
    return TACIT_OK;
}

static double mean_of(const tacit_trajectory *episode, size_t horizon)
{
    double sum = 0;
    for (size_t h = 0; h < horizon; h++) {
        double reward = episode->rewards[h];
        (void)tacit__domain_cut_reward(&reward);
        sum += reward;
    }
    return sum / (double)horizon;
}

static tacit_status make_report(tacit_client *c, const tacit_trajectory *episode, char **body,
                                char key[TACIT_CLIENT_KEY_SIZE], tacit_error *err)
{
    size_t size = 0;
    tacit_status status = tacit_agent_report(c->agent, NULL, NULL, &size, err);
    if (status != TACIT_OK)
        return status;
    const size_t tail = c->monitor != NULL ? TACIT__MONITOR_REPORT : 0;
    uint8_t *bytes = tacit__alloc(size + tail, 1), name[24];
    char *text = tacit__alloc(TACIT__BASE64_SIZE(size + tail), 1);
    tacit__text out = {0};
    if (bytes == NULL || text == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    else
        status = tacit_agent_report(c->agent, episode, bytes, &size, err);
    if (status == TACIT_OK && tail > 0)
        status = tacit__monitor_report(c->monitor, mean_of(episode, c->facts.horizon), bytes + size,
                                       err);
    if (status == TACIT_OK) {
        tacit__base64_write(bytes, size + tail, text);
        tacit__text_put(&out, "{\"learner\":");
        tacit__text_json_string(&out, c->facts.learner, strlen(c->facts.learner));
        tacit__text_put(&out, ",\"report\":\"");
        tacit__text_put(&out, text);
        tacit__text_put(&out, "\"}");
        tacit__random_bytes(name, sizeof name);
        tacit__base64_write(name, sizeof name, key);
        if (out.failed)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    tacit__free(bytes);
    tacit__free(text);
    if (status != TACIT_OK)
        tacit__text_destroy(&out);
    else
        *body = out.data;
    return status;
}

tacit_status tacit_client_report(tacit_client *c, const tacit_trajectory *episode, char **body,
                                 char key[TACIT_CLIENT_KEY_SIZE], tacit_error *err)
{
    if (c == NULL || episode == NULL || body == NULL || key == NULL ||
        (c->facts.per_situation > 0 ? (const void *)episode->features : episode->states) == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (c->reported)
        return tacit__fail(err, TACIT_EXHAUSTED,
                           "this client has made its report; send that one again");
    tacit_status status = make_report(c, episode, body, key, err);
    c->reported = status == TACIT_OK;
    c->was_cut = tacit_agent_was_cut(c->agent);
    return status;
}

bool tacit_client_was_cut(const tacit_client *client)
{
    return client != NULL && client->was_cut;
}

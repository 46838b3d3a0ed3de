/* The identity of an experiment: everything that its results depend on, after expansion, with the contents of
 * the files that it names and the version of the library. The title, comments and the order of keys do not
 * matter. */
#include <string.h>

#include "base/error.h"
#include "lab/experiment.h"
#include "noise/stream.h"
#include "worlds/text_file.h"

/* A chain: each field is hashed together with all before it, and with its length. */
typedef struct chain {
    uint8_t state[TACIT__KEY_BYTES];
} chain;

static void add_bytes(chain *c, const void *data, size_t size)
{
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)size >> (8 * i));
    const tacit__bytes parts[] = {
        {c->state, sizeof c->state}, {length, sizeof length}, {data, size}};
    tacit__digest(parts, 3, c->state);
}

static void add_text(chain *c, const char *text)
{
    add_bytes(c, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

static void add_number(chain *c, uint64_t n)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(n >> (8 * i));
    add_bytes(c, bytes, sizeof bytes);
}

static void add_real(chain *c, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    add_number(c, bits);
}

/* The setting that follows `after` in the order of keys (NULL: the first), or NULL. */
static const tacit_setting *next_setting(const tacit_setting *settings, size_t n,
                                         const tacit_setting *after)
{
    const tacit_setting *best = NULL;
    for (size_t i = 0; i < n; i++)
        if ((after == NULL || strcmp(settings[i].key, after->key) > 0) &&
            (best == NULL || strcmp(settings[i].key, best->key) < 0))
            best = &settings[i];
    return best;
}

static void add_settings(chain *c, const tacit_setting *settings, size_t n)
{
    add_number(c, n);
    for (const tacit_setting *s = NULL; (s = next_setting(settings, n, s)) != NULL;) {
        add_text(c, s->key);
        add_text(c, s->value);
    }
}

static bool is_file(const tacit_world_kind *kind, const char *key)
{
    for (size_t i = 0; kind != NULL && i < kind->n_parameters; i++)
        if (strcmp(kind->parameters[i].name, key) == 0)
            return kind->parameters[i].type == TACIT_PARAMETER_FILE;
    return false;
}

static tacit_status add_world(chain *c, const tacit_experiment *e, size_t world, tacit_error *err)
{
    TACIT__REQUIRE(world < e->facts.n_worlds);
    const tacit_world_entry *entry = &e->worlds[world];
    const tacit_world_kind *kind = tacit_world_kind_find(entry->kind);
    const tacit__origin origin = {e->facts.file, entry->line, entry->kind};
    add_text(c, e->names[world].key);
    add_text(c, entry->label);
    add_text(c, entry->kind);
    add_settings(c, entry->settings, entry->n_settings);
    if (entry->visitors.people > 0) {
        add_number(c, entry->visitors.people);
        add_number(c, entry->visitors.visits);
        add_number(c, entry->visitors.apart);
        add_number(c, (uint64_t)entry->visitors.order);
    }
    for (size_t i = 0; i < entry->n_settings; i++) {
        const tacit_setting *s = &entry->settings[i];
        if (!is_file(kind, s->key))
            continue;
        const tacit__value value = {.text = s->value, .given = true, .line = s->line};
        tacit__text_file file = {.text = NULL};
        tacit_status status = tacit__text_file_read(&value, &origin, &file, err);
        if (status == TACIT_OK)
            add_bytes(c, file.text, file.size);
        tacit__text_file_close(&file);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

static void add_agent(chain *c, const tacit_entry *entry)
{
    add_text(c, entry->label);
    add_text(c, entry->kind);
    add_number(c, (uint64_t)entry->guarantee.model);
    add_real(c, entry->guarantee.epsilon);
    add_real(c, entry->guarantee.delta);
    add_number(c, (uint64_t)entry->calibration);
    add_text(c, entry->sums);
    add_settings(c, entry->settings, entry->n_settings);
    if (entry->outside !=
        TACIT_OUTSIDE_REFUSE) /* the default is left out, so that earlier runs keep their identity */
        add_number(c, (uint64_t)entry->outside);
    if (entry->visits > 1) {
        add_number(c, entry->visits);
        add_number(c, entry->apart);
    }
}

tacit_status tacit__experiment_identity(const tacit_experiment *experiment,
                                        uint8_t out[TACIT__IDENTITY_BYTES], tacit_error *err)
{
    TACIT__REQUIRE(experiment != NULL && out != NULL);
    const tacit_experiment_facts *facts = &experiment->facts;
    chain c = {{0}};
    add_text(&c, tacit_version());
    add_number(&c, facts->episodes);
    add_number(&c, facts->runs);
    add_number(&c, facts->seed);
    add_number(&c, facts->n_worlds);
    for (size_t i = 0; i < facts->n_worlds; i++) {
        TRY(add_world(&c, experiment, i, err));
    }
    add_number(&c, facts->n_agents);
    for (size_t i = 0; i < facts->n_agents; i++)
        add_agent(&c, &facts->agents[i]);
    add_number(&c, experiment->n_pairs);
    for (size_t i = 0; i < experiment->n_pairs; i++) {
        add_number(&c, experiment->pairs[i].world);
        add_number(&c, experiment->pairs[i].agent);
    }
    memcpy(out, c.state, TACIT__IDENTITY_BYTES);
    return TACIT_OK;
}

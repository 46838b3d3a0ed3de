/* lsvi-ucb as bytes. A saved state is a header, the planner's pieces (plan/lsvi.h), the curator
 * (curate/lsvi_saved.c) and a checksum of all that. Only an agent of the same request takes it;
 * that and the checksum are looked at before anything is changed. */
#include <string.h>

#include "agents/lsvi_agent.h"
#include "base/error.h"

#define MAGIC 0x746163697453564cU
enum { FORMAT_VERSION = 2 }; /* 2: closed learners keep no data */

typedef struct header {
    uint64_t magic, version, size;
    uint8_t fingerprint[TACIT__KEY_BYTES];
} header;

void tacit__lsvi_fingerprint(lsvi_agent *agent, const lsvi_design *g)
{
    const tacit__linear_space *sp = &agent->space;
    const tacit__lsvi_scheme *s = &g->scheme;
    const uint64_t sizes[] = {sp->form,
                              sp->n_states,
                              sp->n_actions,
                              sp->horizon,
                              sp->dimension,
                              (uint64_t)(int64_t)sp->feature_bits,
                              g->wish.episodes,
                              s->leaf,
                              s->leaves,
                              s->switches,
                              (uint64_t)s->direct,
                              (uint64_t)s->mechanism,
                              (uint64_t)g->wish.schedule,
                              (uint64_t)g->wish.centred,
                              (uint64_t)g->wide,
                              (uint64_t)g->wish.guarantee.model};
    const double numbers[] = {sp->bound,      s->switch_factor, s->gram_scale,  s->response_scale,
                              g->ridge,       g->bonus,         g->wish.lambda, s->gram_l2,
                              s->response_l2, g->range[0],      g->cap[0]};
    const tacit__bytes parts[] = {
        {"lsvi-ucb", sizeof "lsvi-ucb"},
        {sizes, sizeof sizes},
        {numbers, sizeof numbers},
        {agent->table, agent->table != NULL
                           ? sp->n_states * sp->n_actions * sp->dimension * sizeof *agent->table
                           : 0}};
    tacit__digest(parts, sizeof parts / sizeof *parts, agent->fingerprint);
}

/* The planner's pieces, and how many bytes they are together. */
static size_t list_pieces(const lsvi_agent *agent, tacit__lsvi_piece pieces[TACIT__LSVI_PIECES])
{
    size_t total = 0;
    tacit__lsvi_pieces(agent->planner, pieces);
    for (size_t i = 0; i < TACIT__LSVI_PIECES; i++)
        total += pieces[i].size;
    return total;
}

tacit_status tacit__lsvi_agent_save(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const lsvi_agent *agent = self;
    tacit__lsvi_piece pieces[TACIT__LSVI_PIECES];
    size_t data, needed = sizeof(header) + list_pieces(agent, pieces) + TACIT__KEY_BYTES;
    tacit_status status = tacit__lsvi_data_save(agent->curator, NULL, &data, err);
    if (status != TACIT_OK)
        return status;
    needed += data;
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    header h = {.magic = MAGIC, .version = FORMAT_VERSION, .size = needed};
    memcpy(h.fingerprint, agent->fingerprint, sizeof h.fingerprint);
    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    for (size_t i = 0; i < TACIT__LSVI_PIECES; i++) {
        if (pieces[i].size > 0)
            memcpy(at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
    status = tacit__lsvi_data_save(agent->curator, at, &data, err);
    if (status != TACIT_OK)
        return status;
    at += data;
    tacit__digest(&(tacit__bytes){bytes, (size_t)(at - (uint8_t *)bytes)}, 1, at);
    *size = needed;
    return TACIT_OK;
}

static tacit_status check_saved(const lsvi_agent *agent, const void *bytes, size_t size,
                                size_t pieces, tacit_error *err)
{
    header h;
    uint8_t digest[TACIT__KEY_BYTES];
    if (size < sizeof h + pieces + sizeof digest)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few for a saved learner", size);
    memcpy(&h, bytes, sizeof h);
    if (h.magic != MAGIC || h.size != size)
        return tacit__fail(err, TACIT_CORRUPT,
                           "this is not a saved lsvi-ucb, or not the whole of one");
    if (h.version != FORMAT_VERSION)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "the saved learner has format version %llu, expected %d",
                           (unsigned long long)h.version, FORMAT_VERSION);
    tacit__digest(&(tacit__bytes){bytes, size - sizeof digest}, 1, digest);
    if (memcmp(digest, (const uint8_t *)bytes + size - sizeof digest, sizeof digest) != 0)
        return tacit__fail(err, TACIT_CORRUPT,
                           "the saved learner is damaged: its checksum does not match");
    if (memcmp(h.fingerprint, agent->fingerprint, sizeof h.fingerprint) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN, "the saved learner is of another request");
    return TACIT_OK;
}

tacit_status tacit__lsvi_agent_load(void *self, const void *bytes, size_t size, tacit_error *err)
{
    lsvi_agent *agent = self;
    tacit__lsvi_piece pieces[TACIT__LSVI_PIECES];
    size_t total = list_pieces(agent, pieces);
    tacit_status status = check_saved(agent, bytes, size, total, err);
    if (status != TACIT_OK)
        return status;
    const uint8_t *at = (const uint8_t *)bytes + sizeof(header);
    if (!tacit__lsvi_check_pieces(agent->planner, at))
        return tacit__fail(err, TACIT_CORRUPT, "the saved learner contradicts itself");
    status = tacit__lsvi_data_load(agent->curator, at + total,
                                   size - sizeof(header) - total - TACIT__KEY_BYTES, err);
    if (status != TACIT_OK)
        return status;
    for (size_t i = 0; i < TACIT__LSVI_PIECES; i++) {
        if (pieces[i].size > 0)
            memcpy(pieces[i].data, at, pieces[i].size);
        at += pieces[i].size;
    }
    tacit__lsvi_restored(agent->planner);
    return TACIT_OK;
}

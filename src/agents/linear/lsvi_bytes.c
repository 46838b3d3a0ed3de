/* lsvi-ucb as bytes: in an envelope (noise/envelope.h) the planner (lsvi.h) and the curator
 * (release/archive/archive_saved.c). Only an agent of the same request accepts it. */
#include "agents/linear/lsvi_agent.h"
#include "noise/envelope.h"

typedef struct header {
    uint64_t magic;
    uint32_t version, zero;
    uint64_t size;
    uint8_t fingerprint[TACIT__KEY_BYTES];
} header;

static const tacit__envelope envelope = {.magic = 0x746163697453564cU,
                                         .version = 4, /* pooled */
                                         .header = sizeof(header),
                                         .print_at = offsetof(header, fingerprint),
                                         .what = "learner",
                                         .foreign = "the saved learner is of another request"};

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
                              g->options.episodes,
                              s->leaf,
                              s->leaves,
                              s->switches,
                              (uint64_t)s->direct,
                              (uint64_t)s->mechanism,
                              (uint64_t)g->options.schedule,
                              (uint64_t)g->options.centered,
                              (uint64_t)g->spans,
                              (uint64_t)sp->pooled,
                              (uint64_t)g->wide,
                              (uint64_t)g->options.guarantee.model};
    const double numbers[] = {
        s->unit,           s->rate,     sp->bound, s->switch_factor,  s->gram_scale,
        s->response_scale, g->ridge,    g->bonus,  g->options.lambda, s->gram_l2,
        s->response_l2,    g->range[0], g->cap[0]};
    const tacit__bytes parts[] = {
        {"lsvi-ucb", sizeof "lsvi-ucb"},
        {sizes, sizeof sizes},
        {numbers, sizeof numbers},
        {agent->table, agent->table != NULL
                           ? sp->n_states * sp->n_actions * sp->dimension * sizeof *agent->table
                           : 0}};
    tacit__digest(parts, sizeof parts / sizeof *parts, agent->fingerprint);
}

void tacit__lsvi_agent_fields(void *self, tacit__saved *s)
{
    lsvi_agent *agent = self;
    header h = {0};
    s->wrong = "the saved learner contradicts itself";
    const size_t start = tacit__envelope_open(&envelope, agent->fingerprint, 0, &h, s);
    if (h.zero != 0)
        tacit__saved_fail(s, TACIT_WRONG_VERSION, NULL);
    tacit__lsvi_fields(agent->planner, s);
    tacit__archive_fields(agent->base.curator, s);
    tacit__envelope_close(&envelope, start, s);
}

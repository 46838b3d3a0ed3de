/* capri: elimination (capri.c) on sums in epochs (agents/bandit/epoch_agent.c). Its settings are in
 * capri_settings.c.
 *
 * Where the points S of the projection are drawn, the rank depends on the draw, and sums have room for
 * any. */
#include <math.h>
#include <stdio.h>

#include "agents/bandit/capri_agent.h"
#include "base/error.h"

static void draw_words(void *context, uint64_t stream, uint64_t first, size_t n, uint64_t *out)
{
    tacit__site_words(context, stream, first, n, out);
}

/* Points of epochs come from a public seed, never from the key of the noise. A device or an auditor that has
 * the request draws the same points. */
static tacit_status open_chance(capri_agent *agent, const tacit__reading *r)
{
    tacit_noise *source = NULL;
    tacit_status status = tacit_noise_create_simulated(
        (uint64_t)tacit__value_of(&r->values, "public_seed")->integer, &source);
    if (status == TACIT_OK)
        tacit__site_open(&agent->chance, source, "public: points of epochs");
    tacit_noise_destroy(source);
    return status;
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    capri_agent *agent = self;
    tacit__capri_options *o = &agent->options;
    TRY(tacit__capri_read(r, o, err));
    o->words = draw_words;
    o->context = &agent->chance;
    tacit_status status = open_chance(agent, r);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    const size_t pairs = o->pairs.n_contexts * o->pairs.n_actions;
    agent->base.kind = &tacit__capri_planner;
    agent->base.options = o;
    agent->base.pairs = o->pairs;
    agent->base.dimension = !o->sampled ? 0 : o->rank < pairs ? o->rank : pairs;
    agent->base.published_scale = tacit__capri_published(r->request);
    tacit__capri_write_remark(agent, r);
    TRY(tacit__epoch_build(&agent->base, r, noise, err));
    tacit__capri_fill_plays(agent, r);
    return TACIT_OK;
}

static tacit_status check(const tacit_agent_request *q, tacit_error *err)
{
    if (q->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)q->line,
                              "capri has the calibrations tight and published");
    return TACIT_OK;
}

const tacit__family tacit__family_capri = {
    .rows = &tacit__capri_rows,
    .by_billboard = true,
    .size = sizeof(capri_agent),
    .check = check,
    .build = build,
    TACIT__EPOCH_FAMILY,
};

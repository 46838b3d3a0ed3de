/* See serve/people/situation.h. */
#include "serve/people/situation.h"

#include "agents/domain.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "serve/people/context.h"
#include "serve/people/episode.h"
#include "serve/people/feature_grid.h"

size_t tacit__situation_capacity(const tacit__learner_config *c)
{
    return c->per_user * sizeof(double) + (tacit__stored_situation_size(c) + 7) / 8 * 8;
}

/* Reads doubles, low byte first. */
static bool read_bytes(tacit__request *r, const tacit__learner_config *c, double *x)
{
    tacit__reader from = {.at = (const uint8_t *)r->body, .left = r->body_size};
    if (r->body_size != c->per_user * sizeof *x) {
        tacit__refuse(r, 422, "out_of_range", "body",
                      "the body must be %zu numbers of 8 bytes each", c->per_user);
        return false;
    }
    for (size_t i = 0; i < c->per_user; i++)
        x[i] = tacit__read_double(&from);
    return true;
}

/* Checks that the features are in the learner's domain, or clips them, and rounds them to its grid. Returns
 * false if the request was refused. */
static bool fit(tacit__request *r, const tacit__learner_config *c, const char *key, double *x)
{
    if (c->request.outside == TACIT_OUTSIDE_CLIP) {
        const tacit__domain domain = tacit__domain_of(&c->request);
        r->outside = tacit__domain_clip_features(&domain, x) || r->outside;
    } else if (!tacit__world_tables_accepts(&c->known, &c->request, x)) {
        if (c->known.simplex)
            tacit__refuse(
                r, 422, "out_of_range", key,
                "%s must have features that are not negative and sum to 1 for each action", key);
        else
            tacit__refuse(
                r, 422, "out_of_range", key,
                "%s must have features of norm at most %g for each action; scale them, or "
                "let the agent do it (outside: clip)",
                key, c->known.bound);
        return false;
    }
    if (c->chosen_only)
        tacit__grid_round(tacit__grid_step(c->known.bound), c->per_user, x);
    return true;
}

static bool read_features(const tacit__body *b, const tacit__learner_config *c, const char *key,
                          bool *has, double **features)
{
    tacit__request *r = b->request;
    const size_t size = tacit__situation_capacity(c);
    double *x = tacit__alloc_raw(size, 1);
    if (x == NULL) {
        tacit__refuse(r, 503, "memory", NULL, "out of memory");
        return false;
    }
    bool given = true, good;
    if (r->binary) {
        good = read_bytes(r, c, x);
    } else {
        good = tacit__context_read(b, c, key, has, x);
        given = has == NULL || *has;
    }
    good = good && (!given || fit(r, c, key, x));
    if (good && given)
        *features = x;
    else
        tacit__free_secret(x, size);
    return good;
}

bool tacit__situation_read(const tacit__body *b, const tacit__learner_config *c, bool next,
                           bool *has, uint32_t *state, double **features)
{
    TACIT__REQUIRE(state != NULL || features != NULL);
    const char *state_key = next ? "next_state" : "state",
               *context_key = next ? "next_context" : "context";
    tacit__request *r = b->request;
    const bool numbered = c->per_user == 0;
    if (numbered && r->binary) {
        tacit__refuse(r, 422, "out_of_range", "body",
                      "this learner has numbered states: send JSON");
        return false;
    }
    if (tacit__body_get(b, numbered ? context_key : state_key) != NULL) {
        tacit__refuse(r, 422, "out_of_range", numbered ? context_key : state_key,
                      numbered ? "this learner has numbered states: send %s"
                               : "this learner has contexts, not states: send %s",
                      numbered ? state_key : context_key);
        return false;
    }
    if (!numbered)
        return read_features(b, c, context_key, has, features);
    if (c->request.outside == TACIT_OUTSIDE_CLIP)
        return tacit__body_index(b, state_key, c->request.n_states, has, state, &r->outside);
    const tacit__field field = {state_key, TACIT__FIELD_COUNT, .high = c->request.n_states - 1};
    uint64_t number = 0;
    if (!tacit__body_read(b, &field, has, &number))
        return false;
    *state = (uint32_t)number;
    return true;
}

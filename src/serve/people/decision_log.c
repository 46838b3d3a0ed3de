/* See serve/people/decision_log.h. An entry consists of 64-bit numbers, low byte first: FORMAT, the number of
 * steps, the number of features of a situation; then for each step state, action, version, probability,
 * reward, and the features. It can be read without the learner's settings, which may be gone. */
#include "serve/people/decision_log.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "serve/learner/action_names.h"
#include "serve/people/feature_grid.h"
#include "store/vault/vault_maintenance.h"
#include "text/json_text.h"

enum { FORMAT = 1, HEAD = 3, STEP = 5 }; /* how many numbers the head and a step have */

size_t tacit__decision_log_extra_size(const tacit__learner_config *c)
{
    return c->log_decisions && c->chosen_only ? c->per_user * sizeof(double) : 0;
}

void tacit__decision_log_fill(const tacit__learner_config *c, const tacit__ticket *t,
                              const uint8_t *situation, uint8_t *extra)
{
    TACIT__REQUIRE(tacit__decision_log_extra_size(c) == 0 || (situation != NULL && extra != NULL));
    const size_t size = tacit__decision_log_extra_size(c);
    if (size > 0 && !t->packed)
        memcpy(extra, situation, size);
    if (size == 0 || !t->packed)
        return;
    double *features = (double *)(void *)extra;
    const size_t row = c->known.disjoint ? 0 : t->action * c->known.features;
    for (size_t i = 0; i < c->per_user; i++)
        features[i] = (double)NAN;
    tacit__grid_unpack(tacit__grid_step(c->known.bound), c->known.features, situation,
                       features + row);
}

/* --- Saving --------------------------------------------------------------------------------------- */

static void put_step(tacit__writer *w, const tacit__episode *e, size_t step, const double *extra)
{
    TACIT__REQUIRE(step < e->config->request.horizon);
    const size_t n = e->config->per_user;
    tacit__trail trail;
    memcpy(&trail, e->trail + step * sizeof trail, sizeof trail);
    tacit__write_le64(w, e->states[step]);
    tacit__write_le64(w, e->actions[step]);
    tacit__write_le64(w, trail.version);
    tacit__write_double(w, trail.probability);
    tacit__write_double(w, e->rewards[step]);
    const double *features =
        extra != NULL ? extra : (const double *)(const void *)e->situations + step * n;
    for (size_t i = 0; i < n; i++)
        tacit__write_double(w, features[i]);
}

tacit_status tacit__decision_log_save(tacit__vault *vault, int64_t learner, const tacit__episode *e,
                                      const double *extra, tacit_error *err)
{
    TACIT__REQUIRE(e->config->request.horizon > 0 && e->trail != NULL);
    const size_t end = tacit__episode_end(e), h = end > 0 ? end : e->config->request.horizon,
                 n = e->config->per_user, numbers = HEAD + h * (STEP + n);
    uint8_t *bytes = tacit__alloc(numbers, sizeof(uint64_t));
    if (bytes == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__writer w = {.at = bytes};
    tacit__write_le64(&w, FORMAT);
    tacit__write_le64(&w, h);
    tacit__write_le64(&w, n);
    for (size_t i = 0; i < h; i++)
        put_step(&w, e, i, extra);
    tacit_status status = tacit__vault_add_decision(vault, learner, bytes, w.size, err);
    tacit__free_secret(bytes, w.size);
    return status;
}

/* --- Writing --------------------------------------------------------------------------------------- */

static void put_features(tacit__reader *from, size_t n, tacit__text *out)
{
    tacit__text_put(out, ",\"context\":[");
    for (size_t i = 0; i < n; i++) {
        tacit__text_put(out, i > 0 ? "," : "");
        tacit__text_number(out, tacit__read_double(from));
    }
    tacit__text_put(out, "]");
}

static void put_action(const tacit__learner_config *names, uint64_t action, tacit__text *out)
{
    tacit__text_put(out, ",\"action\":");
    if (names != NULL && action < names->request.n_actions)
        tacit__action_names_write(names, (uint32_t)action, out);
    else
        tacit__text_count(out, action);
}

static void write_step(tacit__reader *from, size_t n, const tacit__learner_config *names,
                       tacit__text *out)
{
    const uint64_t state = tacit__read_le64(from), action = tacit__read_le64(from),
                   version = tacit__read_le64(from);
    const double probability = tacit__read_double(from), reward = tacit__read_double(from);
    if (n == 0)
        tacit__text_print(out, ",\"state\":%llu", (unsigned long long)state);
    else
        put_features(from, n, out);
    put_action(names, action, out);
    tacit__text_put(out, ",\"probability\":");
    tacit__text_number(out, probability > 0 ? probability : (double)NAN);
    if (probability > 0)
        tacit__text_print(out, ",\"version\":%llu", (unsigned long long)version);
    else
        tacit__text_put(out, ",\"version\":null");
    tacit__text_put(out, ",\"reward\":");
    tacit__text_number(out, reward);
}

bool tacit__decision_log_write(const uint8_t *data, size_t size, int64_t number,
                               const char *learner, const tacit__learner_config *names,
                               tacit__text *out)
{
    tacit__reader from = {.at = data, .left = size};
    const uint64_t format = tacit__read_le64(&from), h = tacit__read_le64(&from),
                   n = tacit__read_le64(&from);
    if (from.failed || format != FORMAT || n > size || h > size ||
        from.left != h * (STEP + n) * sizeof(uint64_t))
        return false;
    for (uint64_t i = 0; i < h; i++) {
        tacit__text_put(out, "{\"learner\":");
        tacit__text_json_string(out, learner, strlen(learner));
        tacit__text_print(out, ",\"user\":%lld,\"step\":%llu", (long long)number,
                          (unsigned long long)i);
        write_step(&from, (size_t)n, names, out);
        tacit__text_put(out, "}\n");
    }
    return true;
}

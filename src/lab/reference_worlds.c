/* See lab/reference_worlds.h. What a request declares decides the families:
 *
 *   bandits with a kernel    functions drawn from the kernel's own space, smooth and less smooth
 *   bandits with features    parameters drawn at random
 *   mixtures                 kernels and weights drawn at random, one weight in charge or several; locks
 *   features                 linear worlds drawn at random
 *   else                     tables, the families of `reference`
 *
 * Sizes are those that the request declares; the numbers of tables, mixtures and features that it brings
 * are not used. In tables, `rewards` says how rare they are. World i is of family i modulo the number of
 * families, with seed i + 1. */
#include "lab/reference_worlds.h"

#include "base/error.h"
#include "text/json_text.h"

enum { BROUGHT_STATES = 50, MAX_COORDINATES = 32 };

static const char *yes_no(bool flag)
{
    return flag ? "yes" : "no";
}

/* Kernels have at least one coordinate of the context, and one of the action. */
static size_t coordinates(size_t n)
{
    return n < 1 ? 1 : n > MAX_COORDINATES ? MAX_COORDINATES : n;
}

static void write_bandit(const tacit_agent_request *q, size_t i, tacit__text *out)
{
    const tacit_bandit *b = q->bandit;
    if (b->kernel == NULL || strcmp(b->kernel, "linear") == 0) {
        tacit__text_print(out, "kind: linear-bandit, d: %zu, actions: %zu, arms: %s, contexts: %zu",
                          b->dimension, q->n_actions, b->disjoint ? "disjoint" : "shared",
                          q->n_states);
        return;
    }
    tacit__text_put(out, "kind: kernel-bandit, kernel: ");
    tacit__text_json_string(out, b->kernel, strlen(b->kernel));
    tacit__text_print(out,
                      ", contexts: %zu, actions: %zu, context_d: %zu, action_d: %zu, centers: %d",
                      q->n_states, q->n_actions, coordinates(b->context_dimension),
                      coordinates(b->dimension - b->context_dimension), i % 2 == 0 ? 40 : 5);
}

static void write_mixture(const tacit_agent_request *q, size_t i, tacit__text *out)
{
    static const char *const evenness[] = {"0.1", "0.3", "1"};
    const size_t d = q->mixture->dimension;
    if (i % 3 == 2 && d >= 2)
        tacit__text_print(out, "kind: lock, d: %zu, horizon: %zu", d, q->horizon);
    else
        tacit__text_print(out,
                          "kind: random-mixture, d: %zu, states: %zu, actions: %zu, horizon: %zu, "
                          "stationary: %s, evenness: %s",
                          d, q->n_states, q->n_actions, q->horizon, yes_no(q->stationary),
                          evenness[i % 3]);
    if (q->rewards == NULL)
        tacit__text_put(out, ", rewards: hidden");
}

static bool is_mixture(const tacit_agent_request *q)
{
    return q->mixture != NULL && (q->mixture->kernels || q->rewards != NULL) && q->horizon > 1;
}

static void write_linear(const tacit_agent_request *q, size_t i, tacit__text *out)
{
    static const char *const concentrations[] = {"0.1", "0.3", "1"};
    tacit__text_print(out,
                      "kind: random-linear, d: %zu, states: %zu, actions: %zu, horizon: %zu, "
                      "stationary: %s, concentration: %s",
                      q->linear->dimension, q->n_states > 0 ? q->n_states : BROUGHT_STATES,
                      q->n_actions, q->horizon, yes_no(q->stationary), concentrations[i % 3]);
}

/* With one step there are only contexts. */
static void write_table(const tacit_agent_request *q, size_t i, double rewards, tacit__text *out)
{
    static const char *const families[] = {"contexts", "faint", "chain", "sparse",
                                           "code",     "trap",  "dense"};
    enum { N = sizeof families / sizeof *families };
    tacit__text_print(out,
                      "kind: reference, family: %s, rewards: %.10g, states: %zu, actions: %zu, "
                      "horizon: %zu, stationary: %s",
                      families[i % (q->horizon > 1 ? N : 2)], rewards, q->n_states, q->n_actions,
                      q->horizon, yes_no(q->stationary));
}

bool tacit__reference_is_table(const tacit_agent_request *q)
{
    return q->bandit == NULL && q->linear == NULL && !is_mixture(q);
}

static void write_world(const tacit_agent_request *q, size_t i, double rewards, tacit__text *out)
{
    tacit__text_print(out, "  - {label: world %zu, ", i + 1);
    const size_t before = out->length;
    if (q->bandit != NULL)
        write_bandit(q, i, out);
    else if (is_mixture(q))
        write_mixture(q, i, out);
    else if (q->linear != NULL)
        write_linear(q, i, out);
    else
        write_table(q, i, rewards, out);
    const bool seeded = out->failed || strstr(out->data + before, "kind: lock") == NULL;
    if (seeded)
        tacit__text_print(out, ", seed: %zu", i + 1);
    tacit__text_put(out, "}\n");
}

/* Writes the visits of one person, at most as many as fit into this many users. */
static void write_visits(const tacit_agent_request *q, uint64_t users, tacit__text *out)
{
    const uint64_t apart = q->apart > 0 ? q->apart : 1;
    const uint64_t visits = q->visits < users / apart ? q->visits : users / apart;
    if (visits > 1)
        tacit__text_print(out, ", visits: %llu, apart: %llu", (unsigned long long)visits,
                          (unsigned long long)apart);
}

static void write_settings(const tacit_setting *settings, size_t n, tacit__text *out)
{
    for (size_t i = 0; i < n; i++) {
        tacit__text_print(out, ", %.64s: ", settings[i].key);
        tacit__text_json_string(out, settings[i].value, strlen(settings[i].value));
    }
}

static void write_learner(const tacit_agent_request *q, uint64_t users, double epsilon,
                          tacit__text *out)
{
    static const char *const models[] = {"none", "joint", "local"};
    static const char *const calibrations[] = {"calibration: tight", "calibration: published",
                                               "calibration: figure", "noise: published",
                                               "noise: recalled"};
    tacit__text_print(out, "  - {label: learner, kind: %.64s", q->kind);
    write_settings(q->settings, q->n_settings, out);
    tacit__text_print(out, ", privacy: {model: %s", models[q->guarantee.model]);
    if (q->guarantee.model != TACIT_MODEL_NONE)
        tacit__text_print(out,
                          ", epsilon: %.17g, delta: %.17g, %s, delta_above_one_over_users: yes",
                          epsilon, q->guarantee.delta, calibrations[q->calibration]);
    if (q->sums != NULL && q->guarantee.model != TACIT_MODEL_NONE)
        tacit__text_print(out, ", sums: %.16s", q->sums);
    if (q->guarantee.model != TACIT_MODEL_NONE)
        write_visits(q, users, out);
    tacit__text_put(out, "}}\n  - {kind: constant}\n  - {kind: uniform}\n");
}

void tacit__reference_write(const tacit_agent_request *request, size_t n_worlds, uint64_t users,
                            double epsilon, double rewards, tacit__text *out)
{
    TACIT__REQUIRE(request != NULL && request->kind != NULL && n_worlds > 0);
    TACIT__REQUIRE(request->guarantee.model <= TACIT_MODEL_LOCAL &&
                   request->calibration <= TACIT_CALIBRATION_RECALLED);
    tacit__text_put(out, "title: reference worlds\nworlds:\n");
    for (size_t i = 0; i < n_worlds; i++)
        write_world(request, i, rewards, out);
    tacit__text_print(out, "episodes: %llu\nruns: 1\nseed: 1\nagents:\n",
                      (unsigned long long)users);
    write_learner(request, users, epsilon, out);
}

void tacit__reference_write_own(const tacit_agent_request *request, const tacit_world_entry *own,
                                uint64_t runs, tacit__text *out)
{
    TACIT__REQUIRE(request != NULL && request->kind != NULL && own != NULL && runs > 0);
    const tacit_visitors *v = &own->visitors;
    tacit__text_print(out, "title: own world\nworlds:\n  - {label: own, kind: %.64s", own->kind);
    write_settings(own->settings, own->n_settings, out);
    if (v->people > 0)
        tacit__text_print(out, ", visitors: {people: %llu, visits: %llu, apart: %llu, order: %s}",
                          (unsigned long long)v->people, (unsigned long long)v->visits,
                          (unsigned long long)v->apart,
                          v->order == TACIT_ORDER_RANDOM ? "random" : "rounds");
    tacit__text_print(out, "}\nepisodes: %llu\nruns: %llu\nseed: 1\nagents:\n",
                      (unsigned long long)request->episodes, (unsigned long long)runs);
    write_learner(request, request->episodes, request->guarantee.epsilon, out);
}

/* See lab/grow.h. Random draws depend on labels, the seed and the number of the run, never on positions in a
 * list. So a job is identified by the labels of its world and its agent, and its run; everything else about
 * them must be equal. */
#include "lab/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lab/experiment.h"

typedef struct comparison {
    char *why;
    char what[160]; /* "the agent 'joint'" */
} comparison;

__attribute__((format(printf, 2, 3))) static bool differ(const comparison *c, const char *format,
                                                         ...)
{
    va_list arguments;
    size_t n = (size_t)snprintf(c->why, TACIT__DIFFERENCE, "%s", c->what);
    va_start(arguments, format);
    (void)vsnprintf(c->why + n, TACIT__DIFFERENCE - n, format, arguments);
    va_end(arguments);
    return false;
}

/* "the agent 'joint': ", for a key that follows. */
static void add_colon(comparison *c)
{
    const size_t n = strlen(c->what);
    (void)snprintf(c->what + n, sizeof c->what - n, ": ");
}

static bool same_number(const comparison *c, const char *key, uint64_t there, uint64_t here)
{
    return there == here || differ(c, "%s is %llu there and %llu here", key,
                                   (unsigned long long)there, (unsigned long long)here);
}

static bool same_real(const comparison *c, const char *key, double there, double here)
{
    return there == here || differ(c, "%s is %.12g there and %.12g here", key, there, here);
}

static bool same_text(const comparison *c, const char *key, const char *there, const char *here)
{
    there = there != NULL ? there : "not given";
    here = here != NULL ? here : "not given";
    return strcmp(there, here) == 0 ||
           differ(c, "%s is %.60s there and %.60s here", key, there, here);
}

static const char *value_of(const tacit_setting *settings, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].key, key) == 0)
            return settings[i].value;
    return NULL;
}

static bool same_settings(const comparison *c, const tacit_setting *there, size_t n_there,
                          const tacit_setting *here, size_t n_here)
{
    bool same = true;
    for (size_t i = 0; i < n_there && same; i++)
        same = same_text(c, there[i].key, there[i].value, value_of(here, n_here, there[i].key));
    for (size_t i = 0; i < n_here && same; i++)
        same = same_text(c, here[i].key, value_of(there, n_there, here[i].key), here[i].value);
    return same;
}

static bool same_visitors(const comparison *c, const tacit_visitors *there,
                          const tacit_visitors *here)
{
    static const char *const orders[] = {"rounds", "random"};
    return same_number(c, "people of the visitors", there->people, here->people) &&
           (there->people == 0 ||
            (same_number(c, "visits", there->visits, here->visits) &&
             same_number(c, "apart", there->apart, here->apart) &&
             same_text(c, "order", orders[there->order], orders[here->order])));
}

/* --- By their labels ----------------------------------------------------------------------------- */

static size_t find_world(const tacit_experiment *e, const char *label)
{
    size_t i = 0;
    while (i < e->facts.n_worlds && strcmp(e->worlds[i].label, label) != 0)
        i++;
    return i;
}

static size_t find_agent(const tacit_experiment *e, const char *label)
{
    size_t i = 0;
    while (i < e->facts.n_agents && strcmp(e->agents[i].label, label) != 0)
        i++;
    return i;
}

static bool has_world(comparison *c, const tacit_experiment *larger,
                      const tacit_experiment *earlier, size_t world)
{
    TACIT__REQUIRE(world < earlier->facts.n_worlds);
    const tacit_world_entry *there = &earlier->worlds[world];
    const size_t i = find_world(larger, there->label);
    (void)snprintf(c->what, sizeof c->what, "the world '%.80s'", there->label);
    if (i == larger->facts.n_worlds)
        return differ(c, " is there and not here");
    add_colon(c);
    const tacit_world_entry *here = &larger->worlds[i];
    return same_text(c, "kind", there->kind, here->kind) &&
           same_text(c, "label before its lists", earlier->names[world].key,
                     larger->names[i].key) &&
           same_settings(c, there->settings, there->n_settings, here->settings, here->n_settings) &&
           same_visitors(c, &there->visitors, &here->visitors);
}

size_t tacit__experiment_world_of(const tacit_experiment *larger, const tacit_experiment *earlier,
                                  size_t world, char why[TACIT__DIFFERENCE])
{
    comparison c = {.why = why};
    return has_world(&c, larger, earlier, world) ? find_world(larger, earlier->worlds[world].label)
                                                 : SIZE_MAX;
}

static bool has_agent(comparison *c, const tacit_experiment *larger, const tacit_entry *there)
{
    static const char *const models[] = {
        [TACIT_MODEL_NONE] = "none", [TACIT_MODEL_JOINT] = "joint", [TACIT_MODEL_LOCAL] = "local"};
    const size_t i = find_agent(larger, there->label);
    (void)snprintf(c->what, sizeof c->what, "the agent '%.80s'", there->label);
    if (i == larger->facts.n_agents)
        return differ(c, " is there and not here");
    add_colon(c);
    const tacit_entry *here = &larger->agents[i];
    const tacit_guarantee *a = &there->guarantee, *b = &here->guarantee;
    return same_text(c, "kind", there->kind, here->kind) &&
           same_text(c, "model", models[a->model], models[b->model]) &&
           (a->model == TACIT_MODEL_NONE ||
            (same_real(c, "epsilon", a->epsilon, b->epsilon) &&
             same_real(c, "delta", a->delta, b->delta) &&
             same_text(c, "calibration", tacit_calibration_name(there->calibration),
                       tacit_calibration_name(here->calibration)))) &&
           same_text(c, "sums", there->sums, here->sums) &&
           same_number(c, "visits", there->visits, here->visits) &&
           same_number(c, "apart", there->apart, here->apart) &&
           same_number(c, "outside", (uint64_t)there->outside, (uint64_t)here->outside) &&
           same_settings(c, there->settings, there->n_settings, here->settings, here->n_settings);
}

/* The pair of these labels, or NO_PAIR. */
static uint32_t find_pair(const tacit_experiment *e, const char *world, const char *agent)
{
    const size_t w = find_world(e, world), a = find_agent(e, agent);
    if (w == e->facts.n_worlds || a == e->facts.n_agents)
        return TACIT__NO_PAIR;
    return e->pair_of[w * e->facts.n_agents + a];
}

bool tacit__experiment_contains(const tacit_experiment *larger, const tacit_experiment *earlier,
                                char why[TACIT__DIFFERENCE])
{
    TACIT__REQUIRE(larger != NULL && earlier != NULL);
    comparison c = {.why = why};
    bool same = same_number(&c, "seed", earlier->facts.seed, larger->facts.seed) &&
                same_number(&c, "episodes", earlier->facts.episodes, larger->facts.episodes);
    if (same && earlier->facts.runs > larger->facts.runs)
        same = same_number(&c, "runs", earlier->facts.runs, larger->facts.runs);
    for (size_t i = 0; i < earlier->facts.n_worlds && same; i++)
        same = has_world(&c, larger, earlier, i);
    for (size_t i = 0; i < earlier->facts.n_agents && same; i++)
        same = has_agent(&c, larger, &earlier->agents[i]);
    for (size_t i = 0; i < earlier->n_pairs && same; i++) {
        const char *world = earlier->worlds[earlier->pairs[i].world].label;
        const char *agent = earlier->agents[earlier->pairs[i].agent].label;
        (void)snprintf(c.what, sizeof c.what, "the agent '%.60s'", agent);
        if (find_pair(larger, world, agent) == TACIT__NO_PAIR)
            same = differ(&c, " plays in the world '%.60s' there and not here", world);
    }
    return same;
}

void tacit__results_adopt(tacit_results *larger, const tacit_results *earlier)
{
    TACIT__REQUIRE(larger->n_points == earlier->n_points);
    const tacit_experiment *e = earlier->experiment;
    for (size_t i = 0; i < earlier->n_pairs; i++) {
        const uint32_t pair = find_pair(larger->experiment, e->worlds[e->pairs[i].world].label,
                                        e->agents[e->pairs[i].agent].label);
        for (size_t run = 0; run < e->facts.runs && pair != TACIT__NO_PAIR; run++) {
            const tacit_job *from = &earlier->jobs[run * earlier->n_pairs + i];
            const size_t to = run * larger->n_pairs + pair;
            if (!from->done)
                continue;
            TACIT__REQUIRE(to < larger->n_jobs);
            double *curve = larger->curves + to * larger->n_points;
            (void)memcpy(curve, from->curve, larger->n_points * sizeof *curve);
            larger->jobs[to] = *from;
            larger->jobs[to].curve = curve;
        }
    }
}

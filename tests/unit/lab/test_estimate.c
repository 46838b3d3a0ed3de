/* How long a run will take: told before it starts, long for what is long and short for what is short. */
#include <math.h>
#include <string.h>

#include <tacit/lab.h>

#include "support/check.h"

typedef struct seen {
    double seconds;
    unsigned begins, reports;
} seen;

static void begin(void *context, double seconds)
{
    seen *s = context;
    assert_int_equal(s->reports, 0);
    s->seconds = seconds;
    s->begins++;
}

/* Stops the run as soon as it has begun. */
static bool report(void *context, const tacit_lab_progress *now)
{
    (void)now;
    ((seen *)context)->reports++;
    return false;
}

static double estimate(const char *text)
{
    SCOPED(tacit_experiment) *e = NULL;
    SCOPED(tacit_results) *results = NULL;
    tacit_error err = {0};
    seen s = {.seconds = (double)NAN};
    const tacit_lab_options options = {
        .n_threads = 2, .begin = begin, .progress = report, .context = &s};
    assert_ok(tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err));
    if (tacit_lab_run(e, &options, &results, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(s.begins, 1);
    return s.seconds;
}

#define TABLE "world: {kind: random-tabular, states: 100, actions: 4, horizon: 20}\n"

TEST(noise_that_takes_hours_is_announced)
{
    /* 40,500 numbers of noise for each of a million people: 4e10 draws */
    assert_true(estimate(TABLE "episodes: 1000000\nagents:\n"
                               "  - {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n") > 60);
}

TEST(slow_learners_without_noise_are_announced)
{
    /* backward induction over 100 states for each of 10^9 people: at least a microsecond each */
    assert_true(estimate(TABLE "episodes: 1000000000\nagents:\n  - {kind: ucbvi}\n") > 60);
}

TEST(what_is_short_is_not)
{
    assert_true(estimate("world: {kind: riverswim}\nepisodes: 1000\nruns: 2\nagents:\n"
                         "  - {kind: auto, privacy: {model: joint, epsilon: 1}}\n"
                         "  - {kind: ucbvi}\n  - {kind: uniform}\n") < 60);
    assert_true(estimate("world: {kind: linear-bandit}\nepisodes: 1000\nagents:\n"
                         "  - {kind: auto, privacy: {model: joint, epsilon: 1}}\n") < 60);
    assert_true(estimate("world: {kind: riverswim}\nepisodes: 1000\nagents:\n"
                         "  - {kind: uniform}\n") == 0);
}

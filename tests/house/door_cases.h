/* The settings with which tests/house/door_tape.c plays every learner that has them. */
#ifndef TACIT_TESTS_DOOR_CASES_H
#define TACIT_TESTS_DOOR_CASES_H

#include "support/spaces.h"

typedef struct door_case {
    const char *name;
    tacit_setting settings[2]; /* key NULL: no more */
    const char *sums;
    double epsilon; /* 0: 1 */
    tacit_calibration calibration;
    bool clip; /* users outside the domain are clipped */
} door_case;

#define DOOR_SETTING(k, v)                                                                         \
    {                                                                                              \
        .name = k ": " v, .settings = { {.key = k, .value = v} }                                   \
    }
#define DOOR_SETTINGS(k, v, l, w)                                                                  \
    {                                                                                              \
        .name = k ": " v ", " l ": " w, .settings = {                                              \
            {.key = k, .value = v},                                                                \
            {.key = l, .value = w}                                                                 \
        }                                                                                          \
    }

static const door_case door_cases[] = {
    {.name = "default"},
    {.name = "epsilon 60", .epsilon = 60}, /* users give several answers */
    {.name = "clip", .clip = true},
    {.name = "sums: tree", .sums = "tree"},
    {.name = "sums: smooth", .sums = "smooth"},
    {.name = "sums: blt", .sums = "blt"},
    {.name = "published", .calibration = TACIT_CALIBRATION_PUBLISHED},
    {.name = "published noise", .calibration = TACIT_CALIBRATION_NOISE},
    /* Moments of release, of all families. */
    DOOR_SETTING("schedule", "every"),
    DOOR_SETTING("schedule", "growth(1.3)"),
    DOOR_SETTING("schedule", "batched"),
    DOOR_SETTING("schedule", "doubling"),
    DOOR_SETTING("schedule", "growth"),
    DOOR_SETTING("schedule", "rayleigh"),
    DOOR_SETTING("schedule", "paper"),
    DOOR_SETTING("schedule", "balanced"),
    DOOR_SETTING("schedule", "sized"),
    DOOR_SETTING("growth", "1"),
    DOOR_SETTING("growth", "1.3"),
    DOOR_SETTING("growth", "3"),
    DOOR_SETTING("explore", "7"),
    DOOR_SETTING("first", "5"),
    DOOR_SETTING("replan", "doubling"),
    DOOR_SETTING("replan", "7"),
    DOOR_SETTINGS("schedule", "batched", "batches", "5"),
    DOOR_SETTINGS("schedule", "rayleigh", "switches", "4"),
    DOOR_SETTINGS("schedule", "doubling", "test_every", "3"),
    DOOR_SETTING("last", "uniform"),
    /* What users contribute. */
    DOOR_SETTING("pooled", "yes"),
    DOOR_SETTING("pooled", "no"),
    DOOR_SETTINGS("pooled", "no", "schedule", "every"),
    DOOR_SETTINGS("pooled", "yes", "schedule", "every"),
    DOOR_SETTING("report", "step"),
    DOOR_SETTINGS("report", "step", "pooled", "no"),
    DOOR_SETTING("streams", "2"),
    DOOR_SETTINGS("streams", "2", "pooled", "no"),
    DOOR_SETTINGS("drop_last", "yes", "pooled", "no"),
    DOOR_SETTINGS("drop_last", "no", "pooled", "no"),
    DOOR_SETTING("user_visits", "1"),
    DOOR_SETTING("user_norm", "0.5"),
    DOOR_SETTING("bonus_scale", "1"),
    DOOR_SETTING("center", "yes"),
    DOOR_SETTING("center", "no"),
    DOOR_SETTINGS("center", "no", "nonneg", "no"),
    DOOR_SETTING("first_share", "0.5"),
    DOOR_SETTING("transition_share", "0.4"),
    DOOR_SETTING("targets", "range"),
    DOOR_SETTING("targets", "span"),
    DOOR_SETTING("gram", "sums"),
    DOOR_SETTING("gram", "direct"),
    DOOR_SETTING("gram_share", "0.4"),
    DOOR_SETTING("storage", "float64"),
    DOOR_SETTING("arms", "shared"),
    DOOR_SETTING("arms", "disjoint"),
    DOOR_SETTING("arms", "opposite"),
    DOOR_SETTING("repair", "raise"),
    DOOR_SETTING("response_weight", "2"),
    DOOR_SETTING("contexts", "known"),
    DOOR_SETTING("contexts", "learned"),
    DOOR_SETTING("rank", "4"),
    DOOR_SETTING("copies", "2"),
    DOOR_SETTING("points", "drawn"),
    DOOR_SETTING("preset", "cautious"),
    DOOR_SETTING("preset", "faithful"),
    DOOR_SETTING("sampling", "variance"),
};

#endif

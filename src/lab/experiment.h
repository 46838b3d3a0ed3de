/* How an experiment is kept, and the parts of its reading that live in files of their own. */
#ifndef TACIT_LAB_EXPERIMENT_H
#define TACIT_LAB_EXPERIMENT_H

#include <tacit/lab.h>

#include "lab/yaml.h"

struct tacit_experiment {
    tacit_experiment_facts facts;
    tacit__yaml *yaml;       /* owns the texts */
    tacit_entry *agents;     /* facts.agents */
    tacit_setting *settings; /* of the world and of all agents, one after the other */
    size_t n_settings;
};

/* Reads one entry of `agents`; facts.episodes is known. Adds its settings to the experiment's. */
TACIT_MUST_USE tacit_status tacit__entry_read(tacit_experiment *experiment, const tacit__node *node,
                                              tacit_entry *entry, tacit_error *err);

/* A map's scalars other than `skip` (NULL-terminated) as settings, added to the experiment's. */
TACIT_MUST_USE tacit_status tacit__settings_take(tacit_experiment *experiment,
                                                 const tacit__node *map, const char *const *skip,
                                                 const tacit_setting **settings, size_t *n,
                                                 tacit_error *err);

/* Values of a node, or a complaint that says what was expected. `what` is the key. */
TACIT_MUST_USE tacit_status tacit__take_text(const tacit__yaml *yaml, const tacit__node *node,
                                             const char *what, size_t max_bytes, const char **out,
                                             tacit_error *err);
TACIT_MUST_USE tacit_status tacit__take_count(const tacit__yaml *yaml, const tacit__node *node,
                                              const char *what, uint64_t low, uint64_t high,
                                              uint64_t *out, tacit_error *err);
/* A number in [low, high), or (low, high) if `open`; .inf only if `infinite`. */
typedef struct tacit__range {
    double low, high;
    bool open, infinite;
    const char *expected; /* "a number > 0, or .inf" */
} tacit__range;
TACIT_MUST_USE tacit_status tacit__take_real(const tacit__yaml *yaml, const tacit__node *node,
                                             const char *what, const tacit__range *range,
                                             double *out, tacit_error *err);
/* One of `words` (NULL-terminated): its index. */
TACIT_MUST_USE tacit_status tacit__take_word(const tacit__yaml *yaml, const tacit__node *node,
                                             const char *what, const char *const *words,
                                             size_t *out, tacit_error *err);

#endif

/* An experiment in memory, and the parts of its reader that live in files of their own. */
#ifndef TACIT_LAB_EXPERIMENT_H
#define TACIT_LAB_EXPERIMENT_H

#include <stdatomic.h>

#include <tacit/lab.h>

#include "lab/files/entry_grid.h"
#include "lab/files/yaml.h"
#include "lab/files/yaml_fields.h"

/* These fields identify a world beside its public entry. */
typedef struct tacit__world_name {
    const char *base; /* the label as it was written, without values of lists */
    const char *key;  /* what its chance is derived from */
} tacit__world_name;

/* An agent in a world. */
typedef struct tacit__world_agent {
    uint32_t world, agent;
} tacit__world_agent;

#define TACIT__NO_PAIR UINT32_MAX

struct tacit_experiment {
    tacit_experiment_facts facts;
    tacit_experiment *self; /* mutable, also behind a const pointer */
    atomic_uint owners;
    tacit__yaml *yaml; /* owns texts and settings; all else follows from it and from `changes` */
    tacit_experiment_changes changes;
    bool lenient; /* kinds may be unknown: results of another program are read */
    tacit_world_entry *worlds;
    tacit__world_name *names; /* [n_worlds] */
    tacit_entry *agents;
    uint32_t *pair_of;         /* [n_worlds][n_agents], or NO_PAIR */
    tacit__world_agent *pairs; /* [n_pairs], world by world; job = run * n_pairs + pair */
    size_t n_pairs;
};

/* Another owner of the same experiment; tacit_experiment_destroy releases it. */
tacit_experiment *tacit__experiment_share(const tacit_experiment *experiment);

/* Parses the saved text of an experiment. Kinds that this program does not know are accepted. */
TACIT_MUST_USE tacit_status tacit__experiment_reopen(const char *text, size_t size,
                                                     const char *name,
                                                     const tacit_experiment_changes *changes,
                                                     tacit_experiment **out, tacit_error *err);

/* A digest of everything that results depend on: two experiments of one identity have the same results. */
enum { TACIT__IDENTITY_BYTES = 32 };
TACIT_MUST_USE tacit_status tacit__experiment_identity(const tacit_experiment *experiment,
                                                       uint8_t out[TACIT__IDENTITY_BYTES],
                                                       tacit_error *err);

/* Fills a fresh experiment from its tree: read.c. */
TACIT_MUST_USE tacit_status tacit__experiment_fill(tacit_experiment *experiment, tacit_error *err);

/* The keys of an experiment, and of entries of `worlds` and `agents`, beside their kinds' own
 * parameters. */
extern const tacit__field tacit__experiment_fields[], tacit__world_fields[], tacit__entry_fields[];

/* Lists of an entry of `agents`. */
TACIT_MUST_USE tacit_status tacit__entry_grid(const tacit__node *node, tacit__grid *grid,
                                              tacit_error *err);

/* Reads one entry of `agents` under a combination of its lists. `lenient`: its kind may be unknown. */
TACIT_MUST_USE tacit_status tacit__entry_read(const tacit__node *node, const tacit__grid *grid,
                                              uint64_t episodes, bool lenient, tacit_entry *entry,
                                              tacit_error *err);

/* The same for an entry that stands alone: it has no lists of values. */
TACIT_MUST_USE tacit_status tacit__entry_read_one(const tacit__node *node, uint64_t episodes,
                                                  tacit_entry *entry, tacit_error *err);

/* Fails because a delta is above 1/users; `what` is the map in which the exception may be written. */
tacit_status tacit__entry_fail_delta(const tacit__node *node, const char *what, double delta,
                                     uint64_t users, tacit_error *err);

/* A request without a kind: the space of a world, for this many users. */
tacit_agent_request tacit__world_request(const tacit_world *place, uint64_t episodes,
                                         const char *file);

/* Reads one entry of `worlds` that stands alone: a map without lists and visitors. */
TACIT_MUST_USE tacit_status tacit__world_entry_read(const tacit__node *node, tacit_world_entry *out,
                                                    tacit_error *err);

/* Fills in what an entry says of a request; the space, the users and the file are the caller's. */
void tacit__entry_set_request(const tacit_entry *entry, tacit_agent_request *request);

#endif

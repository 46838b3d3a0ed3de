/* The learners of the library's tables, so that a test covers a new one without being told. */
#ifndef TACIT_TESTS_KINDS_H
#define TACIT_TESTS_KINDS_H

#include <string.h>

#include "agents/family.h"

/* A learner in one of its models: a bit of kind->models. */
typedef struct kind_in_model {
    const tacit_agent_kind *kind;
    unsigned model;
} kind_in_model;

/* Number i of the learners of a family (rows NULL: of all), each in every model that it has; false: there are fewer. */
static inline bool kind_in_model_at(const tacit__agent_rows *rows, size_t i, kind_in_model *out)
{
    const size_t n = rows != NULL ? rows->n : tacit_agent_kind_count();
    for (size_t k = 0; k < n; k++) {
        out->kind = rows != NULL ? &rows->at[k].kind : tacit_agent_kind_at(k);
        for (out->model = TACIT_AGENT_NONE; out->model <= TACIT_AGENT_LOCAL; out->model *= 2)
            if ((out->kind->models & out->model) != 0 && i-- == 0)
                return true;
    }
    return false;
}

static inline bool is_of_family(const tacit__agent_rows *rows, const char *kind)
{
    for (size_t i = 0; i < rows->n; i++)
        if (strcmp(rows->at[i].kind.name, kind) == 0)
            return true;
    return false;
}

/* Delta is for models that are not pure. */
static inline tacit_guarantee guarantee_in(unsigned model, double epsilon, double delta)
{
    if (model == TACIT_AGENT_NONE)
        return (tacit_guarantee){.model = TACIT_MODEL_NONE};
    return (tacit_guarantee){
        .model = model >= TACIT_AGENT_LOCAL_PURE ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT,
        .epsilon = epsilon,
        .delta = model == TACIT_AGENT_JOINT || model == TACIT_AGENT_LOCAL ? delta : 0};
}

static inline bool has_parameter(const tacit_agent_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->n_parameters; i++)
        if (strcmp(kind->parameters[i].name, name) == 0)
            return true;
    return false;
}

/* The setting without which the learner does not have this model; key NULL: none. Learners that choose between batches and
 * doubling have delta 0 with batches. */
static inline tacit_setting setting_in(const tacit_agent_kind *kind, unsigned model)
{
    if (model == TACIT_AGENT_JOINT_PURE && has_parameter(kind, "batches"))
        return (tacit_setting){.key = "schedule", .value = "batched"};
    return (tacit_setting){.key = NULL};
}

#endif

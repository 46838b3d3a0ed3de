/* Worlds that a program registers: the list of them, and making the model of a world from a tacit_process. */
#include "worlds/custom_worlds.h"

#include <stdatomic.h>

#include "base/error.h"

typedef struct custom {
    tacit__kind kind; /* first, so that one leads to the other */
    tacit_process_fn *process;
} custom;

static custom list[TACIT__MAX_CUSTOM_KINDS];
static atomic_size_t n_custom;

size_t tacit__custom_kind_count(void)
{
    return atomic_load(&n_custom);
}

const tacit__kind *tacit__custom_kind(size_t i)
{
    return i < tacit__custom_kind_count() ? &list[i].kind : NULL;
}

tacit_status tacit_world_register(const tacit_world_kind *kind, tacit_process_fn *process,
                                  tacit_error *err)
{
    size_t n = tacit__custom_kind_count();
    if (kind == NULL || process == NULL || kind->help == NULL || kind->source == NULL ||
        (kind->parameters == NULL && kind->n_parameters > 0))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (!tacit__is_name(kind->name))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a kind of world needs a name of at most 64 lowercase letters, digits, "
                           "dashes and underscores");
    if (tacit_world_kind_find(kind->name) != NULL)
        return tacit__fail(err, TACIT_EXISTS, "there is a world '%s' already", kind->name);
    if (n == TACIT__MAX_CUSTOM_KINDS || kind->n_parameters > TACIT__MAX_PARAMETERS)
        return tacit__fail(err, TACIT_TOO_LARGE,
                           "at most %d kinds with at most %d parameters each can be registered",
                           TACIT__MAX_CUSTOM_KINDS, TACIT__MAX_PARAMETERS);
    list[n] = (custom){.kind = {.face = *kind, .family = TACIT_WORLD_TABULAR}, .process = process};
    atomic_store(&n_custom, n + 1);
    return TACIT_OK;
}

tacit_status tacit__custom_create(const tacit__kind *kind, const tacit__values *values,
                                  tacit__model *out, tacit_error *err)
{
    TACIT__REQUIRE(kind != NULL && out != NULL);
    const custom *self = &list[0];
    while (&self->kind != kind)
        self++;
    tacit_process p = {.reward_high = 1};
    tacit_error said = {.message = ""};
    tacit_status status = self->process(values->at, &p, &said);
    if (status == TACIT_OK) {
        const tacit__mdp_spec spec = {.n_states = p.n_states,
                                      .n_actions = p.n_actions,
                                      .horizon = p.horizon,
                                      .stationary = p.stationary,
                                      .reward_low = p.reward_low,
                                      .reward_high = p.reward_high,
                                      .row_max = p.row_max,
                                      .row = p.row,
                                      .context = p.context,
                                      .initial = p.initial,
                                      .n_initial = p.n_initial};
        status = p.row != NULL && p.row_max > 0
                     ? tacit__mdp_create(&spec, &out->mdp, &said)
                     : tacit__fail(&said, TACIT_BAD_ARGUMENT, "a process needs rows");
        if (p.release != NULL)
            p.release(p.context);
    }
    if (status == TACIT_OK || status == TACIT_NO_MEMORY)
        return status == TACIT_OK ? TACIT_OK : tacit__fail_plain(err, status);
    return tacit__fail_at(err, status, values->origin.file, (size_t)values->origin.line, "%s: %s",
                          values->origin.kind,
                          said.message[0] != '\0' ? said.message : tacit_status_message(status));
}

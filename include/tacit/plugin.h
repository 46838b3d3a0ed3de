/* Plug-ins: agents and worlds of your own for the command.
 *
 * A plug-in is a shared object that registers kinds when the command loads it:
 *
 *     static tacit_status load(tacit_error *err)
 *     {
 *         return tacit_agent_register(&my_kind, &my_methods, err);
 *     }
 *     TACIT_PLUGIN(load)
 *
 *     cc -shared -fPIC own_agent.c -o own_agent.so $(pkg-config --cflags tacit)
 *     tacit run experiment.yaml --load ./own_agent.so
 *
 * A plug-in is not linked with libtacit: it uses the functions of the command that loads it. A plug-in is
 * code, and the command trusts it: load only what you would run. Its guarantee follows from its ledger, as
 * for every registered agent (tacit/agent.h). */
#ifndef TACIT_PLUGIN_H
#define TACIT_PLUGIN_H

#include <tacit/agent.h>
#include <tacit/status.h>
#include <tacit/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when a structure that plug-ins fill changes. */
#define TACIT_PLUGIN_INTERFACE 1

/* Registers the kinds. A failure needs a message, and the command then stops. */
typedef tacit_status tacit_plugin_load_fn(tacit_error *err);

typedef struct tacit_plugin {
    unsigned interface;
    /* The sizes of the structures with which the plug-in was compiled; the command refuses other sizes. */
    size_t agent_kind_size, agent_methods_size, world_kind_size, process_size;
    tacit_plugin_load_fn *load;
} tacit_plugin;

/* Once, at the end of a plug-in. */
#define TACIT_PLUGIN(function)                                                                     \
    extern TACIT_API const tacit_plugin tacit_plugin_entry;                                        \
    const tacit_plugin tacit_plugin_entry = {                                                      \
        TACIT_PLUGIN_INTERFACE,   sizeof(tacit_agent_kind), sizeof(tacit_agent_methods),           \
        sizeof(tacit_world_kind), sizeof(tacit_process),    function};

#ifdef __cplusplus
}
#endif

#endif

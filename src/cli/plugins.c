/* See cli/plugins.h. The command exports the public functions of the library, all of them
 * (cmake/Command.cmake), so that a plug-in registers with this process and not with a copy of the library
 * that it brought along. */
#include "cli/plugins.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <tacit/plugin.h>

#include "base/error.h"
#include "cli/cli.h"

bool cli_add_plugin(const char *text, void *plugins)
{
    TACIT__REQUIRE(text != NULL && plugins != NULL);
    cli_plugins *p = plugins;
    if (text[0] == '\0' || p->n == CLI_MAX_PLUGINS)
        return false;
    p->paths[p->n++] = text;
    return true;
}

static bool fits(const tacit_plugin *p)
{
    return p->interface == TACIT_PLUGIN_INTERFACE &&
           p->agent_kind_size == sizeof(tacit_agent_kind) &&
           p->agent_methods_size == sizeof(tacit_agent_methods) &&
           p->world_kind_size == sizeof(tacit_world_kind) &&
           p->process_size == sizeof(tacit_process) && p->load != NULL;
}

static int load(const char *path)
{
    char beside[4096];
    tacit_error err = {0};
    /* The loader looks for a name without a slash in the system's directories only. */
    const int n =
        snprintf(beside, sizeof beside, "%s%s", strchr(path, '/') != NULL ? "" : "./", path);
    if (n < 0 || (size_t)n >= sizeof beside)
        return cli_wrong("--load %.60s...: the name is too long", path);
    void *handle = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return cli_wrong("--load %s: %s", path, dlerror());
    const tacit_plugin *plugin = dlsym(handle, "tacit_plugin_entry");
    if (plugin == NULL)
        return cli_wrong(
            "--load %s: not a plug-in: it does not contain TACIT_PLUGIN(...); see tacit/plugin.h",
            path);
    if (!fits(plugin))
        return cli_wrong(
            "--load %s: compiled for interface %u of another version, this is %u of tacit %s; "
            "compile it again with the headers of this version",
            path, plugin->interface, TACIT_PLUGIN_INTERFACE, tacit_version());
    const tacit_status status = plugin->load(&err);
    if (status != TACIT_OK)
        return cli_wrong("--load %s: %s", path,
                         err.message[0] != '\0' ? err.message : tacit_status_message(status));
    return CLI_DONE;
}

int cli_load_plugins(const cli_plugins *plugins)
{
    TACIT__REQUIRE(plugins != NULL);
    int status = CLI_DONE;
    for (size_t i = 0; i < plugins->n && status == CLI_DONE; i++)
        status = load(plugins->paths[i]);
    return status;
}

int cli_read_file(int argc, char **argv, const cli_form *form, void *options,
                  const cli_plugins *plugins, const char **file)
{
    int code = cli_read_options(argc, argv, form, options, NULL);
    if (code == CLI_DONE)
        code =
            cli_read_argument(argc, argv, "no experiment or service is given, expected FILE.yaml",
                              "experiment", file);
    return code == CLI_DONE ? cli_load_plugins(plugins) : code;
}

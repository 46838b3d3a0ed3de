/* The demonstration, `demo: yes` of a service file: the page of examples/web and the client that it runs,
 * from the library itself. Without that key there are no such routes. */
#include <string.h>

#include "base/assets.h"
#include "base/error.h"
#include "serve/http/routes.h"
#include "serve/service_inside.h"

static const struct {
    const char *name, *type;
    const tacit__asset *asset;
} files[] = {
    {"demo.css", "text/css; charset=utf-8", &tacit__asset_demo_css},
    {"demo.js", "text/javascript; charset=utf-8", &tacit__asset_demo_js},
    {"tastes.js", "text/javascript; charset=utf-8", &tacit__asset_demo_tastes_js},
    {"crowd.js", "text/javascript; charset=utf-8", &tacit__asset_demo_crowd_js},
    {"client.js", "text/javascript; charset=utf-8", &tacit__asset_client_js},
    {"core.js", "text/javascript; charset=utf-8", &tacit__asset_client_core_js},
    {"storage.js", "text/javascript; charset=utf-8", &tacit__asset_client_storage_js},
    {"tacit-client.wasm", "application/wasm", &tacit__asset_client_wasm},
};

bool tacit__demo_is_built(void)
{
    return tacit__asset_client_wasm.size > 0;
}

static bool answer_file(tacit__request *r, const char *type, const tacit__asset *asset)
{
    if (!r->service->config.demo) {
        tacit__refuse(r, 404, "no_route", NULL,
                      "there is no such route; tacit serve --reference lists them");
        return true;
    }
    r->status = 200;
    r->type = type;
    r->compiles = true;
    tacit__text_add(&r->answer, (const char *)asset->bytes, asset->size);
    return true;
}

bool tacit__handle_demo(tacit__request *r)
{
    return answer_file(r, "text/html; charset=utf-8", &tacit__asset_demo_html);
}

bool tacit__handle_demo_file(tacit__request *r)
{
    TACIT__REQUIRE(r->path_id != NULL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strlen(files[i].name) == r->path_id_length &&
            memcmp(files[i].name, r->path_id, r->path_id_length) == 0)
            return answer_file(r, files[i].type, files[i].asset);
    tacit__refuse(r, 404, "no_route", NULL,
                  "there is no such route; tacit serve --reference lists them");
    return true;
}

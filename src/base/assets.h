/* Files of web/ that the build has put into the library (cmake/Assets.cmake). */
#ifndef TACIT_BASE_ASSETS_H
#define TACIT_BASE_ASSETS_H

#include <stddef.h>

typedef struct tacit__asset {
    const unsigned char *bytes;
    size_t size;
} tacit__asset;

/* The report; its style and the drawing are also the live page's. */
extern const tacit__asset tacit__asset_report_css, tacit__asset_report_js, tacit__asset_drawing_js;
/* The live page; there where the server is built. */
extern const tacit__asset tacit__asset_live_html, tacit__asset_live_css, tacit__asset_live_js;
/* The demonstration (examples/web) and the client that it runs (web/client); the WebAssembly is there where
 * `make wasm` was run before. */
extern const tacit__asset tacit__asset_demo_html, tacit__asset_demo_css, tacit__asset_demo_js,
    tacit__asset_demo_tastes_js, tacit__asset_demo_crowd_js, tacit__asset_client_js,
    tacit__asset_client_core_js, tacit__asset_client_storage_js, tacit__asset_client_wasm;

#endif

/* Files of web/ that the build has put into the library (cmake/Assets.cmake). */
#ifndef TACIT_REPORT_ASSETS_H
#define TACIT_REPORT_ASSETS_H

#include <stddef.h>

typedef struct tacit__asset {
    const unsigned char *bytes;
    size_t size; /* 0: was not there */
} tacit__asset;

extern const tacit__asset tacit__asset_report_css, tacit__asset_report_js; /* ours */
/* uPlot, from npm. */
extern const tacit__asset tacit__asset_plots_css, tacit__asset_plots_js, tacit__asset_plots_license;

#endif

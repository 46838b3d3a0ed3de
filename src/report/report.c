/* The public face of reports. See include/tacit/report.h. */
#include <tacit/report.h>

#include "base/error.h"
#include "base/file.h"
#include "report/render.h"

tacit_status tacit_report_write(const tacit_results *results, const tacit_report_options *options,
                                const char *path, tacit_error *err)
{
    if (results == NULL || path == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__report report;
    TRY(tacit__report_fill(results, &report, err));
    report.command = options != NULL ? options->command : NULL;
    tacit__text page = {0};
    tacit__page(&page, &report, options == NULL || !options->still);
    tacit_status status = page.failed ? tacit__fail_plain(err, TACIT_NO_MEMORY)
                                      : tacit__file_replace(path, page.data, page.length, err);
    tacit__text_destroy(&page);
    tacit__report_empty(&report);
    return status;
}

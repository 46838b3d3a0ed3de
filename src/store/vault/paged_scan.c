/* Reads long tables page by page. See store/vault/vault_inside.h. */
#include <string.h>

#include "base/error.h"
#include "store/vault/vault_inside.h"

enum { PAGE_ROWS = 4096 }; /* rows: some milliseconds */

static tacit_status save_position(const tacit__vault *vault, tacit__paged_scan *w,
                                  tacit__cursor *row, tacit_error *err)
{
    w->number = tacit__cursor_int(row, 0);
    const void *name = tacit__cursor_bytes(row, 1, &w->name_size);
    if (w->name_size > sizeof w->name)
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: a name is too long", vault->path);
    if (w->name_size > 0)
        memcpy(w->name, name, w->name_size);
    return TACIT_OK;
}

tacit_status tacit__vault_scan_page(tacit__vault *vault, tacit__paged_scan *w, tacit__row_fn *each,
                                    void *context, int page, int *n, tacit_error *err)
{
    TACIT__REQUIRE(w != NULL && each != NULL);
    tacit__cursor *s;
    tacit__paged_scan from = *w; /* stays where it is while the rows come */
    bool more = true;
    TRY(tacit__vault_prepare(vault, w->sql, &s, err));
    tacit_status status = TACIT_OK;
    tacit__cursor_bind_int(s, 1, from.number);
    tacit__cursor_bind_bytes(s, 2, from.name, from.name_size);
    tacit__cursor_bind_int(s, 3, page);
    for (*n = 0; status == TACIT_OK; ++*n) {
        status = tacit__cursor_next(s, &more, err);
        if (status != TACIT_OK || !more)
            break;
        status = each(vault, s, context, err);
        if (status == TACIT_OK)
            status = save_position(vault, w, s, err);
    }
    tacit__cursor_close(s);
    return status;
}

tacit_status tacit__vault_scan(tacit__vault *vault, tacit__paged_scan *w, tacit__row_fn *each,
                               void *context, tacit_error *err)
{
    TACIT__REQUIRE(w->sql != NULL && each != NULL);
    tacit_status status = TACIT_OK;
    const int page = w->writes && !vault->backend->shared ? 1 : PAGE_ROWS;
    for (int n = page; n == page && status == TACIT_OK;)
        status = tacit__vault_scan_page(vault, w, each, context, page, &n, err);
    return status;
}

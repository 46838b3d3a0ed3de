/* See serve/people/quota.h. */
#include "serve/people/quota.h"

#include "base/error.h"
#include "serve/service_inside.h"
#include "store/vault/vault_maintenance.h"

enum { DAY_SECONDS = 86400 };

static int64_t today(const tacit__request *r)
{
    return tacit__clock_now(&r->service->clock) / DAY_SECONDS;
}

tacit_status tacit__quota_check(const tacit__request *r, tacit__vault *vault, bool *may,
                                tacit_error *err)
{
    uint64_t used = 0;
    tacit_status status = TACIT_OK;
    *may = true;
    if (r->bearer.users_per_day == 0)
        return status;
    status = tacit__vault_get_quota(vault, r->bearer.token, today(r), &used, err);
    *may = used < r->bearer.users_per_day;
    return status;
}

void tacit__quota_expect(const tacit__request *r, tacit__vault *vault)
{
    if (r->bearer.users_per_day > 0)
        tacit__vault_expect_quota(vault, r->bearer.token, today(r));
}

tacit_status tacit__quota_use(const tacit__request *r, tacit__vault *vault, tacit_error *err)
{
    if (r->bearer.users_per_day == 0)
        return TACIT_OK;
    return tacit__vault_use_quota(vault, r->bearer.token, today(r), err);
}

void tacit__quota_refuse(tacit__request *r)
{
    TACIT__REQUIRE(r->bearer.users_per_day > 0);
    r->retry_after = (unsigned)(DAY_SECONDS - tacit__clock_now(&r->service->clock) % DAY_SECONDS);
    tacit__refuse(r, 429, "quota", NULL,
                  "this token has sent its %llu users of today; nothing was kept: send the request "
                  "again after %u s, or with another token",
                  (unsigned long long)r->bearer.users_per_day, r->retry_after);
}

/* See serve/people/quota.h. */
#include "serve/people/quota.h"

#include "base/error.h"
#include "serve/service_inside.h"

enum { DAY_SECONDS = 86400 };

void tacit__quota_set(const tacit__request *r, tacit__vault_user *user)
{
    user->users_per_day = r->bearer.users_per_day;
    user->token = r->bearer.token;
    user->day = tacit__clock_now(&r->service->clock) / DAY_SECONDS;
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

/* The clock of the service: what a store keeps of it never goes back, and it goes on from there, whatever the clock on the wall says. */
#include <stdlib.h>
#include <time.h>

#include "serve/clock.h"
#include "store/vault/vault.h"
#include "store/vault/vault_maintenance.h"
#include "support/check.h"
#include "support/server.h"

TEST(the_kept_clock_never_goes_back)
{
    char directory[] = "/tmp/tacit-clock-XXXXXX";
    const uint8_t secret[TACIT__KEY_BYTES] = {1};
    tacit__vault *vault = NULL;
    tacit_error err = {0};
    int64_t now = 0;
    assert_non_null(mkdtemp(directory));
    assert_ok(
        tacit__vault_open(fmt("%s/store.db", directory), TACIT__VAULT_SERVE, secret, &vault, &err));
    assert_ok(tacit__vault_get_clock(vault, 1000, &now, &err));
    assert_true(now == 1000); /* nothing was opened: the time on the wall */
    assert_ok(tacit__vault_save_clock(vault, 1000, &err));
    assert_ok(tacit__vault_save_clock(vault, 900, &err));
    assert_ok(tacit__vault_get_clock(vault, 5000, &now, &err));
    assert_true(now == 1000);
    assert_ok(tacit__vault_save_clock(vault, 1060, &err));
    assert_ok(tacit__vault_get_clock(vault, 0, &now, &err));
    assert_true(now == 1060);
    tacit__vault_close(vault);
    assert_shell("rm -r '%s'", directory);
}

TEST(a_clock_goes_on_from_where_it_was_started)
{
    tacit__clock clock;
    tacit__clock_start(&clock, 5000);
    const int64_t first = tacit__clock_now(&clock), wall_time = tacit__clock_to_wall(&clock, 5000);
    assert_true(first >= 5000);
    assert_true(wall_time - (int64_t)time(NULL) >= -3 && wall_time - (int64_t)time(NULL) <= 3);
    await(tacit__clock_now(&clock) > first);
    assert_true(tacit__clock_to_wall(&clock, 5000) == wall_time); /* the same is told again */
}

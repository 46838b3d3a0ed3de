/* Worlds for tests: made from text in one call, and the message when that must fail. */
#ifndef TACIT_TESTS_WORLD_H
#define TACIT_TESTS_WORLD_H

#include "support/check.h"

#include <tacit/world.h>

static inline tacit_world *world_of(const char *kind, const tacit_setting *settings, size_t n)
{
    tacit_world *world = NULL;
    tacit_error err = {.message = ""};
    const tacit_world_request request = {.kind = kind, SETTINGS_OF(settings, n)};
    tacit_status status = tacit_world_create(&request, &world, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return world;
}

/* The request comes from line 2 of lake/test.yaml, a file that need not exist. */
static inline void refuse_world(const char *kind, const tacit_setting *settings, size_t n,
                                tacit_status wanted, const char *message)
{
    tacit_world *world = NULL;
    tacit_error err = {.message = ""};
    const tacit_world_request request = {SETTINGS_OF(settings, n), .kind = kind,
                                         .file = "lake/test.yaml", .line = 2};
    tacit_status status = tacit_world_create(&request, &world, &err);
    assert_string_equal(err.message, message);
    assert_status(status, wanted);
    assert_true(err.status == wanted);
    assert_null(world);
}

#endif

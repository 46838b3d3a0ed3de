/* Memory that runs out during an audit: told, nothing lost (a sanitizer sees to that), and the next audit is as ever. */
#include "support/check.h"

#include <string.h>

#include <tacit/audit.h>

#include "base/memory.h"

static tacit_status audit(tacit_guarantee guarantee, tacit_audit **out, tacit_error *err)
{
    const tacit_agent_request request = {SPACE_OF(2, 1, 1), .kind = "dp-ucbvi",
                                         .guarantee = guarantee, .episodes = 2000};
    const tacit_audit_options options = {.trials = 32, .n_threads = 2, .seed = 1};
    return tacit_audit_agent(&request, &options, out, err);
}

TEST(every_failed_allocation_is_told)
{
    const tacit_guarantee guarantee = {TACIT_MODEL_LOCAL, 1, 0};
    SCOPED(tacit_audit) *whole = NULL, *a = NULL;
    assert_ok(audit(guarantee, &whole, NULL));
    /* the first hundreds one by one; then, in the search and the trials, one of many that are alike */
    for (uint64_t n = 1;; n += n < 300 ? 1 : 613) {
        tacit_error err = {0};
        tacit__alloc_fail_at(n);
        tacit_status status = audit(guarantee, &a, &err);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        if (status == TACIT_OK) {
            assert_false(failed);
            break;
        }
        assert_int_equal(status, TACIT_NO_MEMORY);
        assert_int_equal(err.status, TACIT_NO_MEMORY);
        if (strlen(err.message) == 0)
            fail_msg("allocation %llu: no message", (unsigned long long)n);
        assert_null(a);
    }
    assert_string_equal(a->words, whole->words);
}

TEST(the_self_test_too)
{
    const tacit_audit_options options = {.trials = 16, .seed = 1};
    tacit_self_test *test = NULL;
    for (uint64_t n = 1; n < 200; n += 7) {
        tacit_error err = {0};
        tacit__alloc_fail_at(n);
        assert_status(tacit_audit_self_test(&options, 1, &test, &err), TACIT_NO_MEMORY);
        tacit__alloc_fail_at(0);
        assert_null(test);
    }
}

/* The false-alarm rate of the audit, measured: 300 audits of each sound control at confidence 0.8, where a rate above the
 * stated 20 % would show, and 300 at 0.99; and the broken ones under ten seeds. */
#include "support/check.h"

#include <tacit/audit.h>

static void run(double confidence, uint64_t audits, uint64_t seed)
{
    tacit_self_test *test = NULL;
    tacit_error err = {0};
    const tacit_audit_options o = {.seed = seed, .confidence = confidence};
    if (tacit_audit_self_test(&o, audits, &test, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < test->n; i++)
        if (!test->controls[i].right)
            fail_msg("%s: convicted %llu of %llu", test->controls[i].name,
                     (unsigned long long)test->controls[i].convicted,
                     (unsigned long long)test->controls[i].audits);
    tacit_self_test_destroy(test);
}

TEST(false_alarms_stay_below_the_stated_rate)
{
    run(0.8, 300, 1);
    run(0.99, 300, 1001);
}

TEST(broken_ones_are_caught_under_other_seeds)
{
    for (uint64_t seed = 2; seed < 12; seed++)
        run(0.99, 1, seed);
}

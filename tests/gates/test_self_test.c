/* Gate 4, for every learner at once: the audit catches what is broken and spares what is sound. Quick: few audits of the
 * sound; test_self_test_slow.c has many. */
#include "support/check.h"

#include <string.h>

#include <tacit/audit.h>

TEST(broken_mechanisms_are_caught_by_the_attack_itself)
{
    tacit_self_test *test = NULL;
    tacit_error err = {0};
    /* 4 audits of each sound one at 1 %: more than 1 is not allowed, and has a chance of 6e-4; the seed is fixed */
    const tacit_audit_options o = {.seed = 5};
    if (tacit_audit_self_test(&o, 4, &test, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    size_t broken = 0;
    for (size_t i = 0; i < test->n; i++) {
        const tacit_control *c = &test->controls[i];
        if (!c->right)
            fail_msg("%s: %s", c->name, c->words);
        broken += c->broken;
        if (c->broken && strstr(c->caught_by, "attack") == NULL)
            fail_msg("%s: caught by %s only", c->name, c->caught_by);
    }
    assert_true(test->right);
    assert_true(broken >= 13 && test->n - broken >= 7);
    tacit_self_test_destroy(test);
}

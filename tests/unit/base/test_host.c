/* What the system does not say is not taken for an answer, and what runs once runs once. */
#include "base/host.h"

#include <math.h>
#include <unistd.h>

#include <tacit/agent.h>

#include "support/check.h"

/* The library is linked statically, so this is the sysconf that it calls. */
static bool says_nothing;
long sysconf(int name)
{
    if (says_nothing)
        return -1;
    return name == _SC_PAGESIZE ? 4096 : name == _SC_PHYS_PAGES ? 1 << 20 : 1;
}

TEST(memory_that_the_system_does_not_tell_is_not_none)
{
    assert_true(tacit__machine_memory() == 0x1p32);
    says_nothing = true;
    assert_true(isinf(tacit__machine_memory()));
    says_nothing = false;
}

/* A table whose private counts need some 80 GB is refused on a machine with 4 GiB, and a small one is not. */
static tacit_status create(const char *kind, tacit_model model, size_t n_states)
{
    const tacit_agent_request request = {SPACE_OF(n_states, 2, 3), .kind = kind,
                                         .guarantee = {model, 1, 0.001}, .stationary = true,
                                         .episodes = 50};
    SCOPED(tacit_agent) *agent = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    const tacit_status status = tacit_agent_create(&request, noise, &agent, NULL);
    return status;
}

TEST(a_small_table_is_not_too_large_where_memory_is_unknown)
{
    assert_ok(create("dp-ucbvi", TACIT_MODEL_LOCAL, 4));
    assert_status(create("dp-ucbvi", TACIT_MODEL_LOCAL, 50000), TACIT_TOO_LARGE);
    says_nothing = true;
    assert_ok(create("dp-ucbvi", TACIT_MODEL_LOCAL, 4));
    assert_ok(create("posterior-tabular", TACIT_MODEL_JOINT, 4));
    says_nothing = false;
}

static int starts;
static void count(void)
{
    starts++;
}

TEST(what_runs_once_runs_once)
{
    static tacit__started once = TACIT__NOT_STARTED;
    tacit__run_once(&once, count);
    tacit__run_once(&once, count);
    assert_int_equal(starts, 1);
}

/* Memory that runs out while a learner is warmed up: every allocation fails once, from the start of the
 * service until everybody of the log has been learned from. The start says NO_MEMORY, or the service goes on;
 * it is not ready while users of the log are to come; and a start with memory takes those who are left, each
 * once. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/service.h>

#include "base/memory.h"
#include "serve/learner/warm.h"
#include "serve/service_inside.h"
#include "support/check.h"

enum { USERS = 2 };

static const char log_text[] = "user,state,action,reward\nann,0,0,1\nann,2,1,1\nbob,1,3,0\n";

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 5, warm_start: log.csv,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";

static char directory[] = "/tmp/tacit-alloc-XXXXXX", path[64];
static atomic_bool given_up;

static void note(void *context, const char *line)
{
    (void)context;
    if (strstr(line, "of learner arms could not be read") != NULL)
        atomic_store(&given_up, true);
}

static void write_file(const char *name, const char *text)
{
    char whole[64];
    (void)snprintf(whole, sizeof whole, "%s/%s", directory, name);
    FILE *file = fopen(whole, "w");
    assert_true(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void remove_store(const char *more)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'/service* %s", directory, more);
    assert_int_equal(system(command), 0);
}

static tacit__learner_figures figures(const tacit_service *service)
{
    return tacit__learner_figures_of(service->learners[0]);
}

/* Until the log has been learned from, or it is said that it cannot be: by who reads it, or by the learner.
 * In the first life it is ready after that; in the second the log may be taken, and its users still to be
 * learned from. */
static tacit_status live(bool first)
{
    const tacit_service_options options = {.file = path, .log = note};
    tacit_service *service = NULL;
    tacit_error err = {0};
    atomic_store(&given_up, false);
    tacit_status status = tacit_service_open(&options, &service, &err);
    if (status != TACIT_OK) {
        assert_true(err.message[0] != '\0');
        return status;
    }
    while (tacit__warm_is_going_on(service) && !atomic_load(&given_up) && !figures(service).failed)
        (void)usleep(1000);
    if (atomic_load(&given_up)) {
        (void)usleep(20000); /* as long as it takes to say the wrong thing */
        assert_true(tacit__warm_is_going_on(service));
    } else if (first && !figures(service).failed) {
        assert_int_equal(figures(service).users, USERS);
    }
    while (!first && figures(service).users < USERS && !figures(service).failed)
        (void)usleep(1000);
    if (!first)
        assert_true(figures(service).users == USERS && figures(service).accepted == USERS);
    tacit_service_close(service);
    return TACIT_OK;
}

TEST(every_allocation_of_a_warm_start_may_fail)
{
    size_t refused = 0;
    char store[64];
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/s.yaml", directory);
    (void)snprintf(store, sizeof store, "%s/service.db", directory);
    write_file("s.yaml", yaml);
    write_file("log.csv", log_text);
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        tacit__alloc_fail_at(n);
        const tacit_status status = live(true);
        failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        if (status != TACIT_OK && status != TACIT_NO_MEMORY)
            fail_msg("allocation %llu: %s", (unsigned long long)n, tacit_status_message(status));
        refused += status != TACIT_OK;
        if (access(store, F_OK) != 0)
            continue; /* nothing is left behind */
        assert_ok(live(false));
        assert_false(atomic_load(&given_up));
        remove_store("");
    }
    assert_true(refused > 20);
    remove_store(directory);
}

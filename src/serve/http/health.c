/* Alive and ready. /healthz is for a supervisor that restarts a dead process. A process that answers is
 * alive, whatever its disk does, and restarting it would only stop the decisions that it still makes.
 * /readyz is for a load balancer: it answers 503 while observations cannot be stored or learned from, and
 * while a learner is being warmed up, since it will soon decide better. The service tries a failed store
 * again every second (serve/sweeper.c). */
#include "serve/http/health.h"

#include "base/error.h"
#include "serve/http/routes.h"
#include "serve/learner/warm.h"
#include "serve/service_inside.h"
#include "serve/store_sync.h"
#include "serve/sweeper.h"
#include "store/vault/vault_maintenance.h"

static const struct {
    tacit__trouble bit;
    const char *name;                         /* NULL: that of the store's status */
} troubles[] = {{TACIT__TROUBLE_STORE, NULL}, /* first: it lasts, where failing may come and go */
                {TACIT__TROUBLE_FAILING, "failing"},
                {TACIT__TROUBLE_LEARNER, "learner"},
                {TACIT__TROUBLE_WARMING, "warming_up"},
                {TACIT__TROUBLE_STOPPING, "stopping"}};
enum { N_TROUBLES = sizeof troubles / sizeof *troubles };

static const char *name_of(const tacit_service *s, size_t trouble)
{
    TACIT__REQUIRE(trouble < sizeof troubles / sizeof *troubles);
    const char *name = troubles[trouble].name;
    return name != NULL ? name : tacit__store_status_name(tacit__vault_store_status(s->vault));
}

unsigned tacit__health_check(const tacit_service *s)
{
    const tacit__committer_figures committer = tacit__committer_figures_of(s->committer);
    unsigned all = 0;
    if (committer.failing || committer.commit_age > TACIT__STUCK_SECONDS ||
        !tacit__store_sync_is_connected(s))
        all |= TACIT__TROUBLE_FAILING;
    if (tacit__vault_store_status(s->vault) != TACIT__STORE_FINE)
        all |= TACIT__TROUBLE_STORE;
    for (size_t i = 0; i < s->config.n_learners; i++)
        if (tacit__learner_figures_of(s->learners[i]).failed)
            all |= TACIT__TROUBLE_LEARNER;
    if (tacit__warm_is_going_on(s))
        all |= TACIT__TROUBLE_WARMING;
    if (atomic_load(&s->stopping))
        all |= TACIT__TROUBLE_STOPPING;
    return all;
}

bool tacit__handle_health(tacit__request *r)
{
    const unsigned all = tacit__health_check(r->service);
    const char *status = "ok";
    for (size_t i = N_TROUBLES; i-- > 0;)
        if (all & troubles[i].bit)
            status = name_of(r->service, i);
    r->status = 200;
    tacit__text_print(&r->answer, "{\"status\":\"%s\",\"version\":\"%s\"}", status,
                      tacit_version());
    return true;
}

bool tacit__handle_ready(tacit__request *r)
{
    const unsigned all = tacit__health_check(r->service);
    const char *before = "";
    r->status = all == 0 ? 200 : 503;
    if (all != 0)
        r->retry_after = 1;
    tacit__text_print(&r->answer, "{\"ready\":%s,\"reasons\":[", all == 0 ? "true" : "false");
    for (size_t i = 0; i < N_TROUBLES; i++)
        if (all & troubles[i].bit) {
            tacit__text_print(&r->answer, "%s\"%s\"", before, name_of(r->service, i));
            before = ",";
        }
    char store[TACIT__STORE_NAME], start[TACIT__STORE_NAME];
    tacit__vault_get_names(r->service->vault, store, start);
    tacit__text_print(&r->answer, "],\"line\":{\"store\":\"%s\",\"start\":\"%s\"}}", store, start);
    return true;
}

/* Metrics of the service and its learners in the Prometheus text format; those of learners are the numbers
 * of /v1/learners. */
#include "base/error.h"
#include "serve/http/health.h"
#include "serve/http/routes.h"
#include "serve/service_inside.h"
#include "store/vault/vault_maintenance.h"

/* a - b, or 0 if a counter that was read a moment later has overtaken the other. */
static uint64_t without(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void put_learner_metrics(tacit__request *r)
{
    const tacit_service *service = r->service;
    tacit__text *out = &r->answer;
    static const struct {
        const char *name, *type, *help;
    } rows[] = {
        {"tacit_users_limit", "gauge", "Users that the learner was declared for"},
        {"tacit_users_accepted_total", "counter", "Users acknowledged"},
        {"tacit_users_learned_total", "counter", "Users that the learner has learned from"},
        {"tacit_users_refused_total", "counter", "Always 0: every acknowledged user counts"},
        {"tacit_users_left", "gauge", "Users until the budget is spent"},
        {"tacit_users_waiting", "gauge", "Users acknowledged and not yet learned from"},
        {"tacit_policy_version", "gauge", "Version of the billboard"},
        {"tacit_learning", "gauge", "1 while the learner learns, 0 after that"},
        {"tacit_learns_here", "gauge", "1 while this process is the one that learns"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tacit__text_print(out, "# HELP %s %s\n# TYPE %s %s\n", rows[i].name, rows[i].help,
                          rows[i].name, rows[i].type);
        for (size_t j = 0; j < service->config.n_learners; j++) {
            if (r->bearer.bound && r->bearer.learner != service->learners[j])
                continue;
            tacit__learner_figures f = tacit__learner_figures_of(service->learners[j]);
            const uint64_t values[] = {f.limit,
                                       f.accepted,
                                       f.users,
                                       0,
                                       without(f.limit, f.accepted),
                                       without(f.accepted, f.users),
                                       f.version,
                                       f.store_status == TACIT__STORE_FINE && !f.failed &&
                                           f.accepted < f.limit,
                                       f.leads};
            tacit__text_print(out, "%s{learner=\"%s\"} %llu\n", rows[i].name,
                              service->config.learners[j].name, (unsigned long long)values[i]);
        }
    }
}

/* Writes the metrics of learners to whom people may come back. */
static void put_visit_metrics(tacit__request *r)
{
    const tacit_service *service = r->service;
    static const struct {
        const char *name, *type, *help;
    } rows[] = {
        {"tacit_visits_limit", "gauge", "Visits of one person that the learner was declared for"},
        {"tacit_visits_apart", "gauge", "The least distance of two visits of one person, in users"},
        {"tacit_people", "gauge", "People that the learner has learned from"},
        {"tacit_visits_too_soon_total", "counter",
         "Visits that were not learned from: the person's last one was too recent"},
        {"tacit_visits_used_total", "counter",
         "Visits that were not learned from: the person has used all visits"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tacit__text_print(&r->answer, "# HELP %s %s\n# TYPE %s %s\n", rows[i].name, rows[i].help,
                          rows[i].name, rows[i].type);
        for (size_t j = 0; j < service->config.n_learners; j++) {
            const tacit_agent_request *q = &service->config.learners[j].request;
            if (q->visits <= 1 || (r->bearer.bound && r->bearer.learner != service->learners[j]))
                continue;
            const tacit__learner_figures f = tacit__learner_figures_of(service->learners[j]);
            const uint64_t values[] = {q->visits, q->apart, f.people, f.too_soon, f.visits_used};
            tacit__text_print(&r->answer, "%s{learner=\"%s\"} %llu\n", rows[i].name,
                              service->config.learners[j].name, (unsigned long long)values[i]);
        }
    }
}

/* Upper ends of the buckets, in seconds. */
static const double ends[TACIT__N_BUCKETS] = {1e-4,   2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2,
                                              2.5e-2, 5e-2,   0.1,  0.25, 1,      5,    1e9};

void tacit__figures_write(tacit__route_figures *f, const char *method, const char *route,
                          tacit__text *out)
{
    uint64_t up_to[TACIT__N_BUCKETS], n = 0; /* read once: requests end meanwhile */
    for (int b = 0; b < TACIT__N_BUCKETS; b++)
        up_to[b] = n += atomic_load(&f->buckets[b]);
    if (n == 0)
        return;
    for (int b = 0; b + 1 < TACIT__N_BUCKETS; b++)
        tacit__text_print(
            out, "tacit_http_request_seconds_bucket{route=\"%s\",method=\"%s\",le=\"%g\"} %llu\n",
            route, method, ends[b], (unsigned long long)up_to[b]);
    const uint64_t total_us = atomic_load(&f->total_us);
    tacit__text_print(
        out,
        "tacit_http_request_seconds_bucket{route=\"%s\",method=\"%s\",le=\"+Inf\"} %llu\n"
        "tacit_http_request_seconds_sum{route=\"%s\",method=\"%s\"} %llu.%06llu\n"
        "tacit_http_request_seconds_count{route=\"%s\",method=\"%s\"} %llu\n",
        route, method, (unsigned long long)n, route, method,
        (unsigned long long)(total_us / 1000000), (unsigned long long)(total_us % 1000000), route,
        method, (unsigned long long)n);
}

/* Writes the metrics of route i or, after the last one, of requests without a route. */
static const char *path_of(size_t i)
{
    return i < tacit__n_routes ? tacit__routes[i].path : "unmatched";
}

static const char *method_of(size_t i)
{
    return i < tacit__n_routes ? tacit__routes[i].method : "any";
}

static void put_route_metrics(tacit__text *out, tacit_service *service)
{
    tacit__text_put(out, "# HELP tacit_http_requests_total Answers by route and class of status\n"
                         "# TYPE tacit_http_requests_total counter\n");
    for (size_t i = 0; i <= tacit__n_routes; i++)
        for (unsigned class = 1; class < 6; class ++) {
            uint64_t n = atomic_load(&service->figures[i].answers[class]);
            if (n > 0)
                tacit__text_print(
                    out,
                    "tacit_http_requests_total{method=\"%s\",route=\"%s\",status=\"%uxx\"} %llu\n",
                    method_of(i), path_of(i), class, (unsigned long long)n);
        }
    tacit__text_put(out, "# HELP tacit_http_request_seconds Time from the request to the answer\n"
                         "# TYPE tacit_http_request_seconds histogram\n");
    for (size_t i = 0; i <= tacit__n_routes; i++)
        tacit__figures_write(&service->figures[i], method_of(i), path_of(i), out);
}

/* Writes which process continues which store, unless it is a copy that does not learn. */
static void put_line(tacit__text *out, const tacit_service *service)
{
    static const char name[] = "tacit_store_line";
    char store[TACIT__STORE_NAME], start[TACIT__STORE_NAME];
    tacit__vault_get_names(service->vault, store, start);
    const bool learns =
        (tacit__health_check(service) & (TACIT__TROUBLE_STORE | TACIT__TROUBLE_FAILING)) == 0;
    tacit__text_print(out,
                      "# HELP %s 1 while this service continues the store; see Two at once\n"
                      "# TYPE %s gauge\n%s{store=\"%s\",start=\"%s\"} %d\n",
                      name, name, name, store, start, learns);
}

bool tacit__handle_metrics(tacit__request *r)
{
    tacit_service *s = r->service;
    tacit__committer_figures committer = tacit__committer_figures_of(s->committer);
    tacit__text *out = &r->answer;
    r->status = 200;
    r->type = "text/plain; version=0.0.4; charset=utf-8";
    put_learner_metrics(r);
    put_visit_metrics(r);
    put_route_metrics(out, s);
    put_line(out, s);
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        {"tacit_episodes_open", "gauge", "Episodes with some steps",
         atomic_load(&s->open_episodes)},
        {"tacit_episodes_expired_total", "counter", "Episodes given up", atomic_load(&s->expired)},
        {"tacit_store_jobs_total", "counter", "Writes that were answered", committer.jobs},
        {"tacit_store_commits_total", "counter", "Transactions on disk", committer.commits},
        {"tacit_store_failures_total", "counter", "Transactions that failed", committer.failures},
        {"tacit_commit_age_seconds", "gauge", "Time since the last transaction that succeeded",
         committer.commit_age},
        {"tacit_ready", "gauge", "1 while /readyz is 200", tacit__health_check(s) == 0},
        {"tacit_store_fine", "gauge", "1 while the store may be learned from; /readyz says why not",
         tacit__vault_store_status(s->vault) == TACIT__STORE_FINE},
        {"tacit_store_unsafe", "gauge",
         "1 if the store was ever served on a database without fsync or full_page_writes",
         atomic_load(&s->unsafe)},
        {"tacit_start_time_seconds", "gauge", "When the service was started",
         (uint64_t)s->started}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tacit__text_print(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", rows[i].name, rows[i].help,
                          rows[i].name, rows[i].type, rows[i].name,
                          (unsigned long long)rows[i].value);
    return true;
}

void tacit__figures_add(tacit__route_figures *f, unsigned status, double seconds)
{
    TACIT__REQUIRE(seconds >= 0);
    int b = 0;
    while (b + 1 < TACIT__N_BUCKETS && seconds > ends[b])
        b++;
    atomic_fetch_add_explicit(&f->answers[status / 100 < 6 ? status / 100 : 0], 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&f->buckets[b], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&f->total_us, (uint64_t)(1e6 * seconds), memory_order_relaxed);
}

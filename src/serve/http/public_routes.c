/* Routes with public data: learners, ledger, guarantee, curves, the live page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/account.h>

#include "base/assets.h"
#include "serve/http/routes.h"
#include "serve/learner/describe.h"
#include "serve/learner/store_forks.h"
#include "serve/service_inside.h"
#include "store/vault/vault_warm.h"
#include "text/json_text.h"

static void put_string(tacit__text *out, const char *text)
{
    tacit__text_json_string(out, text, strlen(text));
}

bool tacit__handle_learners(tacit__request *r)
{
    r->status = 200;
    bool first = true;
    tacit__text_put(&r->answer, "{\"learners\":[");
    for (size_t i = 0; i < r->service->config.n_learners; i++) {
        tacit__learner *l = r->service->learners[i];
        if (r->bearer.bound && r->bearer.learner != l)
            continue;
        const tacit__learner_config *c = tacit__learner_config_of(l);
        tacit__learner_figures f = tacit__learner_figures_of(l);
        tacit__text_print(&r->answer, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"model\":\"%s\",",
                          first ? "" : ",", c->name, c->request.kind,
                          tacit__model_name(c->request.guarantee.model));
        tacit__describe_figures(&f, &r->answer);
        tacit__text_put(&r->answer, "}");
        first = false;
    }
    tacit__text_put(&r->answer, "]}");
    return true;
}

/* --- Ledger and guarantee ----------------------------------------------------------------------- */

static void put_number(tacit__text *out, const char *key, double x)
{
    tacit__text_print(out, ",\"%s\":", key);
    tacit__text_number(out, x);
}

/* Writes the lines of a plan, with the steps that have passed according to the store. Returns false if the
 * store cannot be read. */
static bool put_passed(tacit__request *r, tacit__learner *l, const tacit__learner_figures *f,
                       const tacit_plan *plan, bool *first)
{
    for (size_t i = 0; plan != NULL && i < tacit_plan_size(plan); i++) {
        const tacit_release *line = tacit_plan_release(plan, i);
        uint64_t passed = f->accepted, declared = f->limit; /* of devices: one in each report */
        if (tacit__learner_config_of(l)->request.guarantee.model != TACIT_MODEL_LOCAL) {
            declared = line->steps;
            pthread_mutex_lock(&r->service->reader_lock);
            tacit_status status = tacit__vault_get_steps_passed(
                r->service->reader, tacit__learner_id(l), line->name, &passed, NULL);
            pthread_mutex_unlock(&r->service->reader_lock);
            if (status != TACIT_OK)
                return false;
        }
        tacit__text_put(&r->answer, *first ? "{\"name\":" : ",{\"name\":");
        put_string(&r->answer, line->name);
        tacit__text_print(&r->answer,
                          ",\"dimension\":%zu,\"declared\":%llu,\"passed\":%llu,\"left\":%llu",
                          line->dimension, (unsigned long long)declared, (unsigned long long)passed,
                          (unsigned long long)(declared > passed ? declared - passed : 0));
        put_number(&r->answer, "scale", tacit_plan_scale(plan, i));
        tacit__text_put(&r->answer, "}");
        *first = false;
    }
    return true;
}

/* Writes how often the store was continued, and what that costs. Returns false if the store cannot be
 * read. */
static bool put_lives(tacit_service *s, const tacit__learner *l, const tacit__share *cost,
                      tacit__text *out)
{
    pthread_mutex_lock(&s->reader_lock);
    tacit_status status = tacit__store_forks_describe(s->reader, l, cost, out, NULL);
    pthread_mutex_unlock(&s->reader_lock);
    tacit__text_print(out, ",\"unsafe\":%s", atomic_load(&s->unsafe) ? "true" : "false");
    return status == TACIT_OK;
}

/* Writes how many users came from a log; they are users like all others. */
static void put_warm(tacit_service *s, const tacit__learner *l, tacit__text *out)
{
    tacit__vault_warm w;
    bool found = false;
    pthread_mutex_lock(&s->reader_lock);
    tacit_status status = tacit__vault_find_warm(s->reader, tacit__learner_id(l), &found, &w, NULL);
    pthread_mutex_unlock(&s->reader_lock);
    if (status == TACIT_OK && found)
        tacit__text_print(out, ",\"warm_start\":{\"rows\":%llu,\"taken\":%llu,\"users\":%llu}",
                          (unsigned long long)w.rows, (unsigned long long)w.taken,
                          (unsigned long long)w.learned);
}

bool tacit__handle_ledger(tacit__request *r)
{
    tacit__learner *l = tacit__service_choose(r, NULL);
    if (l == NULL)
        return true;
    const tacit__learner_config *c = tacit__learner_config_of(l);
    tacit__learner_figures f = tacit__learner_figures_of(l);
    bool first = true;
    r->status = 200;
    tacit__text_print(&r->answer, "{\"learner\":\"%s\",", c->name);
    tacit__describe_learner(c, &r->answer);
    tacit__describe_monitor(c, &r->answer);
    tacit__text_put(&r->answer, ",");
    tacit__describe_figures(&f, &r->answer);
    bool good = put_lives(r->service, l, NULL, &r->answer);
    tacit__text_put(&r->answer, ",\"releases\":[");
    if (!good || !put_passed(r, l, &f, tacit__learner_plan(l), &first) ||
        !put_passed(r, l, &f, tacit__learner_monitor_plan(l), &first)) {
        tacit__refuse(r, 503, "store", NULL, "the store cannot be read");
        return true;
    }
    tacit__text_put(&r->answer, "]");
    put_warm(r->service, l, &r->answer);
    if (c->request.guarantee.model == TACIT_MODEL_LOCAL)
        tacit__text_put(
            &r->answer,
            c->request.visits > 1
                ? ",\"note\":\"every person spends the whole guarantee once, in all "
                  "reports of their own device together; the server releases nothing "
                  "of its own, and counts reports\""
                : ",\"note\":\"every user spends the whole guarantee once, on their own "
                  "device; the server releases nothing of its own, and counts "
                  "reports\"");
    tacit__text_put(&r->answer, "}");
    return true;
}

static void put_plan(tacit__text *out, const tacit_plan *plan, double delta)
{
    tacit_law law = tacit_plan_law(plan);
    tacit_composition total;
    tacit__text_print(out, "{\"law\":\"%s\",\"releases\":[",
                      law == TACIT_LAW_GAUSSIAN   ? "gaussian"
                      : law == TACIT_LAW_LAPLACE  ? "laplace"
                      : law == TACIT_LAW_RESPONSE ? "response"
                                                  : "none");
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *line = tacit_plan_release(plan, i);
        tacit__text_put(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        put_string(out, line->name);
        tacit__text_print(out, ",\"dimension\":%zu,\"steps\":%llu", line->dimension,
                          (unsigned long long)line->steps);
        put_number(out, "l1", line->l1);
        put_number(out, "l2", line->l2);
        put_number(out, "column_l1", line->column_l1);
        put_number(out, "column_l2", line->column_l2);
        if (line->visits > 1)
            tacit__text_print(out, ",\"visits\":%llu,\"apart\":%llu",
                              (unsigned long long)line->visits, (unsigned long long)line->apart);
        put_number(out, "scale", tacit_plan_scale(plan, i));
        tacit__text_put(out, ",\"reason\":");
        put_string(out, line->reason);
        tacit__text_put(out, "}");
    }
    static const char *const names[] = {"],\"accounted\":", ",\"two_lives\":"};
    for (uint64_t lives = 1; lives <= 2; lives++) {
        tacit__text_put(out, names[lives - 1]);
        if (tacit_plan_account_lives(plan, lives, delta, &total, NULL) == TACIT_OK) {
            tacit__text_put(out, "{\"epsilon\":");
            tacit__text_number(out, total.epsilon.high);
            put_number(out, "delta", delta);
            tacit__text_put(out, "}");
        } else {
            tacit__text_put(out, "null");
        }
    }
    tacit__text_put(out, "}");
}

/* "(1.1, 2e-06)", rounded up: what is promised must not be less than what is paid. */
enum { PAIR = 80 };
static const char *pair(char out[PAIR], const tacit_guarantee *g)
{
    char epsilon[32], delta[32];
    (void)snprintf(out, PAIR, "(%s, %s)", tacit__round_up(epsilon, 4, g->epsilon),
                   tacit__round_up(delta, 4, g->delta));
    return out;
}

/* Writes the promise to a person who comes back, under joint privacy. */
static void put_joint(tacit__text *out, const tacit__learner_config *c)
{
    const tacit_agent_request *q = &c->request;
    char all[PAIR];
    if (q->visits <= 1)
        tacit__text_print(
            out,
            "\"Everything that anybody but a user sees is %s-indistinguishable when that user is "
            "replaced.\","
            "\"A user is one episode. A person who comes back pays again, unless user ids are "
            "given: then the learner learns from nobody twice.\",",
            pair(all, &c->together));
    else
        tacit__text_print(
            out,
            "\"Everything that anybody but a person sees is %s-indistinguishable when all visits "
            "of that person are replaced.\","
            "\"A user is one episode, and a person may come back: the learner learns from at most "
            "%llu visits of a person, any two of them at least %llu users apart. In other visits "
            "it decides, and keeps nothing.\","
            "\"That a person comes, and comes back, is not hidden. A person with two ids is two "
            "people.\",",
            pair(all, &c->together), (unsigned long long)q->visits, (unsigned long long)q->apart);
    tacit__text_print(out, "\"The service sees raw data; it keeps them sealed%s.\"",
                      c->log_decisions ? "" : ", and only until they are learned");
}

static void put_local(tacit__text *out, const tacit__learner_config *c)
{
    const tacit_agent_request *q = &c->request;
    char all[PAIR];
    if (q->visits <= 1)
        tacit__text_print(out,
                          "\"What leaves a user's device is %s-indistinguishable for any two of "
                          "their possible episodes.\"",
                          pair(all, &c->together));
    else
        tacit__text_print(out,
                          "\"All that leaves a person's device, in at most %llu reports, is "
                          "%s-indistinguishable for any two of their possible histories.\","
                          "\"The device counts its reports, and makes no more.\"",
                          (unsigned long long)q->visits, pair(all, &c->together));
    tacit__text_put(out, ",\"The service never sees raw data.\"");
}

/* Writes the promise of everything together and, with a monitor, who spends what. */
static void put_sentences(tacit__text *out, const tacit__learner_config *c)
{
    const tacit_guarantee *g = &c->request.guarantee, *m = &c->monitor;
    const bool exact = g->model == TACIT_MODEL_NONE, monitored = m->model != TACIT_MODEL_NONE;
    char learner[PAIR], mean[PAIR], all[PAIR];
    tacit__text_put(out, ",\"sentences\":[");
    if (exact)
        tacit__text_put(out, "\"There is no guarantee: this learner works on exact data.\"");
    else if (g->model == TACIT_MODEL_JOINT)
        put_joint(out, c);
    else
        put_local(out, c);
    if (monitored && exact)
        tacit__text_print(out, ",\"The released mean reward alone is %s-indistinguishable.\"",
                          pair(mean, m));
    else if (monitored)
        tacit__text_print(out,
                          ",\"The learner costs %s alone, the released mean reward %s; together at "
                          "most %s.\"",
                          pair(learner, g), pair(mean, m), pair(all, &c->together));
    if (c->log_decisions)
        tacit__text_put(out, ",\"The operator keeps a record of every decision and its outcome "
                             "(log_decisions), which this guarantee does not cover.\"");
    tacit__text_put(out, "]");
}

/* Writes what an alias stands for, and what the agent says about itself. */
static void put_remark(tacit__text *out, const tacit__learner *l)
{
    const tacit__learner_config *c = tacit__learner_config_of(l);
    const char *remark = tacit__learner_remark(l);
    char text[600];
    (void)snprintf(text, sizeof text, "%s: %s%s%s", c->kind, c->request.kind,
                   remark[0] != '\0' ? "; " : "", remark);
    put_string(out, strcmp(c->kind, c->request.kind) != 0 ? text : remark);
}

static bool put_guarantee(tacit_service *s, tacit__text *out, size_t i)
{
    const tacit__learner *l = s->learners[i];
    const tacit__learner_config *c = tacit__learner_config_of(l);
    const tacit_plan *plan = tacit__learner_plan(l), *monitor = tacit__learner_monitor_plan(l);
    tacit__text_put(out, "{\"person\":");
    tacit__pledge_describe(&s->pledge, out);
    tacit__text_print(out, ",\"learner\":\"%s\",", c->name);
    tacit__describe_learner(c, out);
    tacit__text_put(out, ",\"plan\":");
    if (plan != NULL)
        put_plan(out, plan, c->request.guarantee.delta);
    else
        tacit__text_put(out, "null");
    tacit__text_put(out, ",\"monitor\":");
    if (monitor != NULL)
        put_plan(out, monitor, c->monitor.delta);
    else
        tacit__text_put(out, "null");
    tacit__text_put(out, ",\"together\":");
    tacit__describe_guarantee(&c->together, out);
    put_sentences(out, c);
    tacit__text_put(out, ",\"remark\":");
    put_remark(out, l);
    bool good = put_lives(s, l, &s->config.shares[i], out);
    tacit__text_put(out, "}");
    return good;
}

bool tacit__handle_guarantee(tacit__request *r)
{
    tacit_service *s = r->service;
    tacit__learner *l = tacit__service_choose(r, NULL);
    size_t i = 0;
    if (l == NULL)
        return true;
    while (s->learners[i] != l)
        i++;
    r->status = 200;
    /* it does not change, and the accountant may take a while: made once */
    bool good = true;
    pthread_mutex_lock(&s->guarantee_lock);
    if (s->guarantees[i].length == 0)
        good = put_guarantee(s, &s->guarantees[i], i);
    tacit__text_add(&r->answer, s->guarantees[i].data, s->guarantees[i].length);
    if (!good)
        s->guarantees[i].length = 0;
    pthread_mutex_unlock(&s->guarantee_lock);
    if (!good)
        tacit__refuse(r, 503, "store", NULL, "the store cannot be read");
    return true;
}

bool tacit__handle_history(tacit__request *r)
{
    enum { POINTS = 1000 };
    tacit__learner *l = tacit__service_choose(r, NULL);
    if (l == NULL)
        return true;
    r->status = 200;
    tacit__text_print(&r->answer,
                      "{\"learner\":\"%s\",\"points\":", tacit__learner_config_of(l)->name);
    pthread_mutex_lock(&r->service->reader_lock);
    tacit_status status = tacit__vault_write_history(r->service->reader, tacit__learner_id(l),
                                                     POINTS, &r->answer, NULL);
    pthread_mutex_unlock(&r->service->reader_lock);
    if (status != TACIT_OK) {
        tacit__refuse(r, 503, "store", NULL, "the store cannot be read");
        return true;
    }
    tacit__text_put(&r->answer, "}");
    return true;
}

/* --- The page ----------------------------------------------------------------------------------- */

static bool answer_assets(tacit__request *r, const char *type, const tacit__asset *first,
                          const tacit__asset *second)
{
    r->status = 200;
    r->type = type;
    tacit__text_add(&r->answer, (const char *)first->bytes, first->size);
    if (second != NULL)
        tacit__text_add(&r->answer, (const char *)second->bytes, second->size);
    return true;
}

bool tacit__handle_page(tacit__request *r)
{
    return answer_assets(r, "text/html; charset=utf-8", &tacit__asset_live_html, NULL);
}

bool tacit__handle_page_style(tacit__request *r)
{
    return answer_assets(r, "text/css; charset=utf-8", &tacit__asset_report_css,
                         &tacit__asset_live_css);
}

bool tacit__handle_page_script(tacit__request *r)
{
    return answer_assets(r, "text/javascript; charset=utf-8", &tacit__asset_drawing_js,
                         &tacit__asset_live_js);
}

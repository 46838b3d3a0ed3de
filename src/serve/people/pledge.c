/* See serve/people/pledge.h. The store keeps, under `promise`:
 *
 *     1 if people are separate, else 0; the budget's epsilon (NaN: none) and delta; the sum that was stated,
 *     epsilon and delta; how many learners follow; and of each its name, its model, its delta, and its costs
 *
 * as numbers of 64 bits, low byte first. A learner that is no longer in the file stays in the list if it has
 * had users: a renamed learner must not cost its people nothing. The list is as public as /v1/guarantee. */
#include "serve/people/pledge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "serve/config_person.h"
#include "serve/learner/describe.h"
#include "store/vault/vault_maintenance.h"
#include "store/vault/vault_promise.h"
#include "text/json_text.h"

enum { MOST_KEPT = 4096, MOST_COSTS = 1 << 16 };

/* A learner in the promise of the store. */
typedef struct kept {
    char name[TACIT__MAX_NAME + 1];
    tacit__share share;
} kept;

/* The promise as the store has it. */
typedef struct record {
    bool found, separate;
    tacit_guarantee budget, stated;
    kept *learners;
    size_t n;
} record;

static void record_destroy(record *r)
{
    for (size_t i = 0; i < r->n; i++)
        tacit__share_destroy(&r->learners[i].share);
    tacit__free(r->learners);
}

/* --- Reading ------------------------------------------------------------------------------------- */

static tacit_status read_share(tacit__reader *from, tacit__share *out)
{
    out->model = (tacit_model)tacit__read_le64(from);
    out->delta = tacit__read_double(from);
    out->epsilon = (double)NAN;
    const uint64_t n = tacit__read_le64(from);
    if (from->failed || n > MOST_COSTS)
        return TACIT_CORRUPT;
    out->costs = tacit__alloc((size_t)n + 1, sizeof *out->costs);
    if (out->costs == NULL)
        return TACIT_NO_MEMORY;
    for (out->n_costs = 0; out->n_costs < n; out->n_costs++) {
        tacit_cost *c = &out->costs[out->n_costs];
        c->kind = (tacit_cost_kind)tacit__read_le64(from);
        c->sensitivity = tacit__read_double(from);
        c->scale = tacit__read_double(from);
        c->epsilon = tacit__read_double(from);
        c->count = tacit__read_le64(from);
    }
    return from->failed ? TACIT_CORRUPT : TACIT_OK;
}

static tacit_status read_record(tacit__reader *from, record *out)
{
    out->found = true;
    out->separate = tacit__read_le64(from) != 0;
    out->budget = (tacit_guarantee){.epsilon = tacit__read_double(from)};
    out->budget.delta = tacit__read_double(from);
    out->budget.model = isnan(out->budget.epsilon) ? TACIT_MODEL_NONE : TACIT_MODEL_JOINT;
    out->stated.epsilon = tacit__read_double(from);
    out->stated.delta = tacit__read_double(from);
    const uint64_t n = tacit__read_le64(from);
    if (from->failed || n > MOST_KEPT)
        return TACIT_CORRUPT;
    out->learners = tacit__alloc((size_t)n + 1, sizeof *out->learners);
    if (out->learners == NULL)
        return TACIT_NO_MEMORY;
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK && out->n < n) {
        kept *k = &out->learners[out->n++];
        const uint64_t size = tacit__read_le64(from);
        const void *name = size <= TACIT__MAX_NAME ? tacit__read_bytes(from, (size_t)size) : NULL;
        if (name == NULL)
            return TACIT_CORRUPT;
        memcpy(k->name, name, (size_t)size);
        status = read_share(from, &k->share);
    }
    return status;
}

static tacit_status find_record(tacit__vault *vault, record *out, tacit_error *err)
{
    tacit__text bytes = {0};
    *out = (record){0};
    tacit_status status = tacit__vault_find_promise(vault, &bytes, err);
    if (status == TACIT_OK && bytes.length > 0) {
        tacit__reader from = {.at = (const uint8_t *)bytes.data, .left = bytes.length};
        status = read_record(&from, out);
        if (status != TACIT_OK)
            (void)tacit__fail(err, status, "the store's promise to its people cannot be read; %s",
                              status == TACIT_CORRUPT ? "restore the file" : "memory has run out");
    }
    tacit__text_destroy(&bytes);
    return status;
}

/* --- Writing ------------------------------------------------------------------------------------- */

static void write_share(tacit__writer *to, const char *name, const tacit__share *s)
{
    tacit__write_le64(to, strlen(name));
    tacit__write_bytes(to, name, strlen(name));
    tacit__write_le64(to, (uint64_t)s->model);
    tacit__write_double(to, s->delta);
    tacit__write_le64(to, s->n_costs);
    for (size_t i = 0; i < s->n_costs; i++) {
        tacit__write_le64(to, (uint64_t)s->costs[i].kind);
        tacit__write_double(to, s->costs[i].sensitivity);
        tacit__write_double(to, s->costs[i].scale);
        tacit__write_double(to, s->costs[i].epsilon);
        tacit__write_le64(to, s->costs[i].count);
    }
}

/* --- The learners of the file and those of before -------------------------------------------------- */

typedef struct everybody {
    const tacit__service_config *config;
    record record;
    bool came;            /* somebody has taken part in something */
    size_t unknown;       /* learners that have had users and are in neither list */
    bool *gone;           /* of each learner of the record: not in the file, and it has had users */
    tacit__share *shares; /* of the file, and behind them those that are gone; not owned */
    size_t n_past;
} everybody;

static bool in_file(const tacit__service_config *c, const char *name)
{
    for (size_t i = 0; i < c->n_learners; i++)
        if (strcmp(c->learners[i].name, name) == 0)
            return true;
    return false;
}

static void note_learner(void *context, const char *name, uint64_t accepted, uint64_t waiting)
{
    everybody *e = context;
    size_t i = 0;
    (void)waiting;
    e->came = e->came || accepted > 0;
    if (accepted == 0 || in_file(e->config, name))
        return;
    while (i < e->record.n && strcmp(e->record.learners[i].name, name) != 0)
        i++;
    if (i < e->record.n)
        e->gone[i] = true;
    else
        e->unknown++;
}

static void everybody_close(everybody *e)
{
    record_destroy(&e->record);
    tacit__free(e->gone);
    tacit__free(e->shares);
}

static tacit_status everybody_open(const tacit__service_config *c, tacit__vault *vault,
                                   everybody *e, tacit_error *err)
{
    *e = (everybody){.config = c};
    tacit_status status = find_record(vault, &e->record, err);
    e->gone = tacit__alloc(e->record.n + 1, sizeof *e->gone);
    e->shares = tacit__alloc(c->n_learners + e->record.n, sizeof *e->shares);
    if (status == TACIT_OK && (e->gone == NULL || e->shares == NULL))
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        status = tacit__vault_list_learners(vault, note_learner, e, err);
    if (status != TACIT_OK) {
        everybody_close(e);
        return status;
    }
    memcpy(e->shares, c->shares, c->n_learners * sizeof *e->shares);
    for (size_t i = 0; i < e->record.n; i++)
        if (e->gone[i])
            e->shares[c->n_learners + e->n_past++] = e->record.learners[i].share;
    return TACIT_OK;
}

/* --- Comparing ----------------------------------------------------------------------------------- */

/* Checks that the promise to people who came still holds. */
static tacit_status compare(const everybody *e, tacit_error *err)
{
    const tacit__service_config *c = e->config;
    const tacit_guarantee *now = &c->person.budget, *before = &e->record.budget;
    if (!e->came || !e->record.found)
        return TACIT_OK;
    if (before->model != TACIT_MODEL_NONE &&
        (now->model == TACIT_MODEL_NONE || now->epsilon > before->epsilon ||
         now->delta > before->delta))
        return tacit__yaml_fail(
            c->yaml, c->budget_line > 0 ? c->budget_line : 1, err, TACIT_WRONG_PLAN,
            "%s, but people who have come were promised budget: {epsilon: %.10g, delta: %.10g}, "
            "and that cannot be taken back: write it, or a smaller one, or name another store",
            now->model == TACIT_MODEL_NONE ? "there is no budget" : "the budget is larger",
            before->epsilon, before->delta);
    if (c->person.separate && !e->record.separate)
        return tacit__yaml_fail(
            c->yaml, c->people_line, err, TACIT_WRONG_PLAN,
            "people is separate, but people who have come were promised a sum over all learners, "
            "and that cannot be taken back: write people: shared, or name another store");
    return TACIT_OK;
}

/* The budget is for everything that a person may have been in. */
static tacit_status check_past(const everybody *e, tacit_error *err)
{
    const tacit__service_config *c = e->config;
    tacit_service_person person = c->person;
    char pays[32];
    if (person.budget.model == TACIT_MODEL_NONE || e->n_past + e->unknown == 0)
        return TACIT_OK;
    if (e->unknown > 0)
        return tacit__yaml_fail(c->yaml, c->budget_line, err, TACIT_BAD_PLAN,
                                "the store has had %zu learner%s with users and does not know what "
                                "they cost: serve them "
                                "once more, without a budget, or name another store",
                                e->unknown, e->unknown == 1 ? "" : "s");
    TRY(tacit__person_account(e->shares, c->n_learners + e->n_past, 1, &person, err));
    if (tacit__person_fits(&person))
        return TACIT_OK;
    return tacit__yaml_fail(
        c->yaml, c->budget_line, err, TACIT_BAD_PLAN,
        "budget is epsilon %g, delta %g, but with %zu learner%s that this store has had before "
        "one person pays %s%s; lower the epsilons of new learners, or name another store",
        person.budget.epsilon, person.budget.delta, e->n_past, e->n_past == 1 ? "" : "s",
        person.exact > 0 ? "without limit" : "epsilon ",
        person.exact > 0 ? "" : tacit__round_up(pays, 4, person.all.epsilon));
}

static tacit_status check(const everybody *e, tacit_error *err)
{
    TRY(compare(e, err));
    return check_past(e, err);
}

tacit_status tacit__pledge_check(const tacit__service_config *c, tacit__vault *vault,
                                 tacit_error *err)
{
    everybody e;
    TRY(everybody_open(c, vault, &e, err));
    const tacit_status status = check(&e, err);
    everybody_close(&e);
    return status;
}

/* --- Keeping ------------------------------------------------------------------------------------- */

static void write_record(tacit__writer *to, const everybody *e, const tacit_guarantee *stated)
{
    const tacit__service_config *c = e->config;
    const tacit_guarantee *budget = &c->person.budget;
    tacit__write_le64(to, c->person.separate);
    tacit__write_double(to, budget->model != TACIT_MODEL_NONE ? budget->epsilon : (double)NAN);
    tacit__write_double(to, budget->delta);
    tacit__write_double(to, stated->epsilon);
    tacit__write_double(to, stated->delta);
    tacit__write_le64(to, c->n_learners + e->n_past);
    for (size_t i = 0; i < c->n_learners; i++)
        write_share(to, c->learners[i].name, &c->shares[i]);
    for (size_t i = 0; i < e->record.n; i++)
        if (e->gone[i])
            write_share(to, e->record.learners[i].name, &e->record.learners[i].share);
}

static tacit_status save(const everybody *e, tacit__vault *vault, const tacit_guarantee *stated,
                         tacit_error *err)
{
    tacit__writer count = {0};
    write_record(&count, e, stated);
    uint8_t *bytes = tacit__alloc(count.size, 1);
    if (bytes == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__writer to = {.at = bytes};
    write_record(&to, e, stated);
    const tacit_status status = tacit__vault_save_promise(vault, bytes, to.size, err);
    tacit__free(bytes);
    return status;
}

/* Writes the sentence for the operator if people who came pay another sum than was stated. */
static void say_change(const everybody *e, const tacit_guarantee *stated, char out[200])
{
    char was[2][32], is[2][32];
    const tacit_guarantee *before = &e->record.stated;
    if (!e->came || !e->record.found ||
        (before->epsilon == stated->epsilon && before->delta == stated->delta))
        return;
    (void)snprintf(
        out, 200,
        "one person in everything now pays epsilon %s, delta %s; before, epsilon %s, "
        "delta %s",
        tacit__round_up(is[0], 4, stated->epsilon), tacit__round_up(is[1], 4, stated->delta),
        tacit__round_up(was[0], 4, before->epsilon), tacit__round_up(was[1], 4, before->delta));
}

static tacit_status keep(const everybody *e, tacit__vault *vault, tacit__pledge *out,
                         char changed[200], tacit_error *err)
{
    TRY(check(e, err));
    *out = (tacit__pledge){.person = e->config->person,
                           .past = e->n_past,
                           .unknown = e->unknown,
                           .forks = tacit__vault_forks(vault)};
    TRY(tacit__person_account(e->shares, e->config->n_learners + e->n_past, out->forks,
                              &out->person, err));
    say_change(e, &out->person.all, changed);
    TRY(save(e, vault, &out->person.all, err));
    return changed[0] != '\0' ? tacit__vault_add_event(vault, err, "%s", changed) : TACIT_OK;
}

tacit_status tacit__pledge_keep(const tacit__service_config *c, tacit__vault *vault,
                                tacit__pledge *out, char changed[200], tacit_error *err)
{
    everybody e;
    changed[0] = '\0';
    TRY(tacit__vault_begin(vault, err));
    tacit_status status = everybody_open(c, vault, &e, err);
    if (status == TACIT_OK) {
        status = keep(&e, vault, out, changed, err);
        everybody_close(&e);
    }
    return tacit__vault_finish_transaction(vault, status, err);
}

/* --- In words ------------------------------------------------------------------------------------ */

static void put_words(const tacit__pledge *p, tacit__text *out)
{
    const tacit_guarantee *g = &p->person.all, *budget = &p->person.budget;
    tacit__person_words(&p->person,
                        p->unknown > 0 ? "this service had learners of which it does not know what "
                                         "their people have paid"
                                       : NULL,
                        out);
    if (p->past > 0)
        tacit__text_print(out,
                          "\nAmong the learners %s %zu that this service had before and no longer "
                          "serves: their people may come again.",
                          p->past == 1 ? "is" : "are", p->past);
    if (p->forks > 1)
        tacit__text_print(out,
                          "\nThe store was continued from a copy; this is for a person in all of "
                          "its %llu lives%s.",
                          (unsigned long long)p->forks,
                          budget->model != TACIT_MODEL_NONE && g->epsilon > budget->epsilon
                              ? ", and more than the budget"
                              : "");
}

void tacit__pledge_describe(const tacit__pledge *p, tacit__text *out)
{
    static const tacit_guarantee none = {.model = TACIT_MODEL_NONE};
    tacit__text words = {0};
    put_words(p, &words);
    tacit__text_put(out, "{\"guarantee\":");
    tacit__describe_guarantee(p->person.exact + p->unknown > 0 ? &none : &p->person.all, out);
    tacit__text_put(out, ",\"composed\":");
    tacit__describe_guarantee(&p->person.all, out);
    tacit__text_put(out, ",\"devices\":");
    tacit__describe_guarantee(&p->person.devices, out);
    tacit__text_put(out, ",\"budget\":");
    tacit__describe_guarantee(&p->person.budget, out);
    tacit__text_print(out, ",\"people\":\"%s\",\"learners\":%zu,\"exact\":%zu,\"past\":%zu",
                      p->person.separate ? "separate" : "shared",
                      p->person.joint + p->person.local + p->person.exact, p->person.exact,
                      p->past + p->unknown);
    tacit__text_put(out, ",\"sentences\":[");
    for (const char *at = words.data, *end; at != NULL; at = end != NULL ? end + 1 : NULL) {
        end = strchr(at, '\n');
        if (at != words.data)
            tacit__text_put(out, ",");
        tacit__text_json_string(out, at, end != NULL ? (size_t)(end - at) : strlen(at));
    }
    tacit__text_put(out, "]}");
    out->failed = out->failed || words.failed;
    tacit__text_destroy(&words);
}

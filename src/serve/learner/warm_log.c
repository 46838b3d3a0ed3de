/* See serve/learner/warm_log.h. */
#include "serve/learner/warm_log.h"

#include <stdlib.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "agents/domain.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"

/* --- Whether ------------------------------------------------------------------------------------ */

/* What another policy did is data like any other where the learner keeps account of who was where. See
 * docs/reference/service.md#warm-start. */
tacit_status tacit__warm_log_check(const tacit__learner_config *c, tacit_error *err)
{
    const char *file = c->request.file, *kind = c->request.kind;
    const size_t line = (size_t)c->warm.line;
    if (c->warm.file == NULL)
        return TACIT_OK;
    if (c->request.horizon != 1)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, file, line,
                              "warm_start is for learners with one step, but the horizon is %zu: "
                              "a line of a log is one user with one decision",
                              c->request.horizon);
    if (!tacit__agent_takes_logs(kind))
        return tacit__fail_at(
            err, TACIT_UNSUPPORTED, file, line,
            "%s cannot be warmed up: it assumes that its users acted by its own billboard, and "
            "those of a log did not. lin-ucb, dp-ucbvi and posterior-tabular can",
            kind);
    if (c->per_user > 0 && c->context.columns == NULL)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, file, line,
                              "warm_start needs named columns or numbered states: declare "
                              "`context: 'age 18..78, ...'` in the space instead of "
                              "`features`");
    return TACIT_OK;
}

/* --- The file ----------------------------------------------------------------------------------- */

/* Finds a column by the given name, or by the usual one if the file has it. */
static const char *choose(const tacit__csv *header, const char *given, const char *usual)
{
    return given != NULL ? given : tacit__user_log_has(header, usual) ? usual : NULL;
}

static tacit_status choose_columns(tacit__warm_log *w, tacit_error *err)
{
    const tacit__learner_config *c = w->config;
    tacit__csv *header = &w->log.csv;
    TRY(tacit__csv_open(header, w->file.path, NULL, w->source.text, err));
    w->source.columns =
        (tacit__logged_columns){.state = c->warm.state != NULL ? c->warm.state : "state",
                                .action = c->warm.action != NULL ? c->warm.action : "action",
                                .reward = c->warm.reward != NULL ? c->warm.reward : "reward",
                                .propensity = choose(header, c->warm.propensity, "propensity"),
                                .user = choose(header, c->warm.user, "user")};
    if (c->user_required && w->source.columns.user == NULL)
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, c->request.file, (size_t)c->warm.line,
                              "%.200s has no column 'user', but this learner accepts no users "
                              "without an id; write warm_start: {file: ..., user: COLUMN}",
                              w->file.path);
    return TACIT_OK;
}

tacit_status tacit__warm_log_open(tacit__warm_log *w, const tacit__learner_config *c, bool *there,
                                  tacit_error *err)
{
    TACIT__REQUIRE(c->warm.file != NULL);
    *w = (tacit__warm_log){.config = c};
    const tacit__domain domain = tacit__domain_of(&c->request);
    const tacit__value name = {.text = c->warm.file, .line = c->warm.line};
    const tacit__origin origin = {.file = c->request.file, .line = c->warm.line};
    tacit_status status = tacit__text_file_read(&name, &origin, &w->file, err);
    *there = status == TACIT_OK;
    if (status != TACIT_OK)
        return status;
    w->source = (tacit__log_source){.text = {w->file.text, w->file.size},
                                    .name = w->file.path,
                                    .file = c->request.file,
                                    .line = (size_t)c->warm.line,
                                    .context = c->context.columns,
                                    .intercept = c->context.intercept,
                                    .unit = c->context.unit,
                                    .n_states = c->request.n_states,
                                    .action_names = c->action_names,
                                    .n_actions = c->request.n_actions,
                                    .reward_low = domain.reward_low,
                                    .reward_high = domain.reward_high,
                                    .clip = c->request.outside == TACIT_OUTSIDE_CLIP,
                                    .missing = c->warm.missing};
    w->features = tacit__alloc(c->per_user + 1, sizeof *w->features);
    if (w->features == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    TRY(choose_columns(w, err));
    return tacit__warm_log_seek(w, 0, err);
}

void tacit__warm_log_close(tacit__warm_log *log)
{
    if (log->file.text != NULL)
        tacit__wipe(log->file.text, log->file.size);
    tacit__text_file_close(&log->file);
    tacit__free_secret(log->features, log->features != NULL
                                          ? (log->config->per_user + 1) * sizeof *log->features
                                          : 0);
    *log = (tacit__warm_log){0};
}

tacit_status tacit__warm_log_seek(tacit__warm_log *w, size_t row, tacit_error *err)
{
    bool more = true;
    TRY(tacit__user_log_open(&w->log, &w->source, err));
    for (w->row = 0; w->row < row && more; w->row++)
        TRY(tacit__csv_next(&w->log.csv, &more, err));
    return TACIT_OK;
}

tacit_status tacit__warm_log_next(tacit__warm_log *w, bool *more, tacit__logged_user *user,
                                  tacit_error *err)
{
    TRY(tacit__user_log_next(&w->log, more, user, w->features, err));
    w->row += *more;
    return TACIT_OK;
}

void tacit__warm_log_digest(const tacit__warm_log *log, const uint8_t *key, uint8_t *out)
{
    const tacit__logged_columns *c = &log->source.columns;
    const char *const names[] = {c->state,      c->action, c->reward,
                                 c->propensity, c->user,   log->source.missing};
    enum { N = sizeof names / sizeof *names };
    tacit__bytes parts[N + 1] = {{log->file.text, log->file.size}};
    uint8_t plain[TACIT__KEY_BYTES];
    for (size_t i = 0; i < N; i++) {
        const char *name = names[i] != NULL ? names[i] : "";
        parts[i + 1] = (tacit__bytes){name, strlen(name) + 1};
    }
    tacit__digest(parts, N + 1, plain);
    tacit__keyed_hash(key, plain, sizeof plain, out, TACIT__KEY_BYTES);
    tacit__wipe(plain, sizeof plain);
}

/* --- Counting ----------------------------------------------------------------------------------- */

typedef struct visitor {
    tacit__span id;
    size_t row;
    size_t visits, last;   /* of a person: at the place of their first row */
    struct visitor *first; /* the row that counts for them */
} visitor;

static int compare_ids(const void *a, const void *b)
{
    const visitor *x = a, *y = b;
    const size_t n = x->id.size < y->id.size ? x->id.size : y->id.size;
    const int order = n > 0 ? memcmp(x->id.text, y->id.text, n) : 0;
    if (order != 0 || x->id.size != y->id.size)
        return order != 0 ? order : x->id.size < y->id.size ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int compare_rows(const void *a, const void *b)
{
    const visitor *x = *(visitor *const *)a, *y = *(visitor *const *)b;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Applies the rule of store/vault/vault_people.c to a learner that had no users. */
static void count_people(const tacit__learner_config *c, visitor *all, visitor **in_order, size_t n,
                         tacit_service_log *out)
{
    const uint64_t most = c->request.visits > 1 ? c->request.visits : 1, apart = c->request.apart;
    qsort(all, n, sizeof *all, compare_ids);
    for (size_t i = 0; i < n; i++) {
        const bool same = i > 0 && all[i].id.size == all[i - 1].id.size &&
                          memcmp(all[i].id.text, all[i - 1].id.text, all[i].id.size) == 0;
        all[i].first = same ? all[i - 1].first : &all[i];
        out->people += !same;
        in_order[i] = &all[i];
    }
    qsort(in_order, n, sizeof(visitor *), compare_rows);
    for (size_t i = 0; i < n; i++) {
        visitor *person = in_order[i]->first;
        if (person->visits >= most || (person->visits > 0 && out->users + 1 - person->last < apart))
            continue;
        person->visits++;
        person->last = (size_t)++out->users;
    }
}

tacit_status tacit__warm_log_count(tacit__warm_log *w, tacit_service_log *out, tacit_error *err)
{
    const bool named = w->source.columns.user != NULL;
    tacit__logged_user user;
    size_t n = 0;
    *out = (tacit_service_log){0};
    TRY(tacit__warm_log_seek(w, 0, err));
    for (bool more = true; more; n += more)
        TRY(tacit__warm_log_next(w, &more, &user, err));
    *out = (tacit_service_log){.rows = n, .people = named ? 0 : n, .users = named ? 0 : n};
    if (n == 0)
        return tacit__fail_at(err, TACIT_SYNTAX, w->file.path, 0, "the log has no users");
    if (!named)
        return TACIT_OK;
    visitor *all = tacit__alloc(n, sizeof *all), **in_order = tacit__alloc(n, sizeof(visitor *));
    tacit_status status = TACIT_OK;
    if (all == NULL || in_order == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        status = tacit__warm_log_seek(w, 0, err);
    for (bool more = true; more && status == TACIT_OK;) {
        const size_t row = w->row;
        status = tacit__warm_log_next(w, &more, &user, err);
        if (status == TACIT_OK && more)
            all[row] = (visitor){.id = user.id, .row = row};
    }
    if (status == TACIT_OK)
        count_people(w->config, all, in_order, n, out);
    tacit__free(all);
    tacit__free(in_order);
    return status;
}

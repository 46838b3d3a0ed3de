/* The rows of the tables. Any program may have written the file, so everything is checked when it is read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/results_file.h"
#include "store/store.h"

static tacit_status fail_damaged(const tacit__store *store, const char *what, tacit_error *err)
{
    return tacit__fail(err, TACIT_CORRUPT, "%.200s: the database is damaged: %s", store->path,
                       what);
}

static const char *text_at(tacit__cursor *row, int column)
{
    const char *text = tacit__cursor_text(row, column);
    return text != NULL ? text : "";
}

static uint64_t count_at(tacit__cursor *row, int column)
{
    int64_t n = tacit__cursor_int(row, column);
    return n > 0 ? (uint64_t)n : 0;
}

/* --- Head ---------------------------------------------------------------------------------------- */

tacit_status tacit__store_write_head(tacit__store *store, const tacit__kept_head *head,
                                     tacit_error *err)
{
    TACIT__REQUIRE(head->text != NULL || head->text_size == 0);
    return tacit__connection_write(
        store->db, TACIT__SQL_WRITE_HEAD, "INSERT INTO head VALUES(?,?,?,?,?,?,?,?,?,?,?)", err,
        "btttbiiiiii", (const void *)head->identity, sizeof head->identity, head->version,
        head->file, head->title, head->text, head->text_size, (int64_t)head->episodes,
        (int64_t)head->runs, (int64_t)head->n_jobs, (int64_t)head->changed_episodes,
        (int64_t)head->changed_runs, (int64_t)head->changed_seed);
}

tacit_status tacit__store_read_head(tacit__store *store, tacit__kept_head *head, tacit_error *err)
{
    tacit__cursor *row;
    bool more = false;
    TRY(tacit__connection_prepare(store->db, TACIT__SQL_READ_HEAD, "SELECT * FROM head", &row,
                                  err));
    TRY(tacit__cursor_next(row, &more, err));
    size_t size = 0;
    const void *identity = more ? tacit__cursor_bytes(row, 0, &size) : NULL;
    if (size != TACIT__STORE_IDENTITY)
        return fail_damaged(store, "it does not say which experiment it belongs to", err);
    /* The statement stays at its row, so that the texts live on. */
    memcpy(head->identity, identity, TACIT__STORE_IDENTITY);
    head->version = text_at(row, 1);
    head->file = text_at(row, 2);
    head->title = text_at(row, 3);
    head->text = tacit__cursor_bytes(row, 4, &head->text_size);
    head->episodes = count_at(row, 5);
    head->runs = count_at(row, 6);
    head->n_jobs = count_at(row, 7);
    head->changed_episodes = count_at(row, 8);
    head->changed_runs = count_at(row, 9);
    head->changed_seed = count_at(row, 10);
    return TACIT_OK;
}

/* --- Worlds and agents --------------------------------------------------------------------------- */

tacit_status tacit__store_write_world(tacit__store *store, size_t number, const char *label,
                                      const char *kind, const tacit_world_facts *facts,
                                      double optimal_value, tacit_error *err)
{
    return tacit__connection_write(
        store->db, TACIT__SQL_WRITE_WORLD,
        "INSERT INTO world VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err, "ittiiiiirrrriit",
        (int64_t)number, label, kind, (int64_t)facts->family, (int64_t)facts->n_states,
        (int64_t)facts->n_actions, (int64_t)facts->horizon, (int64_t)facts->stationary,
        facts->reward_low, facts->reward_high, facts->optimal_value, optimal_value,
        (int64_t)facts->people, (int64_t)facts->labeled,
        facts->remark != NULL ? facts->remark : "");
}

tacit_status tacit__store_read_world(tacit__store *store, size_t number, tacit_world_facts *facts,
                                     double *optimal_value, char *remark, size_t remark_size,
                                     tacit_error *err)
{
    tacit__cursor *row;
    bool more = false;
    TRY(tacit__connection_prepare(
        store->db, TACIT__SQL_READ_WORLD,
        "SELECT family, states, actions, horizon, stationary, reward_low,"
        " reward_high, optimal_scaled, optimal_value, kind, people, labelled, remark"
        " FROM world"
        " WHERE number = ?",
        &row, err));
    tacit__cursor_bind_int(row, 1, (int64_t)number);
    TRY(tacit__cursor_next(row, &more, err));
    if (!more)
        return fail_damaged(store, "a world is missing", err);
    *facts = (tacit_world_facts){.kind = tacit_world_kind_find(text_at(row, 9)),
                                 .family = (tacit_world_family)tacit__cursor_int(row, 0),
                                 .n_states = (size_t)count_at(row, 1),
                                 .n_actions = (size_t)count_at(row, 2),
                                 .horizon = (size_t)count_at(row, 3),
                                 .stationary = tacit__cursor_int(row, 4) != 0,
                                 .reward_low = tacit__cursor_real(row, 5),
                                 .reward_high = tacit__cursor_real(row, 6),
                                 .optimal_value = tacit__cursor_real(row, 7),
                                 .people = count_at(row, 10),
                                 .labeled = tacit__cursor_int(row, 11) != 0,
                                 .remark = remark};
    (void)snprintf(remark, remark_size, "%s", text_at(row, 12));
    *optimal_value = tacit__cursor_real(row, 8);
    tacit__cursor_reset(row);
    return TACIT_OK;
}

tacit_status tacit__store_write_agent(tacit__store *store, size_t number,
                                      const tacit__kept_agent *agent, tacit_error *err)
{
    return tacit__connection_write(store->db, TACIT__SQL_WRITE_AGENT,
                                   "INSERT INTO agent VALUES(?,?,?,?,?,?,?)", err, "itttrrt",
                                   (int64_t)number, agent->label, agent->kind, agent->model,
                                   agent->epsilon, agent->delta, agent->calibration);
}

/* --- Parts and their plans ----------------------------------------------------------------------- */

tacit_status tacit__store_write_part(tacit__store *store, size_t number, size_t world, size_t agent,
                                     const char *kind, const char *remark, const tacit_plan *plan,
                                     tacit_error *err)
{
    tacit_status status = tacit__connection_write(
        store->db, TACIT__SQL_WRITE_PART, "INSERT INTO part VALUES(?,?,?,?,?,?)", err, "iiitti",
        (int64_t)number, (int64_t)world, (int64_t)agent, kind, remark,
        (int64_t)(plan != NULL ? tacit_plan_law(plan) : TACIT_LAW_NONE));
    for (size_t i = 0; plan != NULL && status == TACIT_OK && i < tacit_plan_size(plan); i++) {
        const tacit_release *r = tacit_plan_release(plan, i);
        status = tacit__connection_write(
            store->db, TACIT__SQL_WRITE_RELEASE,
            "INSERT INTO release VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err, "iittiirrrrrrtii",
            (int64_t)number, (int64_t)i, r->name, r->reason, (int64_t)r->dimension,
            (int64_t)r->steps, r->l1, r->l2, r->column_l1, r->column_l2, r->weight,
            tacit_plan_scale(plan, i), r->mechanism, (int64_t)r->visits, (int64_t)r->apart);
    }
    return status;
}

/* One line: declared, or, when all are, given its scale. */
static tacit_status read_release(const tacit__store *store, tacit__cursor *row, tacit_law law,
                                 bool declared, tacit_plan *plan, tacit_error *err)
{
    const tacit_release release = {.name = text_at(row, 0),
                                   .reason = tacit__cursor_text(row, 1),
                                   .dimension = (size_t)count_at(row, 2),
                                   .steps = count_at(row, 3),
                                   .l1 = tacit__cursor_real(row, 4),
                                   .l2 = tacit__cursor_real(row, 5),
                                   .column_l1 = tacit__cursor_real(row, 6),
                                   .column_l2 = tacit__cursor_real(row, 7),
                                   .weight = tacit__cursor_real(row, 8),
                                   .mechanism = tacit__cursor_text(row, 10),
                                   .visits = count_at(row, 11),
                                   .apart = count_at(row, 12)};
    tacit_status status =
        declared ? tacit_plan_set_scale(plan, release.name, law, tacit__cursor_real(row, 9), err)
                 : tacit_plan_declare(plan, &release, err);
    return status == TACIT_OK || status == TACIT_NO_MEMORY
               ? status
               : fail_damaged(store, "a release plan does not add up", err);
}

static tacit_status read_lines(tacit__store *store, size_t number, tacit_law law, bool declared,
                               tacit_plan *plan, tacit_error *err)
{
    tacit__cursor *row;
    bool more = false;
    TRY(tacit__connection_prepare(
        store->db, TACIT__SQL_READ_RELEASE,
        "SELECT name, reason, dimension, steps, l1, l2, column_l1, column_l2,"
        " weight, scale, mechanism, visits, apart FROM release WHERE part = ? ORDER BY line",
        &row, err));
    tacit_status status = TACIT_OK;
    tacit__cursor_bind_int(row, 1, (int64_t)number);
    do {
        status = tacit__cursor_next(row, &more, err);
        if (status == TACIT_OK && more)
            status = read_release(store, row, law, declared, plan, err);
    } while (status == TACIT_OK && more);
    tacit__cursor_reset(row);
    return status;
}

tacit_status tacit__store_read_part(tacit__store *store, size_t number, char *kind,
                                    size_t kind_size, char *remark, size_t remark_size,
                                    tacit_plan **plan, tacit_error *err)
{
    TACIT__REQUIRE(kind != NULL && kind_size > 0 && remark != NULL && remark_size > 0);
    TACIT__REQUIRE(plan != NULL);
    tacit__cursor *row;
    bool more = false;
    TRY(tacit__connection_prepare(store->db, TACIT__SQL_READ_PART,
                                  "SELECT remark, law, kind FROM part WHERE number = ?", &row,
                                  err));
    tacit__cursor_bind_int(row, 1, (int64_t)number);
    TRY(tacit__cursor_next(row, &more, err));
    if (!more)
        return fail_damaged(store, "an agent in a world is missing", err);
    (void)snprintf(remark, remark_size, "%s", text_at(row, 0));
    (void)snprintf(kind, kind_size, "%s", text_at(row, 2));
    int64_t law = tacit__cursor_int(row, 1);
    tacit__cursor_reset(row);
    *plan = NULL;
    if (law <= TACIT_LAW_NONE || law > TACIT_LAW_RESPONSE)
        return TACIT_OK;
    tacit_plan *fresh = NULL;
    tacit_status status = tacit_plan_create(&fresh);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = read_lines(store, number, (tacit_law)law, false, fresh, err);
    if (status == TACIT_OK)
        status = read_lines(store, number, (tacit_law)law, true, fresh, err);
    if (status == TACIT_OK)
        *plan = fresh;
    else
        tacit_plan_destroy(fresh);
    return status;
}

/* --- Jobs and points ----------------------------------------------------------------------------- */

tacit_status tacit__store_write_job(tacit__store *store, const tacit__kept_job *job,
                                    tacit_error *err)
{
    return tacit__connection_write(
        store->db, TACIT__SQL_WRITE_JOB, "INSERT OR REPLACE INTO job VALUES(?,?,?,?,?,?,?)", err,
        "iiirrir", (int64_t)job->number, (int64_t)job->part, (int64_t)job->run, job->regret,
        job->late_regret, (int64_t)job->switches, job->seconds);
}

tacit_status tacit__store_write_points(tacit__store *store, uint64_t job, size_t n,
                                       const uint64_t *episodes, const double *regrets,
                                       tacit_error *err)
{
    TACIT__REQUIRE(n == 0 || (episodes != NULL && regrets != NULL));
    for (size_t i = 0; i < n; i++)
        TRY(tacit__connection_write(store->db, TACIT__SQL_WRITE_POINT,
                                    "INSERT OR REPLACE INTO point VALUES(?,?,?)", err, "iir",
                                    (int64_t)job, (int64_t)episodes[i], regrets[i]));
    return TACIT_OK;
}

tacit_status tacit__store_count_jobs(tacit__store *store, uint64_t *n, tacit_error *err)
{
    tacit__cursor *row;
    bool more = false;
    TRY(tacit__connection_prepare(store->db, TACIT__SQL_COUNT_JOBS, "SELECT count(*) FROM job",
                                  &row, err));
    TRY(tacit__cursor_next(row, &more, err));
    if (more)
        *n = count_at(row, 0);
    tacit__cursor_reset(row);
    return TACIT_OK;
}

tacit_status tacit__store_read_jobs(tacit__store *store, tacit__store_job_fn *fn, void *context,
                                    tacit_error *err)
{
    TACIT__REQUIRE(fn != NULL);
    tacit__cursor *row;
    bool more = true;
    tacit_status status =
        tacit__connection_prepare(store->db, TACIT__SQL_READ_JOBS,
                                  "SELECT number, part, run, regret, late_regret, switches, seconds"
                                  " FROM job ORDER BY number",
                                  &row, err);
    while (status == TACIT_OK && more) {
        status = tacit__cursor_next(row, &more, err);
        if (status != TACIT_OK || !more)
            break;
        const tacit__kept_job job = {.number = count_at(row, 0),
                                     .part = count_at(row, 1),
                                     .run = count_at(row, 2),
                                     .regret = tacit__cursor_real(row, 3),
                                     .late_regret = tacit__cursor_real(row, 4),
                                     .switches = count_at(row, 5),
                                     .seconds = tacit__cursor_real(row, 6)};
        status = fn(context, &job, err);
        if (status != TACIT_OK)
            tacit__cursor_reset(row);
    }
    return status;
}

tacit_status tacit__store_read_points(tacit__store *store, tacit__store_point_fn *fn, void *context,
                                      tacit_error *err)
{
    TACIT__REQUIRE(fn != NULL);
    tacit__cursor *row;
    bool more = true;
    tacit_status status = tacit__connection_prepare(
        store->db, TACIT__SQL_READ_POINTS,
        "SELECT job, episode, regret FROM point ORDER BY job, episode", &row, err);
    while (status == TACIT_OK && more) {
        status = tacit__cursor_next(row, &more, err);
        if (status != TACIT_OK || !more)
            break;
        status = fn(context, count_at(row, 0), count_at(row, 1), tacit__cursor_real(row, 2), err);
        if (status != TACIT_OK)
            tacit__cursor_reset(row);
    }
    return status;
}

/* --- Estimates ----------------------------------------------------------------------------------- */

tacit_status tacit__store_write_estimate(tacit__store *store, const tacit__kept_estimate *e,
                                         tacit_error *err)
{
    return tacit__connection_write(
        store->db, TACIT__SQL_WRITE_ESTIMATE,
        "INSERT OR REPLACE INTO estimate VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err,
        "iirrrrrrrrrrrrrrr", (int64_t)e->job, (int64_t)e->matched, e->ips, e->ips_error,
        e->self_normalized, e->self_normalized_error, e->doubly_robust, e->doubly_robust_error,
        e->effective, e->logging, e->logging_error, e->constant, e->constant_error, e->lift_logging,
        e->lift_logging_error, e->lift_constant, e->lift_constant_error);
}

static tacit_status has_estimates(tacit__store *store, bool *out, tacit_error *err)
{
    tacit__cursor *row;
    TRY(tacit__connection_prepare(
        store->db, TACIT__SQL_HAS_ESTIMATES,
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'estimate'", &row, err));
    tacit_status status = tacit__cursor_next(row, out, err);
    tacit__cursor_reset(row);
    return status;
}

tacit_status tacit__store_read_estimates(tacit__store *store, tacit__store_estimate_fn *fn,
                                         void *context, tacit_error *err)
{
    TACIT__REQUIRE(fn != NULL);
    tacit__cursor *row;
    bool more = false;
    TRY(has_estimates(store, &more, err));
    if (!more)
        return TACIT_OK;
    tacit_status status = tacit__connection_prepare(
        store->db, TACIT__SQL_READ_ESTIMATES, "SELECT * FROM estimate ORDER BY job", &row, err);
    while (status == TACIT_OK && more) {
        status = tacit__cursor_next(row, &more, err);
        if (status != TACIT_OK || !more)
            break;
        const tacit__kept_estimate e = {.job = count_at(row, 0),
                                        .matched = count_at(row, 1),
                                        .ips = tacit__cursor_real(row, 2),
                                        .ips_error = tacit__cursor_real(row, 3),
                                        .self_normalized = tacit__cursor_real(row, 4),
                                        .self_normalized_error = tacit__cursor_real(row, 5),
                                        .doubly_robust = tacit__cursor_real(row, 6),
                                        .doubly_robust_error = tacit__cursor_real(row, 7),
                                        .effective = tacit__cursor_real(row, 8),
                                        .logging = tacit__cursor_real(row, 9),
                                        .logging_error = tacit__cursor_real(row, 10),
                                        .constant = tacit__cursor_real(row, 11),
                                        .constant_error = tacit__cursor_real(row, 12),
                                        .lift_logging = tacit__cursor_real(row, 13),
                                        .lift_logging_error = tacit__cursor_real(row, 14),
                                        .lift_constant = tacit__cursor_real(row, 15),
                                        .lift_constant_error = tacit__cursor_real(row, 16)};
        status = fn(context, &e, err);
        if (status != TACIT_OK)
            tacit__cursor_reset(row);
    }
    return status;
}

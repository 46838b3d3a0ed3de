/* See worlds/user_log.h. Columns are encoded as for the world logged-bandit and in requests to a service:
 * worlds/columns.h. */
#include "worlds/user_log.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* --- Columns ------------------------------------------------------------------------------------- */

bool tacit__user_log_has(const tacit__csv *header, const char *name)
{
    for (size_t i = 0; i < header->n_fields; i++)
        if (tacit__span_is(header->field[i], name))
            return true;
    return false;
}

static tacit_status locate(const tacit__user_log *log, const char *key, const char *name,
                           size_t *field, tacit_error *err)
{
    const tacit__log_source *s = &log->source;
    const tacit__declaration declared = {s->file, key, name, s->line};
    return name == NULL ? TACIT_OK
                        : tacit__columns_locate(&log->csv, &declared,
                                                (tacit__span){name, strlen(name)}, field, err);
}

tacit_status tacit__user_log_open(tacit__user_log *log, const tacit__log_source *source,
                                  tacit_error *err)
{
    TACIT__REQUIRE(source->name != NULL && source->missing != NULL && source->n_actions > 0);
    log->source = *source;
    const tacit__log_source *s = &log->source;
    TRY(tacit__csv_open(&log->csv, s->name, NULL, s->text, err));
    const tacit__declaration context = {s->file, "context", "", s->line};
    for (size_t i = 0; s->context != NULL && i < s->context->n; i++)
        TRY(tacit__columns_locate(&log->csv, &context, s->context->column[i].name, &log->field[i],
                                  err));
    TRY(locate(log, "state", s->context == NULL ? s->columns.state : NULL, &log->state, err));
    TRY(locate(log, "action", s->columns.action, &log->action, err));
    TRY(locate(log, "reward", s->columns.reward, &log->reward, err));
    TRY(locate(log, "propensity", s->columns.propensity, &log->propensity, err));
    return locate(log, "user", s->columns.user, &log->user, err);
}

/* --- Lines --------------------------------------------------------------------------------------- */

static bool is_missing(const tacit__user_log *log, tacit__span value)
{
    return value.size == 0 || tacit__span_is(value, log->source.missing);
}

static tacit_status fail_column(const tacit__user_log *log, const tacit__column *c, bool missing,
                                tacit_error *err)
{
    char name[TACIT__SHOWN];
    (void)tacit__span_format(c->name, name);
    if (c->numeric && missing)
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, log->source.name, log->csv.line,
                              "%s is missing; if that may be, declare it as '%s %g..%g ?'", name,
                              name, c->low, c->high);
    if (c->numeric)
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, log->source.name, log->csv.line,
                              "%s must be a number from %g to %g, as the context declares", name,
                              c->low, c->high);
    return tacit__fail_at(err, TACIT_OUT_OF_BOUND, log->source.name, log->csv.line,
                          "%s must be one of the categories that the context declares", name);
}

static tacit_status encode_context(const tacit__user_log *log, double *x, tacit_error *err)
{
    const tacit__log_source *s = &log->source;
    for (size_t i = 0; i < s->context->n; i++) {
        const tacit__column *c = &s->context->column[i];
        const tacit__span value = log->csv.field[log->field[i]];
        const bool missing = is_missing(log, value);
        double number = c->low;
        if (c->numeric && !missing && !tacit__read_real(value.text, value.size, &number))
            return fail_column(log, c, false, err); /* text in the place of a number is no value */
        const bool inside = tacit__column_encode(c, value, missing, x + c->first) &&
                            (!c->numeric || missing || (number >= c->low && number <= c->high));
        if (!inside && !s->clip)
            return fail_column(log, c, missing, err);
    }
    tacit__columns_finish(s->context, s->intercept, s->unit, x);
    return TACIT_OK;
}

static tacit_status read_action(const tacit__user_log *log, uint32_t *out, tacit_error *err)
{
    const tacit__log_source *s = &log->source;
    const tacit__span value = log->csv.field[log->action];
    int64_t number = -1;
    for (size_t i = 0; s->action_names != NULL && i < s->n_actions; i++)
        if (tacit__span_is(value, s->action_names[i])) {
            *out = (uint32_t)i;
            return TACIT_OK;
        }
    if (s->action_names != NULL)
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, s->name, log->csv.line,
                              "%s must be one of the actions that the space names",
                              s->columns.action);
    if (!tacit__read_integer(value.text, value.size, &number) || number < 0 ||
        (uint64_t)number >= s->n_actions)
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, s->name, log->csv.line,
                              "%s must be the number of an action, from 0 to %zu",
                              s->columns.action, s->n_actions - 1);
    *out = (uint32_t)number;
    return TACIT_OK;
}

static tacit_status read_state(const tacit__user_log *log, uint32_t *out, tacit_error *err)
{
    const tacit__log_source *s = &log->source;
    const tacit__span value = log->csv.field[log->state];
    int64_t number = -1;
    const bool whole = tacit__read_integer(value.text, value.size, &number);
    if (whole && s->clip && (number < 0 || (uint64_t)number >= s->n_states))
        number = (int64_t)s->n_states - 1; /* as agents clip: docs/why/counting.md */
    if (!whole || number < 0 || (uint64_t)number >= s->n_states)
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, s->name, log->csv.line,
                              "%s must be the number of a state, from 0 to %zu", s->columns.state,
                              s->n_states - 1);
    *out = (uint32_t)number;
    return TACIT_OK;
}

static tacit_status read_outcome(const tacit__user_log *log, tacit__logged_user *user,
                                 tacit_error *err)
{
    const tacit__log_source *s = &log->source;
    const tacit__span value = log->csv.field[log->reward];
    const bool number = tacit__read_real(value.text, value.size, &user->reward);
    if (!number || (!s->clip && !(user->reward >= s->reward_low && user->reward <= s->reward_high)))
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, s->name, log->csv.line,
                              "%s must be a number from %.15g to %.15g", s->columns.reward,
                              s->reward_low, s->reward_high);
    user->reward = fmin(s->reward_high, fmax(s->reward_low, user->reward));
    user->propensity = 0;
    if (s->columns.propensity == NULL)
        return TACIT_OK;
    const tacit__span chance = log->csv.field[log->propensity];
    if (!tacit__read_real(chance.text, chance.size, &user->propensity) ||
        !(user->propensity > 0 && user->propensity <= 1))
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, s->name, log->csv.line,
                              "%s must be a number above 0 and at most 1", s->columns.propensity);
    return TACIT_OK;
}

static tacit_status read_user(const tacit__user_log *log, tacit__span *id, tacit_error *err)
{
    const tacit__log_source *s = &log->source;
    *id = (tacit__span){"", 0};
    if (s->columns.user == NULL)
        return TACIT_OK;
    *id = log->csv.field[log->user];
    /* a quotation mark within quotes is written twice, and stays so: it would be another person's id */
    if (is_missing(log, *id) || id->size > TACIT__MAX_LOGGED_ID ||
        memchr(id->text, '\0', id->size) != NULL || memchr(id->text, '"', id->size) != NULL)
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, s->name, log->csv.line,
                              "%s must be an id of 1 to %d bytes without quotation marks",
                              s->columns.user, (int)TACIT__MAX_LOGGED_ID);
    return TACIT_OK;
}

tacit_status tacit__user_log_next(tacit__user_log *log, bool *more, tacit__logged_user *user,
                                  double *features, tacit_error *err)
{
    TACIT__REQUIRE(more != NULL && user != NULL);
    TRY(tacit__csv_next(&log->csv, more, err));
    if (!*more)
        return TACIT_OK;
    *user = (tacit__logged_user){.line = log->csv.line};
    if (log->source.context != NULL)
        TRY(encode_context(log, features, err));
    else
        TRY(read_state(log, &user->state, err));
    TRY(read_action(log, &user->action, err));
    TRY(read_outcome(log, user, err));
    return read_user(log, &user->id, err);
}

/* See serve/body_limit.h. If the requests of a learner did not fit, the service would start and refuse all
 * users or, worse, only those whose numbers have many digits. So every number counts with as many bytes as a
 * double can need. */
#include "serve/body_limit.h"

#include "base/error.h"
#include "noise/seal.h"
#include "serve/people/episode.h"
#include "serve/people/ticket.h"

/* Bytes of "-2.2250738585072014e-308" with a comma, and of the names of fields, a learner and a user. */
enum { NUMBER = 25, FRAME = 512 };

/* Bytes of a situation that is sent as an object with named columns. */
static size_t columns_size(const tacit__columns_list *columns)
{
    size_t all = 0;
    for (size_t i = 0; columns != NULL && i < columns->n; i++) {
        const tacit__column *c = &columns->column[i];
        size_t longest = NUMBER;
        for (size_t j = 0; j < c->n_categories; j++)
            longest = c->category[j].size > longest ? c->category[j].size : longest;
        all += c->name.size + longest + sizeof "\"\":\"\",";
    }
    return all;
}

static tacit_status check(const tacit__learner_config *c, const char *what, size_t needed,
                          tacit_error *err)
{
    if (c->most_body == 0 || needed <= c->most_body)
        return TACIT_OK;
    if (needed > TACIT__MOST_BODY)
        return tacit__fail_at(err, TACIT_TOO_LARGE, c->request.file, (size_t)c->request.line,
                              "%s learner '%s' may have %zu bytes, more than any limits.body (%d): "
                              "it needs a smaller space",
                              what, c->name, needed, (int)TACIT__MOST_BODY);
    return tacit__fail_at(err, TACIT_SYNTAX, c->request.file, (size_t)c->request.line,
                          "%s learner '%s' may have %zu bytes, but limits.body is %llu; write "
                          "limits: {body: %zu}",
                          what, c->name, needed, (unsigned long long)c->most_body, needed);
}

tacit_status tacit__body_limit_check(const tacit__learner_config *c, tacit_error *err)
{
    if (c->request.guarantee.model == TACIT_MODEL_LOCAL)
        return TACIT_OK;
    const size_t numbers = c->per_user * NUMBER, columns = columns_size(c->context.columns),
                 situation = numbers > columns ? numbers : columns,
                 next = c->request.horizon > 1 ? situation : 0,
                 carried = c->log_decisions ? c->per_user * sizeof(double)
                                            : tacit__stored_situation_size(c),
                 observation =
                     next + TACIT__BASE64_SIZE(sizeof(tacit__ticket) + carried + TACIT__SEAL_BYTES);
    return check(c, "requests to", FRAME + (situation > observation ? situation : observation),
                 err);
}

tacit_status tacit__body_limit_check_report(const tacit__learner_config *c, size_t size,
                                            tacit_error *err)
{
    TACIT__REQUIRE(size > 0);
    return check(c, "reports to", FRAME + TACIT__BASE64_SIZE(size), err);
}

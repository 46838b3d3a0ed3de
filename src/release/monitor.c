/* One private running sum of one number: the user's mean reward minus 1/2, which is at most 1/2
 * away from 0, so that a replaced user moves it by at most 1. Under local privacy the sum is
 * `local`: every user's number has noise of its own, and the same reason tells how far two episodes
 * of one user are apart. People who come back are in the sum's own bound (sums/returning.h). */
#include "release/monitor.h"

#include <math.h>

#include <tacit/sum.h>

#include "account/single.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "sums/saved.h"

struct tacit__monitor {
    tacit_ledger *ledger;
    tacit_sum *sum;
    double total; /* the last release */
};

static const char name[] = "reward";

static tacit_status open_sum(tacit__monitor *m, tacit_guarantee g, const tacit__monitored *people,
                             tacit_noise *noise, tacit_error *err)
{
    const tacit_sum_spec spec = {.mechanism = tacit_sum_default_mechanism(g),
                                 .law = g.delta > 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE,
                                 .dimension = 1,
                                 .users = people->users,
                                 .visits = people->visits,
                                 .apart = people->apart,
                                 .bound = {.l1 = 0.5, .l2 = 0.5},
                                 .reason = "a mean reward is in [0, 1]: any other is at most 1 "
                                           "away"};
    tacit_release line;
    TRY(tacit_sum_declare(&spec, name, &line, err));
    TRY(tacit__ledger_open_single(&line, g, 0, noise, &m->ledger, NULL, err));
    return tacit_sum_create(&spec, m->ledger, name, &m->sum, err);
}

tacit_status tacit__monitor_create(tacit_guarantee guarantee, const tacit__monitored *people,
                                   tacit_noise *noise, tacit__monitor **out, tacit_error *err)
{
    TACIT__REQUIRE(people->users > 0 && noise != NULL && guarantee.model != TACIT_MODEL_NONE);
    tacit__monitor *m = tacit__alloc(1, sizeof *m);
    if (m == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = open_sum(m, guarantee, people, noise, err);
    if (status != TACIT_OK) {
        tacit__monitor_destroy(m);
        return status;
    }
    *out = m;
    return TACIT_OK;
}

void tacit__monitor_destroy(tacit__monitor *m)
{
    if (m == NULL)
        return;
    tacit_sum_destroy(m->sum);
    tacit_ledger_destroy(m->ledger);
    tacit__free(m);
}

tacit_status tacit__monitor_add(tacit__monitor *m, double mean, tacit_error *err)
{
    double x = mean - 0.5;
    TRY(tacit_sum_add(m->sum, &x, err));
    return tacit_sum_release(m->sum, &m->total, err);
}

tacit_status tacit__monitor_report(tacit__monitor *m, double mean,
                                   uint8_t report[TACIT__MONITOR_REPORT], tacit_error *err)
{
    double x = mean - 0.5;
    int64_t noisy;
    tacit_status status = tacit_sum_report(m->sum, &x, &noisy, err);
    if (status == TACIT_OK)
        tacit__write_le64(&(tacit__writer){.at = report}, (uint64_t)noisy);
    return status;
}

static int64_t read_report(const uint8_t report[TACIT__MONITOR_REPORT])
{
    tacit__reader r = {.at = report, .left = TACIT__MONITOR_REPORT};
    return (int64_t)tacit__read_le64(&r);
}

tacit_status tacit__monitor_check(const tacit__monitor *m,
                                  const uint8_t report[TACIT__MONITOR_REPORT], tacit_error *err)
{
    int64_t noisy = read_report(report);
    return tacit_sum_check_report(m->sum, &noisy, err);
}

tacit_status tacit__monitor_absorb(tacit__monitor *m, const uint8_t report[TACIT__MONITOR_REPORT],
                                   tacit_error *err)
{
    int64_t noisy = read_report(report);
    TRY(tacit_sum_absorb(m->sum, &noisy, err));
    return tacit_sum_release(m->sum, &m->total, err);
}

void tacit__monitor_read(const tacit__monitor *m, double *mean, double *stddev)
{
    double k = (double)tacit_sum_step(m->sum);
    *mean = *stddev = (double)NAN;
    if (k > 0 && tacit_sum_stddev(m->sum, tacit_sum_step(m->sum), stddev) == TACIT_OK) {
        *mean = 0.5 + m->total / k;
        *stddev /= k;
    }
}

tacit_ledger *tacit__monitor_ledger(const tacit__monitor *m)
{
    return m->ledger;
}

static void fields(tacit__monitor *m, tacit__saved *s)
{
    double total = m->total;
    tacit__saved_value(s, &total, sizeof total);
    tacit__saved_check(s, tacit__are_reals(&total, 1, TACIT__MOST_SUM));
    (void)tacit__sum_fields(m->sum, s);
    if (s->pass == TACIT__APPLY)
        m->total = total;
}

tacit_status tacit__monitor_save(tacit__monitor *m, void *bytes, size_t *size, tacit_error *err)
{
    tacit__saved s = tacit__saved_save(bytes, size, err);
    while (tacit__saved_next(&s))
        fields(m, &s);
    return s.status;
}

tacit_status tacit__monitor_load(tacit__monitor *m, const void *bytes, size_t size,
                                 tacit_error *err)
{
    tacit__saved s = tacit__saved_load(bytes, size, err);
    while (tacit__saved_next(&s))
        fields(m, &s);
    return s.status;
}

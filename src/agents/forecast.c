/* See forecast.h. Both searches double, then bisect to a hundredth. */
#include "agents/forecast.h"

#include <math.h>
#include <stdio.h>

#define MOST_USERS 1e12
#define MOST_EPSILON 1e3

/* The least x in [low, high] with a burden of at most 1, along users or epsilon. */
static double search(tacit__burden_fn *burden, const void *context, double users, double epsilon,
                     bool along_users, double low, double high)
{
    double good = low;
    while (burden(context, along_users ? good : users, along_users ? epsilon : good) > 1) {
        low = good;
        good *= 2;
        if (good > high)
            return HUGE_VAL;
    }
    while (good > 1.01 * low) {
        double middle = sqrt(low * good);
        if (burden(context, along_users ? middle : users, along_users ? epsilon : middle) > 1)
            low = middle;
        else
            good = middle;
    }
    return good;
}

/* Two digits, upwards: 31234 becomes "32000". */
static const char *rounded(double x, char text[32])
{
    double unit = pow(10, floor(log10(x)) - 1);
    (void)snprintf(text, 32, "%.10g", ceil(x / unit) * unit);
    return text;
}

void tacit__forecast(tacit__burden_fn *burden, const void *context, uint64_t users,
                     tacit_guarantee g, const char *what, tacit_forecast *out)
{
    double n = (double)users, now = burden(context, n, g.epsilon);
    char number[32], instead[120];
    if (!isfinite(now))
        return;
    out->outlook = now <= 1   ? TACIT_OUTLOOK_ENOUGH
                   : now <= 2 ? TACIT_OUTLOOK_BORDERLINE
                              : TACIT_OUTLOOK_NOT_ENOUGH;
    out->users_needed =
        search(burden, context, n, g.epsilon, true, now <= 1 ? fmin(n, 16) : n, MOST_USERS);
    out->epsilon_needed = search(burden, context, n, g.epsilon, false,
                                 now <= 1 ? fmin(g.epsilon, 1e-3) : g.epsilon, MOST_EPSILON);
    if (out->outlook == TACIT_OUTLOOK_ENOUGH) {
        (void)snprintf(out->words, sizeof out->words,
                       "enough data: %llu users, %s; about %s users would do at epsilon %g",
                       (unsigned long long)users, what, rounded(out->users_needed, number),
                       g.epsilon);
        return;
    }
    if (isfinite(out->epsilon_needed))
        (void)snprintf(instead, sizeof instead, "or epsilon %.2g", out->epsilon_needed);
    else
        (void)snprintf(instead, sizeof instead, "and no epsilon would do for so few");
    (void)snprintf(
        out->words, sizeof out->words,
        "%s for epsilon %g: %llu users, %s; to beat the best constant action expect to "
        "need about %s users, %s",
        out->outlook == TACIT_OUTLOOK_BORDERLINE ? "barely enough data" : "NOT ENOUGH DATA",
        g.epsilon, (unsigned long long)users, what,
        isfinite(out->users_needed) ? rounded(out->users_needed, number) : "more than 1e12",
        instead);
}

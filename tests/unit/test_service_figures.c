/* Figures of the service: how the times of a route are counted, and what a learner's figures say. */
#include <string.h>

#include "serve/learner/describe.h"
#include "serve/service_inside.h"
#include "support/check.h"
#include "text/text.h"

/* After months the sum still tells microseconds, and the buckets end in the count. */
TEST(times_of_a_route_add_up)
{
    static tacit__route_figures f;
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    tacit__figures_add(&f, 200, 0.0002);
    tacit__figures_add(&f, 200, 0.003);
    tacit__figures_add(&f, 503, 12345678.901234);
    tacit__figures_write(&f, "GET", "/x", &out);
    static const char *const wanted[] = {
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.0001\"} 0\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.00025\"} 1\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.005\"} 2\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"5\"} 2\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"+Inf\"} 3\n",
        "seconds_sum{route=\"/x\",method=\"GET\"} 12345678.904434\n",
        "seconds_count{route=\"/x\",method=\"GET\"} 3\n"};
    for (size_t i = 0; i < N_OF(wanted); i++)
        if (strstr(out.data, wanted[i]) == NULL)
            fail_msg("%s is not in\n%s", wanted[i], out.data);
}

TEST(users_left_do_not_wrap)
{
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    const tacit__learner_figures f = {.limit = 4, .accepted = 5, .users = 5};
    tacit__describe_figures(&f, &out);
    assert_non_null(strstr(out.data, "\"left\":0,"));
}

/* How the times of a route are counted. After months the sum still tells microseconds, and the buckets end in the count. */
#include <string.h>

#include "serve/service_inside.h"
#include "support/check.h"
#include "text/text.h"

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

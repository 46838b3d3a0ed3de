/* An hour's worth of requests, at 100 a second. */
#define REQUESTS (3600 * 100)
#define GROWTH_KB                                                                                  \
    1536 /* 6.5 bytes for each of the last 240,000; 0.6 MB of it were seen, the store's caches */
#include "service/test_soak.c"

/* Every single write; see test_crash.c. */
#define STRIDE 1
#include "service/test_crash.c"

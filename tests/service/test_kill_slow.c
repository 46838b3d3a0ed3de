/* A thousand of them; see test_kill.c. */
#define KILLS 1000
#include "service/test_kill.c"

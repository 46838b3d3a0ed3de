/* Hundreds of them; see test_kill.c. */
#define KILLS 300
#include "service/test_kill.c"

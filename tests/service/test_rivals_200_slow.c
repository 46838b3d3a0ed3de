/* Two hundred kills; .ci/run runs them once. */
#define ROUNDS 200
#include "service/test_rivals.c"

/* The same with a thousand kills. */
#define ROUNDS 1000
#include "service/test_rivals.c"

/* The main function of every test program that has none of its own. */
#include "support/check.h"

int main(void)
{
    return test_run(NULL, NULL);
}

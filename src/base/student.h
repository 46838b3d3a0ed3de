/* This function says how wide a confidence interval of a mean is. */
#ifndef TACIT_BASE_STUDENT_H
#define TACIT_BASE_STUDENT_H

#include <stdint.h>

/* Half of the 95 % confidence interval of a mean, in standard errors: Student's t. */
double tacit__student_limit(uint64_t degrees);

#endif

/* The values of yardsticks. They do not learn, so one number is enough. */
#ifndef TACIT_LAB_YARDSTICK_H
#define TACIT_LAB_YARDSTICK_H

#include <tacit/world.h>

/* The value of a yardstick's policy in a world, with rewards in [0, 1], exactly. */
TACIT_MUST_USE tacit_status tacit__yardstick_value(const char *name, const tacit_world *world,
                                                   double *value, tacit_error *err);

#endif

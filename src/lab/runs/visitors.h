/* People who come back: which person each user of an experiment is. */
#ifndef TACIT_LAB_VISITORS_H
#define TACIT_LAB_VISITORS_H

#include <tacit/lab.h>

#include "lab/files/yaml_fields.h"

extern const tacit__field tacit__visitors_fields[];

/* Reads `visitors` of an experiment or of a world, for this many users. */
TACIT_MUST_USE tacit_status tacit__visitors_read(const tacit__node *node, uint64_t users,
                                                 tacit_visitors *out, tacit_error *err);

/* Returns what holds for every order that can be dealt to this many users: no person comes more often
 * than `visits`, and any two visits of one person are at least `apart` users apart. */
tacit_visitors tacit__visitors_kept(const tacit_visitors *visitors, uint64_t users);

/* Deals users to people, one after the other. */
typedef struct tacit__people_order tacit__people_order;

/* `visitors` has people. The order depends on the root alone. */
TACIT_MUST_USE tacit_status tacit__people_order_create(const tacit_visitors *visitors,
                                                       tacit_noise *root, tacit__people_order **out,
                                                       tacit_error *err);
void tacit__people_order_destroy(tacit__people_order *order);

/* The person, from 0, who is user number `user`: they are asked for one after the other, from 0; asking for
 * number 0 begins anew. */
uint64_t tacit__people_order_at(tacit__people_order *order, uint64_t user);

#endif

/* The promise of a service file, as a whole, to one person. */
#ifndef TACIT_SERVE_CONFIG_PERSON_H
#define TACIT_SERVE_CONFIG_PERSON_H

#include "serve/config.h"

/* Makes the calibrated plan of a learner's monitor; *out is NULL if it has none. The caller destroys it. */
TACIT_MUST_USE tacit_status tacit__monitor_plan(const tacit__learner_config *config,
                                                tacit_noise *noise, tacit_plan **out,
                                                tacit_error *err);

/* Makes the release plans of all learners and monitors and composes them into config->shares, config->person
 * and `together` of every learner. A file that exceeds its budget is refused, with the largest that would
 * fit. */
TACIT_MUST_USE tacit_status tacit__config_person_open(tacit__service_config *config,
                                                      tacit_error *err);
void tacit__shares_destroy(tacit__share *shares, size_t n_shares);

#endif

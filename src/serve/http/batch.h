/* Requests that come as one: an array in place of an object. Each element is handled as the request
 * that it would be alone, and answered with a status of its own; the observations among them are
 * posted to the committer together. */
#ifndef TACIT_SERVE_HTTP_BATCH_H
#define TACIT_SERVE_HTTP_BATCH_H

#include "serve/http/request.h"

/* The largest number of elements, a stated choice: as many as the jobs that the committer writes in one
 * transaction, in round numbers. */
enum { TACIT__MAX_BATCH = 1000 };

/* Whether the body is a batch, which its first character tells. */
bool tacit__batch_is_array(const tacit__request *r);
/* Handles the body, or each of its elements, as a route's `handle` does. */
bool tacit__batch_handle(tacit__request *r, bool (*handle)(tacit__request *one));

#endif

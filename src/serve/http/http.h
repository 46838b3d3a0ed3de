/* HTTP by libmicrohttpd. No other part of the service uses that library. */
#ifndef TACIT_SERVE_HTTP_HTTP_H
#define TACIT_SERVE_HTTP_HTTP_H

#include <tacit/service.h>

/* Starts to listen as the configuration says, and sets service->url and, with an admin listener,
 * service->admin_url. */
TACIT_MUST_USE tacit_status tacit__http_start(tacit_service *service, tacit_error *err);
/* Reads the certificate again, with TLS, and uses it for new connections. */
TACIT_MUST_USE tacit_status tacit__http_reload(tacit_service *service, tacit_error *err);
/* Accepts no new connections, and answers the requests that were begun, within the time limit. Accepts a
 * service that never started. */
void tacit__http_stop(tacit_service *service);

#endif

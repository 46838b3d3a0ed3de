/* HTTP by libmicrohttpd. No other part of the service uses that library. */
#ifndef TACIT_SERVE_HTTP_HTTP_H
#define TACIT_SERVE_HTTP_HTTP_H

#include <tacit/service.h>

/* Listens as the configuration says; service->url and, with an admin listener, service->admin_url are set. */
TACIT_MUST_USE tacit_status tacit__http_start(tacit_service *service, tacit_error *err);
/* With TLS: the certificate is read again, and used for connections from now on. */
TACIT_MUST_USE tacit_status tacit__http_reload(tacit_service *service, tacit_error *err);
/* No new connections; requests that were begun are answered, within the time limit. Accepts a
 * service that never started. */
void tacit__http_stop(tacit_service *service);

#endif

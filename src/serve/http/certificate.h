/* The certificate of the service, with its key. A connection keeps the certificate that it began with, so the
 * certificate can be replaced while connections are open. Only this file uses the headers of GnuTLS, the TLS
 * library of libmicrohttpd. */
#ifndef TACIT_SERVE_HTTP_CERTIFICATE_H
#define TACIT_SERVE_HTTP_CERTIFICATE_H

#include <tacit/status.h>

typedef struct tacit__certificate tacit__certificate;

/* Reads two PEM files: the certificate, perhaps with the chain to its root, and its key. BAD_ARGUMENT: they
 * cannot be read, are not a certificate and a key, or do not belong together. */
TACIT_MUST_USE tacit_status tacit__certificate_read(const char *chain, const char *key,
                                                    tacit__certificate **out, tacit_error *err);
tacit__certificate *tacit__certificate_acquire(tacit__certificate *certificate);
void tacit__certificate_release(tacit__certificate *certificate); /* accepts NULL */

/* Makes this TLS session (gnutls_session_t) use the certificate, which must live as long as the session. */
void tacit__certificate_attach(tacit__certificate *certificate, void *session);
/* The function for MHD_OPTION_HTTPS_CERT_CALLBACK, as the void * that options are. It returns the attached
 * certificate. */
void *tacit__certificate_callback(void);

#endif

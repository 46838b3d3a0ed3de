/* The certificate that the service shows, with its key. A connection holds on to the one it began with; so
 * another one can be put in its place while connections go on. The only file with GnuTLS' headers, which
 * libmicrohttpd speaks TLS by. */
#ifndef TACIT_SERVE_CERTIFICATE_H
#define TACIT_SERVE_CERTIFICATE_H

#include <tacit/status.h>

typedef struct tacit__certificate tacit__certificate;

/* From two PEM files: the certificate, perhaps with those that lead to its root, and its key.
 * BAD_ARGUMENT: they cannot be read, are none, or do not belong together. */
TACIT_MUST_USE tacit_status tacit__certificate_read(const char *chain, const char *key,
                                                    tacit__certificate **out, tacit_error *err);
tacit__certificate *tacit__certificate_acquire(tacit__certificate *certificate);
void tacit__certificate_release(tacit__certificate *certificate); /* accepts NULL */

/* From now on this TLS session (gnutls_session_t) shows this certificate, which must live as long as the
 * session. */
void tacit__certificate_attach(tacit__certificate *certificate, void *session);
/* What MHD_OPTION_HTTPS_CERT_CALLBACK wants: the attached certificate. A function, as the void * that
 * options are. */
void *tacit__certificate_callback(void);

#endif

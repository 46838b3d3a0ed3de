/* TLS certificates. See serve/http/certificate.h. */
#include "serve/http/certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

enum { MAX_PEM = 1 << 18, MAX_CHAIN = 16, MAX_ID = 64 };

struct tacit__certificate {
    atomic_uint owners;
    gnutls_pcert_st chain[MAX_CHAIN];
    unsigned n_chain;
    gnutls_privkey_t key;
};

/* Reads a small file as text. The caller frees it. */
static tacit_status read_pem(const char *path, char **out, tacit_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat entry;
    if (fd < 0 || fstat(fd, &entry) != 0 || entry.st_size > MAX_PEM) {
        tacit_status status = tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: cannot be read: %s",
                                          path, fd < 0 ? strerror(errno) : "too large");
        if (fd >= 0)
            (void)close(fd);
        return status;
    }
    char *text = tacit__alloc((size_t)entry.st_size + 1, 1);
    ssize_t n = text != NULL ? read(fd, text, (size_t)entry.st_size) : -1;
    (void)close(fd);
    if (n != entry.st_size) {
        tacit__free(text);
        return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot be read", path);
    }
    *out = text;
    return TACIT_OK;
}

static gnutls_datum_t datum(char *text)
{
    return (gnutls_datum_t){.data = (unsigned char *)text, .size = (unsigned)strlen(text)};
}

static tacit_status read_chain(tacit__certificate *c, const char *path, tacit_error *err)
{
    char *text = NULL;
    unsigned n = MAX_CHAIN;
    TRY(read_pem(path, &text, err));
    tacit_status status = TACIT_OK;
    gnutls_datum_t pem = datum(text);
    int code = gnutls_pcert_list_import_x509_raw(c->chain, &n, &pem, GNUTLS_X509_FMT_PEM, 0);
    if (code < 0 || n == 0)
        status = tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: not a certificate in PEM format: %s",
                             path, code < 0 ? gnutls_strerror(code) : "it is empty");
    else
        c->n_chain = n;
    tacit__free(text);
    return status;
}

static tacit_status read_key(tacit__certificate *c, const char *path, tacit_error *err)
{
    char *text = NULL;
    TRY(read_pem(path, &text, err));
    tacit_status status = TACIT_OK;
    gnutls_datum_t pem = datum(text);
    int code = gnutls_privkey_init(&c->key);
    if (code >= 0)
        code = gnutls_privkey_import_x509_raw(c->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code < 0)
        status = tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: not a key in PEM format: %s", path,
                             gnutls_strerror(code));
    tacit__free_secret(text, strlen(text));
    return status;
}

static bool same_id(gnutls_pubkey_t a, gnutls_pubkey_t b)
{
    unsigned char first[MAX_ID], second[MAX_ID];
    size_t n = sizeof first, m = sizeof second;
    return gnutls_pubkey_get_key_id(a, 0, first, &n) >= 0 &&
           gnutls_pubkey_get_key_id(b, 0, second, &m) >= 0 && n == m &&
           memcmp(first, second, n) == 0;
}

/* Whether the public half of the key is that of the certificate. */
static bool belong_together(const tacit__certificate *c)
{
    gnutls_pubkey_t public = NULL;
    bool good = gnutls_pubkey_init(&public) >= 0 &&
                gnutls_pubkey_import_privkey(public, c->key, 0, 0) >= 0 &&
                same_id(public, c->chain[0].pubkey);
    if (public != NULL)
        gnutls_pubkey_deinit(public);
    return good;
}

tacit_status tacit__certificate_read(const char *chain, const char *key, tacit__certificate **out,
                                     tacit_error *err)
{
    TACIT__REQUIRE(chain != NULL && key != NULL);
    tacit__certificate *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    atomic_init(&c->owners, 1);
    tacit_status status = read_chain(c, chain, err);
    if (status == TACIT_OK)
        status = read_key(c, key, err);
    if (status == TACIT_OK && !belong_together(c))
        status =
            tacit__fail(err, TACIT_BAD_ARGUMENT,
                        "%.200s and %.200s: the certificate and the key do not match", chain, key);
    if (status != TACIT_OK) {
        tacit__certificate_release(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

tacit__certificate *tacit__certificate_acquire(tacit__certificate *c)
{
    TACIT__REQUIRE(c != NULL);
    atomic_fetch_add_explicit(&c->owners, 1, memory_order_relaxed);
    return c;
}

void tacit__certificate_release(tacit__certificate *c)
{
    if (c == NULL || atomic_fetch_sub_explicit(&c->owners, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; i < c->n_chain; i++)
        gnutls_pcert_deinit(&c->chain[i]);
    if (c->key != NULL)
        gnutls_privkey_deinit(c->key);
    tacit__free(c);
}

/* --- Handshakes --------------------------------------------------------------------------------- */

void tacit__certificate_attach(tacit__certificate *c, void *session)
{
    gnutls_session_set_ptr(session, c);
}

static int choose(gnutls_session_t session, const gnutls_datum_t *authorities, int n_authorities,
                  const gnutls_pk_algorithm_t *algorithms, int n_algorithms,
                  gnutls_pcert_st **chain, unsigned *n_chain, gnutls_privkey_t *key)
{
    (void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
    tacit__certificate *c = gnutls_session_get_ptr(session);
    if (c == NULL)
        return -1;
    *chain = c->chain;
    *n_chain = c->n_chain;
    *key = c->key;
    return 0;
}

void *tacit__certificate_callback(void)
{
    gnutls_certificate_retrieve_function2 *function = choose;
    void *out;
    _Static_assert(sizeof out == sizeof function, "options are pointers");
    memcpy(&out, &function, sizeof out);
    return out;
}

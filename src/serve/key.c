/* The key of the store: read from a file or a credential, created with a new store. See serve/key.h. */
#include "serve/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "noise/seal.h"

enum { MAX_PATH = TACIT__KEY_PATH, HEX = 2 * TACIT__KEY_BYTES };

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, uint8_t key[TACIT__KEY_BYTES])
{
    for (int i = 0; i < TACIT__KEY_BYTES; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

/* `others` are mode bits that must not be set. */
static tacit_status read_file(const char *path, int fd, mode_t others,
                              uint8_t key[TACIT__KEY_BYTES], tacit_error *err)
{
    char text[HEX + 2];
    struct stat entry;
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n<sizeof text; n += got> 0 ? (size_t)got : 0)
        got = read(fd, text + n, sizeof text - n);
    bool shared = fstat(fd, &entry) == 0 && S_ISREG(entry.st_mode) && (entry.st_mode & others) != 0;
    tacit_status status = TACIT_OK;
    if (shared)
        status = tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: other users can read this key; only its owner may "
                             "(chmod 600)",
                             path);
    else if (n == TACIT__KEY_BYTES)
        memcpy(key, text, TACIT__KEY_BYTES);
    else if (!((n == HEX || (n == HEX + 1 && text[HEX] == '\n')) && read_hex(text, key)))
        status = tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: expected a key of %d bytes, or %d hexadecimal digits", path,
                             TACIT__KEY_BYTES, HEX);
    tacit__wipe(text, sizeof text);
    return status;
}

static tacit_status write_new(const char *path, const uint8_t key[TACIT__KEY_BYTES],
                              tacit_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return tacit__fail(
            err, TACIT_SYSTEM,
            "%.200s: cannot create the store's key: %s; its directory must exist and "
            "be writable",
            path, strerror(errno));
    bool good = write(fd, key, TACIT__KEY_BYTES) == TACIT__KEY_BYTES && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    if (!good) {
        int reason = errno;
        (void)unlink(path);
        return tacit__fail(err, TACIT_SYSTEM, "%.200s: the store's key cannot be written: %s", path,
                           strerror(reason));
    }
    return TACIT_OK;
}

static tacit_status make_file(const char *path, uint8_t key[TACIT__KEY_BYTES], tacit_error *err)
{
    tacit__random_bytes(key, TACIT__KEY_BYTES);
    return write_new(path, key, err);
}

tacit_status tacit__key_read(const tacit__service_config *c, const char *credentials, bool may_make,
                             tacit__key *key, tacit_error *err)
{
    TACIT__REQUIRE(c != NULL && key != NULL);
    char beside[MAX_PATH], credential[MAX_PATH] = "";
    const char *paths[3] = {c->key, NULL, NULL};
    size_t n = 0;
    tacit__seal_start();
    (void)snprintf(beside, sizeof beside, "%s.key", c->beside);
    if (c->key != NULL) {
        n = 1;
    } else {
        if (credentials != NULL) {
            (void)snprintf(credential, sizeof credential, "%s/tacit-key", credentials);
            paths[n++] = credential;
        }
        paths[n++] = beside;
    }
    for (size_t i = 0; i < n; i++) {
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            /* systemd may let the service read its credential by an access list, which looks like a
             * group's right */
            mode_t others = paths[i] == credential ? 07 : 077;
            tacit_status status = read_file(paths[i], fd, others, key->bytes, err);
            (void)close(fd);
            key->lent = paths[i] == credential;
            (void)snprintf(key->path, sizeof key->path, "%s", paths[i]);
            return status;
        }
        if (errno != ENOENT || (c->key != NULL))
            return tacit__fail(
                err, TACIT_BAD_ARGUMENT, "%.200s: the key cannot be read: %s%s", paths[i],
                strerror(errno),
                errno == ENOENT && access(c->store, F_OK) != 0
                    ? "; create one with head -c 32 /dev/urandom, readable only by its owner, or "
                      "leave out `key`, and the key is created with the store"
                    : "");
    }
    if (tacit__vault_is_remote(c->store))
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "%.200s: there is no key; tacit store init creates it with the store, and all "
            "processes that serve from one database need the same key: copy it here",
            beside);
    struct stat entry;
    bool there = stat(c->store, &entry) == 0;
    if (there && S_ISDIR(entry.st_mode))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "%.200s: is a directory, expected a file for the store, such as "
                           "service.db",
                           c->store);
    if (there)
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "%.200s: the store exists, but its key does not, and nothing in the store "
            "can be read without it: restore the key, or use another store",
            beside);
    if (!may_make)
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "%.200s: there is no store yet; tacit serve or tacit token create creates "
            "it",
            c->store);
    key->lent = false;
    (void)snprintf(key->path, sizeof key->path, "%s", beside);
    return make_file(beside, key->bytes, err);
}

/* --- Keys and stores ------------------------------------------------------------------------------ */

tacit_status tacit__key_read_file(const char *path, uint8_t key[TACIT__KEY_BYTES], bool *there,
                                  tacit_error *err)
{
    TACIT__REQUIRE(path != NULL && there != NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *there = fd >= 0 || errno != ENOENT;
    if (fd < 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: the key cannot be read: %s", path,
                           strerror(errno));
    tacit_status status = read_file(path, fd, 077, key, err);
    (void)close(fd);
    return status;
}

tacit_status tacit__key_make(const char *path, uint8_t key[TACIT__KEY_BYTES], tacit_error *err)
{
    char part[MAX_PATH + 16];
    (void)snprintf(part, sizeof part, "%s.partial", path);
    (void)unlink(part); /* of one that was interrupted */
    TRY(make_file(part, key, err));
    return tacit__key_rename(part, path, err);
}

tacit_status tacit__key_write(const char *path, const uint8_t key[TACIT__KEY_BYTES],
                              tacit_error *err)
{
    (void)unlink(path); /* of one that was interrupted */
    return write_new(path, key, err);
}

tacit_status tacit__key_rename(const char *from, const char *to, tacit_error *err)
{
    char directory[MAX_PATH];
    const char *slash = strrchr(to, '/');
    (void)snprintf(directory, sizeof directory, "%.*s", slash == NULL ? 1 : (int)(slash - to) + 1,
                   slash == NULL ? "." : to);
    bool good = rename(from, to) == 0;
    int fd = good ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    good = good && fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int reason = errno;
    if (fd >= 0)
        (void)close(fd);
    return good ? TACIT_OK
                : tacit__fail(err, TACIT_SYSTEM, "%.200s: the key cannot be put in place: %s", to,
                              strerror(reason));
}

tacit_status tacit__key_check_old(const char *path, const uint8_t key[TACIT__KEY_BYTES],
                                  tacit_error *err)
{
    char old[MAX_PATH + 8];
    uint8_t bytes[TACIT__KEY_BYTES];
    bool there;
    (void)snprintf(old, sizeof old, "%s.old", path);
    const bool same = tacit__key_read_file(old, bytes, &there, NULL) == TACIT_OK &&
                      tacit__same_bytes(bytes, key, sizeof bytes);
    tacit__wipe(bytes, sizeof bytes);
    return !there || same ? TACIT_OK
                          : tacit__fail(err, TACIT_BAD_ARGUMENT,
                                        "%.200s: this is the key of an earlier change, and opens "
                                        "the backups of its time; move it to where those are, or "
                                        "remove it if there are none",
                                        old);
}

tacit_status tacit__key_replace(const char *path, tacit_error *err)
{
    char fresh[MAX_PATH + 8], old[MAX_PATH + 8], part[MAX_PATH + 16];
    uint8_t bytes[TACIT__KEY_BYTES];
    bool there;
    (void)snprintf(fresh, sizeof fresh, "%s.new", path);
    (void)snprintf(old, sizeof old, "%s.old", path);
    (void)snprintf(part, sizeof part, "%s.partial", old);
    tacit_status status = tacit__key_read_file(path, bytes, &there, err);
    if (status == TACIT_OK)
        status = tacit__key_write(part, bytes, err);
    tacit__wipe(bytes, sizeof bytes);
    if (status == TACIT_OK)
        status = tacit__key_rename(part, old, err);
    return status == TACIT_OK ? tacit__key_rename(fresh, path, err) : status;
}

/* Reads the new key of a change that was interrupted after the store had it and before it replaced the old
 * one. */
static tacit_status open_by_new(const tacit__service_config *c, tacit__vault_use use,
                                tacit__key *key, tacit__vault **out)
{
    char path[MAX_PATH + 8];
    uint8_t bytes[TACIT__KEY_BYTES];
    bool there;
    (void)snprintf(path, sizeof path, "%s.new", key->path);
    tacit_status status = tacit__key_read_file(path, bytes, &there, NULL);
    if (status == TACIT_OK)
        status = tacit__vault_open_at(&(tacit__vault_location){c->store, c->mark, c->unsafe, false},
                                      use, bytes, out, NULL);
    if (status == TACIT_OK) {
        memcpy(key->bytes, bytes, sizeof bytes);
        if (use == TACIT__VAULT_SERVE)
            status = tacit__key_replace(key->path, NULL);
    }
    tacit__wipe(bytes, sizeof bytes);
    return status;
}

tacit_status tacit__key_open(const tacit__service_config *c, const char *credentials, bool may_make,
                             tacit__vault_use use, tacit__key *key, tacit__vault **out,
                             tacit_error *err)
{
    TACIT__REQUIRE(out != NULL);
    tacit__vault *vault = NULL;
    tacit_status status = tacit__key_read(c, credentials, may_make, key, err);
    if (status == TACIT_OK)
        status = tacit__vault_open_at(&(tacit__vault_location){c->store, c->mark, c->unsafe, false},
                                      use, key->bytes, &vault, err);
    if (status == TACIT_WRONG_PLAN && open_by_new(c, use, key, &vault) == TACIT_OK)
        status = TACIT_OK;
    if (status == TACIT_OK)
        *out = vault;
    else
        tacit__vault_close(vault);
    return status;
}

/* The master key of a store. */
#ifndef TACIT_SERVE_KEY_H
#define TACIT_SERVE_KEY_H

#include <tacit/service.h>

#include "noise/stream.h"
#include "serve/config.h"
#include "store/vault/vault.h"

enum { TACIT__KEY_PATH = 4300 };

typedef struct tacit__key {
    uint8_t bytes[TACIT__KEY_BYTES];
    char path[TACIT__KEY_PATH]; /* the path of its file */
    bool lent;                  /* it is a credential, which the service manager changes */
} tacit__key;

/* Reads 32 bytes, raw or as 64 hexadecimal digits, from the file that the service file names, or from the
 * credential `tacit-key`, or from STORE.key. STORE.key is created, readable only by its owner, if neither it
 * nor the store exists. */
TACIT_MUST_USE tacit_status tacit__key_read(const tacit__service_config *config,
                                            const char *credentials, bool may_make, tacit__key *key,
                                            tacit_error *err);

/* Opens the store of a service with its key, or with KEY.new if a change of the key was interrupted. A
 * process that serves then puts KEY.new in place. */
TACIT_MUST_USE tacit_status tacit__key_open(const tacit__service_config *config,
                                            const char *credentials, bool may_make,
                                            tacit__vault_use use, tacit__key *key,
                                            tacit__vault **out, tacit_error *err);

/* Reads a key from a file. *there is false if there is no file. */
TACIT_MUST_USE tacit_status tacit__key_read_file(const char *path, uint8_t key[TACIT__KEY_BYTES],
                                                 bool *there, tacit_error *err);
/* Creates a new key in a file that only its owner can read, replacing what is there. The file appears when it
 * is complete and on disk. */
TACIT_MUST_USE tacit_status tacit__key_make(const char *path, uint8_t key[TACIT__KEY_BYTES],
                                            tacit_error *err);
/* Writes a key into a new file that only its owner can read. */
TACIT_MUST_USE tacit_status tacit__key_write(const char *path, const uint8_t key[TACIT__KEY_BYTES],
                                             tacit_error *err);
/* Puts KEY.new in the place of KEY, which stays as KEY.old: earlier backups need it. */
TACIT_MUST_USE tacit_status tacit__key_replace(const char *path, tacit_error *err);
/* BAD_ARGUMENT: there is a KEY.old of an earlier change, which `replace` would overwrite. */
TACIT_MUST_USE tacit_status tacit__key_check_old(const char *path,
                                                 const uint8_t key[TACIT__KEY_BYTES],
                                                 tacit_error *err);
/* Renames a file over another, and syncs that to disk. */
TACIT_MUST_USE tacit_status tacit__key_rename(const char *from, const char *to, tacit_error *err);

#endif

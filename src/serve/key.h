/* The master key of a store. */
#ifndef TACIT_SERVE_KEY_H
#define TACIT_SERVE_KEY_H

#include <tacit/service.h>

#include "noise/stream.h"
#include "serve/config.h"

/* Reads 32 bytes, raw or as 64 hexadecimal digits, from the file that the service file names, else from the credential
 * `tacit-key`, else from STORE.key. The last is made, for its owner alone, if there is neither it nor the store. */
TACIT_MUST_USE tacit_status tacit__key_read(const tacit__service_config *config,
                                            const char *credentials, bool may_make,
                                            uint8_t key[TACIT__KEY_BYTES], tacit_error *err);

#endif

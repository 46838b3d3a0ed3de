/* Service files: read whatever stands in them, or say why not. */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "serve/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tacit__service_config config;
    tacit_error err = {0};
    tacit_status status =
        tacit__service_config_parse((const char *)data, size, "fuzz/service.yaml", &config, &err);
    if (status == TACIT_OK) {
        if (config.n_learners == 0 || config.store == NULL)
            abort();
        tacit__service_config_free(&config);
    } else if (err.message[0] == '\0') {
        abort();
    }
    return 0;
}

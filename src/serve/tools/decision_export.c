/* Exports logged decisions, for the evaluation of other policies. See tacit/service.h and
 * serve/people/decision_log.h. */
#include <string.h>

#include <tacit/service.h>

#include "base/error.h"
#include "serve/config.h"
#include "serve/key.h"
#include "serve/people/decision_log.h"
#include "store/vault/vault_maintenance.h"

typedef struct writer {
    const tacit__service_config *config;
    tacit_line_fn *each;
    void *context;
} writer;

static const tacit__learner_config *find(const tacit__service_config *c, const char *name)
{
    for (size_t i = 0; i < c->n_learners; i++)
        if (strcmp(c->learners[i].name, name) == 0)
            return &c->learners[i];
    return NULL;
}

static tacit_status write_entry(void *context, int64_t number, const char *learner,
                                const uint8_t *data, size_t size, tacit_error *err)
{
    const writer *w = context;
    tacit__text text = {0};
    tacit_status status = TACIT_OK;
    if (!tacit__decision_log_write(data, size, number, learner, find(w->config, learner), &text))
        status = tacit__fail(err, TACIT_CORRUPT, "record %lld of decisions is damaged",
                             (long long)number);
    else if (text.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    else if (!w->each(w->context, text.data, text.length))
        status = tacit__fail(err, TACIT_SYSTEM, "the decisions could not be written");
    if (text.data != NULL)
        tacit__wipe(text.data, text.length);
    tacit__text_destroy(&text);
    return status;
}

/* An export of people's data leaves a note in the store first. If the note cannot be written, or is lost in a
 * crash, no data are exported. */
static tacit_status note_export(tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__vault_begin(vault, err));
    return tacit__vault_finish_transaction(
        vault, tacit__vault_add_event(vault, err, "the record of decisions was exported"), err);
}

tacit_status tacit_store_decisions(const tacit_service_options *options, tacit_line_fn *each,
                                   void *context, tacit_error *err)
{
    tacit__service_config config;
    tacit__vault *vault = NULL;
    tacit__key key;
    if (options == NULL || options->file == NULL || each == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(tacit__service_config_read(options->file, &config, err));
    tacit_status status =
        tacit__key_open(&config, options->credentials, false, TACIT__VAULT_TOOL, &key, &vault, err);
    writer w = {&config, each, context};
    if (status == TACIT_OK)
        status = note_export(vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_each_decision(vault, write_entry, &w, err);
    tacit__wipe(&key, sizeof key);
    tacit__vault_close(vault);
    tacit__service_config_free(&config);
    return status;
}

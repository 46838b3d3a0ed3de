/* Service files without a service: the requests from which the service creates its learners. */
#include <tacit/service.h>

#include "base/error.h"
#include "base/memory.h"
#include "serve/config.h"
#include "serve/config_person.h"
#include "serve/learner/warm.h"

struct tacit_service_file {
    tacit__service_config config;
    tacit_service_learner *learners;
    tacit__text promise;
};

bool tacit_service_is_file(const char *path)
{
    tacit__yaml *yaml = NULL;
    if (path == NULL || tacit__yaml_read(path, "a service file", &yaml, NULL) != TACIT_OK)
        return false;
    const tacit__node *root = tacit__yaml_root(yaml);
    bool is = root->kind == TACIT__MAP && tacit__node_get(root, "learners") != NULL;
    tacit__yaml_destroy(yaml);
    return is;
}

tacit_status tacit_service_file_read(const char *path, tacit_service_file **out, tacit_error *err)
{
    if (path == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_service_file *f = tacit__alloc(1, sizeof *f);
    if (f == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__service_config *c = &f->config;
    tacit_status status = tacit__service_config_read(path, c, err);
    if (status == TACIT_OK)
        status = tacit__service_config_open(c, err);
    if (status == TACIT_OK) {
        f->learners = tacit__alloc(c->n_learners, sizeof *f->learners);
        if (f->learners == NULL)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    if (status == TACIT_OK) {
        tacit__person_words(&c->person, NULL, &f->promise);
        if (f->promise.failed)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    for (size_t i = 0; status == TACIT_OK && i < c->n_learners; i++)
        f->learners[i] = (tacit_service_learner){.name = c->learners[i].name,
                                                 .kind = c->learners[i].kind,
                                                 .request = &c->learners[i].request,
                                                 .monitor = c->learners[i].monitor,
                                                 .together = c->learners[i].together,
                                                 .action_names = c->learners[i].action_names,
                                                 .context = c->learners[i].context.text,
                                                 .user_required = c->learners[i].user_required,
                                                 .log_decisions = c->learners[i].log_decisions,
                                                 .warm_start = c->learners[i].warm.file};
    if (status != TACIT_OK) {
        tacit_service_file_destroy(f);
        return status;
    }
    *out = f;
    return TACIT_OK;
}

void tacit_service_file_destroy(tacit_service_file *f)
{
    if (f == NULL)
        return;
    tacit__service_config_free(&f->config);
    tacit__text_destroy(&f->promise);
    tacit__free(f->learners);
    tacit__free(f);
}

size_t tacit_service_file_size(const tacit_service_file *f)
{
    return f->config.n_learners;
}

const tacit_service_learner *tacit_service_file_at(const tacit_service_file *f, size_t i)
{
    return &f->learners[i];
}

const tacit_service_person *tacit_service_file_person(const tacit_service_file *f)
{
    return &f->config.person;
}

const char *tacit_service_file_promise(const tacit_service_file *f)
{
    return f->promise.data;
}

tacit_status tacit_service_file_monitor(const tacit_service_file *f, size_t i, tacit_plan **out,
                                        tacit_error *err)
{
    tacit_noise *noise = NULL;
    tacit_status status = tacit_noise_create_from_os(&noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit__monitor_plan(&f->config.learners[i], noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}

tacit_status tacit_service_file_log(const tacit_service_file *f, size_t i, tacit_service_log *out,
                                    tacit_error *err)
{
    if (f == NULL || out == NULL || i >= f->config.n_learners ||
        f->config.learners[i].warm.file == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__warm_log log;
    bool there;
    const tacit__learner_config *c = &f->config.learners[i];
    tacit_status status = tacit__warm_log_open(&log, c, &there, err);
    if (status == TACIT_OK)
        status = tacit__warm_log_count(&log, out, err);
    if (status == TACIT_OK)
        status = tacit__warm_check_budget(c, out, 0, err);
    tacit__warm_log_close(&log);
    return status;
}

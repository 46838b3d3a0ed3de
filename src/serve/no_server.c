/* The service of a library that was built without libmicrohttpd: it says so. */
#include <tacit/service.h>

#include "base/error.h"

static tacit_status refuse(tacit_error *err)
{
    return tacit__fail(err, TACIT_UNSUPPORTED,
                       "this build has no server: libmicrohttpd was not there (libmicrohttpd-dev)");
}

tacit_status tacit_service_open(const tacit_service_options *options, tacit_service **out,
                                tacit_error *err)
{
    (void)options, (void)out;
    return refuse(err);
}

const char *tacit_service_url(const tacit_service *service)
{
    (void)service;
    return "";
}

tacit_status tacit_service_reload(tacit_service *service, tacit_error *err)
{
    (void)service;
    return refuse(err);
}

uint64_t tacit_service_drain(tacit_service *service)
{
    (void)service;
    return 0;
}

void tacit_service_close(tacit_service *service)
{
    (void)service;
}

char *tacit_service_reference(void)
{
    return NULL;
}

char *tacit_service_openapi(void)
{
    return NULL;
}

tacit_status tacit_token_create(const tacit_service_options *options,
                                const tacit_token_request *request, char token[TACIT_TOKEN_SIZE],
                                tacit_error *err)
{
    (void)options, (void)request, (void)token;
    return refuse(err);
}

tacit_status tacit_token_revoke(const tacit_service_options *options, const char *name,
                                tacit_error *err)
{
    (void)options, (void)name;
    return refuse(err);
}

tacit_status tacit_token_list(const tacit_service_options *options,
                              void (*each)(void *context, const tacit_token_facts *token),
                              void *context, tacit_error *err)
{
    (void)options, (void)each, (void)context;
    return refuse(err);
}

tacit_status tacit_store_check(const tacit_service_options *options, tacit_store_health *health,
                               tacit_error *err)
{
    (void)options, (void)health;
    return refuse(err);
}

tacit_status tacit_store_backup(const tacit_service_options *options, const char *path,
                                tacit_error *err)
{
    (void)options, (void)path;
    return refuse(err);
}

tacit_status tacit_store_export(const tacit_service_options *options, char **json, tacit_error *err)
{
    (void)options, (void)json;
    return refuse(err);
}

tacit_status tacit_store_adoption(const tacit_service_options *options, uint64_t *lives,
                                  void (*each)(void *context, const tacit_store_cost *cost),
                                  void *context, tacit_error *err)
{
    (void)options, (void)lives, (void)each, (void)context;
    return refuse(err);
}

tacit_status tacit_store_adopt(const tacit_service_options *options, tacit_error *err)
{
    (void)options;
    return refuse(err);
}

tacit_status tacit_store_rekey(const tacit_service_options *options, const char *new_key,
                               tacit_error *err)
{
    (void)options, (void)new_key;
    return refuse(err);
}

tacit_status tacit_store_init(const tacit_service_options *options, const char *as,
                              tacit_error *err)
{
    (void)options, (void)as;
    return refuse(err);
}

tacit_status tacit_store_move(const tacit_service_options *options, const char *from,
                              const char *as, tacit_error *err)
{
    (void)options, (void)from, (void)as;
    return refuse(err);
}

bool tacit_service_is_file(const char *path)
{
    (void)path;
    return false;
}

tacit_status tacit_service_file_read(const char *path, tacit_service_file **out, tacit_error *err)
{
    (void)path, (void)out;
    return refuse(err);
}

void tacit_service_file_destroy(tacit_service_file *file)
{
    (void)file;
}

size_t tacit_service_file_size(const tacit_service_file *file)
{
    (void)file;
    return 0;
}

const tacit_service_learner *tacit_service_file_at(const tacit_service_file *file, size_t i)
{
    (void)file, (void)i;
    return NULL;
}

const tacit_service_person *tacit_service_file_person(const tacit_service_file *file)
{
    (void)file;
    return NULL;
}

const char *tacit_service_file_promise(const tacit_service_file *file)
{
    (void)file;
    return NULL;
}

tacit_status tacit_service_file_monitor(const tacit_service_file *file, size_t i, tacit_plan **out,
                                        tacit_error *err)
{
    (void)file, (void)i, (void)out;
    return refuse(err);
}

tacit_status tacit_service_file_log(const tacit_service_file *file, size_t i,
                                    tacit_service_log *out, tacit_error *err)
{
    (void)file, (void)i, (void)out;
    return refuse(err);
}

tacit_status tacit_store_decisions(const tacit_service_options *options, tacit_line_fn *each,
                                   void *context, tacit_error *err)
{
    (void)options, (void)each, (void)context;
    return refuse(err);
}

tacit_status tacit_store_events(const tacit_service_options *options,
                                void (*each)(void *context, int64_t at, const char *what),
                                void *context, tacit_error *err)
{
    (void)options, (void)each, (void)context;
    return refuse(err);
}

/* tacit serve: the decision service, until a signal. */
#include <errno.h>
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <tacit/service.h>

#include "cli/cli.h"
#include "cli/notify.h"
#include "cli/options.h"

typedef struct serve_options {
    const char *file;
    bool check, reference, openapi;
} serve_options;

static const tacit__field option_fields[] = {
    {"check", TACIT__FIELD_FLAG, offsetof(serve_options, check),
     .help = "read FILE.yaml with its tables and logs, say what one person pays for everything,\n"
             "and count the users of the logs; nothing is opened or written"},
    {"reference", TACIT__FIELD_FLAG, offsetof(serve_options, reference),
     .help = "print the HTTP reference (docs/reference/http.md)"},
    {"openapi", TACIT__FIELD_FLAG, offsetof(serve_options, openapi),
     .help = "print the same as OpenAPI 3.1, for client generators"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit serve FILE.yaml [--check]\n"
    "       tacit serve --reference | --openapi\n"
    "\n"
    "Serves decisions over HTTP, learns from their outcomes, and keeps the privacy guarantee that\n"
    "FILE.yaml states. Creates the store if it does not exist.\n"
    "\n",
    "\n"
    "On SIGTERM or SIGINT the server finishes the requests in progress and exits with 0. If\n"
    "another server takes over the store, it says so and exits with 3. SIGHUP reads tokens and\n"
    "the certificate again. The store's key comes from the file that `key` names, from the "
    "systemd\n"
    "credential tacit-key, or from STORE.key, which is created with a new store. If NOTIFY_SOCKET\n"
    "is set, the server tells the service manager when it serves, reloads and stops.\n"
    "\n"
    "example:\n"
    "  tacit token create examples/service/service.yaml --name web --scopes decide,observe\n"
    "  tacit serve examples/service/service.yaml\n",
    option_fields};

static void say(void *context, const char *line)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", line);
}

/* Takes the text. */
static int print_text(char *text)
{
    if (text == NULL)
        return cli_failed(TACIT_UNSUPPORTED, NULL);
    (void)fputs(text, stdout);
    free(text);
    return CLI_DONE;
}

/* --- Signals ------------------------------------------------------------------------------------ */

/* A signal may interrupt any thread, including threads that libraries started before main and that block
 * no signals. So a handler is installed from the start, and it wakes the thread that waits. */
static sem_t caught;
static atomic_bool wants_stop, wants_reload; /* without locks, so a handler may */

static void on_signal(int number)
{
    int kept = errno;
    atomic_store(number == SIGHUP ? &wants_reload : &wants_stop, true);
    (void)sem_post(&caught);
    errno = kept;
}

static atomic_bool is_fenced;

static void on_fenced(void *context)
{
    (void)context;
    atomic_store(&is_fenced, true);
    atomic_store(&wants_stop, true);
    (void)sem_post(&caught);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sem_init(&caught, 0, 0);
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)sigaction(numbers[i], &action, NULL);
    /* other programs rotate logs or print figures on these signals; ours ignores them rather than end */
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGUSR2, &action, NULL);
}

/* --- Service ------------------------------------------------------------------------------------ */

/* Sends `state` to the service manager, and `status` for people who ask it how the service is. */
static void notify_state(const char *state, const char *status, const char *more)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "%sSTATUS=%s%s", state, status, more);
    cli_notify(text);
}

/* Every connection is a file. The soft limit is for programs that use select(), which the service does
 * not. */
static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

/* By default glibc returns memory above 128 KiB to the system as soon as it is free. A request with a long
 * context needs more, and every such request would wait for pages again. Stated choices: what a body of
 * limits.body may need, for each thread. */
static void keep_freed_memory(void)
{
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
    enum { KEPT = 4 << 20, APART = 1 << 20 };
    (void)mallopt(M_TRIM_THRESHOLD, KEPT);
    (void)mallopt(M_MMAP_THRESHOLD, APART);
#endif
}

/* Until load balancers have turned to other front ends, or another signal comes. */
static void wait_for_others(uint64_t seconds)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until); /* as sem_timedwait wants it */
    until.tv_sec += (time_t)seconds;
    while (sem_trywait(&caught) == 0) /* the signals so far */
        ;
    atomic_store(&wants_stop, false);
    while (seconds > 0 && !atomic_load(&wants_stop))
        if (sem_timedwait(&caught, &until) != 0 && errno == ETIMEDOUT)
            break;
}

static int serve(const char *file)
{
    const tacit_service_options wanted = {.file = file,
                                          .credentials = getenv("CREDENTIALS_DIRECTORY"),
                                          .log = say,
                                          .fenced = on_fenced};
    tacit_error err = {0};
    tacit_service *service = NULL;
    cli_keep_memory_private();
    raise_file_limit();
    keep_freed_memory();
    catch_signals();
    tacit_status status = tacit_service_open(&wanted, &service, &err);
    if (status != TACIT_OK) {
        notify_state("", err.message, "");
        return cli_failed(status, &err);
    }
    char serving[160];
    (void)snprintf(serving, sizeof serving, "serving on %s", tacit_service_url(service));
    (void)puts(serving);
    (void)fflush(stdout);
    notify_state("READY=1\n", serving, "");
    while (!atomic_load(&wants_stop)) {
        if (!atomic_exchange(&wants_reload, false)) {
            (void)sem_wait(&caught); /* or interrupted, which is as good */
            continue;
        }
        cli_notify_reloading();
        status = tacit_service_reload(service, &err);
        notify_state("READY=1\n", serving, status == TACIT_OK ? "" : "; the last reload failed");
    }
    const bool fenced = atomic_load(&is_fenced);
    cli_notify("STOPPING=1");
    if (!fenced)
        wait_for_others(tacit_service_drain(service));
    tacit_service_close(service);
    return fenced ? CLI_SYSTEM : CLI_DONE;
}

/* --- Checking ----------------------------------------------------------------------------------- */

static tacit_status check_learner(const tacit_service_file *f, size_t i, tacit_error *err)
{
    const tacit_service_learner *l = tacit_service_file_at(f, i);
    const unsigned long long limit = l->request->episodes;
    tacit_service_log log;
    if (l->warm_start == NULL) {
        (void)printf("%s: %s, %llu users\n", l->name, l->kind, limit);
        return TACIT_OK;
    }
    tacit_status status = tacit_service_file_log(f, i, &log, err);
    if (status == TACIT_OK)
        (void)printf(
            "%s: %s, %llu users; warm start: %s has %llu rows of %llu people, and the learner "
            "learns from %llu of the rows; %llu users are left for people who come\n",
            l->name, l->kind, limit, l->warm_start, (unsigned long long)log.rows,
            (unsigned long long)log.people, (unsigned long long)log.users, limit - log.users);
    return status;
}

static int check(const char *path)
{
    tacit_error err = {0};
    tacit_service_file *file = NULL;
    tacit_status status = tacit_service_file_read(path, &file, &err);
    if (status == TACIT_OK) {
        const char *promise = tacit_service_file_promise(file);
        (void)printf("%.*s\n", (int)strcspn(promise, "\n"), promise);
    }
    for (size_t i = 0; status == TACIT_OK && i < tacit_service_file_size(file); i++)
        status = check_learner(file, i, &err);
    tacit_service_file_destroy(file);
    return status == TACIT_OK ? CLI_DONE : cli_failed(status, &err);
}

int cli_serve(int argc, char **argv)
{
    serve_options o = {0};
    int code = cli_read_options(argc, argv, &form, &o, NULL);
    if (code != CLI_DONE)
        return code;
    if (o.reference)
        return print_text(tacit_service_reference());
    if (o.openapi)
        return print_text(tacit_service_openapi());
    code = cli_read_argument(argc, argv, "no service is given, expected FILE.yaml", "service",
                             &o.file);
    return code != CLI_DONE ? code : o.check ? check(o.file) : serve(o.file);
}

/* The service as systemd runs it: its key is a credential, and it tells how far it is. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/check.h"
#include "support/server.h"

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 1000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";

static char answer[SERVER_ANSWER];

/* --- The credential ----------------------------------------------------------------------------- */

/* DIRECTORY/NAME with the key in it, as systemd makes them: nobody may write. */
static void make_credential(const server *s, const char *name, uint8_t first, mode_t mode,
                            char variable[400])
{
    uint8_t key[32] = {first};
    const char *path = fmt("%s/%s", s->directory, name);
    const char *file = fmt("%s/tacit-key", path);
    (void)snprintf(variable, 400, "CREDENTIALS_DIRECTORY=%s", path);
    assert_int_equal(mkdir(path, 0700), 0);
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, key, sizeof key) == (ssize_t)sizeof key);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(chmod(path, 0500), 0);
}

static void count(const server *s, double wanted)
{
    assert_int_equal(server_get(s, "/v1/ledger?learner=arms", answer), 200);
    assert_true(json_number(answer, "accepted") == wanted);
}

TEST(the_credential_opens_the_store_and_no_other_key_is_made)
{
    SCOPED_BY(server_close) server s;
    int code = 0;
    char variable[400], other[400], listed[400], open[400], decision[1024];
    server_open(&s, TACIT_COMMAND, yaml);
    make_credential(&s, "credentials", 1, 0400, variable);
    make_credential(&s, "others", 2, 0400, other);
    make_credential(&s, "listed", 1, 0440, listed); /* by an access list, which looks like this */
    make_credential(&s, "open", 1, 0444, open);
    (void)putenv(variable); /* for `tacit token` */
    server_token(&s, "all", "admin", s.token);
    s.environment[s.n_environment++] = variable;
    assert_true(server_start(&s, NULL));
    const char *path = fmt("%s.key", s.store);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(server_post(&s, "/v1/decide", "{\"state\":0}", answer), 200);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    assert_int_equal(
        server_post(&s, "/v1/observe", fmt("{\"decision\":\"%s\",\"reward\":1}", decision), answer),
        200);
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    s.environment[0] = listed;
    assert_true(server_start(&s, NULL));
    count(&s, 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    s.environment[0] = other;
    assert_false(server_start(&s, &code));
    assert_int_equal(code, 2);
    s.environment[0] = open; /* everybody may read it */
    assert_false(server_start(&s, &code));
    assert_int_equal(code, 2);
    s.environment[0] = "CREDENTIALS_DIRECTORY=/nowhere";
    assert_false(server_start(&s, &code)); /* and no key is made for a store that has one */
    assert_int_equal(code, 2);
    assert_int_not_equal(access(path, F_OK), 0);
    s.environment[0] = variable;
    assert_true(server_start(&s, NULL));
    count(&s, 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
    assert_shell("chmod -R u+rwX '%s'", s.directory);
}

/* --- What the manager hears --------------------------------------------------------------------- */

static int listen_at(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    assert_true(n < sizeof at.sun_path);
    memcpy(at.sun_path, name, n);
    if (name[0] == '@')
        at.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(
        bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
        0);
    return fd;
}

static void assert_heard(int fd, const char *wanted)
{
    char text[256];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 20000), 1);
    ssize_t n = recv(fd, text, sizeof text - 1, 0);
    assert_true(n > 0);
    text[n] = '\0';
    if (strncmp(text, wanted, strlen(wanted)) != 0)
        fail_msg("heard '%s', expected '%s'", text, wanted);
}

TEST(the_manager_hears_when_it_serves_reloads_and_stops)
{
    for (int i = 0; i < 2; i++) {
        SCOPED_BY(server_close) server s;
        char name[300];
        server_open(&s, TACIT_COMMAND, yaml);
        if (i == 0)
            (void)snprintf(name, sizeof name, "%.60s/notify", s.directory);
        else
            (void)snprintf(name, sizeof name, "@tacit-test-notify-%d", (int)getpid());
        const char *variable = fmt("NOTIFY_SOCKET=%s", name);
        int fd = listen_at(name);
        s.environment[s.n_environment++] = variable;
        assert_true(server_start(&s, NULL));
        assert_heard(fd, "READY=1\nSTATUS=serving on http://127.0.0.1:");
        assert_int_equal(kill(s.pid, SIGHUP), 0);
        assert_heard(fd, "RELOADING=1\nMONOTONIC_USEC=");
        assert_heard(fd, "READY=1\nSTATUS=serving on http://127.0.0.1:");
        assert_int_equal(server_stop(&s, SIGTERM), 0);
        assert_heard(fd, "STOPPING=1");
        (void)close(fd);
    }
}

/* Whatever the service is doing just then: a signal is neither lost nor deadly. */
TEST(signals_are_heard_at_any_moment)
{
    SCOPED_BY(server_close) server s;
    server_open(&s, TACIT_COMMAND, yaml);
    for (int i = 0; i < 12; i++) {
        assert_true(server_start(&s, NULL));
        for (int n = 0; n < i; n++)
            assert_int_equal(kill(s.pid, SIGHUP), 0);
        assert_int_equal(server_stop(&s, i % 2 == 0 ? SIGTERM : SIGINT), 0);
    }
}

TEST(a_manager_that_is_not_there_does_no_harm)
{
    static const char *const names[] = {"NOTIFY_SOCKET=/nowhere/at/all",
                                        "NOTIFY_SOCKET=", "NOTIFY_SOCKET=relative",
                                        "NOTIFY_SOCKET=@"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SCOPED_BY(server_close) server s;
        server_open(&s, TACIT_COMMAND, yaml);
        s.environment[s.n_environment++] = names[i];
        assert_true(server_start(&s, NULL));
        assert_int_equal(server_ask(&s, "", "GET", "/healthz", NULL, NULL, answer), 200);
        assert_int_equal(server_stop(&s, SIGTERM), 0);
    }
}

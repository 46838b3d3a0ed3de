/* The service over TLS, and certificates that change while it runs. Skipped where there is no openssl command. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/plain.h"

static void make_certificate(const server *s, const char *name)
{
    assert_shell("cd '%s' && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=%s "
                 "-keyout key.pem -out cert.pem 2>/dev/null",
                 s->directory, name);
}

/* The name on the certificate that the server shows, and what /healthz answers over TLS. */
static void look_at(const server *s, char *name, size_t size, char *health, size_t health_size)
{
    FILE *pipe = popen(
        fmt("printf 'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' | "
            "timeout 60 openssl s_client -ign_eof -connect 127.0.0.1:%u 2>&1",
            s->port),
        "r");
    static char text[SERVER_ANSWER];
    size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    (void)pclose(pipe);
    const char *at = strstr(text, "CN = "), *body = strstr(text, "HTTP/1.1 ");
    (void)snprintf(name, size, "%.*s", at != NULL ? (int)strcspn(at + 5, "\n") : 0,
                   at != NULL ? at + 5 : "");
    (void)snprintf(health, health_size, "%.*s", body != NULL ? 12 : 0, body != NULL ? body : "");
}

/* Whether the server shows this name, and answers. */
static bool shows(const server *s, const char *wanted, char name[64], char health[32])
{
    look_at(s, name, 64, health, 32);
    return strcmp(name, wanted) == 0 && strcmp(health, "HTTP/1.1 200") == 0;
}

static void wait_for(const server *s, const char *text)
{
    await(file_has(s->directory, text));
}

TEST(tls_speaks_with_its_certificate_and_takes_a_new_one)
{
    if (system("command -v openssl >/dev/null") != 0)
        skip();
    SCOPED_BY(end) server s;
    char name[64], health[32];
    server_open(&s, TACIT_COMMAND, fmt("tls: {certificate: cert.pem, key: key.pem}\n%s", plain));
    int code = 0;
    assert_false(server_start(&s, &code)); /* there is none yet */
    assert_int_equal(code, 2);
    make_certificate(&s, "first");
    assert_true(server_start(&s, NULL));
    assert_true(strncmp(s.url, "https://", 8) == 0);
    look_at(&s, name, sizeof name, health, sizeof health);
    assert_string_equal(name, "first");
    assert_string_equal(health, "HTTP/1.1 200");
    assert_int_not_equal(server_ask(&s, "", "GET", "/healthz", NULL, NULL, answer),
                         200); /* not in the clear */
    make_certificate(&s, "second");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_until(shows(&s, "second", name, health));
    assert_string_equal(name, "second");
    assert_string_equal(health, "HTTP/1.1 200");
    /* one that does not work is not taken */
    assert_shell("cd '%s' && echo nonsense >cert.pem", s.directory);
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_for(&s, "not a certificate in PEM format");
    look_at(&s, name, sizeof name, health, sizeof health);
    assert_string_equal(name, "second");
    assert_string_equal(health, "HTTP/1.1 200");
    /* neither is the key of another */
    make_certificate(&s, "third");
    assert_shell("cd '%s' && openssl genrsa -out key.pem 2048 2>/dev/null", s.directory);
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_for(&s, "do not match");
    look_at(&s, name, sizeof name, health, sizeof health);
    assert_string_equal(name, "second");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_false(server_start(&s, &code)); /* nor to begin with */
    assert_int_equal(code, 2);
}

/* How often a text stands in DIRECTORY/talk. */
static int heard(const server *s, const char *wanted)
{
    static char text[SERVER_ANSWER];
    FILE *file = fopen(fmt("%s/talk", s->directory), "r");
    size_t n = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    int times = 0;
    text[n] = '\0';
    if (file != NULL)
        (void)fclose(file);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at += strlen(wanted))
        times++;
    return times;
}

TEST(a_new_certificate_closes_no_connection)
{
    if (system("command -v openssl >/dev/null") != 0)
        skip();
    static const char yaml[] =
        "listen: 127.0.0.1:0\n"
        "store: service.db\n"
        "limits: {timeout: 600}\n"
        "tls: {certificate: cert.pem, key: key.pem}\n"
        "learners: [{name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100, agent: "
        "{kind: ucbvi, privacy: {model: none}}}]\n";
    SCOPED_BY(end) server s;
    char name[64] = "", health[32];
    server_open(&s, TACIT_COMMAND, yaml);
    make_certificate(&s, "first");
    assert_true(server_start(&s, NULL));
    /* one connection: a request, then another when we say so */
    assert_shell(
        "cd '%s' && exec 2>/dev/null && { printf 'GET /healthz HTTP/1.1\\r\\nHost: "
        "x\\r\\n\\r\\n'; "
        "while [ -e service.yaml ] && kill -0 %d && [ ! -e go ]; do sleep 0.05; done; "
        "printf 'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'; } | "
        "timeout 600 openssl s_client -ign_eof -connect 127.0.0.1:%u >talk 2>&1 &",
        s.directory, (int)s.pid, s.port);
    wait_until(heard(&s, "HTTP/1.1 200") >= 1);
    assert_int_equal(heard(&s, "HTTP/1.1 200"), 1);
    assert_true(heard(&s, "CN = first") > 0);
    for (int round = 0; round < 3; round++) { /* several, the last of them "new2" */
        const char *wanted = fmt("new%d", round);
        make_certificate(&s, wanted);
        assert_int_equal(kill(s.pid, SIGHUP), 0);
        wait_until(shows(&s, wanted, name, health));
        assert_string_equal(name, wanted);
        assert_string_equal(health, "HTTP/1.1 200");
    }
    assert_shell("touch '%s/go'", s.directory);
    wait_until(heard(&s, "HTTP/1.1 200") >= 2);
    assert_int_equal(heard(&s, "HTTP/1.1 200"), 2); /* on the connection of the first certificate */
    assert_int_equal(heard(&s, "CN = new"), 0);
}

/* What openssl says of a handshake with this version, which it is made to offer whatever its own policy is. */
static bool shakes_hands(const server *s, const char *version)
{
    return shell("timeout 60 openssl s_client -connect 127.0.0.1:%u %s -cipher "
                 "'ALL:@SECLEVEL=0' </dev/null 2>/dev/null | grep -q 'Cipher is [^(]'",
                 s->port, version) == 0;
}

TEST(old_versions_are_not_spoken)
{
    if (system("command -v openssl >/dev/null") != 0)
        skip();
    SCOPED_BY(end) server s;
    server_open(&s, TACIT_COMMAND, fmt("tls: {certificate: cert.pem, key: key.pem}\n%s", plain));
    make_certificate(&s, "first");
    assert_true(server_start(&s, NULL));
    assert_true(shakes_hands(&s, "-tls1_3"));
    assert_true(shakes_hands(&s, "-tls1_2"));
    assert_false(shakes_hands(&s, "-tls1_1"));
    assert_false(shakes_hands(&s, "-tls1"));
}

TEST(speaking_in_the_clear_to_others_is_remarked)
{
    SERVER(s, plain);
    assert_false(file_has(s.directory, "without TLS"));
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    const char *yaml = fmt("%s", plain);
    memcpy(strstr(yaml, "127.0.0.1:0"), "0.0.0.0:0  ", 11);
    server_rewrite(&s, yaml);
    assert_true(server_start(&s, NULL));
    assert_true(file_has(s.directory, "listening on 0.0.0.0 without TLS"));
}

/* Somebody who goes on for ever, a byte at a time, in the handshake (its first record) and in a head. */
TEST(drops_over_tls_are_cut_off)
{
    if (system("command -v openssl >/dev/null") != 0)
        skip();
    static const char yaml[] =
        "listen: 127.0.0.1:0\n"
        "store: service.db\n"
        "limits: {timeout: 1}\n"
        "tls: {certificate: cert.pem, key: key.pem}\n"
        "learners: [{name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100, agent: "
        "{kind: ucbvi, privacy: {model: none}}}]\n";
    SCOPED_BY(end) server s;
    char command[700], name[64], health[32], byte = 1;
    server_open(&s, TACIT_COMMAND, yaml);
    make_certificate(&s, "first");
    assert_true(server_start(&s, NULL));
    int fd = server_connect(&s);
    server_say(fd, "\x16\x03\x01\x20\x00\x01\x00\x1f\xfc\x03\x03", 11); /* 8 KiB are to come */
    int turn = 0;
    ssize_t n = -1;
    wait_until(
        (++turn % 10 == 0 ? (void)send(fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) : (void)0,
         (n = recv(fd, health, sizeof health, MSG_DONTWAIT)) == 0 || (n < 0 && errno != EAGAIN)));
    assert_true(n == 0 || (n < 0 && errno != EAGAIN));
    (void)close(fd);
    /* s_client ends when the server does; 124 is the end of our patience */
    (void)snprintf(command, sizeof command,
                   "cd '%s' && { printf 'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nX-Drops: '; "
                   "while [ -e service.yaml ] && printf z; do sleep 0.1; done 2>/dev/null; } | "
                   "timeout 120 openssl s_client -quiet -connect 127.0.0.1:%u >talk 2>&1",
                   s.directory, s.port);
    int code = 0; /* again, if it has not got through the handshake in time */
    wait_until((code = system(command), heard(&s, "CN = first") > 0));
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) != 124);
    assert_true(heard(&s, "CN = first") > 0);
    assert_int_equal(heard(&s, "HTTP/1.1"), 0);
    wait_until(shows(&s, "first", name, health)); /* and others are served */
    assert_string_equal(health, "HTTP/1.1 200");
}

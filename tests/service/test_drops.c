/* Clients that never fall silent and never come to an end: a byte now and then. None keeps its place for longer than the limits say,
 * wherever in a request it is. A slow machine only makes them end sooner, by the limit for silence. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/plain.h"

enum { DROP_EVERY = 10 }; /* times 10 ms: two minutes of drops do not fill a head */

static const char crowded[] = "listen: 127.0.0.1:0\n"
                              "store: service.db\n"
                              "threads: 1\n"
                              "limits: {timeout: 1, connections: 10, per_address: 0, body: 16000}\n"
                              "learners: [{name: arms, space: {states: 3, actions: 4, horizon: 1},"
                              " users: 100, agent: " JOINT "}]\n";

static bool was_closed(int fd)
{
    char text[4096];
    ssize_t n;
    do
        n = recv(fd, text, sizeof text, MSG_DONTWAIT); /* what it was answered before */
    while (n > 0);
    return n == 0 || errno != EAGAIN;
}

/* Where in a request it becomes slow, and what it goes on with. @ stands for a token. */
typedef struct way {
    bool kept; /* after a request that was answered */
    const char *text, *byte;
} way;

static const way ways[] = {
    {false, "", "\n"}, /* empty lines before a request are skipped */
    {false, "GET /health", "z"},
    {false, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Drops: ", "z"},
    {true, "", "\n"},
    {true, "GET /health", "z"},
    {true, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Drops: ", "z"},
    {false, "@Content-Length: 16000\r\n\r\n{", " "},
    {true, "@Content-Length: 16000\r\n\r\n{", " "},
    {false, "@Transfer-Encoding: chunked\r\n\r\n3e80\r\n{", " "},
    {false, "@Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX-Drops: ", "z"},
};

enum { WAYS = sizeof ways / sizeof *ways };

/* One more byte on each of them that is still there; how many those are. */
static int drop(const int fd[WAYS])
{
    static int turn;
    int there = 0;
    turn++;
    for (int i = 0; i < WAYS; i++) {
        if (was_closed(fd[i]))
            continue;
        there++;
        if (turn % DROP_EVERY == 0)
            (void)send(fd[i], ways[i].byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return there;
}

static int begin_to_ask(const server *s, const way *w)
{
    char text[512] = "";
    int fd = -1;
    if (w->kept)
        wait_until(server_talk(s, &fd, "GET", "/healthz", NULL, NULL, answer) == 200);
    else
        fd = server_connect(s);
    assert_true(fd >= 0);
    if (w->text[0] == '@')
        (void)snprintf(text, sizeof text,
                       "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s",
                       s->token, w->text + 1);
    else
        (void)snprintf(text, sizeof text, "%s", w->text);
    (void)send(fd, text, strlen(text), MSG_NOSIGNAL);
    return fd;
}

TEST(who_sends_drops_is_sent_away_wherever_in_a_request)
{
    int fd[WAYS], there = WAYS;
    SERVER(s, crowded);
    for (int i = 0; i < WAYS; i++)
        fd[i] = begin_to_ask(&s, &ways[i]);
    wait_until((there = drop(fd)) == 0);
    for (int i = 0; i < WAYS; i++)
        if (!was_closed(fd[i]))
            fail_msg("still there: %d, '%s'", i, ways[i].text);
    assert_int_equal(there, 0);
    for (int i = 0; i < WAYS; i++)
        (void)close(fd[i]);
}

/* The status of a question while the drops go on; 503: there is no room yet. */
static int ask_beside(const server *s, int fd[WAYS])
{
    static const char question[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    int other = server_connect(s), status = 0;
    server_say(other, question, sizeof question - 1);
    answer[0] = '\0';
    wait_until(((void)drop(fd), recv(other, answer, 13, MSG_DONTWAIT) == 13));
    assert_int_equal(sscanf(answer, "HTTP/1.1 %d", &status), 1);
    (void)close(other);
    return status;
}

/* All places are taken by such clients. Somebody else may be told that there is no room, and is served all the
 * same, while they go on. */
TEST(drops_on_all_connections_keep_nobody_out)
{
    int fd[WAYS], status = 503;
    SERVER(s, crowded);
    for (int i = 0; i < WAYS; i++)
        fd[i] = begin_to_ask(&s, &ways[i % 3]);
    for (int tries = 0; status == 503 && tries < 10000; tries++)
        status = ask_beside(&s, fd);
    assert_int_equal(status, 200);
    for (int i = 0; i < WAYS; i++)
        (void)close(fd[i]);
}

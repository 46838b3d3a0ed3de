#include "support/proxy.h"

#ifdef TACIT_HAS_POSTGRES
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/check.h"

enum { LOOK_MS = 10, ROOM = 1 << 16 };

/* What is to become of a link, by another thread's word. */
typedef enum order { GO_ON, RESET, HALF_OPEN } order;

typedef struct proxy_link {
    proxy *owner;
    int client, server; /* -1: closed */
    atomic_int order;
    bool mute;    /* frozen for good, whatever the proxy is */
    bool held;    /* its bytes wait until the proxy thaws */
    bool swallow; /* the answer to a commit is not passed on; then `after` */
    proxy_trap after;
    bool logged_in;
    atomic_bool is[PROXY_EVERYBODY];
    pthread_t thread;
    struct proxy_link *next;
} proxy_link;

static void shut(int *fd, bool reset)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    if (*fd < 0)
        return;
    if (reset)
        (void)setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    (void)close(*fd);
    *fd = -1;
}

static void cut(proxy_link *l)
{
    shut(&l->client, true);
    shut(&l->server, true);
}

static bool pass_on(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static bool is_still(const proxy_link *l)
{
    return l->mute || atomic_load(&l->owner->frozen) ||
           (l->logged_in && atomic_load(&l->owner->mute_after));
}

/* Waits while the proxy is frozen. False: it is over. */
static bool await_thaw(proxy_link *l)
{
    while (is_still(l) || l->held) {
        if (atomic_load(&l->owner->stop) || atomic_load(&l->order) != GO_ON)
            return false;
        l->held = l->held && atomic_load(&l->owner->frozen);
        (void)poll(NULL, 0, LOOK_MS);
    }
    return true;
}

/* Springs the trap, if these bytes of the client's have a COMMIT. True: they are dealt with. */
static bool spring(proxy_link *l, const char *bytes, size_t size)
{
    static const char word[] = "COMMIT"; /* with the zero that ends it in a message */
    int trap = atomic_load(&l->owner->trap);
    const char *found = trap != PROXY_NO_TRAP ? memmem(bytes, size, word, sizeof word) : NULL;
    if (found == NULL || !atomic_compare_exchange_strong(&l->owner->trap, &trap, PROXY_NO_TRAP))
        return false;
    if (trap == PROXY_CUT_WITHIN)
        (void)pass_on(l->server, bytes, (size_t)(found - bytes) + 3);
    if (trap == PROXY_CUT_BEFORE || trap == PROXY_CUT_WITHIN) {
        cut(l);
    } else if (trap == PROXY_LATE) {
        atomic_store(&l->owner->frozen, true);
        atomic_fetch_add(&l->owner->sprung, 1);
        l->held = true;
        return await_thaw(l) ? !pass_on(l->server, bytes, size) : true;
    } else {
        (void)pass_on(l->server, bytes, size);
        l->swallow = true;
        l->after = (proxy_trap)trap;
    }
    atomic_fetch_add(&l->owner->sprung, 1);
    return true;
}

/* What came from the server, if it is to be lost. */
static bool lose(proxy_link *l)
{
    if (!l->swallow)
        return false;
    if (l->after == PROXY_CUT_AFTER)
        cut(l);
    else
        l->mute = true;
    return true;
}

/* By the statements that it sends. */
static void recognize(proxy_link *l, const char *bytes, size_t size)
{
    static const char *const words[] = {
        [PROXY_LISTENER] = "LISTEN tacit", [PROXY_READER] = "SELECT number, data FROM input"};
    for (size_t i = 0; i < PROXY_EVERYBODY; i++)
        if (memmem(bytes, size, words[i], strlen(words[i])) != NULL)
            atomic_store(&l->is[i], true);
}

/* Some bytes of one side to the other. False: the end. */
static bool move(proxy_link *l, bool to_server, char *room)
{
    const ssize_t n = recv(to_server ? l->client : l->server, room, ROOM, 0);
    if (n <= 0)
        return false;
    if (!await_thaw(l))
        return false;
    if (to_server) {
        recognize(l, room, (size_t)n);
        return spring(l, room, (size_t)n) || pass_on(l->server, room, (size_t)n);
    }
    /* the server is ready for queries: the last bytes are Z, a length of 5, and the state */
    l->logged_in = l->logged_in || (n >= 6 && room[n - 6] == 'Z' && room[n - 1] == 'I');
    return lose(l) || pass_on(l->client, room, (size_t)n);
}

static void obey(proxy_link *l)
{
    const int what = atomic_exchange(&l->order, GO_ON);
    if (what == RESET)
        cut(l);
    if (what == HALF_OPEN) {
        shut(&l->server, false);
        l->mute = true;
    }
}

static void *serve_link(void *context)
{
    proxy_link *l = context;
    char *room = malloc(ROOM);
    while (!atomic_load(&l->owner->stop)) {
        obey(l);
        if (l->client < 0)
            break;
        struct pollfd both[2] = {{.fd = l->client, .events = POLLIN},
                                 {.fd = l->server, .events = POLLIN}};
        if (is_still(l)) {
            (void)poll(NULL, 0, LOOK_MS);
            continue;
        }
        if (poll(both, 2, LOOK_MS) <= 0)
            continue;
        bool go_on = true;
        if (both[0].revents != 0)
            go_on = move(l, true, room);
        if (go_on && l->server >= 0 && both[1].revents != 0)
            go_on = move(l, false, room);
        if (!go_on && !l->mute && atomic_load(&l->order) == GO_ON)
            break;
    }
    shut(&l->client, false);
    shut(&l->server, false);
    free(room);
    return NULL;
}

static int reach_server(const proxy *p)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(at.sun_path, p->server, sizeof at.sun_path);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static void *accept_links(void *context)
{
    proxy *p = context;
    while (!atomic_load(&p->stop)) {
        struct pollfd one = {.fd = p->listener, .events = POLLIN};
        if (poll(&one, 1, LOOK_MS) <= 0)
            continue;
        proxy_link *l = calloc(1, sizeof *l);
        l->owner = p;
        l->client = accept(p->listener, NULL, NULL);
        l->server = reach_server(p);
        if (l->client < 0 || l->server < 0 ||
            pthread_create(&l->thread, NULL, serve_link, l) != 0) {
            cut(l);
            free(l);
            continue;
        }
        pthread_mutex_lock(&p->lock);
        l->next = p->links;
        p->links = l;
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

void proxy_open(proxy *p, const cluster *c)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    *p = (proxy){0};
    const int length =
        snprintf(p->server, sizeof p->server, "%s/.s.PGSQL.%u", c->directory, c->port);
    assert_true(length > 0 && (size_t)length < sizeof p->server);
    (void)pthread_mutex_init(&p->lock, NULL);
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(p->listener, 64), 0);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&at, &size), 0);
    p->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&p->thread, NULL, accept_links, p), 0);
}

void proxy_close(proxy *p)
{
    atomic_store(&p->stop, true);
    (void)pthread_join(p->thread, NULL);
    (void)close(p->listener);
    for (proxy_link *l = p->links, *next; l != NULL; l = next) {
        next = l->next;
        (void)pthread_join(l->thread, NULL);
        free(l);
    }
    (void)pthread_mutex_destroy(&p->lock);
}

void proxy_uri(const proxy *p, const char *database, char *out, size_t size)
{
    (void)snprintf(out, size,
                   "postgresql://tacit@127.0.0.1:%u/%s?sslmode=disable&gssencmode=disable", p->port,
                   database);
}

static void give_order(proxy *p, proxy_who who, order what)
{
    pthread_mutex_lock(&p->lock);
    for (proxy_link *l = p->links; l != NULL; l = l->next)
        if (who == PROXY_EVERYBODY || atomic_load(&l->is[who]))
            atomic_store(&l->order, what);
    pthread_mutex_unlock(&p->lock);
}

void proxy_reset(proxy *p, proxy_who who)
{
    give_order(p, who, RESET);
}

void proxy_leave_half_open(proxy *p, proxy_who who)
{
    give_order(p, who, HALF_OPEN);
}
#endif

/* See cli/notify.h. */
#include "cli/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

void cli_notify(const char *state)
{
    TACIT__REQUIRE(state != NULL);
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof to.sun_path)
        return;
    size_t n = strlen(path);
    memcpy(to.sun_path, path, n);
    if (path[0] == '@') /* an abstract name begins with NUL */
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to, size);
    (void)close(fd);
}

void cli_notify_reloading(void)
{
    char text[64];
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld",
                   (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    cli_notify(text);
}

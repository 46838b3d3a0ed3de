/* Tells a service manager how far we are, as sd_notify(3) does: a datagram to the socket that
 * $NOTIFY_SOCKET names. Without one, nothing happens. */
#ifndef TACIT_CLI_NOTIFY_H
#define TACIT_CLI_NOTIFY_H

/* `state` as in sd_notify(3): "READY=1", lines separated by newlines. */
void cli_notify(const char *state);
/* A reload begins: RELOADING=1 with the time of the monotonic clock, as systemd wants it. READY=1 ends it. */
void cli_notify_reloading(void);

#endif

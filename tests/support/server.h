/* A real `tacit serve` in a directory of its own, and requests to it. */
#ifndef TACIT_TESTS_SERVER_H
#define TACIT_TESTS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SERVER_ANSWER = 1 << 16 };

typedef struct server {
    const char *command;        /* the program */
    char directory[200];        /* temporary */
    char file[256], store[256]; /* store: a file, or the URI of a database */
    char key[300];              /* of the store: a file */
    char url[128];
    unsigned port;
    pid_t pid;       /* 0: not running */
    char token[128]; /* of scope admin; "" until server_token */
} server;

/* A new directory with service.yaml in it. `command` is the tacit program. */
void server_open(server *s, const char *command, const char *yaml);
/* Another service.yaml in the same directory. */
void server_rewrite(server *s, const char *yaml);
/* Kills what runs and removes the directory. */
void server_close(server *s);

/* Starts it, on the address that the file says; it ends with this program at the latest. False if it ended
 * instead, and then *code is its exit status and stderr is in DIRECTORY/err. Without `code` it is started again
 * if its database did not answer in time, as on a busy machine. */
bool server_start(server *s, int *code);
/* It does not start, but ends with this exit status. */
void assert_no_start(server *s, int wanted);
/* Sends a signal and waits for the end: the exit status, or minus the signal that ended it. */
int server_stop(server *s, int signal);

/* Runs `tacit ARGUMENTS` in the directory; the exit status, and stdout in `out`. */
int server_tool(server *s, const char *arguments, char *out, size_t size);
/* A token of these scopes; known after the next start or SIGHUP. */
void server_token(server *s, const char *name, const char *scopes, char token[128]);

/* A shell command in the directory; it must succeed. */
void server_shell(const server *s, const char *command);
/* Files of the directory, as text. */
void server_write(const server *s, const char *name, const char *text);
void server_read(const server *s, const char *name, char *out, size_t size);

void server_nap(long ms);
/* Seconds by the monotonic clock. */
double server_seconds(void);

/* One request on a connection of its own: the status (0: no answer) and the body as text. `extra` are header lines, or NULL. */
int server_ask(const server *s, const char *token, const char *method, const char *path,
               const char *extra, const char *body, char answer[SERVER_ANSWER]);
/* The same with the server's own token. */
int server_post(const server *s, const char *path, const char *body, char answer[SERVER_ANSWER]);
int server_get(const server *s, const char *path, char answer[SERVER_ANSWER]);

/* One request on a connection that is kept: *fd, or -1 for a new one, which it then is. The status (0: no answer, and *fd is
 * closed), and the whole answer as text. */
int server_talk(const server *s, int *fd, const char *method, const char *path, const char *extra,
                const char *body, char answer[SERVER_ANSWER]);

/* A connection to speak on; bytes to send; what comes until the other side closes, or for `ms`. */
int server_connect(const server *s);
void server_say(int fd, const char *data, size_t size);
size_t server_hear(int fd, char *out, size_t size, int ms);

/* The value of "key":... in a flat piece of JSON: a string without its quotes, or the text of anything else. False: not there. */
bool json_field(const char *json, const char *key, char *out, size_t size);
double json_number(const char *json, const char *key);

/* Looks again and again until the condition holds, or until two minutes are over: only what never comes takes that long, so nothing
 * depends on how fast a machine is. What follows asserts the condition. */
#define wait_until(condition)                                                                      \
    do {                                                                                           \
        double wait_end_ = 0;                                                                      \
        while (!(condition) && server_may_wait(&wait_end_))                                        \
            ;                                                                                      \
    } while (0)
bool server_may_wait(double *until);

/* The same, and the condition must have come. */
#define await(condition)                                                                           \
    do {                                                                                           \
        bool await_came_;                                                                          \
        wait_until(await_came_ = (condition));                                                     \
        assert_true(await_came_);                                                                  \
    } while (0)

/* Waits until the learner has learned from `users` users. */
void server_wait_users(const server *s, const char *learner, unsigned long users);

#endif

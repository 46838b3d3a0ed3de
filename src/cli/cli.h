/* The commands share these declarations: exit statuses, messages, numbers. */
#ifndef TACIT_CLI_H
#define TACIT_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

enum {
    CLI_DONE = 0,   /* the answer is there */
    CLI_NO = 1,     /* the answer is "no": a check failed, an audit found a violation */
    CLI_WRONG = 2,  /* the input is wrong */
    CLI_SYSTEM = 3, /* disk, memory, network */
    CLI_UNSURE = 4, /* there is no answer: an audit's search did not come near enough */
    CLI_HELPED = -1 /* the help was the answer; outside, done */
};

/* The kinds of words that follow the options of a command, for shells that complete it. */
typedef enum cli_argument {
    CLI_NO_ARGUMENT,
    CLI_FILE,
    CLI_DIRECTORY,
    CLI_RELEASE /* gaussian:l2=... */
} cli_argument;

/* A command: argv[0] is its name. One line of the table in main.c each. */
typedef struct cli_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
    cli_argument argument;
    const char *words; /* "create list revoke": what the first argument may be; NULL: anything */
} cli_command;

int cli_account(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_list_results(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_forecast(int argc, char **argv);
int cli_audit(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_token(int argc, char **argv);
int cli_store(int argc, char **argv);
int cli_simulate_users(int argc, char **argv);
int cli_worlds(int argc, char **argv);
int cli_agents(int argc, char **argv);

/* Prints `tacit: ...` on stderr and returns CLI_WRONG. */
__attribute__((format(printf, 1, 2))) int cli_wrong(const char *format, ...);
/* Prints the library's message and returns the exit status that belongs to it. */
int cli_failed(tacit_status status, const tacit_error *err);
/* Flushes stdout; Returns CLI_SYSTEM with a message if the output could not be written, CLI_DONE for
 * CLI_HELPED, else `status`. */
int cli_finish(int status);

/* Turns off core files and debuggers, for commands whose memory holds a store's key and data of users. */
void cli_keep_memory_private(void);

#define CLI_MAX_COUNT UINT64_C(1000000000000) /* of anything that an option counts */

/* The shortest decimal text that reads back as x. Returns buffer. */
char *cli_shortest(char buffer[32], double x);

/* DIRECTORY/NAME, to be freed; NULL: no memory. */
char *cli_report_path(const char *directory, const char *name);

#endif

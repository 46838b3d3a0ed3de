/* What the commands share: exit statuses, messages, numbers. Public headers of the library only. */
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
    CLI_UNSURE = 4, /* there is no answer: an audit's search came not near enough to say one */
};

/* A command: argv[0] is its name. One line of the table in main.c each. */
typedef struct cli_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} cli_command;

int cli_account(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_explain(int argc, char **argv);
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
/* Flushes stdout; CLI_SYSTEM with a message when what was printed did not arrive, else `status`. */
int cli_finish(int status);

/* Turns core files and debuggers off, for commands whose memory has a store's key and what users told. */
void cli_keep_memory_private(void);

/* Says which option getopt_long has just refused; "did you mean" from `options`. */
struct option;
int cli_bad_option(char **argv, int code, const struct option *options);

/* Gives every option to `take`, with its value in optarg, until one is refused. optind is then the first argument. */
int cli_take_options(int argc, char **argv, const char *letters, const struct option *options,
                     int (*take)(void *wish, int code), void *wish);

/* A decimal number that fills the whole text: no blanks, hexadecimals, "inf" or "nan". */
bool cli_number(const char *text, double *out);
/* A whole number from 1 to CLI_MAX_COUNT in digits. */
#define CLI_MAX_COUNT UINT64_C(1000000000000)
bool cli_count(const char *text, uint64_t *out);
/* The shortest decimal text that reads back as x. Returns buffer. */
char *cli_shortest(char buffer[32], double x);

/* DIRECTORY/report.html, to be freed; NULL: no memory. */
char *cli_report_path(const char *directory);

/* The one of `words` (NULL-terminated) that the user may have meant, or NULL. */
const char *cli_nearest(const char *word, const char *const *words);

#endif

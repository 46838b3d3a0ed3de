/* The command `tacit`: one table of commands. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <cblas.h>

#include <tacit/status.h>

#include "cli/cli.h"
#include "cli/complete.h"
#include "text/nearest.h"

static const cli_command commands[] = {
    {"account", "compute noise scales and privacy guarantees", cli_account, CLI_RELEASE,
     "scale guarantee"},
    {"run", "play an experiment: every agent, every run", cli_run, CLI_FILE, NULL},
    {"report", "rebuild the report page of a run, or write its figures and tables", cli_report,
     CLI_DIRECTORY, NULL},
    {"compare", "compare results: differences of regret with intervals", cli_compare, CLI_DIRECTORY,
     NULL},
    {"list", "list results: what was played, and what is finished", cli_list_results, CLI_DIRECTORY,
     NULL},
    {"explain", "show the guarantee of each agent or learner of a file, and why it holds",
     cli_explain, CLI_FILE, NULL},
    {"forecast", "say whether the users are enough, by playing reference worlds", cli_forecast,
     CLI_FILE, NULL},
    {"audit", "attack the privacy claims of an experiment's agents", cli_audit, CLI_FILE, NULL},
    {"serve", "run the decision service: private learning with real users", cli_serve, CLI_FILE,
     NULL},
    {"token", "manage access to a service: create, list, revoke", cli_token, CLI_FILE,
     "create list revoke"},
    {"store", "maintain a service's store: check, backup, export", cli_store, CLI_FILE,
     "init check backup export events adopt rekey move"},
    {"simulate-users", "simulate users of a running service", cli_simulate_users, CLI_NO_ARGUMENT,
     NULL},
    {"worlds", "list the environments", cli_worlds, CLI_NO_ARGUMENT, NULL},
    {"agents", "list the learners", cli_agents, CLI_NO_ARGUMENT, NULL},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0], MOST_WORDS = 2 };

static void usage(FILE *to)
{
    (void)fputs("usage: tacit COMMAND [OPTIONS] [ARGUMENTS]\n"
                "\n"
                "Differentially private learning by doing.\n"
                "\n"
                "commands:\n",
                to);
    for (size_t i = 0; i < N_COMMANDS; i++)
        (void)fprintf(to, "  %-14s %s\n", commands[i].name, commands[i].summary);
    (void)fputs(
        "\n"
        "options:\n"
        "  -h, --help     print this help; tacit help COMMAND has more\n"
        "  -V, --version  print the version\n"
        "\n"
        "example:\n"
        "  tacit account scale --epsilon 1 --delta 1e-5\n"
        "\n"
        "exit status: 0 done, 1 the answer is no, 2 the input is wrong, 3 the system failed\n",
        to);
}

static int unknown(const char *word)
{
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    if (word[0] == '-')
        return cli_wrong("unknown option '%s'; see tacit --help", word);
    char hint[TACIT__SUGGESTION];
    return cli_wrong("unknown command '%s'%s", word,
                     tacit__suggest(word, names, N_COMMANDS, "; see tacit --help", hint));
}

static const cli_command *find(const char *word)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

/* `tacit help`, `tacit help run`, `tacit help account scale`: words[n] are those after "help". */
static int help(int n, char **words)
{
    static char option[] = "--help";
    char *argv[MOST_WORDS + 2];
    if (n == 0) {
        usage(stdout);
        return CLI_DONE;
    }
    const cli_command *command = find(words[0]);
    if (command == NULL)
        return unknown(words[0]);
    if (n > MOST_WORDS)
        return cli_wrong("unexpected argument '%s' after '%s'", words[MOST_WORDS], words[1]);
    for (int i = 0; i < n; i++)
        argv[i] = words[i];
    argv[n] = option;
    argv[n + 1] = NULL;
    return command->run(n + 1, argv);
}

int main(int argc, char **argv)
{
    /* A reader that went away is a failed write, with a message, not a silent death. */
    (void)signal(SIGPIPE, SIG_IGN);
    openblas_set_num_threads(1); /* as the library would for each of its calls */
    if (argc < 2) {
        usage(stderr);
        return CLI_WRONG;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "version") == 0) {
        (void)printf("tacit %s\n", tacit_version());
        return cli_finish(CLI_DONE);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return cli_finish(help(argc - 2, argv + 2));
    if (strcmp(word, "__complete") == 0)
        return cli_finish(cli_complete(argc - 1, argv + 1, commands, N_COMMANDS));
    const cli_command *command = find(word);
    return command != NULL ? cli_finish(command->run(argc - 1, argv + 1)) : unknown(word);
}

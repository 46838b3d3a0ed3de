/* The command `tacit`: one table of commands. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <cblas.h>

#include <tacit/status.h>

#include "base/nearest.h"
#include "cli/cli.h"

static const cli_command commands[] = {
    {"account", "compute noise scales and privacy guarantees", cli_account},
    {"run", "play an experiment: every agent, every run", cli_run},
    {"report", "rebuild the report page of a run, or write its figures and tables", cli_report},
    {"compare", "compare results: differences of regret with intervals", cli_compare},
    {"list", "list results: what was played, and what is finished", cli_list_results},
    {"explain", "show what each agent or learner of a file promises, and why", cli_explain},
    {"forecast", "say whether the users are enough, by playing reference worlds", cli_forecast},
    {"audit", "attack the privacy claims of an experiment's agents", cli_audit},
    {"serve", "run the decision service: private learning with real users", cli_serve},
    {"token", "manage access to a service: create, list, revoke", cli_token},
    {"store", "maintain a service's store: check, backup, export", cli_store},
    {"simulate-users", "play users against a running service", cli_simulate_users},
    {"worlds", "list the environments", cli_worlds},
    {"agents", "list the learners", cli_agents},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

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
        "  --help     this text; tacit COMMAND --help says more\n"
        "  --version  the version\n"
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
    const char *near = tacit__nearest(word, names, N_COMMANDS);
    if (near != NULL)
        return cli_wrong("unknown command '%s', did you mean '%s'?", word, near);
    return cli_wrong("unknown command '%s'; see tacit --help", word);
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
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return cli_finish(CLI_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("tacit %s\n", tacit_version());
        return cli_finish(CLI_DONE);
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return cli_finish(commands[i].run(argc - 1, argv + 1));
    return unknown(argv[1]);
}

/* See cli/complete.h. A command is run with a request in place; the first thing that it does is to read its
 * options, and there the request is answered from the table of its options. */
#include "cli/complete.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tacit/lab.h>
#include <tacit/service.h>

#include "base/error.h"

/* The question that the shell asked. */
typedef struct question {
    char **words; /* after the command's name; the last is the current one */
    int n;
    const cli_command *command;
} question;

static question asked; /* n 0: nothing */

bool cli_is_completing(void)
{
    return asked.n > 0;
}

void cli_offer(const char *word, const char *what)
{
    TACIT__REQUIRE(asked.n > 0 && word != NULL);
    const char *current = asked.words[asked.n - 1];
    if (strncmp(word, current, strlen(current)) != 0)
        return;
    (void)fputs(word, stdout);
    if (what != NULL)
        (void)printf("\t%.*s", (int)strcspn(what, "\n;"), what);
    (void)fputc('\n', stdout);
}

static void end(const char *also)
{
    (void)printf(":%s\n", also);
}

/* --- Values of options --------------------------------------------------------------------------- */

/* The labels of the agents, or the names of the learners, of the file among the words. */
static void offer_labels(void)
{
    for (int i = 0; i + 1 < asked.n; i++) {
        const char *path = asked.words[i];
        tacit_experiment *experiment = NULL;
        tacit_service_file *file = NULL;
        if (path[0] == '-' || access(path, R_OK) != 0)
            continue;
        if (tacit_service_is_file(path)) {
            if (tacit_service_file_read(path, &file, NULL) == TACIT_OK)
                for (size_t k = 0; k < tacit_service_file_size(file); k++)
                    cli_offer(tacit_service_file_at(file, k)->name, NULL);
            tacit_service_file_destroy(file);
        } else if (tacit_experiment_read(path, NULL, &experiment, NULL) == TACIT_OK) {
            const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
            for (size_t k = 0; k < facts->n_agents; k++)
                cli_offer(facts->agents[k].label, facts->agents[k].kind);
            tacit_experiment_destroy(experiment);
        }
    }
}

static void offer_worlds(void)
{
    for (size_t i = 0; i < tacit_world_kind_count(); i++)
        cli_offer(tacit_world_kind_at(i)->name, tacit_world_kind_at(i)->help);
}

static void offer_values(const tacit__field *o)
{
    const char *const *words = o->type == TACIT__FIELD_WORD ? o->words : NULL;
    const bool file = strstr(o->value, "FILE") != NULL, directory = strcmp(o->value, "DIR") == 0;
    for (; words != NULL && *words != NULL; words++)
        cli_offer(*words, NULL);
    if (strcmp(o->value, "LABEL") == 0)
        offer_labels();
    else if (strcmp(o->name, "world") == 0)
        offer_worlds();
    end(file ? "files" : directory ? "directories" : "none");
}

/* The option whose value the current word is; NULL: none. */
static const tacit__field *option_before(const cli_form *form)
{
    const char *before = asked.n > 1 ? asked.words[asked.n - 2] : "";
    for (const tacit__field *o = form->options; before[0] == '-' && o->name != NULL; o++)
        if (o->value != NULL && ((before[1] == '-' && strcmp(before + 2, o->name) == 0) ||
                                 (o->letter != 0 && before[1] == o->letter && before[2] == '\0')))
            return o;
    return NULL;
}

/* --- Words --------------------------------------------------------------------------------------- */

void cli_complete_options(const cli_form *form)
{
    TACIT__REQUIRE(asked.n > 0 && form != NULL);
    static const char *const releases[] = {"gaussian:l2=", "laplace:l1=", "dp:epsilon=",
                                           "zcdp:rho="},
                             *const also[] = {"none", "files", "directories", "none"};
    const tacit__field *option = option_before(form);
    char word[64];
    if (option != NULL) {
        offer_values(option);
        return;
    }
    const bool begun = asked.words[asked.n - 1][0] == '-'; /* else an argument is meant */
    for (const tacit__field *o = form->options; begun && o->name != NULL; o++) {
        (void)snprintf(word, sizeof word, "--%s", o->name);
        cli_offer(word, o->help);
    }
    if (begun)
        cli_offer("--help", "what it does, with an example");
    for (size_t i = 0; asked.command->argument == CLI_RELEASE && i < 4; i++)
        cli_offer(releases[i], NULL);
    end(also[asked.command->argument]);
}

/* The words of a command that has some: `check` of `tacit store check`. */
static void offer_words(const char *words)
{
    char word[32];
    for (size_t n; *words != '\0'; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)n, words);
        cli_offer(word, NULL);
    }
}

int cli_complete(int argc, char **argv, const cli_command *commands, size_t n_commands)
{
    static char nothing[] = "", *empty[] = {nothing};
    asked = (question){.words = argc > 1 ? argv + 1 : empty, .n = argc > 1 ? argc - 1 : 1};
    const bool help = asked.n > 1 && strcmp(asked.words[0], "help") == 0;
    if (asked.n == 1 || (asked.n == 2 && help)) {
        for (size_t i = 0; i < n_commands; i++)
            cli_offer(commands[i].name, commands[i].summary);
        if (asked.n == 1) {
            cli_offer("help", "help of a command");
            cli_offer("--help", "help");
            cli_offer("--version", "the version");
        }
        end("none");
        return CLI_DONE;
    }
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(commands[i].name, asked.words[0]) == 0)
            asked.command = &commands[i];
    if (asked.command == NULL)
        return CLI_DONE;
    if (asked.n == 2 && asked.command->words != NULL) {
        offer_words(asked.command->words);
        cli_offer("--help", "what it does, with an example");
        end("none");
        return CLI_DONE;
    }
    return asked.command->run(asked.n - 1, asked.words) == CLI_HELPED ? CLI_DONE : CLI_WRONG;
}

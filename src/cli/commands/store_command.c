/* tacit store: maintains the store of a service. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/service.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands/store_decisions.h"
#include "cli/events.h"
#include "cli/options.h"
#include "text/json_text.h"

typedef struct store_options {
    tacit_service_options service;
    const char *copy, *new_key, *as;
    bool gone, json, decisions, yes;
} store_options;

/* Each belongs to some verbs. */
enum { GONE, NEW_KEY, YES, DECISIONS, JSON, AS, NONE };
static const tacit__field option_fields[] = {
    [GONE] = {"original-is-gone", TACIT__FIELD_FLAG, offsetof(store_options, gone),
              .written_out = true,
              .help = "confirm that no other copy of this store is in use or ever will be"},
    [NEW_KEY] = {"new-key", TACIT__FIELD_TEXT, offsetof(store_options, new_key), .value = "FILE",
                 .help = "file of the new key, created if missing (default: replace the old key)"},
    [YES] = {"yes", TACIT__FIELD_FLAG, offsetof(store_options, yes), .written_out = true,
             .help = "change the key without asking"},
    [DECISIONS] = {"decisions", TACIT__FIELD_FLAG, offsetof(store_options, decisions),
                   .help = "print the recorded decisions, which are not public"},
    [JSON] = {"json", TACIT__FIELD_FLAG, offsetof(store_options, json),
              .help = "print the events as JSON"},
    [AS] = {"as", TACIT__FIELD_TEXT, offsetof(store_options, as), .value = "URI",
            .help = "connect as another role, the owner of the schema"},
    [NONE] = {.name = NULL}};

static const cli_form form = {
    "usage: tacit store init FILE.yaml [--as URI]\n"
    "       tacit store check FILE.yaml\n"
    "       tacit store backup FILE.yaml COPY\n"
    "       tacit store export FILE.yaml [--decisions]\n"
    "       tacit store events FILE.yaml [--json]\n"
    "       tacit store adopt FILE.yaml [--original-is-gone]\n"
    "       tacit store rekey FILE.yaml [--new-key FILE] [--yes]\n"
    "       tacit store move FILE.yaml OLD.yaml [--as URI]\n"
    "\n"
    "init     creates the tables and the key of a store on PostgreSQL; a file needs no init\n"
    "check    reads everything, opens what is sealed, and checks that every user is counted once;\n"
    "         exits with 1 if something is wrong, or if no service may learn from the store\n"
    "backup   makes a consistent copy; a service on the copy decides, but does not learn\n"
    "export   prints the public data as JSON: counts, ledger, curves; with --decisions, prints\n"
    "         instead the decisions of learners with log_decisions: yes, one JSON object per "
    "line,\n"
    "         with unprotected data of users\n"
    "events   prints the audit log: starts, stops, tokens, keys, adoptions\n"
    "\n"
    "You can use these while the service runs. The others need it stopped:\n"
    "\n"
    "adopt    lets a service learn again on a backup that replaced the store, or on a store that\n"
    "         went back; prints what that costs, and does it only with --original-is-gone\n"
    "rekey    draws a new key for the store, seals everything again and checks it; asks first, "
    "and\n"
    "         keeps the old key, which earlier backups need\n"
    "move     moves the store of OLD.yaml, a file, into the database of FILE.yaml, which\n"
    "         tacit store init has created; the old store is marked as gone\n"
    "\n",
    "\n"
    "example:\n"
    "  tacit store check service.yaml\n",
    option_fields};

static int check(const store_options *o)
{
    tacit_error err = {0};
    tacit_store_health h;
    tacit_status status = tacit_store_check(&o->service, &h, &err);
    if (status == TACIT_CORRUPT) {
        (void)cli_failed(status, &err);
        return CLI_NO;
    }
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    (void)printf("sound: %" PRIu64 " learners, %" PRIu64 " users waiting, %" PRIu64
                 " episodes open, %" PRIu64 " taken, %" PRIu64 " people, %" PRIu64
                 " answers, %" PRIu64 " tokens, %" PRIu64 " bytes\n",
                 h.learners, h.inputs, h.open, h.seen, h.people, h.answers, h.tokens, h.bytes);
    if (h.unsafe)
        (void)puts(
            "unsafe: it was served on a database server without fsync or full_page_writes, which "
            "may have lost acknowledged and published data (tacit store events shows when)");
    return CLI_DONE;
}

static int init(const store_options *o)
{
    tacit_error err = {0};
    tacit_status status = tacit_store_init(&o->service, o->as, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    (void)puts("done: the store was created; give its key to everyone who serves from it, and to "
               "nobody else");
    return CLI_DONE;
}

static int backup(const store_options *o)
{
    tacit_error err = {0};
    tacit_status status = tacit_store_backup(&o->service, o->copy, &err);
    return status == TACIT_OK ? CLI_DONE : cli_failed(status, &err);
}

static int export(const store_options *o)
{
    tacit_error err = {0};
    if (o->decisions)
        return cli_store_decisions(&o->service);
    char *json = NULL;
    tacit_status status = tacit_store_export(&o->service, &json, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    (void)puts(json);
    free(json);
    return CLI_DONE;
}

/* --- Adoption ------------------------------------------------------------------------------------ */

static void print_cost(void *context, const tacit_store_cost *c)
{
    bool *begun = context;
    char epsilon[2][32], delta[32];
    if (!*begun)
        (void)puts("The guarantee (epsilon, delta) for a person whose data are in one line of the "
                   "store, and in all lines:");
    *begun = true;
    (void)printf("  %s: %" PRIu64 " users learned from; ", c->learner, c->users);
    if (c->before.model == TACIT_MODEL_NONE)
        (void)puts("nothing is promised");
    else
        (void)printf("(%s, %s) in one line, (%s, %s) in all\n",
                     tacit__round_up(epsilon[0], 4, c->before.epsilon),
                     tacit__round_up(delta, 4, c->before.delta),
                     tacit__round_up(epsilon[1], 4, c->after.epsilon), delta);
}

static int adopt(const store_options *o)
{
    tacit_error err = {0};
    uint64_t lives = 0;
    bool begun = false;
    tacit_status status = tacit_store_adoption(&o->service, &lives, print_cost, &begun, &err);
    if (status == TACIT_OK && o->gone)
        status = tacit_store_adopt(&o->service, &err);
    if (status == TACIT_CORRUPT) {
        (void)cli_failed(status, &err);
        return CLI_NO;
    }
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    if (o->gone) {
        (void)printf("adopted: the store learns again; it has %" PRIu64
                     " lines, which /v1/guarantee shows for good\n",
                     lives);
        return CLI_DONE;
    }
    (void)printf(
        "The store would have %" PRIu64
        " lines. Users who are missing from this one may come again,\n"
        "and would then be in both; users who are in this line are not accepted twice. The same\n"
        "holds for each visit of people who come back. If the original continues to learn, or\n"
        "another copy of it is adopted, this guarantee does not hold.\n",
        lives);
    return cli_wrong("nothing was done; if no other copy of this store is used, or ever will be, "
                     "add --original-is-gone");
}

/* --- Databases and keys --------------------------------------------------------------------------- */

static int move(const store_options *o)
{
    tacit_error err = {0};
    tacit_status status = tacit_store_move(&o->service, o->copy, o->as, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    (void)puts("done: the store is in the database, with the key of the old one; no service starts "
               "on the old file any more");
    return CLI_DONE;
}

/* Says what will happen, and asks; without a terminal nobody can answer. */
static int confirm_rekey(const store_options *o)
{
    char line[16] = "";
    if (o->yes)
        return CLI_DONE;
    (void)fputs(
        "The store gets a new key, and everything in it is sealed again. Backups made before this "
        "open\nwith the old key only: keep it as long as you keep them.\n",
        stderr);
    if (isatty(STDIN_FILENO) == 0)
        return cli_wrong("nothing was done; add --yes to change the key");
    (void)fputs("Change the key? [y/N] ", stderr);
    if (fgets(line, sizeof line, stdin) != NULL &&
        (strcmp(line, "y\n") == 0 || strcmp(line, "yes\n") == 0))
        return CLI_DONE;
    return cli_wrong("nothing was done");
}

static int rekey(const store_options *o)
{
    tacit_error err = {0};
    const int code = confirm_rekey(o);
    if (code != CLI_DONE)
        return code;
    tacit_status status = tacit_store_rekey(&o->service, o->new_key, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    if (o->new_key == NULL)
        (void)puts(
            "done: everything opens with the new key, which has the place of the old one; the "
            "old one is beside it, with .old after its name, for earlier backups. Keep a copy "
            "of the new key elsewhere.");
    else
        (void)printf(
            "done: the store's key is now %s; use it as `key`, STORE.key or the "
            "credential before the service starts again. Earlier backups open with the old "
            "key only.\n",
            o->new_key);
    return CLI_DONE;
}

/* --- Arguments ------------------------------------------------------------------------------------ */

static int events(const store_options *o)
{
    return cli_store_events(&o->service, o->json);
}

#define BIT(option) (1u << (option))
static const struct {
    const char *name;
    const char *second; /* what it takes after FILE.yaml, or NULL */
    unsigned options;   /* that it has, as bits */
    int (*run)(const store_options *o);
} verbs[] = {{"init", NULL, BIT(AS), init},
             {"check", NULL, 0, check},
             {"backup", "a path for the copy", 0, backup},
             {"export", NULL, BIT(DECISIONS), export},
             {"events", NULL, BIT(JSON), events},
             {"adopt", NULL, BIT(GONE), adopt},
             {"rekey", NULL, BIT(NEW_KEY) | BIT(YES), rekey},
             {"move", "the service file of the old store", BIT(AS), move}};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

/* Options that were given belong to the verb. */
static int check_options(size_t verb, uint64_t given)
{
    TACIT__REQUIRE(verb < N_VERBS);
    for (size_t i = 0; i < N_VERBS; i++)
        for (int option = 0; option < NONE; option++)
            if ((given & BIT(option) & verbs[i].options & ~verbs[verb].options) != 0)
                return cli_wrong("--%s belongs to tacit store %s", option_fields[option].name,
                                 verbs[i].name);
    return CLI_DONE;
}

/* Runs the verb that argv names, if its arguments are right. */
static int run(int n, char **arguments, uint64_t given, store_options *o)
{
    size_t i = 0;
    while (i < N_VERBS && strcmp(verbs[i].name, arguments[0]) != 0)
        i++;
    if (i == N_VERBS)
        return cli_wrong(
            "tacit store has no command '%s'; its commands are init, check, backup, export, "
            "events, adopt, rekey and move",
            arguments[0]);
    if (n < 2)
        return cli_wrong("expected FILE.yaml; see tacit store --help");
    if (n < 3 && verbs[i].second != NULL)
        return cli_wrong("expected %s; see tacit store --help", verbs[i].second);
    if (n > 2 + (verbs[i].second != NULL))
        return cli_wrong("too many arguments; see tacit store --help");
    int code = check_options(i, given);
    if (code != CLI_DONE)
        return code;
    o->service = (tacit_service_options){.file = arguments[1],
                                         .credentials = getenv("CREDENTIALS_DIRECTORY")};
    o->copy = n > 2 ? arguments[2] : NULL;
    return verbs[i].run(o);
}

int cli_store(int argc, char **argv)
{
    store_options o = {0};
    uint64_t given = 0;
    cli_keep_memory_private();
    int code = cli_read_options(argc, argv, &form, &o, &given);
    if (code != CLI_DONE)
        return code;
    if (optind == argc)
        return cli_wrong("expected init, check, backup, export, events, adopt, rekey or "
                         "move, "
                         "and FILE.yaml; see tacit store --help");
    return run(argc - optind, argv + optind, given, &o);
}

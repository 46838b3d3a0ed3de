/* tacit account: noise scales for a guarantee, and guarantees for noise scales. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/account.h>
#include <tacit/sum.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/print_json.h"
#include "cli/release.h"
#include "text/nearest.h"

static const char help_account[] =
    "usage: tacit account scale     --epsilon E --delta D [OPTIONS]\n"
    "       tacit account guarantee (--delta D | --epsilon E) [--json] RELEASE...\n"
    "\n"
    "scale      the smallest noise for a wanted guarantee\n"
    "guarantee  what a list of releases guarantees together\n"
    "\n"
    "Sensitivities are for replacing one user by another. Each has its own --help.\n"
    "\n"
    "example:\n"
    "  tacit account scale --epsilon 1 --delta 1e-5 --l2 1\n";

typedef struct account_options {
    double epsilon, delta, l1, l2; /* NaN: not given */
    uint64_t count;
    uint64_t users, visits, apart; /* of a running sum; 0: not given */
    size_t mechanism;
    bool json;
} account_options;

enum { GAUSSIAN, LAPLACE, UNDECIDED };
static const char *const mechanisms[] = {"gaussian", "laplace", NULL};
static const tacit__field scale_options[] = {
    {"epsilon", TACIT__FIELD_REAL, offsetof(account_options, epsilon), .range = &cli_not_negative,
     .once = true, .value = "E",
     .help = "wanted epsilon, >= 0; with 0, D bounds the total variation"},
    {"delta", TACIT__FIELD_REAL, offsetof(account_options, delta), .range = &cli_below_one,
     .once = true, .value = "D",
     .help = "wanted delta in [0, 1); 0 asks for pure differential privacy"},
    {"l2", TACIT__FIELD_REAL, offsetof(account_options, l2), .range = &cli_positive, .once = true,
     .value = "S", .help = "L2 sensitivity, for Gaussian noise (default 1)"},
    {"l1", TACIT__FIELD_REAL, offsetof(account_options, l1), .range = &cli_positive, .once = true,
     .value = "S", .help = "L1 sensitivity, for Laplace noise (default 1)"},
    {"count", TACIT__FIELD_COUNT, offsetof(account_options, count), 1, CLI_MAX_COUNT, .once = true,
     .expected = "a whole number from 1 to 10^12", .value = "N",
     .help = "number of releases (default 1)"},
    {"users", TACIT__FIELD_COUNT, offsetof(account_options, users), 1, CLI_MAX_COUNT, .once = true,
     .expected = "a whole number from 1 to 10^12", .value = "K",
     .help = "a running sum of K users, released after each of them, instead of --count"},
    {"visits", TACIT__FIELD_COUNT, offsetof(account_options, visits), 1, CLI_MAX_COUNT,
     .once = true, .expected = "a whole number from 1 to 10^12", .value = "N",
     .help = "with --users: the most visits of one person (default 1)"},
    {"apart", TACIT__FIELD_COUNT, offsetof(account_options, apart), 1, CLI_MAX_COUNT, .once = true,
     .expected = "a whole number from 1 to 10^12", .value = "B",
     .help = "with --visits: the least distance of two visits, in users (default 1)"},
    {"mechanism", TACIT__FIELD_WORD, offsetof(account_options, mechanism), .words = mechanisms,
     .once = true, .value = "M",
     .help = "gaussian or laplace; default: as the sensitivity requires, else\n"
             "gaussian when D > 0 and laplace when D = 0"},
    {"json", TACIT__FIELD_FLAG, offsetof(account_options, json),
     .help = "one JSON object: scale, mechanism, epsilon, delta, sensitivity, count;\n"
             "with --users also sums, users, visits, apart, column, stddev"},
    {.name = NULL}};

static const cli_form scale_form = {
    "usage: tacit account scale --epsilon E --delta D [--l2 S | --l1 S] [--count N]\n"
    "                           [--users K [--visits N [--apart B]]]\n"
    "                           [--mechanism gaussian|laplace] [--json]\n"
    "\n"
    "Prints the smallest noise scale such that N releases that the same user affects are together\n"
    "(E, D)-differentially private.\n"
    "\n",
    "\n"
    "S is how far a release can move when one user is replaced by another.\n"
    "\n"
    "example:\n"
    "  tacit account scale --epsilon 1 --delta 1e-5 --l2 1 --count 10\n"
    "  tacit account scale --epsilon 1 --delta 2e-6 --l2 1 --users 50000 --visits 5 --apart "
    "10000\n",
    scale_options};

static const tacit__field guarantee_options[] = {
    {"delta", TACIT__FIELD_REAL, offsetof(account_options, delta), .range = &cli_below_one,
     .once = true, .value = "D", .help = "print epsilon at this delta"},
    {"epsilon", TACIT__FIELD_REAL, offsetof(account_options, epsilon), .range = &cli_not_negative,
     .once = true, .value = "E", .help = "print delta at this epsilon"},
    {"json", TACIT__FIELD_FLAG, offsetof(account_options, json),
     .help = "one JSON object: epsilon, delta, epsilon_low, delta_low, mu, rho, method;\n"
             "null where there is no (finite) number"},
    {.name = NULL}};

static const cli_form guarantee_form = {
    "usage: tacit account guarantee (--delta D | --epsilon E) [--json] RELEASE...\n"
    "\n"
    "Prints what the releases guarantee together if the same user affects all of them: epsilon at\n"
    "delta D, or delta at epsilon E. The answer is an upper bound; `low` is a lower bound on the\n"
    "true value.\n"
    "\n"
    "RELEASE is one of\n"
    "  gaussian:l2=1,sigma=2,count=10      L2 sensitivity, standard deviation\n"
    "  laplace:l1=1,scale=3,count=5        L1 sensitivity, Laplace scale\n"
    "  dp:epsilon=0.1,delta=0,count=100    any (epsilon, delta)-DP mechanism\n"
    "  zcdp:rho=0.03                       any rho-zCDP mechanism\n"
    "count is 1 and delta is 0 unless given. Sensitivities are for replacing one user by another.\n"
    "\n",
    "\n"
    "example:\n"
    "  tacit account guarantee --delta 1e-6 gaussian:l2=1,sigma=10,count=50 "
    "laplace:l1=1,scale=20\n",
    guarantee_options};

static int read_options(int argc, char **argv, const cli_form *form, account_options *o)
{
    const double none = (double)NAN;
    *o = (account_options){none, none, none, none, .count = 1, .mechanism = UNDECIDED};
    return cli_read_options(argc, argv, form, o, NULL);
}

/* Decides between the two kinds of noise; explains why a combination does not exist. */
static int choose_mechanism(const account_options *o, bool *laplace)
{
    if (!isnan(o->l1) && !isnan(o->l2))
        return cli_wrong("both --l1 and --l2 are given, expected one: --l2 for Gaussian noise, "
                         "--l1 for Laplace noise");
    *laplace = o->delta == 0 || !isnan(o->l1);
    if (o->mechanism != UNDECIDED)
        *laplace = o->mechanism == LAPLACE;
    if (!*laplace && !isnan(o->l1))
        return cli_wrong("Gaussian noise is scaled to an L2 sensitivity: use --l2 instead of --l1, "
                         "or --mechanism laplace");
    if (*laplace && !isnan(o->l2) && o->delta == 0 && o->mechanism == UNDECIDED)
        return cli_wrong("--delta is 0, which needs Laplace noise and its L1 sensitivity: use --l1 "
                         "instead of --l2, or a --delta > 0");
    if (*laplace && !isnan(o->l2))
        return cli_wrong("Laplace noise is scaled to an L1 sensitivity: use --l1 instead of --l2, "
                         "or --mechanism gaussian");
    if (!*laplace && o->delta == 0)
        return cli_wrong("Gaussian noise needs a --delta > 0; with --delta 0 use Laplace noise");
    return CLI_DONE;
}

static void print_scale(const account_options *o, bool laplace, double sensitivity, double scale)
{
    char s[32], e[32], d[32], l[32];
    const char *norm = laplace ? "L1" : "L2";
    (void)printf("mechanism   %s\n", laplace ? "laplace" : "gaussian");
    (void)printf("scale       %s   (%s)\n", cli_shortest(s, scale),
                 laplace ? "b of the Laplace noise on every coordinate"
                         : "standard deviation of the noise on every coordinate");
    (void)printf("guarantee   epsilon %s, delta %s\n", cli_shortest(e, o->epsilon),
                 cli_shortest(d, o->delta));
    (void)printf("for         %llu release%s of %s sensitivity %s when one user is replaced\n",
                 (unsigned long long)o->count, o->count == 1 ? "" : "s", norm,
                 cli_shortest(l, sensitivity));
    (void)printf("check it    tacit account guarantee --%s %s ",
                 o->epsilon > 0 ? "delta" : "epsilon", o->epsilon > 0 ? d : e);
    (void)printf(laplace ? "laplace:l1=%s,scale=%s,count=%llu\n"
                         : "gaussian:l2=%s,sigma=%s,count=%llu\n",
                 l, s, (unsigned long long)o->count);
}

static int print_scale_json(const account_options *o, bool laplace, double sensitivity,
                            double scale)
{
    tacit__json_writer out = CLI_JSON_INIT;
    tacit__json_begin_object(&out, NULL);
    tacit__json_put_real(&out, "scale", scale);
    tacit__json_put_string(&out, "mechanism", laplace ? "laplace" : "gaussian");
    tacit__json_put_real(&out, "epsilon", o->epsilon);
    tacit__json_put_real(&out, "delta", o->delta);
    tacit__json_put_real(&out, "sensitivity", sensitivity);
    tacit__json_put_count(&out, "count", o->count);
    tacit__json_end(&out);
    return cli_print_json(&out);
}

/* --- Running sums ---------------------------------------------------------------------------------- */

static int check_sum_options(const account_options *o)
{
    if (o->users == 0 && (o->visits > 0 || o->apart > 0))
        return cli_wrong("--%s is for running sums; give --users as well",
                         o->visits > 0 ? "visits" : "apart");
    if (o->apart > 0 && o->visits == 0)
        return cli_wrong("--apart says how far the visits of one person are apart; give --visits "
                         "as well");
    if (o->users > 0 && o->count > 1)
        return cli_wrong("both --users and --count are given, expected one: --users implies how "
                         "often a running sum is released");
    const uint64_t apart = o->apart > 0 ? o->apart : 1;
    if (o->users > 0 && o->visits > o->users / apart)
        return cli_wrong("--visits %llu, --apart %llu: that many visits do not fit into %llu users",
                         (unsigned long long)o->visits, (unsigned long long)apart,
                         (unsigned long long)o->users);
    return CLI_DONE;
}

static int print_sum(const account_options *o, bool laplace, double sensitivity,
                     const tacit_release *r, double scale, double stddev)
{
    const double column = laplace ? r->column_l1 : r->column_l2;
    char text[32];
    if (o->json) {
        tacit__json_writer out = CLI_JSON_INIT;
        tacit__json_begin_object(&out, NULL);
        tacit__json_put_real(&out, "scale", scale);
        tacit__json_put_string(&out, "mechanism", laplace ? "laplace" : "gaussian");
        tacit__json_put_real(&out, "epsilon", o->epsilon);
        tacit__json_put_real(&out, "delta", o->delta);
        tacit__json_put_real(&out, "sensitivity", sensitivity);
        tacit__json_put_string(&out, "sums", r->mechanism);
        tacit__json_put_count(&out, "users", o->users);
        tacit__json_put_count(&out, "visits", r->visits);
        tacit__json_put_count(&out, "apart", r->apart);
        tacit__json_put_real(&out, "column", column);
        tacit__json_put_real(&out, "stddev", stddev);
        tacit__json_end(&out);
        return cli_print_json(&out);
    }
    (void)printf("mechanism   %s, %s\n", laplace ? "laplace" : "gaussian", r->mechanism);
    (void)printf("scale       %s   (of the noise in each step)\n", cli_shortest(text, scale));
    (void)printf("stddev      %s   (of the noisiest sum)\n", cli_shortest(text, stddev));
    (void)printf("for         a running sum of %llu users, %s sensitivity %s when one visit is "
                 "replaced\n",
                 (unsigned long long)o->users, laplace ? "L1" : "L2",
                 cli_shortest(text, sensitivity));
    (void)printf("visits      one person has at most %llu, at least %llu users apart\n",
                 (unsigned long long)r->visits, (unsigned long long)r->apart);
    (void)printf("column      %s   (how many times the sensitivity all of them move)\n",
                 cli_shortest(text, column));
    return CLI_DONE;
}

/* The sum that learners would take: the least noisy for this guarantee. */
static int run_sum(const account_options *o, bool laplace, double sensitivity)
{
    const tacit_guarantee g = {TACIT_MODEL_JOINT, o->epsilon, laplace ? 0 : o->delta};
    tacit_sum_spec spec = {.mechanism = tacit_sum_default_mechanism(g),
                           .law = laplace ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                           .dimension = 1,
                           .users = o->users,
                           .visits = o->visits,
                           .apart = o->apart,
                           .sensitivity_on_lattice = true};
    *(laplace ? &spec.bound.l1 : &spec.bound.l2) = sensitivity;
    *(laplace ? &spec.sensitivity_l1 : &spec.sensitivity_l2) = sensitivity;
    spec.reason = "given";
    tacit_release line;
    tacit_plan *plan = NULL;
    tacit_ledger *ledger = NULL;
    tacit_noise *noise = NULL;
    tacit_sum *sum = NULL;
    tacit_error err = {0};
    tacit_status status = tacit_sum_declare(&spec, "sum", &line, &err);
    if (status == TACIT_OK)
        status = tacit_plan_create(&plan);
    if (status == TACIT_OK)
        status = tacit_plan_declare(plan, &line, &err);
    if (status == TACIT_OK)
        status = tacit_plan_calibrate(plan, g, &err);
    if (status == TACIT_OK)
        status = tacit_noise_create_simulated(1, &noise);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &ledger, &err);
    if (status == TACIT_OK)
        status = tacit_sum_create(&spec, ledger, "sum", &sum, &err);
    const int code = status == TACIT_OK
                         ? print_sum(o, laplace, sensitivity, &line, tacit_plan_scale(plan, 0),
                                     tacit_sum_worst_stddev(sum))
                         : cli_failed(status, &err);
    tacit_sum_destroy(sum);
    tacit_ledger_destroy(ledger);
    tacit_noise_destroy(noise);
    tacit_plan_destroy(plan);
    return code;
}

static int run_scale(int argc, char **argv)
{
    account_options o;
    int status = read_options(argc, argv, &scale_form, &o);
    if (status != CLI_DONE)
        return status;
    if (optind < argc)
        return cli_wrong("unexpected argument '%s'; see tacit account scale --help", argv[optind]);
    if (isnan(o.epsilon))
        return cli_wrong("--epsilon is missing, expected for example --epsilon 1");
    if (isnan(o.delta))
        return cli_wrong("--delta is missing, expected for example --delta 1e-5, or --delta 0");
    if (o.epsilon == 0 && o.delta == 0)
        return cli_wrong(
            "--epsilon and --delta are both 0, which needs infinite noise; raise one of them");
    bool laplace = false;
    status = choose_mechanism(&o, &laplace);
    if (status != CLI_DONE)
        return status;
    double given = laplace ? o.l1 : o.l2, sensitivity = isnan(given) ? 1 : given, scale;
    status = check_sum_options(&o);
    if (status != CLI_DONE || o.users > 0)
        return status != CLI_DONE ? status : run_sum(&o, laplace, sensitivity);
    tacit_error err = {0};
    tacit_status done =
        laplace ? tacit_laplace_scale(o.epsilon, o.delta, sensitivity, o.count, &scale, &err)
                : tacit_gaussian_scale(o.epsilon, o.delta, sensitivity, o.count, &scale, &err);
    if (done != TACIT_OK)
        return cli_failed(done, &err);
    if (o.json)
        return print_scale_json(&o, laplace, sensitivity, scale);
    print_scale(&o, laplace, sensitivity, scale);
    return CLI_DONE;
}

static const char *explain(const char *method)
{
    static const char *const notes[][2] = {
        {"gaussian", "exact: Gaussian differential privacy"},
        {"pure", "exact: the epsilons of pure differential privacy add up"},
        {"optimal", "exact: optimal composition of equal black boxes"},
        {"zcdp", "from the rho of zCDP alone; low is what Gaussian noise of that rho has"},
        {"pld", "privacy loss distribution: the truth lies between low and the answer"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (strcmp(notes[i][0], method) == 0)
            return notes[i][1];
    return "";
}

static void print_line(const char *name, double x, const char *note)
{
    char text[32];
    (void)printf("%-8s %-22s %s\n", name, isinf(x) ? "none" : cli_shortest(text, x), note);
}

static void print_guarantee(const tacit_composition *c, bool at_delta)
{
    const tacit_interval *answer = at_delta ? &c->epsilon : &c->delta;
    const char *note = "sound: this guarantee holds";
    if (isinf(answer->high))
        note = "no finite epsilon holds at this delta: ask for a larger one";
    else if (at_delta ? answer->high > 10 : answer->high > 0.1)
        note = "sound, but hardly a protection: add noise or release less";
    if (at_delta) {
        print_line("epsilon", c->epsilon.high, note);
        print_line("  low", c->epsilon.low, "no proof can give less than this");
        print_line("delta", c->delta.high, "as asked");
    } else {
        print_line("delta", c->delta.high, note);
        print_line("  low", c->delta.low, "no proof can give less than this");
        print_line("epsilon", c->epsilon.high, "as asked");
    }
    if (!isnan(c->mu))
        print_line("mu", c->mu, "Gaussian differential privacy");
    if (isfinite(c->rho))
        print_line("rho", c->rho, "zCDP");
    (void)printf("%-8s %-22s %s\n", "method", c->method, explain(c->method));
    (void)puts("Sensitivities are taken to be for replacing one user by another.");
}

static int print_composition_json(const tacit_composition *c)
{
    tacit__json_writer out = CLI_JSON_INIT;
    tacit__json_begin_object(&out, NULL);
    tacit__json_put_real(&out, "epsilon", c->epsilon.high);
    tacit__json_put_real(&out, "delta", c->delta.high);
    tacit__json_put_real(&out, "epsilon_low", c->epsilon.low);
    tacit__json_put_real(&out, "delta_low", c->delta.low);
    tacit__json_put_real(&out, "mu", c->mu);
    tacit__json_put_real(&out, "rho", c->rho);
    tacit__json_put_string(&out, "method", c->method);
    tacit__json_end(&out);
    return cli_print_json(&out);
}

static int compose(const account_options *o, const tacit_cost *costs, size_t n_costs)
{
    tacit_composition c;
    tacit_error err = {0};
    tacit_status done = isnan(o->delta)
                            ? tacit_compose_at_epsilon(costs, n_costs, o->epsilon, &c, &err)
                            : tacit_compose_at_delta(costs, n_costs, o->delta, &c, &err);
    if (done != TACIT_OK)
        return cli_failed(done, &err);
    if (o->json)
        return print_composition_json(&c);
    print_guarantee(&c, !isnan(o->delta));
    return CLI_DONE;
}

static int run_guarantee(int argc, char **argv)
{
    account_options o;
    int status = read_options(argc, argv, &guarantee_form, &o);
    if (status != CLI_DONE)
        return status;
    if (isnan(o.epsilon) == isnan(o.delta))
        return cli_wrong("%s, expected one: --delta D asks for epsilon, --epsilon E asks for delta",
                         isnan(o.epsilon) ? "neither --delta nor --epsilon is given"
                                          : "both --delta and --epsilon are given");
    if (optind == argc)
        return cli_wrong("no release is given, expected for example gaussian:l2=1,sigma=2");
    size_t n_costs = (size_t)(argc - optind);
    tacit_cost *costs = calloc(n_costs, sizeof *costs);
    if (costs == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    for (size_t i = 0; status == CLI_DONE && i < n_costs; i++) {
        char message[600];
        if (cli_release_parse(argv[optind + (int)i], &costs[i], message, sizeof message) != 0)
            status = cli_wrong("%s", message);
    }
    if (status == CLI_DONE)
        status = compose(&o, costs, n_costs);
    free(costs);
    return status;
}

int cli_account(int argc, char **argv)
{
    if (argc < 2) {
        (void)fputs(help_account, stderr);
        return CLI_WRONG;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        (void)fputs(help_account, stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "scale") == 0)
        return run_scale(argc - 1, argv + 1);
    if (strcmp(argv[1], "guarantee") == 0)
        return run_guarantee(argc - 1, argv + 1);
    static const char *const names[] = {"scale", "guarantee"};
    char hint[TACIT__SUGGESTION];
    return cli_wrong("unknown subcommand '%s'%s", argv[1],
                     tacit__suggest(argv[1], names, 2, ", expected scale or guarantee", hint));
}

/* An agent of one's own, with a promise: registered with the library and compared with others in an experiment.
 *
 * `myopic` counts, for each state and action, how often it was tried and what it paid at once, and shows everybody the
 * action that pays best by these counts, except that with probability `explore` any action is taken. It does not plan ahead;
 * it is here to show what an agent must do:
 *
 *   - declare what it will release, calibrate the noise to the promise, and open a ledger;
 *   - put users' data into private sums, and nowhere else;
 *   - make its plan from releases alone.
 *
 * With model none the sums are exact; the code is the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>
#include <tacit/plugin.h>
#include <tacit/sum.h>

enum { EXPLORE, N_PARAMETERS };

static const tacit_parameter parameters[N_PARAMETERS] = {
    [EXPLORE] = {"explore", TACIT_PARAMETER_REAL, "0.1", 0, 1, "probability of any action"},
};

static const tacit_agent_kind myopic_kind = {
    .name = "myopic",
    .help = "takes what pays best at once, by private counts",
    .source = "examples/own_agent.c",
    .models = TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_JOINT_PURE,
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
};

typedef struct myopic {
    size_t n_states, n_actions, horizon, n_pairs;
    double explore;
    tacit_ledger *ledger;
    tacit_sum *sum;
    double *user;  /* [2 * n_pairs]: visits, then rewards, of the user who is here */
    double *noisy; /* the same, of all users so far, released */
    double *mixed; /* [horizon][states][actions], the billboard */
    uint64_t n_users, version;
} myopic;

static void destroy(void *self)
{
    myopic *m = self;
    if (m == NULL)
        return;
    tacit_sum_destroy(m->sum);
    tacit_ledger_destroy(m->ledger);
    free(m->user);
    free(m->noisy);
    free(m->mixed);
    free(m);
}

/* A user makes `horizon` steps. At worst all are the same step and pay 1: then the vector is (horizon, horizon), of length
 * sqrt(2) horizon. Nothing in it is negative. */
static tacit_status open_sum(myopic *m, const tacit_agent_request *request, tacit_noise *noise,
                             tacit_error *err)
{
    const double H = (double)m->horizon;
    const tacit_guarantee promise = request->guarantee;
    const tacit_sum_spec spec = {
        .mechanism = promise.model == TACIT_MODEL_NONE ? TACIT_SUM_EXACT
                                                       : tacit_sum_default_mechanism(promise),
        .law = promise.model == TACIT_MODEL_NONE ? TACIT_LAW_NONE
               : promise.delta > 0               ? TACIT_LAW_GAUSSIAN
                                                 : TACIT_LAW_LAPLACE,
        .dimension = 2 * m->n_pairs,
        .users = request->episodes,
        .bound = {.l1 = 2 * H, .l2 = 1.4142135623730952 * H, .nonnegative = true}};
    tacit_plan *plan = NULL;
    tacit_release release;
    tacit_status status = tacit_plan_create(&plan);
    if (status == TACIT_OK)
        status = tacit_sum_declare(&spec, "visits and rewards", &release, err);
    if (status == TACIT_OK)
        status = tacit_plan_declare(plan, &release, err);
    if (status == TACIT_OK)
        status = tacit_plan_calibrate(plan, promise, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &m->ledger, err);
    if (status == TACIT_OK)
        status = tacit_sum_create(&spec, m->ledger, "visits and rewards", &m->sum, err);
    tacit_plan_destroy(plan); /* the ledger has its own */
    return status;
}

static tacit_status create(const tacit_agent_request *request, const tacit_value *values,
                           tacit_noise *noise, void **out, tacit_error *err)
{
    myopic *m = calloc(1, sizeof *m);
    if (m == NULL)
        return TACIT_NO_MEMORY;
    m->n_states = request->n_states;
    m->n_actions = request->n_actions;
    m->horizon = request->horizon;
    m->n_pairs = m->n_states * m->n_actions;
    m->explore = values[EXPLORE].real;
    m->user = calloc(2 * m->n_pairs, sizeof *m->user);
    m->noisy = calloc(2 * m->n_pairs, sizeof *m->noisy);
    m->mixed = calloc(m->horizon * m->n_pairs, sizeof *m->mixed);
    tacit_status status = m->user != NULL && m->noisy != NULL && m->mixed != NULL
                              ? open_sum(m, request, noise, err)
                              : TACIT_NO_MEMORY;
    if (status == TACIT_OK)
        *out = m;
    else
        destroy(m);
    return status;
}

/* The action that pays best by the released counts; noise may make counts negative. */
static size_t best_action(const myopic *m, size_t state)
{
    size_t best = 0;
    double most = -1e300;
    for (size_t a = 0; a < m->n_actions; a++) {
        size_t i = state * m->n_actions + a;
        double visits = m->noisy[i] > 1 ? m->noisy[i] : 1;
        double pays = m->noisy[m->n_pairs + i] / visits;
        if (pays > most) {
            most = pays;
            best = a;
        }
    }
    return best;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    myopic *m = self;
    if (m->n_users > 0 && m->version != m->n_users) {
        tacit_status status = tacit_sum_release(m->sum, m->noisy, err);
        if (status != TACIT_OK)
            return status;
        m->version = m->n_users;
    }
    for (size_t s = 0; s < m->n_states; s++) {
        size_t best = best_action(m, s);
        for (size_t h = 0; h < m->horizon; h++)
            for (size_t a = 0; a < m->n_actions; a++)
                m->mixed[(h * m->n_states + s) * m->n_actions + a] =
                    m->explore / (double)m->n_actions + (a == best ? 1 - m->explore : 0);
    }
    *out = (tacit_billboard){.version = m->version, .mixed = m->mixed};
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    myopic *m = self;
    memset(m->user, 0, 2 * m->n_pairs * sizeof *m->user);
    for (size_t h = 0; h < m->horizon; h++) {
        size_t i = user->states[h] * m->n_actions + user->actions[h];
        m->user[i] += 1;
        m->user[m->n_pairs + i] += user->rewards[h];
    }
    tacit_status status = tacit_sum_add(m->sum, m->user, err);
    m->n_users += status == TACIT_OK;
    return status;
}

static tacit_ledger *ledger(const void *self)
{
    return ((const myopic *)self)->ledger;
}

static const tacit_agent_methods methods = {
    .create = create, .destroy = destroy, .plan = plan, .learn = learn, .ledger = ledger};

static const char experiment_text[] =
    "title: A myopic agent\n"
    "world: {kind: random-tabular, states: 5, actions: 3, horizon: 10, seed: 7}\n"
    "episodes: 5000\n"
    "runs: 2\n"
    "agents:\n"
    "  - {label: myopic, kind: myopic}\n"
    "  - {label: private, kind: myopic, privacy: {model: joint, epsilon: [1, 10]}}\n"
    "  - {kind: ucbvi}\n"
    "  - {kind: uniform}\n";

static int fail(const tacit_error *err)
{
    (void)fprintf(stderr, "own_agent: %s\n", err->message);
    return 1;
}

/* As a plug-in: cc -shared -fPIC own_agent.c -o own_agent.so $(pkg-config --cflags tacit), then
 * tacit run experiment.yaml --load ./own_agent.so */
static tacit_status load(tacit_error *err)
{
    return tacit_agent_register(&myopic_kind, &methods, err);
}
TACIT_PLUGIN(load)

int main(void)
{
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_results *results = NULL;
    if (load(&err) != TACIT_OK ||
        tacit_experiment_parse(experiment_text, strlen(experiment_text), "own_agent", NULL,
                               &experiment, &err) != TACIT_OK ||
        tacit_lab_run(experiment, NULL, &results, &err) != TACIT_OK)
        return fail(&err);
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    for (size_t a = 0; a < facts->n_agents; a++)
        (void)printf("%-20s regret %8.1f\n", facts->agents[a].label,
                     tacit_results_summary(results, 0, a).regret_mean);
    /* The promise, by the accountant: what the noise really gives at the delta that was asked for. */
    tacit_composition real;
    const tacit_plan *releases = tacit_results_plan(results, 0, 1);
    if (tacit_plan_account(releases, facts->agents[1].guarantee.delta, &real, &err) != TACIT_OK)
        return fail(&err);
    (void)printf("%s: epsilon %.6f\n", facts->agents[1].label, real.epsilon.high);
    int status = tacit_results_summary(results, 0, 0).regret_mean <
                             tacit_results_summary(results, 0, 4).regret_mean &&
                         real.epsilon.high <= facts->agents[1].guarantee.epsilon * (1 + 1e-9)
                     ? 0
                     : 1;
    tacit_results_destroy(results);
    tacit_experiment_destroy(experiment);
    return status;
}

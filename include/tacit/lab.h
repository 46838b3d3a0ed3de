/* The laboratory: experiments and their results.
 *
 * An experiment is a file that lists worlds and agents, the number of users, and the number of repetitions.
 *
 *     tacit_experiment_read("riverswim.yaml", NULL, &experiment, &err);
 *     tacit_lab_run(experiment, NULL, &results, &err);
 *     tacit_results_summary(results, world, agent).regret_mean;
 *
 * Every (world, agent, run) is a job. The random draws of a world and of its users depend on (seed, run,
 * world), and an agent's noise on (seed, run, world, agent), where worlds and agents are identified by their
 * labels. So all agents of a run meet the same people, and adding or removing an agent or a world changes
 * nothing for the others. Results are the same bit for bit, whatever the number of threads or processes. The
 * noise is seeded: everything here is a simulation, and its output protects no one. */
#ifndef TACIT_LAB_H
#define TACIT_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Baselines: reference policies that run in every world ------------------------------------ */

/* Baselines learn nothing, need no privacy and have no parameters; `name`, `help` and `source` are as for
 * agents. */
TACIT_API size_t tacit_baseline_count(void);
/* Baseline i, or NULL beyond the last; the one of this name, or NULL. */
TACIT_API const tacit_agent_kind *tacit_baseline_at(size_t i);
TACIT_API const tacit_agent_kind *tacit_baseline_find(const char *name);

/* --- From text --------------------------------------------------------------------------------- */

/* For programs and other languages that do not use the structs: worlds and agents from YAML (or JSON, which
 * is YAML) as in experiment files, by the same reader and with the same messages. `name` takes the place of
 * the file's name: messages begin with it, and relative paths start from its directory; NULL: "world",
 * "agent". The text is not used after the call.
 *
 * A world is one entry of `worlds`, without lists of values:   {kind: riverswim, states: 6} */
TACIT_API TACIT_MUST_USE tacit_status tacit_world_create_text(const char *text, size_t size,
                                                              const char *name, tacit_world **out,
                                                              tacit_error *err);

/* An agent is one entry of `agents`, the number of its users, and its space:
 *
 *     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}
 *     episodes: 50000
 *     space: {states: 6, actions: 2, horizon: 20}          the keys of `space` in docs/reference/service.md
 *
 * If a world is given, there is no `space`: the space and all public knowledge are those of the world, which
 * must outlive the agent. `noise` is as for tacit_agent_create. A delta above 1/episodes needs
 * delta_above_one_over_users: yes. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_create_text(const char *text, size_t size,
                                                              const char *name,
                                                              const tacit_world *place,
                                                              tacit_noise *noise, tacit_agent **out,
                                                              tacit_error *err);

/* --- Experiments ------------------------------------------------------------------------------- */

typedef struct tacit_experiment tacit_experiment;

/* Values that override the file; 0: the file's value. */
typedef struct tacit_experiment_changes {
    uint64_t episodes, runs, seed;
    uint64_t max_jobs; /* more jobs than this are TOO_LARGE; 0: TACIT_MAX_JOBS */
} tacit_experiment_changes;

/* People who come back. Users come in rounds; in each round every person comes once, always in the same
 * order, or in a random order that keeps the distance. A person begins every visit in the same state or with
 * the same context; everything after that is drawn independently for each visit. */
typedef enum tacit_order { TACIT_ORDER_ROUNDS, TACIT_ORDER_RANDOM } tacit_order;
typedef struct tacit_visitors {
    uint64_t people; /* 0: every user is a different person */
    uint64_t visits; /* the most visits of each person */
    uint64_t apart;  /* the least distance of two visits of one person, in users */
    tacit_order order;
} tacit_visitors;

/* One world. A list of values in the file has become one world for each value. */
typedef struct tacit_world_entry {
    const char *label, *kind;
    const tacit_setting *settings;
    size_t n_settings;
    tacit_visitors visitors;
    int line;
} tacit_world_entry;

/* One agent, likewise. The guarantee's default delta is filled in; an infinite epsilon, or no `privacy` at
 * all, is model none. */
typedef struct tacit_entry {
    const char *label, *kind;
    bool baseline;
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    const char *sums;       /* NULL: the agent chooses */
    uint64_t visits, apart; /* the most visits of one person, and their least distance */
    tacit_outside outside;
    const tacit_setting *settings;
    size_t n_settings;
    int line;
    bool privacy_written; /* the file has `privacy` */
    bool delta_chosen;    /* the file has none, so it is 1/(10 episodes) */
    bool delta_too_large; /* above 1/episodes, without `delta_above_one_over_users: yes` */
} tacit_entry;

typedef struct tacit_experiment_facts {
    const char *file, *title; /* the title is the file's name where none is given */
    const tacit_world_entry *worlds;
    size_t n_worlds;
    uint64_t episodes, runs, seed;
    const tacit_entry *agents;
    size_t n_agents;
    uint64_t n_jobs; /* (world, agent) pairs that play, times runs */
} tacit_experiment_facts;

/* Limits, all stated choices: what a machine can finish, or hold. */
#define TACIT_MAX_EPISODES UINT64_C(1000000000000)
#define TACIT_MAX_RUNS UINT64_C(100000)
#define TACIT_MAX_JOBS UINT64_C(1000000)
#define TACIT_MANY_JOBS UINT64_C(10000) /* above this, a program should ask for confirmation */

/* Reads and checks a file. The message of SYNTAX, BAD_ARGUMENT and similar errors names file, line, value,
 * and what was expected. Worlds and agents check their own parameters when they are created. */
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_read(const char *path,
                                                            const tacit_experiment_changes *changes,
                                                            tacit_experiment **out,
                                                            tacit_error *err);
/* The same from memory; messages use `name` as the name of the file. */
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_parse(
    const char *text, size_t size, const char *name, const tacit_experiment_changes *changes,
    tacit_experiment **out, tacit_error *err);
TACIT_API void tacit_experiment_destroy(tacit_experiment *experiment);

TACIT_API const tacit_experiment_facts *tacit_experiment_describe(
    const tacit_experiment *experiment);

/* Whether this agent plays in this world: true unless its entry has `worlds: [...]` without this one. */
TACIT_API bool tacit_experiment_plays(const tacit_experiment *experiment, size_t world,
                                      size_t agent);

/* The request for agent number `agent` in a world of this experiment, for callers that create the agent
 * themselves. It refers to the experiment and to the world. Its kind is never an alias. */
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_request(const tacit_experiment *experiment,
                                                               const tacit_world *place,
                                                               size_t agent,
                                                               tacit_agent_request *out,
                                                               tacit_error *err);

/* World number `world`, and agent number `agent` as it plays run `run` in it (all counted from 0). A
 * baseline is UNSUPPORTED: it has no tacit_agent. */
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_world(const tacit_experiment *experiment,
                                                             size_t world, tacit_world **out,
                                                             tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_agent(const tacit_experiment *experiment,
                                                             size_t world, const tacit_world *place,
                                                             size_t agent, uint64_t run,
                                                             tacit_agent **out, tacit_error *err);

/* --- Running ----------------------------------------------------------------------------------- */

/* A job that is being played. */
typedef struct tacit_lab_running {
    size_t world, agent;
    uint64_t run, episodes; /* played */
} tacit_lab_running;

typedef struct tacit_lab_progress {
    uint64_t episodes, n_episodes; /* played, and in all; baselines play none */
    uint64_t earlier;              /* of the episodes: those that an earlier run had played */
    uint64_t jobs, n_jobs;         /* finished, and in all */
    double seconds;                /* since the start */
    double seconds_left;           /* estimate from the pace of each agent so far; NaN: too early */
    const tacit_lab_running *running; /* in the order in which they began */
    size_t n_running;
} tacit_lab_progress;

/* How the processes of one run communicate: by messages of bytes. Processes are numbered from 0. All of them
 * run the same experiment; process 0 assigns the jobs and keeps the results. Only the thread that called
 * tacit_lab_run uses the transport. */
typedef struct tacit_transport {
    void *context;
    unsigned rank, size; /* this process, and how many there are */
    /* May wait until the other side has received. */
    tacit_status (*send)(void *context, unsigned to, const void *bytes, size_t size);
    /* The next message that has arrived, from any process, without waiting: *size is 0 if there is none,
     * and at most `room` otherwise. Messages from one process arrive in their order. */
    tacit_status (*receive)(void *context, unsigned *from, void *bytes, size_t room, size_t *size);
} tacit_transport;

/* Opens and closes a transport. The module tacit-mpi.so, to be opened with dlopen, has one symbol of this
 * type, `tacit_mpi`. Call `close` at the end; with `failed` it ends the other processes instead of waiting
 * for them. */
typedef struct tacit_transport_module {
    tacit_status (*open)(tacit_transport *out, tacit_error *err);
    void (*close)(tacit_transport *transport, bool failed);
} tacit_transport_module;

/* Tells the other processes that this one cannot call tacit_lab_run, because of `err`; they do not wait for
 * it. */
TACIT_API void tacit_lab_absent(const tacit_transport *transport, const tacit_error *err);

/* What to do if the directory already has results. */
typedef enum tacit_lab_mode {
    TACIT_LAB_NEW,    /* refuse to run */
    TACIT_LAB_RESUME, /* play the missing jobs; all of them if there are no results */
    TACIT_LAB_REPLACE /* discard them */
} tacit_lab_mode;

typedef struct tacit_lab_options {
    unsigned n_threads; /* 0: one for each processor that this process may use */
    /* A directory that exists. Results are written to DIRECTORY/results.db as they come, so that a run that
     * is stopped loses only the jobs that were being played. NULL: results are in memory only. */
    const char *directory;
    tacit_lab_mode mode;
    /* NULL: there is one process. Otherwise n_threads must be the same in all processes (0: one), and only
     * process 0 uses the directory. */
    const tacit_transport *transport;
    /* Called once by the thread that called tacit_lab_run, after all worlds and agents have been created and
     * before the first job is played. `seconds` is a rough lower bound on the time that the run will take; it
     * is 0 in all processes but the first. NULL: none. */
    void (*begin)(void *context, double seconds);
    /* Called by the thread that called tacit_lab_run, about ten times a second and once at the end. False
     * stops the run. NULL: none. */
    bool (*progress)(void *context, const tacit_lab_progress *progress);
    void *context;
} tacit_lab_options;

typedef struct tacit_results tacit_results;

/* Plays every job. `options` NULL: all defaults. The first failure stops the run and is returned. A run that
 * was stopped by `progress` returns the finished jobs. Of several processes, process 0 gets all results and
 * the others NULL; if contact with a process is lost, that is an error at the end, when all others are
 * done. */
TACIT_API TACIT_MUST_USE tacit_status tacit_lab_run(const tacit_experiment *experiment,
                                                    const tacit_lab_options *options,
                                                    tacit_results **out, tacit_error *err);

/* --- Forecasts --------------------------------------------------------------------------------- */

/* Will this many users be enough? Before the first user comes, a forecast plays the learner on reference
 * worlds of the declared shape: numbers of states, actions and steps, features, kernels. The worlds are drawn
 * from several public families, with fixed seeds. A world counts if the best constant action loses at least a
 * tenth of what random actions lose; the learner must beat that action over the whole run.
 * docs/why/forecast.md says how far to trust this. */
typedef enum tacit_outlook {
    TACIT_OUTLOOK_UNKNOWN, /* too few worlds were played in the time */
    TACIT_OUTLOOK_ENOUGH,  /* the learner beats the best constant action in nine worlds of ten,
                               and saves two thirds of its regret in the median one */
    TACIT_OUTLOOK_DEPENDS, /* in half of them */
    TACIT_OUTLOOK_NOT_ENOUGH
} tacit_outlook;

typedef struct tacit_forecast_options {
    double seconds;     /* time limit; 0: none */
    unsigned n_threads; /* 0: one for each processor that this process may use */
    size_t n_worlds;    /* at most 21; 0: as many as can be played in the time */
    bool search;        /* for a number of users and an epsilon that would be enough */
    /* Tables: how small or rare rewards are. The mean reward where actions pay is about this share of the
     * declared range, 0.0001 to 0.5; 0: 0.5. */
    double rewards;
    /* The world of a file, which is played as well; NULL: none. */
    const tacit_world_entry *own;
    /* Called about ten times a second with the share that is done, and what is being played. False: stop. */
    bool (*progress)(void *context, double share, uint64_t users, double epsilon);
    void *context;
} tacit_forecast_options;

typedef struct tacit_forecast {
    const char *kind; /* that was played; never an alias */
    tacit_outlook outlook;
    uint64_t users;
    size_t n_worlds, n_beaten; /* worlds that count, and those in which the learner is better */
    double gain; /* the share of the best constant action's regret that it saves, in the median */
    /* How many users, or which epsilon, would be enough: the least on the way down by halving, or the first
     * on the way up by doubling. Infinite: none; NaN: not searched for, or not found in the time. */
    double users_needed, epsilon_needed;
    /* The mean rewards that were played, 0 where the worlds are no tables, and the smallest, by halving, with
     * which the answer "enough" is the same; NaN: not searched for. */
    double rewards, rewards_needed;
    /* The options' own world: the runs that were finished, those in which the learner beats the best constant
     * action over the whole run, and those that learned (tacit_bar). */
    uint64_t own_runs, own_beaten, own_learned;
    /* Half of these runs or more do not beat that action or, where it loses less than a tenth of what random
     * actions lose, did not learn. */
    bool own_not_enough;
    char words[800];     /* the same as sentences: about the reference worlds, and */
    char own_words[400]; /* about the own world; "": none */
} tacit_forecast;

/* `options` NULL: 20 seconds, with search. EXHAUSTED if it was stopped. Other failures are those of the
 * learner and of tacit_lab_run. */
TACIT_API TACIT_MUST_USE tacit_status tacit_forecast_make(const tacit_agent_request *request,
                                                          const tacit_forecast_options *options,
                                                          tacit_forecast *out, tacit_error *err);

/* The experiment that a forecast plays for this request, as a file; to be freed with free(). NULL: failed. */
TACIT_API char *tacit_forecast_experiment(const tacit_agent_request *request,
                                          const tacit_forecast_options *options, tacit_error *err);

/* --- Results ----------------------------------------------------------------------------------- */

/* Where the world is a log (tacit_results_logged): the mean reward per user of the policy that an agent
 * played, in the world's original units, estimated in three ways. Errors are standard errors. `effective` is
 * the effective sample size, (sum w)^2 / sum w^2 of the weights w. */
typedef struct tacit_estimate {
    double ips, ips_error; /* inverse propensities: unbiased */
    double self_normalized,
        self_normalized_error; /* divided by the sum of weights: less variance */
    double doubly_robust,
        doubly_robust_error; /* with a model of rewards: unbiased, less variance */
    double effective;
    double logging, logging_error;           /* what the log's own policy earned */
    double constant, constant_error;         /* doubly robust, of the best constant action */
    double lift_logging, lift_logging_error; /* doubly robust minus these, user by user */
    double lift_constant, lift_constant_error;
    uint64_t matched; /* users for whom the agent chose the action of the log */
    bool known;       /* false: the world is no log, or no run is finished */
} tacit_estimate;

/* Regret is exact pseudo-regret, in the world's original units: the sum over episodes of the best policy's
 * value minus the value of the policy that was played. Where the world is a log it is an estimate by inverse
 * propensities of the sum of the largest reward minus the reward, and `estimate` says more. */
typedef struct tacit_job {
    bool done;
    double regret;
    double late_regret;  /* per episode, over the last tenth of the episodes */
    uint64_t switches;   /* how often the policy changed after the first */
    double seconds;      /* of processor time; the only value here that is not reproducible */
    const double *curve; /* regret so far, at the episodes of tacit_results_episode */
    size_t n_points;     /* of the curve that are known: all if done, else as many as were played */
    tacit_estimate estimate;
} tacit_job;

/* Over the finished runs of an agent. An error is the standard error of the mean, and a half is half of its
 * 95 % confidence interval (Student's t); both are NaN with fewer than two runs. */
typedef struct tacit_summary {
    uint64_t runs;
    double regret_mean, regret_error, regret_half;
    double late_mean, late_error;
    double switches, seconds; /* means */
    const char *kind;         /* of the agent in this world; never an alias */
    const char *remark;       /* tacit_agent_remark, or "" */
    /* How many of the runs did not learn, and whether these are half of them or more: see tacit_bar. Always 0
     * and false for baselines, and where no bar is known. */
    uint64_t runs_not_learned;
    bool did_not_learn;
} tacit_summary;

/* What a run must beat to have learned: its late regret must be below nine tenths of the bar. The bar is the
 * late regret of the baseline that loses least, of `constant`, `no-data` and, if neither of them was played,
 * `uniform`. The best constant action is known only afterwards, and where one action is nearly always right
 * no learner can beat it; so `constant` counts as losing at least a tenth of what `uniform` loses. In a log,
 * a run must have an estimated lift over the best constant action that is not negative. */
typedef struct tacit_bar {
    double late;      /* NaN: the world is a log, or no bar is known */
    const char *what; /* "what the best constant action loses", ...; NULL: no bar is known */
} tacit_bar;

/* Opens the results that tacit_lab_run has written to DIRECTORY/results.db, finished or not. CORRUPT or
 * WRONG_VERSION: this library did not write the file. Worlds and agents may be unknown to this program. */
TACIT_API TACIT_MUST_USE tacit_status tacit_results_open(const char *directory, tacit_results **out,
                                                         tacit_error *err);
TACIT_API void tacit_results_destroy(tacit_results *results);

/* The experiment that was played; lives as long as the results. */
TACIT_API const tacit_experiment_facts *tacit_results_describe(const tacit_results *results);

/* The version of the library that played it. */
TACIT_API const char *tacit_results_version(const tacit_results *results);

/* Whether every job is finished. */
TACIT_API bool tacit_results_complete(const tacit_results *results);

/* The public facts of a world (`kind` is NULL if this program does not know it; rewards and features are not
 * stored), and the best policy's value in original units. */
TACIT_API const tacit_world_facts *tacit_results_world(const tacit_results *results, size_t world);
TACIT_API double tacit_results_optimal_value(const tacit_results *results, size_t world);

/* The agent's calibrated release plan in this world; NULL if it has no guarantee. */
TACIT_API const tacit_plan *tacit_results_plan(const tacit_results *results, size_t world,
                                               size_t agent);

/* NULL where the agent does not play. */
TACIT_API const tacit_job *tacit_results_job(const tacit_results *results, size_t world,
                                             size_t agent, uint64_t run);
TACIT_API tacit_summary tacit_results_summary(const tacit_results *results, size_t world,
                                              size_t agent);

/* Whether the world is a log of another policy's decisions: then nothing about it is exact. */
TACIT_API bool tacit_results_logged(const tacit_results *results, size_t world);

/* Means over the finished runs. Runs replay the same log in different orders, so more runs do not make the
 * errors smaller: errors are root mean squares. */
TACIT_API tacit_estimate tacit_results_estimate(const tacit_results *results, size_t world,
                                                size_t agent);

/* What the runs of this world must beat to have learned. */
TACIT_API tacit_bar tacit_results_bar(const tacit_results *results, size_t world);

/* Whether a finished run of a learner did not; false where no bar is known, and for baselines. */
TACIT_API bool tacit_results_not_learned(const tacit_results *results, size_t world, size_t agent,
                                         uint64_t run);

/* Curves have at most 1000 points (fewer if there are more than 20,000 jobs), at episodes 1 .. K in equal
 * steps, the last of them K. */
TACIT_API size_t tacit_results_points(const tacit_results *results);
TACIT_API uint64_t tacit_results_episode(const tacit_results *results, size_t point);

#ifdef __cplusplus
}
#endif

#endif

/* The laboratory: experiments, and what comes of them.
 *
 * An experiment is a file: some worlds, some agents, how many users come, how often it is repeated.
 *
 *     tacit_experiment_read("riverswim.yaml", NULL, &experiment, &err);
 *     tacit_lab_run(experiment, NULL, &results, &err);
 *     tacit_results_summary(results, world, agent).regret_mean;
 *
 * Every (world, agent, run) is a job. Chance in a world, and in the choices of its users, comes from
 * (seed, run, world); an agent's noise from (seed, run, world, agent), where worlds and agents are known
 * by their labels. So all agents of a run meet the same people, and adding or removing an agent or a world
 * changes nothing for the others. Results are the same bit for bit whatever the number of threads or
 * processes. The noise is seeded: everything here is a simulation, and its output protects no one. */
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

/* --- Yardsticks: agents that the lab plays itself, in every world ------------------------------ */

/* They learn nothing, need no privacy and have no parameters; `name`, `help` and `source` as for agents. */
TACIT_API size_t tacit_yardstick_count(void);
/* Yardstick i, or NULL beyond the last; the one of this name, or NULL. */
TACIT_API const tacit_agent_kind *tacit_yardstick_at(size_t i);
TACIT_API const tacit_agent_kind *tacit_yardstick_find(const char *name);

/* --- From text --------------------------------------------------------------------------------- */

/* For programs, and for other languages, that have no use for the structs: worlds and agents from YAML (or
 * JSON, which is YAML) as experiment files have it, read by the same reader and refused with the same
 * messages. `name` stands before these messages and is where relative paths begin, as the name of a file;
 * NULL: "world", "agent". Nothing refers to `text` afterwards.
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
 * With a world there is no `space`: the space, and what is known, are the world's, which must outlive the
 * agent. `noise` as for tacit_agent_create. A delta above 1/episodes needs delta_above_one_over_users: yes.
 */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_create_text(const char *text, size_t size,
                                                              const char *name,
                                                              const tacit_world *place,
                                                              tacit_noise *noise, tacit_agent **out,
                                                              tacit_error *err);

/* --- Experiments ------------------------------------------------------------------------------- */

typedef struct tacit_experiment tacit_experiment;

/* What is asked for apart from the file; 0: as the file says. */
typedef struct tacit_experiment_changes {
    uint64_t episodes, runs;
    uint64_t max_jobs; /* more jobs than this are TOO_LARGE; 0: TACIT_MAX_JOBS */
} tacit_experiment_changes;

/* People who come back. Users are dealt in rounds, in each of which every person comes once: always in the
 * same order, or in a random one that keeps the distance. A person begins all visits alike, in the same
 * state or with the same context; what happens then is drawn anew for each visit. */
typedef enum tacit_order { TACIT_ORDER_ROUNDS, TACIT_ORDER_RANDOM } tacit_order;
typedef struct tacit_visitors {
    uint64_t people; /* 0: every user is another person */
    uint64_t visits; /* of each person, at most */
    uint64_t apart;  /* users between any two of them, at least */
    tacit_order order;
} tacit_visitors;

/* One world. What was written as a list of values has become one world for each value. */
typedef struct tacit_world_entry {
    const char *label, *kind;
    const tacit_setting *settings;
    size_t n_settings;
    tacit_visitors visitors;
    int line;
} tacit_world_entry;

/* One agent, likewise. The guarantee's delta has its default already; an infinite epsilon, or no `privacy`
 * at all, is model none. */
typedef struct tacit_entry {
    const char *label, *kind;
    bool yardstick;
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    const char *sums;       /* NULL: the agent chooses */
    uint64_t visits, apart; /* of one person, at most and at least */
    tacit_outside outside;
    const tacit_setting *settings;
    size_t n_settings;
    int line;
    bool privacy_written; /* the file has `privacy` */
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

/* Largest values, all stated choices: what a machine can finish, or hold. */
#define TACIT_MAX_EPISODES UINT64_C(1000000000000)
#define TACIT_MAX_RUNS UINT64_C(100000)
#define TACIT_MAX_JOBS UINT64_C(1000000)
#define TACIT_MANY_JOBS UINT64_C(10000) /* from here on a person should be asked */

/* Reads and checks a file. SYNTAX, BAD_ARGUMENT and relatives come with a message that names file, line,
 * value, and what was expected. Worlds and agents check their own parameters when they are created. */
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_read(const char *path,
                                                            const tacit_experiment_changes *changes,
                                                            tacit_experiment **out,
                                                            tacit_error *err);
/* The same from memory; `name` is what messages call it. */
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_parse(
    const char *text, size_t size, const char *name, const tacit_experiment_changes *changes,
    tacit_experiment **out, tacit_error *err);
TACIT_API void tacit_experiment_destroy(tacit_experiment *experiment);

TACIT_API const tacit_experiment_facts *tacit_experiment_describe(
    const tacit_experiment *experiment);

/* Whether this agent plays in this world: all do everywhere, unless their entry says `worlds: [...]`. */
TACIT_API bool tacit_experiment_plays(const tacit_experiment *experiment, size_t world,
                                      size_t agent);

/* What is asked of agent number `agent` in a world of this experiment, for callers that create it
 * themselves. It refers to the experiment and to the world; its kind is what an alias stands for there. */
TACIT_API TACIT_MUST_USE tacit_status tacit_experiment_request(const tacit_experiment *experiment,
                                                               const tacit_world *place,
                                                               size_t agent,
                                                               tacit_agent_request *out,
                                                               tacit_error *err);

/* World number `world`, and agent number `agent` as it plays run `run` in it (all counted from 0). A
 * yardstick is UNSUPPORTED: it has no tacit_agent. */
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
    uint64_t episodes, n_episodes; /* played, and in all; yardsticks play none */
    uint64_t earlier;              /* of the episodes: those that were found played */
    uint64_t jobs, n_jobs;         /* finished, and in all */
    double seconds;                /* since the start */
    double seconds_left;           /* estimate from the pace of each agent so far; NaN: too early */
    const tacit_lab_running *running; /* in the order in which they began */
    size_t n_running;
} tacit_lab_progress;

/* How the processes of one run talk to each other: messages of bytes between processes that are numbered
 * from 0. All of them run the same experiment; process 0 hands out the jobs and keeps the results. Only
 * the thread that called tacit_lab_run uses the transport. */
typedef struct tacit_transport {
    void *context;
    unsigned rank, size; /* this process, and how many there are */
    /* May wait until the other side has received. */
    tacit_status (*send)(void *context, unsigned to, const void *bytes, size_t size);
    /* The next message that has arrived, from any process, without waiting: *size is 0 if there is none,
     * and at most `room` otherwise. Messages from one process arrive in their order. */
    tacit_status (*receive)(void *context, unsigned *from, void *bytes, size_t room, size_t *size);
} tacit_transport;

/* Where a transport comes from: the module tacit-mpi.so, to be opened with dlopen, has one symbol,
 * `tacit_mpi`, of this type. `close` after all is done; `failed`: others are not waited for, but taken
 * down. */
typedef struct tacit_transport_module {
    tacit_status (*open)(tacit_transport *out, tacit_error *err);
    void (*close)(tacit_transport *transport, bool failed);
} tacit_transport_module;

/* This process cannot call tacit_lab_run, because of `err`: the others are notified, and do not wait for
 * it. */
TACIT_API void tacit_lab_absent(const tacit_transport *transport, const tacit_error *err);

/* What to do with results that are there already. */
typedef enum tacit_lab_mode {
    TACIT_LAB_NEW,    /* nothing may be there */
    TACIT_LAB_RESUME, /* play what is missing; with nothing there, everything */
    TACIT_LAB_REPLACE /* forget them */
} tacit_lab_mode;

typedef struct tacit_lab_options {
    unsigned n_threads; /* 0: one for each processor that this process may use */
    /* A directory that exists: DIRECTORY/results.db receives the results as they come, so that whatever
     * stops the run costs the jobs that were being played and nothing else. NULL: results live in memory
     * only. */
    const char *directory;
    tacit_lab_mode mode;
    /* NULL: this process is alone. Else n_threads must be the same in all (0: one), and only process 0
     * uses the directory. */
    const tacit_transport *transport;
    /* Called once by the thread that called tacit_lab_run, when all worlds and agents could be created and
     * before the first job is played, with the seconds that the run will take at least, roughly; processes
     * other than the first are told 0. NULL: none. */
    void (*begin)(void *context, double seconds);
    /* Called by the thread that called tacit_lab_run, some ten times a second and once at the end. False
     * stops the run. NULL: none. */
    bool (*progress)(void *context, const tacit_lab_progress *progress);
    void *context;
} tacit_lab_options;

typedef struct tacit_results tacit_results;

/* Plays every job. `options` NULL: all defaults. The first thing that goes wrong stops everything and is
 * the error. A run that was stopped gives the jobs that were finished. Of several processes, process 0
 * gets all results, and the others NULL; one that is not heard of any more is an error at the end, when
 * all others are done. */
TACIT_API TACIT_MUST_USE tacit_status tacit_lab_run(const tacit_experiment *experiment,
                                                    const tacit_lab_options *options,
                                                    tacit_results **out, tacit_error *err);

/* --- Forecasts --------------------------------------------------------------------------------- */

/* Will this many users be enough? Before the first user comes, the very learner is played on reference worlds
 * of the declared shape: numbers of states, actions and steps, features, kernels. They are drawn from several
 * public families, with fixed seeds. A world counts if the best constant action loses at least a tenth of
 * what random actions lose; the learner is to beat that action over the whole run. docs/why/forecast.md says
 * how far to trust this. */
typedef enum tacit_outlook {
    TACIT_OUTLOOK_UNKNOWN, /* too few worlds were played in the time */
    TACIT_OUTLOOK_ENOUGH,  /* the learner beats the best constant action in nine worlds of ten,
                               and saves two thirds of its regret in the median one */
    TACIT_OUTLOOK_DEPENDS, /* in half of them */
    TACIT_OUTLOOK_NOT_ENOUGH
} tacit_outlook;

typedef struct tacit_forecast_options {
    double seconds;     /* that it may take; 0: as long as it takes */
    unsigned n_threads; /* 0: one for each processor that this process may use */
    size_t n_worlds;    /* at most 21; 0: as many as can be played in the time */
    bool search;        /* for users and an epsilon that would be enough */
    /* Called some ten times a second with the share that is done, and what is being played. False: stop. */
    bool (*progress)(void *context, double share, uint64_t users, double epsilon);
    void *context;
} tacit_forecast_options;

typedef struct tacit_forecast {
    const char *kind; /* that was played: what an alias stands for */
    tacit_outlook outlook;
    uint64_t users;
    size_t n_worlds, n_beaten; /* that count, and those in which the learner is better */
    double gain; /* what it saves of the best constant action's regret, median over worlds */
    /* Enough at this epsilon, or for these users: the least on the way down by halves, or the first on the
     * way up. Infinite: none; NaN: not looked for, or not found in the time. */
    double users_needed, epsilon_needed;
    char words[600]; /* the same as a sentence */
} tacit_forecast;

/* `options` NULL: 20 seconds, with search. EXHAUSTED if it was stopped. Other failures are those of the
 * learner and of tacit_lab_run. */
TACIT_API TACIT_MUST_USE tacit_status tacit_forecast_make(const tacit_agent_request *request,
                                                          const tacit_forecast_options *options,
                                                          tacit_forecast *out, tacit_error *err);

/* The experiment that is played for this request, as a file; to be freed with free(). NULL: failed. */
TACIT_API char *tacit_forecast_experiment(const tacit_agent_request *request, tacit_error *err);

/* --- Results ----------------------------------------------------------------------------------- */

/* What a log says about the policy that an agent played, where the world is a log (tacit_results_logged): its
 * mean reward a user, in the world's original units, estimated in three ways. Errors are standard errors.
 * `effective` is the number of users that the estimate is worth: (sum w)^2 / sum w^2 of the weights w. */
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
    uint64_t matched; /* users for whom the agent chose what the log did */
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
    double seconds;      /* of processor time; the one thing here that varies */
    const double *curve; /* regret so far, at the episodes of tacit_results_episode */
    size_t n_points;     /* of the curve that are known: all if done, else as many as were played */
    tacit_estimate estimate;
} tacit_job;

/* Over the finished runs of an agent. Errors are standard errors of the mean, NaN with fewer than two
 * runs. */
typedef struct tacit_summary {
    uint64_t runs;
    double regret_mean, regret_error;
    double late_mean, late_error;
    double switches, seconds; /* means */
    const char *kind;         /* that plays: what the entry's kind stands for in this world */
    const char *remark;       /* tacit_agent_remark, or "" */
    /* tacit_results_measure beats it in total, and it does not end a tenth better. */
    bool did_not_learn;
} tacit_summary;

/* What tacit_lab_run left in DIRECTORY/results.db, finished or not. CORRUPT or WRONG_VERSION if it is not
 * what this library writes. Worlds and agents that this program does not know are no obstacle. */
TACIT_API TACIT_MUST_USE tacit_status tacit_results_open(const char *directory, tacit_results **out,
                                                         tacit_error *err);
TACIT_API void tacit_results_destroy(tacit_results *results);

/* The experiment that they are results of; lives as long as they do. */
TACIT_API const tacit_experiment_facts *tacit_results_describe(const tacit_results *results);

/* The version of the library that played. */
TACIT_API const char *tacit_results_version(const tacit_results *results);

/* Every job was finished. */
TACIT_API bool tacit_results_complete(const tacit_results *results);

/* The plain numbers of what is public about a world (`kind` is NULL if this program does not know it;
 * rewards and features are not kept), and the best policy's value in original units. */
TACIT_API const tacit_world_facts *tacit_results_world(const tacit_results *results, size_t world);
TACIT_API double tacit_results_optimal_value(const tacit_results *results, size_t world);

/* The agent's release plan in this world, calibrated; NULL where nothing is promised. */
TACIT_API const tacit_plan *tacit_results_plan(const tacit_results *results, size_t world,
                                               size_t agent);

/* NULL where the agent does not play. */
TACIT_API const tacit_job *tacit_results_job(const tacit_results *results, size_t world,
                                             size_t agent, uint64_t run);
TACIT_API tacit_summary tacit_results_summary(const tacit_results *results, size_t world,
                                              size_t agent);

/* Whether the world is a log of what others did: then nothing about it is exact. */
TACIT_API bool tacit_results_logged(const tacit_results *results, size_t world);

/* Means over the finished runs. They replay the same log in other orders, so more runs do not make the errors
 * smaller: these are root mean squares. */
TACIT_API tacit_estimate tacit_results_estimate(const tacit_results *results, size_t world,
                                                size_t agent);

/* The agent of this world that a learner must beat to have learned: the yardstick `constant`, else `uniform`;
 * SIZE_MAX if neither was played. */
TACIT_API size_t tacit_results_measure(const tacit_results *results, size_t world);

/* Curves have at most 1000 points (fewer if there are more than 20,000 jobs), at episodes 1 .. K in equal
 * steps, the last of them K. */
TACIT_API size_t tacit_results_points(const tacit_results *results);
TACIT_API uint64_t tacit_results_episode(const tacit_results *results, size_t point);

#ifdef __cplusplus
}
#endif

#endif

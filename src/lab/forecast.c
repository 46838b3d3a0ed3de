/* Forecasts by play: the very learner on reference worlds of the declared shape. See include/tacit/lab.h
 * and docs/why/forecast.md.
 *
 * A world counts if what to do depends on where one is: the best constant action loses at least a tenth of
 * what random actions lose. The learner beats it there or does not. "Enough" is beating it in nine worlds
 * of ten, and saving two thirds of its regret in the median one; "not enough" is losing in more than half
 * of them.
 *
 * A probe plays all worlds with some number of users and some epsilon, as long as its share of the time
 * lasts: worlds come in order, so that slow learners see fewer. The world of a file is no reference world: it
 * is played by itself, several times, and told beside them. What would be enough is searched for by
 * doubling or halving from what was asked for. In tables, rewards have the size that the options say; if the
 * answer is "enough", the smallest rewards for which it holds are searched for in the same way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tacit/lab.h>

#include "base/error.h"
#include "base/wait.h"
#include "lab/reference_worlds.h"

enum { MOST_WORLDS = 21, LEAST_WORLDS = 6, MOST_STEPS = 12, OWN_RUNS = 10 };
#define SHARE_THAT_COUNTS 0.1 /* of the regret of random actions */
#define ENOUGH 0.9
#define NOT_ENOUGH 0.5
#define LEAST_GAIN 0.65 /* a margin: what the median world must save, for other worlds than these */
#define FIRST_SHARE 0.4 /* of the time, for the question itself */
#define OWN_SHARE 0.2   /* for the world of the file */
#define MOST_EPSILON 1e2 /* what is larger protects nobody, and is no advice */
#define LEAST_EPSILON 1e-3
#define USUAL_REWARDS 0.5 /* of the declared range, in the mean, if nothing is said about them */
#define LEAST_REWARDS 1e-4

/* The result of one probe. */
typedef struct probe {
    size_t counted, beaten;
    double gain; /* median over the worlds that count */
    bool stopped;
} probe;

typedef struct asker {
    const tacit_agent_request *request;
    const tacit_forecast_options *options;
    double start, end; /* of all time; end infinite: no limit */
    double probe_end;
    uint64_t users; /* of the present probe, for the progress */
    double epsilon;
    bool canceled;
} asker;

/* The quantities with which a probe is played; the search can move along each of them. */
enum { USERS, EPSILON, REWARDS, N_AXES };
typedef double setup[N_AXES];

static bool report(void *context, const tacit_lab_progress *now)
{
    asker *a = context;
    const double t = tacit__now_seconds();
    const double share = isinf(a->end) ? (double)now->jobs / (double)now->n_jobs
                                       : (t - a->start) / (a->end - a->start);
    if (a->options->progress != NULL &&
        !a->options->progress(a->options->context, fmin(share, 1), a->users, a->epsilon))
        a->canceled = true;
    return !a->canceled && t < a->probe_end;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static probe count(const tacit_results *results)
{
    double gains[MOST_WORLDS] = {0};
    probe p = {.gain = (double)NAN, .stopped = !tacit_results_complete(results)};
    const size_t n = tacit_results_describe(results)->n_worlds;
    for (size_t w = 0; w < n && w < MOST_WORLDS; w++) {
        const tacit_job *learner = tacit_results_job(results, w, TACIT__REFERENCE_LEARNER, 0),
                        *constant = tacit_results_job(results, w, TACIT__REFERENCE_CONSTANT, 0),
                        *uniform = tacit_results_job(results, w, TACIT__REFERENCE_UNIFORM, 0);
        if (!learner->done || !constant->done || !uniform->done ||
            !(constant->regret > 0 && constant->regret >= SHARE_THAT_COUNTS * uniform->regret))
            continue;
        gains[p.counted++] = 1 - learner->regret / constant->regret;
        p.beaten += learner->regret < constant->regret;
    }
    qsort(gains, p.counted, sizeof *gains, compare);
    if (p.counted > 0)
        p.gain = (gains[(p.counted - 1) / 2] + gains[p.counted / 2]) / 2;
    return p;
}

/* Plays an experiment for `seconds` at most. `text` is destroyed. */
static tacit_status play_text(asker *a, tacit__text *text, const char *name, double seconds,
                              tacit_results **out, tacit_error *err)
{
    tacit_experiment *experiment = NULL;
    a->probe_end = isinf(a->end) ? a->end : fmin(a->end, tacit__now_seconds() + seconds);
    const tacit_lab_options lab = {
        .n_threads = a->options->n_threads, .progress = report, .context = a};
    tacit_status status = text->failed ? tacit__fail_plain(err, TACIT_NO_MEMORY)
                                       : tacit_experiment_parse(text->data, text->length, name,
                                                                NULL, &experiment, err);
    if (status == TACIT_OK)
        status = tacit_lab_run(experiment, &lab, out, err);
    tacit_experiment_destroy(experiment);
    tacit__text_destroy(text);
    return status;
}

static tacit_status play(asker *a, const setup with, double seconds, probe *out, tacit_error *err)
{
    const size_t n = a->options->n_worlds > 0 ? a->options->n_worlds : MOST_WORLDS;
    tacit__text text = {0};
    tacit_results *results = NULL;
    a->users = (uint64_t)with[USERS];
    a->epsilon = with[EPSILON];
    tacit__reference_write(a->request, n < MOST_WORLDS ? n : MOST_WORLDS, a->users, a->epsilon,
                           with[REWARDS], &text);
    tacit_status status = play_text(a, &text, "reference worlds", seconds, &results, err);
    if (status == TACIT_OK)
        *out = count(results);
    tacit_results_destroy(results);
    return status;
}

/* --- The world of the file ----------------------------------------------------------------------- */

static const char *regret_text(char out[32], double x)
{
    (void)snprintf(out, 32, fabs(x) >= 1000 && fabs(x) < 1e9 ? "%.0f" : "%.4g", x);
    return out;
}

static void count_own(const tacit_results *results, const tacit_world_entry *own, tacit_forecast *f)
{
    const tacit_summary learner = tacit_results_summary(results, 0, TACIT__REFERENCE_LEARNER),
                        constant = tacit_results_summary(results, 0, TACIT__REFERENCE_CONSTANT),
                        uniform = tacit_results_summary(results, 0, TACIT__REFERENCE_UNIFORM);
    const bool logged = tacit_results_logged(results, 0),
               counts = logged || constant.regret_mean >= SHARE_THAT_COUNTS * uniform.regret_mean;
    for (uint64_t run = 0; run < OWN_RUNS; run++) {
        const tacit_job *mine = tacit_results_job(results, 0, TACIT__REFERENCE_LEARNER, run),
                        *other = tacit_results_job(results, 0, TACIT__REFERENCE_CONSTANT, run);
        const bool learned = !tacit_results_not_learned(results, 0, TACIT__REFERENCE_LEARNER, run);
        if (!mine->done || !other->done)
            continue;
        f->own_runs++;
        f->own_learned += learned;
        f->own_beaten += logged ? learned : mine->regret < other->regret;
    }
    char ours[32], theirs[32];
    const uint64_t good = counts ? f->own_beaten : f->own_learned;
    f->own_not_enough = f->own_runs > 0 && 2 * good <= f->own_runs;
    if (f->own_runs == 0)
        (void)snprintf(f->own_words, sizeof f->own_words,
                       "in %.80s, the world of the file: no run ended in the time", own->label);
    else if (logged)
        (void)snprintf(f->own_words, sizeof f->own_words,
                       "in %.80s, the log of the file: %llu of %llu runs are estimated above the "
                       "best constant action",
                       own->label, (unsigned long long)f->own_beaten,
                       (unsigned long long)f->own_runs);
    else
        (void)snprintf(
            f->own_words, sizeof f->own_words,
            "in %.80s, the world of the file: %llu of %llu runs beat the best constant action in "
            "total (mean regret %s against %s%s), and %llu have learned at the end",
            own->label, (unsigned long long)f->own_beaten, (unsigned long long)f->own_runs,
            regret_text(ours, learner.regret_mean), regret_text(theirs, constant.regret_mean),
            counts ? "" : "; one action is nearly always right there",
            (unsigned long long)f->own_learned);
}

static tacit_status play_own(asker *a, double seconds, tacit_forecast *f, tacit_error *err)
{
    tacit__text text = {0};
    tacit_results *results = NULL;
    a->users = a->request->episodes;
    a->epsilon = a->request->guarantee.epsilon;
    tacit__reference_write_own(a->request, a->options->own, OWN_RUNS, &text);
    TRY(play_text(a, &text, a->request->file, seconds, &results, err));
    count_own(results, a->options->own, f);
    tacit_results_destroy(results);
    return TACIT_OK;
}

/* --- Outlooks ------------------------------------------------------------------------------------ */

static bool is_told(const probe *p)
{
    return p->counted >= LEAST_WORLDS || (p->counted > 0 && !p->stopped);
}

static tacit_outlook outlook_of(const probe *p)
{
    const double share = (double)p->beaten / (double)p->counted;
    return !is_told(p)                                ? TACIT_OUTLOOK_UNKNOWN
           : share < NOT_ENOUGH                       ? TACIT_OUTLOOK_NOT_ENOUGH
           : share >= ENOUGH && p->gain >= LEAST_GAIN ? TACIT_OUTLOOK_ENOUGH
                                                      : TACIT_OUTLOOK_DEPENDS;
}

/* --- What would be enough ------------------------------------------------------------------------ */

/* The next value to try; 0: there is none. */
static double step(double x, bool down, double low, double high)
{
    const double next = down ? x / 2 : 2 * x;
    return next >= low && next <= high ? next : 0;
}

/* The least number of users, epsilon or size of rewards that was enough on the way down, or the first
 * that is on the way up. Infinite: none within the limits; NaN: the time was over before. */
static tacit_status search(asker *a, int axis, const setup start, bool enough, double seconds,
                           double *out, tacit_error *err)
{
    static const setup lows = {16, LEAST_EPSILON, LEAST_REWARDS},
                       highs = {(double)TACIT_MAX_EPISODES, MOST_EPSILON, USUAL_REWARDS};
    const double stop = tacit__now_seconds() + seconds;
    setup with = {start[USERS], start[EPSILON], start[REWARDS]};
    double best = enough ? start[axis] : (double)NAN, x = start[axis];
    for (int i = 0; i < MOST_STEPS && (x = step(x, enough, lows[axis], highs[axis])) > 0; i++) {
        probe p = {0};
        const double left = stop - tacit__now_seconds();
        if (a->canceled || (!isinf(a->end) && left <= 0))
            break;
        with[axis] = x;
        TRY(play(a, with, left, &p, err));
        const bool good = outlook_of(&p) == TACIT_OUTLOOK_ENOUGH;
        if (!is_told(&p) || (enough && !good))
            break;
        if (good)
            best = x;
        if (good && !enough)
            break;
    }
    *out = isnan(best) && x == 0 ? (double)INFINITY : axis == USERS ? floor(best) : best;
    return TACIT_OK;
}

/* --- Words --------------------------------------------------------------------------------------- */

static const char *needed_text(char out[64], const char *what, double x)
{
    if (isnan(x))
        (void)snprintf(out, 64, "no %s was found in the time", what);
    else if (isinf(x))
        (void)snprintf(out, 64, "no %s would do", what);
    else
        (void)snprintf(out, 64, "%s %.10g would do", what, x);
    return out;
}

/* Says for which rewards the answer holds; it is not asked where no number of users is enough. */
static int write_rewards(const tacit_forecast *f, char *out, size_t size)
{
    if (!(f->rewards_needed > 0))
        return 0;
    return f->rewards_needed < f->rewards
               ? snprintf(out, size, "; rewards of %.2g would do, too", f->rewards_needed)
               : snprintf(out, size, "; with smaller rewards they may not be enough");
}

static void write_words(const asker *a, tacit_forecast *f)
{
    static const char *const heads[] = {"not known", "enough", "it depends on the world",
                                        "NOT ENOUGH"};
    const tacit_agent_request *q = a->request;
    const bool none = q->guarantee.model == TACIT_MODEL_NONE,
               down = f->outlook == TACIT_OUTLOOK_ENOUGH;
    char users[64], epsilon[64], place[48] = "", rewards[80] = "";
    if (f->outlook == TACIT_OUTLOOK_UNKNOWN) {
        (void)snprintf(f->words, sizeof f->words,
                       "not known: %zu reference worlds were played to the end in the time, and %d "
                       "are needed; allow more time",
                       f->n_worlds, LEAST_WORLDS);
        return;
    }
    if (!none)
        (void)snprintf(place, sizeof place, " at epsilon %g", q->guarantee.epsilon);
    if (f->rewards > 0)
        (void)snprintf(rewards, sizeof rewards, " with rewards of about %.2g of their range",
                       f->rewards);
    int n = snprintf(f->words, sizeof f->words,
                     "%s: %llu users%s beat the best constant action in %zu of %zu reference "
                     "worlds%s; the median share of its regret that they save is %.0f %%; this "
                     "holds for worlds of this size in which no action is nearly always right",
                     heads[f->outlook], (unsigned long long)f->users, place, f->n_beaten,
                     f->n_worlds, rewards, 100 * f->gain);
    if (!a->options->search || n < 0 || (size_t)n >= sizeof f->words)
        return;
    n += write_rewards(f, f->words + n, sizeof f->words - (size_t)n);
    /* on the way down, what was asked for is no news */
    const bool tells_users = !down || f->users_needed < (double)f->users,
               tells_epsilon = !none && (!down || f->epsilon_needed < q->guarantee.epsilon);
    (void)needed_text(users, "number of users", f->users_needed);
    if (isfinite(f->users_needed))
        (void)snprintf(users, sizeof users, "%s%.10g users would do", down ? "already " : "",
                       f->users_needed);
    (void)needed_text(epsilon, "epsilon", f->epsilon_needed);
    (void)snprintf(f->words + n, sizeof f->words - (size_t)n, "%s%s%s%s", tells_users ? "; " : "",
                   tells_users ? users : "",
                   !tells_epsilon ? ""
                   : tells_users  ? ", and "
                                  : "; ",
                   tells_epsilon ? epsilon : "");
}

/* --- All together -------------------------------------------------------------------------------- */

static const tacit_forecast_options defaults = {.seconds = 20, .search = true};

/* Finds the rewards to forecast with: those of the options; 0 where the worlds are no tables. */
static tacit_status find_rewards(const tacit_agent_request *q, const tacit_forecast_options *o,
                                 double *out, tacit_error *err)
{
    const bool table = tacit__reference_is_table(q);
    if (o->rewards != 0 && !table)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "rewards can be declared rare for tables only");
    if (o->rewards != 0 && !(o->rewards >= LEAST_REWARDS && o->rewards <= USUAL_REWARDS))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "rewards are %g, expected %g to %g", o->rewards,
                           LEAST_REWARDS, USUAL_REWARDS);
    *out = !table ? 0 : o->rewards != 0 ? o->rewards : USUAL_REWARDS;
    return TACIT_OK;
}

tacit_status tacit_forecast_make(const tacit_agent_request *request,
                                 const tacit_forecast_options *options, tacit_forecast *out,
                                 tacit_error *err)
{
    if (request == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_agent_request chosen = *request;
    TRY(tacit_agent_choose(request, &chosen.kind, err));
    asker a = {.request = &chosen, .options = options != NULL ? options : &defaults};
    const double seconds = a.options->seconds;
    double rewards = 0;
    TRY(find_rewards(&chosen, a.options, &rewards, err));
    a.start = tacit__now_seconds();
    a.end = seconds > 0 ? a.start + seconds : (double)INFINITY;
    probe p = {0};
    *out = (tacit_forecast){.kind = chosen.kind,
                            .users = chosen.episodes,
                            .rewards = rewards,
                            .users_needed = (double)NAN,
                            .epsilon_needed = (double)NAN,
                            .rewards_needed = (double)NAN};
    const setup asked = {(double)chosen.episodes, chosen.guarantee.epsilon, out->rewards};
    TRY(play(&a, asked, a.options->search ? FIRST_SHARE * seconds : seconds, &p, err));
    out->outlook = outlook_of(&p);
    out->n_worlds = p.counted;
    out->n_beaten = p.beaten;
    out->gain = p.gain;
    if (a.options->own != NULL)
        TRY(play_own(&a, OWN_SHARE * seconds, out, err));
    const bool enough = out->outlook == TACIT_OUTLOOK_ENOUGH,
               searches = a.options->search && out->outlook != TACIT_OUTLOOK_UNKNOWN;
    if (searches && enough && rewards > 0)
        TRY(search(&a, REWARDS, asked, true, (a.end - tacit__now_seconds()) / 3,
                   &out->rewards_needed, err));
    if (searches && chosen.guarantee.model != TACIT_MODEL_NONE)
        TRY(search(&a, EPSILON, asked, enough, (a.end - tacit__now_seconds()) / 2,
                   &out->epsilon_needed, err));
    if (searches)
        TRY(search(&a, USERS, asked, enough, a.end - tacit__now_seconds(), &out->users_needed,
                   err));
    write_words(&a, out);
    return a.canceled ? tacit__fail(err, TACIT_EXHAUSTED, "the forecast was stopped") : TACIT_OK;
}

char *tacit_forecast_experiment(const tacit_agent_request *request,
                                const tacit_forecast_options *options, tacit_error *err)
{
    tacit__text text = {0};
    double rewards = 0;
    if (request == NULL || request->kind == NULL) {
        (void)tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
        return NULL;
    }
    tacit_agent_request chosen = *request;
    if (tacit_agent_choose(request, &chosen.kind, err) != TACIT_OK ||
        find_rewards(&chosen, options != NULL ? options : &defaults, &rewards, err) != TACIT_OK)
        return NULL;
    tacit__reference_write(&chosen, MOST_WORLDS, chosen.episodes, chosen.guarantee.epsilon, rewards,
                           &text);
    if (!text.failed)
        return text.data;
    tacit__text_destroy(&text);
    (void)tacit__fail_plain(err, TACIT_NO_MEMORY);
    return NULL;
}

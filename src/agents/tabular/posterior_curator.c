/* See posterior_curator.h. Releases come after k_0 users, and then whenever there are `growth` times
 * as many: rarely, because a running sum over few steps needs less noise, and because news after each user
 * would change hardly anything. Without privacy the schedule is the same and the counts are exact.
 *
 * If people come back, a person moves the sums by all visits that are in a batch; visits after the last
 * release are in none. So noise falls with an earlier last release, twice: fewer visits of one person fit
 * before it, and fewer of them meet in its long batches. What is lost are the data of the users after it.
 * With one visit of each person nothing is gained, and releases go on to the end.
 *
 * The last release is the one with the least predicted loss (tacit__schedule_loss), where a = KNOWN n g: n
 * is the number of users before the first release for one visit (tacit__posterior_first), g how much noisier
 * the sums are than a single release of one visit. KNOWN was chosen on the worlds of
 * docs/why/returning.md#when-to-stop. All of this is computed from public numbers. */
#include "agents/tabular/posterior_curator.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "contribute/table_answers.h"
#include "contribute/user_check.h"
#include "release/schedule.h"
#include "sums/sum_inside.h"

/* Visits of a row at the first release, in standard deviations of its noise: 4 sqrt(H), at most 16.
 * Random actions visit all rows of one step alike, and those of long episodes the less the deeper
 * they are; see docs/why/posterior-tabular.md#when-to-release. */
#define START 4.0
#define SINGLE_START 2.0 /* of a single step, unless the first release is the only one */
#define MOST_START 16.0
#define LOCAL_START 8.0   /* the same of local answers, or 1 for each step if there are fewer, */
#define LEAST_ANSWERS 4.0 /* and answers about a row, at least; */
#define DOMINANT 4.0      /* times chance is noise that dominates it */
enum { LEAST_FIRST = 10, MOST_FIRST = 8 /* a part of all users */ };

#define KNOWN 2.5
#define RARE 3e-5         /* chosen on the first list of docs/why/defaults.md */
#define MOST_RANDOM 0.125 /* chosen on the worlds of docs/why/posterior-tabular.md#delta-0 */

/* The same where n users give J answers each: a row then has n J / rows of them, with noise of a variance
 * of n J w, told by itself or by its S moves; and a few of them, so that there is something to see.
 * q = rows w is how much larger the noise's variance is than that of chance: where noise does not dominate,
 * there is less to wait for, unless this release is all. */
static tacit_status answers_wanted(const tacit__posterior_schedule *o, double rows, double *out)
{
    tacit__table_answers_shape shape;
    if (!tacit__table_answers_find(&o->counts, &shape))
        return TACIT_BAD_ARGUMENT;
    const bool all = o->growth == 0;
    const tacit__table_answers_noise noise = tacit__table_answers_noise_of(&shape, 1);
    const double moves = (double)shape.followers * noise.moves * noise.moves,
                 row = 1 / (1 / (noise.visits * noise.visits) + 1 / moves),
                 q = rows * row / (double)shape.each, share = all ? 1 : fmin(1, q / DOMINANT),
                 start = all ? LOCAL_START : fmin(LOCAL_START, (double)o->counts.space.horizon);
    *out = fmax(start * start * q * share, LEAST_ANSWERS) * rows / (double)shape.each;
    return TACIT_OK;
}

/* Visits of one person before the last release, in different batches, as far as that is known. */
static double visits_before(const tacit__posterior_schedule *o)
{
    const tacit__weighted_options *c = &o->counts;
    return o->last > 0 ? tacit__visits_within(c->visits, c->apart, o->last)
                       : fmax(1, (double)c->visits);
}

/* Users whose random actions would lift the rows out of the noise; 0 without any. */
static tacit_status users_wanted(const tacit__posterior_schedule *o, double *out)
{
    const tacit__space sp = o->counts.space;
    const tacit_guarantee g = o->counts.guarantee;
    const double rows = (double)sp.tables * (double)sp.n_states * (double)sp.n_actions,
                 square = (double)tacit__weighted_square(sp), horizon = (double)sp.horizon;
    double mu = HUGE_VAL, noise = 0;
    if (o->counts.answers || g.model == TACIT_MODEL_LOCAL)
        return answers_wanted(o, rows, out);
    if (g.model != TACIT_MODEL_NONE && g.delta == 0) {
        noise = M_SQRT2 * 2 * horizon * visits_before(o) / g.epsilon;
    } else if (g.model != TACIT_MODEL_NONE) {
        TRY(tacit_gdp_mu(g.epsilon, g.delta, &mu));
        noise = sqrt(2 * square * visits_before(o)) / mu;
    }
    const double start =
        sp.horizon == 1 && o->growth > 0 ? SINGLE_START : fmin(MOST_START, START * sqrt(horizon));
    *out = start * noise * rows / fmin(horizon, square);
    return TACIT_OK;
}

tacit_status tacit__posterior_first(const tacit__posterior_schedule *o, uint64_t *out)
{
    const double most = floor((double)o->counts.episodes / MOST_FIRST);
    double wanted = 0;
    TRY(users_wanted(o, &wanted));
    *out = (uint64_t)fmax(1, fmin(fmax(LEAST_FIRST, ceil(wanted)), most));
    return TACIT_OK;
}

tacit_status tacit__posterior_scarcity(const tacit__posterior_schedule *o, double *out)
{
    TACIT__REQUIRE(o->counts.episodes > 0);
    TRY(users_wanted(o, out));
    *out /= (double)o->counts.episodes / MOST_FIRST;
    return TACIT_OK;
}

/* Users at each release of a schedule that is decided, below `last`, into `ends` (NULL: they are counted
 * only). There is always one. */
static size_t find_ends(const tacit__posterior_schedule *o, uint64_t *ends)
{
    const double growth = o->growth > 0 ? o->growth : HUGE_VAL;
    return (size_t)tacit__schedule_grow(o->first, growth, o->last - 1, ends);
}

/* What the noise of a sum over these moments comes to, in draws, and what one person moves it by, in units of
 * one visit: their product says how much noisier it is than one release of one visit. */
static tacit_status find_gain(const tacit__weighted_options *o, const uint64_t *ends, size_t n,
                              double *out, tacit_error *err)
{
    const bool pure = o->guarantee.delta == 0;
    const tacit_sum_spec one = {.mechanism = o->mechanism,
                                .law = pure ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                                .dimension = 1,
                                .users = o->episodes > 1 ? o->episodes - 1 : 1,
                                .visits = o->visits,
                                .apart = o->apart,
                                .bound = {.l1 = pure ? 1 : 0, .l2 = 1}};
    tacit__sum_prediction gain;
    TRY(tacit__sum_predict_released(&one, &(tacit__batches){n, ends}, &gain, err));
    *out = gain.column * gain.row;
    return TACIT_OK;
}

/* To where one more visit would fit. */
static uint64_t round_down(uint64_t users, uint64_t apart)
{
    return users > apart ? users - users % (apart > 0 ? apart : 1) : users;
}

/* The loss if the last release is at `last`, in users who know nothing; `t` has first and last filled in. */
static tacit_status predict(const tacit__posterior_schedule *o, double wanted, uint64_t last,
                            tacit__posterior_schedule *t, double *loss, tacit_error *err)
{
    *t = *o;
    t->last = last;
    TRY(tacit__posterior_first(t, &t->first));
    const size_t n = find_ends(t, NULL);
    uint64_t *ends = tacit__alloc(n, sizeof *ends);
    double gain = 0;
    if (ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)find_ends(t, ends);
    tacit_status status = find_gain(&t->counts, ends, n, &gain, err);
    *loss = status == TACIT_OK ? tacit__schedule_loss((double)o->counts.episodes,
                                                      (double)ends[n - 1], KNOWN * wanted * gain)
                               : HUGE_VAL;
    tacit__free(ends);
    return status;
}

/* Laplace noise in all cells, or answers that are nearly always true? In units of a step of a user, after a
 * third of all users: with running sums the noise of a cell's moves has a standard deviation of sqrt(2) 2 c /
 * (0.6 epsilon), where c = sqrt(R) is what R releases cost at best with delta 0; answers have a variance of n
 * (L v + RARE) / J, with v that of one answer about another cell and L levels of a reward
 * (contribute/table_answers.h). Chance counts too, in cells that come up once in 1 / RARE steps, which
 * exploration depends on. In a single state no action is rare; what counts there is that answers are about J
 * of H steps. And answers that do not depend on the truth, a share of 1 - d, are about all cells alike:
 * unless they are few, they outnumber the true ones about rows that are rarely visited. All of it is public.
 */
static bool prefers_answers(const tacit__posterior_schedule *o)
{
    const tacit__weighted_options *c = &o->counts;
    tacit__table_answers_shape shape;
    if (c->guarantee.model != TACIT_MODEL_JOINT || c->guarantee.delta > 0 || o->growth == 0 ||
        o->answers_growth == 0 || c->visits > 1 || !tacit__table_answers_find(c, &shape))
        return false;
    const double n = (double)c->episodes / 3, each = (double)shape.each,
                 stddev =
                     M_SQRT2 * 2 * sqrt((double)find_ends(o, NULL)) / (0.6 * c->guarantee.epsilon),
                 missed = 1 - each / (double)c->space.horizon,
                 chance = c->space.n_states == 1 ? missed / (double)c->space.n_actions : RARE;
    return 1 - shape.gain <= MOST_RANDOM &&
           n * ((double)shape.levels * shape.variance + chance) / each < stddev * stddev;
}

/* People who come back: the last release, and the first one with it. */
static tacit_status find_last(const tacit__posterior_schedule *o, tacit__posterior_schedule *out,
                              tacit_error *err)
{
    tacit__posterior_schedule one = *o;
    one.counts.visits = 1;
    one.counts.episodes = UINT64_C(1) << 60; /* not cut to a part of all users */
    uint64_t wanted = 0;
    TRY(tacit__posterior_first(&one, &wanted));
    double least = HUGE_VAL;
    for (int i = 0; i < TACIT__SCHEDULE_LASTS; i++) {
        tacit__posterior_schedule t;
        double loss = HUGE_VAL;
        const uint64_t last =
            round_down(tacit__schedule_last(o->counts.episodes, i), o->counts.apart);
        if (last < 2)
            break;
        TRY(predict(o, (double)wanted, last, &t, &loss, err));
        if (loss < least) {
            least = loss;
            *out = t;
        }
    }
    return TACIT_OK;
}

tacit_status tacit__posterior_decide(const tacit__posterior_schedule *o,
                                     tacit__posterior_schedule *out, tacit_error *err)
{
    const tacit__weighted_options *c = &o->counts;
    TACIT__REQUIRE(c->episodes > 0 && c->space.horizon > 0);
    *out = *o;
    out->counts.answers = c->guarantee.model == TACIT_MODEL_LOCAL;
    out->last = o->last > 0 ? o->last : c->episodes;
    if (out->counts.answers)
        TRY(tacit__table_answers_check(c, err));
    if (o->first == 0 && tacit__posterior_first(o, &out->first) != TACIT_OK)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "no noise keeps such a guarantee");
    if (prefers_answers(out)) {
        out->counts.answers = true;
        out->growth = o->answers_growth;
        return o->first > 0 ? TACIT_OK : tacit__posterior_first(out, &out->first);
    }
    if (c->visits <= 1 || c->guarantee.model != TACIT_MODEL_JOINT || o->first > 0 || o->last > 0 ||
        o->growth == 0)
        return TACIT_OK;
    return find_last(o, out, err);
}

tacit_status tacit__posterior_curator(tacit__posterior_schedule *s, tacit_noise *noise,
                                      tacit__curator **out, tacit_error *err)
{
    const tacit__posterior_schedule asked = *s;
    tacit__curator_spec spec;
    TRY(tacit__posterior_decide(&asked, s, err));
    tacit__weighted_options o = s->counts;
    o.n_ends = find_ends(s, NULL);
    uint64_t *ends = tacit__alloc(o.n_ends, sizeof *ends);
    if (ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)find_ends(s, ends);
    o.ends = ends;
    tacit_status status = tacit__weighted_describe(&o, &spec, err);
    if (status == TACIT_OK)
        status = tacit__curator_create(&spec, noise, out, err);
    tacit__free(ends);
    return status;
}

tacit__weighted_counts tacit__posterior_counts(const tacit__curator *c)
{
    const tacit__table_answers *answers = tacit__curator_responder(c);
    const uint64_t users = tacit__curator_shown(c);
    return answers != NULL
               ? tacit__table_answers_view(answers, users)
               : tacit__weighted_view(tacit__curator_form(c), users, tacit__curator_released(c));
}

/* When weighted counts are released, if people come back. See curate/weighted_curator.h.
 *
 * A person moves the sums by all visits that are in a batch; visits after the last release are in none. So
 * noise falls with an earlier last release, twice: fewer visits of one person fit before it, and fewer of
 * them meet in its long batches. What is lost are the data of the users after it. With one visit of each
 * person nothing is gained, and releases go on to the end.
 *
 * The last release is the one with the least predicted loss (tacit__schedule_loss), where a = KNOWN n g: n
 * is the number of users before the first release for one visit (tacit__weighted_first), g how much noisier
 * the sums are than a single release of one visit. KNOWN was chosen on the worlds of
 * docs/why/returning.md#when-to-stop. All of this is computed from public numbers. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "curate/weighted_curator_inside.h"
#include "release/schedule.h"

#define KNOWN 2.5
#define RARE 3e-5         /* chosen on the first list of docs/why/defaults.md */
#define MOST_RANDOM 0.125 /* chosen on the worlds of docs/why/posterior-tabular.md#delta-0 */

/* To where one more visit would fit. */
static uint64_t round_down(const tacit__weighted_options *o, uint64_t users)
{
    const uint64_t apart = o->apart > 0 ? o->apart : 1;
    return users > apart ? users - users % apart : users;
}

/* The loss if the last release is at `last`, in users who know nothing; `t` has first and last filled in. */
static tacit_status predict(const tacit__weighted_options *o, double wanted, uint64_t last,
                            tacit__weighted_options *t, double *loss, tacit_error *err)
{
    *t = *o;
    t->last = last;
    TRY(tacit__weighted_first(t, &t->first));
    const uint64_t n = tacit__weighted_moments(t, NULL);
    uint64_t *at = tacit__alloc((size_t)n, sizeof *at);
    double gain = 0;
    if (at == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)tacit__weighted_moments(t, at);
    tacit_status status = tacit__weighted_gain(t, at, n, &gain, err);
    *loss = status == TACIT_OK ? tacit__schedule_loss((double)o->episodes, (double)at[n - 1],
                                                      KNOWN * wanted * gain)
                               : HUGE_VAL;
    tacit__free(at);
    return status;
}

/* Laplace noise in all cells, or answers that are nearly always true? In units of a step of a user, after a
 * third of all users: with running sums the noise of a cell's moves has a standard deviation of sqrt(2) 2 c /
 * (0.6 epsilon), where c = sqrt(R) is what R releases cost at best with delta 0; answers have a variance of n
 * (L v + RARE) / J, with v that of one answer about another cell and L levels of a reward (curate/answers.h).
 * Chance counts too, in cells that come up once in 1 / RARE steps, which exploration depends on. In a single
 * state no action is rare; what counts there is that answers are about J of H steps. And answers that do not
 * depend on the truth, a share of 1 - d, are about all cells alike: unless they are few, they outnumber the
 * true ones about rows that are rarely visited. All of it is public. */
static bool prefers_answers(const tacit__weighted_options *o)
{
    tacit__answers_shape shape;
    if (o->guarantee.model != TACIT_MODEL_JOINT || o->guarantee.delta > 0 || o->growth == 0 ||
        o->answers_growth == 0 || o->visits > 1 || !tacit__answers_find(o, &shape))
        return false;
    const double n = (double)o->episodes / 3,
                 stddev = M_SQRT2 * 2 * sqrt((double)tacit__weighted_moments(o, NULL)) /
                          (0.6 * o->guarantee.epsilon);
    const double each = (double)shape.each, missed = 1 - each / (double)o->space.horizon,
                 chance = o->space.n_states == 1 ? missed / (double)o->space.n_actions : RARE;
    return 1 - shape.gain <= MOST_RANDOM &&
           n * ((double)shape.levels * shape.variance + chance) / each < stddev * stddev;
}

tacit_status tacit__weighted_time(const tacit__weighted_options *o, tacit__weighted_options *out,
                                  tacit_error *err)
{
    TACIT__REQUIRE(o->episodes > 0);
    *out = *o;
    out->answers = o->guarantee.model == TACIT_MODEL_LOCAL;
    out->last = o->last > 0 ? o->last : o->episodes;
    if (o->first == 0 && tacit__weighted_first(o, &out->first) != TACIT_OK)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "no noise keeps such a guarantee");
    if (prefers_answers(out)) {
        out->answers = true;
        out->growth = o->answers_growth;
        return o->first > 0 ? TACIT_OK : tacit__weighted_first(out, &out->first);
    }
    if (o->visits <= 1 || o->guarantee.model != TACIT_MODEL_JOINT || o->first > 0 || o->last > 0 ||
        o->growth == 0)
        return TACIT_OK;
    tacit__weighted_options one = *o;
    one.visits = 1;
    one.episodes = UINT64_C(1) << 60; /* not cut to a part of all users */
    uint64_t wanted = 0;
    TRY(tacit__weighted_first(&one, &wanted));
    double least = HUGE_VAL;
    for (int i = 0; i < TACIT__SCHEDULE_LASTS; i++) {
        tacit__weighted_options t;
        double loss = HUGE_VAL;
        const uint64_t last = round_down(o, tacit__schedule_last(o->episodes, i));
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

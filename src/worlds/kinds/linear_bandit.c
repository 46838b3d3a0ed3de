/* linear-bandit: mean rewards 1/2 + x . theta / 2 with features x of length at most 1 and a hidden unit
 * vector theta (one for all actions, or one for each).
 *
 * Features are uniform on a cube of diameter 2 around the origin, so no vector is longer than 1.
 * `contexts: n` makes them once and numbers them; `contexts: 0` draws new ones for every user. `phases: L`
 * makes the order adversarial: during each block of L rounds all features lie near one axis (the other
 * coordinates are divided by ten), another one in the next block, so that nothing about the next block can
 * be learned in this one. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "worlds/alias.h"
#include "worlds/dice.h"
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"d", TACIT_PARAMETER_INTEGER, "5", 1, 10000, "features"},
    {"actions", TACIT_PARAMETER_INTEGER, "10", 1, 10000, "number of actions"},
    {"arms", TACIT_PARAMETER_TEXT, "shared", 0, 0,
     "shared: each action has features; disjoint: each has parameters"},
    {"contexts", TACIT_PARAMETER_INTEGER, "1000", 0, 1000000,
     "different contexts, numbered; 0: every user is new"},
    {"phases", TACIT_PARAMETER_INTEGER, "0", 0, 1000000000,
     "adversarial order: rounds that features stay near one axis; 0: random order"},
    {"noise", TACIT_PARAMETER_TEXT, "bernoulli", 0, 0,
     "rewards are 0 or 1, or the mean plus a uniform law of this half-width"},
    TACIT__SEED_PARAMETER("of features and parameters; all runs play in the same world"),
};

typedef struct field {
    size_t d, n_actions, n_contexts, rows, phases; /* rows: vectors of features for a user */
    bool disjoint;
    tacit__reward_law law;
    double *theta;  /* [1 or actions][d] */
    double *points; /* [contexts][rows][d], or NULL */
    double *means;  /* [contexts][actions], or NULL */
    double *weights;
} field;

static void means_of(const field *f, const double *features, double *means)
{
    TACIT__REQUIRE(f->n_actions > 0);
    for (size_t a = 0; a < f->n_actions; a++) {
        const double *x = features + (f->disjoint ? 0 : a * f->d);
        const double *theta = f->theta + (f->disjoint ? a * f->d : 0);
        double sum = 0;
        for (size_t i = 0; i < f->d; i++)
            sum += x[i] * theta[i];
        means[a] = fmin(1, fmax(0, 0.5 + 0.5 * sum)); /* outside by rounding only */
    }
}

/* The features of one context, of the axis `axis` or of none (d). */
static void fill(const field *f, const uint64_t *words, size_t axis, double *features)
{
    double side = 1 / sqrt((double)f->d);
    for (size_t i = 0; i < f->rows * f->d; i++) {
        double u = 2 * tacit__unit(words[i]) - 1;
        features[i] = side * (axis < f->d && i % f->d != axis ? 0.1 * u : u);
    }
}

static void begin(const void *self, uint64_t number, const uint64_t *words, double *features,
                  double *means, tacit_visitor *out)
{
    const field *f = self;
    size_t axis = f->phases > 0 ? (size_t)(number / f->phases % f->d) : f->d;
    if (f->points == NULL) {
        fill(f, words, axis, features);
        means_of(f, features, means);
        out->features = features;
        out->means = means;
        return;
    }
    /* With phases, context i belongs to axis i mod d. */
    uint64_t n = f->n_contexts, first = 0, stride = 1;
    if (axis < f->d) {
        first = axis;
        stride = f->d;
        n = (n - axis + f->d - 1) / f->d;
    }
    out->state = (uint32_t)(first + stride * (uint64_t)(((tacit__u128)words[0] * n) >> 64));
    out->means = f->means + out->state * f->n_actions;
}

static double reward(const void *self, const tacit_visitor *visitor, uint32_t action, uint64_t word)
{
    return tacit__reward_draw(((const field *)self)->law, visitor->means[action], word);
}

static tacit_status fill_table(field *f, tacit__dice *dice)
{
    const size_t per_user = f->rows * f->d;
    TACIT__REQUIRE(f->d > 0);
    uint64_t *words = tacit__alloc(per_user, sizeof *words);
    if (words == NULL)
        return TACIT_NO_MEMORY;
    for (size_t c = 0; c < f->n_contexts; c++) {
        for (size_t i = 0; i < per_user; i++)
            words[i] = tacit__dice_word(dice);
        fill(f, words, f->phases > 0 ? c % f->d : f->d, f->points + c * per_user);
        means_of(f, f->points + c * per_user, f->means + c * f->n_actions);
        f->weights[c] = 1 / (double)f->n_contexts;
    }
    tacit__free(words);
    return TACIT_OK;
}

static size_t theta_rows(const field *f)
{
    return f->disjoint ? f->n_actions : 1;
}

static field *allocate(field w)
{
    size_t all;
    const bool numbered = w.n_contexts > 0;
    if (__builtin_mul_overflow(w.n_contexts, w.rows * w.d, &all))
        all = SIZE_MAX;
    return TACIT__WORKSPACE(w, TACIT__PIECE(w.theta, theta_rows(&w) * w.d),
                            TACIT__PIECE_IF(numbered, w.points, all),
                            TACIT__PIECE_IF(numbered, w.means, w.n_contexts * w.n_actions),
                            TACIT__PIECE_IF(numbered, w.weights, w.n_contexts));
}

static tacit_status fill_field(field *f, uint64_t seed)
{
    tacit__dice dice;
    tacit_status status = tacit__dice_open(&dice, seed, "linear bandit");
    if (status == TACIT_OK)
        tacit__dice_next(&dice);
    for (size_t a = 0; status == TACIT_OK && a < theta_rows(f); a++) {
        double *theta = f->theta + a * f->d, square = 0;
        for (size_t i = 0; i < f->d; i++) {
            theta[i] = tacit__dice_normal(&dice);
            square += theta[i] * theta[i];
        }
        for (size_t i = 0; i < f->d; i++)
            theta[i] /= sqrt(square);
    }
    if (status == TACIT_OK && f->n_contexts > 0)
        status = fill_table(f, &dice);
    return status;
}

/* Mean over the contexts, which are equally likely; NaN if it is not known. */
static double optimal(const field *f)
{
    if (f->means == NULL)
        return (double)NAN;
    double sum = 0;
    for (size_t c = 0; c < f->n_contexts; c++) {
        double best = 0;
        for (size_t a = 0; a < f->n_actions; a++)
            best = fmax(best, f->means[c * f->n_actions + a]);
        sum += best;
    }
    return sum / (double)f->n_contexts;
}

static tacit_status read(const tacit__values *v, field *f, tacit_error *err)
{
    static const char *const kinds_of_arms[] = {"shared", "disjoint", NULL};
    double half;
    f->d = (size_t)tacit__value_of(v, "d")->integer;
    f->n_actions = (size_t)tacit__value_of(v, "actions")->integer;
    f->n_contexts = (size_t)tacit__value_of(v, "contexts")->integer;
    f->phases = (size_t)tacit__value_of(v, "phases")->integer;
    const int arms = tacit__value_choose(v, "arms", kinds_of_arms, err);
    if (arms < 0)
        return TACIT_BAD_ARGUMENT;
    f->disjoint = arms == 1;
    f->rows = f->disjoint ? 1 : f->n_actions;
    TRY(tacit__reward_law_read(v, NULL, &f->law.bernoulli, &half, err));
    /* Means lie in [0, 1] before the noise; what the noise adds is mapped back. */
    f->law.half_width = half / (1 + 2 * half);
    if (f->phases > 0 && f->n_contexts > 0 && f->n_contexts < f->d)
        return tacit__value_fail(v, "contexts", err, TACIT_BAD_ARGUMENT,
                                 "phases need at least as many contexts as features, %zu, or 0",
                                 f->d);
    return TACIT_OK;
}

static tacit_status create(const tacit__values *v, tacit__model *out, tacit_error *err)
{
    field sizes = {0};
    TRY(read(v, &sizes, err));
    field *f = allocate(sizes);
    tacit__bandit *b = tacit__alloc(1, sizeof *b);
    tacit_status status = f != NULL && b != NULL
                              ? fill_field(f, (uint64_t)tacit__value_of(v, "seed")->integer)
                              : TACIT_NO_MEMORY;
    if (status != TACIT_OK) {
        tacit__workspace_destroy(f);
        tacit__free(b);
        return tacit__fail_plain(err, status);
    }
    double half = f->law.half_width / (1 - 2 * f->law.half_width), shrink = 1 / (1 + 2 * half);
    for (size_t i = 0; f->means != NULL && i < f->n_contexts * f->n_actions; i++)
        f->means[i] = 0.5 + shrink * (f->means[i] - 0.5);
    for (size_t i = 0; i < theta_rows(f) * f->d; i++)
        f->theta[i] *= shrink;
    *b = (tacit__bandit){.face = {.dimension = f->d,
                                  .bound = 1,
                                  .disjoint = f->disjoint,
                                  .parameter_norm = 0.5 * shrink,
                                  .points = f->points,
                                  .weights = f->phases > 0 ? NULL : f->weights,
                                  .kernel = f->disjoint ? NULL : "linear"},
                         .n_contexts = f->n_contexts,
                         .n_actions = f->n_actions,
                         .reward_low = -half,
                         .reward_high = 1 + half,
                         .optimal = f->phases > 0 ? (double)NAN : optimal(f),
                         .n_words = f->points != NULL ? 1 : f->rows * f->d,
                         .begin = begin,
                         .reward = reward,
                         .destroy = tacit__workspace_destroy,
                         .self = f};
    out->bandit = b;
    return TACIT_OK;
}

const tacit__kind tacit__kind_linear_bandit = {
    .face = {"linear-bandit",
             "mean rewards are linear in features; shared or disjoint actions, contexts "
             "random or adversarial",
             "the setting of Abbasi-Yadkori, Pal and Szepesvari 2011", parameters,
             TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_BANDIT,
    .create = create,
};

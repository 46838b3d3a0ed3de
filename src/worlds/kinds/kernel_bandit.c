/* kernel-bandit: mean rewards are a smooth function of context and action, a random one of given RKHS norm,
 * or a table of the user's.
 *
 * Contexts and actions are points of [0, 1]^d: even grids in one dimension, otherwise drawn at random. The
 * function is f = sum_i a_i k(., w_i) with normal a_i at `centers` of the pairs w = (context, action),
 * scaled so that its norm in the space of k, sqrt(a^T K a), is `norm`; |f| <= norm because k <= 1. Rewards
 * are f plus uniform noise of half-width `noise`, in [-norm - noise, norm + noise], or, with `noise:
 * bernoulli`, one of the ends of [-norm, norm]. All that is mapped to [0, 1]. A table has its means in
 * [reward_low, reward_high], the noise included. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "linalg/kernel_function.h"
#include "worlds/alias.h"
#include "worlds/csv.h"
#include "worlds/dice.h"
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"contexts", TACIT_PARAMETER_INTEGER, "30", 1, 100000, "number of contexts"},
    {"actions", TACIT_PARAMETER_INTEGER, "30", 1, 100000, "number of actions"},
    {"context_d", TACIT_PARAMETER_INTEGER, "1", 1, 32, "coordinates of a context"},
    {"action_d", TACIT_PARAMETER_INTEGER, "1", 1, 32, "coordinates of an action"},
    {"kernel", TACIT_PARAMETER_TEXT, "se(0.2)", 0, 0,
     "se(0.2), matern-2.5(0.2 0.5), linear, poly-2(1), or two with * or + for context "
     "and action"},
    {"norm", TACIT_PARAMETER_REAL, "1", 1e-6, 1e6, "RKHS norm of the function"},
    {"centers", TACIT_PARAMETER_INTEGER, "40", 1, 10000, "bumps of the function"},
    {"noise", TACIT_PARAMETER_TEXT, "", 0, 0,
     "half-width of the uniform noise of rewards (default 0.5), or bernoulli (of a file)"},
    TACIT__SEED_PARAMETER("of the function; all runs play the same one"),
    {"file", TACIT_PARAMETER_FILE, "", 0, 0,
     "a CSV file instead of a random function: context,action,mean"},
    {"reward_low", TACIT_PARAMETER_REAL, "0", -1e9, 1e9, "of the file's rewards"},
    {"reward_high", TACIT_PARAMETER_REAL, "1", -1e9, 1e9, "of the file's rewards"},
    {"context_points", TACIT_PARAMETER_FILE, "", 0, 0,
     "a CSV file with context and a column for each of context_d coordinates"},
    {"action_points", TACIT_PARAMETER_FILE, "", 0, 0,
     "a CSV file with action and a column for each of action_d coordinates"},
};

typedef struct field {
    size_t n_contexts, n_actions, d;
    tacit__reward_law law;
    double *points, *means, *weights;
    char kernel[160];
} field;

static void begin(const void *self, uint64_t number, const uint64_t *words, double *features,
                  double *means, tacit_visitor *out)
{
    const field *f = self;
    (void)number, (void)features, (void)means;
    out->state = (uint32_t)(((tacit__u128)words[0] * f->n_contexts) >> 64);
    out->means = f->means + out->state * f->n_actions;
}

static double reward(const void *self, const tacit_visitor *visitor, uint32_t action, uint64_t word)
{
    return tacit__reward_draw(((const field *)self)->law, visitor->means[action], word);
}

/* n points of [0, 1]^d: an even grid on a line, otherwise random. */
static void draw_block(size_t n, size_t d, tacit__dice *dice, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            out[i * d + j] = d == 1 ? (n > 1 ? (double)i / (double)(n - 1) : 0.5)
                                    : tacit__unit(tacit__dice_word(dice));
}

/* n points of d coordinates from a file: `what` and the coordinates, one line for each of 0 .. n - 1. */
static tacit_status read_lines(tacit__csv *csv, const char *what, size_t n, size_t d, bool *seen,
                               double *out, tacit_error *err)
{
    size_t lines = 0;
    for (bool more;; lines++) {
        uint32_t i;
        TRY(tacit__csv_next(csv, &more, err));
        if (!more)
            break;
        TRY(tacit__csv_index(csv, 0, what, (uint32_t)n - 1, &i, err));
        if (seen[i])
            return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line, "%s %u comes twice",
                                  what, i);
        seen[i] = true;
        for (size_t j = 0; j < d; j++)
            TRY(tacit__csv_real(csv, 1 + j, "coordinate", &out[i * d + j], err));
    }
    return lines == n
               ? TACIT_OK
               : tacit__fail_at(err, TACIT_SYNTAX, csv->name, 0,
                                "%zu points, expected one for each of the %zu %ss", lines, n, what);
}

static tacit_status read_points(const tacit__values *v, const char *name, const char *what,
                                size_t n, size_t d, double *out, tacit_error *err)
{
    tacit__text_file file = {.text = NULL};
    tacit__csv csv;
    const tacit__value *value = tacit__value_of(v, name);
    if (value->text[0] == '\0')
        return TACIT_OK;
    bool *seen = tacit__alloc(n, sizeof *seen);
    tacit_status status = seen != NULL ? tacit__text_file_read(value, &v->origin, &file, err)
                                       : tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        status = tacit__csv_open(&csv, file.path, NULL, (tacit__span){file.text, file.size}, err);
    if (status == TACIT_OK && (csv.n_fields != d + 1 || csv.field[0].size != strlen(what) ||
                               memcmp(csv.field[0].text, what, strlen(what)) != 0))
        status = tacit__fail_at(err, TACIT_SYNTAX, file.path, csv.line,
                                "the header has %zu columns, expected '%s' and %zu coordinates "
                                "(%s_d)",
                                csv.n_fields, what, d, what);
    if (status == TACIT_OK)
        status = read_lines(&csv, what, n, d, seen, out, err);
    tacit__text_file_close(&file);
    tacit__free(seen);
    return status;
}

/* The field with its points. On failure there is none. */
static tacit_status make_points(field w, size_t context_d, tacit__dice *dice,
                                const tacit__values *v, field **out, tacit_error *err)
{
    const size_t action_d = w.d - context_d, pairs = w.n_contexts * w.n_actions;
    double *contexts, *actions;
    field *f =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.points, pairs * w.d), TACIT__PIECE(w.means, pairs),
                         TACIT__PIECE(w.weights, w.n_contexts));
    if (f == NULL || TACIT__PIECES(TACIT__PIECE(contexts, w.n_contexts * context_d),
                                   TACIT__PIECE(actions, w.n_actions * action_d)) == NULL) {
        tacit__workspace_destroy(f);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    draw_block(w.n_contexts, context_d, dice, contexts);
    draw_block(w.n_actions, action_d, dice, actions);
    tacit_status status =
        read_points(v, "context_points", "context", w.n_contexts, context_d, contexts, err);
    if (status == TACIT_OK)
        status = read_points(v, "action_points", "action", w.n_actions, action_d, actions, err);
    for (size_t c = 0; c < w.n_contexts; c++) {
        f->weights[c] = 1 / (double)w.n_contexts;
        for (size_t a = 0; a < w.n_actions; a++) {
            double *point = f->points + (c * w.n_actions + a) * w.d;
            memcpy(point, contexts + c * context_d, context_d * sizeof *point);
            memcpy(point + context_d, actions + a * action_d, action_d * sizeof *point);
        }
    }
    tacit__workspace_destroy(contexts);
    if (status == TACIT_OK)
        *out = f;
    else
        tacit__workspace_destroy(f);
    return status;
}

/* The function at every point, in original units. */
static tacit_status draw_function(field *f, const tacit__kernel *kernel, size_t n_centers,
                                  double norm, tacit__dice *dice)
{
    size_t n = f->n_contexts * f->n_actions;
    size_t *center;
    double *a, *column, square = 0;
    if (TACIT__PIECES(TACIT__PIECE(center, n_centers), TACIT__PIECE(a, n_centers),
                      TACIT__PIECE(column, n)) == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < n_centers; i++) {
        center[i] = (size_t)(((tacit__u128)tacit__dice_word(dice) * n) >> 64);
        a[i] = tacit__dice_normal(dice);
        tacit__kernel_column(kernel, n, f->points, NULL, f->points + center[i] * f->d, column);
        for (size_t w = 0; w < n; w++)
            f->means[w] += a[i] * column[w];
    }
    for (size_t i = 0; i < n_centers; i++)
        square += a[i] * f->means[center[i]]; /* a^T K a */
    for (size_t w = 0; w < n; w++)
        f->means[w] *= square > 0 ? norm / sqrt(square) : 0;
    tacit__workspace_destroy(center);
    return TACIT_OK;
}

static tacit_status read_rows(field *f, tacit__csv *csv, bool *seen, double low, double high,
                              tacit_error *err)
{
    size_t n = 0;
    for (bool more;; n++) {
        uint32_t c, a;
        double mean;
        tacit_status status = tacit__csv_next(csv, &more, err);
        if (status != TACIT_OK || !more)
            return status != TACIT_OK || n == f->n_contexts * f->n_actions
                       ? status
                       : tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                                        "%zu means, expected one for each of %zu contexts and %zu "
                                        "actions",
                                        n, f->n_contexts, f->n_actions);
        status = tacit__csv_index(csv, 0, "context", (uint32_t)f->n_contexts - 1, &c, err);
        if (status == TACIT_OK)
            status = tacit__csv_index(csv, 1, "action", (uint32_t)f->n_actions - 1, &a, err);
        if (status == TACIT_OK)
            status = tacit__csv_real(csv, 2, "mean", &mean, err);
        if (status != TACIT_OK)
            return status;
        size_t w = c * f->n_actions + a;
        if (seen[w] || !(mean >= low && mean <= high))
            return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                                  seen[w] ? "context %u and action %u come twice"
                                          : "the mean of context %u and action %u is outside what "
                                            "reward_low, reward_high and noise allow",
                                  c, a);
        seen[w] = true;
        f->means[w] = mean;
    }
}

static tacit_status read_table(field *f, const tacit__values *v, double half, tacit_error *err)
{
    tacit__text_file file;
    tacit__csv csv;
    bool *seen = tacit__alloc(f->n_contexts * f->n_actions, sizeof *seen);
    if (seen == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit__text_file_read(tacit__value_of(v, "file"), &v->origin, &file, err);
    if (status == TACIT_OK)
        status = tacit__csv_open(&csv, file.path, "context,action,mean",
                                 (tacit__span){file.text, file.size}, err);
    if (status == TACIT_OK)
        status = read_rows(f, &csv, seen, tacit__value_real(v, "reward_low") + half,
                           tacit__value_real(v, "reward_high") - half, err);
    tacit__text_file_close(&file);
    tacit__free(seen);
    return status;
}

static double optimal(const field *f)
{
    double sum = 0;
    for (size_t c = 0; c < f->n_contexts; c++) {
        double best = 0;
        for (size_t a = 0; a < f->n_actions; a++)
            best = fmax(best, f->means[c * f->n_actions + a]);
        sum += f->weights[c] * best;
    }
    return sum;
}

/* The field with means in original units, and the range of rewards. On failure *out may be there, to be
 * destroyed. */
static tacit_status fill(field w, const tacit__values *v, field **out, double *low, double *high,
                         tacit_error *err)
{
    tacit__kernel kernel;
    tacit__dice dice;
    double half = 0, norm = tacit__value_real(v, "norm");
    bool table = tacit__value_of(v, "file")->text[0] != '\0';
    size_t context_d = (size_t)tacit__value_of(v, "context_d")->integer;
    tacit_error reason = {0};
    if (tacit__kernel_read(tacit__value_of(v, "kernel")->text, w.d, context_d, &kernel, &reason) !=
        TACIT_OK)
        return tacit__value_fail(v, "kernel", err, TACIT_BAD_ARGUMENT, "%s", reason.message);
    TRY(tacit__reward_law_read(v, table ? "bernoulli" : "0.5", &w.law.bernoulli, &half, err));
    *low = table ? tacit__value_real(v, "reward_low") : -norm - half;
    *high = table ? tacit__value_real(v, "reward_high") : norm + half;
    if (!(*low + 2 * half < *high))
        return tacit__value_fail(v, "noise", err, TACIT_BAD_ARGUMENT,
                                 "noise leaves no room between reward_low and reward_high");
    w.law.half_width = half / (*high - *low);
    tacit_status status =
        tacit__dice_open(&dice, (uint64_t)tacit__value_of(v, "seed")->integer, "kernel bandit");
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    tacit__dice_next(&dice);
    TRY(make_points(w, context_d, &dice, v, out, err));
    field *f = *out;
    if (table)
        return read_table(f, v, half, err);
    tacit__kernel_fit(&kernel, f->n_contexts * f->n_actions, f->points);
    status = draw_function(f, &kernel, (size_t)tacit__value_of(v, "centers")->integer, norm, &dice);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

static tacit_status create(const tacit__values *v, tacit__model *out, tacit_error *err)
{
    size_t pairs;
    double low = 0, high = 1;
    field sizes = {.n_contexts = (size_t)tacit__value_of(v, "contexts")->integer,
                   .n_actions = (size_t)tacit__value_of(v, "actions")->integer,
                   .d = (size_t)(tacit__value_of(v, "context_d")->integer +
                                 tacit__value_of(v, "action_d")->integer)},
          *f = NULL;
    (void)snprintf(sizes.kernel, sizeof sizes.kernel, "%s", tacit__value_of(v, "kernel")->text);
    if (__builtin_mul_overflow(sizes.n_contexts, sizes.n_actions, &pairs) || pairs > 10000000)
        return tacit__fail_at(err, TACIT_TOO_LARGE, v->origin.file, (size_t)v->origin.line,
                              "more than ten million pairs of contexts and actions");
    tacit_status status = fill(sizes, v, &f, &low, &high, err);
    tacit__bandit *b = status == TACIT_OK ? tacit__alloc(1, sizeof *b) : NULL;
    if (b == NULL) {
        tacit__workspace_destroy(f);
        return status == TACIT_OK ? tacit__fail_plain(err, TACIT_NO_MEMORY) : status;
    }
    TACIT__REQUIRE(f != NULL);
    double most = 0;
    for (size_t w = 0; w < pairs; w++) {
        double square = 0;
        for (size_t j = 0; j < f->d; j++)
            square += f->points[w * f->d + j] * f->points[w * f->d + j];
        most = fmax(most, square);
        f->means[w] = fmin(1, fmax(0, (f->means[w] - low) / (high - low)));
    }
    *b = (tacit__bandit){
        .face = {.dimension = f->d,
                 .context_dimension = (size_t)tacit__value_of(v, "context_d")->integer,
                 .bound = most > 0 ? sqrt(most) : 1,
                 .parameter_norm = tacit__value_of(v, "file")->text[0] != '\0'
                                       ? 0
                                       : tacit__value_real(v, "norm") / (high - low),
                 .points = f->points,
                 .weights = f->weights,
                 .kernel = f->kernel},
        .n_contexts = f->n_contexts,
        .n_actions = f->n_actions,
        .reward_low = low,
        .reward_high = high,
        .optimal = optimal(f),
        .n_words = 1,
        .begin = begin,
        .reward = reward,
        .destroy = tacit__workspace_destroy,
        .self = f};
    out->bandit = b;
    return TACIT_OK;
}

const tacit__kind tacit__kind_kernel_bandit = {
    .face = {"kernel-bandit",
             "mean rewards are a smooth random function of context and action, or a table",
             "the setting of Pavlovic, Salgia and Zhao 2025", parameters, TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_BANDIT,
    .create = create,
};

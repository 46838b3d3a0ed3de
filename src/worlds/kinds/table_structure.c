/* Features: `state,action` and then a column for each feature, whose names are the user's; one line for
 * each state and action, of length at most 1. Kernels: `kernel,state,action,next_state,probability`, where
 * a pair that is not listed has probability 0, and the probabilities of a kernel, state and action sum to
 * one.
 *
 * Memory is n_states n_actions d numbers, or n_states^2 n_actions d. */
#include "worlds/kinds/table_structure.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "worlds/csv.h"

typedef struct feature_table {
    size_t d, n_states, n_actions;
    double *numbers; /* [states][actions][d], or [states][actions][d][states] */
} feature_table;

static void feature_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const feature_table *f = context;
    memcpy(out, f->numbers + ((size_t)state * f->n_actions + action) * f->d, f->d * sizeof *out);
}

static void kernel_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const feature_table *f = context;
    const size_t n = f->d * f->n_states;
    memcpy(out, f->numbers + ((size_t)state * f->n_actions + action) * n, n * sizeof *out);
}

/* The table with `per_pair` numbers for each state and action. */
static tacit_status make(size_t d, size_t per_pair, const tacit__model *model, const char *name,
                         feature_table **out, tacit_error *err)
{
    feature_table w = {
        .d = d, .n_states = model->mdp->n_states, .n_actions = model->mdp->n_actions};
    const double n = (double)w.n_states * (double)w.n_actions * (double)per_pair;
    if (n > TACIT__MAX_OUTCOMES)
        return tacit__fail_at(err, TACIT_TOO_LARGE, name, 0,
                              "%.3g numbers for %zu states and %zu actions, expected at most %d", n,
                              w.n_states, w.n_actions, TACIT__MAX_OUTCOMES);
    *out = TACIT__WORKSPACE(w, TACIT__PIECE(w.numbers, w.n_states * w.n_actions * per_pair));
    return *out != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

/* Returns whether a state is the end of an episode, which files need not list: never left, and without
 * rewards. */
static bool is_end(const tacit__mdp *mdp, size_t state)
{
    const double zero = -mdp->reward_low / (mdp->reward_high - mdp->reward_low);
    for (size_t layer = 0; layer < mdp->n_layers; layer++)
        for (size_t action = 0; action < mdp->n_actions; action++) {
            const size_t row = (layer * mdp->n_states + state) * mdp->n_actions + action;
            const size_t first = mdp->start[row];
            if (mdp->start[row + 1] != first + 1 || mdp->next[first] != state ||
                fabs(mdp->reward[row] - zero) > 1e-12)
                return false;
        }
    return true;
}

/* --- Features ------------------------------------------------------------------------------------ */

static bool is_named(tacit__span field, const char *name)
{
    return field.size == strlen(name) && memcmp(field.text, name, field.size) == 0;
}

static tacit_status read_features(tacit__csv *csv, const tacit__mdp *mdp, const feature_table *f,
                                  bool *seen, bool *simplex, tacit_error *err)
{
    for (bool more;;) {
        uint32_t s, a;
        TRY(tacit__csv_next(csv, &more, err));
        if (!more)
            break;
        TRY(tacit__csv_index(csv, 0, "state", (uint32_t)f->n_states - 1, &s, err));
        TRY(tacit__csv_index(csv, 1, "action", (uint32_t)f->n_actions - 1, &a, err));
        const size_t pair = s * f->n_actions + a;
        double *row = f->numbers + pair * f->d, square = 0, sum = 0;
        if (seen[pair])
            return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                                  "state %u, action %u comes twice", s, a);
        seen[pair] = true;
        for (size_t j = 0; j < f->d; j++) {
            TRY(tacit__csv_real(csv, 2 + j, "feature", &row[j], err));
            square += row[j] * row[j];
            sum += row[j];
            *simplex = *simplex && row[j] >= 0;
        }
        *simplex = *simplex && fabs(sum - 1) < 1e-9;
        if (!(square <= 1 + 1e-9))
            return tacit__fail_at(
                err, TACIT_OUT_OF_BOUND, csv->name, csv->line,
                "the features of state %u, action %u have length %.6g, expected at "
                "most 1; scale all features by the same factor",
                s, a, sqrt(square));
    }
    for (size_t i = 0; i < f->n_states * f->n_actions; i++) {
        const size_t state = i / f->n_actions, action = i % f->n_actions;
        if (!seen[i] && !is_end(mdp, state))
            return tacit__fail_at(err, TACIT_SYNTAX, csv->name, 0,
                                  "state %zu, action %zu has no line; expected one for each of %zu "
                                  "states and %zu actions",
                                  state, action, f->n_states, f->n_actions);
        *simplex = *simplex && seen[i];
    }
    return TACIT_OK;
}

tacit_status tacit__table_features(tacit__span text, const char *name, tacit__model *out,
                                   tacit_error *err)
{
    TACIT__REQUIRE(out->mdp != NULL);
    tacit__csv csv;
    feature_table *f = NULL;
    bool simplex = true;
    TRY(tacit__csv_open(&csv, name, NULL, text, err));
    if (csv.n_fields < 3 || !is_named(csv.field[0], "state") || !is_named(csv.field[1], "action"))
        return tacit__fail_at(err, TACIT_SYNTAX, name, csv.line,
                              "the header must begin with state,action and have a column for each "
                              "feature after them");
    TRY(make(csv.n_fields - 2, csv.n_fields - 2, out, name, &f, err));
    bool *seen = tacit__alloc(f->n_states * f->n_actions, sizeof *seen);
    tacit_status status = seen != NULL ? read_features(&csv, out->mdp, f, seen, &simplex, err)
                                       : tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__free(seen);
    if (status != TACIT_OK) {
        tacit__workspace_destroy(f);
        return status;
    }
    out->features = f;
    out->linear = (tacit_linear){
        .dimension = f->d, .bound = 1, .simplex = simplex, .row = feature_row, .context = f};
    return TACIT_OK;
}

/* --- Kernels ------------------------------------------------------------------------------------- */

enum { MOST_KERNELS = 1000 };
static const char kernels_header[] = "kernel,state,action,next_state,probability";

typedef struct kernel_line {
    uint32_t kernel, state, action, next;
    double prob;
} kernel_line;

static tacit_status next_line(tacit__csv *csv, const tacit__mdp *mdp, kernel_line *l, bool *more,
                              tacit_error *err)
{
    TRY(tacit__csv_next(csv, more, err));
    if (!*more)
        return TACIT_OK;
    TRY(tacit__csv_index(csv, 0, "kernel", MOST_KERNELS - 1, &l->kernel, err));
    TRY(tacit__csv_index(csv, 1, "state", (uint32_t)mdp->n_states - 1, &l->state, err));
    TRY(tacit__csv_index(csv, 2, "action", (uint32_t)mdp->n_actions - 1, &l->action, err));
    TRY(tacit__csv_index(csv, 3, "next_state", (uint32_t)mdp->n_states - 1, &l->next, err));
    TRY(tacit__csv_real(csv, 4, "probability", &l->prob, err));
    if (l->prob >= 0 && l->prob <= 1 + TACIT__SUM_TOLERANCE)
        return TACIT_OK;
    return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                          "probability is %g, expected a number from 0 to 1", l->prob);
}

/* Every row sums to one, and is then divided by its sum, and by sqrt(d): so a vector of d predictions is
 * at most 1 long, and weights that sum to one become parameters of at most sqrt(d). */
static tacit_status normalize(const feature_table *f, const tacit__mdp *mdp, const char *name,
                              tacit_error *err)
{
    for (size_t i = 0; i < f->n_states * f->n_actions * f->d; i++) {
        double *row = f->numbers + i * f->n_states, sum = 0;
        for (size_t next = 0; next < f->n_states; next++)
            sum += row[next];
        const size_t state = i / f->d / f->n_actions;
        if (sum == 0 && is_end(mdp, state))
            sum = row[state] = 1;
        if (fabs(sum - 1) > TACIT__SUM_TOLERANCE)
            return tacit__fail_at(err, TACIT_SYNTAX, name, 0,
                                  "the probabilities of kernel %zu, state %zu, action %zu sum to "
                                  "%.9g, expected 1",
                                  i % f->d, i / f->d / f->n_actions, i / f->d % f->n_actions, sum);
        for (size_t next = 0; next < f->n_states; next++)
            row[next] /= sum * sqrt((double)f->d);
    }
    return TACIT_OK;
}

static tacit_status read_kernels(tacit__span text, const char *name, const tacit__mdp *mdp,
                                 const feature_table *f, tacit_error *err)
{
    tacit__csv csv;
    kernel_line l;
    bool more = true;
    TRY(tacit__csv_open(&csv, name, kernels_header, text, err));
    for (;;) {
        TRY(next_line(&csv, mdp, &l, &more, err));
        if (!more)
            return normalize(f, mdp, name, err);
        f->numbers[((l.state * f->n_actions + l.action) * f->d + l.kernel) * f->n_states +
                   l.next] += l.prob;
    }
}

tacit_status tacit__table_kernels(tacit__span text, const char *name, tacit__model *out,
                                  tacit_error *err)
{
    TACIT__REQUIRE(out->mdp != NULL);
    tacit__csv csv;
    kernel_line l;
    feature_table *f = NULL;
    size_t d = 0;
    TRY(tacit__csv_open(&csv, name, kernels_header, text, err));
    for (bool more = true; more;) { /* how many there are */
        TRY(next_line(&csv, out->mdp, &l, &more, err));
        d = more && l.kernel >= d ? l.kernel + (size_t)1 : d;
    }
    if (d == 0)
        return tacit__fail_at(err, TACIT_SYNTAX, name, 0, "no line follows the header");
    TRY(make(d, d * out->mdp->n_states, out, name, &f, err));
    tacit_status status = read_kernels(text, name, out->mdp, f, err);
    if (status != TACIT_OK) {
        tacit__workspace_destroy(f);
        return status;
    }
    out->features = f;
    out->mixture = (tacit_mixture){.dimension = d,
                                   .bound = 1,
                                   .parameter_norm = sqrt((double)d),
                                   .kernels = true,
                                   .nonnegative = true,
                                   .row = kernel_row,
                                   .context = f};
    return TACIT_OK;
}

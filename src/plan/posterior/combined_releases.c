/* See combined_releases.h.
 *
 * A running sum shows, after step t, the sum of x_0 .. x_t plus noise. The increments of what is shown are
 * d = x + (C Q)^-1 z, where z are independent draws, C is the strategy and Q its gains (sums/blt_gain.c).
 * Hence C Q d = C Q x + z: as many independent looks at the stream as there are releases. The last release is
 * one combination of them, and not the best. If all visits of a row are in the first step, all looks
 * together tell them as well as a single release would; the last release alone has about twice that noise
 * after 30 releases, and no later one has less, because nobody visits the row any more.
 *
 * Suppose that the visits of a row are in proportion to the users of steps 0 .. e, u_0 .. u_e, and that none
 * come later. Then, with w = C Q u, of all combinations
 *     w . C Q d / |w| = sum_j v_j d_j,   v = Q C' w / |w|,
 * with the noise of one draw, this one has the most visits. It is multiplied by what makes its noise that of
 * the last release, so that it can take its place. Moves and rewards of the row are combined with the same v:
 * whatever v is, and whenever the visits really came, their expectations are those of the visits times the
 * row's probabilities and mean reward, so nothing is biased. Users of different steps count differently, so n
 * visits have the chance of
 *     f n,   f = sum_j v_j u_j / sum_j v_j^2 u_j,
 * visits that count alike (`sampled`). For each row we take the one of e = t, t - 1, t - 2, t - 4, ...
 * and 0, 1, 3, 7, ... with the least (s_R^2 + m / (4 f)) / m^2, m = n + s_n: the variance of a mean
 * reward. If it has less than 4 s_n visits, 6 s_n if there are moves, or none is better, the last release
 * stays: the largest of several noisy zeros is not small.
 *
 * c_j is that of the square root of the sum matrix, binom(2j, j) / 4^j, and Q that which makes its columns
 * equally long; the noise of `blt` is within 2 % of that (unit.combined_releases). If steps have noise of
 * their own, C and Q are 1. Nothing about privacy depends on it: all of this is post-processing of releases.
 *
 * Cost: a release takes about 2 R log2(R) multiplications for each cell after R of them. */
#include "plan/posterior/combined_releases.h"

#include <math.h>

#include "base/error.h"
#include "base/workspace.h"

/* Standard deviations. With fewer, rows that nobody visits pass for known; and where moves matter, one that
 * the noise hides stays hidden. */
#define VISITED 4.0
#define MOVED 6.0
enum { MOST_NUMBERS = 1 << 20 }; /* that are remembered: 8 MB, which are part of a saved state */

struct tacit__combined_releases {
    size_t rows, states; /* moves of a row, 0 if they are not told */
    size_t cells;        /* of a release: visits, rewards and moves */
    size_t releases, told;
    bool separate;    /* steps have noise of their own */
    double first;     /* standard deviation of the visits of the first release */
    double *column;   /* [releases]: c */
    double *gain;     /* [releases]: Q */
    double *users;    /* [releases]: u */
    double *steps;    /* [releases][cells]: d */
    double *shown;    /* [cells]: the last release */
    double *combined; /* [cells]: what takes its place */
    double *sampled;  /* [rows] */
    double *squares;  /* [rows]: variances of mean rewards */
    double *looks;    /* [releases] scratch: w, */
    double *weights;  /* [releases] scratch: and v */
    double *trial;    /* [cells] scratch */
};

static size_t rows_of(tacit__space sp)
{
    return sp.tables * sp.n_states * sp.n_actions;
}

/* A single step leads nowhere, and a single state to itself. */
static size_t moves_of(tacit__space sp)
{
    return sp.horizon == 1 || sp.n_states == 1 ? 0 : sp.n_states;
}

bool tacit__combined_releases_fits(tacit__space sp, size_t releases)
{
    const double cells = (double)rows_of(sp) * (2 + (double)moves_of(sp));
    return releases > 0 && cells * (double)releases <= MOST_NUMBERS;
}

/* Column j of C has releases - j entries. */
static void find_strategy(tacit__combined_releases *h)
{
    double all = 0, length = 0;
    for (size_t j = 0; j < h->releases; j++) {
        h->column[j] = j == 0 ? 1 : h->separate ? 0 : h->column[j - 1] * (1 - 0.5 / (double)j);
        all += h->column[j] * h->column[j];
    }
    for (size_t j = h->releases; j-- > 0;) {
        const double entry = h->column[h->releases - 1 - j];
        length += entry * entry;
        h->gain[j] = sqrt(all / length);
    }
}

tacit_status tacit__combined_releases_create(tacit__space sp, size_t releases, bool separate,
                                             tacit__combined_releases **out)
{
    TACIT__REQUIRE(tacit__combined_releases_fits(sp, releases));
    const size_t rows = rows_of(sp), states = moves_of(sp), cells = rows * (2 + states);
    tacit__combined_releases w = {
        .rows = rows, .states = states, .cells = cells, .releases = releases, .separate = separate};
    tacit__combined_releases *h =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.column, releases), TACIT__PIECE(w.gain, releases),
                         TACIT__PIECE(w.users, releases), TACIT__PIECE(w.steps, releases * cells),
                         TACIT__PIECE(w.shown, cells), TACIT__PIECE(w.combined, cells),
                         TACIT__PIECE(w.sampled, rows), TACIT__PIECE(w.squares, rows),
                         TACIT__PIECE(w.looks, releases), TACIT__PIECE(w.weights, releases),
                         TACIT__PIECE(w.trial, cells));
    if (h == NULL)
        return TACIT_NO_MEMORY;
    find_strategy(h);
    *out = h;
    return TACIT_OK;
}

void tacit__combined_releases_destroy(tacit__combined_releases *h)
{
    tacit__workspace_destroy(h);
}

double tacit__combined_releases_noise(const tacit__combined_releases *h, size_t t)
{
    TACIT__REQUIRE(t < h->releases);
    double square = 0; /* of row t of A (C Q)^-1; the coefficients of C^-1 are -c_n / (2 n - 1) */
    for (size_t j = 0; j <= t; j++) {
        double entry = 0;
        for (size_t i = j; i <= t; i++)
            entry -= h->column[i - j] / (2 * (double)(i - j) - 1) / h->gain[i];
        square += entry * entry;
    }
    return sqrt(square);
}

/* v for visits in steps 0 .. last, with the noise of one draw times `scale`. Returns f. */
static double weigh_steps(tacit__combined_releases *h, size_t last, double scale)
{
    double length = 0, once = 0, twice = 0;
    for (size_t t = 0; t < h->told; t++) {
        h->looks[t] = 0;
        for (size_t j = 0; j <= t && j <= last; j++)
            h->looks[t] += h->column[t - j] * h->gain[j] * h->users[j];
        length += h->looks[t] * h->looks[t];
    }
    for (size_t j = 0; j < h->told; j++) {
        h->weights[j] = 0;
        for (size_t t = j; t < h->told; t++)
            h->weights[j] += h->column[t - j] * h->looks[t];
        h->weights[j] *= h->gain[j] * scale / sqrt(length);
        once += j <= last ? h->weights[j] * h->users[j] : 0;
        twice += j <= last ? h->weights[j] * h->weights[j] * h->users[j] : 0;
    }
    return once / twice;
}

/* Visits are told by themselves and by the sum of their moves, as in tabular_belief.c. */
static double visits_stddev(const tacit__combined_releases *h, const tacit__weighted_counts *c)
{
    const double one = 1 / (c->visits_stddev * c->visits_stddev);
    return h->states == 0
               ? c->visits_stddev
               : 1 / sqrt(one + 1 / ((double)h->states * c->moves_stddev * c->moves_stddev));
}

static double count_visits(const tacit__combined_releases *h, const tacit__weighted_counts *c,
                           const double *cells, size_t row)
{
    const double stddev = visits_stddev(h, c),
                 share = stddev * stddev / c->visits_stddev / c->visits_stddev;
    const double *moves = cells + 2 * h->rows + row * h->states;
    double sum = 0;
    for (size_t s = 0; s < h->states; s++)
        sum += moves[s];
    return share * cells[row] + (1 - share) * sum;
}

static double variance_of(const tacit__combined_releases *h, const tacit__weighted_counts *c,
                          double visits, double f)
{
    const double m = fmax(0, visits) + visits_stddev(h, c);
    return (c->rewards_stddev * c->rewards_stddev + m / (4 * f)) / (m * m);
}

static void copy_row(const tacit__combined_releases *h, size_t row, const double *from, double *to)
{
    const size_t first = 2 * h->rows + row * h->states;
    to[row] = from[row];
    to[h->rows + row] = from[h->rows + row];
    for (size_t i = first; i < first + h->states; i++)
        to[i] = from[i];
}

static void try_steps(tacit__combined_releases *h, const tacit__weighted_counts *c, size_t last)
{
    const double f = weigh_steps(h, last, c->visits_stddev / h->first),
                 least = (h->states == 0 ? VISITED : MOVED) * visits_stddev(h, c);
    for (size_t i = 0; i < h->cells; i++)
        h->trial[i] = 0;
    for (size_t j = 0; j < h->told; j++)
        for (size_t i = 0; i < h->cells; i++)
            h->trial[i] += h->weights[j] * h->steps[j * h->cells + i];
    for (size_t row = 0; row < h->rows; row++) {
        const double n = count_visits(h, c, h->trial, row), square = variance_of(h, c, n, f);
        if (square >= h->squares[row] || n < least)
            continue;
        h->squares[row] = square;
        h->sampled[row] = f * n;
        copy_row(h, row, h->trial, h->combined);
    }
}

/* What the release adds to the last one. */
static void add_step(tacit__combined_releases *h, const tacit__weighted_counts *c)
{
    double *step = h->steps + h->told * h->cells, before = 0;
    for (size_t j = 0; j < h->told; j++)
        before += h->users[j];
    h->users[h->told] = (double)c->users - before;
    for (size_t i = 0; i < h->cells; i++) {
        const double now = i < h->rows       ? c->visits[i]
                           : i < 2 * h->rows ? c->rewards[i - h->rows]
                                             : c->moves[i - 2 * h->rows];
        step[i] = now - h->shown[i];
        h->shown[i] = h->combined[i] = now;
    }
    if (h->told == 0)
        h->first = c->visits_stddev;
    h->told++;
}

tacit__weighted_counts tacit__combined_releases_absorb(tacit__combined_releases *h,
                                                       const tacit__weighted_counts *c)
{
    TACIT__REQUIRE(h->told < h->releases && c->visits_stddev > 0 && c->rewards_stddev > 0);
    TACIT__REQUIRE(h->states == 0 || c->moves_stddev > 0);
    add_step(h, c);
    for (size_t row = 0; row < h->rows; row++) {
        h->sampled[row] = count_visits(h, c, h->shown, row);
        h->squares[row] = variance_of(h, c, h->sampled[row], 1);
    }
    try_steps(h, c, h->told - 1);
    for (size_t n = 1; n < h->told; n *= 2) { /* steps that are left out, or in */
        try_steps(h, c, h->told - 1 - n);
        try_steps(h, c, n - 1);
    }
    tacit__weighted_counts out = *c;
    out.visits = h->combined;
    out.rewards = h->combined + h->rows;
    out.moves = h->states > 0 ? h->combined + 2 * h->rows : c->moves;
    out.sampled = h->sampled;
    return out;
}

void tacit__combined_releases_fields(tacit__combined_releases *h, tacit__saved *s)
{
    uint64_t told = h->told;
    double first = h->first;
    tacit__saved_value(s, &told, sizeof told);
    tacit__saved_value(s, &first, sizeof first);
    tacit__saved_check(s, told <= h->releases && first <= TACIT__MOST_SUM &&
                              (told > 0 ? first > 0 : first == 0));
    tacit__saved_reals(s, h->users, h->releases, TACIT__MOST_SUM);
    tacit__saved_reals(s, h->steps, h->releases * h->cells, TACIT__MOST_SUM);
    tacit__saved_reals(s, h->shown, h->cells, TACIT__MOST_SUM);
    if (s->pass == TACIT__APPLY) {
        h->told = (size_t)told;
        h->first = first;
    }
}

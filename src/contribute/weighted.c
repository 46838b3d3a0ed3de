/* See contribute/weighted.h.
 *
 * One user. Let n(x) be the weight of row x that is counted of a user, m(x, s') that of the moves,
 * r(x) the sum of w (r - 1/2). By contribute/user_share.c, in integers,
 *
 *     |n|_2 <= B            the budget, checked at every visit;
 *     m >= 0, sum_s' m(x, s') = n(x), so |m|_2 <= |n|_2 <= B:   a sum of squares of parts is at most the square
 *     |r(x)| <= n(x) / 2    each term is at most w / 2, rounded toward 0.
 *
 * Replacing the user by another, in the batch of that place in line:
 *
 *     stream    move, L2           proof
 *     moves     sqrt(2) B          m . m' >= 0, so |m - m'|^2 <= |m|^2 + |m'|^2
 *     visits    sqrt(2) B          the same
 *     rewards   B / sqrt(2)        beside the visits, if s_R >= s_N / 2: see below
 *     starts    sqrt(2)            a one in one cell or another
 *
 * Rewards beside visits. A row's part of the squared loss is at most (n - n')^2 / s_N^2 + (n +
 * n')^2 / (4 s_R^2). If s_R >= s_N / 2 the product n n' has a factor that is not positive, and what
 * is left is (n^2 + n'^2) (1 / s_N^2 + 1 / (4 s_R^2)). Summed over the rows that is at most 2 B^2 /
 * s_N^2 + B^2 / (2 s_R^2): as if visits moved by sqrt(2) B and rewards by B / sqrt(2). (The
 * argument of contribute/tabular_reach.c, with weights for ones.) Both sums have the same steps and the
 * same strategy, so that the condition is the same for a user of any batch up to the rounding of
 * the strategies; it is required with a margin of 1e-3.
 *
 * A user is in one batch, and which one follows from the place in line. The weights are functions
 * of earlier releases. So a stream is a running sum over batches whose steps move by no more than
 * the above, and its columns are those of a sum over the releases, not over users.
 *
 * Pure privacy (delta 0) has Laplace noise, and L1 norms count. There is no budget: every visit
 * counts 1, so that a user has at most H in visits and in moves, whatever the trajectory, at most
 * H / 2 in rewards and 1 in first states, and a replaced one moves them by 2 H, 2 H, H and 2 (the
 * triangle inequality).
 *
 * Local privacy has no sums: contribute/table_answers.c.
 *
 * Shares of the budget (mu^2, or epsilon if it is pure) are choices (docs/why/posterior-tabular.md); privacy
 * does not depend on them. A stream without a share is not released. With delta 0 noise falls with the share
 * itself and not with its root, so a second estimate of the visits, which are sums of moves, is too dear
 * unless there are many states; and first states serve only the weights, which there are none of. Nothing
 * follows a single step, and a single state follows itself, so that their moves are not released. */
#include "contribute/weighted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "contribute/table_answers.h"
#include "contribute/table_memory.h"
#include "contribute/user_check.h"
#include "contribute/user_share.h"
#include "sums/sum_inside.h"

typedef enum weighted_stream { VISITS, MOVES, REWARDS, STARTS, STREAMS } weighted_stream;

static const char *const names[STREAMS] = {"visits", "moves", "rewards", "starts"};

/* Of a single step or state, of a large table with delta 0, and of others. With delta above 0 rewards have
 * at most what visits have: see the head. */
static const double shares[2][STREAMS] = {{0.2 * 0.98, 0.6 * 0.98, 0.2 * 0.98, 0.02},
                                          {0, 0.65, 0.35, 0}};
static const double single_shares[2][STREAMS] = {{0.49, 0, 0.49, 0.02}, {0.45, 0, 0.55, 0}};
static const double large_shares[STREAMS] = {0.15, 0.55, 0.3, 0};
/* States from which on the sum of a row's moves is too noisy for its visits. */
enum { LARGE = 30 };
#define MARGIN 1e-3    /* of the rewards' noise above half of the visits' */
#define MOST_BITS 24   /* weights of 2^-24: far below what matters */
#define STEP_BITS 52   /* all users together are exact in doubles */
#define SQUARE_BITS 59 /* the budget, in squared steps, is below 2^60 */
#define LEAST_BITS 10

/* Why a replaced user moves a stream no farther, with the formula that the bound's value comes from. */
static const char *const reasons[STREAMS] = {
    "weights of length at most B in a user, B^2 = max(1, min(H, m^2 S A)), none negative: x.x' >= "
    "0, so L2 "
    "sqrt(2) B",
    "a row's moves are parts of its visits, so their length is at most B too: L2 sqrt(2) B",
    "at most half of the visits' weight in each cell; where two users' cells agree the visits "
    "stand still: L2 B / "
    "sqrt(2)",
    "one first state or another: L2 sqrt(2)"};

/* The same for L1 norms. */
static const char *const pure_reasons[STREAMS] = {
    "at most H visits that count 1 each, moved to other cells: L1 2H",
    "at most H moves that count 1 each, moved to other cells: L1 2H",
    "at most H numbers r - 1/2: L1 H", "one first state or another: L1 2"};

typedef struct counted_stream {
    const tacit__stream *stream; /* NULL: it is not released */
    int64_t finer;               /* steps of its lattice in one of the weights' */
    size_t *cell;                /* [H]: the cells of a user that count, ascending, */
    int64_t *x;                  /* [H]: what is in them, */
    size_t cells;                /* and how many there are */
} counted_stream;

struct tacit__weighted {
    tacit__weighted_options o;
    counted_stream streams[STREAMS];
    tacit__share_rule rule;
    int64_t *weights;           /* [rows]: the rule's; NULL: everything counts in full */
    int bits;                   /* weights are in steps of 2^-bits */
    tacit__counted_step *steps; /* [H] scratch */
    double *zeros;              /* in place of streams that are not released */
};

/* --- What is declared ----------------------------------------------------------------------------- */

uint64_t tacit__weighted_square(tacit__space sp)
{
    TACIT__REQUIRE(sp.horizon > 0);
    const double rows = (double)sp.tables * (double)sp.n_states * (double)sp.n_actions;
    const double most = TACIT__WEIGHTED_VISITS * TACIT__WEIGHTED_VISITS * rows;
    return (double)sp.horizon < most ? sp.horizon : (uint64_t)fmax(1, most);
}

static bool is_private(const tacit__weighted_options *o)
{
    return o->guarantee.model != TACIT_MODEL_NONE;
}

/* Noise is Laplace, and L1 counts. */
static bool is_pure(const tacit__weighted_options *o)
{
    return is_private(o) && o->guarantee.delta == 0;
}

/* Whether the weights of a user share a budget; the others count in full, or answer. */
static bool is_budgeted(const tacit__weighted_options *o)
{
    return is_private(o) && !is_pure(o) && !o->answers;
}

static size_t rows_of(const tacit__space *sp)
{
    return sp->tables * sp->n_states * sp->n_actions;
}

static size_t cells_of(const tacit__space *sp, int which)
{
    return which == MOVES    ? rows_of(sp) * sp->n_states
           : which == STARTS ? sp->n_states
                             : rows_of(sp);
}

static double share_of(const tacit__weighted_options *o, int which)
{
    const bool pure = is_pure(o);
    if (o->space.horizon == 1 || o->space.n_states == 1)
        return single_shares[pure][which];
    return pure && o->space.n_states >= LARGE ? large_shares[which] : shares[pure][which];
}

static bool is_released(const tacit__weighted_options *o, int which)
{
    return !o->answers && (!is_private(o) || share_of(o, which) > 0);
}

static double bound_of(const tacit__weighted_options *o, int which)
{
    if (is_pure(o))
        return which == STARTS ? 1 : (double)o->space.horizon / (which == REWARDS ? 2 : 1);
    const double b = nextafter(sqrt((double)tacit__weighted_square(o->space)), HUGE_VAL);
    return which == STARTS ? 1 : which == REWARDS ? b / 2 : b;
}

static tacit_sum_spec sum_of(const tacit__weighted_options *o, int which)
{
    const double b = bound_of(o, which);
    tacit_sum_spec spec = {.mechanism = o->mechanism,
                           .law = is_pure(o) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                           .dimension = cells_of(&o->space, which),
                           .users = o->episodes > 1 ? o->episodes - 1 : 1,
                           .visits = o->visits,
                           .apart = o->apart,
                           .bound = {.l2 = b,
                                     .nonnegative = which != REWARDS,
                                     .nonzeros = which == STARTS ? 1 : o->space.horizon},
                           .sensitivity_on_lattice =
                               true, /* proved of integers, which every finer lattice has */
                           .reason = is_pure(o) ? pure_reasons[which] : reasons[which]};
    if (is_pure(o))
        spec.bound.l1 = b;
    else
        spec.sensitivity_l2 = nextafter(M_SQRT2 * b, HUGE_VAL);
    return spec;
}

/* Without privacy, and at most: see open_form. */
static int bits_of(const tacit__weighted_options *o)
{
    const double most = (double)o->episodes * (double)o->space.horizon,
                 square = (double)tacit__weighted_square(o->space),
                 room = fmin(STEP_BITS - ceil(log2(most)), floor((SQUARE_BITS - log2(square)) / 2));
    return (int)fmin(MOST_BITS, room);
}

static tacit__stream_spec stream_of(const tacit__weighted_options *o, int which)
{
    tacit__stream_spec spec = {.name = names[which],
                               .kind = is_private(o) ? TACIT__STREAM_RUNNING : TACIT__STREAM_EXACT,
                               .dimension = cells_of(&o->space, which),
                               .bits = bits_of(o),
                               .largest = ldexp((double)o->space.horizon, bits_of(o))};
    if (is_private(o))
        spec.sum = sum_of(o, which);
    return spec;
}

/* The stream at a place of the curator. */
static int stream_at(const tacit__weighted_options *o, size_t place)
{
    int which = 0;
    while (!is_released(o, which) || place-- > 0)
        which++;
    return which;
}

/* The calibrator makes s_i ~ (D_i^2 / w_i)^(1/3), D = move times column; a share of mu^2 is
 * D_i^2 / s_i^2, so w = share^(3/2) / D. Laplace noise: s_i ~ (D_i / w_i)^(1/2), a share of epsilon is
 * D_i / s_i, so w = share^2 / D. */
static double weigh(const void *form, size_t place, const tacit_release *line)
{
    const tacit__weighted_options *o = &((const tacit__weighted *)form)->o;
    if (o->answers)
        return line->weight;
    const int which = stream_at(o, place);
    const double above = 1 + 2 * MARGIN,
                 share = share_of(o, which) / (which == REWARDS ? above * above : 1);
    if (is_pure(o))
        return share * share / (line->l1 * line->column_l1);
    return pow(share, 1.5) / (line->l2 * line->column_l2);
}

/* Noise of a stream in units of what its mechanism makes of a step. */
static double scale_of(const tacit_plan *plan, weighted_stream which)
{
    const size_t line = tacit_plan_index(plan, names[which]);
    return tacit_plan_scale(plan, line) / tacit_plan_release(plan, line)->column_l2;
}

/* The sums, and what is shown of them, must fit into half of the machine's memory. */
static tacit_status check_memory(const tacit__weighted_options *o, tacit_error *err)
{
    double needed = 0, cells = 0;
    for (int i = 0; i < STREAMS; i++) {
        const double n = (double)cells_of(&o->space, i);
        tacit__sum_prediction sum = {0};
        if (is_private(o) && is_released(o, i)) {
            tacit_sum_spec spec = sum_of(o, i);
            spec.users = o->n_ends; /* as large as a sum of this many steps */
            spec.visits = spec.apart = 0;
            TRY(tacit__sum_predict(&spec, &sum, err));
        }
        cells += n;
        needed += n * (sum.bytes + sizeof(int64_t) + sizeof(double));
    }
    return tacit__table_check_memory(&o->space, cells, needed, err);
}

/* --- Users --------------------------------------------------------------------------------------- */

static tacit_status check(const void *form, const tacit__user_view *user, tacit_error *err)
{
    const tacit__space *sp = &((const tacit__weighted *)form)->o.space;
    return tacit__check_trajectory(user->trajectory, sp->n_states, sp->n_actions, sp->horizon, err);
}

/* Adds up what is in one cell; cells come ascending. */
static void add_cell(counted_stream *s, size_t cell, int64_t value)
{
    if (s->stream == NULL)
        return;
    if (s->cells == 0 || s->cell[s->cells - 1] != cell) {
        s->cell[s->cells] = cell;
        s->x[s->cells++] = 0;
    }
    s->x[s->cells - 1] += value * s->finer;
}

static int by_move(const void *a, const void *b)
{
    const tacit__counted_step *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->next > y->next) - (x->next < y->next);
}

/* The user as sparse integers. */
static tacit_status contribute(void *form, const tacit__user_view *user, uint64_t turn,
                               tacit__input *out, tacit_error *err)
{
    (void)turn, (void)err;
    tacit__weighted *f = form;
    counted_stream *s = f->streams;
    const size_t n = tacit__user_share(&f->rule, user->trajectory, f->steps);
    qsort(f->steps, n, sizeof *f->steps, by_move);
    for (int i = 0; i < STREAMS; i++)
        s[i].cells = 0;
    for (size_t i = 0; i < n; i++) {
        const tacit__counted_step *step = &f->steps[i];
        add_cell(&s[VISITS], step->row, step->weight);
        add_cell(&s[MOVES], step->row * f->o.space.n_states + step->next, step->weight);
        add_cell(&s[REWARDS], step->row, step->reward);
    }
    add_cell(&s[STARTS], user->trajectory->states[0], (int64_t)1 << f->bits);
    for (int i = 0; i < STREAMS; i++)
        if (s[i].stream != NULL)
            *out++ = (tacit__input){.n = s[i].cells, .index = s[i].cell, .value = s[i].x};
    return TACIT_OK;
}

static void wipe(void *form)
{
    tacit__weighted *f = form;
    const size_t H = f->o.space.horizon;
    tacit__wipe(f->steps, H * sizeof *f->steps);
    for (int i = 0; i < STREAMS; i++) {
        tacit__wipe(f->streams[i].cell, H * sizeof *f->streams[i].cell);
        tacit__wipe(f->streams[i].x, H * sizeof *f->streams[i].x);
    }
}

void tacit__weighted_set_weights(tacit__weighted *f, const double *weights)
{
    TACIT__REQUIRE(weights != NULL);
    if (f->weights == NULL)
        return;
    /* no weight is more than the budget, and none is negative; NaN is 0 */
    const double most = sqrt((double)f->rule.square);
    for (size_t row = 0; row < rows_of(&f->o.space); row++) {
        const double steps = ldexp(weights[row], f->bits);
        f->weights[row] = steps >= most ? (int64_t)most : steps >= 0 ? (int64_t)steps : 0;
    }
}

/* --- What is shown -------------------------------------------------------------------------------- */

static const double *shown(const tacit__weighted *f, int which)
{
    const tacit__stream *stream = f->streams[which].stream;
    return stream != NULL ? tacit__stream_shown(stream) : f->zeros;
}

static double stddev(const tacit__weighted *f, int which, uint64_t released)
{
    const tacit__stream *stream = f->streams[which].stream;
    return stream != NULL ? tacit__stream_stddev(stream, released) : HUGE_VAL;
}

tacit__weighted_counts tacit__weighted_view(const tacit__weighted *f, uint64_t users,
                                            uint64_t released)
{
    return (tacit__weighted_counts){.users = users,
                                    .visits = shown(f, VISITS),
                                    .moves = shown(f, MOVES),
                                    .rewards = shown(f, REWARDS),
                                    .starts = shown(f, STARTS),
                                    .visits_stddev = stddev(f, VISITS, released),
                                    .moves_stddev = stddev(f, MOVES, released),
                                    .rewards_stddev = stddev(f, REWARDS, released),
                                    .starts_stddev = stddev(f, STARTS, released)};
}

/* --- What a curator is made of ------------------------------------------------------------------- */

/* The lattice of the weights: one that all streams' lattices contain. Without privacy it is as
 * fine, and there is no budget. */
static tacit_status open_form(void *form, const tacit_plan *plan, tacit__stream *const *streams,
                              tacit_error *err)
{
    tacit__weighted *f = form;
    f->bits = bits_of(&f->o);
    for (int i = 0, place = 0; i < STREAMS; i++) {
        if (!is_released(&f->o, i))
            continue;
        f->streams[i].stream = streams[place++];
        const tacit__lattice *lattice = tacit__stream_lattice(f->streams[i].stream);
        f->bits = lattice != NULL && lattice->bits < f->bits ? lattice->bits : f->bits;
    }
    if (f->bits < LEAST_BITS)
        return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %llu users",
                           (unsigned long long)f->o.episodes);
    for (int i = 0; i < STREAMS && plan != NULL; i++)
        if (f->streams[i].stream != NULL)
            f->streams[i].finer = (int64_t)1
                                  << (tacit__stream_lattice(f->streams[i].stream)->bits - f->bits);
    f->rule = (tacit__share_rule){
        .space = f->o.space, .weights = f->weights, .unit = (int64_t)1 << f->bits};
    if (is_budgeted(&f->o)) {
        f->rule.user_visits = TACIT__WEIGHTED_VISITS;
        f->rule.square = tacit__weighted_square(f->o.space) << (2 * f->bits);
        for (size_t row = 0; row < rows_of(&f->o.space); row++)
            f->weights[row] = f->rule.unit;
        /* the condition of the rewards' sensitivity; see the head */
        TACIT__REQUIRE(plan != NULL &&
                       scale_of(plan, REWARDS) >= 0.5 * (1 + MARGIN) * scale_of(plan, VISITS));
    }
    return TACIT_OK;
}

/* Weights are not negative, and small enough for products of two of them. */
static bool are_weights(const void *bytes, size_t n)
{
    const int64_t most = (int64_t)1 << 31;
    for (size_t i = 0; i < n; i++) {
        int64_t w;
        memcpy(&w, (const uint8_t *)bytes + i * sizeof w, sizeof w);
        if (w < 0 || w > most)
            return false;
    }
    return true;
}

static void fields(void *form, uint64_t users, tacit__saved *s)
{
    tacit__weighted *f = form;
    const size_t rows = rows_of(&f->o.space);
    (void)users;
    if (f->weights == NULL)
        return;
    const void *weights = tacit__saved_array(s, f->weights, rows, sizeof *f->weights);
    tacit__saved_check(s, weights == NULL || are_weights(weights, rows));
}

static const tacit__statistic statistic = {.destroy = tacit__workspace_destroy,
                                           .check = check,
                                           .contribute = contribute,
                                           .wipe = wipe,
                                           .weigh = weigh,
                                           .open = open_form,
                                           .fields = fields};

static tacit__weighted *create(const tacit__weighted_options *o)
{
    const size_t H = o->space.horizon;
    tacit__weighted w = {.o = *o};
    tacit__piece pieces[2 * STREAMS + 3];
    size_t n = 0, untold = 0;
    w.o.ends = NULL; /* the caller's */
    for (int i = 0; i < STREAMS; i++) {
        const size_t cells = cells_of(&o->space, i);
        w.streams[i].finer = 1;
        pieces[n++] = TACIT__PIECE(w.streams[i].cell, H);
        pieces[n++] = TACIT__PIECE(w.streams[i].x, H);
        untold = is_released(o, i) || o->answers || cells < untold ? untold : cells;
    }
    pieces[n++] = TACIT__PIECE_IF(is_budgeted(o), w.weights, rows_of(&o->space));
    pieces[n++] = TACIT__PIECE(w.steps, H);
    pieces[n++] = TACIT__PIECE_IF(untold > 0, w.zeros, untold);
    return tacit__workspace_create(&w, sizeof w, pieces, n);
}

tacit_status tacit__weighted_describe(const tacit__weighted_options *o, tacit__curator_spec *out,
                                      tacit_error *err)
{
    TACIT__REQUIRE(o->space.n_states > 0 && o->space.n_actions > 0 && o->space.horizon > 0);
    TACIT__REQUIRE(o->episodes > 0 && o->n_ends > 0);
    TACIT__REQUIRE(o->answers || o->guarantee.model != TACIT_MODEL_LOCAL);
    tacit__table_answers *answers = NULL;
    TRY(check_memory(o, err));
    if (o->answers)
        TRY(tacit__table_answers_create(o, &answers, err));
    tacit__weighted *f = create(o);
    if (f == NULL) {
        tacit__workspace_destroy(answers);
        return tacit__fail(err, TACIT_NO_MEMORY, "counts of %zu states do not fit into memory",
                           o->space.n_states);
    }
    *out = (tacit__curator_spec){.guarantee = o->guarantee,
                                 .episodes = o->episodes,
                                 .ends = o->ends,
                                 .n_ends = o->n_ends,
                                 .statistic = &statistic,
                                 .form = f,
                                 .responder = answers != NULL ? &tacit__table_responder : NULL,
                                 .responding = answers};
    if (o->answers)
        out->streams[out->n_streams++] = tacit__table_answers_stream(answers);
    for (int i = 0; i < STREAMS; i++)
        if (is_released(o, i))
            out->streams[out->n_streams++] = stream_of(o, i);
    return TACIT_OK;
}

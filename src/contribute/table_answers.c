/* See contribute/table_answers.h.
 *
 * A report. Public chance chooses one of the H steps, each alike, or `each` of them; that is known before
 * the outcome, so nothing is biased. The reward becomes one of L levels, 0, 1/(L-1), ..., 1: one of the two
 * next to it, by a coin that makes its mean r. Step and level are one of k = (tables S A S L) cells, and the
 * answer is the cell's, which is itself or that of a hash (contribute/questions.h). Randomized response shows
 * another answer instead, each with the same probability (noise/response.h).
 *
 * Privacy. The step, the coin of the reward and the hash do not depend on data, and the response does not
 * depend on them. Whatever they are, two trajectories lead to two true answers at most, and what is given
 * is at most e^epsilon' times as likely with one as with the other, epsilon' = epsilon / (each visits). A
 * user gives `each` answers, a person `visits` times as many, and costs add: epsilon, with delta 0.
 *
 * Estimate. (support - n u) / d of a cell is unbiased, and has variance n v (contribute/questions.h).
 *
 * Two questions. A row's rewards are sums over S next states, and so is their noise. If noise dominates,
 * a public coin decides whether the question is where the step led, (table, state, action, next state),
 * or what it paid, (table, state, action, level), with 2 levels. Each is asked of half of the users, so a
 * move has the variance 2 n v that it has with 2 levels, a row's rewards have n v instead of n v S / 2,
 * and its visits 4 n v, beside the moves' 2 S n v. But chance counts twice, so this is done only if
 * 2 v max(400, m) is at least 1, m as below. The coin is as public as the step. Of a single step nothing
 * follows that matters: S is 1 there, and there is one question.
 *
 * Levels and answers of a user. A reward that becomes a bit has a variance of up to 1/4, one of L levels 1 /
 * (4 (L-1)^2); but a move is then made of L cells, with L times the noise. And J answers are worth more
 * than one if each of them is nearly always true. With m = tables S A S moves (tables S A of a single
 * step), J and L are those with the least
 *     (1/4 + 1 / (4 (L-1)^2) + c L v m) / J,
 * where the first 1/4 stands for what chance makes of the moves, and c for how much states differ in value;
 * J = 1 or epsilon / J >= ln k + 7. */
#include "contribute/table_answers.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "contribute/questions.h"
#include "noise/stream.h"

#define SURE 7.0 /* several answers are given only where hardly one in e^SURE is false */
#define CHANCE 0.25
/* c, and m at least: chosen on the first list of docs/why/defaults.md. */
#define LEVEL_NOISE 4.0
#define LEAST_MOVES 400.0
#define DOMINANT 1.0            /* noise, beside chance, from which on questions are apart, */
#define ASKED_PAID 0.5          /* and how often they are about what a step paid: the same list */
#define MOST_LEVEL_CELLS 0x1p20 /* more levels than 2 are not worth more memory */
enum { MOST_LEVELS = 16 };      /* a variance of 1/900 is nothing beside that of the moves */
#define MOST_CELLS 0x1p26 /* their sums fit into memory, and numbers of answers into 32 bits */

struct tacit__table_answers {
    tacit__weighted_options o;
    tacit__table_answers_shape shape;
    tacit__fresh_releases *once;
    tacit__site chance;
    int64_t *support;                          /* [cells]; if apart, those of the moves are first */
    uint64_t paid;                             /* answers about what a step paid, if apart */
    double *visits, *moves, *rewards, *starts; /* what is shown; of first states zeros */
    int64_t *truth;                            /* [each] scratch of a report, */
    double *given;                             /* [each] */
    uint64_t *words; /* [4 each, in blocks]: where, what it paid, the hash, and which question */
};

static size_t words_of(size_t each)
{
    return (4 * each + TACIT__WORDS_PER_BLOCK - 1) / TACIT__WORDS_PER_BLOCK *
           TACIT__WORDS_PER_BLOCK;
}

/* `out` has cells, levels and `each`; an answer is about one of k of the cells. The user has `epsilon`. */
static bool find_response(double k, double epsilon, tacit__table_answers_shape *out)
{
    tacit__question q;
    if (!tacit__question_find(k, epsilon / (double)out->each, &q))
        return false;
    out->hashed = q.hashed;
    out->response = q.response;
    out->expected = q.expected;
    out->gain = q.gain;
    out->variance = q.variance;
    return true;
}

/* With so many levels of rewards, and answers of a user. */
static bool find_shape(double moves, size_t levels, size_t each, double epsilon,
                       tacit__table_answers_shape *out)
{
    const double k = moves * (double)levels;
    *out = (tacit__table_answers_shape){.cells = (size_t)k, .levels = levels, .each = each};
    return find_response(k, epsilon, out);
}

/* Two questions instead, each with its own cells, if that is better: see the head. */
static void ask_apart(double rows, double followers, double epsilon,
                      tacit__table_answers_shape *out)
{
    const double moves = rows * followers;
    tacit__table_answers_shape apart = {
        .cells = (size_t)(moves + 2 * rows), .levels = 2, .each = 1, .apart = true};
    if (followers > 1 && out->each == 1 &&
        2 * out->variance * fmax(LEAST_MOVES, moves) >= DOMINANT &&
        find_response(moves < 2 * rows ? 2 * rows : moves, epsilon, &apart))
        *out = apart;
}

/* Answers of a user, at most: `sure` ones, if there are several. */
static size_t most_answers(double moves, size_t levels, double epsilon, size_t horizon)
{
    const double sure = floor(epsilon / (log((double)levels * moves) + SURE));
    return (size_t)fmax(1, fmin((double)horizon, sure));
}

/* What the rule of the head makes least. */
static double error_of(const tacit__table_answers_shape *shape, double moves)
{
    const double levels = (double)shape->levels, step = 1 / (levels - 1);
    return (CHANCE + step * step / 4 +
            LEVEL_NOISE * levels * shape->variance * fmax(LEAST_MOVES, moves)) /
           (double)shape->each;
}

bool tacit__table_answers_find(const tacit__weighted_options *o, tacit__table_answers_shape *out)
{
    const tacit__space sp = o->space;
    const double rows = (double)sp.tables * (double)sp.n_states * (double)sp.n_actions,
                 followers = sp.horizon == 1 ? 1 : (double)sp.n_states, moves = rows * followers,
                 visits = o->visits > 0 ? (double)o->visits : 1,
                 whole = o->guarantee.epsilon / visits;
    if (!(2 * moves <= MOST_CELLS) || !find_shape(moves, 2, 1, whole, out))
        return false;
    for (size_t levels = 2; levels <= MOST_LEVELS; levels++) {
        const size_t most = most_answers(moves, levels, whole, sp.horizon);
        if (levels > 2 && (double)levels * moves > MOST_LEVEL_CELLS)
            break;
        for (size_t each = 1; each <= most; each++) {
            tacit__table_answers_shape shape;
            if (find_shape(moves, levels, each, whole, &shape) &&
                error_of(&shape, moves) < error_of(out, moves))
                *out = shape;
        }
    }
    ask_apart(rows, followers, whole, out);
    out->followers = (size_t)followers;
    return true;
}

tacit_status tacit__table_answers_check(const tacit__weighted_options *o, tacit_error *err)
{
    tacit__table_answers_shape shape;
    if (tacit__table_answers_find(o, &shape))
        return TACIT_OK;
    return tacit__fail(err, TACIT_TOO_LARGE,
                       "one answer about a table of %zu states and %zu actions tells nothing with "
                       "epsilon %g; use fewer states, or a larger epsilon",
                       o->space.n_states, o->space.n_actions, o->guarantee.epsilon);
}

tacit_status tacit__table_answers_create(const tacit__weighted_options *o,
                                         tacit__table_answers **out, tacit_error *err)
{
    tacit__table_answers w = {.o = *o};
    TRY(tacit__table_answers_check(o, err));
    TACIT__REQUIRE(tacit__table_answers_find(o, &w.shape));
    const size_t each = w.shape.each, S = o->space.n_states,
                 rows = o->space.tables * S * o->space.n_actions;
    w.o.ends = NULL; /* the caller's */
    *out = TACIT__WORKSPACE(w, TACIT__PIECE(w.support, w.shape.cells), TACIT__PIECE(w.truth, each),
                            TACIT__PIECE(w.given, each), TACIT__PIECE(w.words, words_of(each)),
                            TACIT__PIECE(w.visits, rows), TACIT__PIECE(w.moves, rows * S),
                            TACIT__PIECE(w.rewards, rows), TACIT__PIECE(w.starts, S));
    return *out != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

/* Why L1 is as it is: an answer is one or another, and all of them are about the user. */
tacit__stream_spec tacit__table_answers_stream(const tacit__table_answers *a)
{
    const double answers = (double)a->shape.response.answers;
    return (tacit__stream_spec){
        .name = "answers",
        .kind = TACIT__STREAM_FRESH,
        .dimension = a->shape.each,
        .largest = answers,
        .local = true,
        .once = {.law = TACIT_LAW_RESPONSE,
                 .releases = a->o.episodes,
                 .answers = a->shape.response.answers,
                 .largest = answers,
                 .l1 = (double)a->shape.each,
                 .visits = a->o.visits,
                 .apart = a->o.apart,
                 .reason =
                     "each of a user's answers is about one step that public chance chose, and "
                     "another user changes every one of them: L1 is their number"}};
}

static tacit_status open_answers(void *self, tacit_noise *noise, tacit__stream *door,
                                 tacit_error *err)
{
    tacit__table_answers *a = self;
    (void)err;
    a->once = tacit__stream_fresh(door);
    tacit__site_open(&a->chance, noise, "public: the step that a user answers about");
    return TACIT_OK;
}

/* --- A user -------------------------------------------------------------------------------------- */

/* The level of a reward: the one below it, or the next, so that its mean is the reward. */
static uint64_t level_of(double reward, size_t levels, uint64_t coin)
{
    const double at = reward * (double)(levels - 1), below = floor(at);
    TACIT__REQUIRE(at >= 0 && at <= (double)(levels - 1));
    return (uint64_t)below + ((double)(coin >> 11) * 0x1p-53 < at - below);
}

/* Which of the two questions is asked, if they are apart: a public coin. */
static bool asks_paid(const tacit__table_answers *a, size_t i)
{
    return a->shape.apart && tacit__question_unit(a->words[3 * a->shape.each + i]) <= ASKED_PAID;
}

/* Among the cells of the question. */
static uint64_t cell_of(const tacit__table_answers *a, const tacit_trajectory *u, size_t h,
                        uint64_t coin, bool paid)
{
    const tacit__space *sp = &a->o.space;
    const uint64_t table = sp->tables == 1 ? 0 : h,
                   row = (table * sp->n_states + u->states[h]) * sp->n_actions + u->actions[h],
                   move = a->shape.followers == 1 ? row : row * sp->n_states + u->states[h + 1];
    if (a->shape.apart && !paid)
        return move;
    return a->shape.levels * (paid ? row : move) + level_of(u->rewards[h], a->shape.levels, coin);
}

static void find_truth(tacit__table_answers *a, const tacit_trajectory *u)
{
    const size_t H = a->o.space.horizon, each = a->shape.each;
    const uint64_t g = a->shape.response.answers;
    const uint64_t *coins = a->words + each, *hashes = a->words + 2 * each;
    size_t h = 0;
    for (size_t i = 0; i < each; i++) {
        h = tacit__question_step(a->words[i], each - i, h, H);
        const uint64_t cell = cell_of(a, u, h++, coins[i], asks_paid(a, i));
        a->truth[i] =
            (int64_t)(a->shape.hashed ? tacit__question_answer(hashes[i], cell, g) : cell);
    }
}

static size_t bytes_of(const void *self)
{
    const tacit__table_answers *a = self;
    return 8 * a->shape.each * (a->shape.hashed ? 2 : 1);
}

/* The hashes, if there are any, then the answers: 64 bits each, low byte first. If questions are apart,
 * numbers of answers about what a step paid come after those about where it led. */
static tacit_status give(void *self, const tacit__user_view *user, void *bytes, tacit_error *err)
{
    tacit__table_answers *a = self;
    const tacit_trajectory *u = user->trajectory;
    const size_t each = a->shape.each;
    tacit__site_words(&a->chance, tacit__fresh_count(a->once), 0, words_of(each), a->words);
    find_truth(a, u);
    tacit_status status = tacit__fresh_release(a->once, a->truth, a->given, err);
    tacit__wipe(a->truth, each * sizeof *a->truth);
    tacit__writer w = {.at = bytes};
    for (size_t i = 0; i < each && a->shape.hashed && status == TACIT_OK; i++)
        tacit__write_le64(&w, a->words[2 * each + i]);
    for (size_t i = 0; i < each && status == TACIT_OK; i++)
        tacit__write_le64(&w, (uint64_t)a->given[i] +
                                  (asks_paid(a, i) ? a->shape.response.answers : 0));
    return status;
}

/* --- Reports ------------------------------------------------------------------------------------- */

static tacit_status check(const void *self, const void *bytes, tacit_error *err)
{
    const tacit__table_answers *a = self;
    tacit__reader r = {.at = bytes, .left = bytes_of(a)};
    const uint64_t questions = a->shape.apart ? 2 : 1;
    for (size_t i = 0; i < a->shape.each && a->shape.hashed; i++)
        (void)tacit__read_le64(&r);
    for (size_t i = 0; i < a->shape.each; i++)
        if (tacit__read_le64(&r) >= questions * a->shape.response.answers)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "answer %zu of the report is none of %llu",
                               i, (unsigned long long)(questions * a->shape.response.answers));
    return TACIT_OK;
}

/* The cells that a question is about. */
typedef struct asked_cells {
    size_t first, n;
} asked_cells;

static asked_cells cells_of(const tacit__table_answers *a, bool paid)
{
    const size_t rows = a->o.space.tables * a->o.space.n_states * a->o.space.n_actions,
                 moves = rows * a->shape.followers;
    if (!a->shape.apart)
        return (asked_cells){0, a->shape.cells};
    return paid ? (asked_cells){moves, a->shape.levels * rows} : (asked_cells){0, moves};
}

static void absorb(void *self, const void *bytes)
{
    tacit__table_answers *a = self;
    const size_t each = a->shape.each;
    tacit__reader hashes = {.at = bytes, .left = bytes_of(a)}, answers = hashes;
    for (size_t i = 0; i < each && a->shape.hashed; i++)
        (void)tacit__read_le64(&answers);
    for (size_t i = 0; i < each; i++) {
        const uint64_t word = tacit__read_le64(&answers), g = a->shape.response.answers;
        const bool paid = word >= g;
        const uint64_t answer = paid ? word - g : word;
        const asked_cells asked = cells_of(a, paid);
        int64_t *support = a->support + asked.first;
        a->paid += paid;
        if (!a->shape.hashed) {
            if (answer < asked.n) /* the other question may have more cells */
                support[answer]++;
            continue;
        }
        const uint64_t hash = tacit__read_le64(&hashes);
        for (size_t cell = 0; cell < asked.n; cell++)
            support[cell] += tacit__question_answer(hash, cell, g) == answer;
    }
}

/* A row's visits are made of as many cells as there are levels, and a move of them too, unless questions are
 * apart. The mean of (l / (L-1) - 1/2)^2 over l = 0 .. L-1 is (L+1) / (12 (L-1)). What is told by a part of
 * the answers is divided by that part, and its variance by the part too, in all. */
tacit__table_answers_noise tacit__table_answers_noise_of(const tacit__table_answers_shape *shape,
                                                         double users)
{
    const double L = (double)shape->levels, n = users * (double)shape->each * shape->variance,
                 square = (L + 1) / (12 * (L - 1)), followers = (double)shape->followers;
    if (shape->apart)
        return (tacit__table_answers_noise){.visits = sqrt(n * L / ASKED_PAID),
                                            .moves = sqrt(n / (1 - ASKED_PAID)),
                                            .rewards = sqrt(n * L * square / ASKED_PAID)};
    return (tacit__table_answers_noise){.visits = followers == 1 ? sqrt(n * L) : HUGE_VAL,
                                        .moves = followers == 1 ? HUGE_VAL : sqrt(n * L),
                                        .rewards = sqrt(n * L * followers * square)};
}

/* How many of `all` answers were about a cell, if `n` of them answered its question. */
static double told(const tacit__table_answers *a, size_t cell, double n, double all)
{
    const double support = (double)a->support[cell] - n * a->shape.expected;
    return n > 0 ? support / a->shape.gain * (all / n) : 0;
}

/* A row's visits and rewards, from the cells of its levels. */
static void add_levels(const tacit__table_answers *a, size_t cell, double n, double all,
                       double *visits, double *rewards)
{
    const size_t L = a->shape.levels;
    for (size_t l = 0; l < L; l++) {
        const double times = told(a, cell + l, n, all);
        *visits += times;
        *rewards += times * ((double)l / (double)(L - 1) - 0.5);
    }
}

/* What the reports of so many users say. */
static void release(void *self, uint64_t users)
{
    tacit__table_answers *a = self;
    const size_t S = a->o.space.n_states, L = a->shape.levels,
                 rows = a->o.space.tables * S * a->o.space.n_actions;
    const double all = (double)users * (double)a->shape.each, paid = (double)a->paid;
    for (size_t row = 0; row < rows; row++) {
        a->visits[row] = a->rewards[row] = 0;
        for (size_t i = row * S; i < (row + 1) * S; i++) {
            a->moves[i] = 0;
            if (a->shape.apart)
                a->moves[i] = told(a, i, all - paid, all);
            else if (a->shape.followers > 1)
                add_levels(a, L * i, all, all, &a->moves[i], &a->rewards[row]);
            a->visits[row] += a->moves[i];
        }
        if (a->shape.apart)
            a->visits[row] = 0;
        if (a->shape.apart || a->shape.followers == 1)
            add_levels(a, (a->shape.apart ? rows * S : 0) + L * row, a->shape.apart ? paid : all,
                       all, &a->visits[row], &a->rewards[row]);
    }
}

tacit__weighted_counts tacit__table_answers_view(const tacit__table_answers *a, uint64_t users)
{
    const tacit__table_answers_noise noise =
        tacit__table_answers_noise_of(&a->shape, (double)users);
    return (tacit__weighted_counts){.users = users,
                                    .visits = a->visits,
                                    .moves = a->moves,
                                    .rewards = a->rewards,
                                    .starts = a->starts,
                                    .visits_stddev = noise.visits,
                                    .moves_stddev = noise.moves,
                                    .rewards_stddev = noise.rewards,
                                    .starts_stddev = HUGE_VAL};
}

/* --- Saving -------------------------------------------------------------------------------------- */

static void fields(void *self, uint64_t users, tacit__saved *s)
{
    tacit__table_answers *a = self;
    const size_t S = a->o.space.n_states, rows = a->o.space.tables * S * a->o.space.n_actions;
    uint64_t paid = a->paid;
    tacit__question_fields(&a->chance, s);
    tacit__saved_integers(s, a->support, a->shape.cells, (double)users * (double)a->shape.each);
    tacit__saved_value(s, &paid, sizeof paid);
    tacit__saved_check(s, paid <= (a->shape.apart ? users : 0));
    tacit__saved_reals(s, a->visits, rows, TACIT__MOST_SUM);
    tacit__saved_reals(s, a->moves, rows * S, TACIT__MOST_SUM);
    tacit__saved_reals(s, a->rewards, rows, TACIT__MOST_SUM);
    if (s->pass == TACIT__APPLY)
        a->paid = paid;
}

const tacit__responder tacit__table_responder = {.destroy = tacit__workspace_destroy,
                                                 .open = open_answers,
                                                 .bytes = bytes_of,
                                                 .give = give,
                                                 .check = check,
                                                 .absorb = absorb,
                                                 .release = release,
                                                 .fields = fields};

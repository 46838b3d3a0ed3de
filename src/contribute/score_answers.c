/* See contribute/score_answers.h.
 *
 * A report. Public chance chooses one of the steps that are scored, or `each` of them, every choice alike;
 * if rewards are learned, the last step too, of which only the reward counts. That is known before the
 * outcome, so nothing is biased. The step was one of k = S A S rows of the table, or with a reward, which
 * becomes 0 or 1 by a coin that makes its mean r, one of k = 2 S A S cells. The answer is the cell's, which
 * is itself or that of a hash (questions.h). Randomized response shows another answer instead, each
 * with the same probability (noise/response.h). The report is the step, the hash and the answer.
 *
 * Privacy. The steps, the coin and the hash do not depend on data, and the response does not depend on them.
 * Whatever they are, two trajectories have two true answers at most to the question about a step, and what
 * is given is at most e^epsilon' times as likely with one as with the other, epsilon' = epsilon / (each
 * visits). A user gives `each` answers, a person `visits` times as many, and costs add: epsilon, with delta
 * 0, whatever the table is.
 *
 * Estimate. Let x stand for what a cell adds to a number, and m for its mean over all k cells. A cell is
 * supported with probability u, and with u + d if it is the true one. The x - m of all cells sum to 0, so
 *
 *     m + sum over the supported cells of (x - m) / d
 *
 * is x of the true cell on average. Its variance is that of x over d, more or less, and k v times the
 * variance of x over all cells alike. How many were asked about each step is public, and is shown with the
 * sums: the planner takes the sums for theirs. First states are those of answers about the first step. */
#include "contribute/score_answers.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "contribute/questions.h"

struct tacit__score_answers {
    const tacit__score_table *table;
    size_t each, steps;         /* answers of a user; steps that they may be about */
    size_t rows, levels, cells; /* rows x levels */
    tacit__question question;
    size_t numbers; /* of `total`: scores and rewards, first states, and how many were asked */
    tacit__fresh_releases *once;
    tacit__site chance;
    double *total, *shown; /* of the batch, and of the one that was shown last */
    double *mean;          /* [width] of a score over all rows */
    int64_t *truth;        /* [each] scratch of a report, */
    double *given;         /* [each] */
    uint64_t *words; /* [3 each, in blocks]: which step, the coin of its reward, and the hash */
};

#define MOST_CELLS 0x1p32  /* so that a step and an answer fit into 64 bits */
#define MOST_HASHED 0x1p14 /* a hash is taken of each of them for every report */

static size_t words_of(size_t each)
{
    return (3 * each + TACIT__WORDS_PER_BLOCK - 1) / TACIT__WORDS_PER_BLOCK *
           TACIT__WORDS_PER_BLOCK;
}

static size_t rows_of(const tacit__score_table *t)
{
    return t->n_states * t->n_actions * t->n_states;
}

static size_t levels_of(const tacit__score_table *t)
{
    return t->reward > 0 ? 2 : 1;
}

/* Where the numbers of first states begin. */
static size_t starts_of(const tacit__score_table *t)
{
    return tacit__score_table_rewards(t, t->steps + 1);
}

static bool find_question(const tacit__score_table *t, double epsilon, double visits, size_t each,
                          tacit__question *out)
{
    const double k = (double)rows_of(t) * (double)levels_of(t);
    TACIT__REQUIRE(visits >= 1);
    return k >= 2 && k <= MOST_CELLS &&
           tacit__question_find(k, epsilon / ((double)each * visits), out) &&
           (!out->hashed || k <= MOST_HASHED);
}

bool tacit__score_answers_find(const tacit__score_table *t, double epsilon, double visits,
                               size_t each, tacit__score_noise *out)
{
    const size_t steps = tacit__score_table_asked(t);
    tacit__question q;
    TACIT__REQUIRE(each > 0 && each <= steps);
    if (!find_question(t, epsilon, visits, each, &q))
        return false;
    *out = (tacit__score_noise){.start = 1,
                                .each = each,
                                .share = (double)each / (double)steps,
                                .truth = q.gain,
                                .spread = (double)rows_of(t) * (double)levels_of(t) * q.variance};
    return true;
}

tacit__fresh_spec tacit__score_answers_spec(const tacit__score_table *t, double epsilon,
                                            double visits, size_t each)
{
    tacit__question q;
    TACIT__REQUIRE(find_question(t, epsilon, visits, each, &q));
    return (tacit__fresh_spec){.law = TACIT_LAW_RESPONSE,
                               .dimension = each,
                               .answers = q.response.answers,
                               .largest = (double)q.response.answers,
                               .l1 = (double)each,
                               .disjoint = true,
                               .reason =
                                   "each of a user's answers is about one step that public chance "
                                   "chose, and another user changes every one of them: L1 is "
                                   "their number"};
}

tacit_status tacit__score_answers_create(const tacit__score_table *t, double epsilon, double visits,
                                         size_t each, tacit__score_answers **out)
{
    TACIT__REQUIRE(each > 0);
    const size_t w = t->width, steps = tacit__score_table_asked(t);
    tacit__score_answers x = {.table = t,
                              .each = each,
                              .steps = steps,
                              .rows = rows_of(t),
                              .levels = levels_of(t),
                              .cells = rows_of(t) * levels_of(t),
                              .numbers = starts_of(t) + t->n_states + steps};
    TACIT__REQUIRE(find_question(t, epsilon, visits, each, &x.question));
    tacit__score_answers *a =
        TACIT__WORKSPACE(x, TACIT__PIECE(x.mean, w), TACIT__PIECE(x.truth, each),
                         TACIT__PIECE(x.given, each), TACIT__PIECE(x.words, words_of(each)),
                         TACIT__PIECE(x.total, x.numbers), TACIT__PIECE(x.shown, x.numbers));
    if (a == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < a->rows * w; i++)
        a->mean[i % w] += ldexp(t->scores[i], -t->bits) / (double)a->rows;
    *out = a;
    return TACIT_OK;
}

static tacit_status open_answers(void *self, tacit_noise *noise, tacit__stream *door,
                                 tacit_error *err)
{
    tacit__score_answers *a = self;
    (void)err;
    a->once = tacit__stream_fresh(door);
    tacit__site_open(&a->chance, noise, "public: the steps that a user answers about");
    return TACIT_OK;
}

const double *tacit__score_answers_shown(const tacit__score_answers *a)
{
    return a->shown;
}

/* --- A user -------------------------------------------------------------------------------------- */

/* The cell of step h. Where the last step leads does not count. */
static uint64_t cell_at(const tacit__score_answers *a, const tacit_trajectory *u, size_t h,
                        uint64_t coin)
{
    const tacit__score_table *t = a->table;
    const uint64_t pair = (uint64_t)u->states[h] * t->n_actions + u->actions[h],
                   row = pair * t->n_states + (h < t->steps ? u->states[h + 1] : 0);
    return a->levels == 1 ? row : 2 * row + (tacit__question_unit(coin) <= u->rewards[h]);
}

static size_t bytes_of(const void *self)
{
    const tacit__score_answers *a = self;
    return 8 * a->each * (a->question.hashed ? 2 : 1);
}

/* The hashes, if there are any, then of every answer the step times g plus the answer; 64 bits each, low byte
 * first. */
static tacit_status give(void *self, const tacit__user_view *user, void *bytes, tacit_error *err)
{
    tacit__score_answers *a = self;
    const tacit_trajectory *u = user->trajectory;
    const uint64_t g = a->question.response.answers;
    const uint64_t *coins = a->words + a->each, *hashes = a->words + 2 * a->each;
    tacit__site_words(&a->chance, tacit__fresh_count(a->once), 0, words_of(a->each), a->words);
    for (size_t i = 0, h = 0; i < a->each; i++, h++) {
        h = tacit__question_step(a->words[i], a->each - i, h, a->steps);
        const uint64_t cell = cell_at(a, u, h, coins[i]);
        a->truth[i] =
            (int64_t)(a->question.hashed ? tacit__question_answer(hashes[i], cell, g) : cell);
        a->words[i] = h;
    }
    tacit_status status = tacit__fresh_release(a->once, a->truth, a->given, err);
    tacit__wipe(a->truth, a->each * sizeof *a->truth);
    tacit__writer w = {.at = bytes};
    for (size_t i = 0; i < a->each && a->question.hashed && status == TACIT_OK; i++)
        tacit__write_le64(&w, hashes[i]);
    for (size_t i = 0; i < a->each && status == TACIT_OK; i++)
        tacit__write_le64(&w, a->words[i] * g + (uint64_t)a->given[i]);
    return status;
}

/* --- Reports ------------------------------------------------------------------------------------- */

/* Steps come in order. */
static tacit_status check(const void *self, const void *bytes, tacit_error *err)
{
    const tacit__score_answers *a = self;
    const uint64_t g = a->question.response.answers;
    tacit__reader r = {.at = bytes, .left = bytes_of(a)};
    uint64_t from = 0;
    for (size_t i = 0; i < a->each && a->question.hashed; i++)
        (void)tacit__read_le64(&r);
    for (size_t i = 0; i < a->each; i++) {
        const uint64_t step = tacit__read_le64(&r) / g;
        if (step < from || step >= a->steps)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "answer %zu of the report is about no step that it can be about", i);
        from = step + 1;
    }
    return TACIT_OK;
}

/* Where the numbers of step h are. */
typedef struct step_sums {
    double *scores, *starts, *rewards; /* NULL: the step tells nothing of them */
} step_sums;

/* What all cells add on average; that of rewards, from their middle, is 0. */
static void add_mean(const tacit__score_answers *a, step_sums at)
{
    const size_t S = a->table->n_states;
    for (size_t i = 0; at.scores != NULL && i < a->table->width; i++)
        at.scores[i] += a->mean[i];
    for (size_t s = 0; at.starts != NULL && s < S; s++)
        at.starts[s] += 1 / (double)S;
}

/* A cell that is supported adds more than that. */
static void add_cell(const tacit__score_answers *a, size_t cell, step_sums at)
{
    const tacit__score_table *t = a->table;
    const size_t row = cell / a->levels, S = t->n_states, w = t->width;
    const double each = 1 / a->question.gain, unit = ldexp(1, -t->bits);
    TACIT__REQUIRE(S > 0 && cell < a->cells);
    for (size_t i = 0; at.scores != NULL && i < w; i++)
        at.scores[i] += each * (t->scores[row * w + i] * unit - a->mean[i]);
    for (size_t s = 0; at.starts != NULL && s < S; s++)
        at.starts[s] += each * ((row / (S * t->n_actions) == s) - 1 / (double)S);
    if (at.rewards != NULL)
        at.rewards[row / S] += each * ((double)(cell % 2) - 0.5);
}

static void absorb(void *self, const void *bytes)
{
    tacit__score_answers *a = self;
    const tacit__score_table *t = a->table;
    double *sums = a->total, *starts = sums + starts_of(t), *asked = starts + t->n_states;
    const uint64_t g = a->question.response.answers;
    tacit__reader hashes = {.at = bytes, .left = bytes_of(a)}, answers = hashes;
    for (size_t i = 0; i < a->each && a->question.hashed; i++)
        (void)tacit__read_le64(&answers);
    for (size_t i = 0; i < a->each; i++) {
        const uint64_t word = tacit__read_le64(&answers), answer = word % g;
        const size_t h = (size_t)(word / g);
        const step_sums at = {h < t->steps ? sums + h * t->width : NULL, h == 0 ? starts : NULL,
                              t->reward > 0 ? sums + tacit__score_table_rewards(t, h) : NULL};
        asked[h] += 1;
        add_mean(a, at);
        if (!a->question.hashed) {
            add_cell(a, (size_t)answer, at);
            continue;
        }
        const uint64_t hash = tacit__read_le64(&hashes);
        for (size_t cell = 0; cell < a->cells; cell++)
            if (tacit__question_answer(hash, cell, g) == answer)
                add_cell(a, cell, at);
    }
}

/* Numbers of a table are below 2^32 lattice steps, and so is their mean. */
static double largest_of(const tacit__score_answers *a)
{
    const double number = fmax(1, ldexp(1, 33 - a->table->bits)),
                 supported = a->question.hashed ? (double)a->cells : 1;
    return number + supported * number / a->question.gain;
}

static void release(void *self, uint64_t users)
{
    tacit__score_answers *a = self;
    (void)users;
    memcpy(a->shown, a->total, a->numbers * sizeof *a->shown);
    memset(a->total, 0, a->numbers * sizeof *a->total);
}

/* --- Saving: the public chance, and the sums ------------------------------------------------------ */

static void fields(void *self, uint64_t users, tacit__saved *s)
{
    tacit__score_answers *a = self;
    tacit__question_fields(&a->chance, s);
    tacit__saved_reals(s, a->total, a->numbers, (double)users * largest_of(a));
    tacit__saved_reals(s, a->shown, a->numbers, TACIT__MOST_SUM);
}

const tacit__responder tacit__score_responder = {.destroy = tacit__workspace_destroy,
                                                 .open = open_answers,
                                                 .bytes = bytes_of,
                                                 .give = give,
                                                 .check = check,
                                                 .absorb = absorb,
                                                 .release = release,
                                                 .fields = fields};

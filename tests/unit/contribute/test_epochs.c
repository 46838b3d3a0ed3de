/* The statistic of learners in epochs: what reaches the door is the plain sum of what users add, cut to length 1, and opposite users
 * are as far apart as is declared, and no farther. */
#include "contribute/epochs.h"

#include <math.h>
#include <string.h>

#include "account/door.h"
#include "release/curator.h"
#include "support/arena.h"
#include "support/random.h"

SCOPED_TYPE(tacit__curator, tacit__curator_destroy)

enum { DIMENSION = 7, CELLS = 2, SIZE = DIMENSION - CELLS };

#define CELL 0.25

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6};

static tacit__curator *open_curator(const tacit__epochs_options *o)
{
    tacit__curator *c = NULL;
    tacit__curator_spec spec;
    SCOPED(tacit_noise) *noise = simulated_noise(5);
    assert_ok(tacit__epochs_describe(o, &spec, NULL));
    assert_ok(tacit__curator_create(&spec, noise, &c, NULL));
    return c;
}

static tacit_status add(tacit__curator *c, const double *vector, size_t size, size_t context,
                        double y)
{
    return tacit__curator_add(
        c, &(tacit__user_view){.vector = vector, .size = size, .block = context, .y = y}, NULL);
}

typedef struct seen {
    double x[DIMENSION]; /* before the noise */
} seen;

static void record(void *context, const tacit__passage *p)
{
    seen *s = context;
    for (size_t i = 0; i < p->n; i++)
        s->x[p->offset + i] = (double)p->exact[i] * p->lattice;
}

/* --- Lengths --------------------------------------------------------------------------------------- */

static double distance(const seen *a, const seen *b)
{
    double square = 0;
    for (size_t i = 0; i < DIMENSION; i++)
        square += pow(a->x[i] - b->x[i], 2);
    return sqrt(square);
}

/* What passes the door of an epoch with one user, or of one user's device; *declared is how far that may move. The vectors are the
 * planner's in the joint model, and on a device those of a model that a server wrote. */
static seen pass(tacit_model model, size_t cells, double length, double y, double *declared)
{
    static const double direction[SIZE] = {0.6, -0.48, 0, 0.64, 0}; /* 1 long */
    const uint64_t end = 1;
    const tacit__epochs_options o = {.dimension = DIMENSION,
                                     .cells = cells,
                                     .cell = CELL,
                                     .users = 4,
                                     .ends = &end,
                                     .n_ends = 1,
                                     .guarantee = {model, 1, 1e-6}};
    double vector[SIZE];
    uint8_t report[8 * DIMENSION];
    size_t size = sizeof report;
    seen s = {{0}};
    SCOPED(tacit__curator) *c = open_curator(&o);
    tacit__ledger_set_recorder(tacit__curator_ledger(c), record, &s);
    for (size_t i = 0; i < SIZE; i++)
        vector[i] = length * direction[i];
    const tacit__user_view user = {.vector = vector, .size = SIZE, .y = y};
    if (model == TACIT_MODEL_LOCAL)
        assert_ok(tacit__curator_report(c, &user, report, &size, NULL));
    else
        assert_ok(tacit__curator_add(c, &user, NULL));
    *declared = tacit_plan_release(tacit_ledger_plan(tacit__curator_ledger(c)), 0)->l2;
    return s;
}

TEST(vectors_of_any_length_are_cut)
{
    static const double lengths[] = {0.5, 1, 1.5, 2, 3, 1e6, 1e200};
    const tacit_model models[] = {TACIT_MODEL_JOINT, TACIT_MODEL_LOCAL};
    const seen nothing = {{0}};
    double declared, most = 0;
    for (size_t i = 0; i < 2 * 2 * N_OF(lengths); i++) {
        const tacit_model model = models[i % 2];
        const size_t cells = i / 2 % 2 * CELLS;
        const double length = lengths[i / 4],
                     wanted = fmin(cells > 0 ? hypot(length, CELL) : length, 1);
        const seen one = pass(model, cells, length, 1, &declared),
                   other = pass(model, cells, length, -1, &declared);
        assert_within(distance(&one, &nothing), wanted * (1 - 1e-6), wanted * (1 + 1e-12));
        assert_true(distance(&one, &other) <= declared);
        most = fmax(most, distance(&one, &other) / declared);
    }
    assert_true(most > 1 - 1e-6);
}

/* --- Sums ------------------------------------------------------------------------------------------ */

/* Two epochs, in the second of which vectors are shorter. Every fifth user has no vector, adds nothing and counts. */
TEST(an_epoch_is_the_plain_sum_of_its_users)
{
    enum { USERS = 20, EPOCHS = 2 };
    const uint64_t ends[] = {USERS, 2 * USERS};
    for (int is_joint = 0; is_joint < 2; is_joint++) {
        const tacit__epochs_options o = {.dimension = DIMENSION,
                                         .cells = CELLS,
                                         .cell = CELL,
                                         .users = EPOCHS * USERS + 1,
                                         .ends = ends,
                                         .n_ends = EPOCHS,
                                         .guarantee = is_joint ? joint : (tacit_guarantee){0}};
        SCOPED(tacit__curator) *c = open_curator(&o);
        uint64_t seed = 21;
        seen s = {{0}};
        if (is_joint)
            tacit__ledger_set_recorder(tacit__curator_ledger(c), record, &s);
        for (size_t e = 0; e < EPOCHS; e++) {
            double wanted[DIMENSION] = {0}, v[SIZE];
            const size_t size = SIZE - e;
            for (size_t k = 0; k < USERS; k++) {
                const bool late = k % 5 == 0;
                const double y = random_between(&seed, -1, 1);
                const size_t context = random_below(&seed, CELLS);
                for (size_t i = 0; i < SIZE; i++)
                    v[i] = random_between(&seed, -0.4, 0.4); /* shorter than 1 */
                for (size_t i = 0; i < size && !late; i++)
                    wanted[i] += y * v[i];
                wanted[size + context] += late ? 0 : CELL;
                assert_ok(add(c, late ? NULL : v, size, context, y));
            }
            assert_int_equal(tacit__curator_released(c), e + 1);
            const double *got = is_joint ? s.x : tacit__curator_sums(c, 0);
            for (size_t i = 0; i < DIMENSION; i++)
                assert_within(got[i] - wanted[i], is_joint ? -1e-6 : 0, is_joint ? 1e-6 : 0);
        }
        assert_ok(add(c, NULL, 0, 0, 0)); /* the last epoch, which is not shown */
        assert_status(add(c, NULL, 0, 0, 0), TACIT_EXHAUSTED);
    }
}

TEST(users_outside_the_space_are_refused)
{
    const uint64_t end = 2;
    const tacit__epochs_options o = {.dimension = DIMENSION,
                                     .cells = CELLS,
                                     .cell = CELL,
                                     .users = 3,
                                     .ends = &end,
                                     .n_ends = 1,
                                     .guarantee = joint};
    const double v[DIMENSION] = {1};
    SCOPED(tacit__curator) *c = open_curator(&o);
    assert_status(add(c, v, SIZE + 1, 0, 1), TACIT_OUT_OF_BOUND);
    assert_status(add(c, v, SIZE, CELLS, 1), TACIT_OUT_OF_BOUND);
    assert_status(add(c, v, SIZE, 0, 1.5), TACIT_OUT_OF_BOUND);
    assert_status(add(c, v, SIZE, 0, (double)NAN), TACIT_OUT_OF_BOUND);
    assert_int_equal(tacit__curator_users(c), 0);
    assert_ok(add(c, v, SIZE, 0, 1));
}

/* Users without rewards leave pure noise, of variance n s^2 in each coordinate. A chi-square of 400 * 8 degrees is outside five
 * standard deviations once in a million seeds; this one is fixed. */
/* A device makes as many reports as it may, whatever is shown of them: here a single one is. */
TEST(every_report_of_a_person_has_noise_for_all_of_them)
{
    const uint64_t end = 1;
    const tacit__epochs_options o = {.dimension = DIMENSION,
                                     .users = 20000,
                                     .visits = 100,
                                     .apart = 1,
                                     .ends = &end,
                                     .n_ends = 1,
                                     .guarantee = {TACIT_MODEL_LOCAL, 1, 1e-6}};
    double column;
    assert_ok(tacit__epochs_column(&o, &column, NULL));
    assert_close(column, 10, 1e-12);
}

TEST(local_noise_adds_up_to_the_number_of_users)
{
    enum { P = 8, USERS = 40, EPOCHS = 400 };
    uint64_t ends[EPOCHS];
    for (uint64_t e = 0; e < EPOCHS; e++)
        ends[e] = (e + 1) * USERS;
    const tacit__epochs_options o = {.dimension = P,
                                     .users = USERS * EPOCHS + 1,
                                     .ends = ends,
                                     .n_ends = EPOCHS,
                                     .guarantee = {TACIT_MODEL_LOCAL, 2, 1e-5}};
    SCOPED(tacit__curator) *c = open_curator(&o);
    const double v[P] = {1}, *sum = tacit__curator_sums(c, 0),
                 scale = tacit__stream_scale(tacit__curator_stream(c, 0));
    double square = 0;
    for (int t = 1; t <= USERS * EPOCHS; t++) {
        assert_ok(add(c, v, P, 0, 0));
        for (size_t j = 0; j < P && t % USERS == 0; j++)
            square += sum[j] * sum[j];
    }
    const double degrees = P * EPOCHS;
    assert_within((square / (USERS * scale * scale) - degrees) / sqrt(2 * degrees), -5, 5);
}

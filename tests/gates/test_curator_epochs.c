/* The curator of epochs cuts what it is told. The vectors that it adds are the planner's in the joint model, and on a device those of
 * a model that a server wrote: however long they are, what reaches the door is at most 1 long, and opposite users are as far apart as
 * is declared, and no farther. */
#include <math.h>

#include "account/door.h"
#include "curate/epochs.h"
#include "support/check.h"

SCOPED_TYPE(tacit__epochs, tacit__epochs_destroy)

enum { DIMENSION = 5, LENGTHS = 7 };

static const double lengths[LENGTHS] = {0.5, 1, 1.5, 2, 3, 1e6, 1e200};

typedef struct seen {
    double x[DIMENSION]; /* before the noise */
} seen;

static void record(void *context, const tacit__passage *p)
{
    seen *s = context;
    for (size_t i = 0; i < p->n; i++)
        s->x[p->offset + i] = (double)p->exact[i] * p->lattice;
}

static double distance(const seen *a, const seen *b)
{
    double square = 0;
    for (size_t i = 0; i < DIMENSION; i++)
        square += pow(a->x[i] - b->x[i], 2);
    return sqrt(square);
}

/* What passes the door of an epoch with one user, or of one user's device; *declared is how far that may move. */
static seen pass(tacit_model model, double length, double y, double *declared)
{
    static const double direction[DIMENSION] = {0.6, -0.48, 0, 0.64, 0}; /* 1 long */
    const tacit__epochs_options o = {
        .dimension = DIMENSION, .n_epochs = 1, .users = 4, .guarantee = {model, 1, 1e-6}};
    double vector[DIMENSION], noisy[DIMENSION];
    SCOPED(tacit__epochs) *c = NULL;
    seen s = {{0}};
    SCOPED(tacit_noise) *noise = simulated_noise(5);
    assert_ok(tacit__epochs_create(&o, noise, &c, NULL));
    tacit__ledger_set_recorder(tacit__epochs_ledger(c), record, &s);
    for (size_t i = 0; i < DIMENSION; i++)
        vector[i] = length * direction[i];
    if (model == TACIT_MODEL_LOCAL) {
        assert_ok(tacit__epochs_report(c, DIMENSION, vector, y, noisy, NULL));
    } else {
        assert_ok(tacit__epochs_add(c, DIMENSION, vector, y, NULL));
        assert_ok(tacit__epochs_release(c, DIMENSION, noisy, NULL));
    }
    *declared = tacit_plan_release(tacit_ledger_plan(tacit__epochs_ledger(c)), 0)->l2;
    return s;
}

TEST(vectors_of_any_length_are_cut)
{
    const tacit_model models[] = {TACIT_MODEL_JOINT, TACIT_MODEL_LOCAL};
    const seen nothing = {{0}};
    double declared, most = 0;
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < LENGTHS; i++) {
            const seen one = pass(models[m], lengths[i], 1, &declared);
            const seen other = pass(models[m], lengths[i], -1, &declared);
            const double length = fmin(lengths[i], 1);
            assert_within(distance(&one, &nothing), length * (1 - 1e-6), length * (1 + 1e-12));
            assert_true(distance(&one, &other) <= declared);
            most = fmax(most, distance(&one, &other) / declared);
        }
    assert_true(most > 1 - 1e-6);
}

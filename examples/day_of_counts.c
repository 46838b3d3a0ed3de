/* A day at a clinic: 2,000 visitors come through one of four doors, and the number of visitors so far is
 * shown on a board in the hall, all day long. Whether any one of them was there, and where, must not show.
 *
 * The same day is counted exactly and by each private mechanism, and each says what it promises. This is
 * the whole of the library's use: declare, calibrate, open the ledger, add, release.
 *
 * The noise is seeded, so that the page is the same every time: a simulation, not private. For people use
 * tacit_noise_create_from_os. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tacit/sum.h>

enum { DOORS = 4, VISITORS = 2000, ROWS = 10 };

typedef struct counter {
    const char *title;
    tacit_sum_mechanism mechanism;
    tacit_guarantee promise;
    tacit_plan *plan;
    tacit_ledger *ledger;
    tacit_sum *sum;
    double shown[ROWS], worst_stddev;
} counter;

static void must(tacit_status status, const tacit_error *err)
{
    if (status == TACIT_OK)
        return;
    fprintf(stderr, "day_of_counts: %s\n",
            err != NULL ? err->message : tacit_status_message(status));
    exit(3);
}

static tacit_law law_of(tacit_guarantee promise)
{
    if (promise.model == TACIT_MODEL_NONE)
        return TACIT_LAW_NONE;
    return promise.delta > 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE;
}

static void open_counter(counter *c, tacit_noise *noise)
{
    tacit_error err;
    tacit_release release;
    /* A visitor is a vector with a single 1: its norms are 1, and no coordinate is negative. */
    tacit_sum_spec spec = {.mechanism = c->mechanism,
                           .law = law_of(c->promise),
                           .dimension = DOORS,
                           .users = VISITORS,
                           .bound = {.l1 = 1, .l2 = 1, .nonnegative = true, .nonzeros = 1}};
    must(tacit_sum_declare(&spec, "visitors", &release, &err), &err);
    must(tacit_plan_create(&c->plan), NULL);
    must(tacit_plan_declare(c->plan, &release, &err), &err);
    must(tacit_plan_calibrate(c->plan, c->promise, &err), &err);
    must(tacit_ledger_create(c->plan, noise, &c->ledger, &err), &err);
    must(tacit_sum_create(&spec, c->ledger, "visitors", &c->sum, &err), &err);
    for (uint64_t k = 1; k <= VISITORS; k++) {
        double stddev;
        must(tacit_sum_stddev(c->sum, k, &stddev), NULL);
        c->worst_stddev = fmax(c->worst_stddev, stddev);
    }
}

/* Which door visitor k takes: a fixed pattern, busier in front. */
static unsigned door_of(unsigned k)
{
    static const unsigned pattern[] = {0, 1, 0, 2, 0, 1, 3, 0};
    return pattern[(k * 5 + k / 7) % 8];
}

/* Visitors that have come by row r of the board: a day with a peak at noon. */
static unsigned arrived_by(unsigned r)
{
    double t = (r + 1.0) / ROWS;
    return (unsigned)lround(VISITORS * t * t * (3 - 2 * t));
}

static void print_promise(const counter *c)
{
    printf("%-16s", c->title);
    if (c->promise.model == TACIT_MODEL_NONE) {
        printf("no noise, no promise\n");
        return;
    }
    const tacit_release *r = tacit_plan_release(c->plan, 0);
    tacit_composition cost;
    tacit_error err;
    must(tacit_plan_account(c->plan, c->promise.delta, &cost, &err), &err);
    bool gaussian = c->promise.delta > 0;
    printf("(%.6g, %g)-DP, %s; %s noise of scale %.2f for an %s move of %.3f x %.3f\n",
           cost.epsilon.high, c->promise.delta,
           c->promise.model == TACIT_MODEL_LOCAL ? "local" : "joint",
           gaussian ? "Gaussian" : "Laplace", tacit_plan_scale(c->plan, 0), gaussian ? "L2" : "L1",
           gaussian ? r->l2 : r->l1, gaussian ? r->column_l2 : r->column_l1);
}

int main(void)
{
    const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, pure = {TACIT_MODEL_JOINT, 1, 0};
    const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                          local = {TACIT_MODEL_LOCAL, 1, 1e-6};
    counter counters[] = {
        {.title = "exact", .mechanism = TACIT_SUM_EXACT, .promise = none},
        {.title = "blt", .mechanism = TACIT_SUM_BLT, .promise = joint},
        {.title = "smooth", .mechanism = TACIT_SUM_SMOOTH, .promise = joint},
        {.title = "tree", .mechanism = TACIT_SUM_TREE, .promise = joint},
        {.title = "smooth, pure", .mechanism = TACIT_SUM_SMOOTH, .promise = pure},
        {.title = "tree, pure", .mechanism = TACIT_SUM_TREE, .promise = pure},
        {.title = "local", .mechanism = TACIT_SUM_LOCAL, .promise = local},
    };
    enum { COUNTERS = sizeof counters / sizeof *counters };
    tacit_noise *noise;
    tacit_error err;
    must(tacit_noise_create_simulated(1, &noise), NULL);
    for (size_t i = 0; i < COUNTERS; i++)
        open_counter(&counters[i], noise);

    for (unsigned k = 1, row = 0; k <= VISITORS; k++) {
        double visitor[DOORS] = {0}, noisy[DOORS];
        visitor[door_of(k)] = 1;
        for (size_t i = 0; i < COUNTERS; i++)
            must(tacit_sum_add(counters[i].sum, visitor, &err), &err);
        if (k != arrived_by(row))
            continue;
        for (size_t i = 0; i < COUNTERS; i++) {
            must(tacit_sum_release(counters[i].sum, noisy, &err), &err);
            counters[i].shown[row] = noisy[0];
        }
        row++;
    }

    printf("Visitors through the front door so far, as the board shows them (%d visitors, %d "
           "doors)\n\n",
           VISITORS, DOORS);
    printf("%-16s", "time");
    for (unsigned row = 0; row < ROWS; row++)
        printf("%4u:00", 8 + row + 1);
    printf("   worst noise (sd)\n");
    for (size_t i = 0; i < COUNTERS; i++) {
        printf("%-16s", counters[i].title);
        for (unsigned row = 0; row < ROWS; row++)
            printf("%7.0f", counters[i].shown[row]);
        printf("%14.1f\n", counters[i].worst_stddev);
    }
    printf("\nWhat each promises, as the accountant finds it from the noise that was drawn:\n\n");
    for (size_t i = 0; i < COUNTERS; i++) {
        print_promise(&counters[i]);
        tacit_sum_destroy(counters[i].sum);
        tacit_ledger_destroy(counters[i].ledger);
        tacit_plan_destroy(counters[i].plan);
    }
    printf("\nNeighboring days differ in one visitor, replaced. The noise of this page is seeded: "
           "simulated, "
           "not private.\n");
    tacit_noise_destroy(noise);
    return 0;
}

/* Axes and labels of figures: ticks are round and inside, labels keep their distance and their order. */
#include "support/check.h"

#include <math.h>

#include "report/figure.h"
#include "support/random.h"

TEST(ticks_are_round_and_inside)
{
    static const double highs[] = {1, 1.3, 7, 20, 999, 50000, 1e12, 3e-5};
    for (size_t i = 0; i < sizeof highs / sizeof *highs; i++) {
        tacit__axis axis = {0, highs[i], false};
        double t[TACIT__TICKS];
        size_t n = tacit__axis_ticks(&axis, t);
        assert_within((double)n, 4, 10);
        assert_true(t[0] == 0 && !signbit(t[0]));
        for (size_t k = 1; k < n; k++) {
            assert_within(t[k], t[k - 1], highs[i] * (1 + 1e-9));
            double step = (t[1] - t[0]) / pow(10, floor(log10(t[1] - t[0]) + 1e-9));
            assert_true(fabs(step - 1) < 1e-9 || fabs(step - 2) < 1e-9 || fabs(step - 5) < 1e-9);
        }
    }
}

TEST(logarithmic_ticks_are_powers_or_1_2_5)
{
    for (double decades = 0.5; decades < 30; decades *= 1.5) {
        tacit__axis axis = {0.37, 0.37 * pow(10, decades), true};
        double t[TACIT__TICKS];
        size_t n = tacit__axis_ticks(&axis, t);
        assert_within((double)n, 1, TACIT__TICKS);
        for (size_t k = 0; k < n; k++) {
            double lead = t[k] / pow(10, floor(log10(t[k]) + 1e-9));
            assert_true(fabs(lead - 1) < 1e-6 || fabs(lead - 2) < 1e-6 || fabs(lead - 5) < 1e-6);
            assert_within(t[k], axis.low * (1 - 1e-6), axis.high * (1 + 1e-6));
            assert_true(k == 0 || t[k] > t[k - 1]);
        }
    }
    double t[TACIT__TICKS];
    assert_int_equal(tacit__axis_ticks(&(tacit__axis){0, 10, true}, t), 0);
    assert_int_equal(tacit__axis_ticks(&(tacit__axis){3, 3, false}, t), 0);
}

TEST(values_beyond_the_frame_lie_on_its_edge)
{
    const tacit__figure_frame f = {
        .left = 10, .right = 110, .top = 5, .bottom = 55, .x = {0, 10, false}, .y = {1, 100, true}};
    assert_true(tacit__frame_x(&f, -1) == 10 && tacit__frame_x(&f, 11) == 110);
    assert_close(tacit__frame_x(&f, 5), 60, 1e-12);
    assert_true(tacit__frame_y(&f, 0) == 55 && tacit__frame_y(&f, (double)NAN) == 55);
    assert_true(tacit__frame_y(&f, HUGE_VAL) == 5);
    assert_close(tacit__frame_y(&f, 10), 30, 1e-12);
}

/* The best distance-keeping places for small n, by brute force over a grid, cost no less. */
static double cost_of(const tacit__label *l, size_t n)
{
    double cost = 0;
    for (size_t i = 0; i < n; i++)
        cost += (l[i].height - l[i].y) * (l[i].height - l[i].y);
    return cost;
}

TEST(labels_keep_distance_order_and_bounds)
{
    uint64_t random = 7;
    int searches = 0;
    double gap = tacit__labels_height(1);
    for (int trial = 0; trial < 300; trial++) {
        tacit__label l[12];
        size_t n = 1 + (size_t)(random_unit(&random) * 12);
        for (size_t i = 0; i < n; i++)
            l[i] = (tacit__label){.y = 20 + 200 * random_unit(&random) * random_unit(&random),
                                  .series = i};
        tacit__labels_arrange(l, n, 10, 260);
        for (size_t i = 0; i < n; i++) {
            assert_within(l[i].height, 10 - 1e-9, 260 + 1e-9);
            assert_true(i == 0 ||
                        (l[i].y >= l[i - 1].y && l[i].height - l[i - 1].height > gap - 1e-9));
        }
        if (n != 3 || searches++ >= 4)
            continue;
        double best = HUGE_VAL; /* on a grid of 1 pixel */
        for (double a = 10; a <= 260; a++)
            for (double b = a + gap; b <= 260; b++)
                for (double c = b + gap; c <= 260; c++) {
                    tacit__label g[3] = {l[0], l[1], l[2]};
                    g[0].height = a;
                    g[1].height = b;
                    g[2].height = c;
                    best = cost_of(g, 3) < best ? cost_of(g, 3) : best;
                }
        assert_true(cost_of(l, 3) <= best + 1e-9);
    }
}

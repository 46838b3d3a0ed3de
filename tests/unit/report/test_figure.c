/* Axes and labels of figures: ticks are round and inside, labels keep their distance and their order. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"
#include "report/figure.h"
#include "support/random.h"

TEST(ticks_are_round_and_inside)
{
    static const double highs[] = {1, 1.3, 7, 20, 999, 50000, 1e12, 3e-5};
    for (size_t i = 0; i < sizeof highs / sizeof *highs; i++) {
        tacit__axis axis = {0, highs[i], false, 0};
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
        tacit__axis axis = {0.37, 0.37 * pow(10, decades), true, 0};
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
    assert_int_equal(tacit__axis_ticks(&(tacit__axis){0, 10, true, 0}, t), 0);
    assert_int_equal(tacit__axis_ticks(&(tacit__axis){3, 3, false, 0}, t), 0);
}

TEST(values_beyond_the_frame_lie_on_its_edge)
{
    const tacit__figure_frame f = {.left = 10,
                                   .right = 110,
                                   .top = 5,
                                   .bottom = 55,
                                   .x = {0, 10, false, 0},
                                   .y = {1, 100, true, 0}};
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
    double gap = tacit__labels_gap(12);
    for (int trial = 0; trial < 300; trial++) {
        tacit__label l[12];
        size_t n = 1 + (size_t)(random_unit(&random) * 12);
        for (size_t i = 0; i < n; i++)
            l[i] = (tacit__label){.y = 20 + 200 * random_unit(&random) * random_unit(&random),
                                  .series = i};
        tacit__labels_arrange(l, n, gap, 10, 260);
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

/* --- Styles --------------------------------------------------------------------------------------- */

TEST(no_dash_occurs_twice_or_is_another_one_repeated)
{
    enum { N = 80 };
    static char dashes[N][TACIT__DASH];
    for (int i = 0; i < N; i++) {
        (void)tacit__dash((tacit__style){1, 0, i}, dashes[i]);
        size_t length = strlen(dashes[i]);
        assert_true(length + 1 < TACIT__DASH);
        for (int j = 0; j < i; j++) {
            /* drawn again and again, two patterns are the same line if their repetitions are */
            char a[4 * TACIT__DASH] = "", b[4 * TACIT__DASH] = "";
            while (dashes[i][0] != '\0' && strlen(a) + length + 1 < 3 * TACIT__DASH)
                (void)strcat(strcat(a, dashes[i]), " ");
            while (dashes[j][0] != '\0' && strlen(b) + strlen(dashes[j]) + 1 < 3 * TACIT__DASH)
                (void)strcat(strcat(b, dashes[j]), " ");
            size_t common = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
            assert_true(common == 0 ? strlen(a) != strlen(b) : strncmp(a, b, common) != 0);
        }
    }
}

TEST(shades_go_from_ink_to_paper)
{
    char color[TACIT__COLOR];
    int before = -1;
    for (int shade = -TACIT__SHADES; shade <= TACIT__SHADES; shade++) {
        unsigned rgb =
            (unsigned)strtoul(tacit__color((tacit__style){1, shade, 0}, color) + 1, NULL, 16);
        int light = (int)(rgb >> 16) + (int)(rgb >> 8 & 0xff) + (int)(rgb & 0xff);
        assert_true(light > before);
        before = light;
    }
    assert_string_equal(tacit__color((tacit__style){1, 0, 0}, color), "#0072b2");
}

/* --- Intervals ------------------------------------------------------------------------------------ */

/* Quantiles of Student's t at 97.5 %, from the tables that every book on statistics has. */
TEST(students_limits_are_those_of_the_tables)
{
    static const struct {
        uint64_t degrees;
        double limit;
    } table[] = {{1, 12.7062},  {2, 4.30265},   {3, 3.18245},    {4, 2.77645},
                 {5, 2.57058},  {9, 2.26216},   {10, 2.22814},   {29, 2.04523},
                 {30, 2.04227}, {100, 1.98397}, {1000, 1.96234}, {20000, 1.95996}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_close(tacit__student_limit(table[i].degrees), table[i].limit, 2e-5 * table[i].limit);
    assert_true(tacit__spread_factor(TACIT_SPREAD_CI, 1) == 0);
    assert_true(tacit__spread_factor(TACIT_SPREAD_STDERR, 5) == 1);
    assert_true(tacit__spread_factor(TACIT_SPREAD_RANGE, 5) == 0);
}

/* --- Sheets --------------------------------------------------------------------------------------- */

TEST(everything_fits_on_the_sheet_whatever_its_width)
{
    for (double width = 150; width < 3000; width *= 1.4)
        for (size_t n_panels = 1; n_panels < 8; n_panels++) {
            tacit__label labels[8 * 5] = {0};
            tacit__panel panels[8];
            const tacit__sheet sheet = {.width = width, .font = 10, .css_class = "x"};
            tacit__drawing d = {
                .sheet = &sheet, .x_name = "users", .panels = panels, .n_panels = n_panels};
            (void)strcpy(d.title, "A title of several words, which may need two lines");
            (void)strcpy(d.notes, "Notes that are longer than a narrow figure is wide, surely");
            for (size_t p = 0; p < n_panels; p++) {
                panels[p] =
                    (tacit__panel){.title = "panel", .labels = labels + 5 * p, .n_labels = 5};
                panels[p].frame.x = (tacit__axis){0, 50000, false, 0};
                panels[p].frame.y = (tacit__axis){1, 1e6, true, 0};
                for (size_t i = 0; i < 5; i++)
                    (void)strcpy(labels[5 * p + i].text, "a label of some length");
            }
            tacit__drawing_arrange(&d);
            for (size_t p = 0; p < n_panels; p++) {
                const tacit__figure_frame *f = &panels[p].frame;
                assert_true(f->left > 0 && f->right > f->left + 30);
                assert_true(f->top > 0 && f->bottom > f->top && f->bottom < d.height);
                assert_true(f->bottom - f->top >= 5 * tacit__labels_gap(10) - 1e-9);
                if (width > 320)
                    assert_true(f->right + d.label_width <= width);
                for (size_t q = 0; q < p; q++)
                    assert_true(f->left > panels[q].frame.right || f->top > panels[q].frame.bottom);
            }
        }
}

/* Labels at the ends of lines. They are placed by isotonic regression (pool adjacent violators): exact, and
 * linear once sorted. */
#include <stdlib.h>

#include "base/error.h"
#include "report/figure.h"
#include "report/write.h"

static int by_height(const void *a, const void *b)
{
    const tacit__label *x = a, *y = b;
    if (x->y < y->y || x->y > y->y)
        return (x->y > y->y) - (x->y < y->y);
    return (x->series > y->series) - (x->series < y->series);
}

double tacit__labels_gap(double font)
{
    return 1.25 * font;
}

void tacit__labels_arrange(tacit__label *labels, size_t n, double gap, double top, double bottom)
{
    TACIT__REQUIRE(top <= bottom);
    if (n == 0)
        return;
    qsort(labels, n, sizeof *labels, by_height);
    /* z_i = y_i - i gap must not descend. Runs of equal z are pools; `height` of a pool's first label is
     * its mean until the next merge. */
    for (size_t i = 0; i < n; i++)
        labels[i].height = labels[i].y - (double)i * gap;
    for (size_t i = 1; i < n; i++) {
        size_t first = i;
        double sum = labels[i].height, count = 1;
        while (first > 0 && labels[first - 1].height > sum / count) {
            double pooled = labels[first - 1].height;
            while (first > 0 && labels[first - 1].height >= pooled) {
                sum += labels[first - 1].height;
                count++;
                first--;
            }
        }
        for (size_t j = first; j <= i; j++)
            labels[j].height = sum / count;
    }
    double most = bottom - (double)(n - 1) * gap;
    for (size_t i = 0; i < n; i++) {
        double z = labels[i].height;
        z = z > most ? most : z;
        z = z < top ? top : z;
        labels[i].height = z + (double)i * gap;
    }
}

void tacit__labels_draw(tacit__text *to, const tacit__figure_frame *f, double font, double width,
                        const tacit__label *labels, size_t n)
{
    TACIT__REQUIRE((labels != NULL || n == 0) && font > 0);
    const size_t most = (size_t)(width / tacit__words_width(1, font));
    for (size_t i = 0; i < n; i++) {
        const tacit__label *l = &labels[i];
        char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER], d[TACIT__NUMBER],
            e[TACIT__NUMBER];
        tacit__text_print(to, "<g data-series=\"%zu\"><path fill=\"none\" opacity=\"0.7\"",
                          l->series);
        tacit__style solid = {l->style.color, l->style.shade, 0};
        tacit__figure_stroke(to, solid);
        tacit__text_print(to, " d=\"M%s %sL%s %sH%s\"/>", tacit__coordinate(a, l->x + 0.25 * font),
                          tacit__coordinate(b, l->y), tacit__coordinate(c, f->right + 1.1 * font),
                          tacit__coordinate(d, l->height),
                          tacit__coordinate(e, f->right + 1.4 * font));
        tacit__text_print(to, "<text class=\"ink\" fill=\"#1a1a1a\" x=\"%s\" y=\"%s\">",
                          tacit__coordinate(a, f->right + 1.7 * font),
                          tacit__coordinate(b, l->height + 0.35 * font));
        tacit__write_html_short(to, l->text, most > 6 ? most : 6);
        tacit__text_put(to, l->flagged ? "†</text></g>\n" : "</text></g>\n");
    }
}

/* Lines: hue by family, lightness by epsilon, and dashes that never repeat within a hue.
 *
 * Hues are those of Okabe and Ito, which color-blind readers tell apart, in the order of their contrast on
 * white. A shade mixes the hue with ink or with paper; the page's style sheet does the same sums with its
 * own ink and paper (web/report.css). */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "report/figure.h"

static const unsigned ink = 0x1a1a1a, paper = 0xffffff;
enum { PERCENT_OF_SHADE = 10 }; /* stated choice: the lightest orange still stands out from white */

const char *tacit__color(tacit__style style, char out[TACIT__COLOR])
{
    static const unsigned hues[] = {0x1a1a1a, 0x0072b2, 0xd55e00, 0x009e73,
                                    0xcc79a7, 0xe69f00, 0x56b4e9, 0x767676};
    const unsigned hue = hues[style.color >= 0 && style.color <= TACIT__GRAY ? style.color : 0];
    const unsigned other = style.shade > 0 ? paper : ink;
    const unsigned part = (unsigned)abs(style.shade) * PERCENT_OF_SHADE;
    TACIT__REQUIRE(part <= 100);
    unsigned mixed = 0;
    for (unsigned bit = 0; bit < 24; bit += 8) {
        unsigned a = hue >> bit & 0xff, b = other >> bit & 0xff;
        mixed |= (a * (100 - part) + b * part + 50) / 100 << bit;
    }
    (void)snprintf(out, TACIT__COLOR, "#%06x", mixed);
    return out;
}

/* Solid, long, short, and then some long strokes followed by some short ones: 1 + 1, 2 + 1, 1 + 2, 3 + 1,
 * ... All are different, and none is a part of another repeated. */
const char *tacit__dash(tacit__style style, char out[TACIT__DASH])
{
    out[0] = '\0';
    if (style.dash <= 2) {
        (void)snprintf(out, TACIT__DASH, "%s",
                       style.dash == 1   ? "7 4"
                       : style.dash == 2 ? "2 3"
                                         : "");
        return out;
    }
    int strokes = 2, rest = style.dash - 3; /* there are strokes - 1 ways to divide them */
    while (rest >= strokes - 1)
        rest -= strokes++ - 1;
    size_t used = 0;
    for (int i = 0; i < strokes && used < TACIT__DASH; i++)
        used += (size_t)snprintf(out + used, TACIT__DASH - used, "%s%s", i == 0 ? "" : " ",
                                 i < strokes - 1 - rest ? "9 3" : "2 3");
    return out;
}

/* "c h1 up2": the hue, and how many steps to paper (up) or ink (down). */
static void put_classes(tacit__text *to, const char *kind, tacit__style style)
{
    tacit__text_print(to, " class=\"%s h%d", kind, style.color);
    if (style.shade != 0)
        tacit__text_print(to, " %s%d", style.shade > 0 ? "up" : "down", abs(style.shade));
    tacit__text_put(to, "\"");
}

void tacit__figure_stroke(tacit__text *to, tacit__style style)
{
    char color[TACIT__COLOR], dash[TACIT__DASH];
    put_classes(to, "c", style);
    tacit__text_print(to, " stroke=\"%s\"", tacit__color(style, color));
    if (style.dash > 0)
        tacit__text_print(to, " stroke-dasharray=\"%s\"", tacit__dash(style, dash));
}

void tacit__figure_fill(tacit__text *to, tacit__style style)
{
    char color[TACIT__COLOR];
    put_classes(to, "f", style);
    tacit__text_print(to, " fill=\"%s\"", tacit__color(style, color));
}

void tacit__swatch(tacit__text *to, tacit__style style)
{
    put_classes(to, "swatch", style);
}

/* A figure as a file of its own: the drawing of the page, on the sheet that was asked for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/figure.h"
#include "report/render.h"
#include "text/decimal.h"
#include "text/nearest.h"

static const double pixels_per_mm = 96 / 25.4, pixels_per_point = 96.0 / 72;

bool tacit_report_has_paper(void)
{
    return tacit__paper_is_here();
}

/* --- Which agents -------------------------------------------------------------------------------- */

/* The length of `name` if the text begins with it and it ends there or at a comma, else 0. */
static size_t begins_with(const char *text, const char *name)
{
    size_t n = strlen(name);
    bool same = n > 0 && strncmp(text, name, n) == 0;
    size_t spaces = same ? strspn(text + n, " ") : 0;
    return same && (text[n + spaces] == '\0' || text[n + spaces] == ',') ? n + spaces : 0;
}

static void add_once(size_t *list, size_t *n, size_t agent)
{
    size_t i = 0;
    while (i < *n && list[i] != agent)
        i++;
    if (i == *n)
        list[(*n)++] = agent;
}

/* Adds what the longest name at the beginning of the text stands for; returns its length, or 0. */
static size_t add_longest(const tacit__report *r, const char *text, size_t *list, size_t *n)
{
    size_t agent = SIZE_MAX, family = SIZE_MAX, most = 0;
    for (size_t i = 0; i < r->n_families; i++) {
        size_t length = begins_with(text, r->families[i].name);
        family = length > most ? i : family;
        most = length > most ? length : most;
    }
    for (size_t i = 0; i < r->n_agents; i++) { /* a label comes before a family of the same name */
        size_t length = begins_with(text, r->agents[i].entry->label);
        agent = length > 0 && length >= most ? i : agent;
        most = length > most ? length : most;
    }
    if (agent != SIZE_MAX && begins_with(text, r->agents[agent].entry->label) == most)
        add_once(list, n, agent);
    else if (family != SIZE_MAX)
        for (size_t m = 0; m < r->families[family].n_members; m++)
            add_once(list, n, r->families[family].members[m]);
    return most;
}

static tacit_status refuse_name(const tacit__report *r, const char *text, tacit_error *err)
{
    char word[96], hint[TACIT__SUGGESTION];
    size_t length = strcspn(text, ","), n = r->n_agents + r->n_families;
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < 90 ? length : 90), text);
    const char **names = tacit__alloc(n, sizeof *names);
    if (names == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < n; i++)
        names[i] =
            i < r->n_families ? r->families[i].name : r->agents[i - r->n_families].entry->label;
    tacit_status status =
        tacit__fail(err, TACIT_BAD_ARGUMENT, "no agent or family is called '%s'%s", word,
                    tacit__suggest(word, names, n, NULL, hint));
    tacit__free(names);
    return status;
}

/* Labels and names of families, separated by commas, as numbers of agents; see tacit_report_agents. */
static tacit_status choose(const tacit__report *r, const char *text, size_t *out, size_t *n,
                           tacit_error *err)
{
    TACIT__REQUIRE(text != NULL && out != NULL && n != NULL);
    *n = 0;
    while (*(text += strspn(text, " ")) != '\0') {
        size_t length = add_longest(r, text, out, n);
        if (length == 0)
            return refuse_name(r, text, err);
        text += length;
        text += *text == ',';
    }
    return *n > 0 ? TACIT_OK : tacit__fail(err, TACIT_BAD_ARGUMENT, "no agent is named");
}

tacit_status tacit_report_agents(const tacit_results *results, const char *text, size_t *out,
                                 size_t *n, tacit_error *err)
{
    if (results == NULL || text == NULL || out == NULL || n == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__report r;
    TRY(tacit__report_fill(results, &r, err));
    tacit_status status = choose(&r, text, out, n, err);
    tacit__report_empty(&r);
    return status;
}

/* --- The figure ---------------------------------------------------------------------------------- */

static tacit_status check_length(const char *name, double mm, double low, tacit_error *err)
{
    if (mm == 0 || (mm >= low && mm <= TACIT_FIGURE_WIDEST))
        return TACIT_OK;
    return tacit__fail(err, TACIT_BAD_ARGUMENT, "the figure's %s is %g mm, expected %g to %d mm",
                       name, mm, low, TACIT_FIGURE_WIDEST);
}

static tacit_status check(const tacit__report *r, const tacit_figure_options *o, tacit_error *err)
{
    TRY(check_length("width", o->width, TACIT_FIGURE_NARROWEST, err));
    TRY(check_length("height", o->height, 20, err));
    if (o->font_size != 0 && !(o->font_size >= 4 && o->font_size <= 40))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "letters of %g points are asked for, expected 4 to 40", o->font_size);
    if (o->dots_per_inch != 0 && !(o->dots_per_inch >= 30 && o->dots_per_inch <= 2400))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "%g dots per inch are asked for, expected 30 to 2400", o->dots_per_inch);
    return tacit__report_check(r, o->world, o->agents, o->n_agents, err);
}

static tacit_status draw(const tacit__report *r, const tacit_figure_options *o, tacit__text *svg,
                         tacit_error *err)
{
    const tacit__sheet sheet = {
        .width = (o->width > 0 ? o->width : 174) * pixels_per_mm,
        .height = o->height * pixels_per_mm,
        .font = (o->font_size > 0 ? o->font_size : 8) * pixels_per_point,
        .font_family = o->font,
        .title = o->title,
        .css_class = "alone",
        .agents = o->agents,
        .n_agents = o->n_agents,
        .log = o->scale == TACIT_SCALE_LOG ||
               (o->scale == TACIT_SCALE_USUAL && tacit__curves_want_log(r, o->world)),
        .physical = true,
        .interval = o->interval,
        .facets = o->facets};
    tacit__text_put(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    const bool logged = r->worlds[o->world].logged;
    if (logged != (o->what == TACIT_FIGURE_REWARD))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           logged
                               ? "the world '%.80s' is a log, where regret is not known; ask for "
                                 "the figure of rewards"
                               : "the world '%.80s' is not a log; its figures are regret and price",
                           r->worlds[o->world].name);
    const bool drawn = o->what == TACIT_FIGURE_PRICE ? tacit__price_svg(svg, r, o->world, &sheet)
                       : logged                      ? tacit__reward_svg(svg, r, o->world, &sheet)
                                                     : tacit__curves_svg(svg, r, o->world, &sheet);
    if (svg->failed)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (!drawn)
        return tacit__fail(err, TACIT_UNSUPPORTED, "there is nothing to draw: %s",
                           o->what == TACIT_FIGURE_PRICE
                               ? "no agent with an epsilon has finished a run"
                               : "no agent has finished a run");
    return TACIT_OK;
}

/* The size in pixels, as the drawing itself says. */
static void read_size(const tacit__text *svg, double *width, double *height)
{
    const char *box = strstr(svg->data, "viewBox=\"0 0 ");
    TACIT__REQUIRE(box != NULL);
    const char *end = svg->data + svg->length;
    bool in_range;
    box = tacit__decimal_read(box + strlen("viewBox=\"0 0 "), end, width, &in_range);
    TACIT__REQUIRE(box != NULL && tacit__decimal_read(box + 1, end, height, &in_range) != NULL);
}

static tacit_status make(const tacit__report *r, const tacit_figure_options *o, tacit__text *out,
                         tacit_error *err)
{
    TRY(check(r, o, err));
    if (o->format == TACIT_FORMAT_SVG)
        return draw(r, o, out, err);
    tacit__text svg = {0};
    tacit_status status = draw(r, o, &svg, err);
    if (status == TACIT_OK) {
        double width, height;
        read_size(&svg, &width, &height);
        status =
            tacit__paper_convert(&svg, o->format, width, height,
                                 o->dots_per_inch > 0 ? o->dots_per_inch : 300, r->title, out, err);
    }
    tacit__text_destroy(&svg);
    return status == TACIT_OK && out->failed ? tacit__fail_plain(err, TACIT_NO_MEMORY) : status;
}

tacit_status tacit_report_figure(const tacit_results *results, const tacit_figure_options *options,
                                 char **out, size_t *size, tacit_error *err)
{
    if (results == NULL || out == NULL || size == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_figure_options usual = {0};
    tacit__report r;
    TRY(tacit__report_fill(results, &r, err));
    tacit__text text = {0};
    tacit_status status = make(&r, options != NULL ? options : &usual, &text, err);
    if (status == TACIT_OK) {
        *out = text.data;
        *size = text.length;
    } else {
        tacit__text_destroy(&text);
    }
    tacit__report_empty(&r);
    return status;
}

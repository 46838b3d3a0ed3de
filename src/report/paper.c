/* SVG as PDF or PNG, by librsvg and cairo: the only file that includes their headers.
 *
 * They are opened when a figure is asked for, not linked: a learner or a service does not carry forty
 * libraries of pictures with it, and a machine without them can do everything else. PDF keeps vectors and
 * text; cairo embeds the part of each font that is used, as outlines (TrueType or CFF, never bitmaps),
 * which is what publishers and LaTeX ask for. */
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/figure.h"

#ifdef TACIT_HAS_RSVG
#include <cairo-pdf.h>
#include <librsvg/rsvg.h>

/* The functions of librsvg and cairo that are used here. */
#define FUNCTIONS(X)                                                                               \
    X(rsvg_handle_new_from_data)                                                                   \
    X(rsvg_handle_render_document)                                                                 \
    X(g_object_unref)                                                                              \
    X(g_error_free)                                                                                \
    X(cairo_pdf_surface_create_for_stream)                                                         \
    X(cairo_pdf_surface_set_metadata)                                                              \
    X(cairo_image_surface_create)                                                                  \
    X(cairo_surface_write_to_png_stream)                                                           \
    X(cairo_surface_finish)                                                                        \
    X(cairo_surface_status)                                                                        \
    X(cairo_surface_destroy)                                                                       \
    X(cairo_create)                                                                                \
    X(cairo_destroy)                                                                               \
    X(cairo_scale)                                                                                 \
    X(cairo_set_source_rgb)                                                                        \
    X(cairo_paint)

typedef struct library {
    void *handle;
#define MEMBER(name) __typeof__(name) *(name);
    FUNCTIONS(MEMBER)
} library;

static const char soname[] = "librsvg-2.so.2"; /* brings cairo and GLib with it */

/* Stays open: GLib cannot be unloaded, and a second figure finds it at once. */
static bool open_library(library *out)
{
    *out = (library){.handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (out->handle == NULL)
        return false;
    void *found;
#define FIND(name)                                                                                 \
    found = dlsym(out->handle, #name);                                                             \
    if (found == NULL)                                                                             \
        goto missing;                                                                              \
    (void)memcpy(&out->name, &found, sizeof found);
    FUNCTIONS(FIND)
    return true;
missing:
    (void)dlclose(out->handle);
    return false;
}

static cairo_status_t receive(void *to, const unsigned char *bytes, unsigned n)
{
    tacit__text_add(to, (const char *)bytes, n);
    return ((tacit__text *)to)->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

/* Draws the whole picture, `width` by `height` in units of the surface. */
static tacit_status render(const library *l, const tacit__text *svg, cairo_surface_t *surface,
                           double width, double height, tacit_error *err)
{
    GError *why = NULL;
    const RsvgRectangle all = {0, 0, width, height};
    RsvgHandle *picture =
        l->rsvg_handle_new_from_data((const guint8 *)svg->data, svg->length, &why);
    bool good = picture != NULL;
    if (good) {
        cairo_t *pen = l->cairo_create(surface);
        if (svg->length > 0)
            good = l->rsvg_handle_render_document(picture, pen, &all, &why);
        l->cairo_destroy(pen);
        l->g_object_unref(picture);
    }
    tacit_status status = TACIT_OK;
    if (!good)
        status = tacit__fail(err, TACIT_SYSTEM, "librsvg could not draw the figure: %.200s",
                             why != NULL ? why->message : "no reason given");
    if (why != NULL)
        l->g_error_free(why);
    return status;
}

static tacit_status write_pdf(const library *l, const tacit__text *svg, double width, double height,
                              const char *title, tacit__text *out, tacit_error *err)
{
    const double point = 72.0 / 96; /* pixels in points */
    cairo_surface_t *surface =
        l->cairo_pdf_surface_create_for_stream(receive, out, width * point, height * point);
    l->cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
    l->cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "tacit");
    /* the same results give the same bytes */
    l->cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                      "2000-01-01T00:00:00Z");
    tacit_status status = render(l, svg, surface, width * point, height * point, err);
    l->cairo_surface_finish(surface);
    if (status == TACIT_OK && l->cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    l->cairo_surface_destroy(surface);
    return status;
}

static tacit_status write_png(const library *l, const tacit__text *svg, double width, double height,
                              double density, tacit__text *out, tacit_error *err)
{
    const double across = ceil(width * density / 96), down = ceil(height * density / 96);
    if (!(across <= 32767 && down <= 32767)) /* cairo's largest */
        return tacit__fail(
            err, TACIT_TOO_LARGE,
            "the figure has %.0f by %.0f dots, expected at most 32767 on a side; ask "
            "for fewer dots per inch",
            across, down);
    cairo_surface_t *surface =
        l->cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)across, (int)down);
    cairo_t *pen = l->cairo_create(surface);
    l->cairo_set_source_rgb(pen, 1, 1, 1);
    l->cairo_paint(pen);
    l->cairo_destroy(pen);
    tacit_status status = render(l, svg, surface, across, down, err);
    if (status == TACIT_OK &&
        l->cairo_surface_write_to_png_stream(surface, receive, out) != CAIRO_STATUS_SUCCESS)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    l->cairo_surface_destroy(surface);
    return status;
}

tacit_status tacit__paper_convert(const tacit__text *svg, tacit_format format, double width,
                                  double height, double density, const char *title,
                                  tacit__text *out, tacit_error *err)
{
    TACIT__REQUIRE(svg->data != NULL && format != TACIT_FORMAT_SVG);
    library l;
    if (!open_library(&l))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "PDF and PNG need librsvg, and %s is not installed (Debian: apt-get "
                           "install librsvg2-2); SVG needs nothing",
                           soname);
    return format == TACIT_FORMAT_PDF ? write_pdf(&l, svg, width, height, title, out, err)
                                      : write_png(&l, svg, width, height, density, out, err);
}

bool tacit__paper_is_here(void)
{
    library l;
    return open_library(&l);
}

#else

tacit_status tacit__paper_convert(const tacit__text *svg, tacit_format format, double width,
                                  double height, double density, const char *title,
                                  tacit__text *out, tacit_error *err)
{
    (void)svg, (void)format, (void)width, (void)height, (void)density, (void)title, (void)out;
    return tacit__fail(err, TACIT_UNSUPPORTED,
                       "PDF and PNG need librsvg, and this tacit was built without it (Debian: "
                       "apt-get install librsvg2-dev, then build again); SVG needs nothing");
}

bool tacit__paper_is_here(void)
{
    return false;
}

#endif

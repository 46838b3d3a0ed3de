/* See reading.h. */
#include "agents/reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/host.h"
#include "noise/stream.h"

tacit_status tacit__reading_open(const tacit_agent_request *request, const tacit_agent_kind *kind,
                                 tacit__reading *out, tacit_error *err)
{
    TACIT__REQUIRE((kind->parameters != NULL || kind->n_parameters == 0) &&
                   strcmp(kind->name, request->kind) == 0);
    *out = (tacit__reading){.request = request, .kind = kind};
    const tacit__origin origin = {request->file, request->line, kind->name};
    return tacit__values_read(kind->parameters, kind->n_parameters, request->settings,
                              request->n_settings, &origin, &out->values, err);
}

tacit_status tacit__reading_fail(const tacit__reading *r, tacit_error *err, tacit_status status,
                                 const char *format, ...)
{
    TACIT__REQUIRE(status != TACIT_OK);
    char message[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return tacit__fail_at(err, status, r->request->file, (size_t)r->request->line, "%s", message);
}

tacit_status tacit__reading_check_memory(const tacit__reading *r, double bytes, const char *what,
                                         const char *remedy, tacit_error *err)
{
    TACIT__REQUIRE(bytes >= 0);
    if (bytes <= tacit__machine_memory() / 2)
        return TACIT_OK;
    return tacit__reading_fail(r, err, TACIT_TOO_LARGE, "%s would need about %.3g GB; %s", what,
                               bytes / 1e9, remedy);
}

bool tacit__is_published(const tacit_agent_request *q)
{
    return q->guarantee.model != TACIT_MODEL_NONE && q->calibration == TACIT_CALIBRATION_PUBLISHED;
}

bool tacit__is_noise_printed(const tacit_agent_request *q)
{
    return q->guarantee.model != TACIT_MODEL_NONE && q->calibration != TACIT_CALIBRATION_TIGHT;
}

double tacit__reading_real(const tacit__reading *r, const char *name, double printed)
{
    const tacit__value *v = tacit__value_of(&r->values, name);
    return tacit__is_published(r->request) && !v->given ? printed : v->real;
}

tacit_status tacit__reading_mechanism(const tacit__reading *r, tacit_sum_mechanism *out,
                                      tacit_error *err)
{
    TACIT__REQUIRE(r != NULL && out != NULL);
    static const tacit_sum_mechanism choices[] = {TACIT_SUM_TREE, TACIT_SUM_SMOOTH, TACIT_SUM_BLT};
    const tacit_agent_request *q = r->request;
    bool joint = q->guarantee.model == TACIT_MODEL_JOINT;
    if (q->sums == NULL) {
        *out = joint && tacit__is_noise_printed(q) ? TACIT_SUM_TREE
                                                   : tacit_sum_default_mechanism(q->guarantee);
        return TACIT_OK;
    }
    if (!joint)
        return tacit__reading_fail(
            r, err, TACIT_UNSUPPORTED,
            "sums: %s is for the joint model; local reports are simply added", q->sums);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (strcmp(tacit_sum_mechanism_name(choices[i]), q->sums) == 0) {
            *out = choices[i];
            return TACIT_OK;
        }
    return tacit__reading_fail(r, err, TACIT_BAD_ARGUMENT,
                               "sums is '%s', expected tree, smooth or blt", q->sums);
}

/* G of growth(G). */
static bool read_growth(const char *text, double *out)
{
    static const char open[] = "growth(";
    const size_t n = strlen(text), before = sizeof open - 1;
    return n > before + 1 && strncmp(text, open, before) == 0 && text[n - 1] == ')' &&
           tacit__read_real(text + before, n - before - 1, out);
}

tacit_status tacit__check_tight(const tacit_agent_request *q, tacit_error *err)
{
    if (q->guarantee.model == TACIT_MODEL_NONE || q->calibration == TACIT_CALIBRATION_TIGHT)
        return TACIT_OK;
    return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)q->line,
                          "no paper prints the noise of %s: it has the calibration tight only",
                          q->kind);
}

tacit_status tacit__check_batches(const tacit_agent_request *q, tacit_error *err)
{
    TRY(tacit__check_tight(q, err));
    if (q->sums == NULL)
        return TACIT_OK;
    return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)q->line,
                          "%s has no running sums: each batch of users is shown once", q->kind);
}

tacit_status tacit__reading_growth(const tacit__reading *r, double least, double usual,
                                   double *growth, tacit_error *err)
{
    TACIT__REQUIRE(least > 1 && usual >= least);
    *growth = tacit__value_real(&r->values, "growth");
    if (*growth > 0 && *growth < least)
        return tacit__value_fail(&r->values, "growth", err, TACIT_BAD_ARGUMENT,
                                 "%s: growth is %g, expected 0 or at least %g", r->kind->name,
                                 *growth, least);
    if (*growth == 0)
        *growth = usual;
    return TACIT_OK;
}

tacit_status tacit__reading_schedule(const tacit__reading *r, double usual, double otherwise,
                                     double *growth, tacit_error *err)
{
    TACIT__REQUIRE(usual >= 0 && otherwise >= 0);
    const double least = 1.001, most = 100;
    const tacit__value *v = tacit__value_of(&r->values, "schedule");
    double given = usual;
    if (!v->given || strcmp(v->text, "every") == 0) {
        *growth = v->given ? 0 : otherwise;
        return TACIT_OK;
    }
    if (strcmp(v->text, "growth") != 0 &&
        !(read_growth(v->text, &given) && given >= least && given <= most))
        return tacit__value_fail(&r->values, "schedule", err, TACIT_BAD_ARGUMENT,
                                 "schedule is '%.40s', expected every, growth, or growth(G) with G "
                                 "from %g to %g, as in growth(1.2)",
                                 v->text, least, most);
    *growth = given;
    return TACIT_OK;
}

uint64_t tacit__reading_tie_seed(tacit_noise *noise)
{
    uint64_t word = 1;
    if (noise != NULL) {
        tacit__site site;
        tacit__site_open(&site, noise, "public: ties");
        tacit__site_words(&site, 0, 0, 1, &word);
    }
    return word;
}

/* Explanations: the release plan of an agent, its account, and both in words. See include/tacit/explain.h.
 *
 * Numbers first: everything that is said is in the structure as well. All strings live in one piece
 * of memory behind the structure's own, whose size is known before the first is written. Cost: one
 * call of the accountant, and one for each point of the curve where the noise is Gaussian (a
 * millisecond each). */
#include <tacit/explain.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/json_text.h"

enum {
    SENTENCE = 720,
    COMPOSITION = 640,
    REPORT_LINE = 128,
    N_CURVE = 5,
    SHOWN = 6
}; /* bytes, bytes, bytes for a release, points, costs that are spelled out */

typedef struct whole {
    tacit_explanation face; /* first: what users hold is a pointer to it */
    tacit_explained_release *lines;
    tacit_play *plays;
    tacit_explained_point curve[N_CURVE];
    char *memory, *end, *free;
} whole;

const char *tacit_verdict_name(tacit_verdict verdict)
{
    static const char *const names[] = {"promises nothing", "holds", "open", "fails"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

const char *tacit_law_name(tacit_law law)
{
    static const char *const names[] = {[TACIT_LAW_NONE] = "none",
                                        [TACIT_LAW_GAUSSIAN] = "gaussian",
                                        [TACIT_LAW_LAPLACE] = "laplace",
                                        [TACIT_LAW_RESPONSE] = "response"};
    return (size_t)law < sizeof names / sizeof *names ? names[law] : "none";
}

const char *tacit_model_name(tacit_model model)
{
    return model == TACIT_MODEL_JOINT ? "joint" : model == TACIT_MODEL_LOCAL ? "local" : "none";
}

const char *tacit_explanation_exception(size_t i)
{
    static const char *const exceptions[] = {
        "people who come back more often, or sooner, than was declared (visits, apart)",
        "how long the program takes, and who takes part at all",
        "settings that were tuned by hand on private data",
        "seeded noise, as in every experiment: anyone who knows the seed can subtract it",
    };
    return i < sizeof exceptions / sizeof *exceptions ? exceptions[i] : NULL;
}

static const char *neighbors(tacit_model model, uint64_t visits)
{
    if (model == TACIT_MODEL_JOINT && visits > 1)
        return "two sequences of users that differ in one person, replaced by another at all their "
               "visits: the whole trajectories of states, actions and rewards. That a person comes "
               "back, and when, is public";
    if (model == TACIT_MODEL_LOCAL && visits > 1)
        return "any two people: the whole trajectories of all their visits, in what leaves the "
               "person's device";
    if (model == TACIT_MODEL_JOINT)
        return "two sequences of users that differ in one user, replaced by another: the whole "
               "trajectory of states, actions and rewards";
    if (model == TACIT_MODEL_LOCAL)
        return "any two users: the whole trajectory of states, actions and rewards, in what leaves "
               "the user's device";
    return "none: there is no guarantee";
}

static const char *observer(tacit_model model)
{
    if (model == TACIT_MODEL_JOINT)
        return "everybody together, except the user and the curator: all policies that are ever "
               "shown, and what others do by them";
    if (model == TACIT_MODEL_LOCAL)
        return "everybody, the curator included";
    return "nobody";
}

/* --- Writing into the one piece of memory ---------------------------------------------------------- */

/* A sentence of at most `most` - 1 bytes; longer ones end early. */
__attribute__((format(printf, 3, 4))) static const char *say(whole *w, size_t most,
                                                             const char *format, ...)
{
    char *start = w->free;
    size_t room = (size_t)(w->end - start);
    TACIT__REQUIRE(room > 0);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(start, room < most ? room : most, format, args);
    va_end(args);
    w->free += strlen(start) + 1;
    return start;
}

/* Six digits, rounded up, since it is a bound. A number that calibration met up to its accuracy is that
 * number. */
static const char *rounded_up(char out[32], double x)
{
    static const double tol = 1e-9; /* relative; calibration is accurate to 1e-12 */
    return tacit__round_up(out, 6, x * (1 - tol));
}

/* 49999 -> "49,999" */
static const char *grouped(char out[32], uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    char *to = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

/* --- The sentences ----------------------------------------------------------------------------------- */

/* Which visits move most: known, a bound, or it depends on where batches end (sums/returning.h). */
static void pattern_words(const whole *w, const tacit_release *r, char *out, size_t size)
{
    enum { LISTED = 3 };
    char second[32], third[32];
    if (w->face.claim.model == TACIT_MODEL_LOCAL)
        (void)snprintf(out, size, "every report has noise of its own, at whatever distance");
    else if (w->face.law == TACIT_LAW_LAPLACE)
        (void)snprintf(out, size, "distance does not help without delta");
    else if (r->packed && r->visits >= LISTED)
        (void)snprintf(out, size, "worst at users 1, %s, %s%s", grouped(second, 1 + r->apart),
                       grouped(third, 1 + 2 * r->apart), r->visits > LISTED ? ", .." : "");
    else if (r->packed)
        (void)snprintf(out, size, "worst at users 1, %s", grouped(second, 1 + r->apart));
    else if (r->mechanism != NULL && strcmp(r->mechanism, "fresh") == 0)
        (void)snprintf(out, size, "worst where most of them are in the same releases");
    else
        (void)snprintf(out, size, "at most, over all patterns of visits");
}

/* Writes in how many steps a person is, and what that adds up to. */
static void touch_words(const whole *w, const tacit_release *r, double column, double reach,
                        char *out, size_t size)
{
    char times[32];
    const char *how = r->mechanism != NULL ? r->mechanism : "";
    bool counted = r->column_l1 >= 1 && fabs(r->column_l1 - round(r->column_l1)) < 1e-9 &&
                   fabs(r->column_l2 * r->column_l2 - r->column_l1) < 1e-6 * r->column_l1;
    if (r->visits > 1) {
        char apart[32], pattern[120];
        pattern_words(w, r, pattern, sizeof pattern);
        (void)snprintf(out, size,
                       "one person has at most %s visits, at least %s users apart (%s%s%s): "
                       "together they move by %.4g, %.4g times as far",
                       grouped(times, r->visits), grouped(apart, r->apart), how,
                       how[0] != '\0' ? "; " : "", pattern, reach, column);
    } else if (fabs(column - 1) < 1e-12)
        (void)snprintf(out, size, "a person is in one step only, so this is all%s%s%s",
                       how[0] != '\0' ? " (" : "", how, how[0] != '\0' ? ")" : "");
    else if (counted)
        (void)snprintf(out, size,
                       "a person is in at most %s of the vectors that are noised (%s): together "
                       "they move by %.4g, %.4g times as far",
                       grouped(times, (uint64_t)llround(r->column_l1)), how, reach, column);
    else
        (void)snprintf(out, size,
                       "a person's part lasts through all later steps (%s): together they move by "
                       "%.4g, %.4g times as far",
                       how, reach, column);
}

static const char *release_words(whole *w, const tacit_explained_release *line)
{
    const tacit_release *r = &line->release;
    bool gaussian = w->face.law == TACIT_LAW_GAUSSIAN;
    double l = gaussian ? r->l2 : r->l1, column = gaussian ? r->column_l2 : r->column_l1;
    char n[32], steps[32], shown[96], growth[360], noise[96];
    if (r->steps == 1)
        (void)snprintf(shown, sizeof shown, "shown once");
    else if (w->face.claim.model == TACIT_MODEL_LOCAL)
        (void)snprintf(shown, sizeof shown, "in each of up to %s reports, which leave a device",
                       grouped(steps, r->steps));
    else
        (void)snprintf(shown, sizeof shown, "shown up to %s times", grouped(steps, r->steps));
    touch_words(w, r, column, line->reach, growth, sizeof growth);
    if (w->face.law == TACIT_LAW_RESPONSE)
        return say(w, SENTENCE,
                   "%s answer%s, %s. Replacing one person changes at most %.4g of one step; %s. "
                   "Every answer is given by randomized response: the true one is at most "
                   "e^%.4g times as likely as any other",
                   grouped(n, r->dimension), r->dimension == 1 ? "" : "s", shown, l, growth,
                   1 / line->scale);
    if (gaussian)
        (void)snprintf(noise, sizeof noise, "Gaussian noise of standard deviation %.5g",
                       line->scale);
    else
        (void)snprintf(noise, sizeof noise, "Laplace noise of scale %.5g (standard deviation %.5g)",
                       line->scale, line->scale * sqrt(2));
    return say(w, SENTENCE,
               "%s number%s, %s. Replacing one person moves one step by at most %.4g (%s norm); "
               "%s. Every number gets fresh %s",
               grouped(n, r->dimension), r->dimension == 1 ? "" : "s", shown, l,
               gaussian ? "L2" : "L1", growth, noise);
}

/* "0.68 + 0.68 + 0.69", or with squares; at most SHOWN terms. */
static void list_costs(const whole *w, char *out, size_t size, const char *power)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < w->face.n_releases && used < size; i++) {
        const char *plus = i > 0 ? " + " : "";
        int n = i < SHOWN
                    ? snprintf(out + used, size - used, "%s%.4g%s", plus, w->lines[i].cost, power)
                    : snprintf(out + used, size - used, "%s...", plus);
        used += (size_t)n;
        if (i >= SHOWN)
            return;
    }
}

/* ", 1.24 at 1e-08, ..." for the other points of the curve. */
static const char *curve_words(const whole *w, char out[200])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < w->face.n_curve && used < 200; i++) {
        char epsilon[32];
        const tacit_explained_point *p = &w->face.curve[i];
        (void)snprintf(epsilon, sizeof epsilon, "%.3g", p->epsilon * (1 + 5e-3));
        if (p->delta != w->face.claim.delta)
            used += (size_t)snprintf(out + used, 200 - used, ", %s at %.0e", epsilon, p->delta);
    }
    return out;
}

/* docs/why/noise.md#what-delta-0-means */
static const char tail[] = " (below e^epsilon 2^-400, since draws of Laplace noise end)";

static const char *composition_words(whole *w)
{
    const tacit_composition *real = &w->face.real;
    char epsilon[32], costs[200], other[200];
    (void)rounded_up(epsilon, real->epsilon.high);
    if (isinf(real->epsilon.high))
        return say(w, COMPOSITION,
                   "Together the releases give no finite epsilon at delta %.4g (method: %s)",
                   w->face.claim.delta, real->method);
    if (w->face.law == TACIT_LAW_GAUSSIAN && isfinite(real->mu)) {
        list_costs(w, costs, sizeof costs, "^2");
        return say(
            w, COMPOSITION,
            "Each release costs mu = reach / scale, and squares add: %s = %.4g^2. Gaussian "
            "differential privacy with mu = %.4g is, exactly, epsilon = %s at delta = %.4g%s; "
            "it is zero-concentrated with rho = mu^2 / 2 = %.4g",
            costs, real->mu, real->mu, epsilon, w->face.claim.delta, curve_words(w, other),
            real->rho);
    }
    list_costs(w, costs, sizeof costs, "");
    if (strcmp(real->method, "pure") == 0)
        return say(w, COMPOSITION,
                   "Each release costs epsilon = reach / scale, and these add: %s = %s, with "
                   "delta = %.4g%s",
                   costs, epsilon, w->face.claim.delta,
                   w->face.claim.delta == 0 && w->face.law == TACIT_LAW_LAPLACE ? tail : "");
    return say(w, COMPOSITION,
               "Separately the releases cost epsilon = reach / scale: %s. Composed together at "
               "delta = %.4g they cost epsilon = %s (method: %s; an upper bound)",
               costs, w->face.claim.delta, epsilon, real->method);
}

/* A report is a frame (agents/agent_bytes.c: a mark, a fingerprint; perhaps a step) and its numbers
 * one after the other, each a 64-bit integer on the lattice with its noise added. */
static const char *report_words(whole *w, uint64_t bytes, const char *beside)
{
    enum { NUMBER = 8 };
    char *start = w->free;
    uint64_t numbers = 0, at = 0;
    for (size_t i = 0; i < w->face.n_releases; i++) {
        uint64_t n = (uint64_t)w->lines[i].release.dimension, most = UINT64_MAX / NUMBER - numbers;
        numbers += n < most ? n : most; /* no report is that long, but a plan may say so */
    }
    bool framed = bytes > NUMBER * numbers;
    if (framed) {
        at = bytes - NUMBER * numbers;
        (void)say(w, REPORT_LINE,
                  "bytes 0 to %llu: which learner and which step it is for, %swhich is public, ",
                  (unsigned long long)at - 1,
                  w->face.law == TACIT_LAW_RESPONSE ? "and what the answers stand for, " : "");
        w->free--; /* what follows goes on from here */
    }
    for (size_t i = 0; i < w->face.n_releases; i++) {
        const tacit_release *r = &w->lines[i].release;
        char n[32];
        uint64_t end = at + NUMBER * (uint64_t)r->dimension;
        (void)say(w, REPORT_LINE, "%sbytes %llu to %llu: %s number%s of '%.40s'", i > 0 ? ", " : "",
                  (unsigned long long)at, (unsigned long long)end - 1, grouped(n, r->dimension),
                  r->dimension == 1 ? "" : "s", r->name);
        w->free--;
        at = end;
    }
    (void)say(
        w, SENTENCE, "; each number 64 bits, %s; %llu bytes%s; %.80s leaves the device",
        w->face.law == TACIT_LAW_RESPONSE
            ? "as randomized response gave it, with the step or question that public chance chose"
            : "on a lattice, noise included",
        (unsigned long long)at, framed ? "" : ", and what frames them",
        beside != NULL ? beside : "nothing else");
    w->face.report_bytes = at;
    return start;
}

/* The privacy profile at a few deltas, and at the claim's. */
static tacit_status draw_curve(whole *w, const tacit_plan *plan, tacit_error *err)
{
    TACIT__REQUIRE(plan != NULL && w->face.claim.delta > 0);
    static const double deltas[] = {1e-10, 1e-8, 1e-6, 1e-4};
    tacit_explanation *e = &w->face;
    tacit_explained_point *p = w->curve;
    bool claimed = false;
    e->curve = w->curve;
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        tacit_composition c;
        if (!claimed && e->claim.delta <= deltas[i]) {
            claimed = true;
            p[e->n_curve++] = (tacit_explained_point){e->claim.delta, e->real.epsilon.high};
            if (e->claim.delta == deltas[i])
                continue;
        }
        TRY(tacit_plan_account(plan, deltas[i], &c, err));
        p[e->n_curve++] = (tacit_explained_point){deltas[i], c.epsilon.high};
    }
    if (!claimed)
        p[e->n_curve++] = (tacit_explained_point){e->claim.delta, e->real.epsilon.high};
    return TACIT_OK;
}

/* Claimed against real. The scales of a tight calibration may miss the claim by rounding alone. */
static void judge(whole *w, const char *caveat)
{
    TACIT__REQUIRE(caveat != NULL && w->face.claim.model != TACIT_MODEL_NONE);
    static const double tol = 1e-9; /* relative; calibration is accurate to 1e-12 */
    tacit_explanation *e = &w->face;
    double claim = e->claim.epsilon, high = e->real.epsilon.high, low = e->real.epsilon.low;
    const char *what = e->calibration == TACIT_CALIBRATION_TIGHT      ? "the scales"
                       : e->calibration == TACIT_CALIBRATION_FIGURE   ? "the figures' scales"
                       : e->calibration == TACIT_CALIBRATION_RECALLED ? "the recalled scales"
                                                                      : "the paper's scales";
    char h[32];
    (void)rounded_up(h, high);
    if (high <= claim * (1 + tol)) {
        e->verdict = TACIT_VERDICT_HOLDS;
        e->words = say(w, SENTENCE, "the claim holds%s%s",
                       high < 0.99 * claim ? ", with more noise than it needs" : "", caveat);
    } else if (low <= claim) {
        e->verdict = TACIT_VERDICT_OPEN;
        e->words = say(w, SENTENCE,
                       "%s can be proved to give epsilon %s only; the claim of %g is not refuted%s",
                       what, h, claim, caveat);
    } else if (isinf(high)) {
        e->verdict = TACIT_VERDICT_FAILS;
        e->words =
            say(w, SENTENCE, "the claim does NOT hold: no finite epsilon holds at delta %g%s",
                e->claim.delta, caveat);
    } else {
        e->verdict = TACIT_VERDICT_FAILS;
        e->words = say(w, SENTENCE,
                       "the claim does NOT hold: %s give epsilon %s, %.3g times the claim%s%s",
                       what, h, high / claim,
                       e->calibration == TACIT_CALIBRATION_FIGURE
                           ? "; good for comparing curves, not for people"
                           : "",
                       caveat);
    }
}

/* --- The structure ----------------------------------------------------------------------------------- */

static const char recalled[] = "; recalled from later papers and public code, not checked against "
                               "the paper's own text";

/* Reads what `agent` plays, and counts the bytes of its strings. */
static size_t count_plays(const tacit_agent *agent, size_t *bytes)
{
    size_t n = 0;
    for (tacit_play p; agent != NULL && tacit_agent_play_at(agent, n, &p); n++)
        *bytes +=
            strlen(p.name) + strlen(p.printed_words) + strlen(p.played_words) + strlen(p.note) + 4;
    return n;
}

static void fill_plays(whole *w, const tacit_agent *agent)
{
    for (size_t i = 0; i < w->face.n_plays; i++) {
        tacit_play *p = &w->plays[i];
        const bool there = tacit_agent_play_at(agent, i, p);
        TACIT__REQUIRE(there);
        p->name = say(w, SIZE_MAX, "%s", p->name);
        p->printed_words = say(w, SIZE_MAX, "%s", p->printed_words);
        p->played_words = say(w, SIZE_MAX, "%s", p->played_words);
        p->note = say(w, SIZE_MAX, "%s", p->note);
    }
}

static tacit_status allocate(const tacit_plan *plan, size_t n, const tacit_agent *agent,
                             const char *remark, const char *printed, whole **out)
{
    size_t bytes = strlen(remark) + 1 + 2 * SENTENCE + COMPOSITION + REPORT_LINE;
    const size_t n_plays = count_plays(agent, &bytes);
    bytes += strlen(printed) + sizeof recalled;
    for (size_t i = 0; i < n; i++) {
        const tacit_release *r = tacit_plan_release(plan, i);
        bytes += strlen(r->name) + 1 + SENTENCE;
        bytes += r->reason != NULL ? strlen(r->reason) + 1 : 1;
        bytes += r->mechanism != NULL ? strlen(r->mechanism) + 1 : 1;
        bytes += REPORT_LINE;
    }
    whole *w = tacit__alloc(1, sizeof *w);
    if (w == NULL)
        return TACIT_NO_MEMORY;
    w->lines = tacit__alloc(n, sizeof *w->lines);
    w->plays = tacit__alloc(n_plays, sizeof *w->plays);
    w->memory = tacit__alloc(bytes, 1);
    if (w->lines == NULL || w->plays == NULL || w->memory == NULL) {
        tacit_explanation_destroy(&w->face);
        return TACIT_NO_MEMORY;
    }
    w->free = w->memory;
    w->end = w->memory + bytes;
    w->face.releases = w->lines;
    w->face.n_releases = n;
    w->face.plays = w->plays;
    w->face.n_plays = n_plays;
    *out = w;
    return TACIT_OK;
}

static void fill_lines(whole *w, const tacit_plan *plan)
{
    TACIT__REQUIRE(plan != NULL);
    bool gaussian = w->face.law == TACIT_LAW_GAUSSIAN;
    for (size_t i = 0; i < w->face.n_releases; i++) {
        tacit_explained_release *line = &w->lines[i];
        line->release = *tacit_plan_release(plan, i);
        const tacit_release *r = &line->release;
        line->release.name = say(w, SIZE_MAX, "%s", r->name);
        line->release.reason = say(w, SIZE_MAX, "%s", r->reason != NULL ? r->reason : "");
        line->release.mechanism = say(w, SIZE_MAX, "%s", r->mechanism != NULL ? r->mechanism : "");
        line->scale = tacit_plan_scale(plan, i);
        line->reach = gaussian ? r->l2 * r->column_l2 : r->l1 * r->column_l1;
        line->cost = line->reach / line->scale;
        line->words = release_words(w, line);
    }
}

tacit_status tacit_explanation_create(const tacit_explanation_request *request,
                                      tacit_explanation **out, tacit_error *err)
{
    if (request == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    bool promises = request->claim.model != TACIT_MODEL_NONE;
    const tacit_plan *plan = promises ? request->plan : NULL;
    const char *remark = request->remark != NULL ? request->remark : "";
    if (promises && plan == NULL)
        return tacit__fail(err, TACIT_BAD_PLAN, "a guarantee is claimed, but nothing is declared");
    tacit__printed_place printed = {.words = ""};
    if (promises && request->kind != NULL)
        printed = tacit__agent_printed_at(request->kind, request->claim.model);
    printed.recalled = printed.recalled && printed.words[0] != '\0';
    whole *w;
    tacit_status status = allocate(plan, promises ? tacit_plan_size(plan) : 0, request->agent,
                                   remark, printed.words, &w);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    tacit_explanation *e = &w->face;
    e->claim = request->claim;
    e->calibration = request->calibration;
    e->neighbors =
        neighbors(request->claim.model,
                  promises && tacit_plan_size(plan) > 0 ? tacit_plan_release(plan, 0)->visits : 1);
    e->against = observer(request->claim.model);
    e->remark = say(w, SIZE_MAX, "%s", remark);
    fill_plays(w, request->agent);
    e->composition = e->report = "";
    e->outside = request->outside == TACIT_OUTSIDE_CLIP
                     ? "a user outside the declared domain is clipped to it and counts like "
                       "everybody else, so whether a user counts does not depend on their data; "
                       "the clipped data lie in the domain, so no sensitivity changes"
                     : "";
    e->paper = say(w, SIZE_MAX, "%s%s", printed.words, printed.recalled ? recalled : "");
    e->words = request->baseline ? "learns nothing from anybody, so there is nothing to protect"
                                 : "releases exact numbers and has no guarantee";
    if (promises) {
        e->law = tacit_plan_law(plan);
        status = tacit_plan_account(plan, e->claim.delta, &e->real, err);
        if (status == TACIT_OK)
            status = tacit_plan_account_lives(plan, 2, e->claim.delta, &e->twice, err);
    }
    if (promises && status == TACIT_OK) {
        fill_lines(w, plan);
        judge(w, request->kind != NULL
                     ? tacit__agent_caveat(request->kind, e->claim.model, e->calibration)
                     : "");
        if (e->claim.model == TACIT_MODEL_LOCAL)
            e->report = report_words(w, request->report_bytes, request->beside);
        if (e->law == TACIT_LAW_GAUSSIAN && e->claim.delta > 0)
            status = draw_curve(w, plan, err);
        e->composition = composition_words(w);
    }
    if (status == TACIT_OK)
        *out = e;
    else
        tacit_explanation_destroy(e);
    return status;
}

void tacit_explanation_destroy(tacit_explanation *explanation)
{
    whole *w = (whole *)explanation;
    if (w == NULL)
        return;
    tacit__free(w->lines);
    tacit__free(w->plays);
    tacit__free(w->memory);
    tacit__free(w);
}

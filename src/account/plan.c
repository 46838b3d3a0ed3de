/* Release plans: declaration and calibration. See include/tacit/plan.h; what a plan costs is in
 * plan_cost.c.
 *
 * Budget split: the least sum of w_i s_i. Gaussian: subject to sum D_i^2 / s_i^2 = mu^2,
 * Lagrange gives w_i = 2 lambda D_i^2 / s_i^3, so s_i = c (D_i^2 / w_i)^(1/3) with
 * c = sqrt(sum D_i^2 / q_i^2) / mu, q_i = (D_i^2 / w_i)^(1/3). Laplace: subject to sum D_i / s_i = epsilon,
 * s_i = c sqrt(D_i / w_i), c = (sum D_i / q_i) / epsilon. The constraint holds with equality up to rounding;
 * scales are then widened by a few ulps so that the accountant, which rounds the other way, agrees. */
#include <tacit/plan.h>

#include <math.h>
#include <string.h>

#include "account/plan_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/response.h"

typedef struct line {
    tacit_release release;
    char *name, *reason, *mechanism; /* owned; release points at them */
    double scale;                    /* NaN until set */
} line;

struct tacit_plan {
    line *lines;
    size_t size, capacity;
    tacit_law law;
    tacit_model model;
    bool calibrated;
};

const char *tacit_calibration_name(tacit_calibration calibration)
{
    static const char *const names[] = {[TACIT_CALIBRATION_TIGHT] = "tight",
                                        [TACIT_CALIBRATION_PUBLISHED] = "published",
                                        [TACIT_CALIBRATION_FIGURE] = "figure",
                                        [TACIT_CALIBRATION_NOISE] = "published noise",
                                        [TACIT_CALIBRATION_RECALLED] = "recalled noise"};
    return (size_t)calibration < sizeof names / sizeof *names ? names[calibration] : "unknown";
}

static char *copy_text(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = tacit__alloc(size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

tacit_status tacit_plan_create(tacit_plan **out)
{
    if (out == NULL)
        return TACIT_BAD_ARGUMENT;
    tacit_plan *plan = tacit__alloc(1, sizeof *plan);
    if (plan == NULL)
        return TACIT_NO_MEMORY;
    *out = plan;
    return TACIT_OK;
}

void tacit_plan_destroy(tacit_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->size; i++) {
        tacit__free(plan->lines[i].name);
        tacit__free(plan->lines[i].reason);
        tacit__free(plan->lines[i].mechanism);
    }
    tacit__free(plan->lines);
    tacit__free(plan);
}

static bool is_norm(double x) /* finite and >= 0; 0 stands for "not known" */
{
    return isfinite(x) && x >= 0;
}

static tacit_status check_release(const tacit_plan *plan, const tacit_release *r, tacit_error *err)
{
    if (r->name == NULL || r->name[0] == '\0')
        return tacit__fail(err, TACIT_BAD_PLAN, "a release has no name");
    if (tacit_plan_index(plan, r->name) < plan->size)
        return tacit__fail(err, TACIT_BAD_PLAN, "release '%s' is declared twice", r->name);
    if (r->dimension == 0 || r->steps == 0)
        return tacit__fail(err, TACIT_BAD_COUNT,
                           "release '%s': dimension and steps must be at least 1", r->name);
    if (!is_norm(r->l1) || !is_norm(r->l2) || (r->l1 == 0 && r->l2 == 0))
        return tacit__fail(
            err, TACIT_BAD_SENSITIVITY,
            "release '%s': sensitivities l1 = %g, l2 = %g; both must be finite and not "
            "negative, and one of them greater than 0",
            r->name, r->l1, r->l2);
    if (r->l1 > 0 && r->l2 > r->l1 * (1 + 1e-9))
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "release '%s': l2 = %g exceeds l1 = %g, which is impossible", r->name,
                           r->l2, r->l1);
    if ((r->l1 > 0 && !(r->column_l1 >= 1)) || (r->l2 > 0 && !(r->column_l2 >= 1)) ||
        !isfinite(r->column_l1) || !isfinite(r->column_l2))
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "release '%s': column norms %g (l1) and %g (l2) must be at least 1",
                           r->name, r->column_l1, r->column_l2);
    if (r->answers == 1 || (double)r->answers > TACIT__MOST_ANSWERS)
        return tacit__fail(err, TACIT_BAD_COUNT,
                           "release '%s': %llu answers, expected 2 to 2^40, or 0 for numbers",
                           r->name, (unsigned long long)r->answers);
    if (plan->size > 0 && (r->answers > 0) != (plan->lines[0].release.answers > 0))
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "release '%s': numbers and answers do not go into one plan", r->name);
    if (!isfinite(r->weight) || r->weight < 0)
        return tacit__fail(err, TACIT_BAD_PLAN, "release '%s': weight %g must be finite and >= 0",
                           r->name, r->weight);
    return TACIT_OK;
}

static tacit_status grow(tacit_plan *plan)
{
    if (plan->size < plan->capacity)
        return TACIT_OK;
    size_t capacity = plan->capacity == 0 ? 4 : 2 * plan->capacity;
    line *lines = tacit__alloc(capacity, sizeof *lines);
    if (lines == NULL)
        return TACIT_NO_MEMORY;
    if (plan->size > 0)
        memcpy(lines, plan->lines, plan->size * sizeof *lines);
    tacit__free(plan->lines);
    plan->lines = lines;
    plan->capacity = capacity;
    return TACIT_OK;
}

tacit_status tacit_plan_declare(tacit_plan *plan, const tacit_release *release, tacit_error *err)
{
    if (plan == NULL || release == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (plan->calibrated || plan->law != TACIT_LAW_NONE)
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "release '%s' comes after calibration; declare everything first",
                           release->name == NULL ? "" : release->name);
    TRY(check_release(plan, release, err));
    if (grow(plan) != TACIT_OK)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    line new = {.release = *release, .scale = (double)NAN};
    new.name = copy_text(release->name);
    new.reason = copy_text(release->reason == NULL ? "" : release->reason);
    new.mechanism = copy_text(release->mechanism == NULL ? "" : release->mechanism);
    if (new.name == NULL || new.reason == NULL || new.mechanism == NULL) {
        tacit__free(new.name);
        tacit__free(new.reason);
        tacit__free(new.mechanism);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    new.release.name = new.name;
    new.release.reason = new.reason;
    new.release.mechanism = release->mechanism != NULL ? new.mechanism : NULL;
    if (release->weight == 0)
        new.release.weight = 1;
    plan->lines[plan->size++] = new;
    return TACIT_OK;
}

static tacit_status check_reach(const tacit_plan *plan, tacit_law law, tacit_error *err)
{
    for (size_t i = 0; i < plan->size; i++)
        if (!(tacit__plan_reach(&plan->lines[i].release, law) > 0))
            return tacit__fail(err, TACIT_BAD_PLAN,
                               "release '%s' has no %s sensitivity, which %s noise needs",
                               plan->lines[i].name, law == TACIT_LAW_GAUSSIAN ? "L2" : "L1",
                               law == TACIT_LAW_GAUSSIAN ? "Gaussian" : "Laplace");
    return TACIT_OK;
}

/* False if a scale leaves the doubles; the plan is then as it was. */
static bool split_budget(tacit_plan *plan, tacit_law law, double budget)
{
    double total = 0;
    for (size_t i = 0; i < plan->size; i++) {
        line *l = &plan->lines[i];
        double d = tacit__plan_reach(&l->release, law), w = l->release.weight;
        l->scale = law == TACIT_LAW_GAUSSIAN ? cbrt(d * d / w) : sqrt(d / w);
        total += law == TACIT_LAW_GAUSSIAN ? (d / l->scale) * (d / l->scale) : d / l->scale;
    }
    double factor = (law == TACIT_LAW_GAUSSIAN ? sqrt(total) : total) / budget;
    bool sound = true;
    for (size_t i = 0; i < plan->size; i++) {
        plan->lines[i].scale *= factor * (1 + 0x1p-48 * (double)(plan->size + 4));
        sound = sound && isnormal(plan->lines[i].scale);
    }
    for (size_t i = 0; i < plan->size && !sound; i++)
        plan->lines[i].scale = (double)NAN;
    return sound;
}

tacit_status tacit_plan_calibrate(tacit_plan *plan, tacit_guarantee target, tacit_error *err)
{
    if (plan == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (plan->calibrated || plan->law != TACIT_LAW_NONE)
        return tacit__fail(err, TACIT_BAD_PLAN, "the plan has its scales already");
    if (plan->size == 0)
        return tacit__fail(err, TACIT_BAD_PLAN, "the plan declares no release");
    if (target.model == TACIT_MODEL_NONE) {
        for (size_t i = 0; i < plan->size; i++)
            plan->lines[i].scale = 0;
        plan->calibrated = true;
        return TACIT_OK;
    }
    if (target.model != TACIT_MODEL_JOINT && target.model != TACIT_MODEL_LOCAL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (!(target.epsilon >= 0) || !isfinite(target.epsilon))
        return tacit__fail(err, TACIT_BAD_EPSILON, "epsilon is %g, expected a finite number >= 0",
                           target.epsilon);
    if (!(target.delta >= 0 && target.delta < 1))
        return tacit__fail(err, TACIT_BAD_DELTA, "delta is %g, expected a number in [0, 1)",
                           target.delta);
    if (target.epsilon == 0 && target.delta == 0)
        return tacit__fail(
            err, TACIT_BAD_EPSILON,
            "epsilon and delta are both 0, but no finite noise keeps that; raise one of them");
    const tacit_law law = plan->lines[0].release.answers > 0 ? TACIT_LAW_RESPONSE
                          : target.delta > 0                 ? TACIT_LAW_GAUSSIAN
                                                             : TACIT_LAW_LAPLACE;
    if (law == TACIT_LAW_RESPONSE && target.epsilon == 0)
        return tacit__fail(err, TACIT_BAD_EPSILON,
                           "epsilon is 0, which only a constant answer keeps; raise it");
    tacit_status status = check_reach(plan, law, err);
    if (status != TACIT_OK)
        return status;
    double budget = target.epsilon;
    if (law == TACIT_LAW_GAUSSIAN) {
        status = tacit_gdp_mu(target.epsilon, target.delta, &budget);
        if (status != TACIT_OK)
            return tacit__fail(err, status, "no Gaussian noise gives epsilon = %g at delta = %g",
                               target.epsilon, target.delta);
    }
    if (!split_budget(plan, law, budget))
        return tacit__fail(
            err, TACIT_BAD_PLAN,
            "sensitivities, weights and epsilon = %g ask for a noise scale outside the doubles",
            target.epsilon);
    plan->law = law;
    plan->model = target.model;
    plan->calibrated = true;
    return TACIT_OK;
}

tacit_status tacit_plan_set_scale(tacit_plan *plan, const char *name, tacit_law law, double scale,
                                  tacit_error *err)
{
    if (plan == NULL || name == NULL || law == TACIT_LAW_NONE || law > TACIT_LAW_RESPONSE)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    size_t index = tacit_plan_index(plan, name);
    if (index == plan->size)
        return tacit__fail(err, TACIT_UNDECLARED, "the plan has no release '%s'", name);
    if (plan->calibrated)
        return tacit__fail(err, TACIT_BAD_PLAN, "the plan has its scales already");
    if (plan->law != TACIT_LAW_NONE && plan->law != law)
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "release '%s': all releases of a plan share one law", name);
    if (!isfinite(scale) || scale <= 0)
        return tacit__fail(err, TACIT_BAD_SCALE,
                           "release '%s': scale %g must be finite and greater than 0", name, scale);
    TRY(check_reach(plan, law, err));
    plan->lines[index].scale = scale;
    plan->law = law;
    plan->model = TACIT_MODEL_JOINT;
    plan->calibrated = true;
    for (size_t i = 0; i < plan->size; i++)
        plan->calibrated = plan->calibrated && !isnan(plan->lines[i].scale);
    return TACIT_OK;
}

size_t tacit_plan_size(const tacit_plan *plan)
{
    return plan->size;
}

size_t tacit_plan_index(const tacit_plan *plan, const char *name)
{
    size_t i = 0;
    while (i < plan->size && strcmp(plan->lines[i].name, name) != 0)
        i++;
    return i;
}

const tacit_release *tacit_plan_release(const tacit_plan *plan, size_t index)
{
    return &plan->lines[index].release;
}

double tacit_plan_scale(const tacit_plan *plan, size_t index)
{
    return plan->lines[index].scale;
}

tacit_law tacit_plan_law(const tacit_plan *plan)
{
    return plan->law;
}

tacit_model tacit_plan_model(const tacit_plan *plan)
{
    return plan->model;
}

bool tacit__plan_is_calibrated(const tacit_plan *plan)
{
    return plan->calibrated;
}

tacit_status tacit__plan_copy(const tacit_plan *plan, tacit_plan **out)
{
    TACIT__REQUIRE(plan != NULL && out != NULL);
    tacit_plan *copy = NULL;
    tacit_status status = tacit_plan_create(&copy);
    for (size_t i = 0; i < plan->size && status == TACIT_OK; i++) {
        status = tacit_plan_declare(copy, &plan->lines[i].release, NULL);
        if (status == TACIT_OK)
            copy->lines[i].scale = plan->lines[i].scale;
    }
    if (status != TACIT_OK) {
        tacit_plan_destroy(copy);
        return status;
    }
    copy->law = plan->law;
    copy->model = plan->model;
    copy->calibrated = plan->calibrated;
    *out = copy;
    return TACIT_OK;
}

/* Learners for linear mixtures as bytes: what users send up, what the server sends down, and what is kept.
 *
 * Down goes the model behind a plan, numbers as plan/optimist.c puts them: for each regression its
 * radii, estimates and factors, and for policy optimisation the logits; 64 bits each, low byte
 * first. Whoever has the public structure of the world makes the same plan of it, bit for bit, and
 * needs nothing else to act and to report. Up go reports (curate/gram_bytes.c). A saved state says
 * which users the last plan was made of, then the model and the curator. */
#include <string.h>

#include "agents/mixture_agents.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

tacit_status tacit__mixture_report(void *self, const tacit_trajectory *user, void *bytes,
                                   size_t *size, tacit_error *err)
{
    mixture_agent *agent = self;
    tacit__lens lenses[TACIT__REGRESSIONS];
    tacit_status status = bytes != NULL ? tacit__mixture_check_planned(agent, err) : TACIT_OK;
    if (status != TACIT_OK)
        return status;
    tacit__optimist_lenses(agent->planner, lenses);
    return tacit__gram_report(agent->curator, user, lenses, bytes, size, err);
}

tacit_status tacit__mixture_absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    return tacit__gram_absorb(((mixture_agent *)self)->curator, bytes, size, err);
}

tacit_status tacit__mixture_check_report(const void *self, const void *bytes, size_t size,
                                         tacit_error *err)
{
    return tacit__gram_check_report(((const mixture_agent *)self)->curator, bytes, size, err);
}

tacit_status tacit__mixture_publish(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const mixture_agent *agent = self;
    size_t n = tacit__optimist_put(agent->planner, NULL);
    *size = 8 * n;
    if (bytes == NULL)
        return TACIT_OK;
    double *numbers = tacit__alloc(n, sizeof *numbers);
    if (numbers == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)tacit__optimist_put(agent->planner, numbers);
    tacit__writer w = {.at = bytes};
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        tacit__put_le64(&w, bits);
    }
    tacit__free(numbers);
    return TACIT_OK;
}

/* A model into the planner; the plan itself is not made. */
static tacit_status take_model(mixture_agent *agent, tacit__reader *r, bool planned,
                               tacit_error *err)
{
    size_t n = tacit__optimist_put(agent->planner, NULL);
    double *numbers = r->left / 8 >= n ? tacit__alloc(n, sizeof *numbers) : NULL;
    if (numbers == NULL)
        return r->left / 8 >= n ? tacit__fail_plain(err, TACIT_NO_MEMORY)
                                : tacit__fail(err, TACIT_OUT_OF_BOUND, "the model is cut short");
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = tacit__take_le64(r);
        memcpy(&numbers[i], &bits, sizeof bits);
    }
    bool taken = tacit__optimist_take(agent->planner, numbers, planned);
    tacit__free(numbers);
    return taken ? TACIT_OK
                 : tacit__fail(err, TACIT_OUT_OF_BOUND, "the model has numbers that cannot be");
}

tacit_status tacit__mixture_follow(void *self, const void *bytes, size_t size, tacit_error *err)
{
    mixture_agent *agent = self;
    tacit__reader r = {.at = bytes, .left = size};
    if (size != 8 * tacit__optimist_put(agent->planner, NULL))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a model has %zu bytes here, this one has %zu",
                           8 * tacit__optimist_put(agent->planner, NULL), size);
    tacit_status status = take_model(agent, &r, true, err);
    if (status != TACIT_OK)
        return status;
    tacit__mixture_show(agent);
    agent->planned_users = tacit__gram_users(agent->curator); /* own data ask for nothing */
    return TACIT_OK;
}

tacit_status tacit__mixture_save(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const mixture_agent *agent = self;
    size_t model = 0;
    tacit__writer w = {.at = bytes};
    tacit__put_le64(&w, agent->planned);
    tacit__put_le64(&w, agent->planned_users);
    tacit_status status = tacit__mixture_publish(agent, w.at, &model, err);
    if (status != TACIT_OK)
        return status;
    w.at = w.at != NULL ? w.at + model : NULL;
    w.size += model;
    status = tacit__gram_save(agent->curator, &w, err);
    if (status == TACIT_OK)
        *size = w.size;
    return status;
}

tacit_status tacit__mixture_load(void *self, const void *bytes, size_t size, tacit_error *err)
{
    mixture_agent *agent = self;
    size_t n = tacit__optimist_put(agent->planner, NULL);
    if (size < 8 * n + 16)
        return tacit__fail(err, TACIT_CORRUPT, "the saved learner is cut short");
    double *fresh = tacit__alloc(n, sizeof *fresh); /* what to go back to if the curator refuses */
    if (fresh == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)tacit__optimist_put(agent->planner, fresh);
    tacit__reader r = {.at = bytes, .left = size};
    uint64_t planned = tacit__take_le64(&r), users = tacit__take_le64(&r);
    tacit__reader curator = {.at = r.at + 8 * n, .left = r.left - 8 * n};
    tacit__reader first = curator; /* its users come first; no plan is of more */
    tacit_status status =
        planned <= 1 && users <= tacit__take_le64(&first)
            ? take_model(agent, &r, planned != 0, err)
            : tacit__fail(err, TACIT_CORRUPT, "the saved learner contradicts itself");
    if (status == TACIT_OK)
        status = tacit__gram_load(agent->curator, &curator, err);
    if (status == TACIT_OK && planned != 0) {
        tacit__mixture_show(agent);
        agent->planned_users = users;
    } else if (status != TACIT_OK) {
        TACIT__REQUIRE(tacit__optimist_take(agent->planner, fresh, false));
    }
    tacit__free(fresh);
    return status;
}

/* See include/tacit/client.h. A device has an agent of its own with the learner's request, so that its
 * noise is calibrated by the code that the promise was proved for; it learns nothing, it only reports.
 *
 * A device that has seen its data always reports: a missing report is an output, too, and the author
 * of a billboard must not be able to choose the people whose reports are missing. tacit_client_create finds
 * everything that can be wrong with a billboard, before the person has any data. After that,
 *
 *   - act and report clip data outside the billboard's domain (agents/domain.c), so no curator refuses the
 *     person, however small the server has chosen its bounds;
 *   - the action is that of the report's model, in a plan that the device makes itself; a table that differs,
 *     except for ties, is refused at creation. A caller who plays another action reports all the same: an
 *     action that the model does not have contributes the zero vector (contribute/epochs.c), and no other
 *     report depends on what the model thinks of an action;
 *   - features of numbered contexts keep their bound, which is checked when the agent is created
 *     (agents/bandit/lin_ucb_agent.c);
 *   - numbers of the model are finite (checked at creation), and contributions made from them are scaled to
 *     their bound, however large they are: sums/lattice.c measures what overflows in smaller units,
 *     contribute/gram.c clips features, targets and weights;
 *   - the mean reward for a monitor is a mean of clipped rewards, so it is within [0, 1].
 *
 * What can still fail is memory, a second report, one that the person has no visit left for, a state that
 * cannot be saved, and missing arguments: none depends on the data. */
#include <tacit/client.h>

#include <math.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "client/client_inside.h"
#include "client/device_state.h"
#include "noise/seal.h"
#include "text/json_text.h"
#include "text/text.h"

#define TOL 1e-9 /* absolute, of probabilities that were printed and read again */

/* A plan made of a model from elsewhere gives every situation an action. */
static bool is_plan(const tacit_client *c, const tacit_billboard *plan)
{
    const size_t rows = c->request.horizon * c->request.n_states, n = c->request.n_actions;
    for (size_t row = 0; row < rows && plan->mixed != NULL; row++) {
        double total = 0;
        for (size_t a = 0; a < n; a++) {
            double p = plan->mixed[row * n + a];
            total += p >= 0 ? p : (double)NAN;
        }
        if (!(fabs(total - 1) <= 1e-6)) /* rounding of a softmax, whatever its size */
            return false;
    }
    return true;
}

/* Returns whether the billboard's table says what its model says. Where the model holds two actions for
 * equally good the last bit decides, and no honest server is refused for having other last bits. */
static bool agrees(const tacit_client *c, const tacit_billboard *plan)
{
    TACIT__REQUIRE(c->table != NULL);
    const size_t rows = c->request.horizon * c->request.n_states, n = c->request.n_actions;
    const tacit__family *family = c->agent->family;
    bool same = (plan->policy != NULL) == (c->board.policy != NULL) &&
                (plan->mixed != NULL) == (c->board.mixed != NULL);
    for (size_t row = 0; same && plan->policy != NULL && row < rows; row++) {
        size_t own = row * n + plan->policy[row], posted = row * n + c->board.policy[row];
        same = own == posted ||
               (family->is_tie != NULL && family->is_tie(c->agent->self, own, posted));
    }
    for (size_t i = 0; same && plan->mixed != NULL && i < rows * n; i++)
        same = fabs(plan->mixed[i] - c->board.mixed[i]) <= TOL;
    return same;
}

/* Act and report by one thing: the model, if the kind has one. A table beside it must agree, and is
 * forgotten. */
static tacit_status follow(tacit_client *c, tacit_error *err)
{
    TACIT__REQUIRE(c->agent != NULL);
    tacit_billboard plan;
    if (c->model == NULL && c->agent->family->follow == NULL)
        return TACIT_OK;
    if (c->model == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED, "the billboard has no model to make reports by");
    TRY(tacit_agent_follow(c->agent, c->model, c->model_size, err));
    TRY(tacit_agent_billboard(c->agent, &plan, err));
    if (!is_plan(c, &plan))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the billboard's model gives no plan");
    if (c->table != NULL && !agrees(c, &plan))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "the billboard's policy is not the one of its model");
    tacit__free(c->table);
    c->table = NULL;
    return TACIT_OK;
}

static tacit_status create_agent(tacit_client *c, tacit_error *err)
{
    TACIT__REQUIRE(c->agent == NULL);
    tacit_noise *noise;
    tacit_status status = tacit_noise_create_from_os(&noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    c->request.outside = TACIT_OUTSIDE_CLIP;
    status = tacit_agent_create(&c->request, noise, &c->agent, err);
    if (status == TACIT_OK && c->facts.monitor.model == TACIT_MODEL_LOCAL)
        status = tacit__monitor_create(
            c->facts.monitor,
            &(tacit__monitored){c->request.episodes, c->request.visits, c->request.apart}, noise,
            &c->monitor, err);
    tacit_noise_destroy(noise);
    TRY(status);
    TRY(follow(c, err));
    if (c->table != NULL) { /* by which the agent goes on after an early end */
        c->agent->board = c->board;
        c->agent->planned = true;
    }
    return TACIT_OK;
}

tacit_status tacit_client_create(const char *billboard, size_t size,
                                 const tacit_client_terms *terms, tacit_client **out,
                                 tacit_error *err)
{
    if (billboard == NULL || terms == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_client *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    size_t before = tacit__alloc_allow(terms->memory > 0 ? terms->memory : TACIT_CLIENT_MEMORY);
    tacit_status status = tacit__client_read(c, billboard, size, terms, err);
    if (status == TACIT_OK)
        status = create_agent(c, err);
    if (status == TACIT_OK)
        status = tacit__client_load_state(c, terms, err);
    (void)tacit__alloc_allow(before);
    if (status != TACIT_OK) {
        tacit_client_destroy(c);
        return status;
    }
    tacit__seal_start();
    *out = c;
    return TACIT_OK;
}

void tacit_client_destroy(tacit_client *c)
{
    if (c == NULL)
        return;
    tacit_agent_destroy(c->agent);
    tacit__monitor_destroy(c->monitor);
    tacit__free(c->texts);
    tacit__free(c->table);
    tacit__free(c->model);
    tacit__free(c->last);
    tacit__world_tables_destroy(&c->known);
    tacit__free(c);
}

const tacit_client_facts *tacit_client_describe(const tacit_client *client)
{
    return &client->facts;
}

tacit_status tacit_client_act(tacit_client *c, const tacit_situation *situation, uint32_t *action,
                              double *probability, tacit_error *err)
{
    if (c == NULL || situation == NULL || action == NULL || probability == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (c->table == NULL) {
        tacit_status status =
            tacit_agent_act(c->agent, situation, tacit__random_unit(), action, probability, err);
        c->was_cut = tacit_agent_was_cut(c->agent);
        return status;
    }
    if (situation->step >= c->facts.horizon)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "step is %zu, expected less than %zu",
                           situation->step, c->facts.horizon);
    uint32_t state = situation->state;
    c->was_cut = tacit__domain_clip_index(&state, c->facts.n_states);
    tacit__billboard_act(&c->board, situation->step * c->facts.n_states + state, c->facts.n_actions,
                         c->board.policy != NULL ? 0 : tacit__random_unit(), action, probability);
    return TACIT_OK;
}

static double mean_of(const tacit_client *c, const tacit_trajectory *episode)
{
    const tacit__domain domain = tacit__domain_of(&c->request);
    return tacit__domain_mean_reward(&domain, episode);
}

static tacit_status make_report(tacit_client *c, const tacit_trajectory *episode, char **body,
                                char key[TACIT_CLIENT_KEY_SIZE], tacit_error *err)
{
    TACIT__REQUIRE(c->agent != NULL && body != NULL);
    size_t size = 0;
    TRY(tacit_agent_report(c->agent, NULL, NULL, &size, err));
    tacit_status status = TACIT_OK;
    const size_t monitor = c->monitor != NULL ? TACIT__MONITOR_REPORT : 0,
                 tail = monitor + TACIT__REPORT_NAME;
    uint8_t *bytes = tacit__alloc(size + tail, 1), name[24];
    char *text = tacit__alloc(TACIT__BASE64_SIZE(size + tail), 1);
    tacit__text out = {0};
    if (bytes == NULL || text == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    else
        status = tacit_agent_report(c->agent, episode, bytes, &size, err);
    if (status == TACIT_OK && monitor > 0)
        status = tacit__monitor_report(c->monitor, mean_of(c, episode), bytes + size, err);
    if (status == TACIT_OK) {
        tacit__random_bytes(bytes + size + monitor, TACIT__REPORT_NAME);
        tacit__base64_write(bytes, size + tail, text);
        tacit__text_put(&out, "{\"learner\":");
        tacit__text_json_string(&out, c->facts.learner, strlen(c->facts.learner));
        tacit__text_put(&out, ",\"report\":\"");
        tacit__text_put(&out, text);
        tacit__text_put(&out, "\"}");
        tacit__random_bytes(name, sizeof name);
        tacit__base64_write(name, sizeof name, key);
        if (out.failed)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    tacit__free(bytes);
    tacit__free(text);
    if (status != TACIT_OK)
        tacit__text_destroy(&out);
    else
        *body = out.data;
    return status;
}

tacit_status tacit_client_report(tacit_client *c, const tacit_trajectory *episode, char **body,
                                 char key[TACIT_CLIENT_KEY_SIZE], tacit_error *err)
{
    if (c == NULL || episode == NULL || body == NULL || key == NULL ||
        (c->facts.per_situation > 0 ? (const void *)episode->features : episode->states) == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (c->reported)
        return tacit__fail(err, TACIT_EXHAUSTED,
                           "this client has made its report; send that one again");
    if (c->facts.made >= c->facts.visits)
        return tacit__fail(err, TACIT_EXHAUSTED,
                           "this person has made all %llu reports that the guarantee is for "
                           "(visits_used)",
                           (unsigned long long)c->facts.visits);
    char *made = NULL, name[TACIT_CLIENT_KEY_SIZE];
    tacit_status status = make_report(c, episode, &made, name, err);
    if (status == TACIT_OK) /* counted, and where a crash does not reach it, before it can leave */
        status = tacit__client_save_report(c, made, name, err);
    c->reported = status == TACIT_OK;
    if (c->reported) {
        *body = made;
        memcpy(key, name, sizeof name);
    } else {
        tacit__free(made);
    }
    c->was_cut = tacit_agent_was_cut(c->agent);
    return status;
}

tacit_status tacit_client_report_again(const tacit_client *c, char **body,
                                       char key[TACIT_CLIENT_KEY_SIZE], tacit_error *err)
{
    if (c == NULL || body == NULL || key == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (c->last == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "this person has made no report yet");
    tacit__text out = {0};
    tacit__text_put(&out, c->last);
    if (out.failed)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    memcpy(key, c->last_key, sizeof c->last_key);
    *body = out.data;
    return TACIT_OK;
}

bool tacit_client_was_cut(const tacit_client *client)
{
    return client != NULL && client->was_cut;
}

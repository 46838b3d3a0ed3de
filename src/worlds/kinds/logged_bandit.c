/* logged-bandit: people of a CSV file, each once, in an order of their own in every run.
 *
 * With a label, actions are its classes and the right one earns 1; since every action's reward is known,
 * regret is exact: the number of wrong answers. With a logged action, its propensity and its reward, only
 * that action's reward is known; the lab replays and divides by propensities (lab/runs/play_rounds.c).
 * Learners see no more than in any bandit: the context, and the reward of the action that was taken. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "worlds/kind.h"
#include "worlds/people.h"

static const tacit_parameter parameters[] = {
    {"file", TACIT_PARAMETER_FILE, NULL, 0, 0, "a CSV file with a header, one person in a line"},
    {"context", TACIT_PARAMETER_TEXT, NULL, 0, 0,
     "columns: 'age 17..90, sex {Male | Female}'; what is not declared is looked up, "
     "which is not private"},
    {"answer", TACIT_PARAMETER_TEXT, "", 0, 0,
     "the column with the right answer: 'income {<=50K | >50K}'"},
    {"action", TACIT_PARAMETER_TEXT, "", 0, 0,
     "instead of an answer: the column with the logged action: 'dose {low | high}'"},
    {"propensity", TACIT_PARAMETER_TEXT, "", 0, 0,
     "the probability of that action: a column, or a number"},
    {"reward", TACIT_PARAMETER_TEXT, "", 0, 0, "the column with its reward: 'outcome 0..1'"},
    {"missing", TACIT_PARAMETER_TEXT, "?", 0, 0,
     "the text of a missing value; an empty field is always missing"},
    {"order", TACIT_PARAMETER_TEXT, "random", 0, 0,
     "of the people: random (another in each run), or file"},
    {"intercept", TACIT_PARAMETER_FLAG, "yes", 0, 0, "a feature that is always 1"},
    {"obtain", TACIT_PARAMETER_TEXT, "", 0, 0,
     "where the file comes from, shown when it is missing"},
    {"unit", TACIT_PARAMETER_FLAG, "yes", 0, 0,
     "scale each person's features to length 1; no: all people's by one factor"},
};

static void destroy(void *self)
{
    tacit__people_destroy(self);
}

static void begin(const void *self, uint64_t number, const uint64_t *words, double *features,
                  double *means, tacit_visitor *out)
{
    const tacit__people *p = self;
    (void)words, (void)features;
    out->features = p->features + number * p->dimension;
    if (p->reward != NULL) {
        out->logged_action = p->answer[number];
        out->propensity = p->propensity[number];
        means[0] = p->reward[number]; /* kept for `reward` only */
        return;
    }
    for (size_t a = 0; a < p->n_actions; a++)
        means[a] = a == p->answer[number];
    out->means = means;
}

static double reward(const void *self, const tacit_visitor *visitor, uint32_t action, uint64_t word)
{
    const tacit__people *p = self;
    (void)word;
    if (p->reward == NULL)
        return visitor->means[action];
    size_t person = (size_t)(visitor->features - p->features) / p->dimension;
    return p->reward[person];
}

static tacit_status check(const tacit__values *v, tacit_error *err)
{
    static const char *const orders[] = {"random", "file", NULL};
    bool label = tacit__value_of(v, "answer")->text[0] != '\0',
         action = tacit__value_of(v, "action")->text[0] != '\0',
         propensity = tacit__value_of(v, "propensity")->text[0] != '\0',
         earned = tacit__value_of(v, "reward")->text[0] != '\0';
    if (label ? action || propensity || earned : !(action && propensity && earned))
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, v->origin.file, (size_t)v->origin.line,
                              "logged-bandit needs either an answer, or action, propensity and "
                              "reward");
    return tacit__value_choose(v, "order", orders, err) < 0 ? TACIT_BAD_ARGUMENT : TACIT_OK;
}

static tacit__declaration declare(const tacit__values *v, const char *name)
{
    const tacit__value *value = tacit__value_of(v, name);
    return (tacit__declaration){v->origin.file, name, value->text, (size_t)value->line};
}

static tacit_status read(const tacit__values *v, tacit__people **out, tacit_error *err)
{
    tacit__text_file file;
    tacit_status status = tacit__text_file_obtain(v, "file", &file, err);
    if (status == TACIT_OK) {
        const tacit__people_source source = {.text = {file.text, file.size},
                                             .name = file.path,
                                             .missing = tacit__value_of(v, "missing")->text,
                                             .intercept = tacit__value_of(v, "intercept")->flag,
                                             .unit = tacit__value_of(v, "unit")->flag,
                                             .context = declare(v, "context"),
                                             .label = declare(v, "answer"),
                                             .action = declare(v, "action"),
                                             .propensity = declare(v, "propensity"),
                                             .reward = declare(v, "reward")};
        status = tacit__people_read(&source, out, err);
    }
    tacit__text_file_close(&file);
    return status;
}

static tacit_status create(const tacit__values *v, tacit__model *out, tacit_error *err)
{
    TRY(check(v, err));
    tacit__people *p = NULL;
    tacit__bandit *b = tacit__alloc(1, sizeof *b);
    tacit_status status = b != NULL ? read(v, &p, err) : tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status != TACIT_OK) {
        tacit__free(b);
        return status;
    }
    bool labeled = p->reward == NULL;
    *b = (tacit__bandit){.face = {.dimension = p->dimension,
                                  .bound = 1,
                                  .disjoint = true,
                                  .complementary = labeled && p->n_actions == 2},
                         .n_actions = p->n_actions,
                         .people = p->n,
                         .shuffled = tacit__value_of(v, "order")->text[0] == 'r',
                         .labeled = labeled,
                         .reward_low = p->reward_low,
                         .reward_high = p->reward_high,
                         .optimal = labeled ? 1 : (double)NAN,
                         .begin = begin,
                         .reward = reward,
                         .destroy = destroy,
                         .self = p};
    size_t used = 0;
    if (p->scanned[0] != '\0')
        used =
            (size_t)snprintf(b->remark, sizeof b->remark,
                             "NOT PRIVATE: ranges or categories of %s were looked up in the data "
                             "itself; declare them",
                             p->scanned);
    if (p->skipped > 0 && used < sizeof b->remark)
        (void)snprintf(b->remark + used, sizeof b->remark - used,
                       "%s%zu people without an answer, or with another, were left out",
                       used > 0 ? "; " : "", p->skipped);
    out->bandit = b;
    return TACIT_OK;
}

const tacit__kind tacit__kind_logged_bandit = {
    .face = {"logged-bandit",
             "people of a CSV file: right answers to guess, or logged actions to replay",
             "a data set of yours; replay after Li, Chu, Langford and Wang 2011", parameters,
             TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_BANDIT,
    .create = create,
};

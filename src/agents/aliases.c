/* Names that stand for other kinds: `auto`, the learner that fits, and `explore-commit`, the
 * baseline that fits.
 *
 * What a name stands for follows from the request: from the structure that it declares and from the
 * guarantee that it asks for. It is decided here, once, before anything else looks at the kind; so
 * fingerprints, saved states, billboards and explanations know the chosen kind only. A preference
 * for a kind that is not built in is passed over.
 *
 * The orders are described in docs/reference/experiment.md, and judged in docs/why/defaults.md. */
#include "agents/aliases.h"

#include <string.h>

#include "base/error.h"
#include "text/settings.h"

/* The structure that a request declares; the first that fits is the one that counts. */
typedef enum structure {
    MIXTURE,        /* known probability kernels in an unknown mixture */
    OTHER_MIXTURE,  /* known parts that are no kernels, and known rewards */
    SMOOTH_BANDIT,  /* one step, and a kernel in which the mean reward is smooth, see is_smooth */
    LINEAR_BANDIT,  /* one step with features */
    LINEAR,         /* several steps, and features of numbered states */
    LINEAR_BROUGHT, /* several steps, and features that users bring */
    ARMS,           /* one step and a single state, see is_bare */
    TABLE
} structure;

enum { MAX_CANDIDATES = 3 };
enum { FEW_CONTEXTS = 100 }; /* measured: docs/why/bandits.md#linear-kernels */
#define NOISY_EPSILON 1      /* measured: docs/why/posterior-bandit.md#what-it-is-worth */

static const struct {
    const char *alias;
    structure structure;
    const char *kinds[MAX_CANDIDATES + 1]; /* the first that exists and has the model is taken */
} preferences[] = {
    {"auto", MIXTURE, {"posterior-mixture"}},
    {"auto", OTHER_MIXTURE, {"ucrl-vtr"}},
    {"auto", SMOOTH_BANDIT, {"posterior-kernel", "capri"}},
    {"auto", LINEAR_BANDIT, {"lin-ucb"}},
    {"auto", LINEAR, {"posterior-linear", "lsvi-ucb"}},
    {"auto", LINEAR_BROUGHT, {"lsvi-ucb"}},
    {"auto", ARMS, {"posterior-bandit"}},
    {"auto", TABLE, {"posterior-tabular"}},
    {"explore-commit", MIXTURE, {"explore-commit-mixture"}},
    {"explore-commit", SMOOTH_BANDIT, {"explore-commit-kernel"}},
    {"explore-commit", LINEAR_BANDIT, {"explore-commit-features"}},
    {"explore-commit", LINEAR, {"explore-commit-linear"}},
    {"explore-commit", TABLE, {"explore-commit-tabular"}},
};

static const tacit_agent_kind aliases[] = {
    {"auto", "the learner that fits the declared structure and guarantee; it says which", "a name",
     TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |
         TACIT_AGENT_LOCAL,
     NULL, 0},
    {"explore-commit",
     "the explore-commit-... that fits the declared structure: a baseline for learners", "a name",
     TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |
         TACIT_AGENT_LOCAL,
     NULL, 0},
};
enum { N_ALIASES = sizeof aliases / sizeof *aliases };

size_t tacit_agent_alias_count(void)
{
    return N_ALIASES;
}

const tacit_agent_kind *tacit_agent_alias_at(size_t i)
{
    return i < N_ALIASES ? &aliases[i] : NULL;
}

const tacit_agent_kind *tacit_agent_alias_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < N_ALIASES; i++)
        if (strcmp(aliases[i].name, name) == 0)
            return &aliases[i];
    return NULL;
}

unsigned tacit__agent_model_bit(tacit_guarantee g)
{
    if (g.model == TACIT_MODEL_NONE)
        return TACIT_AGENT_NONE;
    if (g.model == TACIT_MODEL_JOINT)
        return g.delta > 0 ? TACIT_AGENT_JOINT : TACIT_AGENT_JOINT_PURE;
    return g.delta > 0 ? TACIT_AGENT_LOCAL : TACIT_AGENT_LOCAL_PURE;
}

const char *tacit__agent_model_name(unsigned bit)
{
    TACIT__REQUIRE(bit != 0);
    switch (bit) {
    case TACIT_AGENT_NONE:
        return "none";
    case TACIT_AGENT_JOINT_PURE:
        return "joint with delta 0";
    case TACIT_AGENT_JOINT:
        return "joint with delta > 0";
    case TACIT_AGENT_LOCAL_PURE:
        return "local with delta 0";
    default:
        return "local with delta > 0";
    }
}

/* "linear" says no more than features do. But learners of kernels release no Gram matrix, and so have less
 * noise, where few contexts come as often as is declared. */
static bool is_smooth(const tacit_agent_request *r)
{
    const tacit_bandit *b = r->bandit;
    return b->kernel != NULL && (strcmp(b->kernel, "linear") != 0 ||
                                 (r->guarantee.model != TACIT_MODEL_NONE && b->points != NULL &&
                                  b->weights != NULL && r->n_states <= FEW_CONTEXTS));
}

/* Rewards alone have less Laplace noise than visits and rewards together. With Gaussian noise, with little
 * noise, or without any, tables are as good. */
static bool is_bare(const tacit_agent_request *r)
{
    return r->n_states == 1 && r->horizon == 1 &&
           tacit__agent_model_bit(r->guarantee) == TACIT_AGENT_JOINT_PURE &&
           r->guarantee.epsilon <= NOISY_EPSILON;
}

static structure structure_of(const tacit_agent_request *r)
{
    if (r->bandit != NULL)
        return is_smooth(r) ? SMOOTH_BANDIT : LINEAR_BANDIT;
    if (r->mixture != NULL && r->mixture->kernels && r->horizon > 1)
        return MIXTURE;
    if (r->mixture != NULL && r->rewards != NULL && r->horizon > 1)
        return OTHER_MIXTURE;
    if (r->linear != NULL)
        return r->linear->row != NULL ? LINEAR : LINEAR_BROUGHT;
    return is_bare(r) ? ARMS : TABLE;
}

/* Returns whether an alias may choose this kind. lsvi-ucb with delta 0 is left out: it has not been
 * judged. */
static bool admits(const tacit_agent_kind *kind, unsigned model)
{
    return (kind->models & model) != 0 &&
           !(model == TACIT_AGENT_JOINT_PURE && strcmp(kind->name, "lsvi-ucb") == 0);
}

/* The first candidate that exists and has the model, or NULL. */
static const char *prefer(const char *alias, structure what, unsigned model)
{
    for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++)
        for (const char *const *name = preferences[i].kinds;
             strcmp(preferences[i].alias, alias) == 0 && preferences[i].structure == what &&
             *name != NULL;
             name++) {
            const tacit_agent_kind *kind = tacit_agent_kind_find(*name);
            if (kind != NULL && admits(kind, model))
                return *name;
        }
    return NULL;
}

/* The parameters of `auto` are those of no learner in particular. All kinds of explore-commit are one
 * algorithm, whose parameters it passes on. */
static tacit_status check_settings(const tacit_agent_request *r, const char *chosen,
                                   tacit_error *err)
{
    if (r->n_settings == 0 || strcmp(r->kind, "auto") != 0)
        return TACIT_OK;
    const tacit_setting *first = &r->settings[0];
    return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file,
                          (size_t)(first->line > 0 ? first->line : r->line),
                          "auto has no parameters, so it takes no '%.40s'; it would choose %s "
                          "here: write kind: %s to set its parameters",
                          first->key, chosen, chosen);
}

/* Names the nearest model that has a learner: of the same trust with delta > 0, or joint. */
static tacit_status fail_choice(const tacit_agent_request *r, unsigned model, tacit_error *err)
{
    const unsigned near[] = {
        model == TACIT_AGENT_LOCAL_PURE ? TACIT_AGENT_LOCAL : TACIT_AGENT_JOINT, TACIT_AGENT_JOINT};
    for (size_t i = 0; i < 2; i++) {
        const char *chosen = prefer(r->kind, structure_of(r), near[i]);
        if (chosen != NULL)
            return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
                                  "%s finds no learner for this space with model '%s'; with "
                                  "'%s' it takes %s",
                                  r->kind, tacit__agent_model_name(model),
                                  tacit__agent_model_name(near[i]), chosen);
    }
    return tacit__fail_at(
        err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
        "%s finds no learner for this space with model '%s'; `tacit agents` lists the learners",
        r->kind, tacit__agent_model_name(model));
}

tacit_status tacit_agent_choose(const tacit_agent_request *r, const char **kind, tacit_error *err)
{
    if (r == NULL || r->kind == NULL || kind == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (tacit_agent_alias_find(r->kind) == NULL) {
        *kind = r->kind;
        return TACIT_OK;
    }
    const unsigned model = tacit__agent_model_bit(r->guarantee);
    const char *chosen = prefer(r->kind, structure_of(r), model);
    if (chosen == NULL &&
        r->n_states > 0) /* numbered states can be counted, whatever else is known */
        chosen = prefer(r->kind, TABLE, model);
    if (chosen == NULL)
        return fail_choice(r, model, err);
    tacit_status status = check_settings(r, chosen, err);
    if (status == TACIT_OK)
        *kind = chosen;
    return status;
}

/* Reference worlds: tables of a given number of states, actions and steps that forecasts are played on.
 * Each family has one thing that makes tables hard to learn; which action does what is drawn for each
 * state from the seed, so that no constant action is good.
 *
 *   contexts   actions pay, with means between 0 and 1, and lead nowhere: the next state follows one law,
 *              whatever is done
 *   faint      the same, with means between 0.4 and 0.6
 *   sparse     actions pay, with means between 0 and 1, and lead to two states
 *   dense      the same, to all states, by laws that are uniform on the simplex
 *   chain      a river as RiverSwim's, as long as can be swum in the horizon: one action of each state swims
 *              up, the others drift down; the lower end pays 0.05, the upper 1
 *   code       one action of each state leads on, every other one astray: to the states that the code does not
 *              need, and from one of these to the next, or to the start if there are none. Finding the end
 *              pays 1 for the rest of the episode. Random actions find it about once in 500 attempts, or,
 *              where there is no room for that, more often
 *   trap       one action of each state is safe and pays 0.3; the others pay 0.5 and lead with probability
 *              0.3 into a state that pays nothing for ever
 *
 * These are probabilities of a reward of 1, times twice the parameter `rewards`, which is 0.5 unless rewards
 * are rare. Rare rewards are harder to learn from than small ones that are sure.
 *
 * States that a chain does not need lead to its start. Where there is no room for a family (one
 * state, one action, one step), the world is one of contexts. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "worlds/dice.h"
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"family", TACIT_PARAMETER_TEXT, "contexts", 0, 0,
     "what makes it hard: contexts, faint, sparse, dense, chain, code or trap"},
    {"states", TACIT_PARAMETER_INTEGER, "10", 1, 1000000, "number of states"},
    {"actions", TACIT_PARAMETER_INTEGER, "4", 1, 10000, "number of actions"},
    TACIT__HORIZON_PARAMETER("10"),
    {"stationary", TACIT_PARAMETER_FLAG, "yes", 0, 0,
     "one model for all steps; no: right actions are drawn for each step"},
    {"rewards", TACIT_PARAMETER_REAL, "0.5", 1e-6, 0.5,
     "the probability of a reward where actions pay, in the mean; smaller: rare rewards"},
    TACIT__SEED_PARAMETER("of the right actions; all runs play in the same world"),
};

typedef enum family { CONTEXTS, FAINT, SPARSE, DENSE, CHAIN, CODE, TRAP } family;
static const char *const names[] = {"contexts", "faint", "sparse", "dense",
                                    "chain",    "code",  "trap",   NULL};

typedef struct maker {
    tacit__dice dice;
    family family;
    size_t n_states, n_actions, length;
    double scale; /* of rewards */
    double *law; /* [n_states], of next states: of contexts for ever, of dense tables in this row */
    uint32_t right; /* the right action of the present state */
} maker;

/* A river can be swum in about three steps a state; a code of length n is found once in A^n attempts. */
static size_t length_of(family what, size_t states, size_t actions, size_t horizon)
{
    double n = (double)states;
    if (what == CHAIN)
        n = fmin(n, fmax(2, ceil((double)horizon / 3)));
    if (what == CODE)
        n = fmin(fmin(n, (double)horizon + 1),
                 fmax(2, 1 + floor(log(500) / log(fmax(2, (double)actions)))));
    return (size_t)fmax(n, 1);
}

static uint32_t draw_state(maker *m, size_t from, size_t to)
{
    return (uint32_t)(from + (size_t)(tacit__dice_uniform(&m->dice) * (double)(to - from)));
}

/* Writes one outcome for each state that the law gives a chance. */
static size_t write_law(const maker *m, double mean, tacit_outcome *out)
{
    size_t n = 0;
    for (uint32_t next = 0; next < m->n_states; next++)
        if (m->law[next] > 0)
            out[n++] = (tacit_outcome){next, m->law[next], mean};
    return n;
}

static size_t write_paying(maker *m, tacit_outcome *out)
{
    const double u = tacit__dice_uniform(&m->dice), mean = m->family == FAINT ? 0.4 + 0.2 * u : u;
    if (m->family == SPARSE) {
        const double first = tacit__dice_uniform(&m->dice);
        out[0] = (tacit_outcome){draw_state(m, 0, m->n_states), first, mean};
        out[1] = (tacit_outcome){draw_state(m, 0, m->n_states), 1 - first, mean};
        return 2;
    }
    if (m->family == DENSE)
        tacit__dice_simplex(&m->dice, 1, m->n_states, m->law);
    return write_law(m, mean, out);
}

static size_t write_chain(const maker *m, uint32_t s, bool right, tacit_outcome *out)
{
    const uint32_t end = (uint32_t)m->length - 1;
    const double reward = right && s == end ? 1 : !right && s == 0 ? 0.05 : 0;
    if (!right || s > end) {
        out[0] = (tacit_outcome){s == 0 || s > end ? 0 : s - 1, 1, s > end ? 0 : reward};
        return 1;
    }
    out[0] = (tacit_outcome){s < end ? s + 1 : s, 0.4, reward};
    out[1] = (tacit_outcome){s, 0.55, reward};
    out[2] = (tacit_outcome){s > 0 ? s - 1 : 0, 0.05, reward};
    return 3;
}

static size_t write_code(maker *m, uint32_t s, bool right, tacit_outcome *out)
{
    const uint32_t end = (uint32_t)m->length - 1;
    const uint32_t astray = m->length < m->n_states ? draw_state(m, m->length, m->n_states) : 0;
    if (s == end) /* found: it pays until the end of the episode */
        out[0] = (tacit_outcome){s, 1, 1};
    else
        out[0] =
            (tacit_outcome){right && s < end ? s + 1 : astray, 1, right && s + 1 == end ? 1 : 0};
    return 1;
}

/* The last state is the trap. */
static size_t write_trap(maker *m, uint32_t s, bool right, tacit_outcome *out)
{
    const size_t live = m->n_states - 1;
    const uint32_t trap = (uint32_t)live;
    if (s == trap) {
        out[0] = (tacit_outcome){trap, 1, 0};
        return 1;
    }
    const uint32_t one = draw_state(m, 0, live), other = draw_state(m, 0, live);
    const double stay = right ? 1 : 0.7, reward = right ? 0.3 : 0.5;
    out[0] = (tacit_outcome){one, 0.5 * stay, reward};
    out[1] = (tacit_outcome){other, 0.5 * stay, reward};
    out[2] = (tacit_outcome){trap, 0.3, reward};
    return right ? 2 : 3;
}

static size_t write_row(maker *m, uint32_t s, uint32_t action, tacit_outcome *out)
{
    if (m->family <= DENSE)
        return write_paying(m, out);
    if (action == 0)
        m->right = (uint32_t)(tacit__dice_uniform(&m->dice) * (double)m->n_actions);
    const bool right = action == m->right;
    return m->family == CHAIN  ? write_chain(m, s, right, out)
           : m->family == CODE ? write_code(m, s, right, out)
                               : write_trap(m, s, right, out);
}

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    maker *m = context;
    (void)layer; /* rows come in order */
    tacit__dice_next(&m->dice);
    const size_t n = write_row(m, s, action, out);
    for (size_t i = 0; i < n; i++)
        out[i].reward *= m->scale;
    return tacit__flip_rewards(out, n);
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    const int wanted = tacit__value_choose(values, "family", names, err);
    if (wanted < 0)
        return TACIT_BAD_ARGUMENT;
    const size_t S = (size_t)tacit__value_of(values, "states")->integer,
                 A = (size_t)tacit__value_of(values, "actions")->integer,
                 H = (size_t)tacit__value_of(values, "horizon")->integer;
    maker m = {.family = CONTEXTS,
               .n_states = S,
               .n_actions = A,
               .scale = 2 * tacit__value_real(values, "rewards")};
    const int last = S > 1 && A > 1 && H > 1 ? TRAP : FAINT;
    if (wanted <= last)
        m.family = (family)wanted;
    const bool wide = m.family <= FAINT || m.family == DENSE;
    m.length = length_of(m.family, S, A, H);
    tacit__mdp_spec spec = {.n_states = S,
                            .n_actions = A,
                            .horizon = H,
                            .stationary = tacit__value_of(values, "stationary")->flag,
                            .reward_high = 1,
                            .row_max = wide ? 2 * S : 6,
                            .row = row,
                            .context = &m};
    tacit_error inner = {.message = ""};
    tacit_status status = tacit__mdp_check_size(&spec, 1, &inner);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, values->origin.file, (size_t)values->origin.line,
                              "%s; fewer states, actions or steps would do", inner.message);
    double *law = tacit__alloc(S, sizeof *law);
    tacit_outcome *initial = tacit__alloc(S, sizeof *initial);
    status = law != NULL && initial != NULL
                 ? tacit__dice_open(&m.dice, (uint64_t)tacit__value_of(values, "seed")->integer,
                                    tacit__value_of(values, "family")->text)
                 : TACIT_NO_MEMORY;
    if (status == TACIT_OK) {
        tacit__dice_next(&m.dice);
        tacit__dice_simplex(&m.dice, 1, S, law);
        m.law = law;
        for (uint32_t s = 0; s < S && m.family <= FAINT; s++)
            if (law[s] > 0)
                initial[spec.n_initial++] = (tacit_outcome){.next = s, .prob = law[s]};
        spec.initial = spec.n_initial > 0 ? initial : NULL;
        status = tacit__mdp_create(&spec, &out->mdp, err);
    } else {
        (void)tacit__fail_plain(err, status);
    }
    tacit__free(law);
    tacit__free(initial);
    return status;
}

const tacit__kind tacit__kind_reference = {
    .face = {"reference", "a table of a given size that is hard in one way; forecasts play on them",
             "ours: docs/why/forecast.md", parameters, TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};

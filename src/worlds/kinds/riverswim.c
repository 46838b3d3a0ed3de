/* RiverSwim: the large reward is at the end of the river, against the current [SL08; the variant of ORV13,
 * with rewards 5/1000 and 1].
 *
 * States 0 .. n-1 from left to right, start at 0. Left always moves one to the left. Right: at the left
 * end it advances with 0.6 and stays with 0.4; inside it advances with 0.35, stays with 0.6, slips left
 * with 0.05; at the right end it stays with 0.6 and slips left with 0.4. Left at the left end pays 0.005,
 * right at the right end 1. Action 0 is left and 1 is right, the other way round when mirrored. */
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"states", TACIT_PARAMETER_INTEGER, "6", 2, 1000000, "length of the river"},
    TACIT__HORIZON_PARAMETER("20"),
    {"mirror", TACIT_PARAMETER_FLAG, "no", 0, 0, "swap the two actions"},
};

typedef struct river {
    uint32_t right_end;
    bool mirror;
} river;

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    const river *r = context;
    bool right = (action == 1) != r->mirror;
    (void)layer;
    if (!right) {
        out[0] = (tacit_outcome){s == 0 ? 0 : s - 1, 1, s == 0 ? 5.0 / 1000 : 0};
        return 1;
    }
    if (s == 0) {
        out[0] = (tacit_outcome){0, 0.4, 0};
        out[1] = (tacit_outcome){1, 0.6, 0};
        return 2;
    }
    if (s == r->right_end) {
        out[0] = (tacit_outcome){s - 1, 0.4, 1};
        out[1] = (tacit_outcome){s, 0.6, 1};
        return 2;
    }
    out[0] = (tacit_outcome){s - 1, 0.05, 0};
    out[1] = (tacit_outcome){s, 0.6, 0};
    out[2] = (tacit_outcome){s + 1, 0.35, 0};
    return 3;
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    river r = {(uint32_t)tacit__value_of(values, "states")->integer - 1,
               tacit__value_of(values, "mirror")->flag};
    const tacit__mdp_spec spec = {.n_states = (size_t)tacit__value_of(values, "states")->integer,
                                  .n_actions = 2,
                                  .horizon = (size_t)tacit__value_of(values, "horizon")->integer,
                                  .stationary = true,
                                  .reward_high = 1,
                                  .row_max = 3,
                                  .row = row,
                                  .context = &r};
    return tacit__mdp_create(&spec, &out->mdp, err);
}

const tacit__kind tacit__kind_riverswim = {
    .face = {.name = "riverswim",
             .help =
                 "a river to swim up: small pay at once on the left, large pay far to the right",
             .source = "Strehl and Littman 2008; probabilities and rewards as in Osband, Russo and "
                       "Van Roy 2013",
             .parameters = parameters,
             .n_parameters = TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};

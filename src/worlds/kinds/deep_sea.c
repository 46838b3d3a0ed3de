/* Deep sea: a treasure that only n right moves in a row reach [OVRW19].
 *
 * The diver starts at the surface and sinks one row a step, to the left or to the right; cell (row, column),
 * column <= row, is state row (row + 1) / 2 + column, and an episode has n steps. Each move right costs
 * 0.01 / n, and right in the bottom right corner finds 1. So rewards lie between low = -0.01/n and
 * high = 1 - 0.01/n, one apart: mapped into [0, 1], left pays 0.01/n, right nothing, the treasure 1. The best
 * policy is worth 0.99 in original units and 1 in mapped ones. After the last row comes the surface
 * again, which no episode sees.
 *
 * With `shuffle` a coin for each cell decides which action is right. */
#include "base/error.h"
#include "base/memory.h"
#include "noise/stream.h"
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"size", TACIT_PARAMETER_INTEGER, "10", 2, 1000, "rows, and steps in an episode"},
    {"shuffle", TACIT_PARAMETER_FLAG, "no", 0, 0,
     "a coin for each cell decides which action is right"},
    TACIT__SEED_PARAMETER("of the coins of shuffle"),
};

#define MOVE_COST 0.01 /* of n moves right together [bsuite] */

typedef struct waters {
    uint32_t size;
    uint32_t depth, column; /* of the state at hand: rows come in order */
    double cost;
    const uint64_t *coins; /* NULL: action 1 is right everywhere */
} waters;

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    waters *sea = context;
    (void)layer;
    bool right = (action == 1) != (sea->coins != NULL && (sea->coins[s] & 1) != 0);
    bool last = sea->depth == sea->size - 1, corner = sea->column == sea->size - 1;
    uint32_t below = s + sea->depth + 1; /* same column, next row */
    uint32_t next = right ? below + 1 : below - (sea->column > 0);
    out[0] = (tacit_outcome){last ? 0 : next, 1, right ? (corner ? 1.0 : 0.0) - sea->cost : 0};
    if (action == 1 && sea->column++ == sea->depth) {
        sea->column = 0;
        sea->depth++;
    }
    return 1;
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    if (tacit__value_of(values, "seed")->given && !tacit__value_of(values, "shuffle")->flag)
        return tacit__value_fail(
            values, "seed", err, TACIT_BAD_ARGUMENT,
            "seed has no effect without 'shuffle: yes'; add that or leave it out");
    size_t n = (size_t)tacit__value_of(values, "size")->integer, n_states = n * (n + 1) / 2;
    waters sea = {.size = (uint32_t)n, .cost = MOVE_COST / (double)n};
    uint64_t *coins = NULL;
    if (tacit__value_of(values, "shuffle")->flag) {
        tacit_noise *noise;
        tacit__site site;
        coins = tacit__alloc(n_states, sizeof *coins);
        tacit_status status = coins != NULL
                                  ? tacit_noise_create_simulated(
                                        (uint64_t)tacit__value_of(values, "seed")->integer, &noise)
                                  : TACIT_NO_MEMORY;
        if (status != TACIT_OK) {
            tacit__free(coins);
            return tacit__fail_plain(err, status);
        }
        tacit__site_open(&site, noise, "deep sea");
        tacit__site_words(&site, 0, 0, n_states, coins);
        tacit_noise_destroy(noise);
        sea.coins = coins;
    }
    const tacit__mdp_spec spec = {.n_states = n_states,
                                  .n_actions = 2,
                                  .horizon = n,
                                  .stationary = true,
                                  .reward_low = -sea.cost,
                                  .reward_high = 1 - sea.cost,
                                  .row_max = 1,
                                  .row = row,
                                  .context = &sea};
    tacit_status status = tacit__mdp_create(&spec, &out->mdp, err);
    tacit__free(coins);
    return status;
}

const tacit__kind tacit__kind_deep_sea = {
    .face = {.name = "deep-sea",
             .help =
                 "a treasure that only n right moves in a row reach, each of which costs a little",
             .source = "Osband, Van Roy, Russo and Wen 2019; bsuite",
             .parameters = parameters,
             .n_parameters = TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};

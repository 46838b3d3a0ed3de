/* The parser of releases on the command line: any text gives a cost that the accountant takes, or one
 * sentence that says why not. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/release.h"
#include "fuzz/fuzz.h"

static void check_cost(const tacit_cost *cost)
{
    require(cost->count >= 1 && cost->count <= CLI_MAX_COUNT);
    switch (cost->kind) {
    case TACIT_COST_GAUSSIAN:
    case TACIT_COST_LAPLACE:
        require(cost->sensitivity > 0 && isfinite(cost->sensitivity));
        require(cost->scale > 0 && isfinite(cost->scale));
        break;
    case TACIT_COST_BLACK_BOX:
        require(cost->epsilon >= 0 && isfinite(cost->epsilon));
        require(cost->delta >= 0 && cost->delta < 1);
        break;
    case TACIT_COST_ZCDP:
        require(cost->rho > 0 && isfinite(cost->rho));
        break;
    default:
        abort();
    }
    /* Only Gaussians are composed: the other methods are slow, and have tests of their own. */
    tacit_composition composition;
    if (cost->kind == TACIT_COST_GAUSSIAN) {
        require(tacit_compose_at_epsilon(cost, 1, 1, &composition, NULL) == TACIT_OK);
        require(composition.delta.high >= 0 && composition.delta.high <= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char message[600] = "";
    tacit_cost cost, untouched;
    memset(&cost, 0x5a, sizeof cost);
    untouched = cost;
    if (cli_release_parse(text, &cost, message, sizeof message) == 0) {
        require(message[0] == '\0');
        check_cost(&cost);
    } else {
        require(memcmp(&cost, &untouched, sizeof cost) == 0);
        require(strncmp(message, "release '", 9) == 0 && strlen(message) < sizeof message - 1);
    }
    free(text);
    return 0;
}

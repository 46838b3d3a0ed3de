/* See printed_at.h. Formulas as they are printed; what they give is the accountant's business, and docs/why/papers.md. */
#include "agents/printed_at.h"

#include <stddef.h>
#include <string.h>

typedef enum source { READ, RECALLED } source;

typedef struct place {
    const char *kind;
    source source;
    const char *joint, *local;
} place;

static const place places[] = {
    {"dp-ucbvi", READ,
     "[QW23, section 5.1, Lemma 5.1]: binary mechanism, Laplace 3 H log(K) / epsilon on every node",
     "[QW23, section 5.2]: Laplace 3 H / epsilon on every number of a report"},
    {"private-ucb-vi", RECALLED, "[CZ22]: Laplace 3 H log(K) / epsilon on every node, as [QW23]",
     "[CZ22]: Laplace 3 H / epsilon on every number of a report, as [QW23]"},
    {"private-ucb-po", RECALLED, "[CZ22]: Laplace 3 H log(K) / epsilon on every node, as [QW23]",
     "[CZ22]: Laplace 3 H / epsilon on every number of a report, as [QW23]"},
    {"pucb", RECALLED, "[VBKW20]: binary mechanism, Laplace 3 H log(K) / epsilon on every node",
     ""},
    {"ldp-obi", RECALLED, "", "[GPPP21]: Laplace 6 H / epsilon on every number of a report"},
    {"ucrl-vtr", READ,
     "[LGLP21, Cor. 5]: (32 H^2 / epsilon) sqrt(2 H K0 log(8H/delta) log(4/delta) "
     "log(16 H K0/delta)) on every node, K0 = ceil(log2(K) + 1)",
     "[LGLP21, Cor. 6]: (4 H^3 / epsilon) sqrt(2 log(4H/delta))"},
    {"ucrl-vtr-plus", READ,
     "[LGLP21, Cor. 10]: (64 d / epsilon) c and (64 H^4 / epsilon) c, c = sqrt(2 H K0 "
     "log(16H/delta) log(8/delta) log(32 H K0/delta))",
     "[LGLP21, Cor. 11]: (8 d H / epsilon) c and (8 H^5 / epsilon) c, c = sqrt(2 log(8H/delta))"},
    {"linopt-vi", READ,
     "[Z22, Theorem 6.4]: (H D / epsilon) sqrt(32 m ln(4H/delta)), m = ceil(log2 K), D = d H^2, "
     "sqrt(d) H^2, 1, 1",
     "[Z22, section 6]: sketched only"},
    {"linopt-po", READ,
     "[Z22, Theorem 6.4]: (H D / epsilon) sqrt(32 m ln(4H/delta)), m = ceil(log2 K), D = d H^2, "
     "sqrt(d) H^2, 1, 1",
     "[Z22, section 6]: sketched only"},
    {"lsvi-ucb", READ,
     "batched: [LGLP21, appendix E.1]; doubling: [NVW22, Alg. 1, eq. 6 and 7, line 11]", ""},
    {"capri", READ,
     "[PSZ25, eq. 5]: sigma_max (4 B log T / epsilon) sqrt(log(1.25 log T / delta)), each epoch",
     "[PSZ25, eq. 5, Alg. 1 line 14]: the same on every report"},
    {"lin-ucb", RECALLED,
     "[SS18]: binary tree, (4 sqrt(m) (L^2 + B^2) / epsilon) ln(4/delta) on every entry of a "
     "node's "
     "matrix of [x y], m = 1 + ceil(log2 T); the widths are not the paper's",
     "[ZCHLW20]: (4 / epsilon) sqrt(2 ln(1.25/delta)) on every entry of the upper triangle of x "
     "x^T "
     "and of x y; the widths are not the paper's"},
};

tacit__printed_place tacit__printed_at(const char *kind, tacit_model model)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].kind, kind) == 0)
            return (tacit__printed_place){.words = model == TACIT_MODEL_JOINT   ? places[i].joint
                                                   : model == TACIT_MODEL_LOCAL ? places[i].local
                                                                                : "",
                                          .recalled = places[i].source == RECALLED};
    return (tacit__printed_place){.words = ""};
}

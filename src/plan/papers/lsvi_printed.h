/* The constants of [LGLP21, Alg. 2, App. E] and [NVW22, Alg. 1] as they are printed, whatever they give. */
#ifndef TACIT_PLAN_PAPERS_LSVI_PRINTED_H
#define TACIT_PLAN_PAPERS_LSVI_PRINTED_H

typedef struct tacit__lsvi_case {
    double K, d, H, epsilon, delta, failure;
} tacit__lsvi_case;

/* In the papers' units: targets r + V up to H + 1, values cut at H. */
typedef struct tacit__lsvi_printed {
    double releases;       /* B, or N_max */
    double gram, response; /* standard deviation of a tree's node and of a response's coordinate */
    double ridge;          /* all that is added to the diagonal */
    double beta;
} tacit__lsvi_printed;

/* B = 0: as printed. */
tacit__lsvi_printed tacit__lsvi_print_batched(const tacit__lsvi_case *c, double B);
tacit__lsvi_printed tacit__lsvi_print_doubling(const tacit__lsvi_case *c);

#endif

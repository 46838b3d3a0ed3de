/* See kernel_function.h. Distances come from differences of coordinates, never from norms and inner
 * products: equal points must have distance exactly 0, or repeated points would look like near ones. */
#include "linalg/kernel_function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/settings.h"

/* --- Values ------------------------------------------------------------------------------------- */

/* K_nu(z) = int_0^inf exp(-z cosh t) cosh(nu t) dt [DLMF 10.32.9] by the trapezoid rule, whose error falls
 * exponentially for such an integrand; e^-z and the largest term are kept apart, so that nothing
 * overflows. The step follows the width of the peak, 1 / sqrt(|(z, nu)|); following z alone would be too
 * coarse for nu above some 100. */
double tacit__matern_quadrature(double nu, double z)
{
    TACIT__REQUIRE(!(nu <= 0) && !(z < 0));
    if (z < 1e-10)
        return 1;
    double h = 0.1 / sqrt(1 + hypot(z, nu) / 25), sum = 0, scale = -HUGE_VAL;
    for (long i = 0;; i++) {
        double t = h * (double)i;
        /* log of exp(-z (cosh t - 1)) cosh(nu t) */
        double half = sinh(t / 2),
               term = -2 * z * half * half + nu * t + log1p(exp(-2 * nu * t)) - M_LN2;
        if (term > scale) {
            sum = scale > -HUGE_VAL ? sum * exp(scale - term) : 0;
            scale = term;
        }
        sum += (i == 0 ? 0.5 : 1) * exp(term - scale);
        if (z * sinh(t) > nu && term - scale < -39.2) /* below 1e-17 of the largest */
            break;
    }
    double log_bessel = -z + scale + log(h * sum);
    int sign; /* lgamma has one for all threads */
    return fmin(1, exp((1 - nu) * M_LN2 - lgamma_r(nu, &sign) + nu * log(z) + log_bessel));
}

double tacit__matern(double nu, double z)
{
    TACIT__REQUIRE(!(nu <= 0) && !(z < 0));
    if (nu == 0.5)
        return exp(-z);
    if (nu == 1.5)
        return (1 + z) * exp(-z);
    if (nu == 2.5)
        return (1 + z + z * z / 3) * exp(-z);
    return tacit__matern_quadrature(nu, z);
}

static double part_value(const tacit__kernel_part *p, const double *x, const double *y)
{
    x += p->first;
    y += p->first;
    if (p->kind == TACIT__KERNEL_LINEAR || p->kind == TACIT__KERNEL_POLYNOMIAL) {
        double inner = 0;
        for (size_t i = 0; i < p->n; i++)
            inner += x[i] * y[i];
        if (p->kind == TACIT__KERNEL_LINEAR)
            return inner / p->rho_square;
        double base = (inner + p->constant) / (p->rho_square + p->constant), value = 1;
        for (unsigned i = 0; i < p->degree; i++)
            value *= base;
        return value;
    }
    double square = 0;
    for (size_t i = 0; i < p->n; i++) {
        double difference = (x[i] - y[i]) * p->inverse_length[i];
        square += difference * difference;
    }
    if (p->kind == TACIT__KERNEL_SE)
        return exp(-0.5 * square);
    return tacit__matern(p->nu, sqrt(2 * p->nu * square));
}

double tacit__kernel_value(const tacit__kernel *k, const double *x, const double *y)
{
    double first = part_value(&k->part[0], x, y);
    if (k->n_parts == 1)
        return first;
    double second = part_value(&k->part[1], x, y);
    return k->product ? first * second : 0.5 * (first + second);
}

void tacit__kernel_column(const tacit__kernel *k, size_t n, const double *points,
                          const size_t *which, const double *y, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tacit__kernel_value(k, points + (which != NULL ? which[i] : i) * k->dimension, y);
}

void tacit__kernel_fit(tacit__kernel *k, size_t n, const double *points)
{
    TACIT__REQUIRE(k != NULL && (points != NULL || n == 0));
    for (size_t q = 0; q < k->n_parts; q++) {
        tacit__kernel_part *p = &k->part[q];
        double most = 0;
        for (size_t i = 0; i < n; i++) {
            double square = 0;
            for (size_t j = 0; j < p->n; j++) {
                double x = points[i * k->dimension + p->first + j];
                square += x * x;
            }
            most = fmax(most, square);
        }
        p->rho_square = most > 0 ? most : 1;
    }
}

/* --- Text --------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *text, *at;
    tacit_error *err;
} cursor;

static tacit_status fail(const cursor *c, const char *what)
{
    return tacit__fail(c->err, TACIT_BAD_ARGUMENT,
                       "kernel is '%.60s': %s; expected for example se(0.2), matern-2.5(0.2 0.5), "
                       "linear, poly-2(1), or two of them with * or + for context and action",
                       c->text, what);
}

static void skip(cursor *c)
{
    c->at += strspn(c->at, " \t\n");
}

/* "2.5" or "5/2" */
static bool parse_number(cursor *c, double *out)
{
    size_t n = strspn(c->at, "0123456789.eE"), m = 0;
    double below = 1;
    if (n == 0 || !tacit__read_real(c->at, n, out))
        return false;
    if (c->at[n] == '/') {
        m = 1 + strspn(c->at + n + 1, "0123456789.");
        if (m == 1 || !tacit__read_real(c->at + n + 1, m - 1, &below) || below <= 0)
            return false;
        *out /= below;
    }
    c->at += n + m;
    return true;
}

static tacit_status parse_name(cursor *c, tacit__kernel_part *p)
{
    static const struct {
        const char *name;
        tacit__kernel_kind kind;
    } names[] = {{"linear", TACIT__KERNEL_LINEAR},
                 {"poly-", TACIT__KERNEL_POLYNOMIAL},
                 {"se", TACIT__KERNEL_SE},
                 {"matern-", TACIT__KERNEL_MATERN}};
    double number;
    skip(c);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i].name);
        if (strncmp(c->at, names[i].name, n) != 0)
            continue;
        c->at += n;
        p->kind = names[i].kind;
        if (names[i].name[n - 1] != '-')
            return TACIT_OK;
        if (!parse_number(c, &number))
            return fail(c, "a number is missing after the name");
        if (p->kind == TACIT__KERNEL_POLYNOMIAL) {
            if (!(number >= 1 && number <= 64) || number != floor(number))
                return fail(c, "the degree must be a whole number from 1 to 64");
            p->degree = (unsigned)number;
        } else if (!(number >= 0.01 && number <= 1000)) {
            return fail(c, "the order of a Matern kernel must be in [0.01, 1000]");
        }
        p->nu = number;
        return TACIT_OK;
    }
    return fail(c, "the name is not known");
}

static tacit_status parse_lengths(cursor *c, tacit__kernel_part *p)
{
    double length[TACIT__KERNEL_DIMENSIONS] = {0.2};
    size_t n = 0;
    bool radial = p->kind == TACIT__KERNEL_SE || p->kind == TACIT__KERNEL_MATERN;
    p->constant = 1;
    skip(c);
    if (*c->at == '(') {
        for (c->at++, skip(c); *c->at != ')'; c->at += strspn(c->at, ", \t\n")) {
            if (n == TACIT__KERNEL_DIMENSIONS || !parse_number(c, &length[n]))
                return fail(c, "the numbers in brackets are not understood");
            n++;
        }
        c->at++;
    }
    if (p->kind == TACIT__KERNEL_LINEAR && n > 0)
        return fail(c, "the linear kernel has no parameters");
    if (p->kind == TACIT__KERNEL_POLYNOMIAL) {
        if (n > 1)
            return fail(c, "a polynomial kernel has one constant");
        p->constant = n == 1 ? length[0] : 1;
        return TACIT_OK;
    }
    if (radial && n > 1 && n != p->n)
        return fail(c, "there must be one length scale, or one for each dimension");
    for (size_t i = 0; radial && i < p->n; i++) {
        double l = length[n > 1 ? i : 0];
        if (!(l >= 1e-6 && l <= 1e6))
            return fail(c, "length scales must be in [1e-6, 1e6]");
        p->inverse_length[i] = 1 / l;
    }
    return TACIT_OK;
}

tacit_status tacit__kernel_read(const char *text, size_t dimension, size_t context_dimension,
                                tacit__kernel *out, tacit_error *err)
{
    TACIT__REQUIRE(text != NULL && context_dimension <= dimension);
    cursor c = {text, text, err};
    tacit__kernel k = {.dimension = dimension, .n_parts = 1};
    const char *both = strpbrk(text, "*+");
    if (both != NULL && (context_dimension == 0 || context_dimension >= dimension))
        return fail(&c, "this world does not tell a context's coordinates from an action's");
    if (both != NULL) {
        k.n_parts = 2;
        k.product = *both == '*';
        k.part[0].n = context_dimension;
        k.part[1].first = context_dimension;
        k.part[1].n = dimension - context_dimension;
    } else {
        k.part[0].n = dimension;
    }
    for (size_t i = 0; i < k.n_parts; i++) {
        tacit__kernel_part *p = &k.part[i];
        tacit_status status = parse_name(&c, p);
        if (status == TACIT_OK && p->n > TACIT__KERNEL_DIMENSIONS &&
            (p->kind == TACIT__KERNEL_SE || p->kind == TACIT__KERNEL_MATERN))
            status = fail(&c, "there are more dimensions than 64");
        if (status == TACIT_OK)
            status = parse_lengths(&c, p);
        if (status != TACIT_OK)
            return status;
        skip(&c);
        if (i + 1 < k.n_parts) {
            if (c.at != both)
                return fail(&c, "text follows the first kernel");
            c.at++;
        }
    }
    if (*c.at != '\0')
        return fail(&c, "text follows the kernel");
    *out = k;
    return TACIT_OK;
}

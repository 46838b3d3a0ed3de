/* Planners of tabular learners against their formulas, written out plainly.
 *
 * The reference below is backward induction as a textbook has it, with each bonus term by term as in the papers; nothing of it is
 * shared with src/plan but the projection of a row, which has a test of its own (test_project.c). Counts are random: what they
 * mean does not matter here. Where a planner shows its Q it is compared, where it shows a policy its actions are compared, on so
 * many instances that a wrong constant changes some of them. */
#include <math.h>
#include <string.h>

#include "plan/papers/ldp_obi.h"
#include "plan/papers/private_ucb.h"
#include "plan/papers/pucb.h"
#include "plan/project.h"
#include "support/random.h"
#include "support/tabular_planners.h"

/* Counts from 1 to 10^digits, with noise; some rows are nearly empty. */
static void draw(uint64_t *seed, double digits, double noise, sample *out)
{
    for (size_t row = 0; row < ROWS; row++) {
        double n = pow(10, random_between(seed, 0, digits)), sum = 0;
        for (size_t next = 0; next < S; next++)
            sum += out->moves[row * S + next] = random_unit(seed);
        for (size_t next = 0; next < S; next++)
            out->moves[row * S + next] =
                out->moves[row * S + next] / sum * n + noise * random_between(seed, -1, 1);
        out->visits[row] = n + noise * random_between(seed, -1, 1);
        out->rewards[row] =
            n * random_between(seed, -0.5, 0.5) + noise * random_between(seed, -1, 1);
    }
    out->counts = (tacit__counts){.users = USERS - 1,
                                  .visits = out->visits,
                                  .moves = out->moves,
                                  .rewards = out->rewards,
                                  .center = 0.5,
                                  .visits_error = noise,
                                  .moves_error = 0.7 * noise,
                                  .rewards_error = 3 * noise,
                                  .visits_stddev = 0.5 * noise,
                                  .moves_stddev = 0.4 * noise,
                                  .rewards_stddev = noise};
}

/* --- The reference ------------------------------------------------------------------------------- */

typedef struct model {
    double n[ROWS], r[ROWS],
        p[ROWS * S]; /* visits, reward and transitions as the learner sees them */
    bool whole;      /* Q is clipped at H, as [QW23] prints it */
} model;

/* Everything that a bonus may depend on. Steps h are counted from 0; `left` = H - h - 1 is the range of the next value. */
typedef struct place {
    const tacit__counts *c;
    const model *m;
    size_t tables, h, row;
    double left, n, mean, variance;
    const double *upper, *lower; /* values at h + 1 */
} place;

typedef double bonus_fn(const void *context, const place *at);

/* Q by backward induction; with `lower`, a lower value of the action that is best before capping as well. */
static void induct(const sample *x, const model *m, size_t tables, bonus_fn *bonus,
                   const void *context, double *q)
{
    double upper[H + 1][S] = {{0}}, lower[H + 1][S] = {{0}};
    for (size_t h = H; h-- > 0;)
        for (size_t s = 0; s < S; s++) {
            double best = -HUGE_VAL;
            for (size_t a = 0; a < A; a++) {
                place at = {&x->counts,          m, tables, h, row_at(tables, h, s, a),
                            (double)(H - h - 1), 0, 0,      0, upper[h + 1],
                            lower[h + 1]};
                double square = 0, low = 0;
                at.n = m->n[at.row];
                for (size_t next = 0; next < S; next++) {
                    double p = m->p[at.row * S + next];
                    at.mean += p * upper[h + 1][next];
                    square += p * upper[h + 1][next] * upper[h + 1][next];
                    low += p * lower[h + 1][next];
                }
                at.variance = fmax(0, square - at.mean * at.mean);
                double b = bonus(context, &at), value = m->r[at.row] + at.mean + b;
                if (value > best) {
                    best = value;
                    lower[h][s] = fmax(0, m->r[at.row] + low - b);
                }
                q[(h * S + s) * A + a] = fmax(0, fmin(value, m->whole ? H : at.left + 1));
            }
            upper[h][s] = 0;
            for (size_t a = 0; a < A; a++)
                upper[h][s] = fmax(upper[h][s], q[(h * S + s) * A + a]);
        }
}

/* Valid counts: projected, shifted so that visits are not underestimated; where moves are left out, shifted alone. */
static void make_valid(const sample *x, double error_scale, model *m)
{
    const double e = error_scale * x->counts.visits_error;
    for (size_t row = 0; row < ROWS; row++) {
        double scratch[S], line[S];
        if (x->counts.drop_last && row >= (H - 1) * S * A) {
            m->n[row] = fmax(x->visits[row], 0) + fmax(2 * e, 1e-9);
            m->r[row] = fmin(1, fmax(0, x->counts.center + x->rewards[row] / m->n[row]));
            for (size_t next = 0; next < S; next++)
                m->p[row * S + next] = 1.0 / S;
            continue;
        }
        tacit__project_counts(x->moves + row * S, S, x->visits[row], e, scratch, line);
        m->n[row] = 0;
        for (size_t next = 0; next < S; next++)
            m->n[row] += line[next] + fmax(2 * e, 1e-9) / S;
        for (size_t next = 0; next < S; next++)
            m->p[row * S + next] = (line[next] + fmax(2 * e, 1e-9) / S) / m->n[row];
        m->r[row] = fmin(1, fmax(0, x->counts.center + x->rewards[row] / m->n[row]));
    }
}

/* --- UCBVI ------------------------------------------------------------------------------------------- */

static double visits_of_state(const place *at, size_t s)
{
    double n = 0;
    for (size_t a = 0; a < A; a++)
        n += at->m->n[row_at(at->tables, at->h + 1, s, a)];
    return n;
}

/* sum over next states of P g(s') */
static double expect(const place *at, const double g[S])
{
    double sum = 0;
    for (size_t next = 0; next < S; next++)
        sum += at->m->p[at->row * S + next] * g[next];
    return sum;
}

static double ucbvi_bonus(const void *context, const place *at)
{
    const ucbvi_case *u = context;
    const tacit__planner_options *o = &u->o;
    const double k = USERS, t = k * H, n = at->n, left = at->left, c = o->bonus_scale;
    const double e_n = o->error_scale * at->c->visits_error,
                 e_p = o->error_scale * at->c->moves_error,
                 e_r = o->error_scale * at->c->rewards_error;
    const double noise = (left * (S * e_p + 3 * e_n) + e_r + 2 * e_n) / n;
    const double samples = at->tables == 1 ? t : k; /* that one cell can have */
    const double iota = log(30 * H * S * A * k * (o->whole || H > S ? H : S) / failure);
    const double azar = log(5 * (at->tables == 1 ? 1 : H) * S * A * t / failure);
    const bool last = at->h + 1 == H;
    double g[S];
    switch (u->bonus) {
    case TACIT__BONUS_BERNSTEIN:
        return c * (2 * sqrt(at->variance * iota / n) + sqrt(2 * iota / n)) + noise;
    case TACIT__BONUS_PRACTICAL: {
        double apart = 0, width = c * sqrt(2 * iota / n);
        const double r = at->m->r[at->row], s_r = at->c->rewards_stddev, s_p = at->c->moves_stddev;
        for (size_t s = 0; s < S; s++)
            apart += pow(at->upper[s] - at->mean, 2);
        if (!o->fresh)
            width = fmax(width, fmax(0.5, 1 / sqrt(H)) * sqrt(2 * (r * (1 - r) + 0.25 / n) *
                                                              log((double)at->c->users + 2) / n));
        return c * 2 * sqrt(at->variance * iota / n) + width +
               o->error_scale * sqrt(s_p * s_p * apart + s_r * s_r) / (n + at->c->visits_stddev);
    }
    case TACIT__BONUS_HOEFFDING:
        return c * (1 + left) * sqrt(log(6 * H * S * A * samples / failure) / (2 * n)) + noise;
    case TACIT__BONUS_CERTIFICATE: {
        const double l = log(9 * H * S * A * samples / failure);
        for (size_t s = 0; s < S; s++)
            g[s] = pow(at->upper[s] - at->lower[s], 2);
        return c * (sqrt(l / (2 * n)) +
                    2 * sqrt(l) * (sqrt(at->variance / n) + sqrt(expect(at, g) / n)) +
                    14 * left * l / (3 * n)) +
               2 * sqrt(l) * left * sqrt(2 * S * e_p) / n + noise;
    }
    case TACIT__BONUS_PRINTED: {
        const double e = fmax(2, fmax(fmax(4 * e_n, 4 * e_p), e_r));
        for (size_t s = 0; s < S && !last; s++) {
            const double next = visits_of_state(at, s);
            g[s] = fmin(H * H,
                        1000 * 1000 *
                            (pow(H, 3) * S * A * pow(iota, 2) / next +
                             pow(H, 4) * pow(S, 4) * A * A * e * e * pow(iota, 4) / (next * next) +
                             pow(H, 6) * pow(S, 4) * A * A * pow(iota, 4) / (next * next)));
        }
        return c * (2 * sqrt(at->variance * iota / n) + sqrt(2 * iota / n) +
                    (last ? 0 : 4 * sqrt(iota) * sqrt(expect(at, g) / n))) +
               20 * H * S * e * iota / n;
    }
    case TACIT__BONUS_AZAR_HOEFFDING:
        return c * 7 * H * azar / sqrt(n);
    default:
        for (size_t s = 0; s < S && !last; s++)
            g[s] = fmin(H * H,
                        100.0 * 100 * pow(H, 3) * S * S * A * azar * azar / visits_of_state(at, s));
        return c * (sqrt(8 * azar * at->variance / n) + 14 * H * azar / (3 * n) +
                    (last ? 0 : sqrt(8 / n * expect(at, g))) + sqrt(2 * azar / n));
    }
}

/* Counts so large that a good part of the Q is below its cap, and that the minima in the printed bonuses go either way. */
static double digits_of(tacit__ucbvi_bonus bonus)
{
    return bonus == TACIT__BONUS_PRINTED ? 14 : bonus == TACIT__BONUS_AZAR_BERNSTEIN ? 11 : 4;
}

/* The model of `practical`: moves below the universal threshold are taken for 0, unless all of a row are; neither slack nor
 * shift. */
static void without_small_moves(const sample *x, model *m)
{
    static sample kept;
    const double least = x->counts.moves_stddev * sqrt(2 * log(S));
    kept = *x;
    kept.counts.moves = kept.moves;
    for (size_t row = 0; row < ROWS && least > 0; row++) {
        double most = -HUGE_VAL;
        for (size_t next = 0; next < S; next++)
            most = fmax(most, x->moves[row * S + next]);
        for (size_t next = 0; next < S && most >= least; next++)
            if (!(x->moves[row * S + next] >= least))
                kept.moves[row * S + next] = -1e12;
    }
    make_valid(&kept, 0, m);
}

TEST(values_are_those_of_the_formulas)
{
    uint64_t seed = 1;
    for (int bonus = TACIT__BONUS_BERNSTEIN; bonus <= TACIT__BONUS_PRACTICAL; bonus++)
        for (int kind = 0; kind < (bonus == TACIT__BONUS_PRINTED ? 32 : 16); kind++) {
            const bool fresh = (kind & 1) != 0, monotone = (kind & 4) != 0,
                       whole = (kind & 16) != 0;
            const bool dropped = (kind & 2) != 0 && (kind & 8) != 0;
            tacit__space space = {S, A, H, (kind & 2) != 0 ? H : 1};
            const ucbvi_case c = {
                .bonus = (tacit__ucbvi_bonus)bonus,
                .o = {.bonus_scale = bonus == TACIT__BONUS_AZAR_HOEFFDING ? 0.01 : 0.3,
                      .error_scale = 0.7,
                      .failure = failure,
                      .episodes = USERS,
                      .fresh = fresh,
                      .whole = whole}};
            size_t free = 0, all = 0;
            double before[ROWS];
            void *planner = make_ucbvi(space, &c, monotone);
            for (int round = 0; round < 20; round++) {
                static sample x;
                static model m;
                double wanted[ROWS];
                draw(&seed, digits_of(c.bonus), fresh ? 2 : 0, &x);
                if (dropped)
                    drop_last(&x);
                if (c.bonus == TACIT__BONUS_PRACTICAL)
                    without_small_moves(&x, &m);
                else
                    make_valid(&x, c.o.error_scale, &m);
                m.whole = whole;
                induct(&x, &m, space.tables, ucbvi_bonus, &c, wanted);
                (void)tacit__ucbvi.plan(planner, &x.counts);
                const double *q = tacit__ucbvi_get(planner).q;
                if (monotone && round > 0)
                    break; /* values depend on all earlier plans then; see below */
                for (size_t i = 0; i < ROWS; i++) {
                    assert_within(q[i], wanted[i] - 1e-6,
                                  wanted[i] + 1e-6); /* roots of rounded variances */
                    free += wanted[i] > 0 && wanted[i] < (double)(whole ? H : H - i / (S * A));
                    all++;
                }
            }
            assert_true(10 * free > all); /* or else the caps alone were compared */
            memcpy(before, tacit__ucbvi_get(planner).q, sizeof before);
            for (int round = 0; round < 20 && monotone; round++) {
                static sample x;
                draw(&seed, digits_of(c.bonus), fresh ? 2 : 0, &x);
                if (dropped)
                    drop_last(&x);
                (void)tacit__ucbvi.plan(planner, &x.counts);
                const double *q = tacit__ucbvi_get(planner).q;
                for (size_t i = 0; i < ROWS; i++)
                    assert_true(q[i] <= before[i]);
                memcpy(before, q, sizeof before);
            }
            tacit__ucbvi.destroy(planner);
        }
}

/* --- Noisy ratios ------------------------------------------------------------------------------------- */

/* The action is best in the reference; ties within rounding are anybody's. Returns how often there was one best action below the cap. */
static size_t check_policy(const uint32_t *policy, const double *q)
{
    size_t decided = 0;
    for (size_t i = 0; i < H * S; i++) {
        double best = 0, second = -1;
        for (size_t a = 0; a < A; a++) {
            double value = q[i * A + a];
            second = fmax(second, fmin(value, best));
            best = fmax(best, value);
        }
        assert_true(policy[i] < A);
        assert_true(q[i * A + policy[i]] >= best - 1e-9);
        decided += best > second + 1e-9;
    }
    return decided;
}

typedef struct ratios {
    bool printed, local, optimize;
    double c, e_n, e_p, e_r, alpha;
} ratios;

/* Where the bonus is below the theorem's: a fifth of what noise does to Q; as good as can be, where nothing is known. */
static double noise_width(const place *at)
{
    const tacit__counts *c = at->c;
    double apart = 0;
    if (at->n <= fmax(1, c->visits_stddev))
        return 1e6;
    for (size_t s = 0; s < S; s++)
        apart += pow(at->upper[s] - at->mean, 2);
    return 0.2 * sqrt(pow(c->moves_stddev, 2) * apart + pow(c->rewards_stddev, 2)) /
           (fmax(0, c->visits[at->row]) + c->visits_stddev);
}

static double private_ucb_bonus(const void *context, const place *at)
{
    const ratios *o = context;
    const double t = (double)USERS * H, l = sqrt(2 * log(4 * S * A * t / failure));
    const double width = o->optimize ? sqrt(4 * S * log(6 * S * A * t / failure)) : l;
    return noise_width(at) + o->c * l / sqrt(at->n) + (o->e_r + 2 * o->e_n) / at->n +
           H * (o->c * width / sqrt(at->n) + (S * o->e_p + 2 * o->e_n) / at->n);
}

static void plain_ratios(const sample *x, double added, model *m)
{
    for (size_t row = 0; row < ROWS; row++) {
        m->n[row] = fmax(1, x->visits[row] + added);
        m->r[row] = (x->rewards[row] + x->counts.center * x->visits[row]) / m->n[row];
        for (size_t next = 0; next < S; next++)
            m->p[row * S + next] = x->moves[row * S + next] / m->n[row];
    }
}

/* The same with projected chances, unless there is not one visit. */
static void repaired_ratios(const sample *x, double added, model *m)
{
    static model whole;
    plain_ratios(x, added, m);
    make_valid(x, 0, &whole);
    for (size_t i = 0; i < ROWS * S; i++)
        m->p[i] = whole.p[i] * fmin(1, fmax(0, x->visits[i / S]));
}

/* Levels as printed, with 3 H / epsilon = scale; else the curator's. */
static void private_ucb_levels(const sample *x, double error_scale, double scale, ratios *o)
{
    const double t = (double)USERS * H, terms = o->local ? USERS : pow(log2(USERS), 3);
    o->e_n = error_scale * x->counts.visits_error;
    o->e_p = error_scale * x->counts.moves_error;
    o->e_r = error_scale * x->counts.rewards_error;
    if (!o->printed)
        return;
    o->e_n = o->e_r = error_scale * scale * sqrt(8 * terms * log(6 * S * A * t / failure));
    o->e_p = error_scale * scale * sqrt(8 * terms * log(6 * S * S * A * t / failure));
}

TEST(private_ucb_vi_acts_by_its_formula)
{
    uint64_t seed = 2;
    for (int kind = 0; kind < 8; kind++) {
        tacit__space space = {S, A, H, (kind & 1) != 0 ? H : 1};
        ratios o = {.printed = (kind & 2) != 0, .local = (kind & 4) != 0, .c = 0.05};
        const double error_scale = 0.03, scale = 0.02;
        tacit__planner_options options = {.bonus_scale = o.c,
                                          .error_scale = error_scale,
                                          .printed_scale = o.printed ? scale : 0,
                                          .joint = !o.local,
                                          .failure = failure,
                                          .episodes = USERS};
        size_t decided = 0;
        void *planner = make(&tacit__private_ucb_vi, space, &options, NULL, 0);
        for (int round = 0; round < 400; round++) {
            static sample x;
            static model m;
            double q[ROWS];
            draw(&seed, 4, 2, &x);
            private_ucb_levels(&x, error_scale, scale, &o);
            repaired_ratios(&x, o.e_n, &m);
            induct(&x, &m, space.tables, private_ucb_bonus, &o, q);
            if (space.tables == H && round % 2 == 1)
                drop_last(&x); /* no planner reads them, so the reference may */
            decided += check_policy(tacit__private_ucb_vi.plan(planner, &x.counts).policy, q);
        }
        assert_true(decided > 400 * H * S / 4);
        tacit__private_ucb_vi.destroy(planner);
    }
}

/* Uniform at first; then pi exp(eta Q), where Q values what pi does. The policy of an episode does not know its own counts. */
TEST(private_ucb_po_mixes_by_its_formula)
{
    uint64_t seed = 3;
    for (int kind = 0; kind < 4; kind++) {
        tacit__space space = {S, A, H, (kind & 1) != 0 ? H : 1};
        ratios o = {.optimize = true, .c = 0.05};
        const bool given = (kind & 2) != 0;
        const double eta = given ? 0.3 : 60 * sqrt(2 * log(A) / ((double)H * H * USERS));
        tacit__planner_options options = {
            .bonus_scale = o.c, .error_scale = 0.03, .failure = failure, .episodes = USERS};
        const tacit_parameter own = {"step_size", TACIT_PARAMETER_REAL, given ? "0.3" : "0", 0, 1,
                                     ""};
        double log_weight[ROWS] = {0};
        void *planner = make(&tacit__private_ucb_po, space, &options, &own, 1);
        for (int round = 0; round < 40; round++) {
            static sample x;
            static model m;
            double values[H + 1][S] = {{0}}, pi[A];
            draw(&seed, 4, 2, &x);
            private_ucb_levels(&x, options.error_scale, 0, &o);
            repaired_ratios(&x, o.e_n, &m);
            if (space.tables == H && round % 2 == 1)
                drop_last(&x);
            tacit_billboard board = tacit__private_ucb_po.plan(planner, &x.counts);
            assert_null(board.policy);
            assert_int_equal(board.version, round + 1);
            for (size_t h = H; h-- > 0;)
                for (size_t s = 0; s < S; s++) {
                    double total = 0;
                    for (size_t a = 0; a < A; a++)
                        total += pi[a] = exp(log_weight[(h * S + s) * A + a]);
                    for (size_t a = 0; a < A; a++) {
                        size_t i = (h * S + s) * A + a;
                        place at = {.c = &x.counts,
                                    .m = &m,
                                    .row = row_at(space.tables, h, s, a),
                                    .upper = values[h + 1]};
                        at.n = m.n[at.row];
                        at.mean = expect(&at, values[h + 1]);
                        double q = m.r[at.row] + private_ucb_bonus(&o, &at) + at.mean;
                        q = fmin((double)(H - h), fmax(0, q));
                        assert_within(board.mixed[i], pi[a] / total - 1e-6,
                                      pi[a] / total + 1e-6); /* roots of rounded sums */
                        values[h][s] += pi[a] / total * q;
                        log_weight[i] += eta * q;
                    }
                }
        }
        tacit__private_ucb_po.destroy(planner);
    }
}

/* --- PUCB --------------------------------------------------------------------------------------------- */

static double pucb_bonus(const void *context, const place *at)
{
    const ratios *o = context;
    const double e = o->e_n, n = at->n;
    if (!(n >= 2 * e && n > 0))
        return HUGE_VAL;
    return o->c * (H + 1) * sqrt(2 * log(USERS / (failure / 9)) / fmax(n - e, 1)) +
           (1 + S * H) * (3 * e / n + 2 * e * e / (n * n));
}

TEST(pucb_acts_by_its_formula)
{
    uint64_t seed = 4;
    for (int kind = 0; kind < 4; kind++) {
        tacit__space space = {S, A, H, (kind & 1) != 0 ? H : 1};
        const double error_scale = 0.02, scale = 0.02;
        ratios o = {.printed = (kind & 2) != 0, .c = 0.02};
        tacit__planner_options options = {.bonus_scale = o.c,
                                          .error_scale = error_scale,
                                          .printed_scale = o.printed ? scale : 0,
                                          .failure = failure,
                                          .episodes = USERS};
        size_t decided = 0, unknown = 0;
        void *planner = make(&tacit__pucb, space, &options, NULL, 0);
        for (int round = 0; round < 400; round++) {
            static sample x;
            static model m;
            double q[ROWS];
            draw(&seed, 4, 2, &x);
            o.e_n = error_scale *
                    (o.printed ? scale * log((2 * S * A * H + S * S * A * H) / (failure / 9)) *
                                     pow(log(USERS), 2.5)
                               : x.counts.rewards_error);
            for (size_t row = 0; row < ROWS; row++) {
                const double n = x.visits[row];
                m.n[row] = n;
                m.r[row] = x.counts.center + x.rewards[row] / n;
                for (size_t next = 0; next < S; next++)
                    m.p[row * S + next] = x.moves[row * S + next] / n;
                unknown += n < 2 * o.e_n;
            }
            induct(&x, &m, space.tables, pucb_bonus, &o, q);
            if (space.tables == H && round % 2 == 1)
                drop_last(&x);
            decided += check_policy(tacit__pucb.plan(planner, &x.counts).policy, q);
        }
        assert_true(decided > 400 * H * S / 10);
        assert_true(unknown > 0 || !o.printed); /* the threshold has something to do */
        tacit__pucb.destroy(planner);
    }
}

/* --- LDP-OBI ------------------------------------------------------------------------------------------- */

static double obi_bonus(const void *context, const place *at)
{
    const ratios *o = context;
    const double k = (double)at->c->users, n = at->n;
    const double l = log(4 * M_PI * M_PI * S * A * H * k * k * k / (3 * failure));
    const double b_r = o->c * sqrt(2 * l / n) + ((o->alpha + 1) * o->e_n + o->e_r) / n;
    const double b_p = o->c * sqrt(14 * S * l / n) + (S * o->e_p + (o->alpha + 1) * o->e_n) / n;
    return noise_width(at) + b_r + (at->left + 1) * b_p;
}

TEST(ldp_obi_acts_by_its_formula)
{
    uint64_t seed = 5;
    tacit__space space = {S, A, H, 1};
    for (int printed = 0; printed < 2; printed++) {
        const double error_scale = 0.03, scale = 0.02;
        ratios o = {.printed = printed == 1, .c = 0.02, .alpha = 1.7};
        const tacit_parameter own = {"alpha", TACIT_PARAMETER_REAL, "1.7", 1, 2, ""};
        tacit__planner_options options = {.bonus_scale = o.c,
                                          .error_scale = error_scale,
                                          .printed_scale = o.printed ? scale : 0,
                                          .failure = failure};
        size_t decided = 0;
        void *planner = make(&tacit__ldp_obi, space, &options, &own, 1);
        for (int round = 0; round < 800; round++) {
            static sample x;
            static model m;
            double q[ROWS];
            draw(&seed, 4, 2, &x);
            x.counts.users = 1 + random_below(&seed, USERS);
            const double k = (double)x.counts.users;
            const double eta = 6 * failure / (M_PI * M_PI * k * k * 4 * S * A * (S + 2));
            const double level = scale * sqrt(8 * log(2 / eta)) * fmax(sqrt(k), sqrt(log(2 / eta)));
            o.e_n = error_scale * (o.printed ? level : x.counts.visits_error);
            o.e_p = error_scale * (o.printed ? level : x.counts.moves_error);
            o.e_r = error_scale * (o.printed ? level : x.counts.rewards_error);
            repaired_ratios(&x, o.alpha * o.e_n, &m);
            induct(&x, &m, 1, obi_bonus, &o, q);
            decided += check_policy(tacit__ldp_obi.plan(planner, &x.counts).policy, q);
        }
        assert_true(decided > 800 * H * S / 4);
        tacit__ldp_obi.destroy(planner);
    }
}

/* What a user adds to an LSVI learner: what the archive makes of users' data are sums of what each of them adds, as its
 * sensitivities take for granted. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "release/archive/archive_inside.h"
#include "support/walks.h"

SCOPED_TYPE(tacit__archive, tacit__archive_destroy)
SCOPED_TYPE(tacit__lsvi_user, tacit__lsvi_user_destroy)

static const double range[H] = {4, 3, 2, 1};

static tacit__archive *open_as(tacit__feature_form form, tacit_guarantee g, const double *table,
                               bool spans, bool pooled)
{
    const size_t d = form == TACIT__ONE_HOT ? S * A : 3;
    tacit__lsvi_scheme_options wish = {.space = {SPACE_OF(form == TACIT__CARRIED ? 0 : S, A, H),
                                                 .form = form, .dimension = d, .bound = 1,
                                                 .simplex = form == TACIT__ONE_HOT,
                                                 .feature_bits = tacit__lsvi_feature_bits(USERS),
                                                 .table = table, .pooled = pooled},
                                       .schedule = TACIT__EVERY,
                                       .episodes = USERS,
                                       .guarantee = g,
                                       .mechanism = TACIT_SUM_TREE,
                                       .gram = TACIT__GRAM_SUMS,
                                       .centered = true,
                                       .lambda = 1,
                                       .shift = 1,
                                       .failure = 0.1};
    tacit__archive_options o = {.space = wish.space,
                                .episodes = USERS,
                                .guarantee = g,
                                .centered = true,
                                .spans = spans,
                                .range = range,
                                .archive_bytes = 1e9};
    SCOPED(tacit_noise) *noise = noise_of_test();
    tacit__archive *c = NULL;
    tacit_error err = {.message = ""};
    if (tacit__lsvi_decide(&wish, &o.scheme, &err) != TACIT_OK ||
        tacit__archive_create(&o, noise, &c, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return c;
}

static tacit__archive *open_lsvi(tacit__feature_form form, tacit_guarantee g, const double *table,
                                 bool spans)
{
    return open_as(form, g, table, spans, false);
}

/* Features of a state's actions, at most 1 long. */
static void fill_features(size_t state, double out[A][3])
{
    uint64_t seed = 50 + state;
    for (size_t a = 0; a < A; a++)
        for (size_t j = 0; j < 3; j++)
            out[a][j] = random_between(&seed, -0.57, 0.57);
}

/* The public table of those features, on the lattice. */
static const double *table_of_features(void)
{
    static double table[S * A][3];
    const tacit__linear_space lattice = {
        .dimension = 3, .bound = 1, .feature_bits = tacit__lsvi_feature_bits(USERS)};
    for (size_t s = 0; s < S; s++) {
        double phi[A][3];
        fill_features(s, phi);
        for (size_t a = 0; a < A; a++)
            assert_true(tacit__lsvi_place(&lattice, phi[a], table[s * A + a]));
    }
    return &table[0][0];
}

static const tacit__feature_form forms[] = {TACIT__ONE_HOT, TACIT__TABLE, TACIT__CARRIED};

enum { CASES = 5 }; /* the forms, and the first two with all steps as one */

/* A user, with states or with features. */
typedef struct person {
    walk w;
    double features[H + 1][A][3];
    tacit_trajectory u;
} person;

static void fill_person(person *p, size_t k, bool carried)
{
    p->w = walk_of(k);
    p->u = trajectory(&p->w);
    for (size_t h = 0; h <= H; h++)
        fill_features(p->w.states[h], p->features[h]);
    p->u.states = carried ? NULL : p->u.states;
    p->u.features = carried ? &p->features[0][0][0] : NULL;
}

/* The values after step h: of states, or a function of features; none after the last step. */
typedef struct question {
    const double *table;
    const tacit__optimism *function;
} question;

static question question_of(size_t h, const tacit__lsvi_form *form)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, slope[3] = {1, 0.5, 2},
                        values[S] = {0.3, 1.7, 0.9};
    static tacit__optimism function;
    function = (tacit__optimism){.dimension = 3,
                                 .inverse = identity,
                                 .slope = slope,
                                 .unit = ldexp(1, -form->space.feature_bits),
                                 .scale = 1,
                                 .low = 0,
                                 .high = 4};
    const bool carried = form->space.form == TACIT__CARRIED, last = h + 1 == H;
    return (question){last || carried ? NULL : values, last || !carried ? NULL : &function};
}

/* A user's response of step h, made of the user's data. */
/* The response of a user who was placed, at step h or pooled at all steps, to the values after step h: the plain version. */
static void contribute_response(const tacit__lsvi_form *f, const tacit_trajectory *u,
                                const tacit__lsvi_user *placed, size_t h, question asked,
                                int64_t *out)
{
    const tacit__linear_space *sp = &f->space;
    const tacit__target target = tacit__lsvi_target(f, h, asked.table);
    memset(out, 0, sp->dimension * sizeof *out);
    for (size_t i = sp->pooled ? 0 : h; i < (sp->pooled ? sp->horizon : h + 1); i++) {
        double work[A * 3], q[A], value = 0;
        const size_t all = A * sp->dimension, pair = u->actions[i];
        if (asked.function != NULL) {
            tacit__optimism_evaluate(asked.function, A, placed->placed + (i + 1) * all, work, q);
            value = tacit__target_place(&target, fmax(q[0], A > 1 ? q[1] : q[0]));
        } else if (asked.table != NULL) {
            value = tacit__target_place(&target, asked.table[u->states[i + 1]]);
        }
        const double y = target.times * (placed->rewards[i] + value) - target.center;
        if (sp->form == TACIT__ONE_HOT) {
            out[u->states[i] * A + pair] += (int64_t)ldexp(y, sp->feature_bits);
            continue;
        }
        const double *phi = sp->form == TACIT__CARRIED
                                ? placed->placed + i * all + pair * sp->dimension
                                : sp->table + (u->states[i] * A + pair) * sp->dimension;
        for (size_t j = 0; j < sp->dimension; j++)
            out[j] += (int64_t)(y * phi[j]);
    }
}

static void answer(const tacit__lsvi_form *form, tacit__lsvi_user *made, const person *p, size_t h,
                   int64_t out[S * A])
{
    assert_ok(tacit__lsvi_place_user(form, &p->u, made, NULL));
    contribute_response(form, &p->u, made, h, question_of(h, form), out);
}

TEST(statistics_of_lsvi_are_sums_of_contributions)
{
    for (int f = 0; f < 2 * CASES; f++) {
        const tacit__feature_form kind = forms[f % CASES % 3];
        SCOPED(tacit__archive) *c = open_as(kind, (tacit_guarantee){.model = TACIT_MODEL_NONE},
                                            table_of_features(), f >= CASES, f % CASES >= 3);
        const tacit__lsvi_form form = tacit__lsvi_form_of(c);
        const size_t d = form.space.dimension, n = c->size;
        SCOPED(tacit__lsvi_user) *made = tacit__lsvi_user_create(&form);
        int64_t gram[H * S * A * 7] = {0}, response[H][S * A] = {{0}}, one[S * A];
        double shown[S * A];
        assert_non_null(made);
        assert_true(n <= sizeof gram / sizeof *gram);
        for (size_t k = 0; k + 1 < USERS; k++) {
            person p;
            fill_person(&p, k, kind == TACIT__CARRIED);
            assert_ok(tacit__archive_add(c, &p.u, NULL));
            assert_ok(tacit__lsvi_place_user(&form, &p.u, made, NULL));
            const tacit__input x = tacit__lsvi_contribute_gram(&form, &p.u, made);
            for (size_t i = 0; i < x.n; i++)
                gram[x.index != NULL ? x.index[i] : i] += x.value[i];
            for (size_t h = 0; h < H; h++) {
                answer(&form, made, &p, h, one);
                for (size_t j = 0; j < d; j++)
                    response[h][j] += one[j];
            }
        }
        for (size_t i = 0; i < n; i++) /* without noise: all leaves */
            assert_true(gram[i] == c->total[i] + c->leaf[i]);
        for (size_t h = 0; h < H; h++) {
            const question asked = question_of(h, &form);
            const tacit__target target = tacit__lsvi_target(&form, h, asked.table);
            tacit__target_unit unit;
            assert_ok(
                tacit__archive_respond(c, h, asked.table, asked.function, shown, &unit, NULL));
            for (size_t j = 0; j < d; j++)
                assert_true(shown[j] ==
                            ldexp(target.stretch * (double)response[h][j], -c->response_bits));
        }
    }
}

/* What users add up to is an integer below 2^53; pooled, each adds H terms. */
TEST(sums_of_all_steps_have_room)
{
    for (int pooled = 0; pooled < 2; pooled++) {
        const double K = 0x1p18;
        tacit__archive c = {
            .o = {.space = {SPACE_OF(S, A, 1000), .feature_bits = 12, .pooled = pooled == 1},
                  .episodes = (uint64_t)K,
                  .centered = true}};
        tacit__archive_choose_bits(&c);
        assert_true(ldexp(K * (pooled ? 1000 : 1), c.response_bits) <= 0x1p53);
        assert_true(c.target_bits >= 8);
    }
}

/* A response is that of (r + V - low) / range - 1/2, and this is never beyond 1/2. */
TEST(units_of_lsvi_hold_every_target)
{
    for (int f = 0; f < 2; f++) {
        SCOPED(tacit__archive) *c = open_lsvi(
            forms[f], (tacit_guarantee){.model = TACIT_MODEL_NONE}, table_of_features(), true);
        const tacit__lsvi_form form = tacit__lsvi_form_of(c);
        for (size_t h = 0; h < H; h++) {
            const double *values = question_of(h, &form).table;
            const tacit__target t = tacit__lsvi_target(&form, h, values);
            const tacit__target_unit unit = tacit__lsvi_unit(&form, &t);
            const double low = h + 1 < H && form.space.simplex ? 0.3 : 0,
                         high = h + 1 < H ? 1 + fmin(1.7, range[h] - 1) : 1;
            assert_within(unit.low - low, -1e-5, 1e-5);
            assert_within(unit.range - (high - low), -1e-5, 1e-5);
            for (size_t s = 0; s < S; s++)
                for (int paid = 0; paid < 2; paid++) {
                    const double r = floor(ldexp(paid / range[h], form.target_bits)),
                                 v = values != NULL ? tacit__target_place(&t, values[s]) : 0,
                                 y = t.stretch * (t.times * (r + v) - t.center);
                    assert_within(y, -ldexp(1, form.target_bits), ldexp(1, form.target_bits));
                    assert_within(
                        ldexp(y, -form.target_bits - 1) + 0.5 -
                            ((paid + (values != NULL ? fmin(values[s], range[h] - 1) : 0)) -
                             unit.low) /
                                unit.range,
                        -1e-5, 1e-5);
                }
        }
    }
}

/* So many users that a reward is less than a step of the lattice, and values that are all the same: a span of nothing. */
TEST(a_span_of_nothing_is_a_unit)
{
    static const double wide[2] = {5000, 4999}, same[S] = {4999, 4999, 4999};
    const tacit__lsvi_form form = {.space = {.form = TACIT__ONE_HOT,
                                             .n_states = S,
                                             .n_actions = A,
                                             .horizon = 2,
                                             .simplex = true},
                                   .range = wide,
                                   .target_bits = 11,
                                   .centered = true,
                                   .spans = true};
    const tacit__target t = tacit__lsvi_target(&form, 0, same);
    assert_true(floor(t.per_value) == 0 && isfinite(t.stretch));
    const double y = t.stretch * (t.times * tacit__target_place(&t, same[0]) - t.center);
    assert_within(y, -ldexp(1, form.target_bits), ldexp(1, form.target_bits));
    assert_true(tacit__lsvi_unit(&form, &t).range > 0);
}

/* With noise: what goes into the running sum of Gram matrices is what users' integers add up to. */
TEST(a_leaf_of_lsvi_is_the_sum_of_its_users_contributions)
{
    SCOPED(tacit__archive) *c = open_lsvi(TACIT__ONE_HOT, models[0], NULL, true);
    const tacit__lsvi_form form = tacit__lsvi_form_of(c);
    SCOPED(tacit__lsvi_user) *made = tacit__lsvi_user_create(&form);
    int64_t total[H * S * A] = {0};
    assert_non_null(made);
    assert_non_null(c->sum);
    for (size_t k = 0; k + 1 < USERS; k++) {
        const walk w = walk_of(k);
        const tacit_trajectory u = trajectory(&w);
        const uint64_t leaves = c->leaves;
        assert_ok(tacit__archive_add(c, &u, NULL));
        assert_ok(tacit__lsvi_place_user(&form, &u, made, NULL));
        const tacit__input x = tacit__lsvi_contribute_gram(&form, &u, made);
        assert_true(x.n == H);
        for (size_t i = 0; i < x.n; i++)
            total[x.index[i]] += x.value[i];
        if (c->leaves == leaves) {
            assert_memory_equal(total, c->leaf, sizeof total);
            continue;
        }
        for (size_t i = 0; i < H * S * A; i++) /* as it went into the sum */
            assert_true(c->shown[i] == ldexp((double)total[i], -c->gram_bits));
        memset(total, 0, sizeof total);
    }
    assert_true(c->leaves > 0);
    tacit__lsvi_user_wipe(&form, made);
    for (size_t h = 0; h < H; h++)
        assert_true(made->gram[h] == 0 && made->rewards[h] == 0 && made->cell[h] == 0);
}

/* --- Saved states ---------------------------------------------------------------------------------- */

static tacit_status carry_over(tacit__archive *from, tacit__archive *to)
{
    size_t size = 0;
    tacit__saved s = tacit__saved_save(NULL, &size, NULL);
    while (tacit__saved_next(&s))
        tacit__archive_fields(from, &s);
    SCOPED_FREE uint8_t *bytes = malloc(size);
    s = tacit__saved_save(bytes, &size, NULL);
    while (tacit__saved_next(&s))
        tacit__archive_fields(from, &s);
    assert_ok(s.status);
    s = tacit__saved_load(bytes, size, NULL);
    while (tacit__saved_next(&s))
        tacit__archive_fields(to, &s);
    return s.status;
}

/* One user, whose rewards are 1 and whose features are all 0.45. */
static void add_person(tacit__archive *c, bool carried)
{
    const double *gram;
    person p;
    fill_person(&p, 3, carried);
    for (size_t h = 0; h < H; h++)
        p.w.rewards[h] = 1;
    for (size_t i = 0; i < (H + 1) * A * 3; i++)
        (&p.features[0][0][0])[i] = 0.45;
    assert_ok(tacit__archive_add(c, &p.u, NULL));
    assert_ok(tacit__archive_gram(c, &gram, NULL));
}

/* Rewards are told in units of the steps' ranges, and features are at most 1 long. A state in which they are larger was not saved by
 * a curator like this: its users would move responses farther than declared, or beyond what can pass the door at all. */
TEST(saved_users_are_no_larger_than_users_can_be)
{
    for (size_t i = 0; i < 2 * CASES; i++) {
        const tacit__feature_form kind = forms[i % CASES % 3];
        const bool carried = kind == TACIT__CARRIED, pooled = i % CASES >= 3;
        const tacit_guarantee g = i < CASES ? (tacit_guarantee){.model = TACIT_MODEL_NONE}
                                            : (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6};
        const double *table = kind == TACIT__TABLE ? table_of_features() : NULL;
        for (int wrong = 0; wrong < (carried && i < CASES ? 3 : 2); wrong++) {
            SCOPED(tacit__archive) *from = open_as(kind, g, table, true, pooled),
                                   *to = open_as(kind, g, table, true, pooled);
            if (wrong == 1)
                from->range[0] = 1; /* and not 4 */
            else if (wrong == 2)
                from->o.space.feature_bits++; /* 0.9 in each of three */
            add_person(from, carried);
            assert_int_equal(carry_over(from, to), wrong == 0 ? TACIT_OK : TACIT_CORRUPT);
        }
    }
}

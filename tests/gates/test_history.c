/* One saved state, two lives. With equal users they release the same bits; from the first different user on, the noise of the
 * one says nothing about the noise of the other. For every kind of sum, and for every family of agents.
 *
 * What is looked at is the noise at the door, released - exact, of both lives. After they part, the normalized differences
 * have mean square 1 and the products have mean 0, as those of independent draws; before, all differences are 0. Seeds are
 * fixed; each of some 100 comparisons allows 5 standard deviations, so a fresh set of seeds would fail with a probability of about
 * 2e-4. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/sum.h>
#include <tacit/world.h>

#include "account/door.h"
#include "agents/agent_inside.h"
#include "audit/users.h"
#include "base/workspace.h"
#include "support/arena.h"
#include "support/kinds.h"
#include "support/random.h"
#include "support/sums.h"
#include "support/world.h"

/* --- What passed the door --------------------------------------------------------------------------- */

typedef struct passage {
    size_t release;
    uint64_t step;
    size_t offset, n, first; /* of its numbers in the tape */
    double stddev;
    bool laplace;
} passage;

typedef struct tape {
    const tacit_plan *plan;
    passage *passages;
    int64_t *exact, *noise;
    size_t n, capacity, numbers, room;
} tape;

static void record(void *context, const tacit__passage *p)
{
    tape *t = context;
    if (t->n == t->capacity) {
        t->capacity = 2 * t->capacity + 64;
        t->passages = realloc(t->passages, t->capacity * sizeof *t->passages);
        assert_non_null(t->passages);
    }
    if (t->numbers + p->n > t->room) {
        t->room = 2 * (t->numbers + p->n);
        t->exact = realloc(t->exact, t->room * sizeof *t->exact);
        t->noise = realloc(t->noise, t->room * sizeof *t->noise);
        assert_true(t->exact != NULL && t->noise != NULL);
    }
    bool laplace = p->law == TACIT_LAW_LAPLACE;
    t->passages[t->n++] = (passage){.release = tacit_plan_index(t->plan, p->release->name),
                                    .step = p->step,
                                    .offset = p->offset,
                                    .n = p->n,
                                    .first = t->numbers,
                                    .stddev = p->scale * (laplace ? M_SQRT2 : 1),
                                    .laplace = laplace};
    for (size_t i = 0; i < p->n; i++, t->numbers++) {
        t->exact[t->numbers] = p->exact[i];
        t->noise[t->numbers] = p->released[i] - p->exact[i];
    }
}

static void start_tape(tape *t, tacit_ledger *ledger)
{
    *t = (tape){.plan = tacit_ledger_plan(ledger)};
    tacit__ledger_set_recorder(ledger, record, t);
}

static void free_tape(tape *t)
{
    free(t->passages);
    free(t->exact);
    free(t->noise);
}

static void assert_same_tapes(const tape *a, const tape *b)
{
    assert_true(a->numbers > 0 && a->n == b->n && a->numbers == b->numbers);
    assert_memory_equal(a->exact, b->exact, a->numbers * sizeof *a->exact);
    assert_memory_equal(a->noise, b->noise, a->numbers * sizeof *a->noise);
}

static const passage *find(const tape *t, const passage *p)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->passages[i].release == p->release && t->passages[i].step == p->step &&
            t->passages[i].offset == p->offset)
            return &t->passages[i];
    return NULL;
}

/* Sums over all pairs of numbers after the lives have parted. */
typedef struct moments {
    double n, square, product, spread;
    size_t equal;
} moments;

static void compare(const tape *a, const passage *p, const tape *b, const passage *q, moments *m)
{
    for (size_t i = 0; i < p->n; i++) {
        double x = (double)a->noise[p->first + i] / p->stddev;
        double y = (double)b->noise[q->first + i] / q->stddev;
        m->n++;
        m->square += (x - y) * (x - y) / 2;
        m->product += x * y;
        m->spread += p->laplace ? 3.5 : 2; /* variance of half the squared difference: (mu4 - 1) */
        m->equal += a->noise[p->first + i] == b->noise[q->first + i];
    }
}

/* The releases of both lives, in order: equal noise up to the first different input, which is the first different exact
 * number unless `apart`; independent noise from then on. */
static void assert_parted(const tape *a, const tape *b, bool apart, const char *what)
{
    bool parted[64];
    moments m = {0};
    if (tacit_plan_law(a->plan) == TACIT_LAW_RESPONSE)
        return; /* a few answers have no moments: unit.fresh_releases has many of them */
    assert_true(tacit_plan_size(a->plan) <= 64);
    for (size_t i = 0; i < 64; i++)
        parted[i] = apart;
    for (size_t i = 0; i < a->n; i++) {
        const passage *p = &a->passages[i], *q = find(b, p);
        if (q == NULL)
            continue; /* that life did not come so far */
        assert_true(q->n == p->n && q->stddev == p->stddev);
        for (size_t j = i; j < a->n && !parted[p->release];
             j++) { /* the other pieces of this step */
            const passage *piece = &a->passages[j], *mate = find(b, piece);
            if (piece->release == p->release && piece->step == p->step && mate != NULL)
                parted[p->release] = memcmp(a->exact + piece->first, b->exact + mate->first,
                                            piece->n * sizeof *a->exact) != 0;
        }
        if (parted[p->release])
            compare(a, p, b, q, &m);
        else
            assert_memory_equal(a->noise + p->first, b->noise + q->first, p->n * sizeof *a->noise);
    }
    if (m.n == 0)
        fail_msg("%s: the lives never parted", what);
    double square = (m.square - m.n) / sqrt(m.spread), product = m.product / sqrt(m.n);
    if (!(fabs(square) <= 5 && fabs(product) <= 5 && m.equal <= 1))
        fail_msg("%s: differences %g, products %g standard deviations off, %zu of %g equal", what,
                 square, product, m.equal, m.n);
}

/* --- Sums ------------------------------------------------------------------------------------------- */

enum { USERS = 24, BEFORE = 7, PART = 4, MOST = 700 };

static void contribution(uint64_t seed, size_t dimension, double *x)
{
    uint64_t random = seed;
    for (size_t i = 0; i < dimension; i++)
        x[i] = random_between(&random, -0.9, 0.9) / (double)dimension;
}

/* The rest of a life: user BEFORE + PART is another one in life 1. */
static void live_on(sum_rig *rig, size_t dimension, int life)
{
    static double x[MOST];
    for (uint64_t k = BEFORE; k < USERS; k++) {
        contribution(k == BEFORE + PART && life == 1 ? 1000 : k, dimension, x);
        assert_ok(tacit_sum_add(rig->sum, x, NULL));
    }
}

TEST(two_lives_of_a_sum)
{
    static const size_t dimensions[] = {1, 5, MOST};
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++)
        for (size_t d = 0; d < N_OF(dimensions); d++) {
            static double x[MOST];
            tacit_sum_spec spec = sum_spec_of(sum_kinds[m], dimensions[d], USERS);
            sum_rig first, lives[3];
            tape tapes[3];
            sum_rig_open_unit(&first, &spec, 1);
            for (uint64_t k = 0; k < BEFORE; k++) {
                contribution(k, dimensions[d], x);
                assert_ok(tacit_sum_add(first.sum, x, NULL));
            }
            size_t size;
            assert_ok(tacit_sum_save(first.sum, NULL, &size, NULL));
            SCOPED_FREE void *saved = malloc(size);
            assert_ok(tacit_sum_save(first.sum, saved, &size, NULL));
            for (int life = 0; life < 3; life++) {
                sum_rig_open_unit(&lives[life], &spec, 2 + (uint64_t)life);
                assert_ok(tacit_sum_load(lives[life].sum, saved, size, NULL));
                start_tape(&tapes[life], lives[life].ledger);
                live_on(&lives[life], dimensions[d], life == 1);
            }
            assert_same_tapes(&tapes[0], &tapes[2]);
            assert_parted(&tapes[0], &tapes[1], false, tacit_sum_mechanism_name(spec.mechanism));
            for (int life = 0; life < 3; life++) {
                free_tape(&tapes[life]);
                sum_rig_close(&lives[life]);
            }
            sum_rig_close(&first);
        }
}

/* A user in one life only, with data that are equal to those of whoever has the place in the other: labels keep the noise apart. */
TEST(lives_with_other_labels_part_at_once)
{
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], MOST, USERS);
        sum_rig lives[3];
        tape tapes[3];
        for (int life = 0; life < 3; life++) {
            uint8_t label[TACIT__LABEL_BYTES] = {life == 1 ? 2 : 1};
            sum_rig_open_unit(&lives[life], &spec, 1);
            start_tape(&tapes[life], lives[life].ledger);
            tacit__ledger_label(lives[life].ledger, label);
            label[15] =
                7; /* the next user has the same label in all lives: what was before still counts */
            tacit__ledger_label(lives[life].ledger, label);
            live_on(&lives[life], MOST, 0);
        }
        assert_same_tapes(&tapes[0], &tapes[2]);
        assert_parted(&tapes[0], &tapes[1], true, "labels");
        for (int life = 0; life < 3; life++) {
            free_tape(&tapes[life]);
            sum_rig_close(&lives[life]);
        }
    }
}

/* --- Agents ----------------------------------------------------------------------------------------- */

typedef struct place {
    const char *kind;
    tacit_setting settings[2];
    size_t n_settings;
} place;

static const place places[] = {{"riverswim", {{0}}, 0},
                               {"lock", {{0}}, 0},
                               {"random-linear", {{0}}, 0},
                               {"kernel-bandit", {{0}}, 0},
                               {"linear-bandit", {{0}}, 0},
                               {"random-tabular",
                                {SET("states", "1"), SET("horizon", "1")},
                                2}}; /* a bandit without contexts */

/* A learner in a world, and how it counts and sums. */
typedef struct variant {
    const place *place;
    const char *kind;
    tacit_guarantee guarantee;
    tacit_setting setting; /* key NULL: none */
    const char *sums;
} variant;

enum { EPISODES = 64, EARLY = 5, OTHER = 9 };

static tacit_agent_request request_of(const variant *v, const tacit_world *world)
{
    tacit_agent_request q = request_in(world, v->kind, v->guarantee, EPISODES);
    q.settings = &v->setting;
    q.n_settings = v->setting.key != NULL;
    q.sums = v->sums;
    return q;
}

static tacit_world *open_world(const variant *v)
{
    return world_of(v->place->kind, v->place->settings, v->place->n_settings);
}

/* Finds the variant a world; false: there is no such learner. */
static bool find_world(variant *v)
{
    for (size_t i = 0; i < N_OF(places); i++) {
        v->place = &places[i];
        SCOPED(tacit_world) *world = open_world(v);
        SCOPED(tacit_agent) *agent = NULL;
        const tacit_agent_request request = request_of(v, world);
        if (agent_try(&request, 1, &agent, NULL) == TACIT_OK)
            return true;
    }
    return false;
}

/* Every learner in every model as it is, and in other ways that it has. */
static void each_variant(void (*check)(const variant *v))
{
    static const struct {
        unsigned models;
        tacit_setting setting;
        const char *sums;
    } ways[] = {{TACIT_AGENT_JOINT, SET("pooled", "no"), "tree"},
                {TACIT_AGENT_JOINT, SET("pooled", "no"), "smooth"},
                {TACIT_AGENT_JOINT, SET("pooled", "no"), "blt"},
                {TACIT_AGENT_LOCAL_PURE, SET("report", "step"), NULL},
                {TACIT_AGENT_JOINT, SET("growth", "1.6"), "tree"},
                {TACIT_AGENT_JOINT, SET("growth", "1"), "tree"},
                {TACIT_AGENT_JOINT, SET("explore", "20"), NULL},
                {TACIT_AGENT_JOINT, SET("replan", "every"), "tree"},
                {TACIT_AGENT_JOINT, SET("replan", "every"), "smooth"},
                {TACIT_AGENT_JOINT, SET("schedule", "batched"), NULL},
                {TACIT_AGENT_JOINT, SET("schedule", "doubling"), NULL}};
    kind_in_model k;
    size_t n[N_OF(ways)] = {0};
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++)
        for (size_t w = 0; w <= N_OF(ways) && k.model != TACIT_AGENT_NONE; w++) {
            variant v = {.kind = k.kind->name,
                         .guarantee = guarantee_in(k.model, 1, 1e-5),
                         .setting = setting_in(k.kind, k.model)};
            if (w < N_OF(ways)) {
                v.setting = ways[w].setting;
                v.sums = ways[w].sums;
            }
            if (w < N_OF(ways) && (ways[w].models & k.model) == 0)
                continue;
            if (find_world(&v)) {
                check(&v);
                n[w % N_OF(ways)]++;
            } else if (w == N_OF(ways)) {
                fail_msg("%s learns in none of the worlds", v.kind);
            }
        }
    for (size_t w = 0; w < N_OF(ways); w++)
        assert_true(n[w] > 0); /* some learner has each way */
}

static void learn(tacit_agent *agent, const tacit__user *user)
{
    tacit_billboard board;
    tacit_error err = {0};
    tacit_trajectory t = tacit__user_trajectory(user);
    assert_ok(tacit_agent_plan(agent, &board, &err));
    if (tacit_agent_learn(agent, &t, &err) != TACIT_OK)
        fail_msg("%s", err.message);
}

static void check_agent(const variant *v)
{
    SCOPED(tacit_world) *world = open_world(v);
    tacit_agent_request request = request_of(v, world);
    tacit__form form = tacit__form_of(&request);
    tacit__user *users = tacit__users_create(&form, EPISODES + 1);
    tacit__generator generator;
    assert_non_null(users);
    assert_ok(tacit__generator_open(&generator, 3, "users"));
    for (size_t k = 0; k <= EPISODES; k++)
        tacit__user_random(&form, &generator, &users[k]);
    SCOPED(tacit_agent) *first = agent_of(&request, 1);
    tacit_agent *lives[3];
    tape tapes[3];
    size_t size;
    for (size_t k = 0; k < EARLY; k++)
        learn(first, &users[k]);
    assert_ok(tacit_agent_save(first, NULL, &size, NULL));
    SCOPED_FREE void *saved = malloc(size);
    assert_ok(tacit_agent_save(first, saved, &size, NULL));
    for (size_t life = 0; life < 3; life++) {
        lives[life] = agent_of(&request, 2 + life);
        assert_ok(tacit_agent_load(lives[life], saved, size, NULL));
        start_tape(&tapes[life], tacit__agent_ledger(lives[life]));
        for (size_t k = EARLY; k < EPISODES; k++)
            learn(lives[life], &users[k == OTHER && life == 1 ? EPISODES : k]);
    }
    assert_same_tapes(&tapes[0], &tapes[2]);
    assert_parted(&tapes[0], &tapes[1], false, v->kind);
    for (size_t life = 0; life < 3; life++) {
        free_tape(&tapes[life]);
        tacit_agent_destroy(lives[life]);
    }
    tacit__workspace_destroy(users);
}

TEST(two_lives_of_an_agent)
{
    each_variant(check_agent);
}

static void check_device(const variant *v)
{
    if (v->guarantee.model != TACIT_MODEL_LOCAL)
        return;
    SCOPED(tacit_world) *world = open_world(v);
    tacit_agent_request request = request_of(v, world);
    tacit__form form = tacit__form_of(&request);
    tacit__user *users = tacit__users_create(&form, 2);
    tacit__generator generator;
    assert_ok(tacit__generator_open(&generator, 4, "users"));
    tacit__user_random(&form, &generator, &users[0]);
    tacit__user_random(&form, &generator, &users[1]);
    users[1].rewards[0] = users[0].rewards[0] < 0.5 ? 1 : 0;
    tape tapes[3];
    tacit_agent *devices[3];
    for (int d = 0; d < 3; d++) { /* one seed: copies of one device */
        devices[d] = agent_of(&request, 8);
        (void)agent_board(devices[d]);
        start_tape(&tapes[d], tacit__agent_ledger(devices[d]));
        size_t size;
        tacit_trajectory t = tacit__user_trajectory(&users[d == 1]);
        assert_ok(tacit_agent_report(devices[d], &t, NULL, &size, NULL));
        SCOPED_FREE void *report = malloc(size);
        assert_ok(tacit_agent_report(devices[d], &t, report, &size, NULL));
    }
    assert_same_tapes(&tapes[0], &tapes[2]);
    assert_parted(&tapes[0], &tapes[1], false, v->kind);
    for (int d = 0; d < 3; d++) {
        free_tape(&tapes[d]);
        tacit_agent_destroy(devices[d]);
    }
    tacit__workspace_destroy(users);
}

/* A device whose state was copied makes two reports. */
TEST(two_reports_of_one_device)
{
    each_variant(check_device);
}

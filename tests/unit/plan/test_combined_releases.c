/* All releases together: their noise, what they say of rows that nobody visits any more, and what that is worth. */
#include "plan/posterior/combined_releases.h"

#include <math.h>
#include <string.h>

#include "support/arena.h"
#include "support/random.h"
#include "support/weighted.h"

SCOPED_TYPE(tacit__combined_releases, tacit__combined_releases_destroy)

enum { ROWS = 3, RELEASES = 30 };
static const tacit__space bandit = {1, ROWS, 4, 1};

/* The strategy that is assumed is that of the curator's sums. */
TEST(noise_is_as_assumed)
{
    static const uint64_t users[] = {300, 3000, 20000, 20000};
    static const double deltas[] = {1e-6, 1e-6, 1e-6, 0};
    for (size_t i = 0; i < N_OF(users); i++) {
        const tacit_guarantee guarantee = {TACIT_MODEL_JOINT, 1, deltas[i]};
        const tacit__posterior_schedule o = {
            .counts = {.space = bandit,
                       .episodes = users[i],
                       .guarantee = guarantee,
                       .mechanism = tacit_sum_default_mechanism(guarantee)},
            .growth = deltas[i] > 0 ? 1.12 : 1.4};
        SCOPED(tacit__curator) *c = weighted_create(&o, 5);
        SCOPED(tacit__combined_releases) *h = NULL;
        const size_t releases = tacit__curator_n_ends(c);
        assert_ok(tacit__combined_releases_create(bandit, releases, deltas[i] == 0, &h));
        const uint32_t states[5] = {0}, actions[4] = {0, 1, 2, 0};
        const double rewards[4] = {0};
        const tacit_trajectory u = {STEPS_OF(states, actions, rewards)};
        double first = 0;
        uint64_t last = 0;
        size_t seen = 0;
        for (uint64_t k = 0; k < users[i]; k++) {
            assert_ok(weighted_add(c, &u));
            if (tacit__curator_shown(c) == last)
                continue;
            const tacit__weighted_counts n = tacit__posterior_counts(c);
            last = n.users;
            first = seen == 0 ? n.visits_stddev : first;
            assert_close(n.visits_stddev / first, tacit__combined_releases_noise(h, seen++), 0.02);
        }
        assert_int_equal(seen, releases);
    }
}

/* Releases of a running sum: x of each step, plus the noise of the strategy that is assumed. */
typedef struct stream {
    double column[RELEASES], gain[RELEASES], noise[RELEASES], sum;
} stream;

static void open_stream(stream *s)
{
    double all = 0, length = 0;
    memset(s, 0, sizeof *s);
    for (int j = 0; j < RELEASES; j++) {
        s->column[j] = j == 0 ? 1 : s->column[j - 1] * (2 * j - 1) / (2 * j);
        all += s->column[j] * s->column[j];
    }
    for (int j = RELEASES; j-- > 0;) {
        length += s->column[RELEASES - 1 - j] * s->column[RELEASES - 1 - j];
        s->gain[j] = sqrt(all / length);
    }
}

static double show(stream *s, int t, double x, double draw)
{
    double noise = 0; /* C^-1 z, as the solution of C noise = z */
    for (int j = 1; j <= t; j++)
        noise -= s->column[j] * s->noise[t - j];
    s->noise[t] = noise + draw;
    return s->sum += x + s->noise[t] / s->gain[t];
}

/* Row 0 is visited by all users, row 1 by those of the first step only, row 2 never. Of row 1 the releases tell
 * together what a single one would: its error is |c| times smaller than that of the first release, and the last one's is
 * larger. 2,000 tries: the standard deviation of a mean square is 3 %, and a false alarm is 5 of them. */
TEST(what_nobody_visits_any_more_is_known_better_and_better)
{
    enum { TRIES = 2000, VISITS = 4000 };
    uint64_t seed = 7;
    double squares[ROWS] = {0}, last = 0, column = 0, rise = 0;
    for (int i = 0; i < TRIES; i++) {
        SCOPED(tacit__combined_releases) *h = NULL;
        stream visits[ROWS], rewards[ROWS];
        double n[ROWS], r[ROWS];
        tacit__weighted_counts out = {0};
        assert_ok(tacit__combined_releases_create(bandit, RELEASES, false, &h));
        for (int x = 0; x < ROWS; x++) {
            open_stream(&visits[x]);
            open_stream(&rewards[x]);
        }
        for (int t = 0; t < RELEASES; t++) {
            const double users = t == 0 ? 1000 : 120 * pow(1.12, t - 1);
            for (int x = 0; x < ROWS; x++) {
                const double came = x == 0 ? users : x == 1 && t == 0 ? VISITS : 0;
                n[x] = show(&visits[x], t, came, 20 * random_normal(&seed));
                r[x] = show(&rewards[x], t, came * 0.25, 10 * random_normal(&seed));
            }
            const tacit__weighted_counts c = {
                .users = (uint64_t)(1000 * pow(1.12, t)),
                .visits = n,
                .rewards = r,
                .visits_stddev = 20 * tacit__combined_releases_noise(h, (size_t)t),
                .moves_stddev = HUGE_VAL,
                .rewards_stddev = 10 * tacit__combined_releases_noise(h, (size_t)t)};
            out = tacit__combined_releases_absorb(h, &c);
        }
        for (int x = 0; x < 2; x++)
            squares[x] += pow(out.rewards[x] / out.visits[x] - 0.25, 2) / TRIES;
        last += pow(r[1] / n[1] - 0.25, 2) / TRIES;
        rise += out.visits[1] / n[1] / TRIES;
        column = tacit__combined_releases_noise(h, RELEASES - 1);
        assert_true(fabs(out.visits[2]) < 6 * out.visits_stddev);
    }
    stream s;
    double length = 0;
    open_stream(&s);
    for (int j = 0; j < RELEASES; j++)
        length += s.column[j] * s.column[j];
    const double first = (10.0 * 10.0 + pow(0.25 * 20, 2)) / VISITS / VISITS;
    assert_close(last, first * column * column, 0.15);
    assert_close(squares[1], first / length, 0.15);
    assert_within(rise, 1.5, 2); /* at most |c| times the noise of the last one */
}

/* What the users of a table of one state lose if one action pays 0.7 and the others 0.5. */
static double lose(const char *kind, uint64_t seed)
{
    enum { ACTIONS = 30, STEPS = 10, USERS = 20000 };
    const tacit_agent_request q = {.kind = kind,
                                   .n_states = 1,
                                   .n_actions = ACTIONS,
                                   .horizon = STEPS,
                                   .episodes = USERS,
                                   .stationary = true,
                                   .guarantee = {TACIT_MODEL_JOINT, 1, 1e-5}};
    SCOPED(tacit_agent) *agent = agent_of(&q, seed);
    double lost = 0;
    for (uint64_t k = 0; k < USERS; k++) {
        const tacit_billboard board = agent_board(agent);
        const uint32_t states[STEPS + 1] = {0};
        uint32_t taken[STEPS];
        double paid[STEPS];
        for (size_t h = 0; h < STEPS; h++) {
            taken[h] =
                board.policy != NULL ? board.policy[h] : (uint32_t)random_below(&seed, ACTIONS);
            paid[h] = random_unit(&seed) < (taken[h] == 13 ? 0.7 : 0.5);
            lost += taken[h] == 13 ? 0 : 0.2;
        }
        const tacit_trajectory t = {STEPS_OF(states, taken, paid)};
        assert_ok(tacit_agent_learn(agent, &t, NULL));
    }
    return lost;
}

/* explore-commit has about 3,440 here, and by the last release alone posterior-tabular has 3,820 with a standard
 * deviation of 760 (20 runs). With all releases 59 of 60 seeds have 1,450 to 2,700, and one has 6,043: the mean of 10
 * is above 3/4 of explore-commit's if two of them are like that one, in 1 of 80 choices of seeds. */
TEST(many_actions_of_one_state_cost_less_than_one_release_for_all)
{
    double ours = 0, baseline = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        ours += lose("posterior-tabular", seed);
        baseline += lose("explore-commit-tabular", seed);
    }
    assert_true(ours < 0.75 * baseline);
}

/* People who come back in the laboratory: every order keeps what it says, and a person begins alike each time. */
#include "support/world.h"

#include <stdio.h>
#include <string.h>

#include <tacit/lab.h>

#include "base/memory.h"
#include "lab/runs/visitors.h"
#include "worlds/bandit.h"
#include "worlds/walk.h"

SCOPED_TYPE(tacit__people_order, tacit__people_order_destroy)

enum { MOST_PEOPLE = 64 };

static tacit_noise *root_of(uint64_t seed)
{
    tacit_noise *root = NULL;
    assert_ok(tacit_noise_create_simulated(seed, &root));
    return root;
}

static tacit__people_order *order_of(const tacit_visitors *v, uint64_t seed)
{
    tacit__people_order *order = NULL;
    tacit_error err = {.message = ""};
    SCOPED(tacit_noise) *root = root_of(seed);
    assert_ok(tacit__people_order_create(v, root, &order, &err));
    return order;
}

/* By the rule of a service: at most so many visits of each, none too soon. */
static void assert_kept(const tacit_visitors *v, uint64_t users, uint64_t seed)
{
    uint64_t visits[MOST_PEOPLE] = {0}, last[MOST_PEOPLE] = {0};
    const tacit_visitors kept = tacit__visitors_kept(v, users);
    SCOPED(tacit__people_order) *order = order_of(v, seed);
    assert_true(kept.visits <= v->visits && (kept.apart >= v->apart || users <= v->people));
    for (uint64_t u = 0; u < users; u++) {
        const uint64_t who = tacit__people_order_at(order, u);
        assert_true(who < v->people);
        assert_true(visits[who] < kept.visits);
        assert_true(visits[who] == 0 || u - last[who] >= kept.apart);
        visits[who]++;
        last[who] = u;
    }
}

TEST(no_order_has_a_visit_too_many_or_too_soon)
{
    for (uint64_t people = 1; people <= 13; people++)
        for (uint64_t visits = 1; visits <= 4; visits++)
            for (uint64_t apart = 1; apart <= people; apart++)
                for (uint64_t users = visits * apart; users <= people * visits; users++)
                    for (int random = 0; random < 2; random++) {
                        const tacit_visitors v = {people, visits, apart,
                                                  random ? TACIT_ORDER_RANDOM : TACIT_ORDER_ROUNDS};
                        assert_kept(&v, users, users);
                    }
}

/* With a distance of 40 among 50 people, the first of a round is one of the first 11 of the round before: each
 * of them in about 1000 / 11 of 1000 runs, 6 standard deviations either way. */
TEST(a_random_order_takes_everybody_who_may_come)
{
    enum { PEOPLE = 50, APART = 40, RUNS = 1000 };
    const tacit_visitors v = {PEOPLE, 3, APART, TACIT_ORDER_RANDOM};
    uint64_t place_of[PEOPLE], first[PEOPLE] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        SCOPED(tacit__people_order) *order = order_of(&v, seed);
        for (uint64_t u = 0; u < PEOPLE; u++)
            place_of[tacit__people_order_at(order, u)] = u;
        first[place_of[tacit__people_order_at(order, PEOPLE)]]++;
    }
    for (uint64_t place = 0; place < PEOPLE; place++)
        if (place <= PEOPLE - APART)
            assert_true(first[place] > 36 && first[place] < 146);
        else
            assert_int_equal(first[place], 0);
}

TEST(an_order_can_be_asked_for_again)
{
    const tacit_visitors v = {9, 4, 5, TACIT_ORDER_RANDOM};
    uint64_t who[36];
    SCOPED(tacit__people_order) *order = order_of(&v, 3);
    for (uint64_t u = 0; u < 36; u++)
        who[u] = tacit__people_order_at(order, u);
    for (uint64_t u = 0; u < 36; u++)
        assert_int_equal(tacit__people_order_at(order, u), who[u]);
}

TEST(a_person_begins_every_walk_in_the_same_state)
{
    enum { PEOPLE = 40, VISITS = 5 };
    static const tacit_setting map[] = {{"map", "SFG/SHF/FFS", 0}, {"slip", "0.5", 0}};
    SCOPED(tacit_world) *world = world_of("grid", map, 2);
    SCOPED(tacit_noise) *root = root_of(1);
    SCOPED(tacit_walk) *walk = NULL;
    tacit_error err = {.message = ""};
    uint32_t begins[PEOPLE];
    bool differ = false;
    assert_ok(tacit_walk_create(world, root, &walk, &err));
    for (uint64_t u = 0; u < (uint64_t)PEOPLE * VISITS; u++) {
        uint32_t where;
        tacit__walk_set_person(walk, u % PEOPLE);
        assert_ok(tacit_walk_begin(walk, u, &where));
        if (u < PEOPLE)
            begins[u] = where;
        assert_int_equal(where, begins[u % PEOPLE]);
        differ = differ || where != begins[0];
    }
    assert_true(differ);
}

TEST(a_person_has_the_same_context_at_each_round_and_other_rewards)
{
    enum { PEOPLE = 20, VISITS = 30 };
    static const tacit_setting settings[] = {
        {"actions", "3", 0}, {"arms", "disjoint", 0}, {"contexts", "0", 0}};
    SCOPED(tacit_world) *world = world_of("linear-bandit", settings, 3);
    const tacit_bandit *face = tacit_world_describe(world)->bandit;
    const size_t n = face->dimension;
    SCOPED(tacit_noise) *root = root_of(1);
    SCOPED(tacit_rounds) *rounds = NULL;
    tacit_error err = {.message = ""};
    double *first = tacit__alloc(PEOPLE * n, sizeof *first), paid[PEOPLE] = {0};
    bool others = false;
    assert_non_null(first);
    assert_ok(tacit_rounds_create(world, root, &rounds, &err));
    for (uint64_t u = 0; u < (uint64_t)PEOPLE * VISITS; u++) {
        tacit_visitor v;
        double reward = 0, *own = first + u % PEOPLE * n;
        tacit__rounds_set_person(rounds, u % PEOPLE);
        assert_ok(tacit_rounds_begin(rounds, u, &v));
        assert_ok(tacit_rounds_reward(rounds, 0, &reward));
        if (u < PEOPLE) {
            memcpy(own, v.features, n * sizeof *own);
            paid[u] = reward;
        }
        assert_memory_equal(own, v.features, n * sizeof *own);
        others = others || reward != paid[u % PEOPLE];
    }
    assert_true(others);
    assert_memory_not_equal(first, first + n, n * sizeof *first);
    tacit__free(first);
}

static tacit_results *play(const char *text, tacit_status wanted, const char *message)
{
    SCOPED(tacit_experiment) *e = NULL;
    tacit_results *results = NULL;
    tacit_error err = {.message = ""};
    assert_ok(tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err));
    tacit_status status = tacit_lab_run(e, NULL, &results, &err);
    assert_ptr_equal(strstr(err.message, message), err.message);
    assert_status(status, wanted);
    return results;
}

/* Everybody begins in the same state, so who comes changes nothing. */
TEST(in_a_river_it_does_not_matter_who_comes)
{
    static const char text[] =
        "worlds: [{label: a, kind: riverswim%s}]\nepisodes: 600\n"
        "agents: [{kind: dp-ucbvi, privacy: {model: joint, epsilon: 5, visits: 3, apart: 150}}]\n";
    const char *once = fmt(text, "");
    const char *often =
        fmt(text, ", visitors: {people: 200, visits: 3, apart: 150, order: random}");
    SCOPED(tacit_results) *a = play(once, TACIT_OK, ""), *b = play(often, TACIT_OK, "");
    assert_true(tacit_results_summary(a, 0, 0).regret_mean ==
                tacit_results_summary(b, 0, 0).regret_mean);
    assert_int_equal(tacit_results_describe(b)->worlds[0].visitors.people, 200);
}

#define PEOPLE_FILE TACIT_TESTS_DIR "/cli/data/people.csv"

TEST(people_of_a_file_may_come_more_often_but_there_are_no_more_of_them)
{
    static const char text[] =
        "world: {kind: logged-bandit, file: \"" PEOPLE_FILE
        "\", answer: \"income {low | high}\", context: \"age 18..70 ?\"}\n"
        "episodes: %d\nvisitors: {people: %d, visits: 3}\n"
        "agents: [{kind: lin-ucb, privacy: {model: joint, epsilon: 5, delta: 0.001, visits: 3}}]\n";
    const char *enough = fmt(text, 33, 11);
    const char *more = fmt(text, 36, 12);
    tacit_results_destroy(play(enough, TACIT_OK, ""));
    assert_null(play(more, TACIT_SYNTAX,
                     "f:1: 12 visitors, but 'logged-bandit' has 11 people; ask "
                     "for at most that many"));
}

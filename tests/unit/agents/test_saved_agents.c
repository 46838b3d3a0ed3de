/* Saved states of every family with counters that nobody can have counted: whoever can make a checksum right can write any number, and
 * none of them may reach the code behind. Fuzzing (tests/fuzz/fuzz_agent_bytes.c) tries all kinds of numbers; here each counter
 * is tried by itself. */
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>

#include "agents/tabular/tabular_agents.h"
#include "noise/stream.h"
#include "support/check.h"
#include "support/small_agents.h"

enum {
    S = SMALL_STATES,
    A = SMALL_ACTIONS,
    H = SMALL_STEPS,
    USERS = 40,
    STOP = 29, /* users; no cell of the sums of these agents happens to have this value */
    CHECKSUM = 32,
    HEADER = 64,
    SEALS = 16
};

static const small_agent given[] = {
    {"dp-ucbvi", {TACIT_MODEL_LOCAL, 1, 1e-5}, SET("report", "step"), NULL, false},
    {"dp-ucbvi", {TACIT_MODEL_LOCAL, 1, 0}, SET("pooled", "no"), NULL, false},
};
static small_agent variants[SMALL_MOST];
static size_t n_variants;

static tacit_agent *hire(const small_agent *v)
{
    tacit_agent *agent;
    assert_ok(small_agent_create(v, H, USERS, &agent, NULL));
    return agent;
}

/* An episode by the agent's own plan. Anything may be refused, but actions exist. */
static void serve(tacit_agent *agent, const small_agent *v, uint64_t user)
{
    bool carried = small_carried(v);
    uint32_t states[H + 1] = {0}, actions[H] = {0};
    double rewards[H] = {0}, probability;
    tacit_billboard board;
    if (tacit_agent_plan(agent, &board, NULL) != TACIT_OK)
        return;
    for (size_t h = 0; h < small_horizon(v, H); h++) {
        states[h] = (uint32_t)((user + h) % small_states(v));
        const tacit_situation here = {
            .step = h, .state = states[h], .features = carried ? small_features[h] : NULL};
        if (tacit_agent_act(agent, &here, 0.5, &actions[h], &probability, NULL) != TACIT_OK)
            return;
        assert_true(actions[h] < A);
        rewards[h] = 0.25 + 0.5 * (double)actions[h];
    }
    const tacit_trajectory t = {STEPS_OF(states, actions, rewards),
                                .features = carried ? small_features[0] : NULL};
    (void)!tacit_agent_learn(agent, &t, NULL);
}

/* --- States whose checksums are right ---------------------------------------------------------------- */

typedef struct saved {
    uint8_t *data;
    size_t size;
    struct {
        size_t start, size;
    } seals[SEALS]; /* what is followed by its checksum, from the inside out */
    size_t n_seals;
} saved;

static void add_seal(saved *s, size_t start, size_t end)
{
    uint8_t digest[CHECKSUM];
    if (start + CHECKSUM >= end || end > s->size || s->n_seals == SEALS)
        return;
    tacit__digest(&(tacit__bytes){s->data + start, end - start - CHECKSUM}, 1, digest);
    if (memcmp(digest, s->data + end - CHECKSUM, CHECKSUM) != 0)
        return;
    s->seals[s->n_seals].start = start;
    s->seals[s->n_seals++].size = end - start - CHECKSUM;
}

/* Whatever has a checksum says its own size in its second or third word, or goes to the end of what the agent's covers. */
static saved save(const tacit_agent *agent)
{
    saved s = {0};
    assert_ok(tacit_agent_save(agent, NULL, &s.size, NULL));
    s.data = malloc(s.size);
    assert_non_null(s.data);
    assert_ok(tacit_agent_save(agent, s.data, &s.size, NULL));
    for (size_t start = s.size - CHECKSUM; start-- > 0;) {
        for (size_t at = start + 8; at <= start + 16 && at + 8 <= s.size; at += 8) {
            uint64_t size;
            memcpy(&size, s.data + at, sizeof size);
            if (size > CHECKSUM && size <= s.size - start)
                add_seal(&s, start, start + size);
        }
        if (start >= HEADER)
            add_seal(&s, start, s.size - CHECKSUM);
    }
    assert_true(s.n_seals > 0 && s.seals[s.n_seals - 1].start == 0);
    return s;
}

static void write_word(const saved *s, size_t at, uint64_t word)
{
    memcpy(s->data + at, &word, sizeof word);
    for (size_t i = 0; i < s->n_seals; i++)
        tacit__digest(&(tacit__bytes){s->data + s->seals[i].start, s->seals[i].size}, 1,
                      s->data + s->seals[i].start + s->seals[i].size);
}

/* Loads it and, if it is taken, goes on with it to the end. */
static bool is_taken(const small_agent *v, const saved *s)
{
    SCOPED(tacit_agent) *agent = hire(v);
    tacit_error err = {.message = ""};
    tacit_status status = tacit_agent_load(agent, s->data, s->size, &err);
    for (uint64_t k = 0; k < USERS; k++)
        serve(agent, v, k);
    if (status != TACIT_OK)
        assert_true(err.status == status && err.message[0] != '\0');
    return status == TACIT_OK;
}

/* A counter is a word that says how many of the users there have been. (Versions may say the same, and no number of them is declared.) */
TEST(counters_that_nobody_can_have_counted_are_refused)
{
    static const uint64_t large[] = {UINT64_MAX, UINT64_MAX - 4, (uint64_t)1 << 63,
                                     (uint64_t)1 << 54};
    n_variants = small_agents_fill(given, N_OF(given), variants);
    for (size_t i = 0; i < n_variants; i++) {
        const small_agent *v = &variants[i];
        SCOPED(tacit_agent) *agent = hire(v);
        size_t counters = 0;
        for (uint64_t k = 0; k < STOP; k++)
            serve(agent, v, k);
        saved s = save(agent);
        assert_true(is_taken(v, &s));
        for (size_t at = HEADER; at + 8 <= s.size - CHECKSUM; at += 4) {
            uint64_t word;
            memcpy(&word, s.data + at, sizeof word);
            if (word != STOP)
                continue;
            counters++;
            for (size_t j = 0; j < sizeof large / sizeof *large; j++) {
                write_word(&s, at, large[j]);
                if (is_taken(v, &s))
                    fail_msg("%s %zu: the counter at %zu of %zu was taken as %llu", v->kind, i, at,
                             s.size, (unsigned long long)large[j]);
            }
            write_word(&s, at, word);
        }
        assert_true(counters > 0);
        assert_true(is_taken(v, &s));
        free(s.data);
    }
}

/* A tabular learner's curator begins with the users and how often they were drawn for. One user less than the sums have had would be one more to come than was declared. */
TEST(users_are_as_many_as_the_steps_of_their_sums_and_levels_follow_from_them)
{
    for (size_t i = 0; i < n_variants; i++) {
        const small_agent *v = &variants[i];
        if (v->guarantee.model == TACIT_MODEL_NONE || !is_of_family(&tacit__tabular_rows, v->kind))
            continue;
        SCOPED(tacit_agent) *agent = hire(v);
        for (uint64_t k = 0; k < STOP; k++)
            serve(agent, v, k);
        saved s = save(agent);
        size_t at = HEADER;
        uint64_t words[2] = {0};
        for (memcpy(words, s.data + at, sizeof words);
             (words[0] != STOP || words[1] != STOP) && at + 24 <= s.size; at += 8)
            memcpy(words, s.data + at + 8, sizeof words);
        assert_true(words[0] == STOP && words[1] == STOP);
        write_word(&s, at, STOP - 1);
        assert_false(is_taken(v, &s));
        write_word(&s, at, STOP + 1);
        assert_false(is_taken(v, &s));
        write_word(&s, at, STOP);
        assert_true(is_taken(v, &s));
        /* Then come whether the release is fresh, the users that levels were computed for, and a level for each of three streams. */
        for (size_t level = at + 32; level < at + 56; level += 8) {
            uint64_t word;
            memcpy(&word, s.data + level, sizeof word);
            write_word(&s, level, word ^ (uint64_t)1 << 63);
            assert_false(is_taken(v, &s));
            write_word(&s, level, word);
        }
        assert_true(is_taken(v, &s));
        free(s.data);
    }
}

/* The users that reported each step, in a row: as many as there were, however they are told. */
TEST(reports_of_single_steps_are_as_many_as_the_users)
{
    const small_agent *v = &given[0];
    SCOPED(tacit_agent) *agent = hire(v);
    for (uint64_t k = 0; k < STOP; k++)
        serve(agent, v, k);
    saved s = save(agent);
    size_t found = 0;
    for (size_t at = HEADER; at + 8 * H <= s.size - CHECKSUM && found == 0; at++) {
        uint64_t n[H];
        memcpy(n, s.data + at, sizeof n);
        found = n[0] > 0 && n[0] < STOP && n[1] < STOP && n[2] < STOP && n[0] + n[1] + n[2] == STOP
                    ? at
                    : 0;
    }
    assert_true(found > 0);
    uint64_t first;
    memcpy(&first, s.data + found, sizeof first);
    static const uint64_t others[] = {UINT64_MAX, UINT64_MAX - 100, STOP + 1};
    for (size_t j = 0; j < 3; j++) {
        write_word(&s, found, others[j]);
        assert_false(is_taken(v, &s));
    }
    write_word(&s, found, first + 1);
    assert_false(is_taken(v, &s));
    write_word(&s, found, first);
    assert_true(is_taken(v, &s));
    free(s.data);
}

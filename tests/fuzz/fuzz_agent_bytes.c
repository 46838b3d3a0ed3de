/* Agents as bytes, tampered with: reports that come from anybody's device, models that come from anybody's server, states from a
 * damaged disk.
 *
 * An input is a recipe. Byte 0 chooses the agent (fill_variants), byte 1 what is tampered with (report, model, state) and how many users
 * there were, byte 2 what is done:
 *
 *     bit 0   set: the rest replaces all but the header; clear: edits of three bytes each, offset (two, low first) and what is
 *             xored there
 *     bit 1   set: the header is not spared
 *     bit 2   states: checksums are left wrong; clear: all of them are made right, so that the code behind is reached
 *     bit 3   edits are of words: eight bytes at 8 times the offset become one of a table of troublesome numbers
 *
 * So every input contains a whole valid report, model or state, whatever the format is today, and the corpus stays small.
 *
 * Reports: what the check takes, or calls late, is absorbed, what it refuses changes nothing; a learner that swallowed it plans as before.
 * Models: followed or refused; then every action exists, and the report of who follows is one that the server takes. States: a refusal
 * leaves the agent fresh; what is accepted is saved as the same bytes, plans, and takes users to its end. (Numbers are not judged: whoever can make a
 * checksum right could have written any.) */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>

#include "fuzz/fuzz.h"
#include "noise/stream.h"
#include "support/scoped.h"
#include "support/small_agents.h"

enum {
    S = SMALL_STATES,
    A = SMALL_ACTIONS,
    H = 2,
    USERS = 12,
    STOPS = 6,
    CHECKSUM = 32,
    MAX_SEALS = 16
};
enum { REPORT, MODEL, STATE, KINDS_OF_BYTES };
enum { REPLACE = 1, WITH_HEADER = 2, WRONG_CHECKSUM = 4, WORDS = 8 };
enum { REPORT_HEADER = 24, STATE_HEADER = 64 };

static small_agent variants[SMALL_MOST];
static size_t n_variants;

/* Every learner in every model as it is; before them those that take one of these settings, which have states or reports of another
 * form. The corpus knows them by their numbers. */
static size_t fill_variants(void)
{
    static const struct {
        unsigned model;
        tacit_setting setting;
    } ways[] = {{TACIT_AGENT_LOCAL_PURE, {.key = "pooled", .value = "yes"}},
                {TACIT_AGENT_LOCAL, {.key = "report", .value = "step"}},
                {TACIT_AGENT_NONE, {.key = "bonus", .value = "certificate"}}};
    static small_agent special[SMALL_MOST];
    kind_in_model k;
    size_t n = 0;
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            SCOPED(tacit_agent) *agent = NULL;
            special[n] = (small_agent){.kind = k.kind->name,
                                       .guarantee = guarantee_in(k.model, 1, 1e-5),
                                       .setting = ways[w].setting};
            n += k.model == ways[w].model &&
                 small_agent_create(&special[n], SMALL_STEPS, 8, &agent, NULL) == TACIT_OK;
        }
    return small_agents_fill(special, n, variants);
}

static tacit_agent *hire(size_t which)
{
    tacit_agent *agent = NULL;
    tacit_error err = {0};
    if (small_agent_create(&variants[which], H, USERS, &agent, &err) != TACIT_OK) {
        (void)fprintf(stderr, "%s: %s\n", variants[which].kind, err.message);
        abort();
    }
    return agent;
}

/* --- A life ------------------------------------------------------------------------------------- */

/* An episode by the agent's own plan; its actions exist. */
static tacit_trajectory play(tacit_agent *agent, size_t which)
{
    static uint32_t states[H + 1], actions[H];
    static double rewards[H];
    for (size_t h = 0; h < small_horizon(&variants[which], H); h++) {
        double probability;
        const tacit_situation here = {
            .step = h,
            .state = states[h] = (uint32_t)(h % small_states(&variants[which])),
            .features = small_carried(&variants[which]) ? small_features[h] : NULL};
        require(tacit_agent_act(agent, &here, 0.5, &actions[h], &probability, NULL) == TACIT_OK);
        require(actions[h] < A);
        rewards[h] = 0.25 + 0.5 * (double)actions[h];
    }
    if (variants[which].bare) /* there is no other */
        states[1] = 0;
    return (tacit_trajectory){.states = states,
                              .actions = actions,
                              .rewards = rewards,
                              .features =
                                  small_carried(&variants[which]) ? small_features[0] : NULL};
}

/* Whatever it has swallowed, there is a plan, and it is one. */
static void plan(tacit_agent *agent, size_t which)
{
    tacit_billboard board;
    require(tacit_agent_plan(agent, &board, NULL) == TACIT_OK);
    for (size_t i = 0; board.policy != NULL &&
                       i < small_horizon(&variants[which], H) * small_states(&variants[which]);
         i++)
        require(board.policy[i] < A);
}

static void serve(tacit_agent *agent, size_t which, size_t users)
{
    plan(agent, which);
    for (size_t k = 0; k < users; k++) {
        tacit_trajectory t = play(agent, which);
        require(tacit_agent_learn(agent, &t, NULL) == TACIT_OK);
        plan(agent, which);
    }
}

/* --- What is true, made once -------------------------------------------------------------------- */

/* A part of a state that is followed by its checksum. */
typedef struct seal {
    size_t start, size;
} seal;

typedef struct bytes {
    uint8_t *data;
    size_t size;
    bool none; /* this kind has no such thing */
    seal seals[MAX_SEALS];
    size_t n_seals;
} bytes;

static bytes room(tacit_status status, const size_t *size)
{
    require(status == TACIT_OK || status == TACIT_UNSUPPORTED);
    return (bytes){.data = status == TACIT_OK ? malloc(*size) : NULL,
                   .size = *size,
                   .none = status != TACIT_OK};
}

static void add_seal(bytes *b, size_t start, size_t end)
{
    uint8_t digest[CHECKSUM];
    const size_t size = end - start - CHECKSUM;
    if (start + CHECKSUM >= end || end > b->size || b->n_seals == MAX_SEALS)
        return;
    tacit__digest(&(tacit__bytes){b->data + start, size}, 1, digest);
    if (memcmp(digest, b->data + start + size, CHECKSUM) == 0)
        b->seals[b->n_seals++] = (seal){start, size};
}

/* Whatever has a checksum says its own size in its second or third word, or goes to the end of what the agent's covers. From the
 * back, so that what is inside comes first. */
static void find_seals(bytes *b)
{
    for (size_t start = b->size - CHECKSUM; start-- > 0;) {
        for (size_t at = start + 8; at <= start + 16 && at + 8 <= b->size; at += 8) {
            uint64_t size;
            memcpy(&size, b->data + at, sizeof size);
            if (size > CHECKSUM && size <= b->size - start)
                add_seal(b, start, start + size);
        }
        add_seal(b, start, b->size - CHECKSUM);
    }
}

static bytes save(const tacit_agent *agent)
{
    size_t size = 0;
    bytes b = room(tacit_agent_save(agent, NULL, &size, NULL), &size);
    require(b.none || tacit_agent_save(agent, b.data, &b.size, NULL) == TACIT_OK);
    return b;
}

static bytes make(size_t which, size_t what, size_t users)
{
    size_t size = 0;
    bytes b;
    SCOPED(tacit_agent) *agent = hire(which);
    serve(agent, which, users);
    if (what == REPORT) {
        b = room(tacit_agent_report(agent, NULL, NULL, &size, NULL), &size);
        tacit_trajectory t = play(agent, which);
        require(b.none || tacit_agent_report(agent, &t, b.data, &b.size, NULL) == TACIT_OK);
    } else if (what == MODEL) {
        b = room(tacit_agent_publish(agent, NULL, &size, NULL), &size);
        require(b.none || tacit_agent_publish(agent, b.data, &b.size, NULL) == TACIT_OK);
    } else {
        b = save(agent);
        if (!b.none)
            find_seals(&b);
    }
    return b;
}

static bytes truth(size_t which, size_t what, size_t users)
{
    static bytes kept[SMALL_MOST][KINDS_OF_BYTES][STOPS];
    bytes *b = &kept[which][what][users];
    if (b->data == NULL && !b->none)
        *b = make(which, what, users);
    return *b;
}

/* --- The recipe --------------------------------------------------------------------------------- */

static uint64_t trouble(uint8_t choice)
{
    static const double reals[] = {0, -0.0, 1, -1, 0.5, 1e300, -1e300, 1e-320, 1e16, 3};
    static const uint64_t words[] = {0,
                                     1,
                                     2,
                                     USERS,
                                     UINT64_MAX,
                                     INT64_MAX,
                                     (uint64_t)INT64_MIN,
                                     UINT64_C(1) << 52,
                                     UINT64_C(1) << 62,
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0x7ff8000000000000),
                                     UINT64_C(0xfff0000000000000)};
    enum { N_WORDS = sizeof words / sizeof *words, N = N_WORDS + sizeof reals / sizeof *reals };
    uint64_t word;
    choice %= N;
    if (choice < N_WORDS)
        return words[choice];
    memcpy(&word, &reals[choice - N_WORDS], sizeof word);
    return word;
}

/* Makes the checksums right that were right before, from the inside out; the agent's own too if the size has changed. */
static void right_checksums(uint8_t *state, size_t n, const bytes *before)
{
    for (size_t i = 0; i < before->n_seals && n == before->size; i++) {
        const seal *s = &before->seals[i];
        tacit__digest(&(tacit__bytes){state + s->start, s->size}, 1, state + s->start + s->size);
    }
    if (n > CHECKSUM)
        tacit__digest(&(tacit__bytes){state, n - CHECKSUM}, 1, state + n - CHECKSUM);
}

static bytes tamper(bytes b, size_t what, uint8_t mode, const uint8_t *rest, size_t left)
{
    size_t header = mode & WITH_HEADER ? 0 : what == STATE ? STATE_HEADER : REPORT_HEADER;
    bytes out = {.data = malloc(b.size + left + 8), .size = b.size};
    memcpy(out.data, b.data, b.size);
    if (mode & REPLACE) {
        if (left > 0)
            memcpy(out.data + header, rest, left);
        out.size = header + left;
    }
    for (; !(mode & REPLACE) && left >= 3; rest += 3, left -= 3) {
        size_t at = rest[0] | (size_t)rest[1] << 8;
        if (mode & WORDS) {
            uint64_t word = trouble(rest[2]);
            at = header + 8 * (at % ((out.size - header) / 8));
            memcpy(out.data + at, &word, sizeof word);
        } else {
            out.data[header + at % (out.size - header)] ^= rest[2];
        }
    }
    if (what == STATE && !(mode & WRONG_CHECKSUM))
        right_checksums(out.data, out.size, &b);
    out.data = realloc(out.data, out.size > 0 ? out.size : 1); /* so that reading on is seen */
    return out;
}

/* --- What must hold ----------------------------------------------------------------------------- */

static void require_reason(tacit_status status, const tacit_error *err)
{
    require(err->status == status && err->message[0] != '\0');
}

/* A report of another epoch counts too; nothing of it is added. */
static bool is_counted(tacit_status check)
{
    return check == TACIT_OK || check == TACIT_LATE;
}

static void try_report(size_t which, size_t users, bytes b)
{
    SCOPED(tacit_agent) *server = hire(which);
    tacit_error err = {0};
    serve(server, which, users);
    bytes before = save(server);
    tacit_status check = tacit_agent_check_report(server, b.data, b.size, &err);
    if (check != TACIT_OK)
        require_reason(check, &err);
    tacit_status status = tacit_agent_absorb(server, b.data, b.size, &err);
    require(is_counted(check) == (status == TACIT_OK));
    if (status == TACIT_OK) {
        plan(server, which);
        (void)play(server, which);
    } else {
        bytes after = save(server);
        require_reason(status, &err);
        require(after.size == before.size && memcmp(after.data, before.data, after.size) == 0);
        free(after.data);
    }
    free(before.data);
}

static void try_model(size_t which, bytes b)
{
    SCOPED(tacit_agent) *device = hire(which);
    tacit_error err = {0};
    tacit_status status = tacit_agent_follow(device, b.data, b.size, &err);
    size_t size = 0;
    if (status != TACIT_OK) {
        require_reason(status, &err);
        serve(device, which, 1); /* as if it had not been asked */
    } else if (tacit_agent_report(device, NULL, NULL, &size, NULL) == TACIT_OK) {
        tacit_trajectory t = play(device, which);
        SCOPED_FREE uint8_t *report = malloc(size);
        require(tacit_agent_report(device, &t, report, &size, NULL) == TACIT_OK);
        SCOPED(tacit_agent) *server = hire(which);
        require(is_counted(tacit_agent_check_report(server, report, size, NULL)));
    }
}

/* To the end of what was declared, wherever that is. */
static void go_on(tacit_agent *agent, size_t which)
{
    tacit_billboard board;
    for (size_t k = 0; k <= USERS; k++) {
        if (tacit_agent_billboard(agent, &board, NULL) == TACIT_OK) {
            tacit_trajectory t = play(agent, which);
            (void)!tacit_agent_learn(agent, &t, NULL);
        }
        (void)!tacit_agent_plan(agent, &board, NULL);
    }
}

static void try_state(size_t which, bytes b)
{
    SCOPED(tacit_agent) *agent = hire(which);
    tacit_error err = {0};
    bytes fresh = save(agent);
    tacit_status status = tacit_agent_load(agent, b.data, b.size, &err);
    bytes after = save(agent);
    if (status == TACIT_OK) {
        require(after.size == b.size);
        go_on(agent, which);
    } else {
        require_reason(status, &err);
        require(after.size == fresh.size && memcmp(after.data, fresh.data, after.size) == 0);
        serve(agent, which, 2);
    }
    free(fresh.data);
    free(after.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    if (n_variants == 0)
        n_variants = fill_variants();
    size_t which = data[0] % n_variants, what = data[1] % KINDS_OF_BYTES,
           users = data[1] / KINDS_OF_BYTES % STOPS;
    bytes b = truth(which, what, users);
    if (b.none)
        return 0;
    b = tamper(b, what, data[2], data + 3, size - 3);
    if (what == REPORT)
        try_report(which, users, b);
    else if (what == MODEL)
        try_model(which, b);
    else
        try_state(which, b);
    free(b.data);
    return 0;
}

/* Agents as bytes: reports and models that travel, states that are kept. See include/tacit/agent.h.
 *
 * A report, and a model, is a mark, 16 bytes of the agent's fingerprint, and the family's own bytes. The
 * fingerprint distinguishes a report for another learner from a malformed one. A saved state is the
 * billboard of the last plan and the family's state, in an envelope (noise/envelope.h). */
#include <math.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/envelope.h"

#define REPORT_MARK 0x3174726f70657274U /* "treport1", low byte first */
#define MODEL_MARK 0x316c65646f6d7474U  /* "ttmodel1" */
enum { REPORT_FINGERPRINT = 16, REPORT_HEADER = 8 + REPORT_FINGERPRINT };

typedef enum board_kind { NO_TABLE, POLICY, MIXED } board_kind;

typedef struct header {
    uint64_t magic;
    uint32_t version;
    uint16_t planned, board; /* there was a plan; of board_kind */
    uint64_t size;           /* of the whole, checksum included */
    uint64_t board_version;
    uint8_t fingerprint[TACIT__KEY_BYTES];
} header;

static const tacit__envelope envelope = {
    .magic = 0x7461636974616765U, /* "tacitage" */
    .version = 1,
    .header = sizeof(header),
    .print_at = offsetof(header, fingerprint),
    .what = "agent",
    .foreign = "the saved agent was made with other settings than this one"};

/* --- What two agents must agree on --------------------------------------------------------------- */

static void fold(uint8_t digest[TACIT__KEY_BYTES], const tacit__writer *w, const uint8_t *bytes)
{
    tacit__digest((tacit__bytes[]){{digest, TACIT__KEY_BYTES}, {bytes, w->size}}, 2, digest);
}

static void fold_text(uint8_t digest[TACIT__KEY_BYTES], const char *text)
{
    uint8_t bytes[8];
    tacit__writer w = {.at = bytes};
    tacit__write_le64(&w, text != NULL ? strlen(text) + 1 : 0);
    tacit__digest((tacit__bytes[]){{digest, TACIT__KEY_BYTES},
                                   {bytes, sizeof bytes},
                                   {text, text != NULL ? strlen(text) : 0}},
                  3, digest);
}

static void fold_reals(uint8_t digest[TACIT__KEY_BYTES], const double *x, size_t n)
{
    TACIT__REQUIRE(x != NULL || n == 0);
    enum { NUMBERS = 64 };
    uint8_t bytes[8 * NUMBERS];
    for (size_t i = 0; i < n; i += NUMBERS) {
        tacit__writer w = {.at = bytes};
        for (size_t j = i; j < n && j < i + NUMBERS; j++)
            tacit__write_double(&w, x[j]);
        fold(digest, &w, bytes);
    }
}

/* Hashes what a callback answers for every pair, `size` numbers each. */
static tacit_status fold_rows(uint8_t digest[TACIT__KEY_BYTES], const tacit_agent_request *r,
                              void (*row)(void *, uint32_t, uint32_t, double *), void *context,
                              size_t size)
{
    double *x = tacit__alloc(size, sizeof *x);
    if (x == NULL)
        return TACIT_NO_MEMORY;
    for (size_t s = 0; s < r->n_states; s++)
        for (size_t a = 0; a < r->n_actions; a++) {
            row(context, (uint32_t)s, (uint32_t)a, x);
            fold_reals(digest, x, size);
        }
    tacit__free(x);
    return TACIT_OK;
}

static tacit_status fold_features(uint8_t digest[TACIT__KEY_BYTES], const tacit_agent_request *r)
{
    const tacit_mixture *m = r->mixture;
    const tacit_bandit *b = r->bandit;
    size_t size = 0;
    tacit_status status = TACIT_OK;
    if (m != NULL)
        status = __builtin_mul_overflow(m->dimension, r->n_states, &size)
                     ? TACIT_NO_MEMORY
                     : fold_rows(digest, r, m->row, m->context, size);
    if (status == TACIT_OK && r->linear != NULL && r->linear->row != NULL)
        status = fold_rows(digest, r, r->linear->row, r->linear->context, r->linear->dimension);
    /* of rows it follows from them */
    if (status == TACIT_OK && r->linear != NULL && r->linear->row == NULL && r->linear->simplex)
        fold_text(digest, "simplex");
    if (status != TACIT_OK || b == NULL || b->points == NULL)
        return status;
    fold_reals(digest, b->points, r->n_states * (b->disjoint ? 1 : r->n_actions) * b->dimension);
    if (b->weights != NULL)
        fold_reals(digest, b->weights, r->n_states);
    fold_reals(digest, (double[]){(double)b->context_dimension}, 1);
    fold_text(digest, b->kernel);
    return TACIT_OK;
}

tacit_status tacit__agent_fingerprint(const tacit_agent_request *r, uint8_t out[TACIT__KEY_BYTES])
{
    TACIT__REQUIRE(r->kind != NULL);
    uint8_t bytes[256];
    tacit__writer w = {.at = bytes};
    memset(out, 0, TACIT__KEY_BYTES);
    fold_text(out, r->kind);
    for (size_t i = 0; i < r->n_settings; i++) {
        fold_text(out, r->settings[i].key);
        fold_text(out, r->settings[i].value);
    }
    fold_text(out, r->sums);
    const uint64_t sizes[] = {(uint64_t)r->guarantee.model,
                              (uint64_t)r->calibration,
                              r->n_states,
                              r->n_actions,
                              r->horizon,
                              r->stationary,
                              r->episodes,
                              r->mixture != NULL ? r->mixture->dimension : 0,
                              r->linear != NULL ? r->linear->dimension : 0,
                              r->bandit != NULL ? r->bandit->dimension : 0,
                              r->bandit != NULL && r->bandit->disjoint,
                              r->bandit != NULL && r->bandit->complementary};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        tacit__write_le64(&w, sizes[i]);
    tacit__write_double(&w, r->guarantee.epsilon);
    tacit__write_double(&w, r->guarantee.delta);
    tacit__write_double(&w, r->mixture != NULL ? r->mixture->bound : 0);
    tacit__write_double(&w, r->mixture != NULL ? r->mixture->parameter_norm : 0);
    tacit__write_double(&w, r->linear != NULL ? r->linear->bound : 0);
    tacit__write_double(&w, r->bandit != NULL ? r->bandit->bound : 0);
    tacit__write_double(&w, r->bandit != NULL ? r->bandit->parameter_norm : 0);
    if (r->visits > 1) { /* one visit is left out, so that earlier states keep their fingerprint */
        tacit__write_le64(&w, r->visits);
        tacit__write_le64(&w, r->apart);
    }
    if (r->reward_low != 0 || r->reward_high != 0) { /* likewise */
        tacit__write_double(&w, r->reward_low);
        tacit__write_double(&w, r->reward_high);
    }
    fold(out, &w, bytes);
    if (r->rewards != NULL)
        fold_reals(out, r->rewards, (r->stationary ? 1 : r->horizon) * r->n_states * r->n_actions);
    return fold_features(out, r);
}

/* --- Reports -------------------------------------------------------------------------------------- */

static tacit_status check_local(const tacit_agent *agent, tacit_error *err)
{
    TACIT__REQUIRE(!agent->is_snapshot);
    if (agent->facts.guarantee.model != TACIT_MODEL_LOCAL || !tacit__base_has_reports(agent->self))
        return tacit__fail(err, TACIT_UNSUPPORTED, "reports belong to the local model");
    return TACIT_OK;
}

/* The mark and the fingerprint of a report or of a model with `inner` bytes of the family's; without a
 * buffer, the size of the whole. */
static tacit_status write_head(const tacit_agent *agent, tacit__writer *w, uint64_t mark,
                               const char *what, size_t inner, size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(size != NULL);
    const size_t needed = REPORT_HEADER + inner;
    if (w->at == NULL)
        *size = needed;
    else if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the %s takes %zu bytes, the buffer has %zu",
                           what, needed, *size);
    tacit__write_le64(w, mark);
    tacit__write_bytes(w, agent->fingerprint, REPORT_FINGERPRINT);
    return TACIT_OK;
}

tacit_status tacit_agent_report(tacit_agent *agent, const tacit_trajectory *user, void *bytes,
                                size_t *size, tacit_error *err)
{
    if (agent == NULL || size == NULL || (user == NULL && bytes != NULL))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(check_local(agent, err));
    size_t inner = 0;
    TRY(tacit__base_report(agent->self, &(tacit_trajectory){0}, NULL, &inner, err));
    tacit__writer w = {.at = bytes};
    tacit_status status = write_head(agent, &w, REPORT_MARK, "report", inner, size, err);
    if (status != TACIT_OK || bytes == NULL)
        return status;
    inner = *size - REPORT_HEADER;
    tacit_trajectory clipped;
    TRY(tacit__agent_clip_user(agent, user, &clipped, err));
    status = tacit__base_report(agent->self, &clipped, w.at, &inner, err);
    tacit__agent_wipe_user(agent);
    if (status == TACIT_OK)
        *size = REPORT_HEADER + inner;
    return status;
}

/* Reads the mark and the fingerprint of a report or of a model. */
static tacit_status read_head(const tacit_agent *agent, tacit__reader *r, uint64_t mark,
                              const char *what, const char *foreign, tacit_error *err)
{
    const uint64_t found = tacit__read_le64(r);
    const void *fingerprint = tacit__read_bytes(r, REPORT_FINGERPRINT);
    if (fingerprint == NULL || found != mark)
        return tacit__fail(err, TACIT_SYNTAX, "this is not a %s", what);
    if (memcmp(fingerprint, agent->fingerprint, REPORT_FINGERPRINT) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN, "%s", foreign);
    return TACIT_OK;
}

/* Opens the part of a report that the family gets. */
static tacit_status open_report(const tacit_agent *agent, const void *bytes, size_t size,
                                tacit__reader *r, tacit_error *err)
{
    if (agent == NULL || bytes == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(check_local(agent, err));
    *r = (tacit__reader){.at = bytes, .left = size};
    return read_head(agent, r, REPORT_MARK, "report", "the report was made for another learner",
                     err);
}

tacit_status tacit_agent_check_report(const tacit_agent *agent, const void *bytes, size_t size,
                                      tacit_error *err)
{
    tacit__reader r = {0};
    tacit_status status = open_report(agent, bytes, size, &r, err);
    return status == TACIT_OK ? tacit__base_check_report(agent->self, r.at, r.left, err) : status;
}

tacit_status tacit_agent_absorb(tacit_agent *agent, const void *bytes, size_t size,
                                tacit_error *err)
{
    tacit__reader r = {0};
    TRY(open_report(agent, bytes, size, &r, err));
    return tacit__base_absorb(agent->self, r.at, r.left, err);
}

/* --- Models --------------------------------------------------------------------------------------- */

tacit_status tacit_agent_publish(const tacit_agent *agent, void *bytes, size_t *size,
                                 tacit_error *err)
{
    if (agent == NULL || size == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (agent->family->publish == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED, "this kind of agent publishes its plan only");
    if (!agent->planned)
        return tacit__fail(err, TACIT_NOTHING_TO_RELEASE, "there is no plan to publish yet");
    size_t inner = 0;
    TRY(agent->family->publish(agent->self, NULL, &inner, err));
    tacit__writer w = {.at = bytes};
    tacit_status status = write_head(agent, &w, MODEL_MARK, "model", inner, size, err);
    if (status != TACIT_OK || bytes == NULL)
        return status;
    *size = REPORT_HEADER + inner;
    return agent->family->publish(agent->self, w.at, &inner, err);
}

tacit_status tacit_agent_follow(tacit_agent *agent, const void *bytes, size_t size,
                                tacit_error *err)
{
    if (agent == NULL || bytes == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (agent->family->follow == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED, "this kind of agent follows no model");
    tacit__reader r = {.at = bytes, .left = size};
    tacit_billboard board;
    TRY(read_head(agent, &r, MODEL_MARK, "model", "the model was made by another learner", err));
    TRY(agent->family->follow(agent->self, r.at, r.left, err));
    return tacit_agent_plan(agent, &board, err);
}

/* --- States --------------------------------------------------------------------------------------- */

static board_kind kind_of(const tacit_billboard *board)
{
    return board->policy != NULL ? POLICY : board->mixed != NULL ? MIXED : NO_TABLE;
}

static size_t table_size(const tacit_agent *agent, board_kind kind)
{
    size_t cells = agent->facts.horizon * agent->facts.n_states;
    return kind == POLICY  ? cells * sizeof *agent->board.policy
           : kind == MIXED ? cells * agent->facts.n_actions * sizeof *agent->board.mixed
                           : 0;
}

/* Actions of a loaded policy are those of the agent. */
static bool is_policy(const tacit_agent *agent, const uint8_t *bytes)
{
    for (size_t i = 0; i < agent->facts.horizon * agent->facts.n_states; i++) {
        uint32_t action;
        memcpy(&action, bytes + i * sizeof action, sizeof action);
        if (action >= agent->facts.n_actions)
            return false;
    }
    return true;
}

/* Chances of a loaded policy are chances, and sum to 1 in every situation. */
static bool is_mixed(const tacit_agent *agent, const void *bytes)
{
    for (size_t i = 0; i < agent->facts.horizon * agent->facts.n_states; i++) {
        double sum = 0;
        for (size_t a = 0; a < agent->facts.n_actions; a++) {
            const double chance = tacit__real_at(bytes, i * agent->facts.n_actions + a);
            if (!(chance >= 0 && chance <= 1))
                return false;
            sum += chance;
        }
        if (!(fabs(sum - 1) <= 1e-9))
            return false;
    }
    return true;
}

/* The billboard of the last plan; *table has room for it once it is checked. */
static void board_fields(const tacit_agent *agent, board_kind kind, void **table, tacit__saved *s)
{
    const size_t size = table_size(agent, kind);
    const void *data = kind == POLICY ? (const void *)agent->board.policy : agent->board.mixed,
               *bytes = tacit__saved_bytes(s, data, size);
    tacit__saved_check(s, bytes == NULL || (kind == POLICY  ? is_policy(agent, bytes)
                                            : kind == MIXED ? is_mixed(agent, bytes)
                                                            : true));
    if (s->pass == TACIT__CHECK && s->status == TACIT_OK && kind != NO_TABLE &&
        (*table = tacit__alloc(size, 1)) == NULL)
        tacit__saved_fail(s, TACIT_NO_MEMORY, NULL);
    if (s->pass == TACIT__APPLY && size > 0) {
        TACIT__REQUIRE(*table != NULL && bytes != NULL);
        memcpy(*table, bytes, size);
    }
}

static void fields(const tacit_agent *agent, header *h, void **table, tacit__saved *s)
{
    static const char wrong[] = "the saved agent contradicts itself";
    *h = (header){.planned = agent->planned,
                  .board = (uint16_t)kind_of(&agent->board),
                  .board_version = agent->board.version};
    s->wrong = wrong;
    const size_t start = tacit__envelope_open(&envelope, agent->fingerprint, 0, h, s);
    tacit__saved_check(s, h->planned <= 1 && h->board <= MIXED &&
                              h->board_version <= TACIT__MOST_COUNT);
    board_fields(agent, h->board, table, s);
    agent->family->fields(agent->self, s);
    s->wrong = wrong;
    tacit__envelope_close(&envelope, start, s);
}

tacit_status tacit_agent_save(const tacit_agent *agent, void *bytes, size_t *size, tacit_error *err)
{
    header h;
    if (agent == NULL || size == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TACIT__REQUIRE(!agent->is_snapshot);
    if (agent->family->fields == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED, "this kind of agent cannot be saved");
    tacit__saved s = tacit__saved_save(bytes, size, err);
    while (tacit__saved_next(&s))
        fields(agent, &h, NULL, &s);
    return s.status;
}

tacit_status tacit_agent_load(tacit_agent *agent, const void *bytes, size_t size, tacit_error *err)
{
    header h = {.planned = 0};
    void *table = NULL;
    if (agent == NULL || bytes == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TACIT__REQUIRE(!agent->is_snapshot);
    if (agent->family->fields == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED, "this kind of agent cannot be saved");
    if (agent->planned)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a saved agent is loaded into a fresh one");
    tacit__saved s = tacit__saved_load(bytes, size, err);
    while (tacit__saved_next(&s))
        fields(agent, &h, &table, &s);
    if (s.status != TACIT_OK) {
        tacit__free(table);
        return s.status;
    }
    agent->planned = h.planned != 0;
    agent->table = table;
    agent->board = (tacit_billboard){.version = h.board_version,
                                     .policy = h.board == POLICY ? table : NULL,
                                     .mixed = h.board == MIXED ? table : NULL};
    return TACIT_OK;
}

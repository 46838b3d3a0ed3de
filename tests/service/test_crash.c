/* A learner that dies at every write, and goes on: nothing lost, nothing twice, and no second look at
 * anybody.
 *
 * A child process takes a fixed sequence of users into a vault and learns from them; everything that passes
 * the door is recorded. The child is killed at its n-th write (just before, or just after the call), and a
 * second child finishes the job. For every n:
 *
 *     - the vault ends in the very state of a run without a crash, bit for bit;
 *     - whatever passed the door twice, before the crash and after it, was the same numbers: the same exact ones and the same noise;
 *     - with one user replaced, and the releases frozen to those of the first run, all passages together differ by no more than
 *       the plan declares, crash or no crash;
 *     - who starts again puts up no older billboard than was shown.
 *
 * One of the learners has a state that is too large to be written with every user: there most crashes come
 * when more has been shown than the state has, and in the midst of a state's parts. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account/door.h"
#include "serve/learner/learner.h"
#include "serve/people/episode.h"
#include "service/fault_io.h"
#include "store/vault/vault_maintenance.h"
#include "support/check.h"
#include "support/random.h"

SCOPED_TYPE(tacit__vault, tacit__vault_close)

#ifndef STRIDE
#define STRIDE 13 /* every so many-th write; the slow test takes all */
#endif

enum { USERS = 6, HORIZON = 2, ACTIONS = 2, MAX_PASSAGES = 512 };

static const uint8_t key[TACIT__KEY_BYTES] = "not a key that guards anybody";

static const struct variant {
    const char *kind;
    tacit_guarantee guarantee;
    size_t states;
    bool large; /* the state, so that it is written now and then, in parts */
} variants[] = {
    {"dp-ucbvi", {TACIT_MODEL_JOINT, 1, 1e-5}, 3, false},
    {"dp-ucbvi", {TACIT_MODEL_JOINT, 1, 1e-5}, 90, true},
    {"private-ucb-po", {TACIT_MODEL_JOINT, 1, 0}, 3, false},
    {"dp-ucbvi", {TACIT_MODEL_LOCAL, 1, 0}, 3, false},
};

/* --- What is recorded --------------------------------------------------------------------------- */

typedef struct passage {
    char release[16];
    uint64_t step, offset, n;
    double scale;
    int64_t *exact, *released; /* [n] each, in one piece */
} passage;

typedef struct tape {
    size_t n;
    passage at[MAX_PASSAGES];
} tape;

static const passage *find(const tape *t, const passage *like)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->at[i].release, like->release) == 0 && t->at[i].step == like->step &&
            t->at[i].offset == like->offset)
            return &t->at[i];
    return NULL;
}

static void free_tape(tape *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->at[i].exact);
    free(t);
}

/* What came twice must be the same; it is kept once. */
static tape *read_tape(const char *path, size_t *repeated)
{
    tape *t = calloc(1, sizeof *t);
    FILE *file = fopen(path, "r");
    passage p;
    *repeated = 0;
    while (file != NULL && fread(&p, sizeof p, 1, file) == 1) {
        p.exact = malloc(2 * p.n * sizeof *p.exact);
        p.released = p.exact + p.n;
        assert_true(fread(p.exact, sizeof *p.exact, 2 * p.n, file) == 2 * p.n);
        const passage *before = find(t, &p);
        if (before != NULL) {
            assert_true(before->n == p.n);
            assert_memory_equal(before->exact, p.exact, 2 * p.n * sizeof *p.exact);
            free(p.exact);
            ++*repeated;
            continue;
        }
        assert_true(t->n < MAX_PASSAGES);
        t->at[t->n++] = p;
    }
    if (file != NULL)
        (void)fclose(file);
    return t;
}

typedef struct recorder {
    int fd;
    const tape *frozen; /* or NULL */
} recorder;

static void record(void *context, const tacit__passage *seen)
{
    recorder *r = context;
    passage p = {.step = seen->step, .offset = seen->offset, .n = seen->n, .scale = seen->scale};
    const size_t size = seen->n * sizeof *seen->exact;
    (void)snprintf(p.release, sizeof p.release, "%s", seen->release->name);
    const passage *first = r->frozen != NULL ? find(r->frozen, &p) : NULL;
    if (first != NULL)
        memcpy(seen->released, first->released, size);
    union { /* writev only reads */
        const int64_t *in;
        void *out;
    } exact = {.in = seen->exact};
    const struct iovec all[] = {{&p, sizeof p}, {exact.out, size}, {seen->released, size}};
    if (writev(r->fd, all, 3) != (ssize_t)(sizeof p + 2 * size)) /* at once, lest it is cut short */
        abort();
}

/* --- The child ---------------------------------------------------------------------------------- */

typedef struct scene {
    char directory[256], store[300], log[300];
    tacit__learner_config config;
    uint8_t *users[USERS][2]; /* as they come, and another person instead */
    size_t size;
} scene;

typedef struct taking {
    tacit__job job;
    const scene *s;
    int64_t learner;
    int user;
    const uint8_t *data;
    tacit__vault_answer answer;
} taking;

static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    taking *t = (taking *)job;
    uint8_t name[TACIT__VAULT_KEY] = {(uint8_t)(t->user + 1)};
    return tacit__vault_add_user(vault, t->learner, name, NULL, NULL, t->data, t->s->size,
                                 &t->answer, err);
}

static void must(tacit_status status, const tacit_error *err)
{
    if (status == TACIT_OK)
        return;
    (void)fprintf(stderr, "child: %s: %s\n", tacit_status_name(status), err->message);
    _exit(9);
}

/* Takes users [0, n) and learns from all of them; `other` is the user that is replaced, -1: nobody. */
static void live(const scene *s, int n, int other, const tape *frozen)
{
    tacit_error err = {0};
    SCOPED(tacit__vault) *vault = NULL;
    tacit__learner *learner;
    tacit__committer *committer;
    tacit__vault_learner row = {0};
    bool found;
    recorder r = {.fd = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0600), .frozen = frozen};
    must(tacit__vault_open(s->store, TACIT__VAULT_SERVE, key, &vault, &err), &err);
    must(tacit__vault_find_learner(vault, s->config.name, &found, &row, NULL, NULL, &err), &err);
    const tacit__learner_setting setting = {.config = &s->config, .store = s->store, .key = key};
    must(tacit__learner_create(&setting, vault, &learner, &err), &err);
    tacit__ledger_set_recorder(tacit__learner_ledger(learner), record, &r);
    must(tacit__committer_create(vault, NULL, &committer, &err), &err);
    must(tacit__learner_start(learner, committer, &err), &err);
    tacit__learner_figures up = tacit__learner_figures_of(learner);
    if (up.users < row.shown || up.version < row.version)
        _exit(7);
    for (int i = 0; i < n; i++) {
        taking t = {.job = {.apply = apply},
                    .s = s,
                    .learner = tacit__learner_id(learner),
                    .user = i,
                    .data = s->users[i][i == other]};
        must(tacit__committer_wait(committer, &t.job), &err);
        tacit__learner_wake(learner);
        /* one after the other, so that every user has transactions of their own */
        while (tacit__learner_figures_of(learner).users < (uint64_t)i + 1)
            (void)usleep(200);
    }
    tacit__learner_destroy(learner);
    tacit__committer_destroy(committer);
}

/* Runs a child; true if it finished, false if it was killed. *writes is how many it made, if it finished. */
static bool run(const scene *s, int n, int other, const tape *frozen, uint64_t kill_at, int after,
                uint64_t *writes)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60);
        fault_io_arm("/crash.db", kill_at, after, 0);
        live(s, n, other, frozen);
        uint64_t count = fault_io_count();
        _exit(write(ends[1], &count, sizeof count) == sizeof count ? 0 : 8);
    }
    (void)close(ends[1]);
    uint64_t count = 0;
    ssize_t got = read(ends[0], &count, sizeof count);
    (void)close(ends[0]);
    assert_true(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return false;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0 && got == sizeof count);
    if (writes != NULL)
        *writes = count;
    return true;
}

/* --- The parent --------------------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
    char data[65536];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t n; (n = read(in, data, sizeof data)) > 0;)
        assert_true(write(out, data, (size_t)n) == n);
    (void)close(in);
    (void)close(out);
}

static void remove_store(const scene *s)
{
    static const char *const endings[] = {"", "-wal", "-shm", ".lock", ".mark"};
    for (int i = 0; i < 5; i++) {
        (void)unlink(fmt("%s%s", s->store, endings[i]));
    }
    (void)unlink(s->log);
}

/* The store as it is, with its mark, for later; or as it was then. */
static void copy_base(const scene *s, bool back)
{
    static const char *const endings[] = {"", ".mark"};
    char base[400], here[400];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(base, sizeof base, "%s/base%s", s->directory, endings[i]);
        (void)snprintf(here, sizeof here, "%s%s", s->store, endings[i]);
        copy_file(back ? base : here, back ? here : base);
    }
}

/* The store as it was before the first user. */
static void reset(const scene *s)
{
    remove_store(s);
    copy_base(s, true);
}

typedef struct ending {
    tacit__vault_learner row;
    uint8_t *state;
    size_t size;
} ending;

static ending look(const scene *s)
{
    ending e = {0};
    SCOPED(tacit__vault) *vault = NULL;
    tacit__vault_health health;
    tacit_error err = {0};
    bool found;
    assert_ok(tacit__vault_open(s->store, TACIT__VAULT_SERVE, key, &vault, &err));
    tacit_status status = tacit__vault_check(vault, &health, &err);
    if (status != TACIT_OK)
        fail_msg("%s", err.message);
    assert_ok(
        tacit__vault_find_learner(vault, s->config.name, &found, &e.row, &e.state, &e.size, &err));
    assert_true(found);
    return e;
}

static void assert_same_ending(const ending *a, const ending *b)
{
    assert_true(a->row.users == b->row.users && a->row.refused == b->row.refused);
    assert_true(a->row.accepted == b->row.accepted && a->row.version == b->row.version);
    assert_true(a->size == b->size);
    assert_memory_equal(a->state, b->state, a->size);
}

/* A user of the joint model, or the report of one. */
static uint8_t *make_user(const scene *s, tacit_agent *device, uint64_t seed)
{
    uint8_t *bytes = calloc(1, tacit__episode_size(&s->config));
    tacit__episode e = tacit__episode_view(&s->config, bytes);
    const double states = (double)s->config.request.n_states;
    for (size_t h = 0; h < HORIZON; h++) {
        const char *field;
        const tacit__observation told = {.step = h,
                                         .state = (uint32_t)(random_unit(&seed) * states),
                                         .action = (uint32_t)(random_unit(&seed) * ACTIONS),
                                         .has_reward = true,
                                         .reward = random_unit(&seed)};
        assert_true(tacit__episode_add(&e, &told, &field));
    }
    const tacit__observation last = {.step = HORIZON - 1,
                                     .state = e.states[HORIZON - 1],
                                     .action = e.actions[HORIZON - 1],
                                     .has_next = true,
                                     .next_state = (uint32_t)(random_unit(&seed) * states)};
    const char *field;
    assert_true(tacit__episode_add(&e, &last, &field));
    assert_true(tacit__episode_is_finished(&e));
    if (device == NULL)
        return bytes;
    size_t size = 0;
    tacit_trajectory t = tacit__episode_trajectory(&e, NULL);
    assert_ok(tacit_agent_report(device, NULL, NULL, &size, NULL));
    uint8_t *report = malloc(size);
    assert_ok(tacit_agent_report(device, &t, report, &size, NULL));
    free(bytes);
    return report;
}

static void open_scene(scene *s, const struct variant *v)
{
    *s = (scene){.config = {.name = "crash", .plan_every = 1}};
    s->config.request =
        (tacit_agent_request){SPACE_OF(v->states, ACTIONS, HORIZON), .kind = v->kind,
                              .guarantee = v->guarantee, .stationary = true, .episodes = 100};
    if (v->guarantee.model == TACIT_MODEL_JOINT) /* its noise must not be drawn again, either */
        s->config.monitor =
            (tacit_guarantee){.model = TACIT_MODEL_JOINT, .epsilon = 0.5, .delta = 1e-6};
    (void)snprintf(s->directory, sizeof s->directory, "%s/tacit-crash-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(s->directory));
    (void)snprintf(s->store, sizeof s->store, "%s/crash.db", s->directory);
    (void)snprintf(s->log, sizeof s->log, "%s/log", s->directory);
    s->size = tacit__episode_size(&s->config);
    tacit_agent *device = NULL;
    if (v->guarantee.model == TACIT_MODEL_LOCAL) {
        tacit_noise *noise;
        assert_ok(tacit_noise_create_simulated(5, &noise));
        assert_ok(tacit_agent_create(&s->config.request, noise, &device, NULL));
        tacit_noise_destroy(noise);
        assert_ok(tacit_agent_report(device, NULL, NULL, &s->size, NULL));
    }
    for (uint64_t i = 0; i < USERS; i++)
        for (uint64_t j = 0; j < 2; j++)
            s->users[i][j] = make_user(s, device, 100 * j + i + 1);
    tacit_agent_destroy(device);
    assert_true(run(s, 0, -1, NULL, 0, 0, NULL));
    copy_base(s, false);
}

static void close_scene(scene *s)
{
    (void)unlink(fmt("%s/base", s->directory));
    (void)unlink(fmt("%s/base.mark", s->directory));
    remove_store(s);
    (void)rmdir(s->directory);
    for (size_t i = 0; i < USERS; i++)
        for (size_t j = 0; j < 2; j++)
            free(s->users[i][j]);
}

/* Whether more was shown than the state has. */
static bool is_behind(const scene *s)
{
    SCOPED(tacit__vault) *vault = NULL;
    tacit__vault_learner row = {0};
    bool found;
    assert_ok(tacit__vault_open(s->store, TACIT__VAULT_TOOL, key, &vault, NULL));
    assert_ok(tacit__vault_find_learner(vault, s->config.name, &found, &row, NULL, NULL, NULL));
    return row.shown > row.users;
}

/* Killed at write n, then finished. *repeated: passages that came twice. *behind: 1 more if the second life
 * had to take users again that had been shown. */
static tape *crash_and_finish(const scene *s, uint64_t n, int after, int other, const tape *frozen,
                              ending *end, size_t *repeated, size_t *behind)
{
    reset(s);
    if (!run(s, USERS, other, frozen, n, after, NULL)) {
        *behind += is_behind(s);
        assert_true(run(s, USERS, other, frozen, 0, 0, NULL));
    }
    *end = look(s);
    return read_tape(s->log, repeated);
}

/* Sum over passages of |difference|^2 / scale^2, or of |difference| / scale for Laplace noise. */
static double distance(const tape *a, const tape *b, bool laplace)
{
    double total = 0;
    assert_true(a->n == b->n);
    for (size_t i = 0; i < a->n; i++) {
        const passage *p = &a->at[i], *q = find(b, p);
        assert_non_null(q);
        assert_true(p->n == q->n && p->scale == q->scale);
        for (size_t j = 0; j < p->n; j++) {
            double x = fabs((double)(p->exact[j] - q->exact[j])) / p->scale;
            total += laplace ? x : x * x;
        }
    }
    return total;
}

TEST(killed_at_any_write_it_ends_as_if_nothing_had_happened)
{
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        scene s;
        size_t repeated, in_all = 0, behind = 0;
        uint64_t writes = 0;
        open_scene(&s, &variants[v]);
        reset(&s);
        assert_true(run(&s, USERS, -1, NULL, 0, 0, &writes));
        ending straight = look(&s);
        tape *first = read_tape(s.log, &repeated);
        bool local = variants[v].guarantee.model == TACIT_MODEL_LOCAL;
        assert_true(straight.row.users == USERS && repeated == 0 && (first->n > 0) == !local);
        assert_true(writes > 4 * USERS); /* there is something to be killed at */
        for (uint64_t n = 1 + v; n <= writes; n += STRIDE)
            for (int after = 0; after < 2; after++) {
                ending end;
                tape *t = crash_and_finish(&s, n, after, -1, NULL, &end, &repeated, &behind);
                assert_same_ending(&straight, &end);
                assert_true(t->n == first->n && distance(t, first, false) == 0);
                in_all += repeated;
                free_tape(t);
                free(end.state);
            }
        assert_true(local || in_all > 0); /* some crashes came between the noise and the disk */
        assert_true((behind > 0) == variants[v].large);
        assert_true((straight.size > TACIT__VAULT_PART) == variants[v].large);
        free_tape(first);
        free(straight.state);
        close_scene(&s);
    }
}

TEST(across_a_crash_a_replaced_user_moves_no_more_than_declared)
{
    for (size_t v = 0; v < 3; v++) {
        scene s;
        size_t repeated, behind = 0;
        uint64_t writes = 0;
        open_scene(&s, &variants[v]);
        reset(&s);
        assert_true(run(&s, USERS, -1, NULL, 0, 0, &writes));
        tape *first = read_tape(s.log, &repeated);
        /* what the plan declares: mu^2, or epsilon */
        tacit_noise *noise;
        tacit_agent *agent;
        assert_ok(tacit_noise_create_simulated(1, &noise));
        assert_ok(tacit_agent_create(&s.config.request, noise, &agent, NULL));
        const tacit_plan *plan = tacit_agent_release_plan(agent);
        bool laplace = tacit_plan_law(plan) == TACIT_LAW_LAPLACE;
        double declared = 0;
        for (size_t i = 0; i < tacit_plan_size(plan); i++) {
            const tacit_release *line = tacit_plan_release(plan, i);
            double x = (laplace ? line->l1 * line->column_l1 : line->l2 * line->column_l2) /
                       tacit_plan_scale(plan, i);
            declared += laplace ? x : x * x;
        }
        tacit_agent_destroy(agent);
        tacit_noise_destroy(noise);
        double most = 0;
        for (int other = 0; other < USERS; other += USERS - 1)
            for (uint64_t n = 2; n <= writes; n += 3 * STRIDE) {
                ending end;
                tape *t = crash_and_finish(&s, n, 0, other, first, &end, &repeated, &behind);
                double moved = distance(first, t, laplace);
                assert_within(moved, 0, declared * (1 + 1e-9));
                most = fmax(most, moved);
                free_tape(t);
                free(end.state);
            }
        assert_true(most > 0); /* somebody was replaced */
        free_tape(first);
        close_scene(&s);
    }
}

/* The disk is held up while a user is learned: nothing of it can be seen until it is there. */
TEST(what_is_not_on_disk_is_not_published)
{
    scene s;
    tacit_error err = {0};
    tacit__vault *vault, *other;
    tacit__learner *learner;
    tacit__committer *committer;
    struct stat tape_file = {0};
    open_scene(&s, &variants[0]);
    reset(&s);
    recorder r = {.fd = open(s.log, O_WRONLY | O_CREAT | O_APPEND, 0600)};
    assert_ok(tacit__vault_open(s.store, TACIT__VAULT_SERVE, key, &vault, &err));
    const tacit__learner_setting setting = {.config = &s.config, .store = s.store, .key = key};
    assert_ok(tacit__learner_create(&setting, vault, &learner, &err));
    tacit__ledger_set_recorder(tacit__learner_ledger(learner), record, &r);
    const uint64_t version = tacit__learner_figures_of(learner).version;
    assert_ok(tacit__committer_create(vault, NULL, &committer, &err));
    assert_ok(tacit__learner_start(learner, committer, &err));
    for (int i = 0; i < 20000 && !tacit__learner_figures_of(learner).leads; i++)
        (void)usleep(1000);
    assert_true(tacit__learner_figures_of(learner).leads);
    (void)usleep(500000); /* it has looked for users, and waits for news */
    taking t = {.job = {.apply = apply},
                .s = &s,
                .learner = tacit__learner_id(learner),
                .data = s.users[0][0]};
    assert_ok(tacit__committer_wait(committer, &t.job));
    assert_ok(tacit__vault_open(s.store, TACIT__VAULT_TOOL, key, &other, &err));
    assert_ok(tacit__vault_begin(other, &err));
    tacit__learner_wake(learner);
    for (int i = 0; i < 5000 && tape_file.st_size == 0; i++) { /* until noise was added */
        (void)usleep(1000);
        assert_int_equal(fstat(r.fd, &tape_file), 0);
    }
    assert_true(tape_file.st_size > 0);
    (void)usleep(
        300000); /* time enough for a wrong one; a right one waits for the disk, however long */
    tacit__board *board = tacit__learner_acquire_board(learner);
    assert_true(tacit__board_users(board) == 0 && tacit__board_view(board)->version == version);
    assert_true(tacit__learner_figures_of(learner).users == 0);
    tacit__board_release(board);
    tacit__vault_undo(other);
    tacit__vault_close(other);
    for (int i = 0; i < 20000 && tacit__learner_figures_of(learner).users == 0; i++)
        (void)usleep(1000);
    board = tacit__learner_acquire_board(learner);
    assert_int_equal(tacit__board_users(board), 1); /* the noise decides whether its plan is new */
    tacit__board_release(board);
    tacit__learner_destroy(learner);
    tacit__committer_destroy(committer);
    tacit__vault_close(vault);
    (void)close(r.fd);
    close_scene(&s);
}

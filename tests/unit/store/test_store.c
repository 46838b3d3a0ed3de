/* results.db: what is committed is found again, what is not ours is refused, one writer at a time. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/results_file.h"

SCOPED_TYPE(tacit__store, tacit__store_close)

static char box[64];

static int make_box(void **state)
{
    (void)state;
    (void)snprintf(box, sizeof box, "/tmp/tacit-store-XXXXXX");
    return mkdtemp(box) != NULL ? 0 : -1;
}

static int clear_box(void **state)
{
    static const char *const tails[] = {"results.db", "results.db-wal", "results.db-shm",
                                        "results.db-journal"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        (void)unlink(fmt("%s/%s", box, tails[i]));
    }
    return rmdir(box);
}

static const uint64_t at[] = {10, 20, 30};
static const double regrets[] = {0.1, 1.0 / 3, 2.5};

static tacit__store *create(void)
{
    tacit__store *store = NULL;
    tacit_error err = {.message = ""};
    const tacit__kept_head head = {.identity = {1, 2, 3},
                                   .version = "v",
                                   .file = "f.yaml",
                                   .title = "T",
                                   .text = "a: 1\n",
                                   .text_size = 5,
                                   .episodes = 30,
                                   .runs = 2,
                                   .n_jobs = 4};
    assert_ok(tacit__store_open(box, TACIT__STORE_CREATE, &store, &err));
    assert_ok(tacit__store_write_head(store, &head, &err));
    assert_ok(tacit__store_commit(store, &err));
    return store;
}

static tacit_status keep_job(void *context, const tacit__kept_job *job, tacit_error *err)
{
    (void)err;
    *(tacit__kept_job *)context = *job;
    return TACIT_OK;
}

typedef struct curve {
    size_t n;
    uint64_t episodes[8];
    double regrets[8];
} curve;

static tacit_status keep_point(void *context, uint64_t job, uint64_t episode, double regret,
                               tacit_error *err)
{
    curve *c = context;
    (void)err;
    assert_int_equal(job, 3);
    c->episodes[c->n] = episode;
    c->regrets[c->n++] = regret;
    return TACIT_OK;
}

TEST_WITH(what_was_committed_is_found_again_bit_for_bit, make_box, clear_box)
{
    SCOPED(tacit__store) *store = create();
    tacit_error err;
    const tacit__kept_job job = {.number = 3,
                                 .part = 1,
                                 .run = 1,
                                 .regret = 0.1 + 0.2,
                                 .late_regret = 5e-324,
                                 .seconds = 1e300,
                                 .switches = 7};
    const tacit_world_facts facts = {SPACE_OF(4, 2, 6),      .stationary = true,   .reward_low = -1,
                                     .reward_high = 1.0 / 3, .optimal_value = 0.7, .people = 11,
                                     .remark = "mind this"};
    assert_ok(tacit__store_begin(store, &err));
    assert_ok(tacit__store_write_points(store, 3, 2, at, regrets, &err));
    assert_ok(tacit__store_write_points(store, 3, 2, at + 1, regrets + 1, &err)); /* one again */
    assert_ok(tacit__store_write_job(store, &job, &err));
    assert_ok(tacit__store_write_world(store, 0, "w", "riverswim", &facts, 2.25, &err));
    assert_ok(tacit__store_commit(store, &err));
    tacit__store_close(store);

    tacit__kept_head head;
    tacit__kept_job back = {0};
    tacit_world_facts world;
    curve c = {0};
    double optimal;
    char remark[32];
    uint64_t n;
    assert_ok(tacit__store_open(box, TACIT__STORE_READ, &store, &err));
    assert_ok(tacit__store_read_head(store, &head, &err));
    assert_int_equal(head.identity[1], 2);
    assert_string_equal(head.title, "T");
    assert_int_equal(head.text_size, 5);
    assert_memory_equal(head.text, "a: 1\n", 5);
    assert_int_equal(head.n_jobs, 4);
    assert_ok(tacit__store_count_jobs(store, &n, &err));
    assert_int_equal(n, 1);
    assert_ok(tacit__store_read_jobs(store, keep_job, &back, &err));
    assert_memory_equal(&back.regret, &job.regret, sizeof job.regret);
    assert_true(back.late_regret == 5e-324 && back.seconds == 1e300 && back.switches == 7);
    assert_ok(tacit__store_read_points(store, keep_point, &c, &err));
    assert_int_equal(c.n, 3);
    assert_memory_equal(c.regrets, regrets, sizeof regrets);
    assert_memory_equal(c.episodes, at, sizeof at);
    assert_ok(tacit__store_read_world(store, 0, &world, &optimal, remark, sizeof remark, &err));
    assert_string_equal(world.kind->name, "riverswim");
    assert_true(world.reward_high == 1.0 / 3 && optimal == 2.25 && world.stationary);
    assert_string_equal(world.remark, "mind this");
    assert_int_equal(world.people, 11);
    assert_status(tacit__store_read_world(store, 1, &world, &optimal, remark, sizeof remark, &err),
                  TACIT_CORRUPT);
}

TEST_WITH(plans_come_back_with_their_scales, make_box, clear_box)
{
    SCOPED(tacit__store) *store = create();
    tacit_error err;
    SCOPED(tacit_plan) *plan = NULL, *back = NULL;
    const tacit_release lines[] = {
        {"visits", "why", 3, 9, 2, 1.4, 3, 1.7, 2, "tree", 4, 2, false, 0},
        {"rewards", NULL, 2, 9, 0, 0.5, 0, 1.1, 0, NULL, 0, 0, false, 0}};
    char kind[32], remark[32];
    tacit_composition before, after;
    assert_ok(tacit_plan_create(&plan));
    for (size_t i = 0; i < 2; i++)
        assert_ok(tacit_plan_declare(plan, &lines[i], &err));
    assert_ok(tacit_plan_calibrate(plan, (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6}, &err));
    assert_ok(tacit__store_begin(store, &err));
    assert_ok(tacit__store_write_part(store, 0, 0, 0, "ucbvi", "a remark", plan, &err));
    assert_ok(tacit__store_write_part(store, 1, 0, 1, "uniform", "", NULL, &err));
    assert_ok(tacit__store_commit(store, &err));
    assert_ok(
        tacit__store_read_part(store, 0, kind, sizeof kind, remark, sizeof remark, &back, &err));
    assert_string_equal(kind, "ucbvi");
    assert_string_equal(remark, "a remark");
    assert_int_equal(tacit_plan_size(back), 2);
    assert_string_equal(tacit_plan_release(back, 0)->reason, "why");
    assert_string_equal(tacit_plan_release(back, 0)->mechanism, "tree");
    assert_null(tacit_plan_release(back, 1)->mechanism);
    for (size_t i = 0; i < 2; i++)
        assert_true(tacit_plan_scale(back, i) == tacit_plan_scale(plan, i));
    assert_ok(tacit_plan_account(plan, 1e-6, &before, &err));
    assert_ok(tacit_plan_account(back, 1e-6, &after, &err));
    assert_true(before.epsilon.high == after.epsilon.high);
    tacit_plan_destroy(back);
    assert_ok(
        tacit__store_read_part(store, 1, kind, sizeof kind, remark, sizeof remark, &back, &err));
    assert_null(back);
    assert_status(
        tacit__store_read_part(store, 2, kind, sizeof kind, remark, sizeof remark, &back, &err),
        TACIT_CORRUPT);
}

/* The child is killed while it writes; what it had committed is there, the rest is not. */
TEST_WITH(what_was_not_committed_is_gone, make_box, clear_box)
{
    SCOPED(tacit__store) *store = create();
    tacit_error err;
    assert_ok(tacit__store_begin(store, &err));
    assert_ok(tacit__store_write_points(store, 3, 1, at, regrets, &err));
    assert_ok(tacit__store_commit(store, &err));
    assert_ok(tacit__store_begin(store, &err));
    assert_ok(tacit__store_write_points(store, 3, 2, at + 1, regrets + 1, &err));
    tacit__store_close(store);
    curve c = {0};
    assert_ok(tacit__store_open(box, TACIT__STORE_WRITE, &store, &err));
    assert_ok(tacit__store_read_points(store, keep_point, &c, &err));
    assert_int_equal(c.n, 1);
}

TEST_WITH(there_is_one_writer_and_many_readers, make_box, clear_box)
{
    tacit__store *first = create(), *second = NULL;
    tacit_error err;
    assert_ok(tacit__store_begin(first, &err));
    assert_status(tacit__store_open(box, TACIT__STORE_WRITE, &second, &err), TACIT_SYSTEM);
    assert_non_null(strstr(err.message, "another run is writing to it"));
    assert_ok(tacit__store_open(box, TACIT__STORE_READ, &second, &err));
    tacit__kept_head head;
    assert_ok(tacit__store_read_head(second, &head, &err));
    tacit__store_close(second);
    tacit__store_close(first);
    assert_ok(tacit__store_open(box, TACIT__STORE_WRITE, &second, &err));
    tacit__store_close(second);
    second = NULL;
    assert_status(tacit__store_open(box, TACIT__STORE_CREATE, &second, &err), TACIT_EXISTS);
    assert_null(second);
}

static void write_file(const char *bytes, size_t size)
{
    FILE *f = fopen(fmt("%s/results.db", box), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

TEST_WITH(what_is_not_ours_is_refused_and_what_is_empty_is_nothing, make_box, clear_box)
{
    tacit__store *store = NULL;
    tacit_error err;
    static const char other[200] = "SQLite format 3";
    assert_ok(tacit__store_open(box, TACIT__STORE_WRITE, &store, &err));
    assert_null(store);
    assert_status(tacit__store_open(box, TACIT__STORE_READ, &store, &err), TACIT_BAD_ARGUMENT);
    assert_status(tacit__store_open("/nowhere", TACIT__STORE_WRITE, &store, &err), TACIT_SYSTEM);
    write_file("", 0);
    assert_ok(tacit__store_open(box, TACIT__STORE_WRITE, &store, &err));
    assert_null(store);
    write_file("a text", 6);
    for (int mode = TACIT__STORE_READ; mode <= TACIT__STORE_CREATE; mode++)
        assert_status(tacit__store_open(box, (tacit__store_mode)mode, &store, &err), TACIT_CORRUPT);
    write_file(other, sizeof other);
    assert_status(tacit__store_open(box, TACIT__STORE_WRITE, &store, &err), TACIT_CORRUPT);
    assert_null(store);
}

/* Any byte of the file may be wrong: an error, or numbers, but no crash. */
TEST_WITH(a_damaged_file_is_told_and_not_believed, make_box, clear_box)
{
    char path[128], *bytes = NULL;
    tacit_error err;
    tacit__store_close(create());
    (void)snprintf(path, sizeof path, "%s/results.db", box);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    size_t size = (size_t)info.st_size;
    bytes = malloc(size);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(bytes, 1, size, f), size);
    (void)fclose(f);
    for (size_t i = 0; i < size; i += i < 200 ? 1 : 97) {
        tacit__store *store = NULL;
        tacit__kept_head head;
        uint64_t n;
        bytes[i] = (char)~bytes[i];
        write_file(bytes, size);
        if (tacit__store_open(box, TACIT__STORE_READ, &store, &err) == TACIT_OK &&
            tacit__store_read_head(store, &head, &err) == TACIT_OK)
            (void)!tacit__store_count_jobs(store, &n, &err);
        tacit__store_close(store);
        bytes[i] = (char)~bytes[i];
    }
    write_file(bytes, size / 2);
    SCOPED(tacit__store) *store = NULL;
    tacit__kept_head head;
    tacit_status status = tacit__store_open(box, TACIT__STORE_READ, &store, &err);
    if (status == TACIT_OK)
        status = tacit__store_read_head(store, &head, &err);
    assert_status(status, TACIT_CORRUPT);
    free(bytes);
}

TEST_WITH(removing_leaves_nothing, make_box, clear_box)
{
    tacit__store *store = create();
    tacit_error err;
    assert_ok(tacit__store_begin(store, &err));
    assert_ok(tacit__store_commit(store, &err));
    assert_ok(tacit__store_remove(store, &err));
    assert_ok(tacit__store_open(box, TACIT__STORE_WRITE, &store, &err));
    assert_null(store);
}

/* Several processes at one experiment, here threads with letter boxes: the same bits, and nobody is waited for in vain. */
#include "support/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tacit/lab.h>

#include "lab/runs/ranks.h"

enum { MAX_RANKS = 4, STILL = 3 /* seconds */ };

typedef struct letter {
    struct letter *next;
    unsigned from;
    size_t size;
    char bytes[];
} letter;

typedef struct office {
    pthread_mutex_t lock;
    uint64_t n_letters;
    uint64_t before_still; /* after so many letters everything stands still once; 0: never */
    double moves_again;
    letter *first[MAX_RANKS], *last[MAX_RANKS];
} office;

/* A process: its transport dies after so many letters (0: never). */
typedef struct process {
    office *post;
    unsigned rank;
    uint64_t lives, n_sent;
    tacit_transport transport;
    const char *text, *directory;
    unsigned n_threads;
    tacit_status status;
    tacit_error err;
    tacit_results *results;
    pthread_t thread;
} process;

static bool is_dead(const process *p)
{
    return p->lives > 0 && p->n_sent >= p->lives;
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As long as the machine stands still nobody sends or receives. */
static void stand_still(office *post)
{
    (void)pthread_mutex_lock(&post->lock);
    double until = post->moves_again;
    (void)pthread_mutex_unlock(&post->lock);
    while (seconds() < until)
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static tacit_status send_letter(void *context, unsigned to, const void *bytes, size_t size)
{
    process *p = context;
    stand_still(p->post);
    if (is_dead(p))
        return TACIT_OK;
    p->n_sent++;
    letter *l = malloc(sizeof *l + size);
    if (l == NULL)
        return TACIT_NO_MEMORY;
    *l = (letter){.from = p->rank, .size = size};
    memcpy(l->bytes, bytes, size);
    (void)pthread_mutex_lock(&p->post->lock);
    if (p->post->last[to] != NULL)
        p->post->last[to]->next = l;
    else
        p->post->first[to] = l;
    p->post->last[to] = l;
    p->post->n_letters++;
    (void)pthread_mutex_unlock(&p->post->lock);
    return TACIT_OK;
}

static tacit_status receive_letter(void *context, unsigned *from, void *bytes, size_t room,
                                   size_t *size)
{
    process *p = context;
    *size = 0;
    stand_still(p->post);
    if (is_dead(p))
        return TACIT_OK;
    (void)pthread_mutex_lock(&p->post->lock);
    SCOPED_FREE letter *l = p->post->first[p->rank];
    if (l == NULL && p->rank == 0 && p->post->before_still > 0 && p->post->moves_again == 0 &&
        p->post->n_letters >= p->post->before_still) /* with nothing on its way to process 0 */
        p->post->moves_again = seconds() + STILL;
    if (l != NULL) {
        p->post->first[p->rank] = l->next;
        if (l->next == NULL)
            p->post->last[p->rank] = NULL;
    }
    (void)pthread_mutex_unlock(&p->post->lock);
    if (l == NULL)
        return TACIT_OK;
    assert_true(l->size <= room);
    memcpy(bytes, l->bytes, l->size);
    *from = l->from;
    *size = l->size;
    return TACIT_OK;
}

static void *live(void *context)
{
    process *p = context;
    SCOPED(tacit_experiment) *e = NULL;
    const tacit_lab_options options = {.n_threads = p->n_threads,
                                       .transport = &p->transport,
                                       .directory = p->directory,
                                       .mode = TACIT_LAB_RESUME};
    p->status = tacit_experiment_parse(p->text, strlen(p->text), "f", NULL, &e, &p->err);
    if (p->status == TACIT_OK)
        p->status = tacit_lab_run(e, &options, &p->results, &p->err);
    else
        tacit_lab_absent(&p->transport, &p->err);
    return NULL;
}

static void live_together_in(office *letters, process *processes, unsigned n)
{
    office post = *letters;
    (void)pthread_mutex_init(&post.lock, NULL);
    for (unsigned i = 0; i < n; i++) {
        process *p = &processes[i];
        p->post = &post;
        p->rank = i;
        p->transport = (tacit_transport){p, i, n, send_letter, receive_letter};
        assert_int_equal(pthread_create(&p->thread, NULL, live, p), 0);
    }
    for (unsigned i = 0; i < n; i++)
        (void)pthread_join(processes[i].thread, NULL);
    for (unsigned i = 0; i < MAX_RANKS; i++)
        for (letter *l = post.first[i]; l != NULL;) {
            letter *next = l->next;
            free(l);
            l = next;
        }
    (void)pthread_mutex_destroy(&post.lock);
}

static void live_together(process *processes, unsigned n)
{
    live_together_in(&(office){0}, processes, n);
}

#define TEXT                                                                                       \
    "worlds: [{kind: riverswim, horizon: 6, states: [3, 4]}]\nepisodes: 900\nruns: 3\nagents:\n"   \
    "  - {label: u, kind: ucbvi}\n  - {kind: optimal}\n"                                           \
    "  - {label: j, kind: dp-ucbvi, privacy: {model: joint, epsilon: [1, 2]}}\n"

static tacit_results *alone(void)
{
    SCOPED(tacit_experiment) *e = NULL;
    tacit_results *r = NULL;
    tacit_error err;
    assert_ok(tacit_experiment_parse(TEXT, strlen(TEXT), "f", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, NULL, &r, &err));
    return r;
}

static void assert_same(const tacit_results *a, const tacit_results *b)
{
    const tacit_experiment_facts *f = tacit_results_describe(a);
    for (size_t w = 0; w < f->n_worlds; w++)
        for (size_t i = 0; i < f->n_agents; i++)
            for (uint64_t r = 0; r < f->runs; r++) {
                const tacit_job *x = tacit_results_job(a, w, i, r),
                                *y = tacit_results_job(b, w, i, r);
                assert_true(y->done && x->regret == y->regret);
                assert_true(x->late_regret == y->late_regret && x->switches == y->switches);
                assert_int_equal(x->n_points, y->n_points);
                assert_memory_equal(x->curve, y->curve, x->n_points * sizeof *x->curve);
            }
}

TEST(several_processes_find_what_one_finds)
{
    SCOPED(tacit_results) *one = alone();
    for (unsigned n = 1; n <= MAX_RANKS; n++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            process all[MAX_RANKS] = {{.post = NULL}};
            for (unsigned i = 0; i < n; i++) {
                all[i].text = TEXT;
                all[i].n_threads = threads;
            }
            live_together(all, n);
            for (unsigned i = 0; i < n; i++) {
                assert_ok(all[i].status);
                assert_int_equal(all[i].results != NULL, i == 0);
            }
            assert_true(tacit_results_complete(all[0].results));
            assert_same(one, all[0].results);
            tacit_results_destroy(all[0].results);
        }
}

/* Whenever it dies: it is told, the others finish what they have, and what is missing can be played later. */
TEST(a_process_that_dies_is_told_and_its_jobs_can_be_resumed)
{
    SCOPED(tacit_results) *one = alone();
    /* after its greeting; when it has asked for a job; and somewhere, but if the others play all jobs meanwhile, in peace */
    static const uint64_t all_lives[] = {1, 2, 8};
    tacit__ranks_set_silence(2);
    for (size_t i = 0; i < sizeof all_lives / sizeof *all_lives; i++) {
        const uint64_t lives = all_lives[i];
        char box[] = "/tmp/tacit-ranks-XXXXXX";
        assert_non_null(mkdtemp(box));
        process all[3] = {
            {.text = TEXT, .directory = box}, {.text = TEXT}, {.text = TEXT, .lives = lives}};
        live_together(all, 3);
        if (lives > 2 && all[0].status == TACIT_OK) {
            assert_same(one, all[0].results);
        } else {
            assert_status(all[0].status, TACIT_SYSTEM);
            assert_int_equal(all[0].err.hint, TACIT_HINT_RESUME);
            assert_ptr_equal(
                strstr(all[0].err.message, "process 2 has not been heard from for 2 s"),
                all[0].err.message);
        }
        tacit_results_destroy(all[0].results);
        assert_ok(all[1].status);
        process again[1] = {{.text = TEXT, .directory = box}};
        live_together(again, 1);
        assert_ok(again[0].status);
        assert_same(one, again[0].results);
        tacit_results_destroy(again[0].results);
        assert_int_equal(unlink(fmt("%s/results.db", box)), 0);
        assert_int_equal(rmdir(box), 0);
    }
    tacit__ranks_set_silence(60);
}

/* A batch system suspends all processes of a job at once: nobody is given up for that. */
TEST(a_machine_that_stands_still_costs_nothing)
{
    SCOPED(tacit_results) *one = alone();
    tacit__ranks_set_silence(2); /* and it stands still for longer */
    office letters = {.before_still = 6};
    process all[3] = {{.text = TEXT}, {.text = TEXT}, {.text = TEXT}};
    live_together_in(&letters, all, 3);
    for (size_t i = 0; i < 3; i++)
        if (all[i].status != TACIT_OK)
            fail_msg("process %zu: %s", i, all[i].err.message);
    assert_same(one, all[0].results);
    tacit_results_destroy(all[0].results);
    tacit__ranks_set_silence(60);
}

TEST(a_process_that_cannot_begin_says_why)
{
    process worker[2] = {{.text = TEXT}, {.text = "nothing"}};
    live_together(worker, 2);
    assert_status(worker[0].status, TACIT_SYNTAX);
    assert_string_equal(worker[0].err.message,
                        "process 1: f:1: the file is not a map, expected lines such as 'episodes: "
                        "50000'");
    process first[3] = {{.text = "nothing"}, {.text = TEXT}, {.text = TEXT}};
    live_together(first, 3);
    assert_status(first[0].status, TACIT_SYNTAX);
    assert_ok(first[1].status);
    assert_ok(first[2].status);
}

TEST(processes_must_agree)
{
    process others[2] = {{.text = TEXT}, {.text = "seed: 3\n" TEXT}};
    live_together(others, 2);
    assert_status(others[0].status, TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(others[0].err.message, "process 1 reads another experiment"));
    process threads[2] = {{.text = TEXT, .n_threads = 1}, {.text = TEXT, .n_threads = 2}};
    live_together(threads, 2);
    assert_status(threads[0].status, TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(threads[0].err.message, "another number of threads"));
}

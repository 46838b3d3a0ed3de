/* Prints what passes the door, and what users see, for every learner in every model, space and schedule.
 *
 *   door_tape [KIND [full]]      all kinds, or this one; full: every number and every sentence as well
 *
 * A line is KIND, case, what it shows, and words, separated by tabs. The words of `door NAME` and `noise NAME` are STEP=HASH: of the
 * integers before and after the noise; words before a step say how many integers there are, and which law, scale and lattice
 * they have. Those of `boards`, `acts` and `models` are one for each user. How a caller cuts a step into pieces, and which of two
 * gates it goes to first, does not show. scripts/same compares what two builds print.
 *
 * Of the library's inside the program uses the recorder of the door alone. Everything is played with simulated noise, by
 * users who are drawn from a seed. Halfway each learner is saved and loaded into a new one; `saved` says whether the two
 * continue alike. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/explain.h>

#include "account/door.h"
#include "agents/agent_inside.h"
#include "house/door_cases.h"
#include "house/door_streams.h"
#include "support/random.h"

enum { USERS = 40, HALF = 20, VISITS = 3, APART = 2, MOST_STEPS = 16, MOST_FEATURES = 128 };
#define DELTA 1e-6

static bool full;

static void record(void *context, const tacit__passage *p)
{
    tape_of_case *t = context;
    const char *site = p->release->name;
    size_t i = 0;
    while (i < t->n_pending &&
           (t->pending[i].step != p->step || strcmp(t->pending[i].site, site) != 0))
        i++;
    if (i == MOST_PENDING) {
        flush(t);
        i = 0;
    }
    passing *now = &t->pending[i];
    if (i == t->n_pending) {
        *now = (passing){.step = p->step, .exact = BASIS, .released = BASIS};
        (void)snprintf(now->site, sizeof now->site, "%s", site);
        (void)snprintf(now->kind, sizeof now->kind, "%s,scale=%.17g,lattice=%.17g",
                       tacit_law_name(p->law), p->scale, p->lattice);
        t->n_pending++;
    }
    now->n += p->n;
    now->exact = hash(now->exact, p->exact, p->n * sizeof *p->exact);
    now->released = hash(now->released, p->released, p->n * sizeof *p->released);
    for (size_t k = 0; k < p->n && full; k++)
        say(stream_at(t, "exact ", site), "%" PRIu64 ".%zu=%" PRId64, p->step, p->offset + k,
            p->exact[k]);
}

/* --- Users ------------------------------------------------------------------------------------------ */

typedef struct user_data {
    uint32_t states[MOST_STEPS + 1], actions[MOST_STEPS];
    double rewards[MOST_STEPS], features[MOST_FEATURES], chances[MOST_STEPS];
    size_t length, situations;
    bool follows;
} user_data;

/* A corner, or anything on the border or inside. */
static void draw_vector(uint64_t *seed, size_t d, double bound, bool simplex, double *x)
{
    double norm = 0;
    if (simplex) {
        random_simplex(seed, d, x);
        return;
    }
    for (size_t i = 0; i < d; i++) {
        x[i] = random_normal(seed);
        norm += x[i] * x[i];
    }
    for (size_t i = 0; i < d; i++)
        x[i] *= bound * (1 - 1e-9) * (random_below(seed, 2) == 0 ? 1 : 0.5) / sqrt(norm);
}

/* Where the next states do not depend on actions. With `outside` some users are outside the domain. */
static void draw_user(const tacit_agent_request *q, const tacit_agent *agent, size_t who,
                      user_data *u)
{
    const tacit_agent_facts *f = tacit_agent_describe(agent);
    const bool outside = q->outside == TACIT_OUTSIDE_CLIP && who % 4 == 1;
    const bool simplex = q->bandit == NULL && q->linear != NULL && q->linear->simplex;
    const size_t d = q->bandit != NULL   ? q->bandit->dimension
                     : q->linear != NULL ? q->linear->dimension
                                         : 0;
    const double bound = q->bandit != NULL   ? q->bandit->bound
                         : q->linear != NULL ? q->linear->bound
                                             : 0;
    uint64_t seed = 1000 + who;
    *u = (user_data){.follows = who % 4 != 3, .situations = q->horizon > 1 ? q->horizon + 1 : 1};
    for (size_t h = 0; h <= q->horizon; h++)
        u->states[h] = q->n_states > 0 ? (uint32_t)random_below(&seed, q->n_states) : 0;
    for (size_t h = 0; h < q->horizon; h++) {
        u->actions[h] = (uint32_t)random_below(&seed, q->n_actions);
        u->rewards[h] =
            random_below(&seed, 3) == 0 ? random_unit(&seed) : (double)random_below(&seed, 2);
        u->rewards[h] += outside ? 0.75 : 0;
        u->chances[h] = random_unit(&seed);
    }
    for (size_t i = 0; d > 0 && i + d <= u->situations * f->per_situation; i += d)
        draw_vector(&seed, d, outside ? 2 * bound : bound, simplex, u->features + i);
    if (q->horizon > 1 && who % 6 == 5)
        u->length = 1 + who % q->horizon;
}

/* The plan, and what this user does by it; false: there is none. */
static bool look(const tacit_agent_request *q, tacit_agent *agent, user_data *u, tape_of_case *t)
{
    const size_t rows = q->horizon * q->n_states,
                 brought = tacit_agent_describe(agent)->per_situation;
    tacit_error err = {0};
    tacit_billboard board;
    if (tacit_agent_plan(agent, &board, &err) != TACIT_OK) {
        say(stream_at(t, "", "boards"), "%s: %s", tacit_status_name(err.status), err.message);
        return false;
    }
    uint64_t seen = BASIS, acted = BASIS;
    if (board.policy != NULL)
        seen = hash(seen, board.policy, rows * sizeof *board.policy);
    if (board.mixed != NULL)
        seen = hash(seen, board.mixed, rows * q->n_actions * sizeof *board.mixed);
    say(stream_at(t, "", "boards"), "%" PRIu64 "=%08" PRIx32, board.version, folded(seen));
    for (size_t h = 0; h < q->horizon; h++) {
        const tacit_situation here = {.step = h,
                                      .state = u->states[h],
                                      .features = brought > 0 ? u->features + h * brought : NULL};
        uint32_t action = 0;
        double probability = 0;
        if (tacit_agent_act(agent, &here, u->chances[h], &action, &probability, &err) != TACIT_OK)
            say(stream_at(t, "", "acts"), "%s", tacit_status_name(err.status));
        else if (u->follows)
            u->actions[h] = action;
        acted = hash(hash(acted, &action, sizeof action), &probability, sizeof probability);
    }
    say(stream_at(t, "", "acts"), "%08" PRIx32, folded(acted));
    return true;
}

static tacit_trajectory trajectory_of(const tacit_agent *agent, const user_data *u)
{
    const bool brings = tacit_agent_describe(agent)->per_situation > 0;
    return (tacit_trajectory){STEPS_OF(brings ? NULL : u->states, u->actions, u->rewards),
                              .features = brings ? u->features : NULL, .length = u->length};
}

/* --- Bytes ------------------------------------------------------------------------------------------ */

typedef struct byte_string {
    unsigned char *data;
    size_t size;
    tacit_error err;
} byte_string;

typedef tacit_status bytes_fn(const tacit_agent *agent, void *bytes, size_t *size,
                              tacit_error *err);

static byte_string bytes_by(bytes_fn *write, const tacit_agent *agent)
{
    byte_string b = {0};
    if (write(agent, NULL, &b.size, &b.err) == TACIT_OK) {
        b.data = resized(NULL, b.size + 1);
        if (write(agent, b.data, &b.size, &b.err) == TACIT_OK)
            return b;
    }
    free(b.data);
    b.data = NULL;
    return b;
}

/* The model that devices follow, which is published after each plan. */
static byte_string model_of(const tacit_agent *agent, tape_of_case *t)
{
    byte_string model = bytes_by(tacit_agent_publish, agent);
    if (model.data != NULL)
        say(stream_at(t, "", "models"), "%08" PRIx32, folded(hash(BASIS, model.data, model.size)));
    else if (model.err.status != TACIT_UNSUPPORTED)
        say(stream_at(t, "", "models"), "%s", tacit_status_name(model.err.status));
    return model;
}

/* --- A case ----------------------------------------------------------------------------------------- */

static tacit_agent *hire(const tacit_agent_request *q, uint64_t seed, tacit_error *err)
{
    SCOPED(tacit_noise) *noise = NULL;
    tacit_agent *agent = NULL;
    if (tacit_noise_create_simulated(seed, &noise) != TACIT_OK)
        exit(3);
    return tacit_agent_create(q, noise, &agent, err) == TACIT_OK ? agent : NULL;
}

static void watch(tacit_agent *agent, tape_of_case *t)
{
    tacit_ledger *ledger = tacit__agent_ledger(agent);
    if (ledger != NULL)
        tacit__ledger_set_recorder(ledger, record, t);
}

static void say_composition(stream *s, const char *name, const tacit_composition *c)
{
    say(s, "%s: epsilon %.17g..%.17g delta %.17g..%.17g mu %.17g rho %.17g %s", name,
        c->epsilon.low, c->epsilon.high, c->delta.low, c->delta.high, c->mu, c->rho, c->method);
}

static void say_ledger(const tacit_agent_request *q, const tacit_agent *agent, tape_of_case *t)
{
    const tacit_ledger *ledger = tacit_agent_ledger(agent);
    tacit_composition spent;
    tacit_error err = {0};
    stream *s = stream_at(t, "", "ledger");
    if (ledger == NULL)
        return;
    for (size_t i = 0; i < tacit_plan_size(tacit_ledger_plan(ledger)); i++)
        say(s, "%s %" PRIu64, tacit_plan_release(tacit_ledger_plan(ledger), i)->name,
            tacit_ledger_passed(ledger, i));
    if (tacit_ledger_spent(ledger, q->guarantee.delta, &spent, &err) == TACIT_OK)
        say_composition(s, "spent", &spent);
    else
        say(s, "%s: %s", tacit_status_name(err.status), err.message);
}

/* Users from `first` on; what the learner saves before user HALF goes to *saved, unless that is NULL. */
static void play(const tacit_agent_request *q, tacit_agent *agent, size_t first, tape_of_case *t,
                 byte_string *saved)
{
    for (size_t i = first; i < USERS; i++) {
        user_data u;
        tacit_error err = {0};
        if (i == HALF && saved != NULL) {
            mark(t);
            *saved = bytes_by(tacit_agent_save, agent);
        }
        draw_user(q, agent, i, &u);
        if (!look(q, agent, &u, t))
            return;
        free(model_of(agent, t).data);
        const tacit_trajectory user = trajectory_of(agent, &u);
        if (tacit_agent_learn(agent, &user, &err) != TACIT_OK)
            say(stream_at(t, "", "refused users"), "%zu %s: %s", i, tacit_status_name(err.status),
                err.message);
        if (tacit_agent_was_cut(agent))
            say(stream_at(t, "", "clipped users"), "%zu", i);
        flush(t);
    }
}

/* The same users with a device that makes their reports, and a server that absorbs them. */
static void play_devices(const tacit_agent_request *q, tape_of_case *t)
{
    tacit_error err = {0};
    SCOPED(tacit_agent) *server = hire(q, 5, &err);
    SCOPED(tacit_agent) *device = hire(q, 6, &err);
    size_t most = 0;
    if (server == NULL || device == NULL)
        return;
    watch(device, t);
    for (size_t i = 0; i < USERS; i++) {
        user_data u;
        tacit_billboard board;
        draw_user(q, server, i, &u);
        if (!look(q, server, &u, t))
            return;
        byte_string model = model_of(server, t);
        if (model.data != NULL &&
            tacit_agent_follow(device, model.data, model.size, &err) != TACIT_OK)
            say(stream_at(t, "", "models"), "not followed: %s", err.message);
        free(model.data);
        const tacit_trajectory user = trajectory_of(device, &u);
        if (tacit_agent_plan(device, &board, &err) != TACIT_OK ||
            tacit_agent_report(device, &user, NULL, &most, &err) != TACIT_OK) {
            say(stream_at(t, "", "reports"), "%s: %s", tacit_status_name(err.status), err.message);
            return;
        }
        size_t size = most;
        unsigned char *report = resized(NULL, size + 1);
        if (tacit_agent_report(device, &user, report, &size, &err) != TACIT_OK)
            say(stream_at(t, "", "reports"), "%s: %s", tacit_status_name(err.status), err.message);
        else
            say(stream_at(t, "", "reports"), "%zu:%08" PRIx32 ":%s:%s", size,
                folded(hash(BASIS, report, size)),
                tacit_status_name(tacit_agent_check_report(server, report, size, &err)),
                tacit_status_name(tacit_agent_absorb(server, report, size, &err)));
        free(report);
        flush(t);
    }
    say_ledger(q, server, t);
}

/* Says how the streams of a learner that was continued differ from those of the one that was not. */
static void compare_continued(tape_of_case *t, tape_of_case *continued, stream *out)
{
    bool same = true;
    for (size_t i = 0; i < continued->n; i++)
        (void)stream_at(t, "", continued->streams[i].name);
    for (size_t i = 0; i < t->n; i++) {
        stream *whole = &t->streams[i], *rest = stream_at(continued, "", whole->name);
        const char *a = whole->text != NULL ? whole->text + whole->mark : "";
        if (whole != out && strcmp(a, rest->text != NULL ? rest->text : "") != 0) {
            say(out, "different: %s", whole->name);
            same = false;
        }
    }
    if (same)
        say(out, "same");
}

static void continue_saved(const tacit_agent_request *q, const byte_string *saved, tape_of_case *t)
{
    tape_of_case *continued = resized(NULL, sizeof *continued);
    tacit_error err = saved->err;
    SCOPED(tacit_agent) *agent = hire(q, 4, NULL);
    stream *out = stream_at(t, "", "saved");
    *continued = (tape_of_case){.n = 0};
    if (saved->data == NULL || tacit_agent_load(agent, saved->data, saved->size, &err) != TACIT_OK)
        say(out, "refused: %s: %s", tacit_status_name(err.status), err.message);
    else {
        watch(agent, continued);
        play(q, agent, HALF, continued, NULL);
        compare_continued(t, continued, out);
    }
    tape_end(continued);
}

static void say_words(stream *s, const char *name, const char *words)
{
    if (full)
        say(s, "%s: %s", name, words != NULL ? words : "");
    else
        say(s, "%s:%08" PRIx32, name, folded(hash_text(BASIS, words)));
}

static void say_line(const tacit_explained_release *e, stream *s)
{
    const tacit_release *r = &e->release;
    say(s, "dimension %zu steps %" PRIu64 " l1 %.17g l2 %.17g columns %.17g %.17g weight %.17g",
        r->dimension, r->steps, r->l1, r->l2, r->column_l1, r->column_l2, r->weight);
    say(s, "mechanism %s visits %" PRIu64 " apart %" PRIu64 " packed %d answers %" PRIu64,
        r->mechanism != NULL ? r->mechanism : "none", r->visits, r->apart, (int)r->packed,
        r->answers);
    say(s, "scale %.17g reach %.17g cost %.17g", e->scale, e->reach, e->cost);
    say_words(s, "reason", r->reason);
    say_words(s, "words", e->words);
}

static void explain(const tacit_agent_request *q, tacit_agent *agent, tape_of_case *t)
{
    tacit_explanation *e = NULL;
    tacit_error err = {0};
    stream *s = stream_at(t, "", "explained");
    const tacit_explanation_request request = {.claim = q->guarantee,
                                               .calibration = q->calibration,
                                               .plan = tacit_agent_release_plan(agent),
                                               .kind = q->kind,
                                               .remark = tacit_agent_remark(agent),
                                               .outside = q->outside,
                                               .agent = agent};
    if (tacit_explanation_create(&request, &e, &err) != TACIT_OK) {
        say(s, "%s: %s", tacit_status_name(err.status), err.message);
        return;
    }
    const struct {
        const char *name, *words;
    } texts[] = {{"words", e->words},   {"against", e->against}, {"neighbors", e->neighbors},
                 {"remark", e->remark}, {"outside", e->outside}, {"composition", e->composition},
                 {"paper", e->paper},   {"report", e->report}};
    say(s, "%s", tacit_verdict_name(e->verdict));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        say_words(s, texts[i].name, texts[i].words);
    if (e->n_releases > 0) {
        say_composition(s, "real", &e->real);
        say_composition(s, "twice", &e->twice);
    }
    for (size_t i = 0; i < e->n_plays; i++) {
        const tacit_play *p = &e->plays[i];
        say(s, "%s %.17g %.17g", p->name, p->printed, p->played);
        say_words(s, "printed", p->printed_words);
        say_words(s, "played", p->played_words);
        say_words(s, "note", p->note);
    }
    for (size_t i = 0; i < e->n_releases; i++)
        say_line(&e->releases[i], stream_at(t, "line ", e->releases[i].release.name));
    tacit_explanation_destroy(e);
}

static void print_tape(const char *kind, const char *name, const char *prefix, tape_of_case *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->streams[i].size > 0)
            (void)printf("%s\t%s\t%s%s\t%s\n", kind, name, prefix, t->streams[i].name,
                         t->streams[i].text + 1);
    tape_end(t);
}

/* Whether the learner takes the request. */
static bool play_case(const tacit_agent_request *q, const char *name)
{
    tacit_error err = {0};
    byte_string saved = {0};
    SCOPED(tacit_agent) *agent = hire(q, 3, &err);
    if (agent == NULL) {
        (void)printf("%s\t%s\trefused\t%s: %s\n", q->kind, name, tacit_status_name(err.status),
                     err.message);
        return false;
    }
    tape_of_case *t = resized(NULL, sizeof *t);
    *t = (tape_of_case){.n = 0};
    watch(agent, t);
    play(q, agent, 0, t, &saved);
    continue_saved(q, &saved, t);
    free(saved.data);
    explain(q, agent, t);
    say_ledger(q, agent, t);
    print_tape(q->kind, name, "", t);
    if (q->guarantee.model == TACIT_MODEL_LOCAL) {
        t = resized(NULL, sizeof *t);
        *t = (tape_of_case){.n = 0};
        play_devices(q, t);
        print_tape(q->kind, name, "devices: ", t);
    }
    return true;
}

static sigjmp_buf before_case;

static void give_up(int number)
{
    siglongjmp(before_case, number);
}

/* The same; a learner that stops the program is a line of the tape and not its end. What it had allocated is lost. */
static bool play_guarded(const tacit_agent_request *q, const char *name)
{
    if (sigsetjmp(before_case, 1) == 0)
        return play_case(q, name);
    (void)printf("%s\t%s\tstopped\t\n", q->kind, name);
    return false;
}

/* --- All cases -------------------------------------------------------------------------------------- */

static tacit_guarantee guarantee_of(unsigned model, double epsilon)
{
    if (model == TACIT_AGENT_NONE)
        return (tacit_guarantee){.model = TACIT_MODEL_NONE};
    return (tacit_guarantee){
        .model = model >= TACIT_AGENT_LOCAL_PURE ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT,
        .epsilon = epsilon,
        .delta = model == TACIT_AGENT_JOINT || model == TACIT_AGENT_LOCAL ? DELTA : 0};
}

/* Whether the help of a text names this value, up to the number that it may have. */
static bool is_named(const char *help, const char *value)
{
    const size_t size = strcspn(value, "(");
    const bool numbered = value[size] == '(';
    for (; *help != 0; help++)
        if (strncmp(help, value, size) == 0 && (help[size] == '(') == numbered)
            return true;
    return false;
}

/* Whether the learner has these parameters, and texts with these values. */
static bool takes(const tacit_agent_kind *kind, const door_case *c)
{
    for (size_t i = 0; i < 2 && c->settings[i].key != NULL; i++) {
        const tacit_parameter *p = kind->parameters, *end = p + kind->n_parameters;
        while (p < end && strcmp(p->name, c->settings[i].key) != 0)
            p++;
        const char *value = c->settings[i].value;
        if (p == end || (p->type == TACIT_PARAMETER_TEXT && strspn(value, "0123456789") == 0 &&
                         !is_named(p->help, value)))
            return false;
    }
    return true;
}

static tacit_agent_request request_of(const tacit_agent_request *place, const char *kind,
                                      unsigned model, uint64_t visits, const door_case *c)
{
    tacit_agent_request q = *place;
    q.kind = kind;
    q.guarantee = guarantee_of(model, c->epsilon > 0 ? c->epsilon : 1);
    q.calibration = c->calibration;
    q.sums = c->sums;
    q.outside = c->clip ? TACIT_OUTSIDE_CLIP : TACIT_OUTSIDE_REFUSE;
    q.settings = c->settings;
    q.n_settings = c->settings[0].key == NULL ? 0 : c->settings[1].key == NULL ? 1 : 2;
    q.visits = visits;
    q.apart = visits > 1 ? APART : 0;
    return q;
}

/* A kind, and the spaces in which it learns in some model. */
typedef struct learner {
    const tacit_agent_kind *kind;
    bool fits[N_OF(spaces)];
} learner;

/* The first case is played in all spaces; the others in the first that take them, of those with numbered states and of those
 * without, each from another space on. */
static void play_in_spaces(learner *l, size_t model, uint64_t visits, size_t i,
                           const tacit_agent_request *requests)
{
    static const char *const names[] = {"none", "joint pure", "joint", "local pure", "local"};
    const door_case *c = &door_cases[i];
    size_t played[2] = {0, 0};
    for (size_t k = 0; k < N_OF(spaces); k++) {
        const size_t at = (i + k) % N_OF(spaces);
        const bool numbered = requests[at].n_states > 0;
        const tacit_agent_request q =
            request_of(&requests[at], l->kind->name, 1U << model, visits, c);
        char name[200];
        if (i > 0 && (!l->fits[at] || played[numbered] == (visits > 1 ? 1 : 2)))
            continue;
        (void)snprintf(name, sizeof name, "%s, visits %d, space %zu %s, %s", names[model],
                       (int)visits, at, spaces[at].world != NULL ? spaces[at].world : "declared",
                       c->name);
        const bool taken = play_guarded(&q, name);
        l->fits[at] = l->fits[at] || taken;
        played[numbered] += taken;
    }
}

static void play_kind(const tacit_agent_kind *kind, const tacit_agent_request *requests)
{
    const uint64_t most = tacit_agent_kind_returning(kind->name) ? VISITS : 1;
    learner l = {.kind = kind};
    for (size_t i = 0; i < N_OF(door_cases); i++)
        for (size_t model = 0; model < 5 && takes(kind, &door_cases[i]); model++)
            for (uint64_t visits = 1; visits <= most; visits += VISITS - 1)
                if ((kind->models & 1U << model) != 0)
                    play_in_spaces(&l, model, visits, i, requests);
}

int main(int n, char **words)
{
    tacit_world *worlds[N_OF(spaces)];
    tacit_agent_request requests[N_OF(spaces)];
    (void)signal(SIGABRT, give_up);
    full = n > 2 && strcmp(words[2], "full") == 0;
    for (size_t s = 0; s < N_OF(spaces); s++)
        requests[s] = space_request(&spaces[s], USERS, &worlds[s]);
    for (size_t k = 0; k < tacit_agent_kind_count(); k++)
        if (n == 1 || strcmp(words[1], tacit_agent_kind_at(k)->name) == 0)
            play_kind(tacit_agent_kind_at(k), requests);
    for (size_t s = 0; s < N_OF(spaces); s++)
        tacit_world_destroy(worlds[s]);
    return 0;
}

/* The search for the worst neighbors. See support/neighbors.h. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/domain.h"
#include "support/check.h"
#include "support/climb.h"
#include "support/neighbors.h"
#include "support/random.h"

/* Doubles that were added up in another order than the bound's; sensitivities carry their own room for lattices. */
#define ROUNDING 1e-9

/* --- People -------------------------------------------------------------------------------------- */

/* A vector of the declared kind: a corner, or somewhere inside or on the border. */
static void draw_features(const crowd *c, uint64_t *seed, double *x)
{
    const bool corner = random_below(seed, 2) == 0, simplex = c->features == CROWD_SIMPLEX;
    const size_t at = random_below(seed, c->dimension);
    double norm = 0;
    for (size_t i = 0; i < c->dimension; i++) {
        x[i] = corner ? (double)(i == at) : simplex ? -log(random_unit(seed)) : random_normal(seed);
        norm += simplex ? x[i] : x[i] * x[i];
    }
    norm = simplex ? norm : sqrt(norm) / c->bound;
    for (size_t i = 0; i < c->dimension; i++)
        x[i] /= norm;
}

static double draw_reward(uint64_t *seed)
{
    return random_below(seed, 4) > 0 ? (double)random_below(seed, 2) : random_unit(seed);
}

static size_t feature_steps(const crowd *c)
{
    return c->features == CROWD_NUMBERED ? 0 : c->request.horizon > 1 ? c->request.horizon + 1 : 1;
}

static uint32_t draw_state(const crowd *c, uint64_t *seed)
{
    return c->request.n_states > 0 ? (uint32_t)random_below(seed, c->request.n_states) : 0;
}

static void draw_person(const crowd *c, uint64_t *seed, person *p)
{
    const uint64_t shape = random_below(seed, 3);
    const uint32_t home = draw_state(c, seed),
                   hand = (uint32_t)random_below(seed, c->request.n_actions);
    *p = (person){.chance = random_unit(seed)};
    for (size_t h = 0; h <= c->request.horizon; h++)
        p->states[h] = shape == 0 ? home : draw_state(c, seed);
    for (size_t h = 0; h < c->request.horizon; h++) {
        p->actions[h] = shape < 2 ? hand : (uint32_t)random_below(seed, c->request.n_actions);
        p->rewards[h] = draw_reward(seed);
    }
    for (size_t r = 0; r < feature_steps(c) * c->rows; r++)
        draw_features(c, seed, p->features + r * c->dimension);
    if (c->ends)
        p->length = random_below(seed, c->request.horizon + 1);
}

crowd crowd_in(const tacit_agent_request *request)
{
    const tacit__domain d = tacit__domain_of(request);
    return (crowd){.request = *request,
                   .features = request->n_states > 0 ? CROWD_NUMBERED
                               : d.simplex           ? CROWD_SIMPLEX
                                                     : CROWD_BALL,
                   .dimension = d.dimension,
                   .rows = d.dimension > 0 ? d.per_situation / d.dimension : 0,
                   .bound = d.bound};
}

void crowd_fill(crowd *c, uint64_t seed)
{
    c->n = (size_t)c->request.episodes;
    for (size_t k = 0; k < c->n; k++) {
        draw_person(c, &seed, &c->people[k]);
        c->people[k].follows = k % 2 == 1;
    }
}

void crowd_delay(crowd *c)
{
    for (size_t k = 0; k < c->n; k++)
        c->people[k].late = k % 3 == 0 ? 0 : (5 * k) % 10;
}

/* --- Points: the user in both worlds --------------------------------------------------------------- */

typedef struct couple {
    person here, there;
} couple;

typedef struct search {
    crowd crowd; /* with the couple's `here` in place */
    size_t who, line;
    const couple *from; /* where to begin; NULL: at the family's corners, then anywhere */
    neighbors best;
} search;

static void stay(const crowd *c, uint32_t state, uint32_t action, double reward, person *p)
{
    for (size_t h = 0; h <= c->request.horizon; h++)
        p->states[h] = state;
    for (size_t h = 0; h < c->request.horizon; h++) {
        p->actions[h] = action;
        p->rewards[h] = reward;
    }
}

/* Users who meet at every other step and leave each other there, with opposite rewards. */
static void alternate(const crowd *c, person *here, person *there)
{
    const uint32_t states = (uint32_t)c->request.n_states;
    stay(c, 0, 0, 1, here);
    stay(c, 0, 0, 0, there);
    for (size_t h = 1; h <= c->request.horizon; h += 2) {
        here->states[h] = 1 % (states > 0 ? states : 1);
        there->states[h] = 2 % (states > 0 ? states : 1);
    }
}

void neighbors_corner(const crowd *c, size_t i, uint64_t *seed, person *here, person *there)
{
    const uint32_t last = (uint32_t)c->request.n_actions - 1;
    draw_person(c, seed, here);
    draw_person(c, seed, there);
    if (i == 0) {
        stay(c, 0, 0, 1, here);
        stay(c, 0, last, 1, there);
    } else if (i == 1) {
        *there = *here;
        stay(c, 0, 0, 1, here);
        stay(c, 0, 0, 0, there);
    } else if (i == 2) {
        alternate(c, here, there);
    }
}

static void begin(void *context, size_t restart, uint64_t *seed, void *point)
{
    search *s = context;
    couple *p = point;
    if (s->from != NULL)
        *p = *s->from;
    else
        neighbors_corner(&s->crowd, restart, seed, &p->here, &p->there);
}

static void copy_step(const crowd *c, size_t h, const person *from, person *to)
{
    const size_t n = feature_steps(c) > 0 ? c->rows * c->dimension : 0;
    to->states[h] = from->states[h];
    to->actions[h] = from->actions[h];
    to->rewards[h] = from->rewards[h];
    memmove(to->features + h * n, from->features + h * n, n * sizeof *to->features);
}

/* Turns a vector of features, at one step or at all: another one, the opposite one, or a few degrees toward a third. */
static void turn(const crowd *c, uint64_t *seed, person *p)
{
    const size_t n = c->rows * c->dimension, steps = feature_steps(c),
                 h = random_below(seed, steps), row = random_below(seed, c->rows) * c->dimension;
    const bool simplex = c->features == CROWD_SIMPLEX, all = random_below(seed, 2) == 0;
    double y[PERSON_FEATURES], norm = 0, *x = p->features + h * n + row;
    draw_features(c, seed, y);
    const double weight = random_below(seed, 3) == 0 ? 1 : random_unit(seed) * random_unit(seed);
    const double sign = !simplex && random_below(seed, 4) == 0 ? -1 : 1;
    for (size_t i = 0; i < c->dimension; i++) {
        x[i] = sign * ((1 - weight) * x[i] + weight * y[i]);
        norm += x[i] * x[i];
    }
    for (size_t i = 0; i < c->dimension && !simplex && norm > 0; i++)
        x[i] *= c->bound / sqrt(norm);
    for (size_t i = 0; i < steps && all; i++)
        if (i != h)
            memcpy(p->features + i * n + row, x, c->dimension * sizeof *x);
}

/* Of all steps that are left: one, a stretch, or the whole. */
static void draw_stretch(size_t horizon, uint64_t *seed, size_t *first, size_t *end)
{
    const uint64_t kind = random_below(seed, 3);
    *first = kind == 0 ? 0 : random_below(seed, horizon);
    *end = kind == 0   ? horizon
           : kind == 1 ? *first + 1
                       : *first + 1 + random_below(seed, horizon - *first);
}

/* Something that the domain does not have. */
static void spoil(const crowd *c, uint64_t *seed, person *p)
{
    static const double numbers[] = {(double)NAN, HUGE_VAL,    -HUGE_VAL, DBL_MAX,
                                     -DBL_MAX,    1e200,       -1e160,    0x1p-1074,
                                     -3,          1 + 1.01e-9, -1e-9};
    const size_t h = random_below(seed, c->request.horizon), n = sizeof numbers / sizeof *numbers;
    const size_t features = feature_steps(c) * c->rows * c->dimension;
    const uint64_t kind = random_below(seed, features > 0 ? 5 : 4);
    if (kind == 0) {
        p->states[h] = (uint32_t)c->request.n_states + (uint32_t)random_below(seed, 2);
    } else if (kind == 1) {
        p->actions[h] = random_below(seed, 2) == 0 ? UINT32_MAX : (uint32_t)c->request.n_actions;
        p->follows = false;
    } else if (kind == 2) {
        p->length = c->request.horizon + 1 + random_below(seed, 2) * 1000000;
    } else if (kind == 3) {
        p->rewards[h] = numbers[random_below(seed, n)];
    } else {
        p->features[random_below(seed, features)] = numbers[random_below(seed, n)];
    }
}

void crowd_spoil(crowd *c, uint64_t seed)
{
    for (size_t k = 1; k < c->n; k += 3)
        for (size_t i = 0; i < c->request.horizon; i++)
            spoil(c, &seed, &c->people[k]);
}

/* One change of one of the two: of a step, of a stretch of steps, or of features. */
static void change(const crowd *c, uint64_t *seed, person *p, const person *other)
{
    const uint64_t kind = random_below(seed, feature_steps(c) > 0 ? 7 : 5);
    const uint32_t state = draw_state(c, seed),
                   action = (uint32_t)random_below(seed, c->request.n_actions);
    const double reward = draw_reward(seed);
    size_t first, end;
    draw_stretch(c->request.horizon, seed, &first, &end);
    for (size_t h = first; h < end; h++) {
        if (kind == 0 || kind == 3)
            p->states[h] = state;
        if (kind == 1 || kind == 3)
            p->actions[h] = action;
        if (kind == 2 || kind == 3)
            p->rewards[h] = reward;
        if (kind == 4)
            copy_step(c, h, other, p);
    }
    if (kind == 0)
        p->states[end] = state; /* where the stretch leads */
    if (kind > 4)
        turn(c, seed, p);
}

static void move(void *context, uint64_t *seed, void *point)
{
    const search *s = context;
    couple *p = point;
    for (uint64_t n = 1 + random_below(seed, 3); n > 0; n--) {
        const bool first = random_below(seed, 2) == 0;
        if (s->crowd.request.outside == TACIT_OUTSIDE_CLIP && random_below(seed, 3) == 0)
            spoil(&s->crowd, seed, first ? &p->here : &p->there);
        change(&s->crowd, seed, first ? &p->here : &p->there, first ? &p->there : &p->here);
        if (s->crowd.ends && random_below(seed, 2) == 0)
            (first ? &p->here : &p->there)->length =
                random_below(seed, s->crowd.request.horizon + 1);
    }
}

static double value(void *context, const void *point)
{
    search *s = context;
    couple p =
        *(const couple *)point; /* the place in line stays, and so does how late its user is */
    p.here.late = p.there.late = s->crowd.people[s->who].late;
    s->crowd.people[s->who] = p.here;
    neighbors found = neighbors_compare(&s->crowd, s->who, &p.there);
    if (found.violation != NULL)
        s->best.violation = found.violation;
    s->best.n = found.n;
    s->best.refused = found.refused > s->best.refused ? found.refused : s->best.refused;
    for (size_t i = 0; i < found.n; i++)
        s->best.line[i] = fmax(s->best.line[i], found.line[i]);
    s->best.whole = fmax(s->best.whole, found.whole);
    return found.violation != NULL ? HUGE_VAL
           : s->line < found.n     ? found.line[s->line]
                                   : found.whole;
}

/* --- The search ------------------------------------------------------------------------------------ */

/* One climb of the share of a line, or of the whole if `line` is their number. */
static void climb_line(search *s, size_t line, const neighbors_wish *w, couple *best)
{
    const climb_problem problem = {
        .context = s, .size = sizeof(couple), .begin = begin, .move = move, .value = value};
    const size_t moves = s->crowd.devices ? w->moves / 2 : w->moves; /* slow */
    const climb_effort effort = {.restarts = s->from == NULL ? w->restarts : 1,
                                 .moves = s->from == NULL ? moves : moves / 4,
                                 .enough = 1 + ROUNDING, /* more would only be a worse violation */
                                 .seed = 17 + line};
    s->line = line;
    (void)climb(&problem, &effort, best);
}

neighbors neighbors_search(const crowd *c, const neighbors_wish *w)
{
    static search s;
    couple worst, ignored;
    s = (search){.crowd = *c};
    const size_t places[] = {c->n / 2, c->n - 1};
    climb_line(&s, TAPE_LINES, w, &worst);
    for (size_t i = 0; i < s.best.n && s.best.n > 1; i++)
        climb_line(&s, i, w, &ignored);
    s.from = &worst;
    for (size_t i = 0; i < 2; i++) {
        s.crowd = *c;
        s.who = places[i];
        climb_line(&s, TAPE_LINES, w, &ignored);
    }
    for (size_t i = 0; c->request.visits > 1 && i < 3 * c->n; i++) {
        s.crowd = *c;
        s.crowd.by_turns = i % 3 == 1;
        s.crowd.gaps = i % 3 == 2 ? 1 + i : 0;
        s.who = i / 3;
        (void)value(&s, &worst);
    }
    return s.best;
}

/* What is tested, in one line. */
static void describe(const crowd *c, const neighbors_wish *w, char *out, size_t size)
{
    const tacit_agent_request *q = &c->request;
    const char *model = q->guarantee.model == TACIT_MODEL_JOINT ? "joint"
                        : c->devices                            ? "devices"
                                                                : "local";
    size_t used = (size_t)snprintf(out, size, "%s, horizon %zu, %s, delta %g%s%s%s%s%s%s", q->kind,
                                   q->horizon, model, q->guarantee.delta,
                                   q->calibration != TACIT_CALIBRATION_TIGHT ? ", published" : "",
                                   q->outside == TACIT_OUTSIDE_CLIP ? ", clipped" : "",
                                   q->sums != NULL ? ", " : "", q->sums != NULL ? q->sums : "",
                                   w->note != NULL ? ", " : "", w->note != NULL ? w->note : "");
    for (size_t i = 0; i < q->n_settings && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, ", %s: %s", q->settings[i].key,
                                 q->settings[i].value);
}

/* Fails if a share is above 1, or, where the search is thorough, below what it must reach. */
static void check_share(const char *label, const char *what, double share, double least)
{
    if (!(share <= 1 + ROUNDING))
        fail_msg("%s: %s moves by %.4f times the loss that is declared", label, what, share);
    if (climb_patience() == 1 && !(share >= least))
        fail_msg(
            "%s: the search moves %s by %.4f of the loss that is declared, and must reach %.4f",
            label, what, share, least);
}

void neighbors_assert(const crowd *c, const neighbors_wish *w)
{
    char label[300], shares[120], line[30];
    const neighbors found = neighbors_search(c, w);
    size_t used = (size_t)snprintf(shares, sizeof shares, "%.4f of all; by line", found.whole);
    for (size_t i = 0; i < found.n; i++)
        used += (size_t)snprintf(shares + used, sizeof shares - used, " %.4f", found.line[i]);
    describe(c, w, label, sizeof label);
    print_message("%s: %s\n", label, shares);
    if (found.violation != NULL)
        fail_msg("%s: %s", label, found.violation);
    if (found.refused > 0)
        fail_msg("%s: %zu users were refused", label, found.refused);
    check_share(label, "the whole", found.whole, w->least_whole);
    for (size_t i = 0; i < found.n; i++) {
        (void)snprintf(line, sizeof line, "line %zu", i);
        check_share(label, line, found.line[i], w->least[i]);
    }
}

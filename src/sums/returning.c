/* See returning.h. Places are counted from 0 here.
 *
 * The bound. Take a pattern I and a place i in it. The others lie at distances of at least b, 2b,
 * .. on the left and on the right, and G(i, .) falls on both sides, so sum over l in I of G(i, l)
 * is at most
 *
 *     v_i = G(i, i) + the most - 1 largest of G(i, i - b), G(i, i - 2b), .. and G(i, i + b), ..,
 *
 * two falling lists that are merged. Summed over i in I, the whole is at most the largest sum of v over a
 * pattern, which dynamic programming finds: f(i, c) = max(f(i + 1, c), v_i + f(i + b, c - 1)).
 *
 * The coarse bound, for many places: step m holds at most ceil(length / b) visits. So v of a visit
 * in step m is at most what the steps nearest to it give when they are filled, and the whole at
 * most what filling the steps with the largest v gives, `most` visits in all.
 *
 * Batches of fresh releases: within a batch visits are packed as early as the one before allows, since that
 * leaves most room for later ones. For each number of visits the pairs (last place, sum of squares) of which
 * none is both earlier and larger than another are kept.
 *
 * Sums of a few thousand terms in doubles: the results are rounded up by 2^-40 of themselves. */
#include "sums/returning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define MOST_WORK 0x1p26 /* places times visits: a fraction of a second */
#define UPWARD (1 + 0x1p-40)

tacit_status tacit__returning_read(uint64_t most, uint64_t apart, uint64_t places,
                                   tacit__returning *out, tacit_error *err)
{
    TACIT__REQUIRE(out != NULL);
    const tacit__returning v = {most > 0 ? most : 1, apart > 0 ? apart : 1};
    if (places == 0 || v.most - 1 > (places - 1) / v.apart)
        return tacit__fail(
            err, TACIT_BAD_COUNT,
            "%llu visits of one person, %llu users apart, do not fit into %llu users; "
            "declare fewer visits, a smaller distance, or more users",
            (unsigned long long)v.most, (unsigned long long)v.apart, (unsigned long long)places);
    *out = v;
    return TACIT_OK;
}

static uint64_t end_of(const tacit__batches *s, uint64_t step)
{
    TACIT__REQUIRE(step < s->n);
    return s->ends != NULL ? s->ends[step] : step + 1;
}

static uint64_t places_of(const tacit__batches *s)
{
    return s->n > 0 ? end_of(s, s->n - 1) : 0;
}

/* --- The progression bound ------------------------------------------------------------------------ */

/* Walks along the places i, i + stride, .. and knows the step of each. */
typedef struct walk {
    const tacit__batches *steps;
    uint64_t place, step;
} walk;

static walk walk_from(const tacit__batches *steps, uint64_t place, uint64_t step)
{
    return (walk){steps, place, step};
}

static bool walk_right(walk *w, uint64_t stride, uint64_t places)
{
    if (stride >= places - w->place)
        return false;
    w->place += stride;
    if (w->steps->ends == NULL)
        w->step = w->place;
    else
        while (w->steps->ends[w->step] <= w->place)
            w->step++;
    return true;
}

static bool walk_left(walk *w, uint64_t stride)
{
    if (stride > w->place)
        return false;
    w->place -= stride;
    if (w->steps->ends == NULL)
        w->step = w->place;
    else
        while (w->step > 0 && w->steps->ends[w->step - 1] > w->place)
            w->step--;
    return true;
}

static double through(const tacit__returning *v, const tacit__batches *steps, uint64_t place,
                      uint64_t step, const tacit__overlaps *of)
{
    const uint64_t places = places_of(steps);
    walk left = walk_from(steps, place, step), right = left;
    double sum = of->overlap(of->context, step, step);
    double on_left = walk_left(&left, v->apart) ? of->overlap(of->context, step, left.step) : -1;
    double on_right =
        walk_right(&right, v->apart, places) ? of->overlap(of->context, step, right.step) : -1;
    for (uint64_t taken = 1; taken < v->most && fmax(on_left, on_right) > 0; taken++) {
        if (on_left >= on_right) {
            sum += on_left;
            on_left = walk_left(&left, v->apart) ? of->overlap(of->context, step, left.step) : -1;
        } else {
            sum += on_right;
            on_right = walk_right(&right, v->apart, places)
                           ? of->overlap(of->context, step, right.step)
                           : -1;
        }
    }
    return sum;
}

/* The largest sum of value over patterns; `after` and `value` have n numbers, and `after` is scratch. */
static double best_pattern(const tacit__returning *v, uint64_t n, const double *value,
                           double *after, double *now)
{
    TACIT__REQUIRE(n > 0);
    memset(after, 0, (size_t)n * sizeof *after);
    for (uint64_t visit = 0; visit < v->most; visit++) {
        double best = 0;
        for (uint64_t i = n; i-- > 0;) {
            const double then = v->apart < n - i ? after[i + v->apart] : 0;
            best = fmax(best, value[i] + then);
            now[i] = best;
        }
        double *swap = after;
        after = now;
        now = swap;
    }
    return n > 0 ? after[0] * UPWARD : 0;
}

/* `each` gives a place's value. Three arrays of this many places. */
typedef double each_fn(const tacit__returning *v, const tacit__batches *steps, uint64_t place,
                       uint64_t step, const tacit__overlaps *of);

static tacit_status best_of_places(const tacit__returning *v, const tacit__batches *steps,
                                   each_fn *each, const tacit__overlaps *of, double *best,
                                   tacit_error *err)
{
    const uint64_t n = places_of(steps);
    double *value = tacit__alloc(n, 3 * sizeof *value);
    if (value == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    walk w = walk_from(steps, 0, 0);
    for (uint64_t i = 0; i < n; i++) {
        value[i] = each(v, steps, i, w.step, of);
        (void)walk_right(&w, 1, n);
    }
    *best = best_pattern(v, n, value, value + n, value + 2 * n);
    tacit__free(value);
    return TACIT_OK;
}

bool tacit__returning_are_few(const tacit__returning *v, const tacit__batches *steps)
{
    return (double)places_of(steps) * (double)v->most <= MOST_WORK;
}

/* --- The coarse bound ------------------------------------------------------------------------------ */

/* Visits that fit into a step. */
static uint64_t room_of(const tacit__returning *v, const tacit__batches *steps, uint64_t step)
{
    const uint64_t length = end_of(steps, step) - (step > 0 ? end_of(steps, step - 1) : 0);
    const uint64_t room = (length + v->apart - 1) / v->apart;
    return room < v->most ? room : v->most;
}

/* At most what the nearest steps give, filled: G falls on both sides. */
static double fill_around(const tacit__returning *v, const tacit__batches *steps, uint64_t step,
                          const tacit__overlaps *of)
{
    uint64_t used = room_of(v, steps, step), left = step, right = step + 1;
    double sum = (double)used * of->overlap(of->context, step, step);
    while (used < v->most && (left > 0 || right < steps->n)) {
        const double on_left = left > 0 ? of->overlap(of->context, step, left - 1) : -1;
        const double on_right = right < steps->n ? of->overlap(of->context, step, right) : -1;
        const uint64_t at = on_left >= on_right ? --left : right++;
        const double most = fmax(on_left, on_right);
        if (!(most > 0))
            break;
        uint64_t room = room_of(v, steps, at);
        room = room < v->most - used ? room : v->most - used;
        sum += (double)room * most;
        used += room;
    }
    return sum;
}

static double coarse(const tacit__returning *v, const tacit__batches *steps,
                     const tacit__overlaps *of)
{
    double largest = (double)v->most * of->one; /* as if all visits came together */
    if (steps->ends != NULL) {
        double filled = 0;
        for (uint64_t m = 0; m < steps->n; m++)
            filled = fmax(filled, fill_around(v, steps, m, of));
        largest = fmin(largest, filled);
    }
    return (double)v->most * largest * UPWARD;
}

tacit_status tacit__returning_bound(const tacit__returning *v, const tacit__batches *steps,
                                    const tacit__overlaps *of, double *square, tacit_error *err)
{
    TACIT__REQUIRE(v->most > 0 && v->apart > 0 && of->one >= 0);
    if (v->most == 1) {
        *square = of->one;
        return TACIT_OK;
    }
    *square = coarse(v, steps, of);
    if (!tacit__returning_are_few(v, steps))
        return TACIT_OK;
    double finer = 0;
    TRY(best_of_places(v, steps, through, of, &finer, err));
    *square = fmin(*square, finer);
    return TACIT_OK;
}

static double alone(const tacit__returning *v, const tacit__batches *steps, uint64_t place,
                    uint64_t step, const tacit__overlaps *of)
{
    (void)v, (void)steps, (void)place;
    return of->overlap(of->context, step, step);
}

tacit_status tacit__returning_sum(const tacit__returning *v, const tacit__batches *steps,
                                  const tacit__overlaps *of, double *sum, tacit_error *err)
{
    TACIT__REQUIRE(v->most > 0 && v->apart > 0 && of->one >= 0);
    *sum = (double)v->most * of->one;
    return v->most == 1 || !tacit__returning_are_few(v, steps)
               ? TACIT_OK
               : best_of_places(v, steps, alone, of, sum, err);
}

/* --- Fresh releases --------------------------------------------------------------------------------- */

/* Of this many visits: where the last one was (`free` is the first place after which one may follow),
 * and the sum of squares. Lists are ascending in both. */
typedef struct option {
    uint64_t free;
    double square;
} option;

typedef struct options {
    option *list;
    size_t n, room;
} options;

static int by_place(const void *left, const void *right)
{
    const option *a = left, *b = right;
    if (a->free != b->free)
        return a->free < b->free ? -1 : 1;
    return (a->square < b->square) - (a->square > b->square);
}

/* Only those that no other beats in both. */
static void prune(options *o)
{
    size_t kept = 0;
    if (o->n > 0)
        qsort(o->list, o->n, sizeof *o->list, by_place);
    for (size_t i = 0; i < o->n; i++)
        if (kept == 0 || o->list[i].square > o->list[kept - 1].square)
            o->list[kept++] = o->list[i];
    o->n = kept;
}

static bool append(options *o, option what)
{
    if (o->n == o->room) {
        const size_t room = o->room > 0 ? 2 * o->room : 8;
        option *list = tacit__alloc(room, sizeof *list);
        if (list == NULL)
            return false;
        if (o->n > 0)
            memcpy(list, o->list, o->n * sizeof *list);
        tacit__free(o->list);
        o->list = list;
        o->room = room;
    }
    o->list[o->n++] = what;
    return true;
}

/* All that can follow `from` in the step [start, end), into now[used ..]. */
static bool extend(const tacit__returning *v, option from, uint64_t used, uint64_t start,
                   uint64_t end, options *now)
{
    const uint64_t first = from.free > start ? from.free : start;
    uint64_t fit = first < end ? (end - 1 - first) / v->apart + 1 : 0;
    fit = fit < v->most - used ? fit : v->most - used;
    for (uint64_t n = 0; n <= fit; n++) {
        const double visits = (double)n;
        const option next = {n == 0 ? from.free : first + n * v->apart,
                             from.square + visits * visits};
        if (!append(&now[used + n], next))
            return false;
    }
    return true;
}

static bool search_steps(const tacit__returning *v, const tacit__batches *steps, options *before,
                         options *now)
{
    if (!append(&before[0], (option){0, 0}))
        return false;
    for (uint64_t m = 0; m < steps->n; m++) {
        const uint64_t start = m > 0 ? end_of(steps, m - 1) : 0;
        for (uint64_t used = 0; used <= v->most; used++)
            for (size_t i = 0; i < before[used].n; i++)
                if (!extend(v, before[used].list[i], used, start, end_of(steps, m), now))
                    return false;
        for (uint64_t used = 0; used <= v->most; used++) {
            const options swap = before[used];
            prune(&now[used]);
            before[used] = now[used];
            now[used] = (options){swap.list, 0, swap.room};
        }
    }
    return true;
}

tacit_status tacit__returning_in_batches(const tacit__returning *v, const tacit__batches *steps,
                                         tacit__returning_sums *out, tacit_error *err)
{
    TACIT__REQUIRE(v->most > 0 && v->apart > 0);
    const uint64_t n = places_of(steps), fit = n / v->apart + (n % v->apart != 0);
    const uint64_t packed = fit < v->most ? fit : v->most;
    *out = (tacit__returning_sums){(double)packed, (double)packed};
    if (v->most == 1 || steps->ends == NULL) /* a place is a step: no two visits meet */
        return TACIT_OK;
    const uint64_t lists = v->most + 1;
    options *all = tacit__alloc(2 * lists, sizeof *all);
    const bool found = all != NULL && search_steps(v, steps, all, all + lists);
    for (uint64_t used = 0; found && used <= v->most; used++)
        for (size_t i = 0; i < all[used].n; i++)
            out->square = fmax(out->square, all[used].list[i].square);
    for (size_t i = 0; all != NULL && i < 2 * lists; i++)
        tacit__free(all[i].list);
    tacit__free(all);
    return found ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

tacit__returning_sums tacit__returning_in_prefixes(const tacit__returning *v, const uint64_t *ends,
                                                   size_t n)
{
    tacit__returning_sums sums = {0, 0};
    for (size_t m = 0; m < n; m++) {
        TACIT__REQUIRE(ends[m] > 0);
        const uint64_t so_far = 1 + (ends[m] - 1) / v->apart;
        const double visits = (double)(so_far < v->most ? so_far : v->most);
        sums.l1 += visits;
        sums.square += visits * visits;
    }
    return sums;
}

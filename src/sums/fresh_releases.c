/* See fresh_releases.h. One pass through the door for each release; the gate counts them. */
#include "sums/fresh_releases.h"

#include <math.h>
#include <string.h>

#include "account/door.h"
#include "base/error.h"
#include "base/memory.h"
#include "sums/returning.h"

enum { PIECE = 2048 }; /* coordinates that pass the door together; a multiple of 8 */
#define LARGEST 0x1p61 /* of a number that is released */
#define UP (1 + 1e-12) /* more than rounding takes from a sum of shares: fade is below 1 - 1e-5 */

#define MAGIC 0x746163697466726fU /* "tacitfro" */
enum { FORMAT_VERSION = 2 };

struct tacit__fresh_releases {
    tacit__gate *gate;
    size_t dimension;
    uint64_t releases;
    double unit, stddev;
    uint8_t fingerprint[TACIT__KEY_BYTES];
};

typedef struct saved {
    uint64_t magic, version;
    uint8_t fingerprint[TACIT__KEY_BYTES];
    tacit__gate_state gate;
} saved;

/* Visits in one release add up; releases are fresh (returning.h). */
static tacit_status add_visits(const tacit__fresh_spec *spec, tacit__returning_sums *sums,
                               tacit_error *err)
{
    const tacit__returning v = {spec->visits, spec->apart > 0 ? spec->apart : 1};
    if (spec->disjoint)
        return tacit__returning_in_batches(&v, &(tacit__batches){spec->releases, spec->ends}, sums,
                                           err);
    if (spec->ends == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "releases whose times are not known beforehand take one visit of each "
                           "person");
    const uint64_t together = spec->together > 0 ? spec->together : 1;
    *sums = tacit__returning_in_prefixes(&v, spec->ends, (size_t)(spec->releases / together));
    sums->l1 *= (double)together;
    sums->square *= (double)together;
    return TACIT_OK;
}

/* A place is in its own release, and in the i-th after it with the share fade^i. */
static tacit__returning_sums add_shares(const tacit__fresh_spec *spec)
{
    TACIT__REQUIRE(spec->disjoint && spec->visits <= 1 && spec->fade > 0 && spec->fade < 1);
    tacit__returning_sums sums = {0};
    double share = 1;
    for (uint64_t i = 0; i < spec->releases && share > 0; i++, share *= spec->fade) {
        sums.l1 += share;
        sums.square += share * share;
    }
    sums.l1 *= UP;
    sums.square *= UP;
    return sums;
}

tacit_status tacit__fresh_declare(const tacit__fresh_spec *spec, const char *name,
                                  tacit_release *release, tacit_error *err)
{
    if (spec->dimension == 0 || spec->releases == 0)
        return tacit__fail(err, TACIT_BAD_COUNT,
                           "fresh releases: dimension and number must be at least 1");
    tacit__returning_sums sums = {.l1 = spec->disjoint ? 1 : (double)spec->releases};
    sums.square = sums.l1;
    if (spec->fade > 0)
        sums = add_shares(spec);
    if (spec->visits > 1)
        TRY(add_visits(spec, &sums, err));
    TACIT__REQUIRE(sums.l1 >= 1 && sums.square >= 1);
    *release =
        (tacit_release){.name = name,
                        .reason = spec->reason,
                        .mechanism = "fresh",
                        .dimension = spec->dimension,
                        .steps = spec->releases,
                        .answers = spec->answers,
                        .l1 = spec->l1,
                        .l2 = spec->l2,
                        .column_l1 = sums.l1,
                        .column_l2 = sums.square > 1 ? nextafter(sqrt(sums.square), HUGE_VAL) : 1,
                        .weight = 1,
                        .visits = spec->visits > 0 ? spec->visits : 1,
                        .apart = spec->apart > 0 ? spec->apart : 1};
    return TACIT_OK;
}

/* The plan's line covers what the spec needs. */
static bool covers(const tacit_release *line, const tacit_release *needed, tacit_law law)
{
    if (line->dimension != needed->dimension || line->steps != needed->steps ||
        line->answers != needed->answers)
        return false;
    return law == TACIT_LAW_GAUSSIAN
               ? line->l2 >= needed->l2 && line->column_l2 >= needed->column_l2
               : line->l1 >= needed->l1 && line->column_l1 >= needed->column_l1;
}

/* Hash of all that a saved state must agree with. */
static void make_fingerprint(tacit__fresh_releases *once, const tacit_release *line, double scale,
                             int bits)
{
    const double numbers[] = {line->l1, line->l2, line->column_l1, line->column_l2, scale};
    const uint64_t sizes[] = {once->dimension, once->releases, (uint64_t)(int64_t)bits};
    const uint64_t visits[] = {line->visits, line->apart};
    const tacit__bytes parts[] = {{"fresh release", sizeof "fresh release"},
                                  {line->name, strlen(line->name) + 1},
                                  {numbers, sizeof numbers},
                                  {sizes, sizeof sizes},
                                  {visits, line->visits > 1 ? sizeof visits : 0},
                                  {&line->answers, line->answers > 0 ? sizeof line->answers : 0}};
    tacit__digest(parts, sizeof parts / sizeof *parts, once->fingerprint);
}

tacit_status tacit__fresh_create(const tacit__fresh_spec *spec, tacit_ledger *ledger,
                                 const char *name, tacit__fresh_releases **out, tacit_error *err)
{
    TACIT__REQUIRE(ledger != NULL && spec->dimension > 0 && spec->releases > 0);
    tacit_release needed = {0};
    TRY(tacit__fresh_declare(spec, name, &needed, err));
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    size_t index = tacit_plan_index(plan, name);
    if (index == tacit_plan_size(plan))
        return tacit__fail(err, TACIT_UNDECLARED, "the plan has no release '%s'", name);
    const tacit_release *line = tacit_plan_release(plan, index);
    if (spec->law == TACIT_LAW_NONE || spec->law != tacit_plan_law(plan) ||
        !covers(line, &needed, spec->law))
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "release '%s' declares less than, or something else than, what is made",
                           name);
    tacit__fresh_releases *once = tacit__alloc(1, sizeof *once);
    if (once == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    double scale = tacit_plan_scale(plan, index);
    *once =
        (tacit__fresh_releases){.dimension = spec->dimension,
                                .releases = spec->releases,
                                .unit = ldexp(1, -spec->bits),
                                .stddev = scale * (spec->law == TACIT_LAW_LAPLACE ? M_SQRT2 : 1)};
    make_fingerprint(once, line, scale, spec->bits);
    tacit_status status = tacit__gate_open(
        ledger,
        &(tacit__gate_spec){.name = name,
                            .lattice_bits = spec->bits,
                            .places = spec->dimension,
                            .largest = spec->largest > 0 ? spec->largest : LARGEST},
        &once->gate, err);
    if (status != TACIT_OK) {
        tacit__fresh_destroy(once);
        return status;
    }
    *out = once;
    return TACIT_OK;
}

void tacit__fresh_destroy(tacit__fresh_releases *once)
{
    if (once != NULL)
        tacit__gate_close(once->gate);
    tacit__free(once);
}

tacit_status tacit__fresh_release(tacit__fresh_releases *once, const int64_t *exact, double *noisy,
                                  tacit_error *err)
{
    TACIT__REQUIRE(exact != NULL && noisy != NULL);
    const tacit__input input = {.n = once->dimension, .value = exact};
    TRY(tacit__gate_begin(once->gate, tacit__gate_digest(once->gate, &input), err));
    int64_t released[PIECE];
    for (size_t offset = 0; offset < once->dimension; offset += PIECE) {
        size_t n = once->dimension - offset < PIECE ? once->dimension - offset : PIECE;
        tacit__gate_pass(once->gate, offset, n, exact + offset, released);
        for (size_t i = 0; i < n; i++)
            noisy[offset + i] = (double)released[i] * once->unit;
    }
    return TACIT_OK;
}

uint64_t tacit__fresh_count(const tacit__fresh_releases *once)
{
    return tacit__gate_steps_passed(once->gate);
}

double tacit__fresh_stddev(const tacit__fresh_releases *once)
{
    return once->stddev;
}

void tacit__fresh_fields(tacit__fresh_releases *once, tacit__saved *s)
{
    saved v = {.magic = MAGIC, .version = FORMAT_VERSION};
    const char *outside = s->wrong;
    s->wrong = "the saved releases contradict themselves";
    memcpy(v.fingerprint, once->fingerprint, sizeof v.fingerprint);
    if (!tacit__saved_is_loading(s))
        tacit__gate_save(once->gate, &v.gate);
    tacit__saved_value(s, &v, sizeof v);
    if (s->pass == TACIT__CHECK && tacit__gate_steps_passed(once->gate) > 0)
        tacit__saved_fail(s, TACIT_BAD_ARGUMENT, "saved releases are loaded into fresh ones");
    if (v.magic != MAGIC || v.version != FORMAT_VERSION)
        tacit__saved_fail(s, TACIT_CORRUPT, "the saved releases are damaged or of another version");
    if (memcmp(v.fingerprint, once->fingerprint, sizeof v.fingerprint) != 0)
        tacit__saved_fail(s, TACIT_WRONG_PLAN,
                          "the saved releases were made with another plan, scale or shape");
    tacit__saved_check(s, tacit__gate_check(once->gate, &v.gate));
    if (s->pass == TACIT__APPLY)
        tacit__gate_restore(once->gate, &v.gate);
    s->wrong = outside;
    tacit__wipe(&v, sizeof v);
}

/* The sampler's fast path: its tables keep their tolerance, both instruction sets give the same bits, and
 * an answer that is claimed to be proven is the one that multiple precision gives.
 *
 * Everything is judged by the survival function S of the magnitude, erfc(z / sqrt 2) or e^-z, in MPFR with
 * directed roundings: Q(U) is in [a, b] exactly if S(b) <= U <= S(a). No quantile is solved for. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "base/cpu.h"
#include "noise/draw_loop.h"
#include "noise/refine.h"
#include "noise/sampler.h"
#include "support/random.h"

enum { PRECISION = 200, SEGMENTS = 1 << TACIT__SEGMENT_BITS, LONG_PRECISION = 800 };

static const double scales[] = {0x1p-3, 1, 0x1p10, 0x1p20, 0x1p34, 0x1p46};
enum { N_SCALES = sizeof scales / sizeof *scales };

/* out = S(z), rounded in the given direction; S = 1 for z <= 0. */
static void survival(tacit__noise_law law, const mpfr_t z, mpfr_t out, mpfr_rnd_t direction)
{
    mpfr_rnd_t inverse = direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    if (mpfr_sgn(z) <= 0) {
        mpfr_set_ui(out, 1, MPFR_RNDN);
    } else if (law == TACIT__LAPLACE) {
        mpfr_neg(out, z, direction);
        mpfr_exp(out, out, direction);
    } else {
        mpfr_sqr(out, z, inverse);
        mpfr_div_2ui(out, out, 1, inverse);
        mpfr_sqrt(out, out, inverse);
        mpfr_erfc(out, out, direction);
    }
}

/* The slot of segment j of octave o, and its left end. */
static size_t slot_of(int octave, int j)
{
    return 1 + (size_t)(TACIT__OCTAVES - 1 - octave) * SEGMENTS + (size_t)j;
}

static double slot_width(int octave)
{
    return ldexp(1, -(octave + 1) - TACIT__SEGMENT_BITS);
}

static double slot_left(int octave, int j)
{
    return ldexp(1, -(octave + 1)) + j * slot_width(octave);
}

/* The polynomial of a slot as the kernel evaluates it, at w. */
static double polynomial(const tacit__slot *slot, double left, double width, double w)
{
    double t = (w - left) / width - 0.5, p = slot->coefficient[TACIT__DEGREE];
    for (int i = TACIT__DEGREE - 1; i >= 0; i--)
        p = p * t + slot->coefficient[i];
    return p;
}

/* True if |y - scale Q(U)| <= scale * tolerance for every U in [v, v + 1] 2^-52. */
static bool keeps_tolerance(tacit__noise_law law, double scale, double y, double tolerance,
                            uint64_t v)
{
    mpfr_t z, s;
    mpfr_inits2(PRECISION, z, s, (mpfr_ptr)0);
    mpfr_set_d(z, y, MPFR_RNDN);
    mpfr_div_d(z, z, scale, MPFR_RNDD);
    mpfr_add_d(z, z, tolerance, MPFR_RNDD);
    survival(law, z, s, MPFR_RNDU);
    mpfr_mul_2ui(s, s, 52, MPFR_RNDU);
    bool kept = mpfr_cmp_d(s, (double)v) <= 0;
    mpfr_set_d(z, y, MPFR_RNDN);
    mpfr_div_d(z, z, scale, MPFR_RNDU);
    mpfr_sub_d(z, z, tolerance, MPFR_RNDU);
    survival(law, z, s, MPFR_RNDD);
    mpfr_mul_2ui(s, s, 52, MPFR_RNDD);
    kept = kept && mpfr_cmp_d(s, (double)(v + 1)) >= 0;
    mpfr_clears(z, s, (mpfr_ptr)0);
    return kept;
}

static void check_slot(tacit__noise_law law, int octave, int j, uint64_t *random)
{
    const tacit__slot *slot = &tacit__tables[law][slot_of(octave, j)];
    double left = slot_left(octave, j), width = slot_width(octave);
    uint64_t first = (uint64_t)ldexp(left, 52), count = (uint64_t)ldexp(width, 52);
    for (int i = 0; i < 5; i++) {
        uint64_t v = i == 0   ? first
                     : i == 1 ? first + count - 1
                              : first + random_below(random, count);
        double w = ((double)v + 0.5) * 0x1p-52, scale = random_between(random, 1, 0x1p30);
        double y = scale * polynomial(slot, left, width, w);
        if (!keeps_tolerance(law, scale, y, slot->tolerance, v)) {
            print_error("law %d, octave %d, segment %d, w = %a\n", law, octave, j, w);
            fail();
        }
        int64_t draw;
        if (tacit__draw_loop_one(tacit__tables[law], scale, v << 12, &draw))
            assert_true(draw == llrint(y)); /* the kernel reads this slot, at this point */
    }
}

TEST(every_slot_keeps_its_tolerance_at_its_ends_and_inside)
{
    uint64_t random = 1;
    for (int law = 0; law < TACIT__LAWS; law++)
        for (int octave = 0; octave < TACIT__OCTAVES; octave++)
            for (int j = 0; j < SEGMENTS; j++)
                check_slot((tacit__noise_law)law, octave, j, &random);
}

/* What no table of doubles can avoid: 11 bits of U that are not looked at, times |Q'|, and two roundings
 * of a number of the size of Q. */
static double unavoidable(tacit__noise_law law, double w)
{
    double z = -log(w), slope = 1 / w;
    if (law == TACIT__GAUSSIAN) {
        z = 0;
        for (int i = 0; i < 100; i++)
            z += (erfc(z / M_SQRT2) - w) * sqrt(M_PI / 2) * exp(z * z / 2);
        slope = sqrt(M_PI / 2) * exp(z * z / 2);
    }
    return 0x1p-53 * (slope + 2 * z);
}

TEST(tolerances_are_not_absurdly_large)
{
    for (int law = 0; law < TACIT__LAWS; law++) {
        for (int octave = 0; octave < TACIT__OCTAVES; octave++)
            for (int j = 0; j < SEGMENTS; j++) {
                double tolerance = tacit__tables[law][slot_of(octave, j)].tolerance;
                double least = unavoidable((tacit__noise_law)law, slot_left(octave, j));
                assert_within(tolerance, least / 2, 6 * least + 0x1p-52);
                assert_within(tolerance, 0, octave < 2 ? 0x1p-49 : 0x1p-32);
            }
        assert_true(isinf(tacit__tables[law][0].tolerance)); /* the tail is always refined */
    }
}

/* Verdicts and draws of two kernels, in runs so short that the verdicts mean something. Returns how many were unsure. */
static uint64_t compare(tacit__draw_loop_fn *wide_kernel, tacit__draw_loop_fn *base_kernel)
{
    enum { WORDS = 1000000, RUN = 8 };
    static int64_t words[WORDS], wide[WORDS], base[WORDS];
    uint64_t random = 2, unsure = 0;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = (int64_t)random_word(&random);
    for (int law = 0; law < TACIT__LAWS; law++)
        for (size_t s = 0; s < N_SCALES; s++) {
            const tacit__slot *table = tacit__tables[law];
            memcpy(wide, words, sizeof words);
            memcpy(base, words, sizeof words);
            for (size_t i = 0; i < WORDS; i += RUN) {
                bool sure = wide_kernel(table, scales[s], RUN, wide + i);
                unsure += !sure;
                if (sure != base_kernel(table, scales[s], RUN, base + i))
                    fail_msg("verdicts differ at scale %g, word %zu", scales[s], i);
            }
            assert_memory_equal(wide, base, sizeof wide);
        }
    for (size_t n = 0; n < 20; n++) { /* and runs that are no multiple of the lanes */
        memcpy(wide, words, sizeof words);
        memcpy(base, words, sizeof words);
        assert_true(wide_kernel(tacit__tables[0], 1, n, wide) ==
                    base_kernel(tacit__tables[0], 1, n, base));
        assert_memory_equal(wide, base, 32 * sizeof *wide);
        assert_memory_equal(wide + n, words + n, 12 * sizeof *wide);
    }
    return unsure;
}

TEST(all_instruction_sets_give_the_same_bits)
{
    if (!tacit__cpu_has_avx2())
        skip();
    tacit__draw_loop_fn *widest = tacit__draw_loop();
    tacit__cpu_pretend_avx2(true);
    tacit__draw_loop_fn *wide = tacit__draw_loop();
    tacit__cpu_pretend_avx2(false);
    tacit__cpu_pretend_base(true);
    tacit__draw_loop_fn *base = tacit__draw_loop();
    tacit__cpu_pretend_base(false);
    assert_true(wide != base && (widest != wide || !tacit__cpu_has_avx512()));
    assert_true(compare(wide, base) > 0);
    assert_true(compare(widest, base) > 0);
}

static tacit__site any_site(void)
{
    tacit__site site;
    SCOPED(tacit_noise) *root = simulated_noise(6);
    tacit__site_open(&site, root, "kernel");
    return site;
}

/* What the sampler makes of a word that it refines. */
static int64_t refined_at(const tacit__site *site, uint64_t step, uint64_t index, int law,
                          double scale, uint64_t word)
{
    uint64_t extension[TACIT__WORDS_PER_BLOCK];
    tacit__site_extension(site, step, index, extension);
    return tacit__refine((tacit__noise_law)law, scale, word, extension);
}

TEST(proven_answers_are_the_refined_ones)
{
    enum { WORDS = 3000 };
    tacit__site site = any_site();
    uint64_t random = 3;
    size_t proven = 0;
    for (int law = 0; law < TACIT__LAWS; law++)
        for (size_t s = 0; s < N_SCALES; s++)
            for (int i = 0; i < WORDS; i++) {
                uint64_t word = random_word(&random);
                int64_t draw;
                if (!tacit__draw_loop_one(tacit__tables[law], scales[s], word, &draw))
                    continue;
                proven++;
                assert_true(draw == refined_at(&site, 0, (uint64_t)i, law, scales[s], word));
            }
    assert_true(proven > TACIT__LAWS * WORDS * N_SCALES * 3 / 4);
}

/* The 63 leading bits of S((r + 1/2) / scale): where the answer changes from r + 1 to r. */
static uint64_t boundary(tacit__noise_law law, double scale, int64_t r)
{
    mpfr_t z, s;
    mpfr_inits2(PRECISION, z, s, (mpfr_ptr)0);
    mpfr_set_sj(z, 2 * r + 1, MPFR_RNDN);
    mpfr_div_2ui(z, z, 1, MPFR_RNDN);
    mpfr_div_d(z, z, scale, MPFR_RNDN);
    survival(law, z, s, MPFR_RNDD);
    mpfr_mul_2ui(s, s, 63, MPFR_RNDD);
    uint64_t bits = mpfr_get_uj(s, MPFR_RNDD);
    mpfr_clears(z, s, (mpfr_ptr)0);
    return bits;
}

TEST(words_beside_a_rounding_boundary_fall_on_the_right_side)
{
    static const int64_t offsets[] = {-(1 << 13), -(1 << 11), -3, -1, 1, 3, 1 << 11, 1 << 13};
    tacit__site site = any_site();
    uint64_t random = 4;
    size_t unproven = 0;
    for (int law = 0; law < TACIT__LAWS; law++)
        for (size_t s = 1; s < N_SCALES; s++)
            for (int i = 0; i < 40; i++) {
                int64_t r = (int64_t)(scales[s] * 2.5 * random_unit(&random));
                uint64_t at = boundary((tacit__noise_law)law, scales[s], r);
                for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
                    uint64_t bits = at + (uint64_t)offsets[k], sign = random_word(&random) & 1;
                    uint64_t word = bits << 1 | sign;
                    int64_t refined = refined_at(&site, 0, 0, law, scales[s], word), draw;
                    int64_t magnitude = sign ? -refined : refined;
                    /* larger U, smaller draw; other boundaries are many words away at scale 2^34 */
                    if (scales[s] < 0x1p35)
                        assert_true(magnitude == (offsets[k] < 0 ? r + 1 : r));
                    if (tacit__draw_loop_one(tacit__tables[law], scales[s], word, &draw))
                        assert_true(draw == refined);
                    else
                        unproven++;
                }
            }
    assert_true(unproven > 0);
}

/* True if r = round(scale Q(U)) for the U of these bits, by S((r + 1/2) / scale) <= U < S((r - 1/2) / scale)
 * with all 575 of them. */
static bool is_rounded_quantile(tacit__noise_law law, double scale, uint64_t word,
                                const uint64_t extension[8], int64_t r)
{
    mpfr_t u, z, s;
    mpfr_inits2(LONG_PRECISION, u, z, s, (mpfr_ptr)0);
    mpfr_set_uj(u, word >> 1, MPFR_RNDN);
    for (int i = 0; i < 8; i++) {
        mpfr_mul_2ui(u, u, 32, MPFR_RNDN);
        mpfr_add_ui(u, u, (unsigned long)(extension[i] >> 32), MPFR_RNDN);
        mpfr_mul_2ui(u, u, 32, MPFR_RNDN);
        mpfr_add_ui(u, u, (unsigned long)(extension[i] & 0xffffffff), MPFR_RNDN);
    }
    mpfr_div_2ui(u, u, 63 + 8 * 64, MPFR_RNDN);
    mpfr_set_sj(z, 2 * r + 1, MPFR_RNDN);
    mpfr_div_2ui(z, z, 1, MPFR_RNDN);
    mpfr_div_d(z, z, scale, MPFR_RNDN);
    survival(law, z, s, MPFR_RNDN);
    bool right = mpfr_cmp(s, u) <= 0;
    if (r > 0) {
        mpfr_set_sj(z, 2 * r - 1, MPFR_RNDN);
        mpfr_div_2ui(z, z, 1, MPFR_RNDN);
        mpfr_div_d(z, z, scale, MPFR_RNDN);
        survival(law, z, s, MPFR_RNDN);
        right = right && mpfr_cmp(u, s) < 0;
    }
    mpfr_clears(u, z, s, (mpfr_ptr)0);
    return right;
}

static void check_refined_by(tacit__noise_law law, double scale, uint64_t word,
                             const uint64_t extension[TACIT__WORDS_PER_BLOCK])
{
    int64_t draw = tacit__refine(law, scale, word, extension);
    int64_t magnitude = word & 1 ? -draw : draw;
    assert_true(magnitude >= 0);
    assert_true((double)magnitude < TACIT__MAX_DRAW * scale + 1);
    if (!is_rounded_quantile(law, scale, word, extension, magnitude))
        fail_msg("law %d, scale %g, word %llx: %lld", law, scale, (unsigned long long)word,
                 (long long)draw);
}

static void check_refined(tacit__noise_law law, double scale, uint64_t word)
{
    tacit__site site = any_site();
    uint64_t extension[TACIT__WORDS_PER_BLOCK];
    for (uint64_t index = 0; index < 2; index++) {
        tacit__site_extension(&site, 5, index, extension);
        check_refined_by(law, scale, word, extension);
    }
}

TEST(refinement_is_right_for_words_of_zeros_of_ones_and_in_the_tail)
{
    uint64_t random = 8;
    for (int law = 0; law < TACIT__LAWS; law++)
        for (size_t s = 0; s < N_SCALES; s++) {
            check_refined((tacit__noise_law)law, scales[s], 0);
            check_refined((tacit__noise_law)law, scales[s], 1);
            check_refined((tacit__noise_law)law, scales[s], UINT64_MAX);
            check_refined((tacit__noise_law)law, scales[s], UINT64_MAX - 1);
            for (int zeros = 18; zeros < 64; zeros += 5)
                check_refined((tacit__noise_law)law, scales[s], random_word(&random) >> zeros);
        }
}

/* The end of what 575 bits can say. On a coarse lattice the last word decides; where no bit is set there is no answer. */
TEST(a_draw_is_right_to_the_end_of_its_bits_and_then_there_is_none)
{
    for (int law = 0; law < TACIT__LAWS; law++)
        for (size_t s = 0; s < N_SCALES; s++) {
            uint64_t extension[TACIT__WORDS_PER_BLOCK] = {0};
            assert_aborts(tacit__refine((tacit__noise_law)law, scales[s], 0, extension));
            for (int bit = 63; bit >= 8 && scales[s] <= 1; bit--) {
                extension[TACIT__WORDS_PER_BLOCK - 1] = ((uint64_t)1 << bit) | 0x5a;
                check_refined_by((tacit__noise_law)law, scales[s], (uint64_t)(bit % 2), extension);
            }
        }
}

TEST(refinement_is_right_where_sixty_three_bits_do_not_decide)
{
    uint64_t random = 9;
    for (int law = 0; law < TACIT__LAWS; law++)
        for (size_t s = 0; s < N_SCALES; s++)
            for (int i = 0; i < 10; i++) {
                int64_t r = (int64_t)(scales[s] * 4 * random_unit(&random));
                uint64_t word = boundary((tacit__noise_law)law, scales[s], r) << 1 | (i & 1);
                int64_t draw;
                check_refined((tacit__noise_law)law, scales[s], word);
                if (scales[s] >= 1) /* such a word must never be called proven */
                    assert_false(tacit__draw_loop_one(tacit__tables[law], scales[s], word, &draw));
            }
}

TEST(the_tail_is_never_called_proven)
{
    uint64_t random = 10;
    int64_t draw;
    for (int law = 0; law < TACIT__LAWS; law++)
        for (int i = 0; i < 1000; i++) {
            uint64_t word = random_word(&random) >> TACIT__OCTAVES;
            assert_false(tacit__draw_loop_one(tacit__tables[law], 0x1p-30, word, &draw));
        }
}

TEST(bulk_draws_are_the_refined_words_of_the_stream)
{
    enum { N = 9001 };
    static int64_t draws[N], pieces[N];
    static uint64_t words[N];
    tacit__site site = any_site();
    tacit__site_words(&site, 77, 0, N, words);
    for (int law = 0; law < TACIT__LAWS; law++)
        for (size_t s = 0; s < N_SCALES; s++) {
            tacit__noise_draw(&site, 77, 0, (tacit__noise_law)law, scales[s], N, draws);
            for (size_t at = 0; at < N; at += 1000)
                tacit__noise_draw(&site, 77, at, (tacit__noise_law)law, scales[s],
                                  N - at < 1000 ? N - at : 1000, pieces + at);
            assert_memory_equal(draws, pieces, sizeof draws);
            for (size_t i = s; i < N; i += 150)
                assert_true(draws[i] == refined_at(&site, 77, i, law, scales[s], words[i]));
        }
}

TEST(scales_outside_the_range_stop_the_program)
{
    tacit__site site = any_site();
    int64_t draw;
    assert_aborts(tacit__noise_draw(&site, 0, 0, TACIT__GAUSSIAN, 0, 1, &draw));
    assert_aborts(tacit__noise_draw(&site, 0, 0, TACIT__GAUSSIAN, -1, 1, &draw));
    assert_aborts(tacit__noise_draw(&site, 0, 0, TACIT__GAUSSIAN, (double)NAN, 1, &draw));
    assert_aborts(tacit__noise_draw(&site, 0, 0, TACIT__LAPLACE, 0x1.0000000000001p46, 1, &draw));
}

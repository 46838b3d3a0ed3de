/* Words in blocks of 4096, straight into the caller's array; the kernel turns them into draws in place, in
 * runs of 512; a run in which a word could not be proven gets its words again and each is decided alone. */
#include "noise/sampler.h"

#include "base/error.h"
#include "noise/kernel.h"
#include "noise/refine.h"

enum { BLOCK = 4096, RUN = 512 };

static void draw_one_by_one(const tacit__site *site, uint64_t step, uint64_t first, tacit__law law,
                            double scale, size_t n, int64_t *out)
{
    tacit__site_words(site, step, first, n, (uint64_t *)out);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = (uint64_t)out[i];
        if (!tacit__kernel_one(tacit__tables[law], scale, word, &out[i]))
            out[i] = tacit__refine(site, step, first + i, law, scale, word);
    }
}

void tacit__noise_draw(const tacit__site *site, uint64_t step, uint64_t first, tacit__law law,
                       double scale, size_t n, int64_t *out)
{
    TACIT__REQUIRE(scale > 0 && scale <= TACIT__MAX_SCALE && law < TACIT__LAWS);
    tacit__kernel_fn *kernel = tacit__kernel();
    const tacit__slot *table = tacit__tables[law];
    for (size_t start = 0; start < n; start += BLOCK) {
        size_t in_block = n - start < BLOCK ? n - start : BLOCK;
        tacit__site_words(site, step, first + start, in_block, (uint64_t *)out + start);
        for (size_t i = start; i < start + in_block; i += RUN) {
            size_t in_run = start + in_block - i < RUN ? start + in_block - i : RUN;
            if (!kernel(table, scale, in_run, out + i))
                draw_one_by_one(site, step, first + i, law, scale, in_run, out + i);
        }
    }
}

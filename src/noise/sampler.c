/* Words in blocks of 4096, straight into the caller's array; the kernel turns them into draws in place, in
 * runs of 512; a run in which a word could not be proven gets its words again and each is decided alone. */
#include "noise/sampler.h"

#include <string.h>

#include "base/error.h"
#include "noise/draw_loop.h"
#include "noise/refine.h"

enum { BLOCK = 4096, RUN = 512 };

/* out[] holds the words. */
static void draw_one_by_one(const tacit__site *site, uint64_t step, uint64_t first,
                            tacit__noise_law law, double scale, size_t n, int64_t *out)
{
    uint64_t extension[TACIT__WORDS_PER_BLOCK];
    for (size_t i = 0; i < n; i++) {
        uint64_t word = (uint64_t)out[i];
        if (tacit__draw_loop_one(tacit__tables[law], scale, word, &out[i]))
            continue;
        tacit__site_extension(site, step, first + i, extension);
        out[i] = tacit__refine(law, scale, word, extension);
    }
    tacit__wipe(extension, sizeof extension);
}

void tacit__noise_draw(const tacit__site *site, uint64_t step, uint64_t first, tacit__noise_law law,
                       double scale, size_t n, int64_t *out)
{
    TACIT__REQUIRE(scale > 0 && scale <= TACIT__MAX_SCALE && law < TACIT__LAWS);
    tacit__draw_loop_fn *kernel = tacit__draw_loop();
    const tacit__slot *table = tacit__tables[law];
    for (size_t start = 0; start < n; start += BLOCK) {
        size_t in_block = n - start < BLOCK ? n - start : BLOCK;
        tacit__site_words(site, step, first + start, in_block, (uint64_t *)out + start);
        for (size_t i = start; i < start + in_block; i += RUN) {
            size_t in_run = start + in_block - i < RUN ? start + in_block - i : RUN;
            if (!kernel(table, scale, in_run, out + i)) {
                tacit__site_words(site, step, first + i, in_run, (uint64_t *)out + i);
                draw_one_by_one(site, step, first + i, law, scale, in_run, out + i);
            }
        }
    }
}

void tacit__link_draw(const tacit__link *link, uint64_t first, tacit__noise_law law, double scale,
                      size_t n, int64_t *out)
{
    const tacit__site *site = &link->site;
    if (link->n_head == 0) {
        tacit__noise_draw(site, link->step, link->first + first, law, scale, n, out);
        return;
    }
    const uint64_t *words = link->head + link->first + first;
    TACIT__REQUIRE(scale > 0 && scale <= TACIT__MAX_SCALE && law < TACIT__LAWS);
    TACIT__REQUIRE(first + n <= link->n_head);
    memcpy(out, words, n * sizeof *out);
    if (!tacit__draw_loop()(tacit__tables[law], scale, n, out)) {
        memcpy(out, words, n * sizeof *out);
        draw_one_by_one(site, link->step, link->first + first, law, scale, n, out);
    }
}

void tacit__link_words(const tacit__link *link, uint64_t first, size_t n, uint64_t *out)
{
    if (link->n_head == 0) {
        tacit__site_words(&link->site, link->step, link->first + first, n, out);
        return;
    }
    TACIT__REQUIRE(first + n <= link->n_head);
    memcpy(out, link->head + link->first + first, n * sizeof *out);
}

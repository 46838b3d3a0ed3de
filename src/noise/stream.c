/* ChaCha20 streams keyed per site, and the only file that asks for random bits.
 *
 * Layout. root key (256 bits) --BLAKE2b keyed, message = (domain, scope, site name)--> site key. Word i of
 * step s is word i mod 8 of ChaCha20 block i / 8 under (site key, nonce = s). Extension words of word i use
 * nonce s + 2^63, block i: ChaCha20's 64-bit nonce and 64-bit counter make the two families disjoint as long
 * as s < 2^63. Nothing is buffered between calls, so there is no state to lose, to fork, or to save but the
 * key.
 *
 * Chains: the noise of releases. Step t has a key K_t; K_1 is the site's. The step's input has a tag of 94
 * bits (tag.c), which takes the place of s in the nonce (63 bits) and of the upper bits of the block counter
 * (31). Of the words under (K_t, tag_t) the first four are K_(t+1), the others are the step's noise. So
 *
 *   - the noise of step t is a function of K_1 and the inputs 1 .. t: the same history gives the same noise,
 *     to the bit;
 *   - take any states, copied or restored, that were continued in q ways. Two ways are alike up to some step
 *     and have different inputs there. With probability at least 1 - q^2 2^-92 no two different inputs under
 *     the same key have equal tags; then all blocks that the ways use from there on are different blocks of
 *     ChaCha20 under keys that are themselves such blocks. If ChaCha20 is a pseudorandom function, the noise
 *     of the ways is independent after they part. (Hybrids over steps: with K_t uniform, blocks at different
 *     places are independent and uniform, K_(t+1) of each way among them.)
 *
 * Hence a user whose data are in m ways is protected by m guarantees together, and a user in one way by one:
 * as if each way had begun with a key of its own. An observer can only see whether two ways are still alike.
 * Where that says something about a user, labels (tag.h) make all ways different: if two ways have different
 * users at the same step, then without labels equal releases reveal that both brought the same data. A key
 * does not reveal the keys before it.
 *
 * libsodium's randombytes aborts the process when the system has no randomness to give: there is no
 * fallback. Fork: a handler counts forks in the child; an OS-keyed root or site that sees a new count
 * mixes fresh system randomness into its key before its next word. Seeded ones stay reproducible. */
#include "noise/stream.h"

#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "noise/chacha.h"

struct tacit_noise {
    uint8_t key[TACIT__KEY_BYTES];
    uint64_t generation;
    bool simulated;
    atomic_uint_fast64_t scopes; /* used so far */
};

static atomic_uint_fast64_t forks;
static tacit__started once = TACIT__NOT_STARTED;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void start(void)
{
    TACIT__REQUIRE(sodium_init() >= 0);
    tacit__on_fork(count_fork);
}

/* out = BLAKE2b-256(key = secret, domain || text): distinct (domain, text) give independent keys. */
static void derive(uint8_t out[TACIT__KEY_BYTES], const uint8_t secret[TACIT__KEY_BYTES],
                   char domain, const void *text, size_t size)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, secret, TACIT__KEY_BYTES, TACIT__KEY_BYTES);
    crypto_generichash_update(&state, (const unsigned char *)&domain, 1);
    crypto_generichash_update(&state, text, size);
    crypto_generichash_final(&state, out, TACIT__KEY_BYTES);
    sodium_memzero(&state, sizeof state);
}

static void refresh(uint8_t key[TACIT__KEY_BYTES], uint64_t *generation, bool simulated)
{
    uint64_t now = atomic_load_explicit(&forks, memory_order_relaxed);
    if (*generation == now || simulated)
        return;
    uint8_t fresh[TACIT__KEY_BYTES], old[TACIT__KEY_BYTES];
    randombytes_buf(fresh, sizeof fresh);
    memcpy(old, key, sizeof old);
    derive(key, old, 'f', fresh, sizeof fresh);
    sodium_memzero(fresh, sizeof fresh);
    sodium_memzero(old, sizeof old);
    *generation = now;
}

static tacit_status create(tacit_noise **out, bool simulated)
{
    if (out == NULL)
        return TACIT_BAD_ARGUMENT;
    tacit__run_once(&once, start);
    tacit_noise *noise = tacit__alloc(1, sizeof *noise);
    if (noise == NULL)
        return TACIT_NO_MEMORY;
    noise->simulated = simulated;
    noise->generation = atomic_load(&forks);
    *out = noise;
    return TACIT_OK;
}

tacit_status tacit_noise_create_from_os(tacit_noise **out)
{
    tacit_status status = create(out, false);
    if (status == TACIT_OK)
        randombytes_buf((*out)->key, sizeof(*out)->key);
    return status;
}

tacit_status tacit_noise_create_simulated(uint64_t seed, tacit_noise **out)
{
    static const uint8_t public_key[TACIT__KEY_BYTES] = "tacit: simulated, not private";
    TRY(create(out, true));
    uint8_t text[8];
    for (int i = 0; i < 8; i++)
        text[i] = (uint8_t)(seed >> (8 * i));
    derive((*out)->key, public_key, 's', text, sizeof text);
    return TACIT_OK;
}

bool tacit_noise_is_simulated(const tacit_noise *noise)
{
    return noise->simulated;
}

void tacit_noise_destroy(tacit_noise *noise)
{
    tacit__free_secret(noise, sizeof *noise);
}

static void open_site(tacit__site *site, tacit_noise *root, char domain, const void *text,
                      size_t size)
{
    refresh(root->key, &root->generation, root->simulated);
    derive(site->key, root->key, domain, text, size);
    site->block = 0;
    site->generation = root->generation;
    site->simulated = root->simulated;
}

void tacit__site_open(tacit__site *site, tacit_noise *root, const char *name)
{
    open_site(site, root, 'n', name, strlen(name));
}

uint64_t tacit__noise_scope(tacit_noise *root)
{
    return atomic_fetch_add(&root->scopes, 1);
}

void tacit__site_open_scoped(tacit__site *site, tacit_noise *root, uint64_t scope, const char *name)
{
    /* the scope's own key first, so that names of any length need no room here */
    tacit__site of_scope;
    uint8_t text[8];
    for (int i = 0; i < 8; i++)
        text[i] = (uint8_t)(scope >> (8 * i));
    open_site(&of_scope, root, 'l', text, sizeof text);
    derive(site->key, of_scope.key, 'n', name, strlen(name));
    site->block = 0;
    site->generation = of_scope.generation;
    site->simulated = of_scope.simulated;
    tacit__site_wipe(&of_scope);
}

void tacit__site_restore(tacit__site *site, const uint8_t key[TACIT__KEY_BYTES], bool simulated)
{
    tacit__run_once(&once, start);
    memcpy(site->key, key, TACIT__KEY_BYTES);
    site->block = 0;
    site->generation = atomic_load(&forks);
    site->simulated = simulated;
}

void tacit__site_wipe(tacit__site *site)
{
    sodium_memzero(site, sizeof *site);
}

void tacit__site_refresh(tacit__site *site)
{
    refresh(site->key, &site->generation, site->simulated);
}

enum { BLOCK_BITS = 33 }; /* of the counter; what is above them belongs to the tag */

static void blocks(const tacit__site *site, uint64_t nonce, uint64_t block, void *out, size_t bytes)
{
    TACIT__REQUIRE(block >> BLOCK_BITS == 0);
    tacit__chacha(site->key, nonce, site->block + block, bytes, out);
}

void tacit__site_words(const tacit__site *site, uint64_t step, uint64_t first, size_t n,
                       uint64_t *out)
{
    TACIT__REQUIRE(step >> 63 == 0 && first % TACIT__WORDS_PER_BLOCK == 0);
    blocks(site, step, first / TACIT__WORDS_PER_BLOCK, out, n * sizeof *out);
}

void tacit__site_extension(const tacit__site *site, uint64_t step, uint64_t index,
                           uint64_t out[TACIT__WORDS_PER_BLOCK])
{
    TACIT__REQUIRE(step >> 63 == 0);
    blocks(site, step | (uint64_t)1 << 63, index, out, TACIT__WORDS_PER_BLOCK * sizeof *out);
}

void tacit__site_advance(tacit__site *site, tacit__tag input, uint64_t n, tacit__link *out)
{
    enum { KEY_WORDS = TACIT__KEY_BYTES / sizeof(uint64_t), FAST = 4 };
    TACIT__REQUIRE(input.high >> 31 == 0);
    bool together = n <= TACIT__HEAD_WORDS - KEY_WORDS;
    out->site = *site;
    out->site.block = (uint64_t)input.high << BLOCK_BITS;
    out->step = input.nonce;
    out->first = together ? KEY_WORDS : TACIT__WORDS_PER_BLOCK;
    out->n_head = together ? (size_t)n : 0;
    size_t words = together ? KEY_WORDS + (size_t)n : KEY_WORDS;
    /* whole blocks, and eight rather than five to seven: that is what the wide instructions make at once */
    size_t n_blocks = (words + TACIT__WORDS_PER_BLOCK - 1) / TACIT__WORDS_PER_BLOCK;
    if (n_blocks % 8 > FAST)
        n_blocks += 8 - n_blocks % 8;
    tacit__site_words(&out->site, out->step, 0, n_blocks * TACIT__WORDS_PER_BLOCK, out->head);
    memcpy(site->key, out->head, TACIT__KEY_BYTES);
    sodium_memzero(out->head, TACIT__KEY_BYTES);
}

void tacit__wipe(void *p, size_t bytes)
{
    sodium_memzero(p, bytes);
}

void tacit__digest(const tacit__bytes *parts, size_t n_parts, uint8_t out[TACIT__KEY_BYTES])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, TACIT__KEY_BYTES);
    for (size_t i = 0; i < n_parts; i++)
        crypto_generichash_update(&state, parts[i].data, parts[i].size);
    crypto_generichash_final(&state, out, TACIT__KEY_BYTES);
    sodium_memzero(&state, sizeof state);
}

/* The mark: how far a store has come, written outside it. See store/vault/vault_inside.h.
 *
 * A store that was restored from a backup, or lost the end of its log, looks sound. So the number of the
 * last transaction is also in a file beside it, or on another disk: STORE.mark, or the file that `mark`
 * names. The store commits first and the mark is raised after it, so the mark is never ahead of a complete
 * store, whenever a crash happens. A higher mark means that the store went back. If the mark is missing,
 * or belongs to another store, it is unknown whether it did. If the mark is removed while the store is
 * served, it is written again within a second, because the owner knows the number.
 *
 *     slot at 0 and at SLOT:   magic 8, identity 16, generation 8, forks 8,
 *                              of a database the proof of that transaction 32,
 *                              authenticator 32 (BLAKE2b under the store's own key)
 *
 * The mark has the number of forks because a backup from before an adoption does not know of it: when that
 * backup is adopted as well, the line of the mark is one more that may have a person's data.
 *
 * Two slots are written in turn: a write that was cut short leaves the other one. The mark is handed to
 * the system with every commit, so the end of this process loses nothing of it, and is synced once in a
 * second: what a mark may miss after the machine lost its power is the last second's transactions. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

enum {
    MAC = 32,
    STAMP = 32,
    MARK = 8 + TACIT__OWNER_BYTES + 8 + 8 + STAMP + MAC, /* without a stamp it is so much shorter */
    SLOT = 512 /* bytes: the smallest sector, so that a torn write is one slot's */
};

static const char magic[8] = "tacitmk1", stamped_magic[8] = "tacitmk2";

/* The mark of a database has the proof of the transaction, too, since others may have written one of the
 * same number (postgres_fencing.c). */
static bool is_stamped(const tacit__vault *vault)
{
    return vault->backend->shared;
}

static size_t size_of(const tacit__vault *vault)
{
    return is_stamped(vault) ? MARK : MARK - STAMP;
}

static void write_count(uint8_t *out, uint64_t count)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(count >> 8 * i);
}

static uint64_t read_count(const uint8_t *bytes)
{
    uint64_t count = 0;
    for (int i = 0; i < 8; i++)
        count |= (uint64_t)bytes[i] << 8 * i;
    return count;
}

static void make_slot(const tacit__vault *vault, uint8_t slot[MARK])
{
    const size_t size = size_of(vault);
    uint64_t generation = vault->generation;
    if (is_stamped(vault))
        tacit__vault_get_lineage(vault, &generation, slot + 40);
    memcpy(slot, is_stamped(vault) ? stamped_magic : magic, sizeof magic);
    memcpy(slot + 8, vault->identity, sizeof vault->identity);
    write_count(slot + 24, generation);
    write_count(slot + 32, vault->forks);
    tacit__keyed_hash(vault->key_mark, slot, size - MAC, slot + size - MAC, MAC);
}

/* Returns false if the mark is damaged or belongs to another store. The mark of another fork of this store,
 * which has the same key, says how many forks there are. */
static bool read_slot(tacit__vault *vault, const uint8_t slot[MARK], uint64_t *generation)
{
    const size_t size = size_of(vault);
    uint8_t mac[MAC];
    tacit__keyed_hash(vault->key_mark, slot, size - MAC, mac, MAC);
    *generation = read_count(slot + 24);
    if (memcmp(slot, is_stamped(vault) ? stamped_magic : magic, sizeof magic) != 0)
        return false;
    if (!tacit__same_bytes(mac, slot + size - MAC, MAC)) {
        vault->mark_foreign = true;
        return false;
    }
    const uint64_t forks = read_count(slot + 32);
    vault->marked_forks = forks > vault->marked_forks ? forks : vault->marked_forks;
    return memcmp(slot + 8, vault->identity, sizeof vault->identity) == 0;
}

static tacit_status fail_mark(const tacit__vault *vault, const char *doing, tacit_error *err)
{
    return tacit__fail(err, TACIT_SYSTEM, "%.300s: cannot %s the store's mark: %s",
                       vault->mark_path, doing, strerror(errno));
}

tacit_status tacit__mark_read(tacit__vault *vault, bool *found, uint64_t *generation,
                              tacit_error *err)
{
    TACIT__REQUIRE(found != NULL && generation != NULL);
    *found = false;
    *generation = vault->marked_forks = 0;
    vault->mark_foreign = false;
    int fd = open(vault->mark_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? TACIT_OK : fail_mark(vault, "read", err);
    for (off_t i = 0; i < 2; i++) {
        uint8_t slot[MARK];
        uint64_t its;
        if (pread(fd, slot, size_of(vault), i * SLOT) != (ssize_t)size_of(vault) ||
            !read_slot(vault, slot, &its))
            continue;
        if (*found && its <= *generation)
            continue;
        *found = true;
        *generation = its;
        memcpy(vault->marked_stamp, slot + 40, STAMP); /* if it has one */
    }
    (void)close(fd);
    return TACIT_OK;
}

static tacit_status sync_mark(tacit__vault *vault, tacit_error *err)
{
    (void)clock_gettime(CLOCK_MONOTONIC, &vault->mark_synced);
    return fdatasync(vault->mark) == 0 ? TACIT_OK : fail_mark(vault, "sync", err);
}

static tacit_status write_slot(tacit__vault *vault, int i, tacit_error *err)
{
    uint8_t slot[MARK];
    make_slot(vault, slot);
    return pwrite(vault->mark, slot, size_of(vault), (off_t)i * SLOT) == (ssize_t)size_of(vault)
               ? TACIT_OK
               : fail_mark(vault, "write", err);
}

tacit_status tacit__mark_make(tacit__vault *vault, tacit_error *err)
{
    if (vault->mark < 0)
        vault->mark = open(vault->mark_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (vault->mark < 0)
        return fail_mark(vault, "make", err);
    /* both: nothing is left of an earlier identity, which an older file might have */
    TRY(write_slot(vault, 0, err));
    TRY(write_slot(vault, 1, err));
    TRY(sync_mark(vault, err));
    return tacit__vault_sync_directory(vault->mark_path, err);
}

/* Whether the path names the file that is written to. */
static bool is_in_place(const tacit__vault *vault)
{
    struct stat here, ours;
    return stat(vault->mark_path, &here) == 0 && fstat(vault->mark, &ours) == 0 &&
           here.st_dev == ours.st_dev && here.st_ino == ours.st_ino;
}

static tacit_status make_again(tacit__vault *vault, tacit_error *err)
{
    const int before = vault->mark;
    vault->mark = -1;
    tacit_status status = tacit__mark_make(vault, err);
    if (vault->mark < 0)
        vault->mark = before; /* to be tried again */
    else
        (void)close(before);
    return status;
}

tacit_status tacit__mark_raise(tacit__vault *vault, bool now, tacit_error *err)
{
    if (vault->mark < 0 || tacit__vault_store_status(vault) != TACIT__STORE_FINE)
        return TACIT_OK;
    struct timespec clock;
    (void)clock_gettime(CLOCK_MONOTONIC, &clock);
    const bool due = now || clock.tv_sec > vault->mark_synced.tv_sec;
    if (due && !is_in_place(vault))
        return make_again(vault, err);
    tacit_status status = write_slot(vault, (int)(vault->generation & 1), err);
    return status == TACIT_OK && due ? sync_mark(vault, err) : status;
}

/* Drives a fuzz target without a fuzzing engine.
 *
 *     fuzz_name [--variants N] [FILE | DIRECTORY]...
 *
 * Feeds the empty input, then every file named or found in the directories as it is, then N (300) variants
 * of each. The variants depend on nothing but the file's contents, so that a
 * failure can be had again. They run in a child process: whatever way it dies (a signal, a sanitizer,
 * an exit), the parent says on which input. A missing directory counts as an empty one: a target may
 * start without a corpus. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_FILE_SIZE = 1 << 20, /* bytes; the same limit for files and for their variants */
    MAX_GROWTH = 4096,       /* bytes that a variant may be longer than its seed */
    MAX_PATH_LENGTH = 4096   /* characters */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int n_variants = 300; /* a stated choice: a whole corpus in seconds, under sanitizers too */

/* What is being tried; in memory that the parent sees too. */
static struct progress {
    char where[MAX_PATH_LENGTH + 64];
    uint64_t n_inputs;
} * progress;

/* splitmix64: a fixed sequence per seed is all that is needed here. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t n)
{
    return n == 0 ? 0 : (size_t)(next_word(state) % n);
}

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Runs the target on an exact-size copy, so that a sanitizer sees a read past the end. */
static void try_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    if (copy == NULL) {
        perror("replay");
        exit(3);
    }
    if (size > 0)
        memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    progress->n_inputs++;
}

/* One edit of buffer[0..size) in place; returns the new size, at most `capacity`. */
static size_t edit(uint8_t *buffer, size_t size, size_t capacity, uint64_t *state)
{
    static const char *const words[] = {"-1",     "0",
                                        "1e309",  "nan",
                                        "inf",    "-0.0",
                                        "1e-320", "0x1",
                                        "=",      ",",
                                        ":",      "\n",
                                        "\t",     "%n",
                                        "{",      "\"",
                                        "[",      "4294967296",
                                        "\0",     " ",
                                        "--",     "18446744073709551616"};
    size_t at = below(state, size + 1);
    switch (below(state, 7)) {
    case 0: /* flip a bit */
        if (at < size)
            buffer[at] ^= (uint8_t)(1U << below(state, 8));
        return size;
    case 1: /* any byte */
        if (at < size)
            buffer[at] = (uint8_t)next_word(state);
        return size;
    case 2: /* cut the tail */
        return at;
    case 3: { /* remove a span */
        size_t n = below(state, size - at + 1);
        memmove(buffer + at, buffer + at + n, size - at - n);
        return size - n;
    }
    case 4: { /* repeat a span */
        size_t n = below(state, size - at + 1);
        if (n > capacity - size)
            n = capacity - size;
        memmove(buffer + at + n, buffer + at, size - at);
        return size + n;
    }
    case 5: { /* insert a troublesome word */
        const char *word = words[below(state, sizeof words / sizeof words[0])];
        size_t n = strlen(word);
        if (n > capacity - size)
            return size;
        memmove(buffer + at + n, buffer + at, size - at);
        memcpy(buffer + at, word, n);
        return size + n;
    }
    default: { /* extreme bytes: the edges of lengths and signs */
        static const uint8_t extremes[] = {0x00, 0x7f, 0x80, 0xff};
        size_t n = 1 + below(state, 8);
        for (size_t i = at; i < size && i < at + n; i++)
            buffer[i] = extremes[below(state, sizeof extremes)];
        return size;
    }
    }
}

static void try_with_variants(const char *path, const uint8_t *data, size_t size)
{
    size_t capacity = size + MAX_GROWTH;
    uint8_t *buffer = malloc(capacity);
    if (buffer == NULL) {
        perror("replay");
        exit(3);
    }
    (void)snprintf(progress->where, sizeof progress->where, "%s", path);
    try_input(data, size);
    uint64_t state = hash_of(data, size);
    for (int i = 0; i < n_variants; i++) {
        (void)snprintf(progress->where, sizeof progress->where, "%s, variant %d", path, i);
        if (size > 0)
            memcpy(buffer, data, size);
        size_t n = size;
        for (size_t edits = 1 + below(&state, 4); edits > 0; edits--)
            n = edit(buffer, n, capacity, &state);
        try_input(buffer, n);
    }
    free(buffer);
}

static void try_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(MAX_FILE_SIZE);
    if (file == NULL || data == NULL) {
        perror(path);
        exit(3);
    }
    size_t size = fread(data, 1, MAX_FILE_SIZE, file);
    if (ferror(file) != 0) {
        perror(path);
        exit(3);
    }
    (void)fclose(file);
    try_with_variants(path, data, size);
    free(data);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void try_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        if (errno == ENOENT)
            return;
        perror(path);
        exit(3);
    }
    if (!S_ISDIR(info.st_mode)) {
        try_file(path);
        return;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, is_visible, alphasort);
    if (n < 0) {
        perror(path);
        exit(3);
    }
    for (int i = 0; i < n; i++) {
        char child[MAX_PATH_LENGTH];
        int length = snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
        if (length < 0 || (size_t)length >= sizeof child) {
            (void)fprintf(stderr, "replay: path too long under %s\n", path);
            exit(3);
        }
        try_path(child);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) {
        perror("replay");
        return 3;
    }
    pid_t child = fork();
    if (child < 0) {
        perror("replay");
        return 3;
    }
    if (child == 0) {
        int first = 1;
        if (argc > 2 && strcmp(argv[1], "--variants") == 0) {
            n_variants = atoi(argv[2]);
            first = 3;
        }
        try_with_variants("the empty input", NULL, 0);
        for (int i = first; i < argc; i++)
            try_path(argv[i]);
        return 0;
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        (void)fprintf(stderr, "replay: died on %s\n", progress->where);
        return 1;
    }
    (void)printf("%llu inputs, no crash\n", (unsigned long long)progress->n_inputs);
    return 0;
}

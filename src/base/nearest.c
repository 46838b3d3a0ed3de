/* See base/nearest.h. Levenshtein's distance over short words: one row of the table at a time. */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"

#define LONGEST ((size_t)32) /* characters; a longer word is not a mistyped one */
#define SLIPS ((size_t)2)    /* a stated choice, and never more than half of the word */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to change, drop or insert; LONGEST + 1 if a word is long. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strnlen(a, LONGEST + 1), m = strnlen(b, LONGEST + 1), row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return LONGEST + 1;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 0; i < n; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < m; j++) {
            size_t change = corner + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
            corner = row[j + 1];
            row[j + 1] = least(change, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[m];
}

const char *tacit__nearest(const char *word, const char *const *words, size_t n)
{
    TACIT__REQUIRE(word != NULL && (words != NULL || n == 0));
    const char *best = NULL;
    size_t nearest = SLIPS + 1;
    for (size_t i = 0; i < n; i++) {
        if (words[i] == NULL)
            continue;
        size_t d = distance(word, words[i]);
        if (d < nearest && 2 * d <= strlen(words[i])) {
            nearest = d;
            best = words[i];
        }
    }
    return best;
}

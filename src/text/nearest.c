/* See text/nearest.h. The Levenshtein distance of short words, where two neighboring letters that changed
 * places count as one edit. Three rows of the table are in memory at a time. */
#include "text/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

#define LONGEST ((size_t)32)  /* characters; a longer word is not a mistyped one */
#define SLIPS ((size_t)2)     /* a stated choice, and never more than half of the word */
#define BEGINNING ((size_t)3) /* letters that are enough to know a word by */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool alike(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to change, drop, insert or swap; LONGEST + 1 if a word is long. rows[i % 3][j] is the distance of
 * the first i letters of a from the first j of b. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strnlen(a, LONGEST + 1), m = strnlen(b, LONGEST + 1), rows[3][LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return LONGEST + 1;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] =
                least(above[j - 1] + !alike(a[i - 1], b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *tacit__nearest(const char *word, const char *const *words, size_t n)
{
    TACIT__REQUIRE(word != NULL && (words != NULL || n == 0));
    const char *best = NULL, *begun = NULL;
    const size_t length = strlen(word);
    size_t nearest = SLIPS + 1;
    for (size_t i = 0; i < n; i++) {
        if (words[i] == NULL)
            continue;
        size_t d = distance(word, words[i]);
        if (d < nearest && 2 * d <= strlen(words[i])) {
            nearest = d;
            best = words[i];
        }
        if (begun == NULL && length >= BEGINNING && strncasecmp(word, words[i], length) == 0)
            begun = words[i];
    }
    return best != NULL ? best : begun;
}

const char *tacit__suggest(const char *word, const char *const *words, size_t n,
                           const char *otherwise, char out[TACIT__SUGGESTION])
{
    const char *near = tacit__nearest(word, words, n);
    size_t used = 0;
    out[0] = '\0';
    if (near != NULL)
        (void)snprintf(out, TACIT__SUGGESTION, ", did you mean '%s'?", near);
    else if (otherwise != NULL)
        (void)snprintf(out, TACIT__SUGGESTION, "%s", otherwise);
    for (size_t i = 0; near == NULL && otherwise == NULL && i < n && used < TACIT__SUGGESTION; i++)
        used += (size_t)snprintf(out + used, TACIT__SUGGESTION - used, "%s%s",
                                 i == 0 ? ", expected one of " : ", ", words[i]);
    return out;
}

bool tacit__is_about(const char *word, const char *name, const char *help, const char *source)
{
    return strlen(word) >= 3 && (strcasestr(name, word) != NULL || strcasestr(help, word) != NULL ||
                                 strcasestr(source, word) != NULL);
}

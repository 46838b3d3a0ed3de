/* What the commands share. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int cli_wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("tacit: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return CLI_WRONG;
}

int cli_failed(tacit_status status, const tacit_error *err)
{
    const char *text =
        err != NULL && err->message[0] != '\0' ? err->message : tacit_status_message(status);
    (void)cli_wrong("%s", text);
    switch (status) {
    case TACIT_NO_MEMORY:
    case TACIT_SYSTEM:
    case TACIT_TOO_LARGE:
        return CLI_SYSTEM;
    default:
        return CLI_WRONG;
    }
}

int cli_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    (void)cli_wrong("cannot write to standard output: %s", strerror(errno));
    return CLI_SYSTEM;
}

int cli_bad_option(char **argv, int code, const struct option *options)
{
    const char *text = argv[optind - 1];
    if (code == ':')
        return cli_wrong("option '%s' needs a value; see --help", text);
    if (strncmp(text, "--", 2) != 0)
        return cli_wrong("unknown option '-%c'; see --help", optopt);
    const char *names[32] = {NULL};
    for (size_t i = 0; i < 31 && options[i].name != NULL; i++)
        names[i] = options[i].name;
    char word[64];
    size_t length = strcspn(text + 2, "=");
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text + 2);
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], word) == 0)
            return cli_wrong("option '--%s' takes no value, got '%s'", word, text);
    const char *near = cli_nearest(word, names);
    if (near != NULL)
        return cli_wrong("unknown option '--%s', did you mean '--%s'?", word, near);
    return cli_wrong("unknown option '--%s'; see --help", word);
}

int cli_take_options(int argc, char **argv, const char *letters, const struct option *options,
                     int (*take)(void *wish, int code), void *wish)
{
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, letters, options, NULL)) != -1;) {
        int status =
            code == '?' || code == ':' ? cli_bad_option(argv, code, options) : take(wish, code);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

bool cli_number(const char *text, double *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    char *end;
    errno = 0;
    double x = strtod(text, &end);
    if (*end != '\0' || !isfinite(x))
        return false;
    *out = x;
    return true;
}

bool cli_count(const char *text, uint64_t *out)
{
    uint64_t n = 0;
    if (text[0] == '\0')
        return false;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p < '0' || *p > '9')
            return false;
        n = 10 * n + (uint64_t)(*p - '0');
        if (n > CLI_MAX_COUNT)
            return false;
    }
    *out = n;
    return n > 0;
}

char *cli_shortest(char buffer[32], double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(buffer, 32, "%.*g", digits, x);
        if (strtod(buffer, NULL) == x)
            break;
    }
    return buffer;
}

/* Levenshtein's distance, for words of at most 31 characters. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32], n = strlen(b);
    if (n > 31 || strlen(a) > 31)
        return 99;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t change = corner + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
            corner = row[j + 1];
            size_t step = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = change < step ? change : step;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t least = 3; /* two typing mistakes, but no more than half of the word */
    for (; *words != NULL; words++) {
        size_t d = distance(word, *words);
        if (d < least && 2 * d <= strlen(*words)) {
            least = d;
            best = *words;
        }
    }
    return best;
}

void cli_keep_memory_private(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

#include "support/cases.h"

#include <stdio.h>
#include <string.h>

static size_t put(char *out, size_t used, const char *text, size_t n)
{
    assert_true(used + n < CASE_TEXT);
    memcpy(out + used, text, n);
    return used + n;
}

/* Adds a line, with the texts that words stand for. */
static size_t expand(char *out, size_t used, const char *line, const case_word *words)
{
    while (*line != '\0') {
        const case_word *w = *line == '$' ? words : NULL;
        while (w != NULL && w->word != NULL && strncmp(w->word, line, strlen(w->word)) != 0)
            w++;
        bool found = w != NULL && w->word != NULL;
        used = found ? put(out, used, w->text, strlen(w->text)) : put(out, used, line, 1);
        line += found ? strlen(w->word) : 1;
    }
    out[used] = '\0';
    return used;
}

static void compare(const char *path, int line, const char *answer, const char *wanted)
{
    size_t n = strlen(wanted);
    bool same = n > 3 && strcmp(wanted + n - 3, "...") == 0 ? strncmp(answer, wanted, n - 3) == 0
                                                            : strcmp(answer, wanted) == 0;
    if (!same)
        fail_msg("%s:%d:\n  got      %s\n  expected %s", path, line, answer, wanted);
}

void cases_run(const char *name, const case_word *words, case_try *try)
{
    static char line[CASE_TEXT], input[CASE_TEXT], answer[CASE_TEXT];
    size_t used = 0, n = 0;
    const char *path = fmt(TACIT_TESTS_DIR "/%s.cases", name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        if (strncmp(line, "## ", 3) == 0)
            continue;
        if (strncmp(line, "=> ", 3) != 0) {
            used = expand(input, used, line, words);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        input[used] = answer[0] = '\0';
        try(input, answer);
        compare(path, number, answer, line + 3);
        used = 0;
        n++;
    }
    (void)fclose(file);
    assert_true(n > 0 && used == 0); /* nothing is left without its answer */
}

char *case_rest(char *input)
{
    char *end = strchr(input, '\n');
    assert_non_null(end);
    *end = '\0';
    return end + 1;
}

void case_answer(char answer[CASE_TEXT], tacit_status status, const tacit_error *err)
{
    assert_int_equal(err->status, status);
    (void)snprintf(answer, CASE_TEXT, "%s %s", tacit_status_name(status), err->message);
}

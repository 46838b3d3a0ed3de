/* Inputs that are refused, and the words in which they are, as data: FOLDER/cases/NAME.cases.
 *
 *     ## a comment
 *     episodes: 0
 *     => f:1: episodes is '0', expected a whole number from 1 to...
 *
 * Everything above a line that begins with "=> " is the input, byte by byte; that line has the answer, or the beginning of it,
 * if it ends in three dots. Words like $SPACE stand for texts that the test says. */
#ifndef TACIT_TESTS_CASES_H
#define TACIT_TESTS_CASES_H

#include "support/check.h"

enum { CASE_TEXT = 1 << 13 };

typedef struct case_word {
    const char *word, *text;
} case_word;

/* Tries the input, which may be changed, and writes what was answered. */
typedef void case_try(char *input, char answer[CASE_TEXT]);

/* Runs all cases of the file; `words` end with {0}, and may be NULL. */
void cases_run(const char *name, const case_word *words, case_try *try);

/* Cuts the first line off: what follows it. */
char *case_rest(char *input);

/* "SYNTAX f:1: ...": for files in which the status is part of the answer. */
void case_answer(char answer[CASE_TEXT], tacit_status status, const tacit_error *err);

#endif

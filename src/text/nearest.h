/* "Did you mean": the word of a list that was probably intended. */
#ifndef TACIT_TEXT_NEAREST_H
#define TACIT_TEXT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The one of words[n] that is at most two edits from `word` (fewer for short words), or else the first that
 * `word`, of three letters or more, begins: `eps` for `epsilon`. Case is ignored; two letters that changed
 * places are one edit. NULL if there is none. NULLs among the words are skipped. */
const char *tacit__nearest(const char *word, const char *const *words, size_t n);

/* Writes what to say of a word that is none of words[n]: ", did you mean 'epsilon'?"; or else
 * `otherwise`; or, if that is NULL, all of them: ", expected one of epsilon, delta". Returns `out`. */
enum { TACIT__SUGGESTION = 360 };
const char *tacit__suggest(const char *word, const char *const *words, size_t n,
                           const char *otherwise, char out[TACIT__SUGGESTION]);

/* Returns whether the name or the description of something has the word in it, in letters of either
 * case. Words of fewer than three letters are in too many. */
bool tacit__is_about(const char *word, const char *name, const char *help, const char *source);

#endif

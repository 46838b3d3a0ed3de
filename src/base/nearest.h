/* "Did you mean": the word of a list that someone may have wanted to write. */
#ifndef TACIT_BASE_NEAREST_H
#define TACIT_BASE_NEAREST_H

#include <stddef.h>

/* The one of words[n] that two slips of the hand at most turn into `word` (fewer for short words), upper and
 * lower case alike; NULL if there is none. NULLs among the words are passed over. */
const char *tacit__nearest(const char *word, const char *const *words, size_t n);

#endif

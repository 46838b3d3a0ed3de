/* UTF-8: just enough to recognize it. */
#ifndef TACIT_BASE_UTF8_H
#define TACIT_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the character that begins here, 1 to 4; 0: there is none (cut short, overlong, a surrogate, too
 * large). */
static inline size_t tacit__utf8_length(const char *text, size_t size)
{
    const unsigned char *c = (const unsigned char *)text;
    if (size == 0)
        return 0;
    if (c[0] < 0x80)
        return 1;
    size_t n = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (c[0] < 0xc2 || c[0] > 0xf4 || n > size)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
        return 0;
    return n;
}

#endif

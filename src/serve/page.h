/* web/live.html, as the build has put it into a C array. */
#ifndef TACIT_SERVE_PAGE_H
#define TACIT_SERVE_PAGE_H

#include <stddef.h>

extern const unsigned char tacit__live_page[];
extern const size_t tacit__live_page_size;

#endif

/* The curators that have not moved to release/curator.h. */
#ifndef TACIT_CURATE_CURATORS_H
#define TACIT_CURATE_CURATORS_H

#include "release/curator_kind.h"

extern const tacit__curator_kind tacit__lsvi_curator;

#endif

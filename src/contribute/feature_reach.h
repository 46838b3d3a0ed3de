/* Scores of features, for the curator of scores. */
#ifndef TACIT_CONTRIBUTE_FEATURE_REACH_H
#define TACIT_CONTRIBUTE_FEATURE_REACH_H

#include "board/feature_scores.h"
#include "contribute/scores.h"

/* The table must outlive the form. */
tacit__score_form tacit__score_form_of_features(const tacit__feature_scores *features);

#endif

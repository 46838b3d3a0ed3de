/* Scores of features, for the curator of scores. */
#ifndef TACIT_CURATE_FEATURE_REACH_H
#define TACIT_CURATE_FEATURE_REACH_H

#include "board/feature_scores.h"
#include "curate/score_curator.h"

/* The table must outlive the form. */
tacit__score_form tacit__score_form_of_features(const tacit__feature_scores *features);

#endif

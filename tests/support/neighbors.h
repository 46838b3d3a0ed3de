/* Two worlds that differ in one user, and how far apart that user moves what passes the door.
 *
 * The first world is recorded, the second replayed with the releases frozen (support/replay.h). Then everything that anybody
 * else meets must be the same: billboards, actions, the calls at the door, every byte of a report, and whether each user counts. A pair of which one
 * world refuses somebody whom the other counts is a violation, as are all other differences; it is never left out. What
 * remains is the loss, in shares of what the plan declares, line by line.
 *
 * People look at the billboard, act, and finish. They finish in the order in which they stand in the crowd; somebody with
 * `late` > 0 looked at the billboard so many users earlier, so that a crowd with mixed numbers is one whose members overtake
 * each other. */
#ifndef TACIT_TESTS_NEIGHBORS_H
#define TACIT_TESTS_NEIGHBORS_H

#include <tacit/agent.h>

#include "support/replay.h"

enum { PERSON_STEPS = 20, PERSON_FEATURES = 128, CROWD_USERS = 128 };

typedef struct person {
    uint32_t states[PERSON_STEPS + 1], actions[PERSON_STEPS];
    double rewards[PERSON_STEPS], features[PERSON_FEATURES];
    double chance;
    bool follows;  /* the billboard; else does what `actions` says */
    size_t length; /* as in tacit_trajectory */
    size_t late;
} person;

typedef enum crowd_features {
    CROWD_NUMBERED, /* people bring states */
    CROWD_BALL,     /* features [horizon + 1 or 1][rows][dimension], of length at most `bound` */
    CROWD_SIMPLEX   /* the same, not negative, of sum 1 */
} crowd_features;

typedef struct crowd {
    tacit_agent_request request; /* what it points to must outlive the crowd */
    crowd_features features;
    size_t rows, dimension; /* of the features of a step */
    double bound;
    bool devices;  /* local: each user reports from a device of their own, by the server's model */
    bool ends;     /* some episodes end before the horizon, and the search changes where */
    bool by_turns; /* every other visit of a person who comes back has the two worlds exchanged */
    uint64_t
        gaps; /* not 0: some of the visits are farther apart than they must be, as this seed says */
    uint64_t seed; /* another one has other noise and other public chance, in both worlds */
    size_t n;
    person people[CROWD_USERS];
} crowd;

/* A crowd of nobody yet, in the space of the request. */
crowd crowd_in(const tacit_agent_request *request);

/* All users of the request, at home in its space: some stay, some wander, some jump; rewards from the extremes or between. Every other
 * one follows the billboard. */
void crowd_fill(crowd *c, uint64_t seed);

/* One in three is in time, the others are up to nine users late and overtake each other. */
void crowd_delay(crowd *c);

/* Every third one brings what the domain does not have, in every way that the types allow. */
void crowd_spoil(crowd *c, uint64_t seed);

/* The agent learns from all of them; how many counted. */
size_t crowd_play(const crowd *c, tacit_agent *agent);

/* Number i of the pairs of users that are farthest apart in most spaces: one place against another, the same place with other
 * rewards, or both by turns; from 3 on two users drawn at random. */
void neighbors_corner(const crowd *c, size_t i, uint64_t *seed, person *here, person *there);

/* Shares of the declared loss. A line whose bound is argued together with another line's, as its reason says, is measured
 * together with that line. */
typedef struct neighbors {
    const char *violation; /* what is not the same in both worlds; NULL: nothing */
    size_t n;
    double line[TAPE_LINES], whole;
    size_t refused; /* users whom both worlds refused */
} neighbors;

/* The crowd, and the crowd with `other` in the place of user `who`: in all places of their visits, if the request says that
 * people come back, from `who` on and as close as they may be, or as `gaps` says. */
neighbors neighbors_compare(const crowd *c, size_t who, const person *other);

/* Searches for the worst neighbors by hill climbing over both trajectories of the first, a middle and the last user: for each
 * line, and for the whole loss. If people come back, the worst is tried from every place on, with all visits alike and by
 * turns, and then with gaps between them. Where the request cuts what lies outside the domain, so do some of the trajectories. */
typedef struct neighbors_wish {
    const char *note; /* for messages, beside the request; NULL: none */
    size_t restarts, moves;
    double least[TAPE_LINES]; /* share of each line's declared loss that must be reached */
    double least_whole;
} neighbors_wish;

/* The largest shares that were found, and a violation if there was one. */
neighbors neighbors_search(const crowd *c, const neighbors_wish *wish);

/* Fails unless there is no violation, everybody counts, no share is above 1, and each is at least what is wished. */
void neighbors_assert(const crowd *c, const neighbors_wish *wish);

#endif

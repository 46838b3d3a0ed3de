/* Status codes, and the error buffer with a message for people.
 *
 * Every function that can fail returns a tacit_status that must be checked. On failure the objects passed in
 * are as they were before the call, and nothing is written through out-pointers. A function that takes a
 * tacit_error * (NULL is allowed) fills it with the status and a message that names the value and what was
 * expected. */
#ifndef TACIT_STATUS_H
#define TACIT_STATUS_H

#if defined(__GNUC__)
#define TACIT_API __attribute__((visibility("default")))
#define TACIT_MUST_USE __attribute__((warn_unused_result))
#else
#define TACIT_API
#define TACIT_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The one list: enum, name, message and reference page all come from it. */
#define TACIT_STATUS_LIST(X)                                                                       \
    X(OK, "done")                                                                                  \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(BAD_ARGUMENT, "an argument is null or outside its documented range")                         \
    X(BAD_EPSILON, "epsilon must be a number >= 0, and not 0 where delta is 0")                    \
    X(BAD_DELTA, "delta must be a number in [0, 1)")                                               \
    X(BAD_SENSITIVITY, "a sensitivity must be finite and greater than 0")                          \
    X(BAD_SCALE, "a noise scale must be finite, greater than 0 and within the lattice's range")    \
    X(BAD_COUNT, "a count must be at least 1")                                                     \
    X(NOT_FINITE, "a contribution contains a NaN or an infinity")                                  \
    X(OUT_OF_BOUND, "a contribution exceeds its declared bound")                                   \
    X(NO_ROOM, "the declared sums do not fit into 64-bit integers")                                \
    X(BAD_PLAN, "the parts of the release plan do not add up")                                     \
    X(UNDECLARED, "the release was not declared in the plan")                                      \
    X(EXHAUSTED, "more users or releases than were declared")                                      \
    X(RELEASED_TWICE, "this step has been released already")                                       \
    X(NOTHING_TO_RELEASE, "no user has arrived yet, so there is nothing to release")               \
    X(UNSUPPORTED, "this combination does not exist")                                              \
    X(UNREACHABLE_TARGET, "no parameter reaches the wanted guarantee")                             \
    X(TOO_LARGE, "the computation would exceed its memory or time limit")                          \
    X(CORRUPT, "the saved state is damaged")                                                       \
    X(WRONG_VERSION, "the saved state has another format version")                                 \
    X(WRONG_PLAN, "the saved state belongs to another plan")                                       \
    X(SYNTAX, "the text cannot be understood")                                                     \
    X(SYSTEM, "the operating system refused")                                                      \
    X(EXISTS, "something is there already that would be lost")                                     \
    X(LATE, "the report was made by a model that another one has replaced")                        \
    X(FENCED, "another process has taken over the store")

typedef enum tacit_status {
#define X(name, message) TACIT_##name,
    TACIT_STATUS_LIST(X)
#undef X
} tacit_status;

/* What a caller can do about a failure, where the status alone does not say. */
typedef enum tacit_hint {
    TACIT_HINT_NONE,
    TACIT_HINT_RAISE_JOBS, /* the experiment is larger than tacit_experiment_changes.max_jobs */
    TACIT_HINT_RESUME      /* results so far are safe; TACIT_LAB_RESUME plays the missing jobs */
} tacit_hint;

typedef struct tacit_error {
    tacit_status status;
    char message[480]; /* one sentence, no trailing newline; empty when nothing failed */
    tacit_hint hint;
} tacit_error;

/* Initializes an error, in C and in C++: tacit_error err = TACIT_ERROR_INIT; */
#define TACIT_ERROR_INIT                                                                           \
    {                                                                                              \
        TACIT_OK, "", TACIT_HINT_NONE                                                              \
    }

/* The name, such as "BAD_EPSILON", and the general message of the list. Never NULL. */
TACIT_API const char *tacit_status_name(tacit_status status);
TACIT_API const char *tacit_status_message(tacit_status status);

/* The library's version, e.g. "0.1.0". */
TACIT_API const char *tacit_version(void);

#ifdef __cplusplus
}
#endif

#endif

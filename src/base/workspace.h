/* A workspace: an object and all its arrays in one allocation, so that a constructor is a list and has one
 * failure.
 *
 *     filter w = {.n = n};
 *     filter *f = TACIT__WORKSPACE(w, TACIT__PIECE(w.taps, n), TACIT__PIECE_IF(is_local, w.report, n));
 *     if (f == NULL)
 *         return TACIT_NO_MEMORY;
 *     ...
 *     tacit__workspace_destroy(f);
 *
 * The constructor fills the object on its stack; the call points its members at the pieces and copies it
 * to the front. Arrays that grow, or that are freed before the object, do not belong here. */
#ifndef TACIT_BASE_WORKSPACE_H
#define TACIT_BASE_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tacit__piece {
    void *pointer; /* address of the pointer to set */
    uint64_t n;
    size_t size;
} tacit__piece;

/* `count` elements of what `pointer` points at; 0 gives one element, as from tacit__alloc. */
#define TACIT__PIECE(pointer, count) ((tacit__piece){&(pointer), (count), sizeof *(pointer)})
/* The same, or NULL. */
#define TACIT__PIECE_IF(wanted, pointer, count)                                                    \
    ((tacit__piece){&(pointer), (count), (wanted) ? sizeof *(pointer) : 0})

/* Sets the pointer of every piece to zeroed memory, 64-byte aligned, and returns a copy of the `size`
 * bytes at `object`, made after that. A piece whose elements have no size is NULL. Without an object
 * (NULL, 0) the result is the first piece, which must have a size; destroying it destroys all pieces.
 * NULL: no memory, or the sizes overflow; the pointers are unchanged. */
void *tacit__workspace_create(const void *object, size_t size, const tacit__piece *pieces,
                              size_t n);

/* Wipes the object with its pieces and frees them; NULL is fine. */
void tacit__workspace_destroy(void *workspace);

#define TACIT__WORKSPACE(object, ...)                                                              \
    tacit__workspace_create(&(object), sizeof(object), (const tacit__piece[]){__VA_ARGS__},        \
                            sizeof((const tacit__piece[]){__VA_ARGS__}) / sizeof(tacit__piece))
/* The pieces alone, for a structure that the caller has. */
#define TACIT__PIECES(...)                                                                         \
    tacit__workspace_create(NULL, 0, (const tacit__piece[]){__VA_ARGS__},                          \
                            sizeof((const tacit__piece[]){__VA_ARGS__}) / sizeof(tacit__piece))

#endif

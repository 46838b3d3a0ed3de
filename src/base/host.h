/* Services of the operating system, in one place: the amount of memory, large pages, code that runs once, and
 * notice of a fork. WebAssembly has no threads and no fork, and does not tell the amount of memory; all
 * differences between systems are in this file and host.c. Threads themselves (base/thread.h, base/crew.h)
 * are not needed on devices. */
#ifndef TACIT_BASE_HOST_H
#define TACIT_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__wasi__)
typedef bool tacit__started;
#define TACIT__NOT_STARTED false
#else
#include <pthread.h>
typedef pthread_once_t tacit__started;
#define TACIT__NOT_STARTED PTHREAD_ONCE_INIT
#endif

/* Runs `start` if no thread has run it for this object; returns when it has run. */
void tacit__run_once(tacit__started *started, void (*start)(void));

/* `handler` runs in every child that this process forks, from now on; where there is no fork, never. */
void tacit__on_fork(void (*handler)(void));

/* Bytes of memory that the machine has and the process can use, INFINITY if it does not say. */
double tacit__machine_memory(void);

/* strtod as in the locale "C", whatever the program's is. */
double tacit__strtod(const char *text, char **end);

/* Prints the reason to standard error, and ends the program. */
_Noreturn void tacit__stop(const char *why);
#if defined(__wasi__)
extern const char *tacit__last_words; /* what a program that was ended so has said; NULL: nothing */
#endif

/* A wish: this block is large and is read from one end to the other. */
void tacit__prefer_large_pages(void *p, size_t bytes);

#endif

/* One thread at a time inside an object, while the GIL is released.
 *
 * The lock is tried first, so an object that is used by one thread costs next to nothing. A child of fork()
 * has only the thread that forked: an object that another thread was inside is in no sound state there, and
 * it is refused instead of being waited for in vain. */
#include "extension.h"

#include <pthread.h>

static unsigned long forks; /* of this process and those before it */

static void count_fork(void)
{
    forks++;
}

int busy_init(busy *b)
{
    static bool counting;
    if (!counting && pthread_atfork(NULL, NULL, count_fork) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    counting = true;
    b->lock = PyThread_allocate_lock();
    if (b->lock != NULL)
        return 0;
    PyErr_NoMemory();
    return -1;
}

void busy_free(busy *b)
{
    if (b->lock != NULL)
        PyThread_free_lock(b->lock);
    b->lock = NULL;
}

bool busy_enter(busy *b)
{
    const unsigned long me = PyThread_get_thread_ident();
    if (!PyThread_acquire_lock(b->lock, NOWAIT_LOCK)) {
        if (b->forks != forks) {
            raise_text(TACIT_UNSUPPORTED, "the process was forked while another thread used this "
                                          "object; create it anew, or load it, in the child");
            return false;
        }
        if (b->holder == me) {
            raise_text(TACIT_UNSUPPORTED,
                       "this object is at work already, in a call that has led here");
            return false;
        }
        PyThreadState *thread = PyEval_SaveThread();
        (void)PyThread_acquire_lock(b->lock, WAIT_LOCK);
        PyEval_RestoreThread(thread);
    }
    b->holder = me;
    b->forks = forks;
    return true;
}

void busy_leave(busy *b)
{
    b->holder = 0;
    PyThread_release_lock(b->lock);
}

/* What the files of the store share. */
#ifndef TACIT_STORE_STORE_H
#define TACIT_STORE_STORE_H

#include "store/driver.h"

struct tacit__store {
    tacit__connection *db; /* or NULL */
    char path[TACIT__DB_PATH];
    int lock;      /* the directory, locked; or -1 */
    bool prepared; /* in write-ahead mode */
};

/* Numbers of the statements that are compiled once. */
enum {
    TACIT__SQL_WRITE_HEAD,
    TACIT__SQL_READ_HEAD,
    TACIT__SQL_WRITE_WORLD,
    TACIT__SQL_READ_WORLD,
    TACIT__SQL_WRITE_AGENT,
    TACIT__SQL_WRITE_PART,
    TACIT__SQL_WRITE_RELEASE,
    TACIT__SQL_READ_PART,
    TACIT__SQL_READ_RELEASE,
    TACIT__SQL_WRITE_JOB,
    TACIT__SQL_WRITE_POINT,
    TACIT__SQL_WRITE_ESTIMATE,
    TACIT__SQL_HAS_ESTIMATES,
    TACIT__SQL_READ_ESTIMATES,
    TACIT__SQL_COUNT_JOBS,
    TACIT__SQL_READ_JOBS,
    TACIT__SQL_READ_POINTS,
};

#endif

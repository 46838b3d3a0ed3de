/* The monitor: the users' mean reward, released with a budget of its own, for the people who run
 * the service. Without it no reward is seen outside the curator, or the device.
 *
 * Under joint privacy the service adds what it knows (tacit__monitor_add). Under local privacy a
 * device makes a report of its own mean, which is private before it leaves, and the service adds
 * that. */
#ifndef TACIT_RELEASE_MONITOR_H
#define TACIT_RELEASE_MONITOR_H

#include <stdint.h>

#include <tacit/ledger.h>

typedef struct tacit__monitor tacit__monitor;

/* Whom it is about: one person is at most `visits` of the users, at least `apart` users apart (0: 1). */
typedef struct tacit__monitored {
    uint64_t users, visits, apart;
} tacit__monitored;

/* `noise` is used during creation only. */
TACIT_MUST_USE tacit_status tacit__monitor_create(tacit_guarantee guarantee,
                                                  const tacit__monitored *people,
                                                  tacit_noise *noise, tacit__monitor **out,
                                                  tacit_error *err);
void tacit__monitor_destroy(tacit__monitor *monitor);

/* One user's mean reward, in [0, 1]. */
TACIT_MUST_USE tacit_status tacit__monitor_add(tacit__monitor *monitor, double mean,
                                               tacit_error *err);

/* Local only, the two halves of `add`: 8 bytes, the low one first. The device draws its noise; the
 * service adds what it is sent. What no honest device can have made is OUT_OF_BOUND and changes
 * nothing; `check` says so beforehand. */
enum { TACIT__MONITOR_REPORT = 8 };
TACIT_MUST_USE tacit_status tacit__monitor_report(tacit__monitor *monitor, double mean,
                                                  uint8_t report[TACIT__MONITOR_REPORT],
                                                  tacit_error *err);
TACIT_MUST_USE tacit_status tacit__monitor_check(const tacit__monitor *monitor,
                                                 const uint8_t report[TACIT__MONITOR_REPORT],
                                                 tacit_error *err);
TACIT_MUST_USE tacit_status tacit__monitor_absorb(tacit__monitor *monitor,
                                                  const uint8_t report[TACIT__MONITOR_REPORT],
                                                  tacit_error *err);

/* The released mean of all users so far and its standard deviation; NaN before the first. */
void tacit__monitor_read(const tacit__monitor *monitor, double *mean, double *stddev);

tacit_ledger *tacit__monitor_ledger(const tacit__monitor *monitor);

/* As tacit_sum_save and tacit_sum_load, with the last release. */
TACIT_MUST_USE tacit_status tacit__monitor_save(tacit__monitor *monitor, void *bytes, size_t *size,
                                                tacit_error *err);
TACIT_MUST_USE tacit_status tacit__monitor_load(tacit__monitor *monitor, const void *bytes,
                                                size_t size, tacit_error *err);

#endif

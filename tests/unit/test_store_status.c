/* The statuses of a store, and every transition between them. */
#include "store/vault/vault.h"
#include "support/check.h"

typedef struct edge {
    tacit__store_status from;
    tacit__store_finding finding;
    tacit__store_status to;
} edge;

/* Every edge that leads to another status. All others stay where they are. */
static const edge edges[] = {{TACIT__STORE_FINE, TACIT__FOUND_COPY, TACIT__STORE_COPY},
                             {TACIT__STORE_FINE, TACIT__FOUND_OLDER, TACIT__STORE_BEHIND},
                             {TACIT__STORE_FINE, TACIT__FOUND_WRONG_SUMS, TACIT__STORE_UNSOUND},
                             {TACIT__STORE_FINE, TACIT__FOUND_REPLACED, TACIT__STORE_FENCED},
                             {TACIT__STORE_COPY, TACIT__FOUND_ORIGINAL, TACIT__STORE_FINE},
                             {TACIT__STORE_COPY, TACIT__FOUND_OLDER, TACIT__STORE_BEHIND},
                             {TACIT__STORE_COPY, TACIT__FOUND_REPLACED, TACIT__STORE_FENCED},
                             {TACIT__STORE_BEHIND, TACIT__FOUND_ORIGINAL, TACIT__STORE_FINE},
                             {TACIT__STORE_BEHIND, TACIT__FOUND_COPY, TACIT__STORE_COPY},
                             {TACIT__STORE_BEHIND, TACIT__FOUND_REPLACED, TACIT__STORE_FENCED},
                             {TACIT__STORE_UNSOUND, TACIT__FOUND_REPLACED, TACIT__STORE_FENCED}};
enum { N_EDGES = sizeof edges / sizeof *edges };

static tacit__store_status expected(tacit__store_status from, tacit__store_finding finding)
{
    for (size_t i = 0; i < N_EDGES; i++)
        if (edges[i].from == from && edges[i].finding == finding)
            return edges[i].to;
    return from;
}

TEST(every_finding_leads_where_the_table_says)
{
    for (int from = 0; from < TACIT__STORE_STATUSES; from++)
        for (int f = 0; f < TACIT__FINDINGS; f++) {
            const tacit__store_status s = (tacit__store_status)from;
            const tacit__store_finding finding = (tacit__store_finding)f;
            assert_int_equal(tacit__store_status_after(s, finding), expected(s, finding));
        }
}

/* A process whose store was replaced must never write to it again, whatever it finds later. */
TEST(fenced_is_final)
{
    for (int f = 0; f < TACIT__FINDINGS; f++)
        assert_int_equal(tacit__store_status_after(TACIT__STORE_FENCED, (tacit__store_finding)f),
                         TACIT__STORE_FENCED);
}

/* Counts that do not add up are added up at the start alone, so nothing found later heals them. */
TEST(unsound_stays_until_a_restart)
{
    for (int f = 0; f < TACIT__FINDINGS; f++)
        assert_int_not_equal(
            tacit__store_status_after(TACIT__STORE_UNSOUND, (tacit__store_finding)f),
            TACIT__STORE_FINE);
}

TEST(a_finding_twice_changes_nothing_more)
{
    for (int from = 0; from < TACIT__STORE_STATUSES; from++)
        for (int f = 0; f < TACIT__FINDINGS; f++) {
            const tacit__store_finding finding = (tacit__store_finding)f;
            const tacit__store_status once =
                tacit__store_status_after((tacit__store_status)from, finding);
            assert_int_equal(tacit__store_status_after(once, finding), once);
        }
}

TEST(every_status_has_a_name_and_a_reason)
{
    for (int s = 0; s < TACIT__STORE_STATUSES; s++) {
        assert_non_null(tacit__store_status_name((tacit__store_status)s));
        assert_non_null(tacit__store_status_reason((tacit__store_status)s));
    }
}

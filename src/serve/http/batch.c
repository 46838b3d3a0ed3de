/* See serve/http/batch.h. An element's `resume` may be called by the committer while others are still being
 * handled. The last to finish, an element or the loop that hands them out, puts the answer
 * together. */
#include "serve/http/batch.h"

#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "serve/http/access.h"

struct tacit__batch {
    tacit__request *whole;
    size_t n;
    atomic_size_t left; /* elements without an answer, and 1 until all are handed out */
    tacit__request element[];
};

static void put_answer(tacit__text *out, tacit__request *one)
{
    if (one->answer.failed) {
        one->answer.failed = false;
        tacit__refuse(one, 503, "memory", NULL, "out of memory");
    }
    tacit__text_print(out, "{\"status\":%u,\"body\":", one->status);
    tacit__text_add(out, one->answer.data, one->answer.length);
    tacit__text_put(out, "}");
}

/* Returns true if this was the last element and the answer is ready. */
static bool is_over(struct tacit__batch *b)
{
    if (atomic_fetch_sub(&b->left, 1) != 1)
        return false;
    tacit__request *r = b->whole;
    r->status = 200;
    tacit__text_put(&r->answer, "[");
    for (size_t i = 0; i < b->n; i++) {
        if (i > 0)
            tacit__text_put(&r->answer, ",");
        put_answer(&r->answer, &b->element[i]);
        tacit__request_clear(&b->element[i]);
    }
    tacit__text_put(&r->answer, "]");
    tacit__free_secret(b, sizeof *b + b->n * sizeof *b->element);
    return true;
}

static void resume(tacit__request *one)
{
    tacit__request *whole = one->batch->whole;
    if (is_over(one->batch))
        whole->resume(whole);
}

bool tacit__batch_is_array(const tacit__request *r)
{
    for (size_t i = 0; i < r->body_size && !r->binary; i++)
        if (r->body[i] != ' ' && r->body[i] != '\t' && r->body[i] != '\n' && r->body[i] != '\r')
            return r->body[i] == '[';
    return false;
}

bool tacit__batch_handle(tacit__request *r, bool (*handle)(tacit__request *one))
{
    TACIT__REQUIRE(handle != NULL && r->batch == NULL); /* batches have no batches */
    if (!tacit__batch_is_array(r))
        return handle(r);
    const tacit__json_node *nodes = tacit__body_parse(r);
    if (nodes == NULL)
        return true;
    const size_t n = nodes[0].size;
    if (n > TACIT__MAX_BATCH) {
        tacit__refuse(r, 413, "too_large", NULL, "a batch has at most %d elements",
                      TACIT__MAX_BATCH);
        return true;
    }
    struct tacit__batch *b = tacit__alloc(sizeof *b + n * sizeof *b->element, 1);
    if (b == NULL) {
        tacit__refuse(r, 503, "memory", NULL, "out of memory");
        return true;
    }
    if (n > 1)
        tacit__access_charge(r, n - 1);
    b->whole = r;
    b->n = n;
    atomic_init(&b->left, n + 1);
    /* an array of numbers has no nodes for them; each is refused as what is no object */
    const bool numbers = nodes[0].kind == TACIT__JSON_NUMBERS;
    const tacit__json_node *at = numbers ? nodes : nodes + 1;
    for (size_t i = 0; i < n; i++, at = numbers ? nodes : nodes + at->next) {
        tacit__request *one = &b->element[i];
        *one = (tacit__request){.service = r->service,
                                .bearer = r->bearer,
                                .route = r->route,
                                .path_id = r->path_id,
                                .path_id_length = r->path_id_length,
                                .learner = r->learner,
                                .user = r->user,
                                .idempotency = r->idempotency,
                                .nodes = nodes,
                                .object = at,
                                .number = (uint32_t)i + 1,
                                .batch = b,
                                .resume = resume};
        if (handle(one))
            atomic_fetch_sub(&b->left, 1); /* not the last: this loop counts as one */
    }
    return is_over(b);
}

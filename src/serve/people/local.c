/* Local privacy: sends the billboard and receives privatized reports. No raw data of a person ever reaches
 * this file. */
#include <stdio.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "serve/http/idempotency.h"
#include "serve/http/routes.h"
#include "serve/learner/describe.h"
#include "serve/people/joint.h"
#include "serve/people/quota.h"
#include "serve/service_inside.h"

enum { CACHE_SECONDS = 5 };

/* Whether a list of tags has this one; weak tags count as well (RFC 9110, 13.1.2). */
static bool has_tag(const char *list, const char *tag)
{
    const size_t length = strlen(tag);
    if (strcmp(list, "*") == 0)
        return true;
    while (*list != '\0') {
        list += strspn(list, " \t,");
        list += strncmp(list, "W/", 2) == 0 ? 2 : 0;
        if (strncmp(list, tag, length) == 0 && strchr(" \t,", list[length]) != NULL)
            return true; /* strchr finds the end, too */
        list += strcspn(list, ",");
    }
    return false;
}

/* The tag of this billboard in this run of the service. */
static void make_tag(tacit__request *r, const tacit__learner *l, const tacit__board *board)
{
    const uint64_t facts[] = {(uint64_t)tacit__learner_id(l), tacit__board_view(board)->version,
                              tacit__board_users(board)};
    uint8_t hash[TACIT__KEY_BYTES];
    char text[TACIT__BASE64_SIZE(12)];
    tacit__keyed_hash(r->service->key_tag, facts, sizeof facts, hash, sizeof hash);
    tacit__base64_write(hash, 12, text);
    (void)snprintf(r->etag, sizeof r->etag, "\"%llu-%s\"", (unsigned long long)facts[1], text);
}

bool tacit__handle_billboard(tacit__request *r)
{
    tacit__learner *l = tacit__service_choose(r, NULL);
    if (l == NULL)
        return true;
    const tacit__learner_config *c = tacit__learner_config_of(l);
    tacit__board *board = tacit__learner_acquire_board(l);
    uint64_t version = tacit__board_view(board)->version;
    make_tag(r, l, board);
    r->max_age = CACHE_SECONDS;
    r->status = 200;
    if (r->if_none_match != NULL && has_tag(r->if_none_match, r->etag)) {
        r->status = 304;
    } else {
        tacit__text_print(&r->answer, "{\"learner\":\"%s\",\"version\":%llu,\"users\":%llu,",
                          c->name, (unsigned long long)version,
                          (unsigned long long)tacit__board_users(board));
        tacit__describe_learner(c, &r->answer);
        tacit__describe_monitor(c, &r->answer);
        tacit__describe_board(c, board, &r->answer);
        tacit__text_put(&r->answer, "}");
    }
    tacit__board_release(board);
    return true;
}

/* An answer in addition to those of tacit__vault_answer. */
enum { OVER_QUOTA = -1 };

/* Checks a report whose sender gave an id, where people may come back: one that comes too often or too soon
 * is not accepted. That keeps the learner as accurate as declared. The promise does not depend on it, since
 * devices count their reports themselves, and an id can be left out. The answer to a report never changes. */
static tacit_status judge(tacit__request *r, tacit__vault *vault, int64_t learner,
                          tacit__vault_answer *answer, tacit_error *err)
{
    TRY(tacit__vault_find_verdict(vault, learner, r->key, answer, err));
    r->again = *answer != TACIT__VAULT_TAKEN;
    if (r->again)
        return TACIT_OK;
    TRY(tacit__vault_check_visit(vault, learner, r->person, answer, &r->came_before, err));
    if (*answer == TACIT__VAULT_USED || *answer == TACIT__VAULT_SOON)
        return tacit__vault_save_verdict(vault, learner, r->key,
                                         tacit__clock_now(&r->service->clock), *answer, err);
    return TACIT_OK;
}

/* A report whose bytes were accepted before, under any key, counts once and gets the same answer as the
 * first. A device ends its report with a random name, so two devices never send the same bytes, and a sender
 * of another device's bytes learns nothing from the answer. */
static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    tacit__request *r = tacit__request_of(job);
    const int64_t learner = tacit__learner_id(r->chosen);
    tacit__vault_answer answer = TACIT__VAULT_TAKEN;
    bool may = true, full = false;
    r->is_user = r->again = false;
    r->came_before = 1; /* a person without an id does not count as new */
    tacit_status status =
        tacit__vault_find_report(vault, learner, r->key, r->content, &answer, err);
    if (status == TACIT_OK && answer == TACIT__VAULT_TAKEN)
        status = tacit__vault_is_full(vault, learner, &full, err);
    if (status == TACIT_OK && answer == TACIT__VAULT_TAKEN && r->has_person)
        status = judge(r, vault, learner, &answer, err);
    if (status == TACIT_OK && answer == TACIT__VAULT_TAKEN && !full)
        status = tacit__quota_check(r, vault, &may, err);
    if (status == TACIT_OK && answer == TACIT__VAULT_TAKEN && may)
        status = tacit__vault_add_user(vault, learner, r->key, r->has_person ? r->person : NULL,
                                       r->content, r->data, r->data_size, &answer, err);
    r->answer_code = may ? (int)answer : OVER_QUOTA;
    r->is_user = may && answer == TACIT__VAULT_TAKEN;
    if (status == TACIT_OK && r->is_user)
        status = tacit__vault_get_accepted(vault, learner, &r->ordinal, err);
    if (status == TACIT_OK && r->is_user)
        status = tacit__quota_use(r, vault, err);
    return status;
}

static void expect(tacit__job *job, tacit__vault *vault)
{
    const tacit__request *r = tacit__request_of(job);
    const tacit__vault_expected_user user = {
        .learner = tacit__learner_id(r->chosen),
        .key = r->key,
        .person = r->has_person ? r->person : NULL,
        .content = r->content,
        .returns = tacit__learner_config_of(r->chosen)->request.visits > 1,
        .is_new = true};
    tacit__vault_expect_user(vault, &user);
    tacit__quota_expect(r, vault);
}

static const char *word_of(int answer)
{
    return answer == TACIT__VAULT_FULL   ? "full"
           : answer == TACIT__VAULT_USED ? "visits_used"
           : answer == TACIT__VAULT_SOON ? "too_soon"
                                         : "taken";
}

static void done(tacit__job *job, tacit_status status)
{
    tacit__request *r = tacit__request_of(job);
    if (status != TACIT_OK) {
        tacit__refuse_unwritten(r, status);
    } else if (r->answer_code == TACIT__VAULT_CHANGED) {
        tacit__idempotency_refuse(r);
    } else if (r->answer_code == OVER_QUOTA) {
        tacit__quota_refuse(r);
    } else {
        r->status = 202;
        tacit__text_print(&r->answer, "{\"status\":\"%s\"}", word_of(r->answer_code));
        if (!r->again &&
            (r->answer_code == TACIT__VAULT_USED || r->answer_code == TACIT__VAULT_SOON))
            tacit__learner_count_rejected(r->chosen, r->answer_code == TACIT__VAULT_SOON);
        if (r->is_user) {
            tacit__learner_count_accepted(r->chosen, r->ordinal, r->came_before == 0);
            tacit__learner_wake(r->chosen);
        }
    }
    r->resume(r);
}

/* Copies the bytes of a report, without its name, to r->data, and their hash to r->content. Returns false if
 * the request was answered. */
static bool read_report(tacit__request *r, const tacit__body *b)
{
    const tacit__json_node *node = tacit__body_get(b, "report");
    if (node == NULL) {
        tacit__refuse_missing(r, "report");
        return false;
    }
    size_t capacity = node->length / 4 * 3 + 3;
    r->data = tacit__alloc(capacity, 1);
    if (r->data == NULL) {
        tacit__refuse(r, 503, "memory", NULL, "out of memory");
        return false;
    }
    if (node->kind != TACIT__JSON_STRING ||
        !tacit__base64_read(node->text, node->length, r->data, capacity, &r->data_size)) {
        tacit__refuse(r, 422, "out_of_range", "report", "report must be base64url");
        return false;
    }
    tacit__keyed_hash(r->service->key_request, r->data, r->data_size, r->content,
                      sizeof r->content);
    r->data_size -= r->data_size < TACIT__REPORT_NAME ? r->data_size : TACIT__REPORT_NAME;
    tacit_status status = tacit__learner_check_report(r->chosen, r->data, r->data_size, NULL);
    if (status == TACIT_LATE) { /* the device has done what it could */
        r->status = 202;
        tacit__text_put(&r->answer, "{\"status\":\"late\"}");
        return false;
    }
    if (status == TACIT_WRONG_PLAN) {
        tacit__refuse(r, 422, "out_of_range", "report", "report was made for another learner");
        return false;
    }
    if (status != TACIT_OK && status != TACIT_EXHAUSTED) {
        tacit__refuse(r, 422, "out_of_range", "report",
                      "report is not one that a device of this learner can make");
        return false;
    }
    return true;
}

/* Reads the id of the person whose device it is, if it is given. Returns false if the request was refused. */
static bool read_person(tacit__request *r, const tacit__body *b)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    char user[TACIT__MAX_USER + 1];
    if (!tacit__joint_read_user(b, c, &r->has_person, user))
        return false;
    if (r->has_person && c->request.visits <= 1) {
        tacit__refuse(r, 422, "out_of_range", "user",
                      "user is for learners with visits: this one accepts one report from each "
                      "device and does not need to know whose it is");
        return false;
    }
    if (r->has_person)
        tacit__joint_hash_user(r->service, tacit__learner_id(r->chosen), user, r->person);
    tacit__wipe(user, sizeof user);
    return true;
}

bool tacit__handle_report(tacit__request *r)
{
    char name[TACIT__MAX_NAME + 1];
    tacit__body b;
    bool has;
    if (!tacit__body_open(r, &b) || !tacit__body_read(&b, &tacit__field_learner, &has, name))
        return true;
    r->chosen = tacit__service_choose(r, has ? name : NULL);
    if (r->chosen == NULL)
        return true;
    if (tacit__learner_config_of(r->chosen)->request.guarantee.model != TACIT_MODEL_LOCAL) {
        tacit__refuse(r, 409, "not_local", "learner",
                      "this learner is not local: decide and observe instead of reporting");
        return true;
    }
    if (tacit__joint_is_closed(r) ||
        !tacit__idempotency_read(r, true, tacit__learner_id(r->chosen), NULL) ||
        !read_person(r, &b) || !read_report(r, &b))
        return true;
    r->job = (tacit__job){.apply = apply, .expect = expect, .done = done};
    tacit__committer_post(r->service->committer, &r->job);
    return false;
}

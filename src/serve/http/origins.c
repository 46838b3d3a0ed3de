/* See serve/http/origins.h. The URL standard ("serialization of an origin") defines what browsers send as an
 * origin: the scheme, the host in lowercase letters, and the port unless it is the scheme's default. */
#include "serve/http/origins.h"

#include <string.h>

#include "base/error.h"
#include "lab/files/yaml_fields.h"
#include "text/settings.h"

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Returns what is wrong with an origin, or NULL. */
static const char *find_fault(const char *text)
{
    const bool secure = strncmp(text, "https://", 8) == 0;
    if (!secure && strncmp(text, "http://", 7) != 0)
        return "expected an origin such as https://shop.example; there is no wildcard";
    const char *host = text + (secure ? 8 : 7);
    const size_t n = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-");
    const char *end = host + n;
    if (*host == '[')
        end = host + 1 + strspn(host + 1, "0123456789abcdef:") + 1;
    else if (n == 0)
        return "expected a host in lowercase letters after the scheme";
    if (*host == '[' && end[-1] != ']')
        return "expected an address such as [::1] in the brackets";
    int64_t port;
    if (*end == ':' &&
        (!tacit__read_integer(end + 1, strlen(end + 1), &port) || port < 1 || port > 65535))
        return "expected a port from 1 to 65535 at its end";
    if (*end != ':' && *end != '\0')
        return "expected scheme, host and port only: no path, no slash at the end, lowercase "
               "letters";
    if (ends_with(end, secure ? ":443" : ":80"))
        return "browsers leave out the scheme's own port; leave it out here as well";
    return NULL;
}

tacit_status tacit__origins_read(const tacit__node *list, tacit__origins *out, tacit_error *err)
{
    static const tacit__field one = {"an origin", TACIT__FIELD_TEXT, .high = 256};
    char shown[TACIT__NODE_TEXT];
    *out = (tacit__origins){0};
    if (list == NULL)
        return TACIT_OK;
    if (list->kind != TACIT__LIST || list->n_children > TACIT__MAX_ORIGINS)
        return tacit__node_fail(list, err,
                                "origins is %s, expected a list of at most %d origins, for example "
                                "[https://shop.example]",
                                tacit__node_format(list, shown), TACIT__MAX_ORIGINS);
    const char **at = tacit__yaml_allocate(list->yaml, (list->n_children + 1) * sizeof *at);
    if (at == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    size_t n = 0;
    for (const tacit__node *node = list->first; node != NULL; node = node->next, n++) {
        TRY(tacit__node_read(node, &one, &at[n], err));
        const char *fault = find_fault(at[n]);
        if (fault != NULL)
            return tacit__node_fail(node, err, "an origin is '%.80s'; %s", at[n], fault);
    }
    *out = (tacit__origins){.at = at, .n = n};
    return TACIT_OK;
}

bool tacit__origins_have(const tacit__origins *origins, const char *origin)
{
    for (size_t i = 0; i < origins->n && origin != NULL; i++)
        if (strcmp(origins->at[i], origin) == 0)
            return true;
    return false;
}

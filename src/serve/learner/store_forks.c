/* The cost of adopting a store: see serve/learner/store_forks.h. */
#include "serve/learner/store_forks.h"

#include "base/error.h"
#include "serve/learner/describe.h"
#include "store/vault/vault_maintenance.h"

tacit_status tacit__store_forks_describe(tacit__vault *vault, const tacit__learner *l,
                                         const tacit__share *cost, tacit__text *out,
                                         tacit_error *err)
{
    const uint64_t forks = tacit__vault_forks(vault);
    tacit_guarantee all;
    tacit__text_print(out, ",\"lives\":%llu,\"adoptions\":", (unsigned long long)forks);
    TRY(tacit__vault_write_adoptions(vault, tacit__learner_id(l), out, err));
    if (cost == NULL)
        return TACIT_OK;
    TRY(tacit__share_account(cost, forks, &all, err));
    tacit__text_put(out, ",\"in_all_lives\":");
    tacit__describe_guarantee(&all, out);
    return TACIT_OK;
}

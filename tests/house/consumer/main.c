/* A stranger's program: the installed headers, the installed library, nothing else. Counts three
 * users privately and prints one line. */
#include <stdio.h>

#include <tacit/account.h>
#include <tacit/ledger.h>
#include <tacit/noise.h>
#include <tacit/plan.h>
#include <tacit/sum.h>

static tacit_status count_three(double *noisy, tacit_error *err)
{
    const tacit_guarantee guarantee = {TACIT_MODEL_JOINT, 1.0, 1e-6};
    const tacit_sum_spec spec = {.mechanism = tacit_sum_default_mechanism(guarantee),
                                 .law = TACIT_LAW_GAUSSIAN,
                                 .dimension = 1,
                                 .users = 3,
                                 .bound = {.l2 = 1.0}};
    tacit_noise *noise = NULL;
    tacit_plan *plan = NULL;
    tacit_ledger *ledger = NULL;
    tacit_sum *sum = NULL;
    tacit_release release;
    const double one = 1.0;

    tacit_status status = tacit_noise_create_from_os(&noise);
    if (status == TACIT_OK)
        status = tacit_plan_create(&plan);
    if (status == TACIT_OK)
        status = tacit_sum_declare(&spec, "visitors", &release, err);
    if (status == TACIT_OK)
        status = tacit_plan_declare(plan, &release, err);
    if (status == TACIT_OK)
        status = tacit_plan_calibrate(plan, guarantee, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &ledger, err);
    if (status == TACIT_OK)
        status = tacit_sum_create(&spec, ledger, "visitors", &sum, err);
    for (int user = 0; user < 3 && status == TACIT_OK; user++)
        status = tacit_sum_add(sum, &one, err);
    if (status == TACIT_OK)
        status = tacit_sum_release(sum, noisy, err);

    tacit_sum_destroy(sum);
    tacit_ledger_destroy(ledger);
    tacit_plan_destroy(plan);
    tacit_noise_destroy(noise);
    return status;
}

int main(void)
{
    tacit_error err = TACIT_ERROR_INIT;
    double mu = 0, noisy = 0;
    tacit_status status = tacit_gdp_mu(1.0, 1e-6, &mu);
    if (status == TACIT_OK)
        status = count_three(&noisy, &err);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "%s: %s\n", tacit_status_name(status), err.message);
        return 1;
    }
    (void)printf("tacit %s: (1, 1e-6) is %.6f-GDP, about %.1f visitors\n", tacit_version(), mu,
                 noisy);
    return 0;
}

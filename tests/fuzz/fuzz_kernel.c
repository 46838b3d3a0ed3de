/* Texts of kernels: understood or refused with a sentence; what is understood is 1 or less at equal points. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "linalg/kernel_function.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double points[] = {0.1, 0.2, 0.3, -0.5, 1, 0.7, 0.1, 0.2, 0.3};
    char *text = calloc(size + 1, 1);
    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    tacit__kernel k;
    tacit_error err = {.message = ""};
    if (tacit__kernel_read(text, 3, 1, &k, &err) == TACIT_OK) {
        tacit__kernel_fit(&k, 3, points);
        double same = tacit__kernel_value(&k, points, points + 6);
        double other = tacit__kernel_value(&k, points, points + 3);
        require(same >= 0 && same <= 1 + 1e-12 && fabs(other) <= 1 + 1e-12);
    } else {
        require(err.message[0] != '\0');
    }
    free(text);
    return 0;
}

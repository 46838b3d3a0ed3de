/* Worlds and agents written in Python: what own_world.c and own_agent.c share. What is registered stays for
 * as long as the process, because the library refers to it. */
#ifndef TACIT_PYTHON_OWN_KINDS_H
#define TACIT_PYTHON_OWN_KINDS_H

#include "extension.h"

/* A copy that stays; NULL: no memory. */
char *own_text(const char *text);

/* From a list of (name, type, default or None, low, high, help). NULL, with an exception: failed. */
tacit_parameter *own_parameters(PyObject *list, size_t *n);

/* {name: value}, a new reference or NULL. */
PyObject *own_values(const tacit_parameter *parameters, size_t n, const tacit_value *values);

#endif

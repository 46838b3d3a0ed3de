/* _tacit.Agent, for the two files that are it: creation and learning (agent_object.c), and what it says
 * about itself (agent_facts.c). */
#ifndef TACIT_PYTHON_AGENT_OBJECT_H
#define TACIT_PYTHON_AGENT_OBJECT_H

#include "extension.h"

typedef struct agent_object {
    PyObject_HEAD busy busy;
    tacit_agent *agent;
    const tacit_agent_facts *facts;
    PyObject *world;  /* that it refers to, or NULL */
    PyObject *random; /* a callable for chances, or NULL */
    PyObject *shown;  /* the array of the last plan, or NULL */
    uint64_t version; /* of it */
    bool planned, is_random;
    uint64_t users;
} agent_object;

/* Methods and members in agent_facts.c. */
PyObject *agent_facts(PyObject *self, void *unused);
PyObject *agent_remark(PyObject *self, void *unused);
PyObject *agent_explain(PyObject *self, PyObject *nothing);
PyObject *agent_ledger(PyObject *self, PyObject *nothing);
PyObject *agent_save(PyObject *self, PyObject *nothing);
PyObject *agent_load(PyObject *self, PyObject *args);
PyObject *agent_publish(PyObject *self, PyObject *nothing);
PyObject *agent_follow(PyObject *self, PyObject *bytes);
PyObject *agent_absorb(PyObject *self, PyObject *bytes);
PyObject *agent_check_report(PyObject *self, PyObject *bytes);

#endif

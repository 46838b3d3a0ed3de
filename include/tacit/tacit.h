/* All of tacit. Each header below can be included alone; together they declare a few hundred names that begin
 * with tacit_ or TACIT_, and nothing else. */
#ifndef TACIT_TACIT_H
#define TACIT_TACIT_H

#include <tacit/account.h>
#include <tacit/agent.h>
#include <tacit/audit.h>
#include <tacit/billboard.h>
#include <tacit/client.h>
#include <tacit/explain.h>
#include <tacit/features.h>
#include <tacit/lab.h>
#include <tacit/ledger.h>
#include <tacit/noise.h>
#include <tacit/plan.h>
#include <tacit/plugin.h>
#include <tacit/report.h>
#include <tacit/service.h>
#include <tacit/setting.h>
#include <tacit/status.h>
#include <tacit/sum.h>
#include <tacit/world.h>

#endif

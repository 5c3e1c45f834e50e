#pragma once

// All of Wharf.

#include <wharf/activate.hpp>
#include <wharf/activation.hpp>
#include <wharf/after.hpp>
#include <wharf/ask.hpp>
#include <wharf/causality.hpp>
#include <wharf/choice.hpp>
#include <wharf/completion.hpp>
#include <wharf/dispatcher.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/error.hpp>
#include <wharf/gather.hpp>
#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/manual_clock.hpp>
#include <wharf/persist.hpp>
#include <wharf/port.hpp>
#include <wharf/port_set.hpp>
#include <wharf/receive.hpp>
#include <wharf/reply.hpp>
#include <wharf/run_on.hpp>
#include <wharf/spawn.hpp>
#include <wharf/sync_wait.hpp>
#include <wharf/task.hpp>
#include <wharf/when_all.hpp>

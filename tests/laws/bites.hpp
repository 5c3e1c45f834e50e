#pragma once

// Where a rule really mattered: where the program would have gone on otherwise
// without it. A law that never bites proves nothing.

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace wharf::laws {

enum class rule : std::uint8_t {
  priority_asks_first,
  registration_asks_first,
  predicate_refuses,
  predicate_throws,
  taken_from_the_middle,
  refused_by_closed_port,
  drained_after_close,
  waiter_left_closed_port,
  last_handle_destroys,
  given_back_in_place,
  gift_to_another,
  one_at_a_time_waits,
  nested_choice_decides,
  choice_over_range,
  loser_leaves,
  list_order_decides,
  message_beats_time,
  time_wins,
  losing_gather_gives_back,
  join_waits_for_all,
  join_loses_part,
  join_of_many,
  join_of_range,
  same_port_twice,
  joins_take_turns,
  gather_of_set,
  gather_leaves_surplus,
  gather_ends_short,
  exclusive_waits,
  concurrent_waits_for_running,
  concurrent_waits_for_waiting,
  batch_runs,
  batch_excludes_later,
  group_priority,
  group_arrival,
  teardown_overtakes,
  teardown_waits,
  second_teardown_stays,
  then_close_destroys,
  timers_in_due_order,
  timers_in_arming_order,
  tick_made_up,
  ticks_left_out,
  cancel_gives_back,
  cancel_too_late,
  suspended_holds_back,
  end_gives_back,
  end_discards,
  ended_queue_refuses,
  failure_to_queue,
  failure_to_pool,
  handler_posts,
  count,
};

using bites = std::bitset<static_cast<std::size_t>(rule::count)>;

const char* name_of(rule r);

} // namespace wharf::laws

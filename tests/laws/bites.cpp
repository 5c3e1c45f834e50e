// The rules in words, for the table.

#include "bites.hpp"

namespace wharf::laws {

const char* name_of(rule r) {
  switch (r) {
  case rule::priority_asks_first:
    return "R2  a higher priority is asked first";
  case rule::registration_asks_first:
    return "R2  of equal priority, who registered first is";
  case rule::predicate_refuses:
    return "R9  a predicate refuses a message";
  case rule::predicate_throws:
    return "R12 a predicate throws";
  case rule::taken_from_the_middle:
    return "R9  what nobody wants dams up nobody";
  case rule::refused_by_closed_port:
    return "R14 a closed port refuses a post";
  case rule::drained_after_close:
    return "R14 a persistent arbiter handles what it has after a close";
  case rule::waiter_left_closed_port:
    return "R14 a waiter leaves a closed port";
  case rule::last_handle_destroys:
    return "R13 the last handle takes what is left with it";
  case rule::given_back_in_place:
    return "R6  a message goes back before another one";
  case rule::gift_to_another:
    return "R6  what is given back goes to another receiver";
  case rule::one_at_a_time_waits:
    return "    one_at_a_time makes a message wait";
  case rule::nested_choice_decides:
    return "R19 a branch at depth 2 or more wins";
  case rule::choice_over_range:
    return "R16 a choice over a range is decided by a later port";
  case rule::loser_leaves:
    return "R18 a registered branch loses";
  case rule::list_order_decides:
    return "R17 the first of two branches that can go";
  case rule::message_beats_time:
    return "R17 a message that is there beats after(0)";
  case rule::time_wins:
    return "R16 a time wins a choice";
  case rule::losing_gather_gives_back:
    return "R18 a losing gather gives back";
  case rule::join_waits_for_all:
    return "R20 a join is asked and lacks";
  case rule::join_loses_part:
    return "R20 somebody else takes what a join has seen";
  case rule::join_of_many:
    return "R20 a join takes several of one port";
  case rule::join_of_range:
    return "R20 a join takes one of each of a range";
  case rule::same_port_twice:
    return "R20 a join takes two of a port that it names twice";
  case rule::joins_take_turns:
    return "R22 a join that fired goes to the end of its class";
  case rule::gather_of_set:
    return "R23 a gather fires with messages of two ports";
  case rule::gather_leaves_surplus:
    return "R23 a gather leaves the surplus";
  case rule::gather_ends_short:
    return "R6  a gather that ends gives back";
  case rule::exclusive_waits:
    return "R24 an exclusive waits for running concurrents";
  case rule::concurrent_waits_for_running:
    return "R24 a concurrent waits for a running exclusive";
  case rule::concurrent_waits_for_waiting:
    return "R25 a concurrent waits behind a waiting exclusive";
  case rule::batch_runs:
    return "R25 concurrents run as a batch";
  case rule::batch_excludes_later:
    return "R25 a later concurrent is not in the batch";
  case rule::group_priority:
    return "R26 in a group, priority goes before arrival";
  case rule::group_arrival:
    return "R26 in a group, arrival decides over several arbiters";
  case rule::teardown_overtakes:
    return "R27 a teardown overtakes what waits";
  case rule::teardown_waits:
    return "R27 a teardown waits for running handlers";
  case rule::second_teardown_stays:
    return "R27 a second teardown message stays in its port";
  case rule::then_close_destroys:
    return "R27 then_close destroys what is left";
  case rule::timers_in_due_order:
    return "R33 of two times that are due the earlier wins";
  case rule::timers_in_arming_order:
    return "R33 of equal times the one armed first wins";
  case rule::tick_made_up:
    return "R32 a tick that came while the handler ran is made up";
  case rule::ticks_left_out:
    return "R32 further ticks are left out";
  case rule::cancel_gives_back:
    return "R31 a cancel gives back";
  case rule::cancel_too_late:
    return "R31 a cancel is too late";
  case rule::suspended_holds_back:
    return "    a suspended queue holds a handler back";
  case rule::end_gives_back:
    return "R34 a queue's end gives back";
  case rule::end_discards:
    return "R34 a queue's end discards what was decided";
  case rule::ended_queue_refuses:
    return "R15 an ended queue refuses an arbiter";
  case rule::failure_to_queue:
    return "R28 a failure goes to the queue's port";
  case rule::failure_to_pool:
    return "R28 a failure goes to the dispatcher's port";
  case rule::handler_posts:
    return "R10 a handler posts";
  case rule::count:
    break;
  }
  return "?";
}

} // namespace wharf::laws

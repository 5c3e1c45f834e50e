// The rules in words, for the table.

#include "bites.hpp"

#include <array>

namespace wharf::laws {
namespace {

struct name {
  rule which;
  const char* text;
};

constexpr std::array names{
    name{rule::priority_asks_first, "R2  a higher priority is asked first"},
    name{rule::registration_asks_first,
         "R2  of equal priority, who registered first is"},
    name{rule::predicate_refuses, "R9  a predicate refuses a message"},
    name{rule::predicate_throws, "R12 a predicate throws"},
    name{rule::taken_from_the_middle, "R9  what nobody wants dams up nobody"},
    name{rule::refused_by_closed_port, "R14 a closed port refuses a post"},
    name{rule::drained_after_close,
         "R14 a persistent arbiter handles what it has after a close"},
    name{rule::waiter_left_closed_port, "R14 a waiter leaves a closed port"},
    name{rule::last_handle_destroys,
         "R13 the last handle takes what is left with it"},
    name{rule::given_back_in_place,
         "R6  a message goes back before another one"},
    name{rule::gift_to_another,
         "R6  what is given back goes to another receiver"},
    name{rule::one_at_a_time_waits, "    one_at_a_time makes a message wait"},
    name{rule::nested_choice_decides, "R19 a branch at depth 2 or more wins"},
    name{rule::choice_over_range,
         "R16 a choice over a range is decided by a later port"},
    name{rule::loser_leaves, "R18 a registered branch loses"},
    name{rule::list_order_decides, "R17 the first of two branches that can go"},
    name{rule::message_beats_time,
         "R17 a message that is there beats after(0)"},
    name{rule::time_wins, "R16 a time wins a choice"},
    name{rule::losing_gather_gives_back, "R18 a losing gather gives back"},
    name{rule::join_waits_for_all, "R20 a join is asked and lacks"},
    name{rule::join_loses_part, "R20 somebody else takes what a join has seen"},
    name{rule::join_of_many, "R20 a join takes several of one port"},
    name{rule::join_of_range, "R20 a join takes one of each of a range"},
    name{rule::same_port_twice,
         "R20 a join takes two of a port that it names twice"},
    name{rule::joins_take_turns,
         "R22 a join that fired goes to the end of its class"},
    name{rule::gather_of_set, "R23 a gather fires with messages of two ports"},
    name{rule::gather_leaves_surplus, "R23 a gather leaves the surplus"},
    name{rule::gather_ends_short, "R6  a gather that ends gives back"},
    name{rule::exclusive_waits,
         "R24 an exclusive waits for running concurrents"},
    name{rule::concurrent_waits_for_running,
         "R24 a concurrent waits for a running exclusive"},
    name{rule::concurrent_waits_for_waiting,
         "R25 a concurrent waits behind a waiting exclusive"},
    name{rule::batch_runs, "R25 concurrents run as a batch"},
    name{rule::batch_excludes_later,
         "R25 a later concurrent is not in the batch"},
    name{rule::group_priority, "R26 in a group, priority goes before arrival"},
    name{rule::group_arrival,
         "R26 in a group, arrival decides over several arbiters"},
    name{rule::teardown_overtakes, "R27 a teardown overtakes what waits"},
    name{rule::teardown_waits, "R27 a teardown waits for running handlers"},
    name{rule::second_teardown_stays,
         "R27 a second teardown message stays in its port"},
    name{rule::then_close_destroys, "R27 then_close destroys what is left"},
    name{rule::timers_in_due_order,
         "R33 of two times that are due the earlier wins"},
    name{rule::timers_in_arming_order,
         "R33 of equal times the one armed first wins"},
    name{rule::tick_made_up,
         "R32 a tick that came while the handler ran is made up"},
    name{rule::ticks_left_out, "R32 further ticks are left out"},
    name{rule::cancel_gives_back, "R31 a cancel gives back"},
    name{rule::cancel_too_late, "R31 a cancel is too late"},
    name{rule::suspended_holds_back,
         "    a suspended queue holds a handler back"},
    name{rule::end_gives_back, "R34 a queue's end gives back"},
    name{rule::end_discards, "R34 a queue's end discards what was decided"},
    name{rule::ended_queue_refuses, "R15 an ended queue refuses an arbiter"},
    name{rule::failure_to_queue, "R28 a failure goes to the queue's port"},
    name{rule::failure_to_pool, "R28 a failure goes to the dispatcher's port"},
    name{rule::handler_posts, "R10 a handler posts"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (static_cast<std::size_t>(names[i].which) != i) {
      return false;
    }
  }
  return names.size() == static_cast<std::size_t>(rule::count);
}
static_assert(in_order());

} // namespace

const char* name_of(rule r) {
  return names[static_cast<std::size_t>(r)].text;
}

} // namespace wharf::laws

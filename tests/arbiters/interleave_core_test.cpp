// What a running interleave does when something happens in the midst of a
// registration: at moments that the public face can't hold still.

#include <wharf/detail/interleave_core.hpp>

#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/interleave.hpp>
#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::tally;
using test::test_dispatcher;
using test::tracked;

/// What became of a probe; outlives it.
struct trace {
  bool alive = false;
  bool registered = false;
};

/// A member that registers nowhere, and lets the test in when it is armed.
class probe final : public detail::interleave_member {
public:
  explicit probe(
      trace& t, std::function<void()> when_armed = [] {})
      : detail::interleave_member{priority::normal}, trace_{t},
        when_armed_{std::move(when_armed)} {
    trace_.alive = true;
  }
  ~probe() override { trace_.alive = false; }

  /// Brings nothing more.
  void end(detail::decision& d) {
    const detail::lock_guard lock{owner().lock()};
    ended_ = true;
    owner().ended_locked(d);
  }

  void arm(detail::decision&, bool) override {
    when_armed_();
    trace_.registered = true;
  }
  void leave(detail::decision&) noexcept override { trace_.registered = false; }
  void name_ports(std::vector<detail::port_ref>&) const override {}
  detail::message_list take_unit() noexcept override { return {}; }
  bool spent() const noexcept override { return ended_; }
  detail::handled run(detail::message_list, detail::turn&) noexcept override {
    return detail::handled::over;
  }

private:
  trace& trace_;
  const std::function<void()> when_armed_;
  bool ended_ = false;
};

/// An interleave with a teardown and one receiver.
class world {
public:
  detail::interleave_core& core() {
    return *detail_activation_access::of(running)->as_interleave();
  }
  bool combine(std::vector<std::unique_ptr<probe>> probes) {
    detail::interleave_parts parts;
    for (std::unique_ptr<probe>& each : probes) {
      parts.add(std::move(each), detail::group_kind::exclusive);
    }
    return core().combine(std::move(parts));
  }
  probe& combine(std::unique_ptr<probe> one) {
    probe& added = *one;
    std::vector<std::unique_ptr<probe>> probes;
    probes.push_back(std::move(one));
    EXPECT_TRUE(combine(std::move(probes)));
    return added;
  }
  void close_ports() {
    stops.close();
    updates.close();
  }

  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> stops;
  port<int> updates;
  std::string log;
  activation running = activate(
      queue, interleave(teardown(receive(stops, [this](int) { log += "T"; })),
                        exclusive(receive(persist, updates,
                                          [own = tracked{counts}](int) {}))));
};

TEST(InterleaveCoreTest, WhoRegistersAfterACancelLeavesOnceMore) {
  world w;
  trace t;
  w.combine(std::make_unique<probe>(t, [&] {
    EXPECT_TRUE(w.running.cancel()); // and has been made to leave
  }));
  EXPECT_FALSE(t.registered);
  w.running.wait();
}

TEST(InterleaveCoreTest, WhoRegistersAfterATeardownMessageLeavesOnceMore) {
  world w;
  trace t;
  w.combine(std::make_unique<probe>(t, [&] { w.stops.post(1); }));
  EXPECT_FALSE(t.registered);
  w.pool.run_all();
  EXPECT_EQ(w.log, "T");
}

TEST(InterleaveCoreTest, ACancelGivesBackWithoutWaitingForARegistration) {
  world w;
  trace t;
  w.updates.post(1);
  w.combine(std::make_unique<probe>(t, [&] {
    EXPECT_TRUE(w.running.cancel());
    EXPECT_EQ(w.updates.try_take(), 1);
  }));
}

// On another thread, as a thread that is inside a decision destroys nothing.
TEST(InterleaveCoreTest, NothingIsDestroyedUnderARegistration) {
  world w;
  trace t;
  w.combine(std::make_unique<probe>(t, [&] {
    std::jthread{[&] { EXPECT_TRUE(w.running.cancel()); }}.join();
    EXPECT_EQ(w.counts.alive, 1);
    EXPECT_TRUE(t.alive);
  }));
  EXPECT_EQ(w.counts.alive, 0);
  EXPECT_FALSE(t.alive);
}

TEST(InterleaveCoreTest, TheTeardownHandlerWaitsForARegistration) {
  world w;
  trace t;
  w.combine(std::make_unique<probe>(t, [&] {
    w.stops.post(1);
    w.pool.run_all();
    EXPECT_EQ(w.log, "");
  }));
  w.pool.run_all();
  EXPECT_EQ(w.log, "T");
}

// Its last member has ended, but the decision that noted it is not through yet;
// meanwhile another one is added, which ends too.
TEST(InterleaveCoreTest, AnEndThatIsNotedTwiceLosesNobodyElse) {
  world w;
  world other;
  trace t;
  probe& first = w.combine(std::make_unique<probe>(t));
  probe& others = other.combine(std::make_unique<probe>(t));
  w.close_ports();
  other.close_ports();
  detail::decision noted;
  first.end(noted);
  others.end(noted);
  probe& second = w.combine(std::make_unique<probe>(t));
  {
    detail::decision again;
    second.end(again);
  }
  noted.finish();
  EXPECT_FALSE(w.running.active());
  EXPECT_FALSE(other.running.active());
}

TEST(InterleaveCoreTest, NobodyIsLetGoOfWhileOthersRegister) {
  world w;
  trace ended;
  trace last;
  trace crowd;
  const auto end_now = [&] {
    detail::decision d;
    w.combine(std::make_unique<probe>(crowd)).end(d);
  };
  std::vector<std::unique_ptr<probe>> both;
  both.push_back(std::make_unique<probe>(ended));
  probe& first = *both.front();
  both.push_back(std::make_unique<probe>(last, [&] {
    detail::decision d;
    first.end(d);
    for (int i = 0; i < 100; ++i) {
      end_now();
    }
    EXPECT_TRUE(ended.alive);
  }));
  EXPECT_TRUE(w.combine(std::move(both)));
  for (int i = 0; i < 300; ++i) {
    end_now();
  }
  EXPECT_FALSE(ended.alive);
  EXPECT_TRUE(last.alive);
}

// Joins are known to their ports to the last.
TEST(InterleaveCoreTest, WhoIsLetGoOfHasLeftItsPorts) {
  world w;
  trace t;
  trace crowd;
  detail::decision d;
  w.combine(std::make_unique<probe>(t)).end(d);
  EXPECT_TRUE(t.registered);
  for (int i = 0; i < 100; ++i) {
    w.combine(std::make_unique<probe>(crowd)).end(d);
  }
  EXPECT_FALSE(t.alive);
  EXPECT_FALSE(t.registered);
}

} // namespace
} // namespace wharf

#pragma once

// What the tests of the search service's components share.

#include "search_service/document.hpp"
#include "search_service/file_claim.hpp"
#include "search_service/shard.hpp"
#include "search_service/status.hpp"

#include <wharf/activate.hpp>
#include <wharf/dispatcher.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/port.hpp>
#include <wharf/receive.hpp>
#include <wharf/reply.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace search_service::test {

/// Waits for the next message of a port.
template <class T>
T take(wharf::dispatcher_queue& queue, const wharf::port<T>& from) {
  std::optional<T> taken;
  wharf::activate(queue, wharf::receive(from,
                                        [&taken](T message) {
                                          taken.emplace(std::move(message));
                                        }))
      .wait();
  return std::move(*taken);
}

/// A reply whose failures nobody hears of.
template <class T>
wharf::reply<T> reply_to(const wharf::port<T>& to) {
  return {to, wharf::port<std::exception_ptr>{}};
}

/// A dispatcher with a queue for the component under test and one for the
/// test's own waiting, so that the first may be suspended.
struct world {
  wharf::dispatcher pool{{.threads = 8, .name = "test"}};
  wharf::dispatcher_queue queue{pool, "component"};
  wharf::dispatcher_queue own{pool, "test"};

  template <class T>
  T take(const wharf::port<T>& from) {
    return test::take(own, from);
  }

  /// Stops a component and waits until nothing of it runs.
  template <class Component>
  void stop(Component component) {
    wharf::port<stopped> reply;
    component.post(search_service::stop{reply});
    take(reply);
    pool.drain();
  }
};

/// Files whose claims settle into a port that the test reads.
struct ledger {
  wharf::port<file_settled> settled{"settled"};
  wharf::port<slice_credit> credits{"credits"};

  file_claim claim() {
    return {settled, std::make_shared<slice_ticket>(credits)};
  }

  /// How many of those settled so far ended like this.
  static std::size_t count(const std::vector<file_settled>& all,
                           file_outcome outcome) {
    std::size_t number = 0;
    for (const file_settled& each : all) {
      number += each.outcome == outcome ? 1 : 0;
    }
    return number;
  }
};

inline shared_words share(std::vector<std::string> words) {
  return std::make_shared<const std::vector<std::string>>(std::move(words));
}

} // namespace search_service::test

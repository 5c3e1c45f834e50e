// The first figures: Wharf beside oneTBB's flow graph on five workloads, in
// turn, in one run. For each it prints the median, least and greatest
// nanoseconds an operation, and how many times faster Wharf was in the median.
//
//   wharf_bench_basics [rounds]
//
//   W1    one outside thread posts to one exclusive persistent handler
//   W1c   a handler that posts to its own port
//   W2    ping-pong between two ports, one hop
//   W5    two streams joined pairwise, one pair
//   W5p   five philosophers, one meal, by a join of two forks
//   pair  two handlers on disjoint ports, each posting to its own, with some
//         work in the handler: two workers beside one

#include <wharf/wharf.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <tuple>
#include <vector>

#if defined(WHARF_BENCH_HAS_TBB)
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace {

constexpr std::int64_t many = 1'000'000;
constexpr std::size_t philosophers = 5;

template <class Run>
double ns_each(std::int64_t operations, Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::nano> spent =
      std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(operations);
}

/// Counts the meals of all philosophers and ends the dinner.
class table {
public:
  /// True: go on.
  bool eaten() {
    const std::int64_t meals = meals_.fetch_add(1, std::memory_order_relaxed);
    if (meals + 1 == many) {
      over_.set_value();
    }
    return meals + 1 < many;
  }
  void wait() { over_.get_future().wait(); }

private:
  std::atomic<std::int64_t> meals_{0};
  std::promise<void> over_;
};

namespace with_wharf {

using namespace wharf;

struct fixture {
  explicit fixture(std::size_t workers) : pool{{.threads = workers}} {}
  dispatcher pool;
  dispatcher_queue queue{pool};
};

auto hop_to(port<std::int64_t>& to) {
  return [&to](std::int64_t n) {
    if (n != 0) {
      to.post(n - 1);
    }
  };
}

double w1(std::size_t workers) {
  fixture f{workers};
  port<std::int64_t> numbers;
  std::int64_t sum = 0;
  activate(f.queue, receive(persist, numbers, [&](std::int64_t n) {
                      sum += n;
                    }).one_at_a_time());
  return ns_each(many, [&] {
    for (std::int64_t i = 0; i < many; ++i) {
      numbers.post(i);
    }
    f.pool.drain();
  });
}

double w1c(std::size_t workers) {
  fixture f{workers};
  port<std::int64_t> loop;
  activate(f.queue, receive(persist, loop, hop_to(loop)));
  return ns_each(many, [&] {
    loop.post(many);
    f.pool.drain();
  });
}

double w2(std::size_t workers) {
  fixture f{workers};
  port<std::int64_t> ping;
  port<std::int64_t> pong;
  activate(f.queue, receive(persist, ping, hop_to(pong)));
  activate(f.queue, receive(persist, pong, hop_to(ping)));
  return ns_each(many, [&] {
    ping.post(many);
    f.pool.drain();
  });
}

double w5(std::size_t workers) {
  fixture f{workers};
  port<std::int64_t> left;
  port<std::int64_t> right;
  std::int64_t sum = 0;
  activate(f.queue,
           join(persist, left, right, [&](std::int64_t a, std::int64_t b) {
             sum += a - b;
           }).one_at_a_time());
  return ns_each(many, [&] {
    for (std::int64_t i = 0; i < many; ++i) {
      left.post(i);
      right.post(i);
    }
    f.pool.drain();
  });
}

double w5p(std::size_t workers) {
  table dinner;
  fixture f{workers};
  std::array<port<int>, philosophers> forks;
  for (std::size_t i = 0; i < philosophers; ++i) {
    auto& left = forks[i];
    auto& right = forks[(i + 1) % philosophers];
    activate(f.queue, join(persist, left, right, [&](int a, int b) {
               if (dinner.eaten()) {
                 left.post(a);
                 right.post(b);
               }
             }));
  }
  return ns_each(many, [&] {
    for (auto& fork : forks) {
      fork.post(1);
    }
    dinner.wait();
  });
}

double pair(std::size_t workers) {
  dispatcher pool{{.threads = workers}};
  dispatcher_queue first{pool};
  dispatcher_queue second{pool};
  struct alignas(128) apart {
    port<std::int64_t> loop;
  };
  std::array<apart, 2> ports;
  const auto work_and_post = [](port<std::int64_t>& to) {
    return [&to](std::int64_t n) {
      auto x = static_cast<std::uint64_t>(n);
      for (int i = 0; i < 200; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
      }
      if (n != 0 && x != 0) {
        to.post(n - 1);
      }
    };
  };
  activate(first,
           receive(persist, ports[0].loop, work_and_post(ports[0].loop)));
  activate(second,
           receive(persist, ports[1].loop, work_and_post(ports[1].loop)));
  return ns_each(many, [&] {
    ports[0].loop.post(many / 2);
    ports[1].loop.post(many / 2);
    pool.drain();
  });
}

} // namespace with_wharf

#if defined(WHARF_BENCH_HAS_TBB)
namespace with_tbb {

using namespace oneapi::tbb;
using namespace oneapi::tbb::flow;
using number_node = function_node<std::int64_t, std::int64_t>;

/// Runs `body(graph)` in an arena of `workers` and the calling thread's slot.
template <class Body>
double in_graph(std::size_t workers, Body body) {
  const global_control limit{global_control::max_allowed_parallelism,
                             workers + 1};
  task_arena arena{static_cast<int>(workers) + 1, 1};
  return arena.execute([&] {
    graph g;
    return body(g);
  });
}

auto hop_to(number_node*& to) {
  return [&to](std::int64_t n) {
    if (n != 0) {
      to->try_put(n - 1);
    }
    return n;
  };
}

double w1(std::size_t workers) {
  return in_graph(workers, [](graph& g) {
    std::int64_t sum = 0;
    function_node<std::int64_t> node{g, serial, [&](std::int64_t n) {
                                       sum += n;
                                       return continue_msg{};
                                     }};
    return ns_each(many, [&] {
      for (std::int64_t i = 0; i < many; ++i) {
        node.try_put(i);
      }
      g.wait_for_all();
    });
  });
}

double w1c(std::size_t workers) {
  return in_graph(workers, [](graph& g) {
    number_node* self = nullptr;
    number_node loop{g, serial, hop_to(self)};
    self = &loop;
    return ns_each(many, [&] {
      loop.try_put(many);
      g.wait_for_all();
    });
  });
}

double w2(std::size_t workers) {
  return in_graph(workers, [](graph& g) {
    number_node* to_ping = nullptr;
    number_node* to_pong = nullptr;
    number_node ping{g, serial, hop_to(to_pong)};
    number_node pong{g, serial, hop_to(to_ping)};
    to_ping = &ping;
    to_pong = &pong;
    return ns_each(many, [&] {
      ping.try_put(many);
      g.wait_for_all();
    });
  });
}

double w5(std::size_t workers) {
  return in_graph(workers, [](graph& g) {
    using both = std::tuple<std::int64_t, std::int64_t>;
    std::int64_t sum = 0;
    join_node<both, queueing> joined{g};
    function_node<both> node{g, serial, [&](const both& pair) {
                               sum += std::get<0>(pair) - std::get<1>(pair);
                               return continue_msg{};
                             }};
    make_edge(joined, node);
    return ns_each(many, [&] {
      for (std::int64_t i = 0; i < many; ++i) {
        input_port<0>(joined).try_put(i);
        input_port<1>(joined).try_put(i);
      }
      g.wait_for_all();
    });
  });
}

double w5p(std::size_t workers) {
  table dinner;
  return in_graph(workers, [&](graph& g) {
    using both = std::tuple<int, int>;
    using fork = queue_node<int>;
    using fork_pair = join_node<both, reserving>;
    using eater = function_node<both>;
    std::vector<std::unique_ptr<fork>> forks;
    std::vector<std::unique_ptr<fork_pair>> pairs;
    std::vector<std::unique_ptr<eater>> eaters;
    for (std::size_t i = 0; i < philosophers; ++i) {
      forks.push_back(std::make_unique<fork>(g));
      pairs.push_back(std::make_unique<fork_pair>(g));
    }
    for (std::size_t i = 0; i < philosophers; ++i) {
      fork& left = *forks[i];
      fork& right = *forks[(i + 1) % philosophers];
      eaters.push_back(std::make_unique<eater>(
          g, unlimited, [&dinner, &left, &right](const both& pair) {
            if (dinner.eaten()) {
              left.try_put(std::get<0>(pair));
              right.try_put(std::get<1>(pair));
            }
            return continue_msg{};
          }));
      make_edge(left, input_port<0>(*pairs[i]));
      make_edge(right, input_port<1>(*pairs[i]));
      make_edge(*pairs[i], *eaters[i]);
    }
    return ns_each(many, [&] {
      for (auto& each : forks) {
        each->try_put(1);
      }
      g.wait_for_all();
    });
  });
}

} // namespace with_tbb
#endif

struct figures {
  std::vector<double> all;
  double median() {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
};

void print(const char* who, figures& f) {
  const double median = f.median();
  std::printf("  %-7s %6.0f ns (%.0f to %.0f)", who, median, f.all.front(),
              f.all.back());
}

using workload = double (*)(std::size_t workers);

void compare(const char* id, std::size_t workers, int rounds, workload wharf,
             [[maybe_unused]] workload peer) {
  figures ours;
  figures theirs;
  for (int i = 0; i < rounds; ++i) {
    ours.all.push_back(wharf(workers));
    if (peer != nullptr) {
      theirs.all.push_back(peer(workers));
    }
  }
  std::printf("%-5s %zu worker%s", id, workers, workers == 1 ? " " : "s");
  print("Wharf", ours);
  if (peer != nullptr) {
    print("oneTBB", theirs);
    std::printf("  %.1f x", theirs.median() / ours.median());
  }
  std::printf("\n");
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: %s [rounds]\n", argv[0]);
    return 2;
  }
#if defined(WHARF_BENCH_HAS_TBB)
#define WHARF_PEER(name) with_tbb::name
#else
#define WHARF_PEER(name) nullptr
#endif
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    compare("W1", workers, rounds, with_wharf::w1, WHARF_PEER(w1));
    compare("W1c", workers, rounds, with_wharf::w1c, WHARF_PEER(w1c));
    compare("W2", workers, rounds, with_wharf::w2, WHARF_PEER(w2));
    compare("W5", workers, rounds, with_wharf::w5, WHARF_PEER(w5));
    compare("W5p", workers, rounds, with_wharf::w5p, WHARF_PEER(w5p));
    compare("pair", workers, rounds, with_wharf::pair, nullptr);
  }
}

// The handles of dispatchers and queues, and what tests crank.

#include <wharf/dispatcher.hpp>

#include "dispatcher_core.hpp"

#include <wharf/activation.hpp>
#include <wharf/detail/dispatcher_access.hpp>
#include <wharf/dispatcher_queue.hpp>

#include <algorithm>
#include <stdexcept>

namespace wharf::inline v1 {

dispatcher::dispatcher(dispatcher_options options)
    : core_{new detail::dispatcher_core{
          options.threads != 0 ? options.threads
                               : std::max<std::size_t>(
                                     2, detail::thread::hardware_concurrency()),
          std::string{std::string_view{options.name}}, options.pin_threads,
          options.clock != nullptr ? options.clock->time_ : nullptr}} {
  try {
    core_->start();
  } catch (...) {
    core_->stop();
    core_->drop_ref();
    throw;
  }
}

dispatcher::dispatcher(manual)
    : core_{new detail::dispatcher_core{
          0, "manual", false,
          std::make_shared<detail::hand_set_time>(detail::time_point{} +
                                                  std::chrono::hours{1})}} {
}

dispatcher::~dispatcher() {
  core_->stop();
  core_->drop_ref();
}

void dispatcher::drain() {
  detail::refuse_blocking("drain()");
  core_->drain(detail::time_point::max());
}

shutdown_report dispatcher::shut_down(detail::duration within) {
  detail::refuse_blocking("shutdown()");
  return core_->shut_down(
      detail::due_after(detail::steady_clock::now(), within));
}

std::chrono::steady_clock::time_point dispatcher::now() const noexcept {
  return core_->now();
}

void dispatcher::on_failure(const port<std::exception_ptr>& failures) {
  detail::refuse_in_predicate();
  core_->set_failure_port(detail_port_access::core(failures));
}

std::uint64_t dispatcher::unhandled_failures() const noexcept {
  return core_->unhandled_failures();
}

std::size_t dispatcher::threads() const noexcept {
  return core_->workers().size();
}

dispatcher_queue::dispatcher_queue(dispatcher& pool, std::string_view name)
    : core_{new detail::queue_core{*pool.core_, std::string{name}}} {
  try {
    pool.core_->open(*core_);
  } catch (...) {
    core_->drop_ref();
    throw;
  }
  core_->set_handle(this);
}

dispatcher_queue::~dispatcher_queue() {
  core_->pool().retire(*core_);
  core_->set_handle(nullptr);
  core_->drop_ref();
}

void dispatcher_queue::close() {
  detail::refuse_in_predicate();
  core_->close();
}

bool dispatcher_queue::closed() const noexcept {
  return core_->closed();
}
void dispatcher_queue::suspend() {
  detail::refuse_in_predicate();
  core_->suspend();
}

void dispatcher_queue::resume() {
  detail::refuse_in_predicate();
  core_->resume();
}

void dispatcher_queue::on_failure(const port<std::exception_ptr>& failures) {
  detail::refuse_in_predicate();
  core_->set_failure_port(detail_port_access::core(failures));
}

std::size_t dispatcher_queue::depth() const noexcept {
  return core_->depth();
}

std::uint64_t dispatcher_queue::discarded() const noexcept {
  return core_->discarded();
}

std::string_view dispatcher_queue::name() const noexcept {
  return core_->name();
}

dispatcher_queue& this_queue() {
  const detail::worker* self = detail::worker::current();
  detail::queue_core* core = self != nullptr ? self->serving() : nullptr;
  dispatcher_queue* handle = core != nullptr ? core->handle() : nullptr;
  if (handle == nullptr) {
    throw std::logic_error{
        core == nullptr
            ? "this_queue(): only handlers and coroutines run on a queue"
            : "this_queue(): the queue has been destroyed"};
  }
  return *handle;
}

bool activation::cancel() {
  detail::refuse_in_predicate();
  return arbiter_ != nullptr && arbiter_->cancel();
}

void activation::wait() const {
  detail::refuse_in_predicate();
  if (arbiter_ != nullptr) {
    detail::refuse_on_worker("activation::wait()");
    arbiter_->queue().pool().wait_for_end(*arbiter_);
  }
}

void detail_activation_access::cancel_and_wait(activation running) {
  running.cancel();
  running.wait();
}

namespace detail {

void refuse_blocking(const char* what) {
  refuse_in_predicate();
  refuse_on_worker(what);
}

dispatcher dispatcher_access::make_manual() {
  return dispatcher{dispatcher::manual{}};
}
bool dispatcher_access::run_one(dispatcher& pool) {
  return pool.core_->hand_worker().crank();
}
void dispatcher_access::set_now(dispatcher& pool, time_point now) {
  pool.core_->clock()->set(now);
}
void dispatcher_access::set_sentinel(dispatcher& pool, bool on) {
  pool.core_->set_sentinel(on);
}
std::size_t dispatcher_access::pending_timers(const dispatcher& pool) {
  return pool.core_->timers().size();
}

} // namespace detail
} // namespace wharf::inline v1

// port_core.cpp -- see the head comment in detail/port_core.hpp.

#include <wharf/detail/port_core.hpp>

#include <wharf/detail/decision.hpp>

#include <cxxabi.h>

namespace wharf::inline v1::detail {
namespace {

atomic<std::uint64_t> relink_count{0};

} // namespace

const char* demangled(const char* mangled) noexcept {
  int status = 0;
  // Kept for the life of the program: one string per message type.
  const char* name = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  return name != nullptr ? name : mangled;
}

std::uint64_t relinks() noexcept {
  return relink_count.load(memory_order_relaxed);
}

void destroy(message_list&& messages, const message_type& type) noexcept {
  burial deferred;
  while (message_node* node = messages.pop_front()) {
    type.destroy(node);
  }
}

context_ref united_contexts(message_node& first) noexcept {
  context_ref all;
  for (message_node* node = &first; node != nullptr; node = node->next) {
    all = unite(std::move(all), std::move(node->under));
  }
  return all;
}

port_core::port_core(const message_type& type, std::string_view name,
                     made_at where)
    : type_{type}, name_{name.empty() ? nullptr : new const std::string{name}},
      where_{where} {
}

void port_core::drop_handles(std::uint64_t which) noexcept {
  // acq_rel: the last one out sees what the others did through their handles.
  if (handles_.fetch_sub(which, memory_order_acq_rel) != which) {
    return;
  }
  {
    decision d;
    d.lock(*this);
    close_locked(d);
  }
  // What nobody can reach any more is destroyed now, and not only with the
  // memory, which activations may keep: but in turn, as it may hold ports.
  bury(*this);
}

void port_core::drop_ref() noexcept {
  if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) {
    bury(*this);
  }
}

/// Called once when the last handle has gone, which holds a reference, and, if
/// there are others, once more with the last reference.
void port_core::perish() noexcept {
  if (refs_.load(memory_order_acquire) != 0) {
    message_list unreachable;
    {
      const lock_guard lock{mutex_};
      if (!members_.may_take()) {
        unreachable = std::move(queue_);
      }
    }
    destroy(std::move(unreachable), type_);
    if (refs_.fetch_sub(1, memory_order_acq_rel) != 1) {
      return;
    }
  }
  destroy(std::move(queue_), type_);
  delete this;
}

bool port_core::has_readers() const noexcept {
  const std::uint64_t handles = handles_.load(memory_order_acquire);
  if ((handles >> 32) != (handles & 0xffff'ffff)) {
    return true;
  }
  const lock_guard lock{mutex_};
  return receivers_.front() != nullptr || members_.may_take();
}

// Not inline: it reads what the thread runs under, and coroutines migrate.
[[gnu::noinline]] bool port_core::post(message_node* node) {
  refuse_in_predicate();
  if (running_under.effective != nullptr) {
    node->under = context_ref::share(running_under.effective);
  }
  decision d;
  d.lock(*this);
  if (receivers_.asking() != 0 && receivers_.wide() != 0) {
    // A predicate is asked once: nothing may be `blocked` behind it.
    d.unlock();
    d.lock_with_watched(*this);
  }
  offered m{node};
  for (;;) {
    if (closed_.load(memory_order_relaxed)) {
      return false;
    }
    node->number = ++last_number_;
    const offer_result result = offer(d, m);
    if (result == offer_result::taken) {
      return true;
    }
    if (result == offer_result::left) {
      queue_.push_back(node);
      return true;
    }
    // Nobody has seen the message yet, no predicate was asked: with the locks
    // the offer starts afresh.
    d.relock();
  }
}

offer_result port_core::offer(decision& d, offered& m) noexcept {
  receiver* next = nullptr;
  for (receiver* r = receivers_.front(); r != nullptr; r = next) {
    next = receiver_list::after(*r);
    const offer_result result = r->offer(d, m);
    if (result != offer_result::left) {
      return result;
    }
  }
  return offer_result::left;
}

void port_core::link(offered& m) noexcept {
  queue_.insert_in_place(m.node, nullptr);
  m.linked = true;
}

void port_core::give_back(decision& d, message_list gifts) noexcept {
  relink_count.fetch_add(gifts.size(), memory_order_relaxed);
  release(gifts.size());
  message_list in_order; // nearly always they come so
  while (message_node* node = gifts.pop_front()) {
    in_order.insert_in_place(node, nullptr);
  }
  message_node* hint = nullptr;
  while (message_node* node = in_order.pop_front()) {
    offered m{node, false, true};
    if (offer(d, m) == offer_result::left) {
      queue_.insert_in_place(node, hint);
      hint = node;
    } else if (m.linked) {
      hint = nullptr; // a join has taken older messages too
    }
  }
  if (closed_.load(memory_order_relaxed)) {
    taken(d);
  }
}

message_node* port_core::try_take() {
  refuse_in_predicate();
  decision d;
  d.lock(*this);
  message_node* node = queue_.pop_front();
  if (node != nullptr) {
    taken(d);
  }
  return node;
}

message_list port_core::try_take_all() {
  refuse_in_predicate();
  decision d;
  d.lock(*this);
  message_list all = std::move(queue_);
  if (!all.empty()) {
    taken(d);
  }
  return all;
}

std::size_t port_core::clear() {
  message_list all = try_take_all();
  const std::size_t count = all.size();
  destroy(std::move(all), type_);
  return count;
}

std::size_t port_core::size() const {
  refuse_in_predicate();
  const lock_guard lock{mutex_};
  std::size_t count =
      queue_.size() + held_.load(memory_order_relaxed) + members_.holding();
  return count + receivers_.holding() + draining_.holding();
}

void port_core::close() {
  refuse_in_predicate();
  decision d;
  d.lock(*this);
  close_locked(d);
}

void port_core::close_locked(decision& d) noexcept {
  if (closed_.exchange(true, memory_order_acq_rel)) {
    return;
  }
  while (receiver* r = receivers_.front()) {
    receivers_.remove(*r);
    if (r->traits_.holds) {
      draining_.insert(*r, r->place_);
    }
    r->port_closed(d);
  }
  taken(d);
}

void port_core::taken(decision& d) noexcept {
  if (!closed_.load(memory_order_relaxed)) {
    return;
  }
  port_member* next = nullptr;
  for (port_member* m = members_.front(); m != nullptr; m = next) {
    next = member_list::after(*m);
    m->port_short(d);
  }
}

std::string port_core::describe() const {
  if (name_ != nullptr) {
    return "port \"" + *name_ + '"';
  }
  return std::string{"port<"} + type_.name() + "> made at " + where_.file +
         ':' + std::to_string(where_.line);
}

} // namespace wharf::inline v1::detail

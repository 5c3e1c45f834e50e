// Prints programs, in words close to those of the guide.

#include "program.hpp"

namespace wharf::laws {
namespace {

std::string number_text(std::size_t n) {
  return std::to_string(n);
}

std::string list_of(const std::vector<std::size_t>& ports) {
  std::string text;
  for (std::size_t port : ports) {
    text += text.empty() ? "" : ", ";
    text += port_name(port);
  }
  return text;
}

const char* name_of(filter f) {
  switch (f) {
  case filter::everything:
    return "everything";
  case filter::even:
    return "even";
  case filter::small:
    return "below_3";
  case filter::nothing:
    return "nothing";
  case filter::fragile:
    return "all_but_throws_at_0";
  }
  return "?";
}

std::string inner_text(const action& a) {
  const std::string on{port_name(a.on)};
  const std::string number = std::to_string(a.value);
  switch (a.what) {
  case does::post:
    return on + ".post(" + number + ")";
  case does::take:
    return on + ".try_take()";
  case does::clear:
    return on + ".clear()";
  case does::close:
    return on + ".close()";
  case does::drop:
    return "drop the last handle of " + on;
  case does::activate:
    return "activate(q" + number + ", #" + number_text(a.on) + ")";
  case does::cancel:
    return "#" + number_text(a.on) + ".cancel()";
  case does::run:
    return "run(" + number + ")";
  case does::advance:
    return "advance(" + number + "ms)";
  case does::suspend:
    return "q" + number_text(a.on) + ".suspend()";
  case does::resume:
    return "q" + number_text(a.on) + ".resume()";
  case does::finish:
    return "q" + number_text(a.on) + ".close()";
  case does::fail:
    return "throw";
  }
  return "?";
}

std::string handler_text(const spec& s) {
  std::string text = "{";
  for (const action& each : s.script) {
    text += " " + inner_text(each) + ";";
  }
  return text + (s.script.empty() ? "}" : " }");
}

std::string parts_text(const spec& s, group only) {
  std::string text;
  for (const spec& part : s.parts) {
    if (part.in == only) {
      text += (text.empty() ? "" : ", ") + to_text(part);
    }
  }
  return text;
}

std::string interleave_text(const spec& s) {
  return "interleave(teardown(" + parts_text(s, group::teardown) + ")" +
         (s.then_close ? ".then_close()" : "") + ", exclusive(" +
         parts_text(s, group::exclusive) + "), concurrent(" +
         parts_text(s, group::concurrent) + ")).fairness(bounded(" +
         std::to_string(s.number) + "))";
}

std::string options_text(const spec& s) {
  std::string text;
  if (s.when != filter::everything) {
    text += std::string{".when("} + name_of(s.when) + ")";
  }
  if (s.priority != 0) {
    text += ".priority(" + std::to_string(s.priority) + ")";
  }
  return text + (s.serial ? ".one_at_a_time()" : "");
}

} // namespace

verdict judge(filter f, int value) {
  switch (f) {
  case filter::everything:
    return verdict::yes;
  case filter::even:
    return value % 2 == 0 ? verdict::yes : verdict::no;
  case filter::small:
    return value < 3 ? verdict::yes : verdict::no;
  case filter::nothing:
    return verdict::no;
  case filter::fragile:
    return value == 0 ? verdict::fails : verdict::yes;
  }
  return verdict::no;
}

char port_name(std::size_t port) {
  return "abcde"[port % port_count];
}

std::string to_text(const spec& s) {
  const std::string first = s.persist ? "persist, " : "";
  const std::string number = std::to_string(s.number);
  switch (s.what) {
  case kind::after:
    return "after(" + number + "ms, " + handler_text(s) + ")";
  case kind::every:
    return "every(" + number + "ms, " + handler_text(s) + ")";
  case kind::interleave:
    return interleave_text(s);
  case kind::choice:
    return s.range ? "choice(range{" + list_of(s.ports) + "}, " +
                         handler_text(s) + ")"
                   : "choice(" + parts_text(s, group::none) + ")";
  case kind::gather:
    return "gather({" + list_of(s.ports) + "}, " + number + ", " +
           handler_text(s) + ")" + options_text(s);
  case kind::join: {
    const std::string from = s.range ? "range{" + list_of(s.ports) + "}"
                             : s.ports.size() == 1
                                 ? list_of(s.ports) + ", " + number
                                 : list_of(s.ports);
    return "join(" + first + from + ", " + handler_text(s) + ")" +
           options_text(s);
  }
  case kind::receive:
    break;
  }
  return "receive(" + first + list_of(s.ports) + ", " + handler_text(s) + ")" +
         options_text(s);
}

std::string to_text(const action& a, const program& p) {
  if (a.what != does::activate) {
    return inner_text(a);
  }
  return "#" + number_text(a.on) + " = activate(q" + std::to_string(a.value) +
         ", " + to_text(p.arbiters[a.on]) + ")";
}

std::string to_text(const program& p) {
  std::string text = "seed " + std::to_string(p.seed) + ":\n";
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const std::string number = std::to_string(i);
    text += std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') +
            number + "  " + to_text(p.steps[i], p) + "\n";
  }
  return text;
}

} // namespace wharf::laws

// Runs each program of samples/primitives and looks at what it prints.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include <sys/wait.h>

namespace {

struct outcome {
  std::string printed; // and complained about
  int status = -1;     // -1: did not exit by itself
};

outcome run_program(std::string_view name) {
  const std::string command = std::string{"exec \"" WHARF_SAMPLES_DIR "/"}
                                  .append("primitives_")
                                  .append(name)
                                  .append("\" 2>&1 </dev/null");
  outcome result;
  std::FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) {
    return result;
  }
  std::array<char, 4096> buffer;
  while (const std::size_t got =
             std::fread(buffer.data(), 1, buffer.size(), output)) {
    result.printed.append(buffer.data(), got);
  }
  const int status = ::pclose(output);
  if (WIFEXITED(status)) {
    result.status = WEXITSTATUS(status);
  }
  return result;
}

void expect_prints(std::string_view name, std::string_view expected) {
  const outcome result = run_program(name);
  EXPECT_EQ(result.status, 0) << name;
  EXPECT_EQ(result.printed, expected) << name;
}

TEST(PrimitivesTest, SpawnRunsFunctionsWithTheirArguments) {
  expect_prints("01_spawn", "1 + 4 + 9 + 16 = 30\n"
                            "a parcel was moved, not copied\n");
}

TEST(PrimitivesTest, OneTimeReceiverTakesOneAndAPersistentOneTheRest) {
  expect_prints("02_receive", "one-time: 1\n"
                              "waiting in the port: 1\n"
                              "persistent: 2\n"
                              "persistent: 3\n"
                              "persistent: 4\n"
                              "waiting in the port: 0\n");
}

TEST(PrimitivesTest, DescribedReceiverDoesNothingUntilItIsActivated) {
  expect_prints("03_receive_in_two_steps", "described: 4 messages wait\n"
                                           "even: 2\n"
                                           "even: 4\n"
                                           "activated: 2 messages wait\n"
                                           "cancelled: true\n"
                                           "afterwards: 3 messages wait\n");
}

TEST(PrimitivesTest, ChoiceRunsTheBranchOfTheReplyThatCame) {
  expect_prints("04_choice", "success: 7\n"
                             "failure: division by zero\n");
}

TEST(PrimitivesTest, JoinTakesNothingUntilBothAreThere) {
  expect_prints("05_join", "a price alone stays where it is: 1\n"
                           "coffee costs 3.5\n"
                           "posted back: coffee, at half price, costs 1.75\n");
}

TEST(PrimitivesTest, ContendingJoinsBothRunOnceTheMessageIsPostedBack) {
  expect_prints("06_contending_joins", "done without money: 0\n"
                                       "done with it: 2\n"
                                       "money that is left: 20\n");
}

TEST(PrimitivesTest, JoinTakesAsManyAsIsSaidAtRunTime) {
  expect_prints("07_join_at_run_time", "n of one port: 0 0.5 1 1.5 2\n"
                                       "left in it: 2\n"
                                       "one of each port: 18.25 19 20.5\n");
}

TEST(PrimitivesTest, GatherCountsFailuresAndSuccessesTogether) {
  expect_prints("08_gather", "8 pages and 2 failures of 10 requests\n");
}

TEST(PrimitivesTest, ServiceAnswersEachOfItsMessages) {
  expect_prints("09_service", "Hello, Ada\n"
                              "Goodbye, Ada\n");
}

TEST(PrimitivesTest, StoppedServiceRefusesMessages) {
  expect_prints("10_service_with_interleave",
                "Good evening, Ada\n"
                "the last words were: Good evening\n"
                "refused: it has stopped\n");
}

TEST(PrimitivesTest, ComponentHeldByItsHandlersDiesWithItsTeardown) {
  expect_prints("11_component_held_by_handlers", "the counter lives\n"
                                                 "total: 42\n"
                                                 "the counter dies\n"
                                                 "the program goes on\n");
}

TEST(PrimitivesTest, ComponentOwningItsActivationsWaitsForThemAndDies) {
  expect_prints("12_component_owning_activations", "the counter lives\n"
                                                   "total: 42\n"
                                                   "the program goes on\n"
                                                   "waiting in the port: 1\n");
}

TEST(PrimitivesTest, AnIteratorReadsAStreamToItsEnd) {
  expect_prints("13_iterator", "|a port holds\n"
                               "|messages in\n"
                               "|order\n"
                               "that was all\n");
}

TEST(PrimitivesTest, AnExclusiveSlotIsHeldOverThreeSteps) {
  expect_prints("14_exclusive_steps", "old, old\n"
                                      "loading\n"
                                      "loaded\n"
                                      "new address, new port\n");
}

TEST(PrimitivesTest, AWaitWithATimeOut) {
  expect_prints("15_time_out", "news: early\n"
                               "nothing for 20 ms\n"
                               "in the port: 1\n");
}

TEST(PrimitivesTest, NestedCausalitiesAreToldFromTheInnermostOn) {
  expect_prints("16_nested_causalities",
                "printed: letter\n"
                "the office: no paper for the novel, getting some\n"
                "the customer: this is not allowed\n");
}

} // namespace

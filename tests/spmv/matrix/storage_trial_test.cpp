#include "spmv/matrix/storage_trial.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Form = StorageTrial::Form;
constexpr std::int64_t many_products = 1000;

/// What every thread takes for a product of that number, in that form.
using TrialSeconds = double (*)(int thread, int product, Form form);

/// Makes products with invented times; the forms are those of thread 0, which all threads have.
std::vector<Form> make_products(StorageTrial& trial, int thread_count, int product_count,
                                TrialSeconds seconds) {
  std::vector<Form> forms;
  for (int product = 0; product < product_count; ++product) {
    std::vector<Form> of_threads;
    for (int thread = 0; thread < thread_count; ++thread)
      of_threads.push_back(trial.begin_product(thread));
    for (int thread = 0; thread < thread_count; ++thread) {
      CHECK(of_threads[static_cast<std::size_t>(thread)] == of_threads.front());
      if (!trial.is_timed(thread)) continue;
      const double whole = seconds(thread, product, of_threads.front());
      trial.add_seconds(thread, 0.75 * whole);  // interior and boundary rows
      trial.add_seconds(thread, 0.25 * whole);
    }
    forms.push_back(of_threads.front());
  }
  return forms;
}

/// The form that is kept after a trial of two threads.
Form kept_form(TrialSeconds seconds) {
  StorageTrial trial(2);
  trial.expect_products(many_products);
  CHECK(make_products(trial, 2, 8, seconds).back() == Form::sell);  // the last one that is timed
  CHECK_FALSE(trial.times());
  const std::vector<Form> forms = make_products(trial, 2, 4, seconds);
  CHECK(forms == std::vector<Form>(4, forms.front()));
  REQUIRE(trial.times());
  CHECK(trial.times()->prefers_sell() == (forms.front() == Form::sell));
  return forms.front();
}

TEST_CASE("three products of each form are timed in turn, after one of each that is not") {
  StorageTrial trial(1);
  CHECK(trial.expect_products(many_products) == 9);
  const auto forms = make_products(
      trial, 1, 9, [](int, int, Form form) { return form == Form::sell ? 1.0 : 2.0; });
  const Form crs = Form::crs;
  const Form sell = Form::sell;
  CHECK(forms == std::vector<Form>{crs, sell, crs, sell, crs, sell, crs, sell, sell});
  CHECK(trial.times()->crs_seconds == 2);
  CHECK(trial.times()->sell_seconds == 1);
  CHECK(trial.expect_products(many_products) == 0);
}

TEST_CASE("SELL is kept where it takes at least 5 % less") {
  CHECK(kept_form([](int, int, Form form) { return form == Form::sell ? 0.94 : 1.0; }) ==
        Form::sell);
  CHECK(kept_form([](int, int, Form form) { return form == Form::sell ? 0.96 : 1.0; }) ==
        Form::crs);
  CHECK(kept_form([](int, int, Form) { return 1.0; }) == Form::crs);
  CHECK(kept_form([](int, int, Form) { return 0.0; }) == Form::crs);  // below the clock
}

TEST_CASE("a product that is disturbed counts for nothing, in either form") {
  CHECK(kept_form([](int, int product, Form form) {
          return product == 5 ? 100.0 : form == Form::sell ? 1.0 : 2.0;
        }) == Form::sell);
  CHECK(kept_form([](int, int product, Form form) {
          return product == 4 ? 100.0 : form == Form::sell ? 2.0 : 1.0;
        }) == Form::crs);
  // Each thread is disturbed in another product.
  CHECK(kept_form([](int thread, int product, Form form) {
          return product == 3 + 2 * thread ? 100.0 : form == Form::sell ? 1.0 : 2.0;
        }) == Form::sell);
}

TEST_CASE("the first product in SELL is not timed") {
  CHECK(kept_form([](int, int product, Form form) {
          return product == 1 ? 1000.0 : form == Form::sell ? 1.0 : 2.0;
        }) == Form::sell);
}

TEST_CASE("the slowest thread decides for all") {
  // Thread 0 gains, but all wait for thread 1, which loses.
  CHECK(kept_form([](int thread, int, Form form) {
          return thread == 0 ? (form == Form::sell ? 1.0 : 3.0) : form == Form::sell ? 5.0 : 4.0;
        }) == Form::crs);
  CHECK(kept_form([](int thread, int, Form form) {
          return thread == 0 ? (form == Form::sell ? 3.0 : 1.0) : form == Form::sell ? 4.0 : 5.0;
        }) == Form::sell);
  // Another one is the slowest in either form.
  CHECK(kept_form([](int thread, int, Form form) {
          return thread == 0 ? (form == Form::sell ? 3.0 : 5.0) : form == Form::sell ? 4.0 : 1.0;
        }) == Form::sell);
  CHECK(kept_form([](int thread, int, Form form) {
          return thread == 0 ? (form == Form::sell ? 6.0 : 5.0) : form == Form::sell ? 1.0 : 4.0;
        }) == Form::crs);
}

TEST_CASE("without a forecast a trial begins after as many products as it takes to pay") {
  const auto same = [](int, int, Form) { return 1.0; };
  StorageTrial trial(1);
  const int waiting = StorageTrial::least_products;
  CHECK(make_products(trial, 1, waiting, same) ==
        std::vector<Form>(static_cast<std::size_t>(waiting), Form::crs));
  CHECK(make_products(trial, 1, 1, same).front() == Form::sell);
}

TEST_CASE("a forecast of few products begins no trial, and of many one at the second product") {
  const auto same = [](int, int, Form) { return 1.0; };
  StorageTrial trial(1);
  CHECK(trial.expect_products(StorageTrial::least_products - 1) == 0);
  make_products(trial, 1, 2, same);
  CHECK(trial.expect_products(std::nullopt) == 0);
  CHECK(make_products(trial, 1, 1, same).front() == Form::crs);
  CHECK(trial.expect_products(std::numeric_limits<std::int64_t>::max()) == 8);
  CHECK(make_products(trial, 1, 1, same).front() == Form::sell);
  CHECK(trial.expect_products(many_products) == 7);
  make_products(trial, 1, 7, same);
  CHECK(trial.times());
}

TEST_CASE("a solve that expects many products begins a trial at the next one") {
  const auto same = [](int, int, Form) { return 1.0; };
  StorageTrial trial(2);
  make_products(trial, 2, 10, same);
  for (const int thread : {0, 1})
    trial.expect_products_here(thread, StorageTrial::least_products - 1);
  CHECK(make_products(trial, 2, 1, same).front() == Form::crs);
  for (const int thread : {0, 1}) trial.expect_products_here(thread, StorageTrial::least_products);
  CHECK(make_products(trial, 2, 1, same).front() == Form::sell);
}

TEST_CASE("nothing is tried while it is held") {
  StorageTrial trial(1);
  CHECK_FALSE(trial.is_held());
  CHECK(trial.expect_products(0) == 0);
  CHECK(trial.is_held());
  trial.expect_products(std::nullopt);
  CHECK_FALSE(trial.is_held());
}

TEST_CASE("a trial is forgotten when it begins again") {
  StorageTrial trial(2);
  trial.expect_products(many_products);
  make_products(trial, 2, 10, [](int, int, Form form) { return form == Form::sell ? 1.0 : 2.0; });
  CHECK(trial.times()->prefers_sell());
  trial.restart();
  CHECK_FALSE(trial.times());
  CHECK_FALSE(trial.is_settled(1));
  make_products(trial, 2, 10, [](int, int, Form form) { return form == Form::sell ? 2.0 : 1.0; });
  CHECK_FALSE(trial.times()->prefers_sell());
}

TEST_CASE("a report says both times, that of the form which is kept first") {
  CHECK(storage_text("CRS", std::nullopt) == "CRS");
  CHECK(storage_text("SELL-8", StorageTimes{0.61e-3, 0.42e-3}) ==
        "SELL-8 (0.42 ms a product; CRS 0.61)");
  CHECK(storage_text("CRS", StorageTimes{12.34e-3, 12.5e-3}) ==
        "CRS (12.3 ms a product; SELL-8 12.5)");
  CHECK(storage_text("CRS", StorageTimes{1.234, 0.123e-6}).starts_with("CRS (0.000123 ms"));
  CHECK(storage_text("CRS", StorageTimes{1.234, 1.234}) == "CRS (1234 ms a product; SELL-8 1234)");
}

}  // namespace
}  // namespace weft::spmv

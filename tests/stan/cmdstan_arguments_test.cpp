// CmdStan's arguments: what they mean here, and that none is taken for something else.
#include "stan/cmdstan_arguments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"

namespace rehmc::cmdstan_arguments_test {
namespace {

using Words = std::vector<std::string>;

stan::CmdstanCall call_with(const Words& words) {
  return stan::read_cmdstan_call("program", words);
}

bool passes(const stan::CmdstanCall& call, const std::string& word) {
  return std::ranges::find(call.sample_words, word) != call.sample_words.end();
}

TEST(CmdstanArguments, FlagsAreNumbersOrWords) {
  for (const std::string no : {"0", "false"}) {
    EXPECT_FALSE(call_with({"optimize", "jacobian=" + no}).jacobian);
    EXPECT_FALSE(call_with({"log_prob", "jacobian=" + no}).jacobian);
    EXPECT_FALSE(passes(call_with({"sample", "save_warmup=" + no}), "--save-warmup"));
  }
  for (const std::string yes : {"1", "true"}) {
    EXPECT_TRUE(call_with({"optimize", "jacobian=" + yes}).jacobian);
    EXPECT_TRUE(call_with({"laplace", "jacobian=" + yes}).jacobian);
    EXPECT_TRUE(passes(call_with({"sample", "save_warmup=" + yes}), "--save-warmup"));
  }
  const stan::CmdstanCall fixed = call_with({"sample", "adapt", "engaged=false"});
  const auto warmup = std::ranges::find(fixed.sample_words, "--warmup");
  ASSERT_NE(warmup, fixed.sample_words.end());
  EXPECT_EQ(*std::next(warmup), "0");
}

TEST(CmdstanArguments, WhatRehmcDoesItsOwnWayMayBeGiven) {
  for (const Words& words : std::vector<Words>{
           {"optimize", "algorithm=lbfgs", "iter=500", "tol_obj=1e-9", "history_size=5"},
           {"method=optimize", "algorithm=newton", "save_iterations=1"},
           {"pathfinder", "num_paths=2", "psis_resample=false", "num_threads=-1"},
           {"sample", "algorithm=hmc", "engine=static", "int_time=2", "metric=dense_e"},
           {"sample", "data", "file=", "output", "file=o.csv", "diagnostic_file="},
       }) {
    EXPECT_NO_THROW(call_with(words)) << words.front() << " " << words.back();
  }
}

TEST(CmdstanArguments, BadValuesAreRefused) {
  for (const Words& words : std::vector<Words>{
           {"optimize", "iter=abc"},
           {"optimize", "iter=-1"},
           {"optimize", "iter=0"},
           {"optimize", "iter="},
           {"optimize", "algorithm=foo"},
           {"optimize", "algorithm=hmc"},
           {"optimize", "tol_obj=x"},
           {"optimize", "tol_rel_grad=-1"},
           {"optimize", "jacobian=maybe"},
           {"optimize", "save_iterations=2"},
           {"laplace", "mode="},
           {"laplace", "draws=0"},
           {"pathfinder", "num_threads=-2"},
           {"sample", "num_samples="},
           {"sample", "engaged=2"},
           {"sample", "engine=foo"},
           {"sample", "metric=foo"},
           {"sample", "algorithm=lbfgs"},
           {"sample", "random", "seed="},
           {"method=foo"},
           {"foo"},
       }) {
    EXPECT_THROW(call_with(words), ConfigError) << words.front() << " " << words.back();
  }
}

}  // namespace
}  // namespace rehmc::cmdstan_arguments_test

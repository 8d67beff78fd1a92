// ExpectEqual(): whether two evaluations of a plan agree in every field.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "sim/step/evaluation.h"

namespace stagecraft {

inline void ExpectEqual(const Evaluation& got, const Evaluation& want, const std::string& text) {
  ASSERT_EQ(got.fits, want.fits) << text;
  ASSERT_EQ(got.memory.size(), want.memory.size()) << text;
  for (size_t stage = 0; stage < want.memory.size(); ++stage) {
    EXPECT_EQ(got.memory[stage], want.memory[stage]) << text << " stage " << stage;
  }
  if (!want.fits) {
    EXPECT_EQ(got.step_time, Duration()) << text;
    EXPECT_EQ(got.unshared_time, Duration()) << text;
    return;
  }
  EXPECT_EQ(got.step_time, want.step_time) << text;
  EXPECT_EQ(got.step_time_low, want.step_time_low) << text;
  EXPECT_EQ(got.step_time_high, want.step_time_high) << text;
  EXPECT_EQ(got.unshared_time, want.unshared_time) << text;
  EXPECT_EQ(got.profile, want.profile) << text;
  EXPECT_EQ(got.tokens, want.tokens) << text;
  EXPECT_EQ(got.samples, want.samples) << text;
  EXPECT_EQ(got.devices, want.devices) << text;
  EXPECT_EQ(got.group_devices, want.group_devices) << text;
  EXPECT_EQ(got.model_flops, want.model_flops) << text;
  EXPECT_EQ(got.hardware_flops, want.hardware_flops) << text;
  EXPECT_EQ(got.peak, want.peak) << text;
}

}  // namespace stagecraft

// The fixture of tests that the driver is linked into: a device, with neither loader nor layer between.
#pragma once

#include <gtest/gtest.h>

#include "gen/entrypoints.h"

namespace pumice::icd {

class LinkedDeviceTest : public testing::Test {
 protected:
  LinkedDeviceTest() {
    const VkInstanceCreateInfo instance{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    EXPECT_EQ(icd::vkCreateInstance(&instance, nullptr, &instance_), VK_SUCCESS);
    uint32_t one = 1;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    EXPECT_EQ(icd::vkEnumeratePhysicalDevices(instance_, &one, &physical), VK_SUCCESS);
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 1, &priority};
    VkDeviceCreateInfo device{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    EXPECT_EQ(icd::vkCreateDevice(physical, &device, nullptr, &device_), VK_SUCCESS);
  }
  ~LinkedDeviceTest() override {
    icd::vkDestroyDevice(device_, nullptr);
    icd::vkDestroyInstance(instance_, nullptr);
  }

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
};

}  // namespace pumice::icd

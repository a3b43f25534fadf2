#include "icd/objects/shader_module.h"

#include "gen/entrypoints.h"
#include "icd/objects/device.h"

namespace pumice::icd {

VkResult ShaderModule::init(const VkShaderModuleCreateInfo& info) {
  code_ = std::make_shared<const std::vector<uint32_t>>(info.pCode, info.pCode + info.codeSize / sizeof(uint32_t));
  hash_ = spirvHash(*code_);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo* pCreateInfo,
                                                    const VkAllocationCallbacks* pAllocator,
                                                    VkShaderModule* pShaderModule) {
  return ShaderModule::create(pAllocator, pShaderModule, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyShaderModule(VkDevice, VkShaderModule shaderModule,
                                                 const VkAllocationCallbacks* pAllocator) {
  ShaderModule::destroy(shaderModule, pAllocator);
}

}  // namespace pumice::icd

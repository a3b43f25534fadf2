#include "icd/objects/render_pass.h"

#include <algorithm>

#include "backend/abi/fragment_abi.h"
#include "backend/formats/format_table.h"
#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"
#include "icd/objects/tile_passes.h"

namespace pumice::icd {
namespace {

// The two forms differ in names of types alone.
template <typename Description>
PassAttachment attachmentOf(const Description& d) {
  PassAttachment a;
  a.format = d.format;
  a.sampleCount = static_cast<uint32_t>(d.samples);
  a.mayAlias = (d.flags & VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT) != 0;
  a.loadOp = d.loadOp;
  a.stencilLoadOp = d.stencilLoadOp;
  a.storeOp = d.storeOp;
  a.stencilStoreOp = d.stencilStoreOp;
  return a;
}

AttachmentReference referenceOf(const VkAttachmentReference& r) {
  return {r.attachment, 0};
}

AttachmentReference referenceOf(const VkAttachmentReference2& r) {
  return {r.attachment, r.aspectMask};
}

template <typename Description>
Subpass subpassOf(const Description& d) {
  Subpass s;
  for (uint32_t i = 0; i < d.inputAttachmentCount; ++i) s.inputs.push_back(referenceOf(d.pInputAttachments[i]));
  for (uint32_t i = 0; i < std::min(d.colorAttachmentCount, abi::kMaxColorAttachments); ++i) {
    s.colors.push_back(referenceOf(d.pColorAttachments[i]));
    s.colors.back().aspects = 0;
    if (d.pResolveAttachments == nullptr) continue;
    s.resolves.push_back(referenceOf(d.pResolveAttachments[i]));
    s.resolves.back().aspects = 0;
  }
  if (d.pDepthStencilAttachment != nullptr) {
    s.depthStencil.attachment = d.pDepthStencilAttachment->attachment;
  }
  return s;
}

template <typename Dependency>
SubpassDependency dependencyOf(const Dependency& d) {
  return {d.srcSubpass,   d.dstSubpass,    d.srcStageMask,
          d.dstStageMask, d.dstAccessMask, (d.dependencyFlags & VK_DEPENDENCY_BY_REGION_BIT) != 0};
}

// Vulkan 1.0 has no aspects with its references: all that the format has.
void setMissingAspects(std::vector<Subpass>& subpasses, const std::vector<PassAttachment>& attachments) {
  for (Subpass& s : subpasses) {
    for (AttachmentReference& r : s.inputs) {
      if (r.used() && r.aspects == 0)
        r.aspects = formats::formatAspects(formats::formatInfo(attachments[r.attachment].format));
    }
  }
}

}  // namespace

VkResult RenderPass::init(const VkRenderPassCreateInfo& info) {
  for (uint32_t i = 0; i < info.attachmentCount; ++i) attachments_.push_back(attachmentOf(info.pAttachments[i]));
  for (uint32_t i = 0; i < info.subpassCount; ++i) subpasses_.push_back(subpassOf(info.pSubpasses[i]));
  for (uint32_t i = 0; i < info.dependencyCount; ++i) dependencies_.push_back(dependencyOf(info.pDependencies[i]));
  if (const auto* aspects = findInChain<VkRenderPassInputAttachmentAspectCreateInfo>(info.pNext)) {
    for (uint32_t i = 0; i < aspects->aspectReferenceCount; ++i) {
      const VkInputAttachmentAspectReference& r = aspects->pAspectReferences[i];
      subpasses_[r.subpass].inputs[r.inputAttachmentIndex].aspects = r.aspectMask;
    }
  }
  if (const auto* multiview = findInChain<VkRenderPassMultiviewCreateInfo>(info.pNext)) {
    for (uint32_t i = 0; i < multiview->subpassCount; ++i) subpasses_[i].viewMask = multiview->pViewMasks[i];
  }
  finish();
  return VK_SUCCESS;
}

VkResult RenderPass::init(const VkRenderPassCreateInfo2& info) {
  for (uint32_t i = 0; i < info.attachmentCount; ++i) attachments_.push_back(attachmentOf(info.pAttachments[i]));
  for (uint32_t i = 0; i < info.subpassCount; ++i) {
    const VkSubpassDescription2& d = info.pSubpasses[i];
    Subpass s = subpassOf(d);
    s.viewMask = d.viewMask;
    if (const auto* resolve = findInChain<VkSubpassDescriptionDepthStencilResolve>(d.pNext);
        resolve != nullptr && resolve->pDepthStencilResolveAttachment != nullptr) {
      s.depthStencilResolve.attachment = resolve->pDepthStencilResolveAttachment->attachment;
      s.depthResolveMode = resolve->depthResolveMode;
      s.stencilResolveMode = resolve->stencilResolveMode;
    }
    subpasses_.push_back(std::move(s));
  }
  for (uint32_t i = 0; i < info.dependencyCount; ++i) {
    SubpassDependency d = dependencyOf(info.pDependencies[i]);
    // With it the stages of the structure itself are ignored (Vulkan 1.3, 8.1).
    if (const auto* barrier = findInChain<VkMemoryBarrier2>(info.pDependencies[i].pNext)) {
      d.sourceStages = barrier->srcStageMask;
      d.destinationStages = barrier->dstStageMask;
      d.destinationAccess = barrier->dstAccessMask;
    }
    dependencies_.push_back(d);
  }
  finish();
  return VK_SUCCESS;
}

void RenderPass::finish() {
  std::erase_if(dependencies_, [](const SubpassDependency& d) { return d.source == d.destination; });
  setMissingAspects(subpasses_, attachments_);
  assignTilePasses(subpasses_, dependencies_);
  assignLifetimes(attachments_, subpasses_);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateRenderPass(VkDevice device, const VkRenderPassCreateInfo* pCreateInfo,
                                                  const VkAllocationCallbacks* pAllocator, VkRenderPass* pRenderPass) {
  return RenderPass::create(pAllocator, pRenderPass, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2* pCreateInfo,
                                                   const VkAllocationCallbacks* pAllocator, VkRenderPass* pRenderPass) {
  return RenderPass::create(pAllocator, pRenderPass, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyRenderPass(VkDevice, VkRenderPass renderPass,
                                               const VkAllocationCallbacks* pAllocator) {
  RenderPass::destroy(renderPass, pAllocator);
}

// Tiles work on blocks of 4x4 texels in place; an area of whole blocks has no block that only a part of belongs to it.
VKAPI_ATTR void VKAPI_CALL vkGetRenderAreaGranularity(VkDevice, VkRenderPass, VkExtent2D* pGranularity) {
  *pGranularity = {4, 4};
}

}  // namespace pumice::icd

#include "tools/fft/vkfft_plan.h"

#include <fmt/format.h>

#include <stdexcept>

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>

// VkFFT fills glslang_resource_t by position, in the order it had before glslang 12 put further limits into its middle.
// While VkFFT's header is read the name means this stand-in, which takes the old list and hands out glslang's own
// defaults. (VkFFT generates compute shaders alone; none of the limits in question matters to them.)
namespace {
struct OldGlslangResource {
  int plainLimits[93];
  glslang_limits_t limits;
  const glslang_resource_t* operator&() const { return glslang_default_resource(); }
};
}  // namespace

#define VKFFT_BACKEND 0
#define glslang_resource_t OldGlslangResource
#include <vkFFT.h>
#undef glslang_resource_t

namespace pumice::fft {

struct Plan::State {
  State(bench::Host& planHost, const Shape& shape)
      : host(planHost),
        physicalDevice(planHost.physicalDevice()),
        device(planHost.device()),
        queue(planHost.queue()),
        commandPool(planHost.commandPool()),
        fence(planHost.fence()),
        data(planHost, shape.bytes()),
        buffer(data.handle()),
        bufferSize(shape.bytes()),
        commands(planHost) {}

  bench::Host& host;
  // VkFFT keeps pointers to all of these.
  VkPhysicalDevice physicalDevice;
  VkDevice device;
  VkQueue queue;
  VkCommandPool commandPool;
  VkFence fence;
  bench::Buffer data;
  VkBuffer buffer;
  uint64_t bufferSize;
  bench::Commands commands;
  VkFFTApplication application = {};
};

Plan::Plan(bench::Host& host, const Shape& shape) : state_(std::make_unique<State>(host, shape)) {
  VkFFTConfiguration configuration = {};
  configuration.FFTdim = shape.height > 1 ? 2 : 1;
  configuration.size[0] = shape.width;
  configuration.size[1] = shape.height;
  configuration.numberBatches = shape.batch;
  configuration.performR2C = shape.real;
  configuration.doublePrecision = shape.fp64;
  configuration.makeForwardPlanOnly = 1;
  // Tables, because Vulkan lets a driver's sin and cos be off by 2^-11.
  configuration.useLUT = 1;
  configuration.physicalDevice = &state_->physicalDevice;
  configuration.device = &state_->device;
  configuration.queue = &state_->queue;
  configuration.commandPool = &state_->commandPool;
  configuration.fence = &state_->fence;
  configuration.bufferSize = &state_->bufferSize;
  if (const VkFFTResult result = initializeVkFFT(&state_->application, configuration); result != VKFFT_SUCCESS) {
    throw std::runtime_error(fmt::format("VkFFT cannot make the plan: error {}", static_cast<int>(result)));
  }
  constexpr int kForward = -1;
  VkCommandBuffer commandBuffer = state_->commands.handle();
  VkFFTLaunchParams launch = {};
  launch.commandBuffer = &commandBuffer;
  // Given here and not in the configuration: otherwise VkFFT leaves the descriptors of Bluestein's algorithm unwritten.
  launch.buffer = &state_->buffer;
  if (const VkFFTResult result = VkFFTAppend(&state_->application, kForward, &launch); result != VKFFT_SUCCESS) {
    throw std::runtime_error(fmt::format("VkFFT cannot record the transform: error {}", static_cast<int>(result)));
  }
  state_->commands.finish();
}

Plan::~Plan() {
  deleteVkFFT(&state_->application);
}

const bench::Buffer& Plan::buffer() const {
  return state_->data;
}

void Plan::run() {
  state_->host.submitAndWait(state_->commands.handle());
}

}  // namespace pumice::fft

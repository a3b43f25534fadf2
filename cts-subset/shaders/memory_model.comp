#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { uint flag; uint rank; uint order[256]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint r = atomicAdd(rank, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
  atomicStore(order[r], i + 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
  atomicAdd(flag, 1u, gl_ScopeQueueFamily, 0, gl_SemanticsRelaxed);
}

#include "backend/gpu/engine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/gpu/copy.h"
#include "backend/gpu/image_blit.h"
#include "backend/gpu/image_copy.h"
#include "backend/gpu/machine.h"
#include "backend/gpu/queries.h"
#include "backend/gpu/queue.h"
#include "backend/gpu/watchdog.h"
#include "backend/kmd/fault.h"
#include "backend/sched/futex.h"
#include "backend/texture/texture.h"
#include "backend/trace/log.h"

namespace pumice::gpu {
namespace {

// One in so many short runs is timed.
constexpr uint32_t kSampleEvery = 16;

uint64_t readClock() {
  return sched::monotonicNow_ns();
}

// With Clang only this form of the attribute is part of the type, as RuntimeTable wants it.
__attribute__((noreturn)) void leave(void*) {
  kmd::leaveGuarded();
}

const char* describe(const Work& work) {
  switch (work.kind) {
    case WorkKind::kDispatch:
    case WorkKind::kDispatchIndirect:
      return "dispatch";
    case WorkKind::kCopy:
      return "copy";
    case WorkKind::kFill:
      return "fill";
    case WorkKind::kCopyQueries:
      return "copy of query results";
    case WorkKind::kCopyImage:
      return "copy of an image";
    case WorkKind::kClearImage:
      return "clear of an image";
    case WorkKind::kBlitImage:
      return "blit";
    case WorkKind::kResolveImage:
      return "resolve";
    case WorkKind::kPassGeometry:
    case WorkKind::kPassTiles:
      break;  // pass_engine.cpp
  }
  return "work";
}

const char* programName(const Work& work) {
  if (work.kind != WorkKind::kDispatch && work.kind != WorkKind::kDispatchIndirect) return "none";
  const char* name = dispatchState(work).program->debugName;
  return name ? name : "unnamed";
}

uint64_t programHash(const Work& work) {
  if (work.kind != WorkKind::kDispatch && work.kind != WorkKind::kDispatchIndirect) return 0;
  return dispatchState(work).program->codeHash;
}

void reportFaultOf(Machine& machine, const Queue& queue, const Work& work, uint64_t begin, uint64_t end,
                   const kmd::FaultRecord& fault) {
  char units[96];
  std::snprintf(units, sizeof units, "%s units %lu to %lu", describe(work), begin, end - 1);
  reportFault(machine, queue, {programName(work), programHash(work), units}, fault);
}

struct Call {
  abi::ComputeEntry entry;
  abi::ComputeEnv* env;
  const Work* work;
  uint64_t begin, end;
};

void callShader(void* context) {
  auto& call = *static_cast<Call*>(context);
  call.entry(call.env, call.begin, call.end);
}

void callCopyEngine(void* context) {
  auto& call = *static_cast<Call*>(context);
  const Work& work = *call.work;
  const uint64_t first_B = call.begin * kCopyBlockBytes;
  const auto size_B = [&] { return std::min(call.end * kCopyBlockBytes, work.bytes.size_B) - first_B; };
  switch (work.kind) {
    case WorkKind::kCopy:
      copyBytes(work.bytes.dst + first_B, work.bytes.src + first_B, size_B(), work.nonTemporal);
      break;
    case WorkKind::kFill:
      fillBytes(work.bytes.dst + first_B, size_B(), static_cast<uint32_t>(work.bytes.src), work.nonTemporal);
      break;
    case WorkKind::kCopyImage:
      copyImage(*work.copyImage, call.begin, call.end, work.nonTemporal);
      break;
    case WorkKind::kClearImage:
      clearImage(*work.clearImage, call.begin, call.end);
      break;
    case WorkKind::kBlitImage:
      blitImage(*work.blitImage, call.begin, call.end);
      break;
    case WorkKind::kResolveImage:
      resolveImage(*work.resolveImage, call.begin, call.end);
      break;
    case WorkKind::kCopyQueries:
      copyQueries(*work.queries);
      break;
    default:
      break;
  }
}

// Fills what changes from span to span. False when the worker has no memory for the shader. After the entry is read:
// the frame may have grown with it.
bool prepareEnv(Machine& machine, sched::Worker& worker, const Work& work, abi::ComputeEnv& env) {
  const DispatchState state = dispatchState(work);
  const uint32_t frame_B = __atomic_load_n(&state.program->frameBytes, __ATOMIC_RELAXED);
  if (!worker.arena().reserve(state.program->sharedBytes, frame_B)) return false;
  env.runtime = &kRuntimeTable;
  env.bindings = state.bindings;
  env.pushConstants = state.pushConstants;
  env.cancelWord = reinterpret_cast<const uint32_t*>(&machine.cancelWord);
  env.shared = worker.arena().shared();
  env.frame = worker.arena().frame();
  env.sink = worker.arena().sink();
  for (int i = 0; i < 3; ++i) {
    env.groupCount[i] = work.groupCount[i];
    env.groupBase[i] = state.groupBase[i];
  }
  env.workerIndex = worker.index();
  return true;
}

}  // namespace

// Only the first fault is told: others are its consequences.
void reportFault(Machine& machine, const Queue& queue, const FaultSubject& subject, const kmd::FaultRecord& fault) {
  if (machine.isLost()) return;
  PUMICE_ERROR("gpu", "device lost: queue %u, program '%s' (%016lx), %s: %s of address %s%lx (code %lx)",
               queue.number(), subject.program, subject.hash, subject.work, fault.write ? "write" : "read",
               fault.addressKnown ? "0x" : "(unknown) ", fault.address, fault.instruction);
  machine.lose(nullptr);
}

const abi::RuntimeTable kRuntimeTable = {abi::kShaderAbiVersion, leave, readClock, texture::accessImage, {}};

void executeUnits(Machine& machine, sched::Worker& worker, const Queue& queue, const Work& work, uint64_t begin,
                  uint64_t end, Timing timing) {
  ShaderContext& context = machine.contexts[worker.index()];
  Call call{nullptr, &context.env, &work, begin, end};
  kmd::FaultRecord fault;
  kmd::GuardedExit exit;
  if (machine.watchdog) machine.watchdog->enter(worker, &queue);
  if (work.kind == WorkKind::kDispatch) {
    const abi::ComputeProgram& program = programOf(work);
    // Once the compiler has been told, nothing is counted any more.
    abi::Heat* heat = program.heat && !program.heat->told.load(std::memory_order_relaxed) ? program.heat : nullptr;
    // Replaced by the tiered compiler while dispatches run.
    call.entry = __atomic_load_n(&program.entry, __ATOMIC_ACQUIRE);
    if (!prepareEnv(machine, worker, work, context.env)) {
      if (machine.watchdog) machine.watchdog->leave(worker);
      machine.lose("no memory for a worker's shared memory and frame");
      return;
    }
    const uint64_t groups = end - begin;
    uint64_t ran_ns = 0;
    if (timing == Timing::kMeasure || ++context.untimedRuns >= kSampleEvery) {
      context.untimedRuns = 0;
      const uint64_t start_ns = sched::monotonicNow_ns();
      exit = kmd::runGuarded(callShader, &call, &fault);
      ran_ns = sched::monotonicNow_ns() - start_ns;
      if (exit == kmd::GuardedExit::kReturned) refineCost(program, groups, ran_ns);
    } else {
      exit = kmd::runGuarded(callShader, &call, &fault);
      if (heat) ran_ns = estimate_ns(work, groups);
    }
    if (heat && exit == kmd::GuardedExit::kReturned) abi::addHeat(*heat, ran_ns);
  } else {
    exit = kmd::runGuarded(callCopyEngine, &call, &fault);
  }
  if (machine.watchdog) machine.watchdog->leave(worker);
  // kLeft: the shader saw the cancel word; the device is lost already.
  if (exit == kmd::GuardedExit::kFault) [[unlikely]]
    reportFaultOf(machine, queue, work, begin, end, fault);
}

Work resolveIndirect(Machine& machine, sched::Worker&, const Queue& queue, const Work& work) {
  struct Arguments {
    uint64_t address;
    uint32_t groups[3];
  } arguments{};
  kmd::FaultRecord fault;
  const auto read = [](void* context) {
    auto& to = *static_cast<Arguments*>(context);
    std::memcpy(to.groups, reinterpret_cast<const void*>(to.address), sizeof(to.groups));
  };
  Work resolved = work;
  resolved.kind = WorkKind::kDispatch;
  resolved.fromIndirect = true;
  resolved.unitCount = 0;
  if (machine.isLost()) return resolved;  // the packet may be gone
  arguments.address = work.indirect->argsAddress;
  if (kmd::runGuarded(read, &arguments, &fault) != kmd::GuardedExit::kReturned) {
    reportFaultOf(machine, queue, work, 0, 1, fault);
    return resolved;
  }
  for (int i = 0; i < 3; ++i) resolved.groupCount[i] = arguments.groups[i];
  resolved.unitCount = uint64_t{arguments.groups[0]} * arguments.groups[1] * arguments.groups[2];
  if (resolved.invocations) __atomic_fetch_add(resolved.invocations, invocationsOf(resolved), __ATOMIC_RELAXED);
  return resolved;
}

}  // namespace pumice::gpu

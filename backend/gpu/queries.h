// Query slots: what timestamps write and query copies read. The host reads them, too (vkGetQueryPoolResults), so that
// `available` is written last, with release order.
#pragma once

#include <cstdint>

#include "backend/abi/packets.h"

namespace pumice::gpu {

void writeTimestamp(abi::QuerySlot* slot);
void resetQueries(abi::QuerySlot* slots, uint32_t count);

// vkCmdCopyQueryPoolResults (Vulkan 1.3, 18.2). Everything that it could wait for has happened when it runs: a query
// that is not available now was not written by this queue, and is treated as without VK_QUERY_RESULT_WAIT_BIT.
void copyQueries(const abi::CopyQueriesPacket& packet);

}  // namespace pumice::gpu

#include "icd/objects/workarounds.h"

#include <cstdlib>
#include <cstring>

namespace pumice::icd {

Workarounds workaroundsFor(const VkApplicationInfo* application) {
  Workarounds w;
  const char* engine = application != nullptr ? application->pEngineName : nullptr;
  w.orderDispatches = engine != nullptr && std::strcmp(engine, "libavutil") == 0;
  if (const char* text = std::getenv("PUMICE_ORDER_DISPATCHES")) w.orderDispatches = std::strcmp(text, "0") != 0;
  return w;
}

}  // namespace pumice::icd

#include "costmodel/learned/xgboost_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// XGBoost 1, as Debian's package libxgboost0 has it.
constexpr const char* kName = "libxgboost.so.0";

template <typename Function>
void Find(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  if (function == nullptr) {
    throw InputError(
        fmt::format("xgboost: {} has no {}, want XGBoost 1 (Debian's package "
                    "libxgboost0)",
                    kName, symbol));
  }
}

XgboostLibrary Load() {
  void* const handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    throw InputError(fmt::format("xgboost: got no library, want Debian's package libxgboost0: {}",
                                 reason == nullptr ? kName : reason));
  }
  XgboostLibrary library;
  Find(handle, "XGBGetLastError", library.BGetLastError);
  Find(handle, "XGDMatrixCreateFromMat", library.DMatrixCreateFromMat);
  Find(handle, "XGDMatrixSetFloatInfo", library.DMatrixSetFloatInfo);
  Find(handle, "XGDMatrixFree", library.DMatrixFree);
  Find(handle, "XGBoosterCreate", library.BoosterCreate);
  Find(handle, "XGBoosterSetParam", library.BoosterSetParam);
  Find(handle, "XGBoosterPredict", library.BoosterPredict);
  Find(handle, "XGBoosterBoostOneIter", library.BoosterBoostOneIter);
  Find(handle, "XGBoosterUpdateOneIter", library.BoosterUpdateOneIter);
  Find(handle, "XGBoosterSaveModelToBuffer", library.BoosterSaveModelToBuffer);
  Find(handle, "XGBoosterFree", library.BoosterFree);
  return library;
}

}  // namespace

const XgboostLibrary& Xgboost() {
  static const XgboostLibrary library = Load();
  return library;
}

}  // namespace stagecraft

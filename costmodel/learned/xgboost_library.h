// XgboostLibrary: the functions of XGBoost's C API. The program is not linked with the library,
// which takes two milliseconds to load and is only needed to train trees.
#pragma once

#include <xgboost/c_api.h>

namespace stagecraft {

#define STAGECRAFT_XGBOOST_FUNCTION(name) decltype(&::XG##name) name

struct XgboostLibrary {
  STAGECRAFT_XGBOOST_FUNCTION(BGetLastError);
  STAGECRAFT_XGBOOST_FUNCTION(DMatrixCreateFromMat);
  STAGECRAFT_XGBOOST_FUNCTION(DMatrixSetFloatInfo);
  STAGECRAFT_XGBOOST_FUNCTION(DMatrixFree);
  STAGECRAFT_XGBOOST_FUNCTION(BoosterCreate);
  STAGECRAFT_XGBOOST_FUNCTION(BoosterSetParam);
  STAGECRAFT_XGBOOST_FUNCTION(BoosterPredict);
  STAGECRAFT_XGBOOST_FUNCTION(BoosterBoostOneIter);
  STAGECRAFT_XGBOOST_FUNCTION(BoosterUpdateOneIter);
  STAGECRAFT_XGBOOST_FUNCTION(BoosterSaveModelToBuffer);
  STAGECRAFT_XGBOOST_FUNCTION(BoosterFree);
};

#undef STAGECRAFT_XGBOOST_FUNCTION

// Returns the library, which is loaded at the first call and stays. May be called from any thread.
// Throws an InputError if it is not installed.
const XgboostLibrary& Xgboost();

}  // namespace stagecraft

#include "tools/study/study_cache.h"

#include "costmodel/memo_model.h"

namespace stagecraft {

std::shared_ptr<const StudyModel> StudyCache::Model(const CostModelFlag& flag) {
  std::string key = flag.name();
  for (const std::string& file : flag.files()) key += '\n' + file;
  return models_.Get(key, [&flag] {
    auto made = std::make_shared<StudyModel>();
    made->model = flag.Load();
    made->memo = std::make_unique<MemoModel>(*made->model);
    return made;
  });
}

}  // namespace stagecraft

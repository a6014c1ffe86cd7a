// speaker.cpp - the speaker classifier from C++: prints a segment's speaker and its largest logit a line.
// Usage: speaker WEIGHTS SEGMENTS; segments are floats [32][128][40].
#include <speaker.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Free {
  void operator()(speaker_model *model) const { speaker_close(model); }
  void operator()(speaker_ctx *context) const { speaker_destroy(context); }
};

class Speaker {
public:
  explicit Speaker(const char *weights) {
    std::string message(1024, '\0');
    speaker_model *model = nullptr;
    if (speaker_open(weights, &model, &message[0], message.size())) throw std::runtime_error(message.c_str());
    model_.reset(model);
    speaker_ctx *context = nullptr;
    check(speaker_create(model, &context));
    context_.reset(context);
  }

  void forward(const speaker_forward_in &in, speaker_forward_out out) {
    check(speaker_forward(context_.get(), &in, &out));
  }

private:
  static void check(int status) {
    if (status) throw std::runtime_error(speaker_strerror(status));
  }

  std::unique_ptr<speaker_model, Free> model_; // outlives the context
  std::unique_ptr<speaker_ctx, Free> context_;
};

std::vector<float> floats_of(const char *path, std::size_t count) {
  std::vector<float> values(count);
  const auto bytes = static_cast<std::streamsize>(count * sizeof(float));
  if (!std::ifstream(path, std::ios::binary).read(reinterpret_cast<char *>(values.data()), bytes))
    throw std::runtime_error(std::string(path) + ": has fewer floats than expected");
  return values;
}

} // namespace

int main(int count, char **words) try {
  if (count != 3) return 2;
  Speaker model(words[1]);
  const std::vector<float> features = floats_of(words[2], SPEAKER_IN_FEATURES);
  std::vector<float> logits(SPEAKER_OUT_LOGITS);
  std::vector<std::int32_t> speakers(SPEAKER_OUT_SPEAKER);
  model.forward({features.data()}, {logits.data(), speakers.data()});
  const std::ptrdiff_t width = SPEAKER_OUT_LOGITS / SPEAKER_BATCH;
  for (std::ptrdiff_t i = 0; i < SPEAKER_BATCH; i++) {
    const auto row = logits.begin() + i * width;
    std::printf("%d %.6f\n", static_cast<int>(speakers[i]),
                static_cast<double>(*std::max_element(row, row + width)));
  }
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

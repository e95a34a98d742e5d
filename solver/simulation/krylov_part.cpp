#include "solver/simulation/krylov_part.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "comm_thread/engine/recursive_doubling.h"

namespace weft::solver {
namespace {

using comm_thread::ExactAccumulator;

/// y = x + b·y.
void add_scaled_self(std::span<const double> x, double b, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + b * y[i];
}

/// y = y + a·x.
void add_scaled(double a, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
}

}  // namespace

KrylovPart::KrylovPart(comm_thread::SimulatedNetwork& network, const PartShape& shape, int rank,
                       SimulatedKrylov method)
    : shape_(shape),
      method_(method),
      clock_(network, rank),
      space_(network, rank),
      comm_thread_({.is_polled = true, .clock = &clock_}),
      faces_(shape.faces_with_neighbour(rank)),
      halo_(faces_.size() * shape.face_size()),
      ghosted_(shape.layout().element_count()),
      residual_square_(std::numeric_limits<double>::infinity()) {
  halo_exchange_ = std::make_unique<comm_thread::HaloExchange<double>>(
      space_, shape.halo_neighbours(rank), std::span(halo_), halo_tag);
  const std::size_t own = shape.own_count();
  product_.resize(own);
  x_.resize(own);
  r_.assign(own, 1);  // the right-hand side
  p_ = r_;
  if (method_ == SimulatedKrylov::spmv) return;
  build_sums();
  if (is_textbook()) return;
  std::ranges::fill(p_, 0);
  s_.resize(own);
  if (method_ == SimulatedKrylov::cg_pipelined) z_.resize(own);
}

void KrylovPart::build_sums() {
  words_.resize((is_textbook() ? 1 : 2) * ExactAccumulator::word_count);
  received_words_.resize(words_.size());
  comm_thread::Schedule::Builder builder(space_, "all-reduce");
  comm_thread::add_recursive_doubling(builder, space_, std::as_writable_bytes(std::span(words_)),
                                      std::as_writable_bytes(std::span(received_words_)), [this] {
                                        for (std::size_t i = 0; i < words_.size(); ++i)
                                          words_[i] += received_words_[i];
                                      });
  sums_ = builder.build();
}

void KrylovPart::post_halo() {
  const bool multiplies_direction = is_textbook() || method_ == SimulatedKrylov::spmv;
  const std::vector<double>& multiplied = multiplies_direction ? p_ : w_.empty() ? r_ : w_;
  shape_.put_own(multiplied, ghosted_);
  const std::size_t count = shape_.face_size();
  for (std::size_t i = 0; i < faces_.size(); ++i)
    shape_.pack(ghosted_, faces_[i], halo_exchange_->send_buffer().subspan(i * count, count));
  if (halo_exchange_->has_neighbours()) halo_pending_ = halo_exchange_->post(comm_thread_);
  poll();
}

void KrylovPart::multiply() {
  const std::size_t count = shape_.face_size();
  for (std::size_t i = 0; i < faces_.size(); ++i)
    shape_.unpack(ghosted_, faces_[i], std::span<const double>(halo_).subspan(i * count, count));
  shape_.multiply_laplacian(ghosted_, product_);
  has_product_ = true;
  const bool is_first_of_pipeline = method_ == SimulatedKrylov::cg_pipelined && w_.empty();
  if (is_first_of_pipeline) w_ = product_;
}

void KrylovPart::add_product(std::size_t which, std::span<const double> a,
                             std::span<const double> b) {
  ExactAccumulator added;
  for (std::size_t i = 0; i < a.size(); ++i) added.add(a[i] * b[i]);
  added.normalise();
  std::ranges::copy(added.words(), words_.begin() + static_cast<std::ptrdiff_t>(
                                                        which * ExactAccumulator::word_count));
}

double KrylovPart::sum(std::size_t which) const {
  ExactAccumulator total;
  total.add_words(std::span(words_)
                      .subspan(which * ExactAccumulator::word_count)
                      .first<ExactAccumulator::word_count>());
  return total.rounded();
}

void KrylovPart::post_sums() {
  if (is_textbook() && has_product_) {
    add_product(0, p_, product_);
  } else {
    add_product(0, r_, r_);
    if (!is_textbook()) add_product(1, w_.empty() ? product_ : w_, r_);
  }
  if (!sums_->is_empty()) sums_pending_ = comm_thread_.post(*sums_);
  poll();
}

void KrylovPart::update() {
  if (is_textbook()) {
    alpha_ = residual_square_ / sum(0);
    add_scaled(alpha_, p_, x_);
    add_scaled(-alpha_, product_, r_);
    has_product_ = false;
    return;
  }
  const double gamma = sum(0);
  const double beta = is_first_update_ ? 0 : gamma / residual_square_;
  const double curvature = is_first_update_ ? sum(1) : sum(1) - beta * gamma / alpha_;
  is_first_update_ = false;
  alpha_ = gamma / curvature;
  residual_square_ = gamma;
  if (!w_.empty()) add_scaled_self(product_, beta, z_);
  add_scaled_self(w_.empty() ? product_ : w_, beta, s_);
  add_scaled_self(r_, beta, p_);
  add_scaled(alpha_, p_, x_);
  add_scaled(-alpha_, s_, r_);
  if (!w_.empty()) add_scaled(-alpha_, z_, w_);
}

void KrylovPart::turn() {
  const double old = std::exchange(residual_square_, sum(0));
  if (!is_first_update_) add_scaled_self(r_, residual_square_ / old, p_);
  is_first_update_ = false;
}

}  // namespace weft::solver

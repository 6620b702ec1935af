// SPDX-License-Identifier: BSL-1.0
// The table of names of this locality.
#pragma once

namespace hpx::detail {

/// At the end of the job.
void forget_names() noexcept;

}  // namespace hpx::detail

// SPDX-License-Identifier: BSL-1.0
// Messages of every kind between two ranks, for traces: each must have a sending and a receipt.
#pragma once

/// By tasks, and by the calling thread. Requires: two ranks, and no task of the program's runs.
void pass_messages_of_all_kinds(int rank);

// SPDX-License-Identifier: BSL-1.0
// The parts of the program of main.cpp. Each checks its answers by HPX_TEST.
#pragma once

void check_fibonacci();
void check_stencil();
void check_collectives();
void check_names();
void check_control_objects();
void check_serialization();
void check_wrong_uses();

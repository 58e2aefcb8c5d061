#pragma once
#include <stringprep.h>
#include <idna.h>

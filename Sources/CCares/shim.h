#pragma once
#include <ares.h>
#include <sys/select.h>

#pragma once
/// How often the process has asked for memory so far, the libraries that it is linked with included.
long kalij_allocation_count(void);

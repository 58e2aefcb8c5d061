#pragma once
/// How often the process has allocated memory so far, with all linked libraries.
long kalij_allocation_count(void);

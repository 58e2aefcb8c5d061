# The flags of all builds but those that users get; included by the Makefile and by Tests/Simulation/Makefile, which share compiled modules.

# Nobody reads variables in a debugger; stacks keep their lines. (The index of the symbols is needed: SwiftPM looks there for tests of XCTest.)
# The compiler's check of its own work takes a fifth of the build's time, and is for who works on the compiler.
UNVERIFIED := -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify -Xswiftc -Xfrontend -Xswiftc -sil-verify-none
STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error -Xswiftc -gline-tables-only $(UNVERIFIED)

import Glibc
import KalijDesktop

exit(MainActor.assumeIsolated { runBackground(CommandLine.arguments) })

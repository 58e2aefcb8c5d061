import Glibc
import KalijGTK

exit(MainActor.assumeIsolated { runApp(CommandLine.arguments) })

import Glibc
import Simulation

exit(Command.run(Array(CommandLine.arguments.dropFirst())))

import Glibc
import KalijAddress
import KalijClient

// barrier DIRECTORY EVERY: drives the account of a directory, and accepts a message of the account's user with each
// EVERY received messages. Runs until killed.

func fail(_ reason: String) -> Never {
    let line = "barrier: \(reason)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
    exit(2)
}

guard CommandLine.arguments.count == 3, let every = Int(CommandLine.arguments[2]), every > 0 else {
    fail("usage: barrier DIRECTORY EVERY")
}

var engine: Engine?
var received = 0
let recipient = try JID("romeo@localhost")
engine = try Engine(AccountDirectory(CommandLine.arguments[1])) { event in
    guard let message = (event.content as? MessageStored)?.message, message.direction == .incoming else { return }
    received += 1
    guard received % every == 0 else { return }
    do {
        _ = try engine?.accept("A message of the user's own, number \(received / every).", to: recipient)
    } catch {
        fail("not accepted: \(error)")
    }
}
try engine?.run()

import Foundation

// push all COMMAND FOLDER                 everything that is promised but the soak, with a table at the end
// push nodes COMMAND FOLDER               with Redis and without, by turns; then a million records for a new node
// push web COMMAND FOLDER                 push services of strangers: their rate beside Apple's, memory, and bad services
// push soak COMMAND FOLDER MINUTES RATE   so many minutes with so many publishes a second and all that can go wrong
//
// COMMAND is kalij-push. FOLDER holds certificate.pem and key.pem for localhost, ec.p8 and its public key ec.pub.

func measureAll(_ command: String, _ folder: String) throws -> Bool {
    // First, while the allocator has no freed memory to use again.
    let tables = try memory()
    var figures = try decisions()
    figures.append(try provider(certificate: folder + "/certificate.pem", key: folder + "/key.pem"))
    figures += try EndToEnd(command, folder).measure()
    figures.append(tables)
    print("\n" + Figure.table(figures))
    return figures.allSatisfy(\.isKept)
}

func soak(_ arguments: [String]) throws -> Bool {
    guard let minutes = Double(arguments[2]), let rate = Int(arguments[3]) else { return false }
    do {
        try Soak(arguments[0], arguments[1], minutes: minutes, rate: rate).run()
        print("The soak is passed.")
        return true
    } catch let failure as Soak.Failure {
        print("The soak has failed: \(failure)")
        return false
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("all", 3): exit(try measureAll(arguments[1], arguments[2]) ? 0 : 1)
case ("nodes", 3):
    let figures = try Nodes(arguments[1], arguments[2]).measure()
    print("\n" + Figure.table(figures))
    exit(figures.allSatisfy(\.isKept) ? 0 : 1)
case ("web", 3):
    let figures = try WebPush(arguments[1], arguments[2]).measure()
    print("\n" + Figure.table(figures))
    exit(figures.allSatisfy(\.isKept) ? 0 : 1)
case ("soak", 5): exit(try soak(Array(arguments.dropFirst())) ? 0 : 1)
default:
    print(
        "usage: push all COMMAND FOLDER | push nodes COMMAND FOLDER | push web COMMAND FOLDER | push soak COMMAND FOLDER MINUTES RATE"
    )
    exit(64)
}

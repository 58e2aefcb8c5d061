import KalijHandlers
import KalijStore
import KalijXML

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Callbacks that write each call into a table of the application's.
enum Calls: Feature {
    static let name = "org.example.simulated"
    static let handlerPrefix = "simulated"
    static var handlers: [any Handler<Step>.Type] { [Asked.self, Rung.self] }

    static let schema = "CREATE TABLE simulated_call(number INTEGER NOT NULL, outcome TEXT NOT NULL)"

    static func write(_ number: Int, _ outcome: String, in step: Step) throws {
        try step.database.run(
            "INSERT INTO simulated_call VALUES (?, ?)", [.integer(Int64(number)), .text(outcome)])
    }
}

/// Waits for the answer to a request.
struct Asked: InvalidatableHandler {
    static let name = "simulated.asked"
    let number: Int

    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result: try Calls.write(number, "result", in: step)
        case .error: try Calls.write(number, "error", in: step)
        case .timeout: try Calls.write(number, "timeout", in: step)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try Calls.write(number, "invalidated", in: step)
    }
}

/// Waits for a time.
struct Rung: InvalidatableHandler {
    static let name = "simulated.rung"
    let number: Int

    func call(_: Void, in step: Step) throws { try Calls.write(number, "rung", in: step) }
    func invalidate(_ reason: Invalidation, in step: Step) throws { try Calls.write(number, "invalidated", in: step) }
}

import KalijAddress
import KalijClient
import KalijXML

enum PingCommand: Command {
    static let name = "ping"
    static let usage = "JID [--count N] [--wait SECONDS] [--account JID]"
    static let summary = "ask for a sign of life, and measure the time"
    static let details = """
        Sends a ping (XEP-0199) to JID and prints the time until the answer, in milliseconds from sending. JID is a server, a
        service, or a client's full address; for a user's bare address the user's server answers. With --count, a second
        passes between an answer and the next ping, and a summary follows at the end.

        As with `kalij iq`, the driving process (`kalij run`) sends the ping; without one, this process does. If this process
        is killed, the next driving process stores the answer, and `kalij pending --results` lists it. Exit status 0 if each
        ping was answered, 1 if a ping was refused (by an entity that does not know pings, or because nobody is there), 75 if
        an answer is missing after SECONDS.

        With --json there is a line for each ping as in `kalij iq --json`; the time is `round_trip_ms`.

        examples:
          kalij ping example.org
          kalij ping romeo@example.net/orchard --count 3
        """
    static let options: [Arguments.Option] = [
        .value("--count", "N", "send N pings (default 1)"),
        .value("--wait", "SECONDS", "wait so long for an answer (default 30)"),
        .value("--account", "JID", "ask from this account, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let recipient = try JID(arguments.operands[0])
        let count = try arguments.integer("--count", in: 1...10_000) ?? 1
        let seconds = try arguments.integer("--wait", in: 1...86_400) ?? 30
        let account = try arguments.value("--account").map { try JID($0) }
        let rounds = (0..<count).map { _ in [Element.ping(recipient)] }
        var told: [AdHocRequests.Question] = []
        try RequestRunner(rounds, of: account, within: seconds, pause: 1, shared) { question in
            told.append(question)
            show(question, shared)
        }.run()
        if count > 1, !shared.json { Output.line("\(summary(of: told))") }
        return .of(told.map { ExitStatus(of: $0) })
    }

    private static func show(_ question: AdHocRequests.Question, _ shared: SharedOptions) {
        if shared.json {
            do { Output.line(try JSONLine.of(QuestionRecord(question))) } catch { Output.error("\(error)") }
        } else if question.outcome == "result" {
            Output.line("answer from \(question.recipient)\(question.roundTrip.map { ": \(milliseconds($0))" } ?? "")")
        } else {
            Output.error("no answer from \(question.recipient): \(ErrorWords.of(question))")
        }
    }

    /// The clock of a step has a resolution of one millisecond.
    private static func milliseconds(_ number: Int64) -> String { number < 1 ? "under 1 ms" : "\(number) ms" }

    private static func summary(of questions: [AdHocRequests.Question]) -> String {
        let times = questions.filter { $0.outcome == "result" }.compactMap(\.roundTrip)
        var text = "\(questions.count) asked, \(times.count) answered"
        if let least = times.min(), let most = times.max() {
            let mean = Double(times.reduce(0, &+)) / Double(times.count)
            text += "; least \(least), mean \(Int64(mean.rounded())), most \(most) ms"  // fits: a mean of what fits
        }
        return text
    }
}

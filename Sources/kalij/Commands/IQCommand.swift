import KalijAddress
import KalijClient
import KalijText
import KalijXML

enum IQCommand: Command {
    static let name = "iq"
    static let usage = "TO XML [--set] [--wait SECONDS] [--account JID]"
    static let summary = "ask another entity and print the answer"
    static let details = """
        Sends an <iq/> to TO and prints what comes back. XML is the payload, or a whole <iq/> with it; `kalij iq TO -` reads
        it from standard input. Once the request is accepted its answer is not lost, whatever happens to any process: if
        this one is killed or gives up, whoever drives next stores the answer, and `kalij pending --results` lists it.

        The request is sent by the process that drives (`kalij run`) or, if none does, by this one. Exit status 0 if a result
        came, 1 if an error, 75 if there is no answer after SECONDS: then the request has timed out, or nobody can
        tell yet.

        With --json the line is the question: {"id":1,"account":"...","to":"...","asked_at":"...","answered_at":"...",
        "outcome":"result","answer":"<iq ...","round_trip_ms":3}; `outcome` is result, error, timeout or invalidated, with a
        `reason`; the round trip is that from when the request last left.

        example:
          kalij iq example.org "<query xmlns='jabber:iq:version'/>"
        """
    static let options: [Arguments.Option] = [
        .flag("--set", "ask for a change (type set); without it, for information (type get)"),
        .value("--wait", "SECONDS", "how long the answer may take (default 30)"),
        .value("--account", "JID", "which account asks, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(2...2)
        let seconds = try arguments.integer("--wait", in: 1...86_400) ?? 30
        let request = try request(
            to: try JID(arguments.words[0]), arguments.words[1], type: arguments.has("--set") ? .set : .get)
        let account = try arguments.value("--account").map { try JID($0) }
        var status = ExitStatus.tryAgain
        try Asking([[request]], of: account, within: seconds, shared) { status = show($0, shared) }.run()
        return status
    }

    private static func request(to recipient: JID, _ word: String, type: RequestType) throws -> Element {
        let text = word == "-" ? String(decoding: try Files.contents(nil, limit: 1 << 20), as: UTF8.self) : word
        let element = try Element.parse(text)
        guard element.name == "iq", element.namespace ?? "jabber:client" == "jabber:client" else {
            return .request(type, element, to: recipient)
        }
        guard let payload = element.children.first, element.children.count == 1 else {
            throw RequestError.payload(element.children.count)
        }
        return .request(element["type"].flatMap(RequestType.init(rawValue:)) ?? type, payload.copy(), to: recipient)
    }

    static func show(_ question: Questions.Question, _ shared: SharedOptions) -> ExitStatus {
        if shared.json {
            do { Output.line(try JSONLine.of(QuestionRecord(question))) } catch { Output.error("\(error)") }
        } else if let answer = question.answer {
            Output.line(PrintedText(xml: answer))
        } else {
            Output.error("no answer from \(question.recipient): \(question.reason ?? "it still waits")")
        }
        return ExitStatus(of: question)
    }
}

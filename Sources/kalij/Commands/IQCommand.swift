import KalijAddress
import KalijClient
import KalijText
import KalijXML

enum IQCommand: Command {
    static let name = "iq"
    static let usage = "TO XML [--set] [--wait SECONDS] [--account JID]"
    static let summary = "ask another entity and print the answer"
    static let details = """
        Sends an <iq/> to TO and prints the answer. XML is the payload, or a whole <iq/> around the payload; `kalij iq TO -`
        reads XML from standard input. The answer to an accepted request is not lost, whatever happens to any process: if this
        process is killed or gives up, the next driving process stores the answer, and `kalij pending --results` lists it.

        The driving process (`kalij run`) sends the request; without one, this process does. Exit status 0 for a result, 1 for
        an error, 75 if there is no answer after SECONDS: then the request has timed out, or the outcome is unknown yet.

        With --json the line is the question:
          {"id":1,"account":"...","to":"...","asked_at":"...","answered_at":"...","outcome":"result",
           "answer":"<iq ...","round_trip_ms":3}
        `outcome` is result, error, timeout or invalidated, with a
        `reason`; the round trip begins when the request was last sent.

        example:
          kalij iq example.org "<query xmlns='jabber:iq:version'/>"
        """
    static let options: [Arguments.Option] = [
        .flag("--set", "ask for a change (type set); without it, for information (type get)"),
        .value("--wait", "SECONDS", "wait so long for the answer (default 30)"),
        .value("--account", "JID", "ask from this account, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(2...2)
        let seconds = try arguments.integer("--wait", in: 1...86_400) ?? 30
        let request = try request(
            to: try JID(arguments.operands[0]), arguments.operands[1], type: arguments.has("--set") ? .set : .get)
        let account = try arguments.value("--account").map { try JID($0) }
        // The response is also listed by `kalij pending --results`.
        if arguments.has("--set") { Output.accepted() }
        var status = ExitStatus.temporaryFailure
        try RequestRunner([[request]], of: account, within: seconds, shared) { status = show($0, shared) }.run()
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

    static func show(_ question: AdHocRequests.Question, _ shared: SharedOptions) -> ExitStatus {
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

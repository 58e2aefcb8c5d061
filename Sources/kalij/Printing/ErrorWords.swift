import KalijClient
import KalijStream
import KalijXML

/// Describes for people why a request has no result.
enum ErrorWords {
    static func of(_ question: AdHocRequests.Question) -> String {
        guard question.outcome == "error" else { return question.reason ?? "it still waits" }
        guard let error = question.answer.flatMap(error) else { return question.reason ?? "an error" }
        let words = of(error.condition)
        return (words.map { "\($0) (\(error.condition.rawValue))" } ?? error.condition.rawValue)
            + (error.text.map { ": \($0)" } ?? "")
    }

    /// The error of a response, which is stored in the default namespace of the stream.
    private static func error(_ answer: String) -> StanzaError? {
        let stream = try? Element.parse("<stream xmlns='jabber:client'>\(answer)</stream>")
        return stream?.children.first.flatMap { StanzaError($0) }
    }

    private static func of(_ condition: StanzaError.Condition) -> String? {
        switch condition {
        case .badRequest, .notAcceptable, .unexpectedRequest: "it does not understand the question"
        case .featureNotImplemented: "it does not know such questions"
        case .forbidden, .notAllowed, .notAuthorized, .policyViolation: "it does not allow the question"
        case .gone, .redirect: "it has moved"
        case .internalServerError: "its server has failed"
        case .itemNotFound: "there is no such address or node"
        case .jidMalformed: "the address is none"
        case .recipientUnavailable: "it is not there at present"
        case .registrationRequired, .subscriptionRequired: "it answers its members or contacts only"
        case .remoteServerNotFound: "there is no such server"
        case .remoteServerTimeout: "its server does not answer"
        case .resourceConstraint: "it is busy; try again later"
        case .serviceUnavailable: "nobody is there, or it does not know such questions"
        case .conflict, .undefinedCondition: nil
        }
    }
}

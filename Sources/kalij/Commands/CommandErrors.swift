import KalijAddress
import KalijClient
import KalijFiles

import FoundationEssentials

/// Describes the fault of a command of `run --json`, with the keys of the command.
enum CommandErrors {
    static func text(_ error: any Error) -> String {
        switch error {
        case let error as DecodingError: "no command: \(text(error))"
        case AcceptError.badID: "`origin_id`: \(error)"
        case AcceptError.unanswerable: "`reply`: \(error)"
        case is AcceptError: "`body`: \(error)"
        case DirectoryError.whichAccount(let known, nil):
            "several accounts are stored (\(known.joined(separator: ", "))); `account` says which"
        case DirectoryError.whichAccount: "`account`: \(error)"
        case let error as FileError:
            "`file`: \(error)" + (error.code == .notStripped ? "; `keep_metadata` sends the file as it is" : "")
        default: Failure(error).message
        }
    }

    /// The address in `text`, the value of `key`.
    static func address(_ text: String, _ key: String) throws -> JID {
        do { return try JID(text) } catch { throw Failure(.badInput, "`\(key)` is not an address: \(error)") }
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "`\(key.stringValue)` is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty ? "it is not a JSON object" : "\(key(context)) has the wrong type"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            "`\(context.codingPath[0].stringValue)` cannot be taken: \(context.debugDescription)"
        default: "it is not valid JSON"
        }
    }

    private static func key(_ context: DecodingError.Context) -> String {
        "`\(context.codingPath.map(\.stringValue).joined(separator: "."))`"
    }
}

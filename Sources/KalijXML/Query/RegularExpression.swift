import CPCRE2
import Synchronization

/// A regular expression in Perl syntax, compiled once.
// Sendable because PCRE2 only reads a compiled pattern while matching.
final class RegularExpression: @unchecked Sendable {
    struct Failure: Error {
        var offset: Int
        var text: String
    }

    private let code: OpaquePointer
    private let pattern: String

    /// The bound on the work for a match: the match with a hostile value ends after some milliseconds.
    private static let matchLimit: UInt32 = 200_000
    private static let heapKibibytes: UInt32 = 1_024

    init(_ pattern: [UInt8]) throws(Failure) {
        let options = PCRE2_UTF | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C
        var (error, offset): (Int32, Int) = (0, 0)
        let compiled = pcre2_compile_8(pattern, pattern.count, options, &error, &offset, nil)
        guard let compiled else {
            var message = [UInt8](repeating: 0, count: 200)
            let length = pcre2_get_error_message_8(error, &message, message.count)
            throw Failure(offset: offset, text: String(decoding: message.prefix(max(Int(length), 0)), as: UTF8.self))
        }
        code = compiled
        self.pattern = String(decoding: pattern, as: UTF8.self)
    }

    deinit { pcre2_code_free_8(code) }

    /// Whether the expression is found in `subject`, valid UTF-8. A match over the bound counts as not found, and is
    /// reported.
    func isFound(in subject: UnsafeRawBufferPointer) -> Bool {
        guard let limits = pcre2_match_context_create_8(nil), let data = pcre2_match_data_create_8(1, nil) else {
            QueryProblems.report("no memory to match the regular expression \(pattern)")
            return false
        }
        defer {
            pcre2_match_data_free_8(data)
            pcre2_match_context_free_8(limits)
        }
        pcre2_set_match_limit_8(limits, RegularExpression.matchLimit)
        pcre2_set_heap_limit_8(limits, RegularExpression.heapKibibytes)
        let empty: [UInt8] = [0]
        let result = empty.withUnsafeBytes { nothing in
            // PCRE2 requires an address even for an empty subject.
            let start = (subject.baseAddress ?? nothing.baseAddress)?.assumingMemoryBound(to: UInt8.self)
            return pcre2_match_8(code, start, subject.count, 0, PCRE2_NO_UTF_CHECK, data, limits)
        }
        if result < PCRE2_ERROR_NOMATCH {
            QueryProblems.report("gave up matching the regular expression \(pattern) (PCRE2 error \(result))")
        }
        return result >= 0
    }
}

/// Where queries report problems that are no results: a regular expression that ran too long.
///
/// ```swift
/// QueryProblems.handle { problem in print("query:", problem) }
/// ```
public enum QueryProblems {
    private static let handler = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Sets the closure for problems, called on the thread of the query. Nothing is called by default.
    public static func handle(_ body: (@Sendable (String) -> Void)?) {
        handler.withLock { $0 = body }
    }

    static func report(_ text: String) {
        let body = handler.withLock { $0 }
        body?(text)
    }
}

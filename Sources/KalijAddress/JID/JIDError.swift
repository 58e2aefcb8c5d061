/// Why a text is no address: which part, what is wrong with it, and where.
///
/// The description never repeats the text itself, which may be long or private.
public struct JIDError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part of an address (RFC 7622, 3.1).
    public enum Part: String, Hashable, Sendable {
        /// What stands before the "@".
        case local = "local part"
        /// The only part that every address has.
        case domain
        /// What stands behind the first "/".
        case resource
    }

    /// What is wrong with a part.
    public enum Problem: Hashable, Sendable {
        /// The part is announced ("@", "/") or needed, and empty.
        case empty
        /// A label of the domain (what stands between two dots) is empty; `position` counts labels from 0.
        case emptyLabel(position: Int)
        /// The text in brackets is no IPv6 address (RFC 5952).
        case invalidIPv6
        /// It cannot be prepared.
        case unprepared(PreparationFailure)
    }

    /// The part that is wrong.
    public let part: Part
    /// What is wrong with it; positions count from the start of the part.
    public let problem: Problem

    init(_ part: Part, _ problem: Problem) {
        self.part = part
        self.problem = problem
    }

    public var description: String {
        switch problem {
        case .empty: "the \(part.rawValue) of the address is empty"
        case .emptyLabel(let position): "label \(position + 1) of the domain of the address is empty"
        case .invalidIPv6: "the domain of the address is in brackets and no IPv6 address"
        case .unprepared(let failure): "the \(part.rawValue) of the address is invalid: \(failure)"
        }
    }
}

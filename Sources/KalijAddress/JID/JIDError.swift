/// Why a text is not an address: the part, the fault, and the place.
///
/// The description never repeats the text itself: the text may be long or private.
public struct JIDError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part of an address (RFC 7622, 3.1).
    public enum Part: String, Hashable, Sendable {
        /// The part before the "@".
        case local = "local part"
        /// The only required part.
        case domain
        /// The part after the first "/".
        case resource
    }

    /// The fault of a part.
    public enum Problem: Hashable, Sendable {
        /// The part is announced ("@", "/") or needed, and empty.
        case empty
        /// A label of the domain (the text between two dots) is empty; `position` counts labels from 0.
        case emptyLabel(position: Int)
        /// The text in brackets is no IPv6 address (RFC 5952).
        case invalidIPv6
        /// The part cannot be prepared.
        case unprepared(PreparationFailure)
    }

    /// The faulty part.
    public let part: Part
    /// The fault; positions count from the start of the part.
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

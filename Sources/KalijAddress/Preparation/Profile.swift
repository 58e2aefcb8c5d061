import CIDN

/// A profile of stringprep (RFC 3454), carried out by libidn.
///
/// Servers prepare addresses with these profiles (RFC 6122), not yet with PRECIS (RFC 7622); an address prepared in any
/// other way would differ from the server's, and one conversation would become two. Code points unknown to Unicode 3.2
/// are let through unchanged, as in servers: emoji in resources and passwords are common.
public enum PreparationProfile: Sendable, Hashable {
    /// Local parts: Nodeprep, RFC 6122 appendix A.
    case nodeprep
    /// Labels of domains: Nameprep, RFC 3491.
    case nameprep
    /// Resources: Resourceprep, RFC 6122 appendix B.
    case resourceprep
    /// User names and passwords for SASL: SASLprep, RFC 4013.
    case saslprep

    /// The text in its prepared form.
    ///
    /// - Parameters:
    ///   - text: the text of a user or a server.
    ///   - limit: the longest result in bytes of UTF-8; the input may not be longer either.
    /// - Returns: the prepared text; may be empty.
    /// - Throws: `PreparationFailure`, with the forbidden character and its place.
    public func prepare(_ text: String, limit: Int = 1023) throws(PreparationFailure) -> String {
        switch attempt(text, limit: limit) {
        case .success(let prepared): return prepared
        case .failure(.forbiddenCharacter): throw locateForbidden(in: text, limit: limit)
        case .failure(let failure): throw failure
        }
    }

    private func attempt(_ text: String, limit: Int) -> Result<String, PreparationFailure> {
        let count = text.utf8.count
        guard count <= limit else { return .failure(.tooLong(bytes: count, limit: limit)) }
        // C strings end at the first zero: the rest would be dropped unseen.
        if text.utf8.contains(0) { return .failure(.forbiddenCharacter("\0", position: 0)) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: limit + 1) { buffer in
            // The buffer holds `count <= limit` bytes and a zero; libidn writes at most its capacity.
            guard let start = buffer.baseAddress else { return .failure(.outOfMemory) }
            var end = 0
            for byte in text.utf8 {
                buffer[end] = CChar(bitPattern: byte)
                end += 1
            }
            buffer[end] = 0
            let code = run(start, limit + 1)
            return code == 0 ? .success(String(cString: start)) : .failure(failure(code, limit: limit))
        }
    }

    private func run(_ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int32 {
        switch self {
        case .nodeprep: cidn_nodeprep(buffer, capacity)
        case .nameprep: cidn_nameprep(buffer, capacity)
        case .resourceprep: cidn_resourceprep(buffer, capacity)
        case .saslprep: cidn_saslprep(buffer, capacity)
        }
    }

    private func failure(_ code: Int32, limit: Int) -> PreparationFailure {
        switch code {
        case Int32(STRINGPREP_CONTAINS_PROHIBITED.rawValue): .forbiddenCharacter("\0", position: 0)
        case Int32(STRINGPREP_BIDI_BOTH_L_AND_RAL.rawValue), Int32(STRINGPREP_BIDI_LEADTRAIL_NOT_RAL.rawValue),
            Int32(STRINGPREP_BIDI_CONTAINS_PROHIBITED.rawValue):
            .mixedDirections
        case Int32(STRINGPREP_TOO_SMALL_BUFFER.rawValue): .tooLong(bytes: nil, limit: limit)
        case Int32(STRINGPREP_MALLOC_ERROR.rawValue): .outOfMemory
        default: .unknown(code: code)
        }
    }

    /// libidn says that a character is forbidden, but not which: each character is tried alone.
    private func locateForbidden(in text: String, limit: Int) -> PreparationFailure {
        for (position, scalar) in text.unicodeScalars.enumerated() {
            if case .failure(.forbiddenCharacter) = attempt(String(Character(scalar)), limit: limit) {
                return .forbiddenCharacter(scalar, position: position)
            }
        }
        return .forbiddenSequence
    }
}

/// Why a text has no prepared form.
public enum PreparationFailure: Error, Hashable, Sendable {
    /// The character may not occur; `position` counts Unicode scalars from 0.
    case forbiddenCharacter(Unicode.Scalar, position: Int)
    /// Each character is allowed, but not their combination.
    case forbiddenSequence
    /// Right-to-left and left-to-right characters are mixed in a way that could be read as another text (RFC 3454, 6).
    case mixedDirections
    /// `bytes` is nil if only the prepared form is too long.
    case tooLong(bytes: Int?, limit: Int)
    /// The library could not allocate memory.
    case outOfMemory
    /// A code of libidn without a meaning here.
    case unknown(code: Int32)
}

extension PreparationFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .forbiddenCharacter(let scalar, let position):
            "the character \(scalar.codePoint) at position \(position + 1) is not allowed"
        case .forbiddenSequence: "its characters are not allowed together"
        case .mixedDirections: "it mixes right-to-left and left-to-right text in a forbidden way"
        case .tooLong(let bytes?, let limit): "it has \(bytes) bytes; at most \(limit) are allowed"
        case .tooLong(nil, let limit): "its prepared form is longer than the \(limit) bytes that are allowed"
        case .outOfMemory: "there is no memory to prepare it"
        case .unknown(let code): "libidn cannot prepare it (code \(code))"
        }
    }
}

extension Unicode.Scalar {
    /// "U+0041".
    var codePoint: String {
        let hex = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
    }
}

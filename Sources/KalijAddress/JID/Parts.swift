import CIDN
import KalijText

/// Prepares the parts of an address, one by one.
enum PartPreparation {
    static func local(_ text: String) throws(JIDError) -> String {
        try part(.local, text, .nodeprep)
    }

    static func resource(_ text: String) throws(JIDError) -> String {
        try part(.resource, text, .resourceprep)
    }

    private static func part(
        _ part: JIDError.Part, _ text: String, _ profile: PreparationProfile
    ) throws(JIDError) -> String {
        guard !text.isEmpty else { throw JIDError(part, .empty) }
        let prepared: String
        do { prepared = try profile.prepare(text, limit: JID.longestPart) } catch {
            throw JIDError(part, .unprepared(error))
        }
        guard !prepared.isEmpty else { throw JIDError(part, .empty) }
        return prepared
    }

    // MARK: - Domain

    /// The domain, label by label (RFC 6122, 2.2); one empty label at the end is dropped.
    static func domain(_ text: String) throws(JIDError) -> String {
        if text.utf8.first == UInt8(ascii: "[") { return try ipv6(text) }
        let count = text.utf8.count
        guard count <= JID.longestPart else { throw tooLong(count) }
        var labels = text.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: isLabelSeparator)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.count > 1 || labels.first?.isEmpty == false else { throw JIDError(.domain, .empty) }
        var prepared: [String] = []
        var position = 0
        for label in labels {
            prepared.append(try self.label(label, index: prepared.count, position: position))
            position += label.count + 1
        }
        let domain = prepared.joined(separator: ".")
        guard domain.utf8.count <= JID.longestPart else { throw tooLong(nil) }
        return domain
    }

    /// A domain with labels in the form of DNS, with the labels that are shown (RFC 3490, ToUnicode); nil for other domains. A label
    /// that is no form of another stays.
    static func shown(_ domain: String) -> String? {
        let labels = domain.unicodeScalars.split(whereSeparator: isLabelSeparator)
        // A zero would end the text for C.
        guard domain.utf8.count <= JID.longestPart, !domain.utf8.contains(0),
            labels.contains(where: { String($0).lowercased().begins(with: "xn--") })
        else { return nil }
        var output: UnsafeMutablePointer<CChar>?
        // libidn allocates `output`; the caller frees the memory.
        let code = idna_to_unicode_8z8z(domain, &output, Int32(IDNA_ALLOW_UNASSIGNED.rawValue))
        defer { free(output) }
        guard code == 0, let output else { return nil }
        return String(cString: output)
    }

    /// The separators of labels (RFC 3490, 3.1, requirement 1).
    private static func isLabelSeparator(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar == "\u{3002}" || scalar == "\u{FF0E}" || scalar == "\u{FF61}"
    }

    private static func label(
        _ scalars: Substring.UnicodeScalarView, index: Int, position: Int
    ) throws(JIDError) -> String {
        guard !scalars.isEmpty else { throw JIDError(.domain, .emptyLabel(position: index)) }
        let prepared: String
        do {
            prepared = try PreparationProfile.nameprep.prepare(String(Substring(scalars)), limit: JID.longestPart)
        } catch {
            if case .forbiddenCharacter(let scalar, let offset) = error {
                throw forbidden(scalar, at: position + offset)
            }
            throw JIDError(.domain, .unprepared(error))
        }
        guard !prepared.isEmpty else { throw JIDError(.domain, .emptyLabel(position: index)) }
        // Nameprep lets all of ASCII through, and turns some other characters into ASCII.
        if prepared.unicodeScalars.contains(where: isNoLabelCharacter) {
            throw locate(in: scalars, position: position)
        }
        return prepared
    }

    private static func isNoLabelCharacter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && !ASCII.label.contains(UInt8(truncatingIfNeeded: scalar.value))
    }

    private static func locate(in scalars: Substring.UnicodeScalarView, position: Int) -> JIDError {
        for (offset, scalar) in scalars.enumerated() {
            let alone = try? PreparationProfile.nameprep.prepare(String(Character(scalar)))
            if alone?.unicodeScalars.contains(where: isNoLabelCharacter) == true {
                return forbidden(scalar, at: position + offset)
            }
        }
        return JIDError(.domain, .unprepared(.forbiddenSequence))
    }

    private static func forbidden(_ scalar: Unicode.Scalar, at position: Int) -> JIDError {
        JIDError(.domain, .unprepared(.forbiddenCharacter(scalar, position: position)))
    }

    private static func tooLong(_ count: Int?) -> JIDError {
        JIDError(.domain, .unprepared(.tooLong(bytes: count, limit: JID.longestPart)))
    }

    // MARK: - IPv6

    /// "[2001:db8::1]", with or without a zone after "%" (RFC 6874), in small letters.
    private static func ipv6(_ text: String) throws(JIDError) -> String {
        guard text.utf8.count <= JID.longestPart else { throw tooLong(text.utf8.count) }
        guard text.utf8.last == UInt8(ascii: "]") else { throw JIDError(.domain, .invalidIPv6) }
        let halves = String(text.unicodeScalars.dropFirst().dropLast()).parts(at: "%", most: 2)
        guard let address = halves.first, isIPv6(address) else { throw JIDError(.domain, .invalidIPv6) }
        if halves.count == 2 {
            let zone = halves[1].utf8
            guard !zone.isEmpty, zone.allSatisfy(isZoneCharacter) else { throw JIDError(.domain, .invalidIPv6) }
            return "[" + address.lowercased() + "%" + halves[1] + "]"
        }
        return "[" + address.lowercased() + "]"
    }

    private static func isIPv6(_ text: String) -> Bool {
        // A zero would end the text for C.
        guard !text.utf8.contains(0) else { return false }
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }

    private static func isZoneCharacter(_ byte: UInt8) -> Bool {
        ASCII.label.contains(byte) || ASCII.isCapital(byte) || byte == ASCII.dot || byte == UInt8(ascii: "~")
    }
}

import KalijText
import KalijXML

/// The input of the hash of XEP-0115 section 5.1.
enum VerificationString {
    /// The bytes; nil if the response is ill-formed by section 5.4, or if a part contains the separator `<`: different responses would
    /// then have the same hash.
    static func bytes(of info: DiscoveryInfo) -> [UInt8]? {
        guard Set(info.identities.map { line($0).exact }).count == info.identities.count,
            Set(info.features.map(\.exact)).count == info.features.count
        else { return nil }
        // Sorted by category, then type, then language: U+0000 precedes all their characters.
        // By bytes: the string replacement of the library would take a quarter of a megabyte in every process.
        let identities = inOrder(info.identities.map(line)).map { line in
            String(decoding: line.utf8.map { $0 == 0 ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
        }
        var parts = identities + inOrder(info.features)
        var types: Set<ExactText> = []
        // A form without a hidden FORM_TYPE is ignored.
        let forms = info.forms.compactMap { form in form.formType.map { (type: $0, form: form) } }
        for (type, form) in forms.sorted(by: { precedes($0.type, $1.type) }) {
            let values = Set((form[DataForm.formTypeField]?.values ?? []).map(\.exact))
            guard types.insert(type.exact).inserted, values.count == 1 else { return nil }
            parts.append(type)
            for field in form.fields.sorted(by: { precedes($0.name ?? "", $1.name ?? "") }) {
                guard field.name != DataForm.formTypeField else { continue }
                parts.append(field.name ?? "")
                parts += inOrder(field.values)
            }
        }
        guard !parts.contains(where: { $0.utf8.contains(UInt8(ascii: "<")) }) else { return nil }
        return parts.flatMap { Array($0.utf8) + [UInt8(ascii: "<")] }
    }

    private static func line(_ identity: DiscoveryInfo.Identity) -> String {
        [identity.category, identity.type, identity.language ?? "", identity.name ?? ""].joined(separator: "\0")
    }

    private static func inOrder(_ texts: [String]) -> [String] { texts.sorted(by: precedes) }

    /// The order of `i;octet` (RFC 4790 9.3).
    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

/// The input of the hash of XEP-0390 section 4.1.
enum StructuredHashInput {
    private static let (file, group, record, unit): (UInt8, UInt8, UInt8, UInt8) = (0x1C, 0x1D, 0x1E, 0x1F)

    /// The bytes; nil if the response has parts for which the standard does not define a hash.
    static func bytes(of info: DiscoveryInfo) -> [UInt8]? {
        guard info.unknown.isEmpty, info.forms.allSatisfy(isCovered) else { return nil }
        let features = info.features.map { text($0) }
        let identities = info.identities.map { identity in
            [identity.category, identity.type, identity.language ?? "", identity.name ?? ""].flatMap(text) + [record]
        }
        let forms = info.forms.map { form in
            inOrder(form.fields.map { text($0.name ?? "") + inOrder($0.values.map(text)) + [record] }) + [group]
        }
        return [features, identities, forms].flatMap { inOrder($0) + [file] }
    }

    private static func isCovered(_ form: DataForm) -> Bool {
        form.formType != nil && form.reported == nil && form.items.isEmpty
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [unit] }

    private static func inOrder(_ parts: [[UInt8]]) -> [UInt8] {
        parts.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
    }
}

import KalijRatchet
import KalijXML

/// The keys of a device as published, not validated.
struct BundleElement {
    typealias Key = (id: UInt32, key: [UInt8])

    let identity: [UInt8]
    let signedPrekey: Key
    let signature: [UInt8]
    let prekeys: [Key]

    /// The maximum number of prekeys that are parsed.
    private static let maxPrekeys = 1000
    /// In bytes: a signature is the longest part.
    private static let maxLength = 64

    init(identity: [UInt8], signedPrekey: Key, signature: [UInt8], prekeys: [Key]) {
        (self.identity, self.signedPrekey) = (identity, signedPrekey)
        (self.signature, self.prekeys) = (signature, prekeys)
    }

    /// The bundle in the content of an item; nil for anything else.
    init?(_ element: Element, _ dialect: OMEMOVersion) {
        let names = Names(dialect)
        guard element.isNamed("bundle", dialect.namespace),
            let identity = element.child(names.identity)?.bytesOfBase64(atMost: Self.maxLength),
            let signed = element.child(names.signed), let signedID = signed.number(names.signedID),
            let signedKey = signed.bytesOfBase64(atMost: Self.maxLength),
            let signature = element.child(names.signature)?.bytesOfBase64(atMost: Self.maxLength)
        else { return nil }
        let children = element.child("prekeys")?.children(names.prekey) ?? []
        var prekeys: [Key] = []
        for child in children.prefix(Self.maxPrekeys) {
            guard let id = child.number(names.prekeyID), let key = child.bytesOfBase64(atMost: Self.maxLength) else {
                continue
            }
            prekeys.append((id, key))
        }
        self.init(identity: identity, signedPrekey: (signedID, signedKey), signature: signature, prekeys: prekeys)
    }

    func element(_ dialect: OMEMOVersion) -> Element {
        let names = Names(dialect)
        let list = Element("prekeys")
        // Each is a separate tree until it is added: creating all of them first would take much memory.
        for prekey in prekeys { list.add(Element(names.prekey, [names.prekeyID: "\(prekey.id)"], base64: prekey.key)) }
        return Element(
            "bundle", xmlns: dialect.namespace,
            children: [
                Element(names.signed, [names.signedID: "\(signedPrekey.id)"], base64: signedPrekey.key),
                Element(names.signature, base64: signature), Element(names.identity, base64: identity), list,
            ])
    }

    /// The parts required to begin a session, with a prekey chosen at random.
    /// - Throws: `RatchetError`
    func chosen(_ dialect: OMEMOVersion) throws -> Bundle {
        guard !prekeys.isEmpty else { throw RatchetError.withoutPrekey }
        let place = Int(try RandomNumber.from(0...UInt32(prekeys.count - 1)))  // fits: at most 1,000
        return try Bundle(
            dialect, identity: identity, signedPrekey: signedPrekey, signature: signature, prekey: prekeys[place])
    }

    /// The names of the parts in one version.
    private struct Names {
        let identity, signed, signedID, signature, prekey, prekeyID: String

        init(_ dialect: OMEMOVersion) {
            switch dialect {
            case .axolotl:
                (identity, signed, signedID) = ("identityKey", "signedPreKeyPublic", "signedPreKeyId")
                (signature, prekey, prekeyID) = ("signedPreKeySignature", "preKeyPublic", "preKeyId")
            case .omemo2:
                (identity, signed, signedID) = ("ik", "spk", "id")
                (signature, prekey, prekeyID) = ("spks", "pk", "id")
            }
        }
    }
}

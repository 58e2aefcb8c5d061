import FoundationEssentials

/// Texts of SASL.
enum SimulatedSASL {
    static func bytes(_ text: String) -> [UInt8] { Data(base64Encoded: text).map(Array.init) ?? [] }
    static func text(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}

import CGIO

/// The colour of a person or a group, the same everywhere (XEP-0392).
public enum PersonColor {
    /// The number of colours: hues at equal distances.
    public static let count = 12

    /// The place of the colour.
    /// - Parameter key: the bare address; the name in a room that hides addresses.
    public static func place(of key: String) -> Int { min(count - 1, Int(degrees(of: key) * Double(count) / 360)) }

    /// The hue angle of section 5.1.
    static func degrees(of key: String) -> Double {
        guard let hex = g_compute_checksum_for_string(G_CHECKSUM_SHA1, key, -1) else { return 0 }
        defer { g_free(hex) }
        let digits = String(cString: hex)
        let bytes = [digits.prefix(2), digits.dropFirst(2).prefix(2)].map { Double(UInt8($0, radix: 16) ?? 0) }
        return (bytes[0] + bytes[1] * 256) * 360 / 65536
    }
}

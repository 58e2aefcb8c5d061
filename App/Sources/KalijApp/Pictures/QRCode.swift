import CQREncode

/// A text as a QR code (ISO/IEC 18004).
public struct QRCode: Sendable, Equatable {
    /// The number of modules on a side.
    public let width: Int
    /// Whether each module is dark, from the top, by rows.
    private let modules: [Bool]

    /// The light margin that a reader needs, in modules.
    private static let margin = 4

    /// Nil for a text that is too long for a code.
    public init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        guard let data = code.pointee.data else { return nil }
        width = Int(code.pointee.width)
        modules = UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 }
    }

    /// The code with its margin, dark on light whatever the theme.
    /// - Parameter scale: the pixels on a side of a module.
    public func picture(scale: Int) -> DecodedPicture {
        let side = (width + 2 * Self.margin) * scale
        var pixels = [UInt8](repeating: 255, count: 3 * side * side)
        for (place, isDark) in modules.enumerated() where isDark {
            let (left, top) = (place % width + Self.margin, place / width + Self.margin)
            for line in top * scale..<(top + 1) * scale {
                let start = 3 * (line * side + left * scale)
                for byte in start..<start + 3 * scale { pixels[byte] = 0 }
            }
        }
        return DecodedPicture(width: side, height: side, channels: 3, pixels: pixels)
    }
}

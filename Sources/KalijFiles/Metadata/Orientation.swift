/// How an image is turned to be shown: the only value of EXIF that stays (CIPA DC-008, tag 0x0112).
struct Orientation: Equatable {
    /// 2 to 8. 1, "as stored", needs no EXIF.
    let value: UInt8

    /// Reads the tag out of EXIF, which is TIFF: `II` or `MM`, 42, the offset of a directory.
    /// - Parameter exif: the beginning of the segment, with or without `Exif` and two zero bytes in front.
    /// - Returns: nil if there is none, or 1, or the bytes are no EXIF.
    init?(exif: [UInt8]) {
        let tiff = exif.starts(with: Self.prefix) ? Array(exif.dropFirst(Self.prefix.count)) : exif
        let isBig = tiff.starts(with: "MM".utf8)
        guard isBig || tiff.starts(with: "II".utf8), tiff.number(at: 2, 2, bigEndian: isBig) == 42,
            let start = tiff.number(at: 4, 4, bigEndian: isBig),
            let count = tiff.number(at: Int(start), 2, bigEndian: isBig)
        else { return nil }
        for entry in 0..<Int(count) {
            let place = Int(start) + 2 + entry * 12
            guard let tag = tiff.number(at: place, 2, bigEndian: isBig) else { return nil }
            guard tag == 0x0112 else { continue }
            let isLong = tiff.number(at: place + 2, 2, bigEndian: isBig) == 4
            guard let value = tiff.number(at: place + 8, isLong ? 4 : 2, bigEndian: isBig), (2...8).contains(value)
            else { return nil }
            self.value = UInt8(value)  // fits: 2 to 8
            return
        }
        return nil
    }

    /// The bytes in front of EXIF in JPEG.
    static let prefix = Array("Exif\0\0".utf8)

    /// EXIF with the orientation alone: a TIFF header, and a directory of one entry.
    var exif: [UInt8] {
        Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
    }

    /// Whether width and height change places.
    var isTurned: Bool { value >= 5 }
}

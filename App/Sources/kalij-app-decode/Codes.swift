import CDecode
import CZBar

/// Reads the QR codes of a decoded picture.
enum Codes {
    /// The longest side of a picture in which codes are searched, in pixels.
    static let maxSide = 1600
    private static let maxCodes = 8
    /// Grey pixels of a byte each: the letters Y800, the first in the lowest byte.
    private static let format: UInt = 0x3030_3859

    /// The contents of the codes, as they are encoded.
    static func read(_ picture: OpaquePointer) -> [[UInt8]] {
        guard let grey = grey(picture), let scanner = zbar_image_scanner_create(), let image = zbar_image_create()
        else {
            return []
        }
        // Barcodes on products are no codes of keys.
        zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1)
        // Otherwise zbar guesses the encoding, and loads the converters of the C library, which a confined process cannot.
        zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_BINARY, 1)
        zbar_image_set_format(image, format)
        zbar_image_set_size(
            image, UInt32(gdk_pixbuf_get_width(picture)), UInt32(gdk_pixbuf_get_height(picture)))
        return grey.withUnsafeBytes { bytes in
            // Without a function that releases the bytes. The process ends soon, so nothing else is released either.
            zbar_image_set_data(image, bytes.baseAddress, UInt(bytes.count), nil)
            guard zbar_scan_image(scanner, image) > 0 else { return [] }
            var (contents, symbol) = ([[UInt8]](), zbar_image_first_symbol(image))
            while let found = symbol, contents.count < maxCodes {
                if let data = zbar_symbol_get_data(found) {
                    let count = Int(zbar_symbol_get_data_length(found))
                    contents.append(Array(UnsafeRawBufferPointer(start: data, count: count)))
                }
                symbol = zbar_symbol_next(found)
            }
            return contents
        }
    }

    /// The brightness of each pixel, on white.
    private static func grey(_ picture: OpaquePointer) -> [UInt8]? {
        let (width, height) = (Int(gdk_pixbuf_get_width(picture)), Int(gdk_pixbuf_get_height(picture)))
        let (channels, stride) = (Int(gdk_pixbuf_get_n_channels(picture)), Int(gdk_pixbuf_get_rowstride(picture)))
        guard gdk_pixbuf_get_bits_per_sample(picture) == 8, 3...4 ~= channels,
            let pixels = gdk_pixbuf_read_pixels(picture)
        else { return nil }
        return [UInt8](unsafeUninitializedCapacity: width * height) { grey, count in
            for line in 0..<height {
                var pixel = pixels + line * stride
                for column in 0..<width {
                    // ITU-R BT.601.
                    let light = (77 * UInt32(pixel[0]) + 150 * UInt32(pixel[1]) + 29 * UInt32(pixel[2])) >> 8
                    let alpha = channels == 4 ? UInt32(pixel[3]) : 255
                    grey[line * width + column] = UInt8(truncatingIfNeeded: (light * alpha + 255 * (255 - alpha)) / 255)
                    pixel += channels
                }
            }
            count = width * height
        }
    }
}

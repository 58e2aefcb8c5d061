/// Whether XML 1.0 allows the character (section 2.2, `Char`).
func isXMLCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
}

/// `text` with U+FFFD in place of every character forbidden in XML, so that the written text can be read.
func validCharacters(_ text: String) -> String {
    if withBytes(of: text, areValid) || text.unicodeScalars.allSatisfy(isXMLCharacter) { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(isXMLCharacter(scalar) ? scalar : "\u{FFFD}") }
    return String(result)
}

/// Whether each byte of UTF-8 is one of allowed characters alone: the others are controls, or begin with EF.
private func areValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    for byte in bytes where byte < 0x20 || byte == 0xEF { return false }
    return true
}

/// Whether a name may begin with the character (XML 1.0 section 2.3, `NameStartChar` without the colon).
func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
        0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
        0x10000...0xEFFFF:
        true
    default: false
    }
}

/// Whether a name may hold the character after its first (XML 1.0 section 2.3, `NameChar` without the colon).
func isNameCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
    default: isNameStart(scalar)
    }
}

/// `name` with `_` in place of characters forbidden in names, so that the written name can be read.
func validName(_ name: String) -> String {
    if isPlainName(name) { return name }
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
        if scalars.isEmpty && !isNameStart(scalar) {
            scalars.append("_")
            if isNameCharacter(scalar) { scalars.append(scalar) }
        } else {
            scalars.append(isNameCharacter(scalar) ? scalar : "_")
        }
    }
    return scalars.isEmpty ? "_" : String(scalars)
}

/// Whether a name has only ASCII's letters, digits, `-`, `.` and `_`, as nearly all names do.
func isPlainName(_ name: String) -> Bool {
    withBytes(of: name) { bytes in
        for byte in bytes where !isPlain(byte) { return false }
        guard let first = bytes.first else { return false }
        return first >= 0x41
    }
}

private func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D, 0x2E, 0x30...0x39: true
    default: false
    }
}

extension Tree {
    func store(validName name: String) -> NameReference { store(KalijXML.validName(name)) }
}

/// A form is coded as its XML, like an ``Element``.
extension DataForm: Codable {
    public func encode(to encoder: any Encoder) throws { try element.encode(to: encoder) }

    /// Reads the XML that was coded.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if it is no XML, with line and column, or no form.
    public init(from decoder: any Decoder) throws {
        let element = try Element(from: decoder)
        do {
            try self.init(element)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
        }
    }
}

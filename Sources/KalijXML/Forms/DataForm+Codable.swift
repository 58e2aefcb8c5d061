/// A form is coded as its XML, like an ``Element``.
extension DataForm: Codable {
    public func encode(to encoder: any Encoder) throws { try element.encode(to: encoder) }

    /// Reads coded XML.
    ///
    /// - Throws: `DecodingError.dataCorrupted`, with line and column if the text is not XML, or if the XML is not a
    ///   form.
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

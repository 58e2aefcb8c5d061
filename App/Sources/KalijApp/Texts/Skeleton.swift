import CSkeleton

extension String {
    /// A form that texts have in common which look alike, whatever their letters' case (UTS #39 section 4).
    var skeleton: String {
        Skeleton.of(Skeleton.of(filter { $0.isLetter || $0.isNumber }).lowercased())
    }
}

private enum Skeleton {
    /// Nil if ICU has no data.
    /// ICU's functions on a checker that nothing changes can be called by several threads at once.
    nonisolated(unsafe) static let checker = kalij_spoof_checker()

    /// The text itself if it has no skeleton.
    static func of(_ text: String) -> String {
        guard let checker, !text.isEmpty, text.utf8.count <= Shown.longestName * 4 else { return text }
        let capacity = text.utf8.count * Self.growth
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            // The buffer is as long as the capacity, and ICU writes no more.
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                Int(
                    max(
                        0,
                        kalij_skeleton(checker, text, Int32(text.utf8.count), buffer.baseAddress, Int32(capacity))))
            }
        }
    }

    /// The longest prototype of a character, in bytes.
    private static let growth = 40
}

import CLinux
import Glibc

/// A finished copy, still under its first name.
struct CopiedFile {
    let output: Descriptor
    let size: Int64
    let sha256: [UInt8]
    let mediaType: String
    let image: ImageHeader?
    let isStripped: Bool
}

/// The copy of a file: shared blocks, all bytes, or all bytes but the metadata.
struct FileCopier {
    private let source: SourceFile
    private let output: Descriptor
    private let name: String
    private let limit: Int64?
    private let reserve: Int64

    init(_ source: SourceFile, _ output: Descriptor, named name: String, limit: Int64?, reserve: Int64) {
        self.source = source
        self.output = output
        self.name = name
        self.limit = limit
        self.reserve = reserve
    }

    /// - Throws: `FileError.changed` in front of all others, if the source was changed: other errors may follow from that.
    func run(keepingMetadata: Bool) throws(FileError) -> CopiedFile {
        do throws(FileError) {
            let copy = try make(keepingMetadata)
            guard try source.isUnchanged() else { throw FileError(.changed) }
            return copy
        } catch {
            let isFull = error == FileError(.diskFull)
            if !isFull, let isSame = try? source.isUnchanged(), !isSame { throw FileError(.changed) }
            throw error
        }
    }

    private func make(_ keepingMetadata: Bool) throws(FileError) -> CopiedFile {
        guard let beginning = try source.bytes(Int(min(Int64(MediaType.beginning), source.left))) else {
            throw FileError(.changed)
        }
        source.rewind()
        let type = MediaType.of(beginning, named: name)
        let format = keepingMetadata ? nil : StrippedFormat(beginning: beginning)
        if !keepingMetadata, format == nil, type == MediaType.unknown, MediaType.isNamedLikeStripped(name) {
            throw .damaged("the file's name is that of an image, and its bytes are not")
        }
        let sha256: [UInt8]
        if let format {
            try checkSpace(for: source.status.size)
            let file = try OutputFile(output)
            try MetadataStripping.strip(source, as: format, into: file)
            sha256 = try file.finish()
        } else {
            sha256 = try copyWhole()
        }
        let status = try output.status()
        try checkLimit(status.size)
        try output.sync()
        return CopiedFile(
            output: output, size: status.size, sha256: sha256, mediaType: type,
            image: try ImageHeader(SourceFile(output, status)), isStripped: format != nil)
    }

    private func copyWhole() throws(FileError) -> [UInt8] {
        let size = source.status.size
        try checkLimit(size)
        if kalij_clone(output.number, source.descriptor.number) == 0 {
            try checkSpace(for: 0)
            guard try output.status().size == size else { throw FileError(.changed) }
            return try SHA256Stream.of(output, size: size)
        }
        try checkSpace(for: size)
        let file = try OutputFile(output)
        guard try file.copy(size, from: source) else { throw FileError(.changed) }
        return try file.finish()
    }

    private func checkLimit(_ size: Int64) throws(FileError) {
        guard let limit, size > limit else { return }
        throw FileError(.tooLarge, "\(size) bytes; the server takes at most \(limit)")
    }

    private func checkSpace(for bytes: Int64) throws(FileError) {
        var status = statvfs()
        guard fstatvfs(output.number, &status) == 0 else { throw .system(errno, "asking for the free space") }
        let (free, isOver) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        let (needed, isTooMuch) = reserve.addingReportingOverflow(bytes)
        guard isOver || (!isTooMuch && free >= needed) else {
            throw FileError(.diskFull, "\(needed) bytes must be free, \(free) are")
        }
    }
}

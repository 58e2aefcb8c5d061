import CAdwaita
import Dispatch
import KalijApp
import KalijDesktop

/// The decoded pictures of visible rows. The most recent ones are kept: at most 640 kB each.
final class Pictures {
    static let shared = Pictures()

    enum Outcome {
        /// A GdkTexture, valid during the call.
        case texture(OpaquePointer)
        case failed
    }

    private static let kept = 16
    /// One at a time, so that a conversation full of pictures leaves the processor to the list.
    private let queue = DispatchQueue(label: "kalij.pictures", qos: .utility)
    private let decoder = PictureDecoder(program: AppProgram.path(of: "kalij-app-decode"))
    private var textures: [(path: String, texture: OpaquePointer?)] = []
    private var waiting: [String: [(Outcome) -> Void]] = [:]

    /// Calls `then` with the picture at `path`: at once if it was decoded before.
    func load(_ path: String, _ then: @escaping (Outcome) -> Void) {
        if let place = textures.firstIndex(where: { $0.path == path }) {
            let known = textures.remove(at: place)
            textures.append(known)
            return then(known.texture.map(Outcome.texture) ?? .failed)
        }
        waiting[path, default: []].append(then)
        guard waiting[path]?.count == 1 else { return }
        let decoder = decoder
        queue.async { [weak self] in
            let picture = decoder.decode(path)
            Task { @MainActor in self?.decoded(path, picture) }
        }
    }

    private func decoded(_ path: String, _ picture: DecodedPicture?) {
        let texture = picture.flatMap(Self.texture)
        textures.append((path, texture))
        if textures.count > Self.kept, let old = textures.removeFirst().texture { g_object_unref(raw(old)) }
        for then in waiting.removeValue(forKey: path) ?? [] { then(texture.map(Outcome.texture) ?? .failed) }
    }

    /// Decodes a picture that is no file, and is not kept.
    func decode(_ bytes: [UInt8]) async -> DecodedPicture? {
        await withCheckedContinuation { continuation in
            queue.async { [decoder] in continuation.resume(returning: decoder.decode(bytes)) }
        }
    }

    /// The picture as a GdkTexture, which the caller releases.
    static func texture(_ picture: DecodedPicture) -> OpaquePointer? {
        guard let bytes = g_bytes_new(picture.pixels, gsize(picture.pixels.count)) else { return nil }
        defer { g_bytes_unref(bytes) }
        let texture = gdk_memory_texture_new(
            Int32(picture.width), Int32(picture.height),
            picture.channels == 4 ? GDK_MEMORY_R8G8B8A8 : GDK_MEMORY_R8G8B8, bytes,
            gsize(picture.width * picture.channels))
        return texture
    }
}

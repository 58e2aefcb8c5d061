import Glibc

/// The pixels of a decoded picture.
public struct DecodedPicture: Sendable, Equatable {
    public let width: Int
    public let height: Int
    /// 3, or 4 with an alpha channel; a byte each.
    public let channels: Int
    /// From the top, rows without padding.
    public let pixels: [UInt8]

    init(width: Int, height: Int, channels: Int, pixels: [UInt8]) {
        (self.width, self.height, self.channels, self.pixels) = (width, height, channels, pixels)
    }

    /// The output of `kalij-app-decode`; nil unless it is a complete picture.
    init?(_ output: [UInt8]) {
        guard output.count > Self.head else { return nil }
        let numbers = (0..<3).map { place in
            output[(4 * place)..<(4 * place + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        (width, height, channels) = (numbers[0], numbers[1], numbers[2])
        let sides = 1...PictureDecoder.maxSide
        guard sides.contains(width), sides.contains(height), 3...4 ~= channels,
            output.count == Self.head + width * height * channels
        else { return nil }
        pixels = Array(output[Self.head...])
    }

    static let head = 12
}

/// Decodes pictures of strangers in a process of its own, which has no files, no network, 64 MB and 5 s.
public struct PictureDecoder: Sendable {
    /// The longest side of a decoded picture, in pixels.
    public static let maxSide = 400
    /// The decoder's own limit ends it before.
    private static let maxSeconds = 6.0
    /// The path of `kalij-app-decode`.
    private let program: String

    public init(program: String) { self.program = program }

    /// Decodes the picture at `path`; waits for the decoder.
    /// - Returns: nil if the file is no picture of a supported format, is damaged, or exceeds a limit of the decoder.
    public func decode(_ path: String) -> DecodedPicture? {
        run(path, [], most: Self.maxPictureBytes).flatMap { DecodedPicture($0) }
    }

    /// Decodes a picture that is no file; waits for the decoder.
    /// - Returns: nil as for a file.
    public func decode(_ bytes: [UInt8]) -> DecodedPicture? {
        // A file without a name.
        guard let file = tmpfile() else { return nil }
        defer { fclose(file) }
        guard fcntl(fileno(file), F_SETFD, FD_CLOEXEC) == 0, fwrite(bytes, 1, bytes.count, file) == bytes.count,
            fflush(file) == 0, lseek(fileno(file), 0, SEEK_SET) == 0
        else { return nil }
        return run(fileno(file), [], most: Self.maxPictureBytes).flatMap { DecodedPicture($0) }
    }

    /// The texts of the QR codes in the picture at `path`; waits for the decoder.
    /// - Returns: nil if the file is no picture, as ``decode(_:)``.
    public func codes(_ path: String) -> [String]? {
        run(path, ["--codes"], most: Self.maxCodeBytes).map(Self.texts)
    }

    /// The decoder's output of codes: each text after its length of 4 bytes.
    static func texts(_ output: [UInt8]) -> [String] {
        var (texts, rest) = ([String](), output[...])
        while rest.count >= 4 {
            let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard length <= rest.count else { break }
            texts.append(String(decoding: rest.prefix(length), as: UTF8.self))
            rest = rest.dropFirst(length)
        }
        return texts
    }

    private static let maxPictureBytes = DecodedPicture.head + 4 * maxSide * maxSide
    /// A QR code has at most 2,953 bytes.
    private static let maxCodeBytes = 8 * (4 + 2_953)

    /// - Parameters:
    ///   - words: the arguments of the decoder.
    ///   - most: the most bytes of its output.
    private func run(_ path: String, _ words: [String], most: Int) -> [UInt8]? {
        // A pipe, a device or a link at this path is not opened.
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return run(file, words, most: most)
    }

    /// - Parameter file: the descriptor of a regular file, at its beginning.
    private func run(_ file: Int32, _ words: [String], most: Int) -> [UInt8]? {
        var pipe: [Int32] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0 else { return nil }
        defer { close(pipe[0]) }
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = start(words, reading: file, writing: pipe[1])
        close(pipe[1])
        guard let child else { return nil }
        let output = output(of: pipe[0], most: most)
        if output == nil { kill(child, SIGKILL) }
        var end: Int32 = 0
        while waitpid(child, &end, 0) < 0, errno == EINTR {}
        return end == 0 ? output : nil
    }

    private func start(_ arguments: [String], reading file: Int32, writing pipe: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, pipe, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var (child, environment) = (pid_t(), [UnsafeMutablePointer<CChar>?.none])
        return posix_spawn(&child, program, &actions, nil, &words, &environment) == 0 ? child : nil
    }

    /// Everything that the decoder writes; nil after the time limit, or if it writes more than `most` bytes.
    private func output(of pipe: Int32, most: Int) -> [UInt8]? {
        var (bytes, count) = ([UInt8](repeating: 0, count: most + 1), 0)
        let deadline = Self.now() + Self.maxSeconds
        while count <= most {
            var waiting = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            let left = Int32(max(0, (deadline - Self.now()) * 1000))
            let ready = poll(&waiting, 1, left)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            let more = bytes.withUnsafeMutableBytes {
                read(pipe, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { return more == 0 ? Array(bytes.prefix(count)) : nil }
            count += more
        }
        return nil
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

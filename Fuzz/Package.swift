// swift-tools-version: 6.1
import PackageDescription

// libFuzzer targets; not part of the package's own build. The Makefile beside this file builds them: the fuzzers
// themselves, with FUZZERS set, can only be linked with `-sanitize=fuzzer`.
let fuzzers = [
    "fuzz-parser", "fuzz-query-compiler", "fuzz-query-evaluation", "fuzz-forms", "fuzz-writing", "fuzz-ratchet",
    "fuzz-texts", "fuzz-arriving",
]

let package = Package(
    name: "kalij-fuzz",
    dependencies: [.package(name: "kalij", path: "..")],
    targets: [
        .target(
            name: "FuzzTargets",
            dependencies: [
                .product(name: "KalijXML", package: "kalij"), .product(name: "KalijRatchet", package: "kalij"),
                .product(name: "KalijClient", package: "kalij"), .product(name: "KalijPush", package: "kalij"),
                .product(name: "KalijAddress", package: "kalij"), .product(name: "KalijStream", package: "kalij"),
                .product(name: "KalijStore", package: "kalij"), .product(name: "KalijTestSupport", package: "kalij"),
            ]),
        .testTarget(name: "FuzzCorpusTests", dependencies: ["FuzzTargets"]),
    ]
)

if Context.environment["FUZZERS"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer"),
        .target(name: "FuzzDriver", dependencies: ["FuzzTargets", "CFuzzer"]),
    ]
    package.targets += fuzzers.map { .executableTarget(name: $0, dependencies: ["FuzzDriver"]) }
}

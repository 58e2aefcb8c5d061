// swift-tools-version: 6.1
import PackageDescription

// libFuzzer targets; not part of the package's own build. The Makefile beside this file says how they are built.
let package = Package(
    name: "kalij-fuzz",
    dependencies: [.package(name: "kalij", path: "..")],
    targets: [
        .systemLibrary(name: "CFuzzer"),
        .target(name: "FuzzTargets", dependencies: [.product(name: "KalijXML", package: "kalij")]),
        .target(name: "FuzzDriver", dependencies: ["FuzzTargets", "CFuzzer"]),
        .executableTarget(name: "fuzz-parser", dependencies: ["FuzzDriver"]),
        .executableTarget(name: "fuzz-query-compiler", dependencies: ["FuzzDriver"]),
        .executableTarget(name: "fuzz-query-evaluation", dependencies: ["FuzzDriver"]),
        .executableTarget(name: "fuzz-forms", dependencies: ["FuzzDriver"]),
        .executableTarget(name: "fuzz-writing", dependencies: ["FuzzDriver"]),
        .testTarget(name: "FuzzCorpusTests", dependencies: ["FuzzTargets"]),
    ]
)

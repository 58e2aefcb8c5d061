// swift-tools-version: 6.2
import PackageDescription

// A bot as a feature of the engine, with a table of its own; see README.md.
let package = Package(
    name: "counting-bot",
    dependencies: [.package(name: "kalij", path: "../..")],
    targets: [
        .executableTarget(name: "counting-bot", dependencies: [.product(name: "KalijClient", package: "kalij")])
    ]
)

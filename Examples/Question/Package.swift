// swift-tools-version: 6.2
import PackageDescription

// An application on KalijClient with questions that survive its death; see README.md.
let package = Package(
    name: "question",
    dependencies: [.package(name: "kalij", path: "../..")],
    targets: [
        .executableTarget(
            name: "question",
            dependencies: [.product(name: "KalijClient", package: "kalij")])
    ]
)

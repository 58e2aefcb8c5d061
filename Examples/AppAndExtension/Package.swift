// swift-tools-version: 6.2
import PackageDescription

// An application and its notification extension with a shared account; see README.md.
let package = Package(
    name: "app-and-extension",
    dependencies: [.package(name: "kalij", path: "../..")],
    targets: [
        .target(name: "Common", dependencies: [.product(name: "KalijClient", package: "kalij")]),
        .executableTarget(
            name: "app",
            dependencies: [
                "Common", .product(name: "KalijClient", package: "kalij"),
                .product(name: "KalijAddress", package: "kalij"),
            ]),
        .executableTarget(
            name: "notifier", dependencies: ["Common", .product(name: "KalijClient", package: "kalij")]),
    ]
)

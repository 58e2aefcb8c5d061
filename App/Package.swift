// swift-tools-version: 6.2
import PackageDescription

// Beside the engine, so that commands and servers build without GTK. `make app` shares the engine's modules.
let package = Package(
    name: "kalij-app",
    dependencies: [.package(name: "kalij", path: "..")],
    targets: [
        .systemLibrary(name: "CAdwaita", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        // D-Bus, and the main loop.
        .systemLibrary(name: "CGIO", pkgConfig: "gio-unix-2.0", providers: [.apt(["libglib2.0-dev"])]),
        // gdk-pixbuf, and the confinement of the process that decodes.
        .systemLibrary(name: "CDecode", pkgConfig: "gdk-pixbuf-2.0", providers: [.apt(["libgdk-pixbuf-2.0-dev"])]),
        // Names that look alike. ICU's headers are not for Swift: see CSkeleton.h.
        .target(name: "CSkeleton", linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
        // QR codes: written by the app, and read by the process that decodes pictures.
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CZBar", pkgConfig: "zbar", providers: [.apt(["libzbar-dev"])]),
        // gettext, of the C library.
        .systemLibrary(name: "CIntl"),
        // Values in, values out: knows no GTK.
        .target(
            name: "KalijApp",
            dependencies: [
                "CGIO", "CIntl", "CQREncode", "CSkeleton", .product(name: "KalijClient", package: "kalij"),
                .product(name: "KalijCoordination", package: "kalij"), .product(name: "KalijStore", package: "kalij"),
                .product(name: "KalijAddress", package: "kalij"), .product(name: "KalijStream", package: "kalij"),
                .product(name: "KalijTransfer", package: "kalij"),
            ]),
        // Notifications, autostart and the process without a window: does not link GTK, which costs 18 MB even unused.
        .target(
            name: "KalijDesktop",
            dependencies: [
                "CGIO", "KalijApp", .product(name: "KalijClient", package: "kalij"),
                .product(name: "KalijCoordination", package: "kalij"),
            ],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        .target(
            name: "KalijGTK",
            dependencies: [
                "CAdwaita", "KalijApp", "KalijDesktop", .product(name: "KalijClient", package: "kalij"),
                .product(name: "KalijCoordination", package: "kalij"),
            ],
            resources: [.embedInCode("Resources/style.css")],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        .executableTarget(name: "kalij-app", dependencies: ["KalijGTK"]),
        .executableTarget(name: "kalij-app-background", dependencies: ["KalijDesktop"]),
        .executableTarget(name: "kalij-app-decode", dependencies: ["CDecode", "CZBar"]),
        // Calls that a confined process makes.
        .systemLibrary(name: "CProbe", path: "Tests/CProbe", pkgConfig: "gdk-pixbuf-2.0"),
        .testTarget(name: "KalijAppTests", dependencies: ["KalijApp", "KalijDesktop", "CProbe", "kalij-app-decode"]),
    ]
)

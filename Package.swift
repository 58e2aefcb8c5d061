// swift-tools-version: 6.2
import PackageDescription

// Tiers: a target imports only targets on lower lines. ARCHITECTURE.md lists them.
let package = Package(
    name: "kalij",
    products: [
        .library(name: "KalijXML", targets: ["KalijXML"]),
        .library(name: "KalijHandlers", targets: ["KalijHandlers"]),
        .library(name: "KalijAddress", targets: ["KalijAddress"]),
        .library(name: "KalijStream", targets: ["KalijStream"]),
        .library(name: "KalijRatchet", targets: ["KalijRatchet"]),
        .library(name: "KalijTransfer", targets: ["KalijTransfer", "KalijTransport"]),
        .library(name: "KalijStore", targets: ["KalijStore"]),
        .library(name: "KalijCoordination", targets: ["KalijCoordination"]),
        .library(
            name: "KalijClient", targets: ["KalijClient", "KalijEngine", "KalijFeatures", "KalijCore", "KalijText"]),
        .library(name: "KalijTestSupport", targets: ["KalijTestSupport"]),
        .executable(name: "kalij", targets: ["kalij"]),
        .library(name: "KalijPush", targets: ["KalijPush", "KalijHTTP", "KalijWebPush", "KalijTransport"]),
        .library(name: "KalijPushLab", targets: ["KalijPushLab"]),
        .executable(name: "kalij-push", targets: ["kalij-push"]),
    ],
    targets: [
        // System libraries, each behind its own module map.
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CIDN", pkgConfig: "libidn", providers: [.apt(["libidn-dev"])]),
        .systemLibrary(name: "CCares", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        // Only headers: KalijTransfer loads libcurl when the first transfer begins.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // Only headers: KalijUnifiedPush loads libsystemd when a command needs the session bus.
        .systemLibrary(name: "CSystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        .target(name: "KalijXML", dependencies: ["KalijText", "CLibXML2", "CPCRE2", "COpenSSL"]),
        .target(name: "KalijAddress", dependencies: ["KalijText", "CIDN"]),
        .target(name: "KalijHandlers"),
        .target(name: "KalijText"),
        // Help, man pages and completion of the commands.
        .target(name: "KalijCommandLine"),
        .target(name: "KalijStream", dependencies: ["KalijText", "KalijXML", "KalijAddress", "COpenSSL"]),
        // Knows neither XMPP nor the database.
        .target(name: "KalijRatchet", dependencies: ["COpenSSL"]),
        // Local work on files; knows neither XMPP nor the database.
        .target(name: "KalijFiles", dependencies: ["KalijText", "COpenSSL", "CLinux"]),
        .target(name: "KalijStore", dependencies: ["CSQLite", "CLinux"]),
        .target(
            name: "KalijCoordination",
            dependencies: [
                "KalijText", "KalijStore", .target(name: "CLinux", condition: .when(platforms: [.linux])),
            ]),
        .target(name: "KalijTransport", dependencies: ["KalijText", "COpenSSL", "CCares", "CLinux"]),
        // Moves files over HTTP; knows neither XMPP nor the database.
        .target(name: "KalijTransfer", dependencies: ["KalijText", "CCurl", "COpenSSL", "KalijTransport"]),
        .target(
            name: "KalijHTTP", dependencies: ["CNghttp2", "CHTTPParser", "COpenSSL", "KalijText", "KalijTransport"]),
        // Values of Web Push; knows neither XMPP nor a socket.
        .target(name: "KalijWebPush", dependencies: ["KalijText", "COpenSSL"]),
        // The device's side of Web Push on Linux: D-Bus and a file; knows no XMPP.
        .target(name: "KalijUnifiedPush", dependencies: ["KalijText", "KalijWebPush", "CSystemd"]),
        .target(
            name: "KalijCore",
            dependencies: [
                "KalijText", "KalijXML", "KalijAddress", "KalijHandlers", "KalijStream", "KalijStore",
                "KalijCoordination",
                "KalijTransport",
            ]),
        .target(
            name: "KalijFeatures",
            dependencies: [
                "KalijCore", "KalijRatchet", "KalijFiles", "KalijTransfer", "KalijText", "KalijXML", "KalijAddress",
                "KalijHandlers", "KalijStream", "KalijStore", "KalijCoordination", "KalijTransport",
            ]),
        // Drives the accounts; knows no feature but by the capabilities of KalijCore.
        .target(
            name: "KalijEngine",
            dependencies: [
                "KalijCore", "KalijText", "KalijXML", "KalijAddress", "KalijHandlers", "KalijStream", "KalijStore",
                "KalijCoordination", "KalijTransport",
            ]),
        .target(
            name: "KalijClient",
            dependencies: [
                "KalijCore", "KalijEngine", "KalijFeatures", "KalijFiles", "KalijTransfer", "KalijText", "KalijXML",
                "KalijAddress",
                "KalijHandlers", "KalijStream",
                "KalijStore", "KalijCoordination", "KalijTransport",
            ]),
        // For the tests of applications.
        .target(
            name: "KalijTestSupport",
            dependencies: [
                "KalijClient", "KalijEngine", "KalijFeatures", "KalijCore", "KalijAddress", "KalijStream", "KalijXML",
                "KalijStore",
                "KalijCoordination",
            ]),
        .target(
            name: "KalijLab", dependencies: ["KalijText"],
            resources: [
                .embedInCode("Resources/prosody.cfg.lua"), .embedInCode("Resources/ejabberd.yml"),
                .embedInCode("Resources/peer.py"), .embedInCode("Resources/scripted.py"),
                .embedInCode("Resources/mod_lab_names.lua"),
            ]),
        .target(
            name: "KalijPush",
            dependencies: [
                "KalijText", "KalijXML", "KalijAddress", "KalijStream", "KalijStore", "KalijTransport", "KalijHTTP",
                "KalijWebPush", "COpenSSL", "CPSL", "CHiredis",
            ]),
        .executableTarget(
            name: "kalij-push",
            dependencies: [
                "KalijPush", "KalijHTTP", "KalijWebPush", "KalijTransport", "KalijText", "KalijCommandLine",
                "CMicroHTTPD",
            ],
            resources: [.embedInCode("Resources/operator.html")]),
        // Stand-ins for push services, for tests and measurements alone.
        .target(
            name: "KalijPushLab",
            dependencies: ["CNghttp2", "COpenSSL", "KalijText", "KalijTransport", "KalijWebPush", "KalijXML"]),
        // Several kalij-push and a real Redis.
        .target(name: "KalijNodesLab", dependencies: ["KalijLab", "KalijPushLab"]),
        .executableTarget(
            name: "kalij-push-demo", dependencies: ["KalijLab", "KalijNodesLab", "KalijPushLab", "KalijText"]),
        .executableTarget(
            name: "kalij",
            dependencies: [
                "KalijXML", "KalijAddress", "KalijStream", "KalijStore", "KalijCoordination", "KalijTransport",
                "KalijClient", "KalijFiles", "KalijHandlers", "KalijText", "KalijCommandLine", "KalijLab",
                "KalijWebPush", "KalijUnifiedPush",
                "CLinux",
            ]),

        // What the tests of several targets share.
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .testTarget(name: "KalijXMLTests", dependencies: ["KalijXML", "TestSupport"]),
        .testTarget(name: "KalijTextTests", dependencies: ["KalijText"]),
        .testTarget(name: "KalijCommandLineTests", dependencies: ["KalijCommandLine"]),
        .testTarget(name: "KalijAddressTests", dependencies: ["KalijAddress", "TestSupport"]),
        .testTarget(
            name: "KalijHandlersTests",
            dependencies: ["KalijHandlers", "KalijXML", "KalijAddress", "KalijClient", "KalijStore", "TestSupport"],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "KalijStreamTests", dependencies: ["KalijStream", "KalijXML", "KalijAddress", "TestSupport"]),
        .testTarget(
            name: "KalijRatchetTests", dependencies: ["KalijRatchet", "COpenSSL", "TestSupport"], exclude: ["Fixtures"]),
        .testTarget(name: "KalijFilesTests", dependencies: ["KalijFiles", "TestSupport"]),
        .testTarget(name: "KalijStoreTests", dependencies: ["KalijStore", "TestSupport"]),
        .testTarget(name: "KalijCoordinationTests", dependencies: ["KalijCoordination", "KalijStore", "TestSupport"]),
        .testTarget(
            name: "KalijTransportTests", dependencies: ["KalijTransport", "KalijLab", "COpenSSL", "TestSupport"]),
        .testTarget(
            name: "KalijTransferTests", dependencies: ["KalijTransfer", "KalijTransport", "COpenSSL", "TestSupport"]),
        .testTarget(
            name: "KalijHTTPTests",
            dependencies: ["KalijHTTP", "KalijPushLab", "KalijTransport", "COpenSSL", "TestSupport"]),
        .testTarget(name: "KalijWebPushTests", dependencies: ["KalijWebPush", "KalijText", "TestSupport"]),
        .testTarget(
            name: "KalijUnifiedPushTests",
            dependencies: ["KalijUnifiedPush", "KalijWebPush", "KalijText", "TestSupport"]),
        .testTarget(
            name: "KalijPushTests",
            dependencies: [
                "KalijPush", "KalijHTTP", "KalijWebPush", "KalijText", "KalijXML", "KalijStore", "KalijPushLab",
                "KalijTransport", "TestSupport",
            ]),
        .testTarget(
            name: "KalijClientTests",
            dependencies: [
                "KalijClient", "KalijEngine", "KalijFeatures", "KalijCore", "KalijLab", "KalijXML", "KalijAddress",
                "KalijHandlers", "KalijStream", "KalijStore", "KalijRatchet", "KalijCoordination", "KalijTransport",
                "KalijTestSupport", "TestSupport",
            ],
            exclude: ["Fixtures"]),
        .testTarget(name: "KalijTestSupportTests", dependencies: ["KalijTestSupport", "KalijClient", "KalijXML"]),
        // What the command prints, and what its errors say.
        .testTarget(
            name: "KalijCommandTests",
            dependencies: [
                "kalij", "KalijText", "KalijCommandLine", "KalijAddress", "KalijClient", "KalijEngine", "KalijFeatures",
                "KalijCore",
                "KalijCoordination",
                "KalijStore", "KalijStream",
                "KalijTransport", "KalijXML", "TestSupport",
            ]),
        // Against other people's programs; `Programs` is what runs inside those.
        .testTarget(name: "Differential", dependencies: ["KalijXML", "TestSupport"], exclude: ["Programs"]),
        .testTarget(name: "Integration", dependencies: ["KalijLab", "TestSupport"]),
        .testTarget(
            name: "Processes",
            dependencies: [
                "KalijLab", "KalijNodesLab", "KalijPushLab", "KalijRatchet", "KalijCoordination", "KalijStore",
                "TestSupport",
            ]),
    ]
)

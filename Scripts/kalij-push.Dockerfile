# An image with kalij-push. From the project's folder:
#
#   docker build -f Scripts/kalij-push.Dockerfile -t kalij-push .
#   docker run -v /etc/kalij-push:/etc/kalij-push:ro -v kalij-push:/var/lib/kalij-push --network host \
#       --stop-timeout 20 kalij-push
#
# --stop-timeout: the server takes up to ten seconds to send what waits, and ten is all that Docker gives by itself.
# /etc/kalij-push has the settings.json and its keys, readable by user 990. The database and the secret belong into
# /var/lib/kalij-push.
FROM swift:6.3-bookworm AS build
WORKDIR /source
COPY . .
# A folder of its own: a builder without BuildKit knows no .dockerignore beside the Dockerfile.
RUN Scripts/install-packages build \
    && swift build -c release --static-swift-stdlib --product kalij-push --scratch-path /build

FROM debian:12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libc-ares2 libidn12 libmicrohttpd12 libnghttp2-14 \
        libpcre2-8-0 libpsl5 libsqlite3-0 libssl3 libxml2 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 990 --home-dir /var/lib/kalij-push --create-home kalij-push
COPY --from=build /build/release/kalij-push /usr/local/bin/
USER kalij-push
VOLUME /var/lib/kalij-push
ENTRYPOINT ["kalij-push"]
CMD ["serve", "/etc/kalij-push/settings.json"]

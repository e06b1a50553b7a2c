# syntax=docker/dockerfile:1
# A small image that runs as an ordinary user.
#
#   docker build -t phyllo .
#   docker run -p 8080:8080 -v phyllo-data:/data \
#       -v ./tokens:/run/tokens:ro -e PHYLLO_TOKEN_FILE=/run/tokens phyllo
#
# It listens on every address of the container, so it starts only with a file of tokens, or with
# -e PHYLLO_INSECURE=1 where nobody else can reach it, as with -p 127.0.0.1:8080:8080
# (docs/operating.md).
#
# With the engine for FoundationDB clusters (docs/foundationdb.md, compose.yaml):
#
#   docker build --build-arg FOUNDATIONDB=7.3.79 -t phyllo .

# The release of FoundationDB whose client the image has. Empty: the embedded engine only.
ARG FOUNDATIONDB=""

FROM node:22-bookworm-slim AS node

FROM rust:1.95-bookworm AS build
ARG FOUNDATIONDB
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
# The official client package, named foundationdb-clients_VERSION-1_amd64.deb (or _aarch64.deb); it
# stays in /packages for the image.
RUN mkdir /packages \
 && if [ -n "$FOUNDATIONDB" ]; then \
        case "$(dpkg --print-architecture)" in arm64) arch=aarch64 ;; *) arch=amd64 ;; esac \
     && releases=https://github.com/apple/foundationdb/releases/download \
     && package="foundationdb-clients_$FOUNDATIONDB-1_$arch.deb" \
     && curl -fsSL -o "/packages/$package" "$releases/$FOUNDATIONDB/$package" \
     && curl -fsSL -o /tmp/sum "$releases/$FOUNDATIONDB/$package.sha256" \
     && echo "$(cut -d' ' -f1 /tmp/sum)  /packages/$package" | sha256sum --check \
     && dpkg -i "/packages/$package" \
     && apt-get update \
     && apt-get install -y --no-install-recommends libclang-dev \
     && rm -rf /var/lib/apt/lists/*; \
    fi
WORKDIR /phyllo
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/phyllo/target \
    cargo build --release --locked ${FOUNDATIONDB:+--features foundationdb} \
 && cp target/release/phyllo /usr/local/bin/phyllo

FROM debian:bookworm-slim AS image
RUN --mount=type=bind,from=build,source=/packages,target=/packages \
    for package in /packages/*.deb; do [ ! -e "$package" ] || dpkg -i "$package"; done \
 && useradd --system --uid 10001 --home-dir /data --create-home phyllo
COPY --from=build /usr/local/bin/phyllo /usr/local/bin/phyllo
# The authorities that vouch for the server of --jwt-keys.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
USER phyllo
VOLUME /data
ENV PHYLLO_STORE=/data/store PHYLLO_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["/usr/local/bin/phyllo", "collections"]
ENTRYPOINT ["/usr/local/bin/phyllo"]
CMD ["serve"]

# syntax=docker/dockerfile:1
# A small image that runs as an ordinary user.
#
#   docker build -t phyllo .
#   docker run -p 127.0.0.1:8080:8080 -v phyllo-data:/data phyllo

FROM node:22-bookworm-slim AS node

FROM rust:1.95-bookworm AS build
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /phyllo
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/phyllo/target \
    cargo build --release --locked && cp target/release/phyllo /usr/local/bin/phyllo

FROM debian:bookworm-slim AS image
# The Debian package of the FoundationDB client, 7.3, as a path in the build context
# (--build-arg FOUNDATIONDB_CLIENT=foundationdb-clients_7.3.x_amd64.deb). Without it the image has
# the embedded engine only.
ARG FOUNDATIONDB_CLIENT=""
RUN --mount=type=bind,target=/context \
    if [ -n "$FOUNDATIONDB_CLIENT" ]; then dpkg -i "/context/$FOUNDATIONDB_CLIENT"; fi \
 && useradd --system --uid 10001 --home-dir /data --create-home phyllo
COPY --from=build /usr/local/bin/phyllo /usr/local/bin/phyllo
USER phyllo
VOLUME /data
ENV PHYLLO_STORE=/data/store PHYLLO_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["/usr/local/bin/phyllo", "collections"]
ENTRYPOINT ["/usr/local/bin/phyllo"]
CMD ["serve"]

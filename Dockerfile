# syntax=docker/dockerfile:1
# The activator's image. What is in it is put together by bin/image-root, which also runs without an
# engine, and is tested without one: this file builds, copies in layers, and names the process.

ARG MAVEN=docker.io/library/maven:3.9-eclipse-temurin-25
ARG BASE=gcr.io/distroless/base-nossl-debian13:nonroot

FROM ${MAVEN} AS build
WORKDIR /src
COPY pom.xml ./
COPY .mvn .mvn
COPY src src
# What is downloaded stays with the engine, for the next build; no layer has it.
RUN --mount=type=cache,target=/root/.m2,sharing=locked mvn -B -ntp -q package -Dmaven.test.skip=true
COPY bin bin
# Runtime and AOT cache belong together to the byte, and both come from here. The training needs no
# more than the processor and the C library, which are the image's: no class comes from the base.
RUN bin/image-root target/activator.jar /image

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="activator" \
      org.opencontainers.image.description="Holds requests for revisions that are scaled to zero, and forwards each to one pod" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/activator-dev/activator" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# From what changes least to what changes most. COPY keeps the times of files, which the cache checks.
COPY --from=build /image/opt/java /opt/java
COPY --from=build /image/app/native /app/native
COPY --from=build /image/app/lib /app/lib
COPY --from=build /image/app/java.options /image/app/activator.jar /image/app/activator.aot /app/

# What the log says it was built from: there is no repository in the build above.
ENV ACTIVATOR_COMMIT=${REVISION}
# One memory arena a core wastes more than it saves here.
ENV MALLOC_ARENA_MAX=2
WORKDIR /app
USER 65532:65532
EXPOSE 8012 8013 8112 9090 8008
# The JVM is process 1, and gets SIGTERM itself. Kubelet asks port 8012: there is no HEALTHCHECK.
ENTRYPOINT ["/opt/java/bin/java", "@java.options"]

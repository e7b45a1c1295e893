# The image of eRDMA for Kubernetes: the agent and the command line, one launcher for both.
#
# Built from the project's directory after `mvn package`, whose target/ directories are all it takes of the project; no
# Maven and no network but Debian's packages. `make image` does both, and makes the two bases itself where there is no
# registry. amd64 is built and tested; arm64 builds from the same file, and is not proven.
#
#   JDK_BASE            an image with a JDK 25 in $JAVA_HOME
#   DEBIAN_BASE         a Debian 12; only the files of the packages that are needed get into the result
#   SOURCE_DATE_EPOCH   time of each file, so that the same content makes the same layers
#   VERSION, REVISION   for the labels
ARG JDK_BASE=eclipse-temurin:25-jdk
ARG DEBIAN_BASE=debian:bookworm-slim

FROM ${JDK_BASE} AS jre
# java.xml: Jackson, for the cluster's API. java.management, jdk.management: Micrometer's gauges of the process.
# The rest is what the jars use by themselves (jdeps), and jdk.httpserver the probes.
ARG JAVA_MODULES=java.base,java.logging,java.management,java.naming,java.net.http,java.xml,jdk.httpserver,jdk.management,jdk.unsupported
# Unpacked classes would take 20 MB more; those the agent needs are in its start-up cache.
RUN "$JAVA_HOME/bin/jlink" --add-modules "$JAVA_MODULES" --output /layer/opt/erdma/jre \
        --release-info "$JAVA_HOME/release" \
        --compress zip-6 --no-header-files --no-man-pages --strip-java-debug-attributes \
 && rm -rf /layer/opt/erdma/jre/bin/keytool /layer/opt/erdma/jre/bin/jrunscript
ARG SOURCE_DATE_EPOCH=0
RUN find /layer -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

FROM ${DEBIAN_BASE} AS debian
RUN apt-get -q update \
 && DEBIAN_FRONTEND=noninteractive apt-get -qy -o Dpkg::Use-Pty=0 upgrade \
 && DEBIAN_FRONTEND=noninteractive apt-get -qy -o Dpkg::Use-Pty=0 install --no-install-recommends \
        libibverbs1 ibverbs-providers librdmacm1 kmod util-linux

FROM debian AS root
COPY build/image-root.sh /build/
ARG SOURCE_DATE_EPOCH=0
RUN sh /build/image-root.sh /layer

# The agent works a day with stand-ins for kubelet and devices, to fill its start-up cache: the paths of jars and Java are
# those of the result, as the cache is for no others.
FROM debian AS training
RUN DEBIAN_FRONTEND=noninteractive apt-get -qy -o Dpkg::Use-Pty=0 install --no-install-recommends \
        gcc libc6-dev libibverbs-dev
COPY controller/target/erdma /opt/erdma
ARG SOURCE_DATE_EPOCH=0
RUN cd /opt/erdma/lib/native && find . -mindepth 1 -maxdepth 1 ! -name "$(uname -m)" -exec rm -r {} + \
 && rm -f /opt/erdma/lib/agent.aot /opt/erdma/lib/agent.aot.made-of \
 && mkdir -p /layers/application/opt /layers/cache/opt/erdma/lib \
 && cp -a /opt/erdma /layers/application/opt/ \
 && find /opt/erdma /layers -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
COPY --from=jre /layer/opt/erdma/jre /opt/erdma/jre
COPY build /build/build
COPY controller/target/test-classes /build/controller/target/test-classes
COPY device-plugin/target/test-classes /build/device-plugin/target/test-classes
COPY native/target/test-classes /build/native/target/test-classes
RUN ln -s /opt/erdma /build/controller/target/erdma \
 && ERDMA_TEST_JAVA=/opt/erdma/jre/bin/java /build/build/aot-cache.sh --stand-ins /opt/erdma \
 && cp /opt/erdma/lib/agent.aot /opt/erdma/lib/agent.aot.made-of /layers/cache/opt/erdma/lib/ \
 && find /layers/cache -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

# Four layers, by how seldom they change.
FROM scratch
COPY --from=root /layer/ /
COPY --from=jre /layer/ /
COPY --from=training /layers/application/ /
COPY --from=training /layers/cache/ /
ENV PATH=/opt/erdma/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="eRDMA for Kubernetes" \
      org.opencontainers.image.description="Device plugin, node agent and command line for Alibaba Cloud's eRDMA" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.base.name="debian:bookworm"
# What listens is the probe address; the chart gives it.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/opt/erdma/bin/erdma"]
CMD ["agent"]

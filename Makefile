# Every target finds a JDK 25 by itself (build/jdk.sh) and installs the Debian packages it needs (build/install.sh).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

MVN = JAVA_HOME="$$(build/jdk.sh)" mvn -B -ntp
SCRIPTS = build/*.sh e2e/*.sh e2e/*/*.sh e2e/k8s/scenarios/*.sh .ci/run controller/src/main/dist/bin/erdma

.PHONY: help install build lint verify lab image test e2e e2e-short demo bench soak clean

help: ## what there is to make
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

install: ## install the Debian packages and the lab's kernel, where missing
	@build/jdk.sh >/dev/null
	@build/install.sh

build: install ## build the runnable tree controller/target/erdma, without running tests
	@build/build.sh

lint: install
	shellcheck $(SCRIPTS)

verify: install
	rm -rf {native,proto,device-plugin,controller,charts,image}/target/{surefire,failsafe}-reports target/{lab,soak}
	timeout --kill-after=30 1800 env $(MVN) -fae verify

lab: build ## run the lab: the agent on a real kernel's RDMA stack, in a virtual machine
	@e2e/lab.sh

image: build ## build the container image and save it as target/image/erdma-controller.tar
	@build/image.sh

test: lint verify ## everything: static checks, unit and integration tests, the lab, a short soak
	@timeout --kill-after=10 300 build/aot-cache.sh --stand-ins controller/target/erdma
	@e2e/lab.sh
	@e2e/soak.sh --short
	@build/report.sh

e2e: image ## prove it all on a real kubelet and API server (builds those once; forty minutes)
	@e2e/k8s/e2e.sh

e2e-short: image ## the same with three scenarios and fewer restarts
	@e2e/k8s/e2e.sh --short

demo: ## tell the story of the agent's main job in the lab
	@e2e/demo.sh

bench: image ## measure latencies and memory on this machine; writes docs/bench.md
	@e2e/bench.sh

soak: build ## 1,000 kubelet restarts and 10,000 discovery cycles
	@e2e/soak.sh

clean: ## remove what was built; the lab's kernel (.lab) stays
	build/docker.sh stop
	$(MVN) -q clean
	rm -rf target

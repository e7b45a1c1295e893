#!/bin/bash
cat /tmp/e2e-tmp/agent.yaml

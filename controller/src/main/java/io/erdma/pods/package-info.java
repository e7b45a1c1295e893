/**
 * Who uses RDMA: from queue pairs and verbs contexts to processes, their containers and pods; and which pods hold shares
 * without using them. {@link io.erdma.pods.UsageReader} gathers {@link io.erdma.pods.UsageFacts}; what they mean is
 * decided without I/O.
 */
package io.erdma.pods;

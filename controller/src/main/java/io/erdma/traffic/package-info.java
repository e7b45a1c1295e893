/** How much traffic RDMA devices carry: counters as the kernel exports them, what they mean, and rates between two readings. */
package io.erdma.traffic;

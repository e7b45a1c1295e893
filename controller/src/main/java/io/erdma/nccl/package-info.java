/**
 * What a training log says about NCCL's network: {@link io.erdma.nccl.LogReader} turns bytes into a
 * {@link io.erdma.nccl.NcclLog}, {@link io.erdma.nccl.NcclRules} that into an {@link io.erdma.nccl.NcclVerdict}. Neither
 * does I/O. The forms of the lines are those of NCCL 2.18 to 2.30 ({@code src/transport/net_ib*},
 * {@code src/transport/net.cc}, {@code src/init.cc}, {@code src/debug.cc}).
 */
package io.erdma.nccl;

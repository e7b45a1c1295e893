package io.erdma.plugin;

/** Knows which CDI devices the container runtime can resolve now. */
@FunctionalInterface
public interface CdiNames {
    CdiNames NONE = name -> false;

    /** @param name fully qualified, for example {@code aliyun.com/erdma=erdma_0} */
    boolean resolvable(String name);
}

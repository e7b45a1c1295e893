package io.erdma.doctor;

/** How a check ended. */
public enum Verdict {
    PASS("pass"),
    WARN("warn"),
    FAIL("fail"),
    /** Could not be looked at. */
    NOT_SEEN("not-seen"),
    /** There is nothing here that it is about. */
    SKIPPED("skipped");

    private final String word;

    Verdict(String word) {
        this.word = word;
    }

    /** As programs read it. */
    public String word() {
        return word;
    }
}

package io.erdma.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final String BEFORE = Report.page(
            List.of(Figure.of("resident", 1, 80, "MB"), Figure.of("idle CPU", 1, 0.2, "%")), "", List.of("as it was"));

    @Test
    void marksWhatIsAFifthWorseThanTheCommittedPage() {
        List<Figure> now = List.of(Figure.of("resident", 1, 96, "MB"), Figure.of("idle CPU", 1, 0.2, "%"));

        assertThat(Report.page(now, BEFORE, List.of()))
                .contains("| resident | 96.0 MB ×1.20 |  |  |  | `############........!` |")
                .contains("| idle CPU | 0.200 % ×1.00 |  |  |  | `##########..........` |");
        assertThat(Report.stepsBack(now, BEFORE)).isEqualTo(1);
    }

    @Test
    void takesADifferenceOfATenthForChance() {
        List<Figure> now = List.of(Figure.of("resident", 1, 88, "MB"));

        assertThat(Report.page(now, BEFORE, List.of())).contains("| `###########.........` |");
        assertThat(Report.stepsBack(now, BEFORE)).isZero();
    }

    @Test
    void comparesNothingThatTheCommittedPageDoesNotHave() {
        List<Figure> now = List.of(Figure.of("threads", 1, 20, "threads"));

        assertThat(Report.page(now, BEFORE, List.of())).contains("| threads | 20.0 threads |  |  |  |  |");
        assertThat(Report.stepsBack(now, BEFORE)).isZero();
    }
}

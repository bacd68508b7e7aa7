package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinksTest {
  @Test
  void leadSomewhere() {
    assertThat(Page.all()).hasSizeGreaterThan(10);
    assertThat(Page.all()).flatExtracting(LinksTest::dead).isEmpty();
  }

  @Test
  void areFoundWhereTheyAreDead(@TempDir Path directory) throws Exception {
    var page = directory.resolve("page.md");
    Files.writeString(directory.resolve("other.md"), "# A `Heading`, twice\n## A Heading, twice\n");
    Files.writeString(page, """
        [1](other.md) [2](other.md#a-heading-twice) [3](other.md#a-heading-twice-1) [4](#here)
        [5](none.md) [6](other.md#none) [7](#none) [8](https://example.com/none) `[9](none.md)`
        ## Here
        ```
        [10](none.md)
        ```
        """);

    assertThat(dead(Page.of(page))).containsExactly(page + ": none.md", page + ": other.md#none",
        page + ": #none");
  }

  @Test
  void leadToEveryPage() {
    var reached = new ArrayList<Path>();
    var todo = new ArrayList<>(List.of(Path.of("README.md")));
    while (!todo.isEmpty()) {
      var file = todo.removeLast();
      if (!reached.contains(file) && file.toString().endsWith(".md")) {
        reached.add(file);
        var page = Page.of(file);
        page.links().forEach(link -> todo.add(page.target(link)));
      }
    }
    // Decisions are a folder that one browses.
    assertThat(Page.all()).map(Page::file)
        .filteredOn(file -> file.startsWith("docs") && !file.startsWith("docs/decisions"))
        .isSubsetOf(reached);
  }

  @Test
  void decisionsHaveNumbersThatDifferAndAreListed() throws Exception {
    var listed = Page.of(Path.of("docs/decisions/README.md")).links();
    List<String> decisions;
    try (var files = Files.list(Path.of("docs/decisions"))) {
      decisions = files.map(file -> file.getFileName().toString())
          .filter(name -> !name.equals("README.md")).sorted().toList();
    }

    assertThat(listed).isEqualTo(decisions);
    assertThat(decisions).map(name -> Integer.parseInt(name.substring(0, 3)))
        .doesNotHaveDuplicates();
  }

  private static List<String> dead(Page page) {
    return page.links().stream().filter(link -> !leadsSomewhere(page, link))
        .map(link -> page + ": " + link).toList();
  }

  private static boolean leadsSomewhere(Page page, String link) {
    var target = page.target(link);
    if (!Files.exists(target)) {
      return false;
    }
    int anchor = link.indexOf('#');
    return anchor < 0 || Page.of(target).anchors().contains(link.substring(anchor + 1));
  }
}

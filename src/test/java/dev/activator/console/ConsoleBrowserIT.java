package dev.activator.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Chromium;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** The console in a real browser. */
@EnabledIf("dev.activator.testing.Chromium#isInstalled")
class ConsoleBrowserIT {
  private static final String CARD = "document.getElementById('r.default.hello-00001')";

  @Test
  void followsWhatHappensAndKeepsWhereThePersonIs(@TempDir Path profile) throws Exception {
    var console = new LivePageTest();
    try (var browser = new Chromium(profile)) {
      browser.size(360, 740);
      browser.open(console.url("/console"));
      browser.awaitTrue("document.getElementById('none') !== null");

      // a card appears without a new page
      browser.value("window.same = true");
      console.addRevision();
      console.tick();
      browser.awaitTrue(CARD + " !== null");
      assertThat(browser.value(CARD + ".querySelector('.state').textContent")).isEqualTo("at zero");
      assertThat(browser.value("window.same")).isEqualTo("true");

      // and it changes under the focus of the keyboard
      browser.value("document.getElementById('a.r.default.hello-00001').focus()");
      console.addWaiting();
      browser.awaitTrue(CARD + ".querySelector('.running') !== null", console::tick);
      assertThat(browser.value("document.activeElement.id")).isEqualTo("a.r.default.hello-00001");

      // a phone shows all of it, the numbers on one line, and the state beside the name
      console.addTrouble();
      browser.awaitTrue(CARD + ".querySelector('ul') !== null", console::tick);
      assertThat(browser.value("document.documentElement.scrollWidth <= innerWidth"))
          .isEqualTo("true");
      assertThat(browser.value("new Set([..." + CARD + ".querySelectorAll('.numbers > div')]"
          + ".map(each => each.offsetTop)).size")).isEqualTo("1");
      assertThat(browser.value(CARD + ".querySelector('h2').getBoundingClientRect().right <= "
          + CARD + ".querySelector('.state').getBoundingClientRect().left")).isEqualTo("true");

      // the filter hides the others, also after the next news
      browser.value("(filter.value = 'nobody', filter.dispatchEvent(new Event('input')))");
      console.tick();
      browser.awaitTrue(CARD + ".hidden");
      browser.value("(filter.value = 'hello', filter.dispatchEvent(new Event('input')))");
      browser.awaitTrue("!" + CARD + ".hidden");

      // every control has a name, and every picture a text
      assertThat(browser.value("[...document.querySelectorAll('a, button, input, svg')]"
          + ".filter(each => !(each.ariaLabel || each.textContent.trim() || each.labels?.length))"
          + ".length")).isEqualTo("0");

      // and on the page of a revision the keyboard reaches what is wider than a phone
      browser.open(console.url("/console/default/hello-00001"));
      browser.awaitTrue("document.getElementById('settings') !== null");
      assertThat(browser.value("[...document.querySelectorAll('.scroll')]"
          + ".filter(each => each.tabIndex < 0).length")).isEqualTo("0");
      browser.value("document.getElementById('settings.table').focus()");
      browser.awaitTrue("/Last failure/.test(document.body.textContent)", () -> {
        console.fail();
        console.tick();
      });
      assertThat(browser.value("document.activeElement.id")).isEqualTo("settings.table");

      // and without news it says how old it is
      browser.awaitTrue("document.body.classList.contains('old') && !stale.hidden");
      assertThat(browser.problems()).isEmpty();
    } finally {
      console.close();
    }
  }
}

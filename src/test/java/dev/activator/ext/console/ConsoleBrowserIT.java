package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Chromium;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** The console in a real browser. */
@EnabledIf("dev.activator.testing.Chromium#isInstalled")
class ConsoleBrowserIT {
  private static final String ROW = "document.getElementById('r.default.hello-00001')";

  @Test
  void followsWhatHappensAndKeepsWhereThePersonIs(@TempDir Path profile) throws Exception {
    var console = new LiveConsoleTest();
    try (var browser = new Chromium(profile)) {
      browser.size(360, 740);
      browser.open(console.url("/console"));
      browser.awaitTrue("document.getElementById('services') !== null");

      // a row appears without a new page
      browser.value("window.same = true");
      console.addRevision();
      console.tick();
      browser.awaitTrue(ROW + " !== null");
      assertThat(browser.value(ROW + ".querySelector('.state').textContent")).isEqualTo("at zero");
      assertThat(browser.value("window.same")).isEqualTo("true");

      // and it changes under the focus of the keyboard
      browser.value("document.getElementById('l.r.default.hello-00001').focus()");
      console.addWaiting();
      browser.awaitTrue("document.querySelector('#attention .running') !== null", console::tick);
      assertThat(browser.value("document.activeElement.id")).isEqualTo("l.r.default.hello-00001");

      // a phone shows all of it
      console.addTrouble();
      browser.awaitTrue("document.querySelector('#attention ul') !== null", console::tick);
      assertThat(browser.value("document.documentElement.scrollWidth <= innerWidth"))
          .isEqualTo("true");

      // the filter is applied by the server, and is in the address
      browser.value("(filter.value = 'nobody', filter.dispatchEvent(new Event('input')))");
      browser.awaitTrue(ROW + " === null && location.search === '?q=nobody'", console::tick);
      browser.value("(filter.value = 'hello', filter.dispatchEvent(new Event('input')))");
      browser.awaitTrue(ROW + " !== null && location.search === '?q=hello'", console::tick);

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

package dev.activator.ext.admit;

import static dev.activator.app.BoundSettings.bind;
import static dev.activator.app.BoundSettings.line;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class GatewayAdmitPropertiesTest {
  @Test
  void refusesADurationOfZero() {
    assertThat(line("activator.admit", GatewayAdmitProperties.class,
        Map.of("ACTIVATOR_ADMIT_REQUESTDURATION", "0s"))).isEqualTo(
            "activator.admit.request-duration is 0s, but must be more than 0");
  }

  /** A number of nanoseconds would overflow. */
  @Test
  void takesAHundredYearsForADurationThatIsLonger() {
    var admit = bind("activator.admit", GatewayAdmitProperties.class,
        Map.of("ACTIVATOR_ADMIT_ENDPOINTSDELAY", "200000d", "ACTIVATOR_ADMIT_REQUESTDURATION",
            "200000d"));
    assertThat(admit.endpointsDelay().plus(admit.requestDuration()).toNanos()).isPositive();
  }
}

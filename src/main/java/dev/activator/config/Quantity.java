package dev.activator.config;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * A Kubernetes quantity of cores or bytes, such as {@code 500m}, {@code 128Mi} or {@code 1e3}.
 *
 * <p><b>Source.</b> {@code resource.Quantity} of {@code k8s.io/apimachinery}.
 */
public record Quantity(BigDecimal number) {
  private static final Pattern FORM = Pattern.compile(
      "([+-]?(?:\\d++\\.?+\\d*+|\\.\\d++))(?:([eE][+-]?\\d{1,3})|([KMGTPE])i|([numkMGTPE]))?");
  private static final String BINARY = "KMGTPE";
  private static final String DECIMAL = "num kMGTPE"; // The blank is a factor of 1.

  public static boolean isOne(String text) {
    return FORM.matcher(text).matches();
  }

  public static Quantity of(long number) {
    return new Quantity(BigDecimal.valueOf(number));
  }

  /** @throws IllegalArgumentException if the text is not a quantity */
  public static Quantity parse(String text) {
    var found = FORM.matcher(text);
    if (!found.matches()) {
      throw new IllegalArgumentException("'" + text + "' is not a quantity, such as 500m or 1Gi");
    }
    var number = new BigDecimal(found.group(1) + Objects.requireNonNullElse(found.group(2), ""));
    if (found.group(3) != null) {
      return new Quantity(
          number.multiply(BigDecimal.TWO.pow(10 * (1 + BINARY.indexOf(found.group(3))))));
    }
    int thousands = found.group(4) == null ? 0 : DECIMAL.indexOf(found.group(4)) - 3;
    return new Quantity(number.scaleByPowerOfTen(3 * thousands));
  }

  /** The number of divisors, rounded up. */
  public String in(Quantity divisor) {
    return number.divide(divisor.number, 0, RoundingMode.CEILING).toPlainString();
  }
}

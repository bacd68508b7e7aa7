package dev.activator.waking.policy;

/**
 * Computes the beta distribution.
 *
 * <p><b>Source.</b> The continued fraction of <i>Numerical Recipes</i>, 6.4, and Lanczos' approximation of
 * the gamma function.
 */
final class BetaDistribution {
  private static final double[] LANCZOS = {76.18009172947146, -86.50532032941677,
      24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5};
  private static final int MAX_TERMS = 200;
  private static final double PRECISION = 1e-10;
  private static final double TINY = 1e-300;

  private BetaDistribution() {}

  /** The probability of a value below {@code x}, which is between 0 and 1. */
  static double cdf(double x, double a, double b) {
    if (x > (a + 1) / (a + b + 2)) {
      return 1 - cdf(1 - x, b, a);
    }
    double front = Math.exp(
        logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
    return front * fraction(x, a, b) / a;
  }

  private static double fraction(double x, double a, double b) {
    double c = 1;
    double d = inverse(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int m = 1; m <= MAX_TERMS; m++) {
      double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      d = inverse(1 + even * d);
      c = notZero(1 + even / c);
      result *= d * c;
      double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = inverse(1 + odd * d);
      c = notZero(1 + odd / c);
      result *= d * c;
      if (Math.abs(d * c - 1) < PRECISION) {
        break;
      }
    }
    return result;
  }

  private static double inverse(double value) {
    return 1 / notZero(value);
  }

  private static double notZero(double value) {
    return Math.abs(value) < TINY ? TINY : value;
  }

  private static double logGamma(double x) {
    double shifted = x + 5.5;
    double sum = 1.000000000190015;
    for (int i = 0; i < LANCZOS.length; i++) {
      sum += LANCZOS[i] / (x + 1 + i);
    }
    return Math.log(2.5066282746310005 * sum / x) + (x + 0.5) * Math.log(shifted) - shifted;
  }
}

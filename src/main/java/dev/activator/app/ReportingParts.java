package dev.activator.app;

import dev.activator.lifecycle.Part;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;

/** What tells the autoscaler of requests. */
record ReportingParts(AutoscalerLink autoscaler, ConcurrencyReporter reporter) {

  Part link() {
    return new Part("autoscaler link", autoscaler::open, autoscaler::close);
  }

  Part statistics() {
    return new Part("statistics", reporter::start, reporter::stop);
  }
}

package dev.activator.proxy.policy;

/** The version of HTTP in a request's head. */
public enum RequestVersion {
  HTTP_1_0,
  HTTP_1_1,
  HTTP_2,
  OTHER
}

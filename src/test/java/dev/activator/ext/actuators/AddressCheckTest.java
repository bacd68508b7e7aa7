package dev.activator.ext.actuators;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import okhttp3.HttpUrl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressCheckTest {
  private static final HttpUrl API = HttpUrl.get("https://api.corp:6443/");

  private static String refusal(String host, String address) throws Exception {
    return AddressCheck.refusal(host, InetAddress.ofLiteral(address), false, API,
        List.of(InetAddress.ofLiteral("10.96.0.1")));
  }

  @ParameterizedTest(name = "{0} at {1}: {2}")
  @CsvSource({"vm.shop, 127.0.0.1, own address", "vm.shop, 127.9.9.9, own address",
      "vm.shop, ::1, own address", "vm.shop, 0.0.0.0, own address", "vm.shop, ::, own address",
      "vm.shop, ::ffff:127.0.0.1, own address", "vm.shop, ::7f00:1, own address",
      "vm.shop, 64:ff9b::7f00:1, own address", "vm.shop, 2002:7f00:1::, own address",
      "vm.shop, 169.254.169.254, link-local", "vm.shop, fe80::1, link-local",
      "vm.shop, 64:ff9b::a9fe:a9fe, link-local", "vm.shop, fd00:ec2::254, metadata service",
      "vm.shop, fd00:ec2::23, metadata service", "vm.shop, fd20:ce::254, metadata service",
      "vm.shop, 100.100.100.200, metadata service", "vm.shop, 224.0.0.1, multicast",
      "vm.shop, 10.96.0.1, the Kubernetes API", "localhost, 169.254.1.1, link-local",
      "localhost, 10.96.0.1, the Kubernetes API", "kubernetes.evil.com, 10.96.0.1, Kubernetes API"})
  void refusesWhatNoNameMayLeadTo(String host, String address, String why) throws Exception {
    assertThat(refusal(host, address)).contains(why);
  }

  @ParameterizedTest(name = "{0} at {1}")
  @CsvSource({"vm.shop, 10.0.0.7", "vm.shop, 192.168.1.2", "vm.shop, fd00::7",
      "vm.shop, 2a01:4f8::1", "localhost, 127.0.0.1", "localhost, ::1", "127.0.0.1, 127.0.0.1",
      "169.254.169.254, 169.254.169.254", "::1, ::1", "kubernetes.default.svc, 10.96.0.1",
      "api.corp, 10.96.0.1", "10.96.0.1, 10.96.0.1"})
  void allowsOthers_andThoseThatAreNamed(String host, String address) throws Exception {
    assertThat(refusal(host, address)).isNull();
  }

  @Test
  void refusesTheAddressesThatTheApiHasNow_orHadWhenItsNameWasLastFound() throws Exception {
    var now = new AtomicReference<>("10.96.0.1");
    var check = new AddressCheck(API::toString, _ -> {
      if (now.get().isEmpty()) {
        throw new UnknownHostException("not now");
      }
      return List.of(InetAddress.ofLiteral(now.get()));
    });

    assertThat(check.refusal("vm.shop", InetAddress.ofLiteral("10.96.0.1")))
        .contains("the Kubernetes API");
    now.set("10.96.0.2");
    assertThat(check.refusal("vm.shop", InetAddress.ofLiteral("10.96.0.2")))
        .contains("the Kubernetes API");
    now.set("");
    assertThat(check.refusal("vm.shop", InetAddress.ofLiteral("10.96.0.2")))
        .contains("the Kubernetes API");
  }
}

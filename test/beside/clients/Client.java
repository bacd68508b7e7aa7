import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Java's client: reads URLs from its input, and writes one line for each response. */
public class Client {
  public static void main(String[] args) {
    var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    for (var url = IO.readln(); url != null; url = IO.readln()) {
      try {
        var response = client.send(
            HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofMillis(1500)).build(), BodyHandlers.ofString());
        var body = response.body();
        IO.println(response.statusCode() + " " + body.substring(0, Math.min(60, body.length())).replaceAll("\\R", " "));
      } catch (Exception e) {
        IO.println("error " + e.getClass().getSimpleName());
      }
    }
  }
}

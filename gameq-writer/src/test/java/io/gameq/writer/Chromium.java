package io.gameq.writer;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/** Debian's headless Chromium, with the driver that belongs to it. Stateless. */
final class Chromium {
  private static final Path BROWSER = Path.of("/usr/bin/chromium");
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

  private Chromium() {}

  /** Why there is none; empty when there is. */
  static Optional<String> missing() {
    return Files.isExecutable(BROWSER) && Files.isExecutable(DRIVER)
        ? Optional.empty()
        : Optional.of(
            "Debian's packages chromium and chromium-driver are not installed: the console is not"
                + " tried in a browser");
  }

  /**
   * Starts one that asks nobody but the pages it is sent to.
   *
   * @param profile an empty folder
   */
  static WebDriver start(Path profile) {
    ChromeOptions options = new ChromeOptions();
    options.setBinary(BROWSER.toString());
    options.addArguments(
        "--headless",
        "--no-sandbox", // tests run as root, too
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--user-data-dir=" + profile,
        "--window-size=1280,900");
    return new ChromeDriver(
        new ChromeDriverService.Builder()
            .usingDriverExecutable(new File(DRIVER.toString()))
            .usingAnyFreePort()
            .build(),
        options);
  }
}

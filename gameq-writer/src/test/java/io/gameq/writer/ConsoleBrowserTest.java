package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.WebElement;

/** The console in a real browser; left out, with a line that says so, where there is none. */
@TestInstance(Lifecycle.PER_CLASS)
class ConsoleBrowserTest {
  private ConsoleWorld world;
  private WebDriver browser;

  @BeforeAll
  void start(@TempDir Path directory, @TempDir Path profile) throws Exception {
    Chromium.missing().ifPresent(System.out::println);
    assumeTrue(Chromium.missing().isEmpty(), () -> Chromium.missing().orElseThrow());
    world = new ConsoleWorld(directory, ConsoleWorld.tokens());
    world.refuse();
    browser = Chromium.start(profile);
    browser.get("http://localhost:" + world.http.port() + "/");
    find("input[name=name]").sendKeys("ann");
    find("input[name=token]").sendKeys(ConsoleWorld.TOKEN);
    press("Sign in");
    awaitText("ann (ops)");
  }

  @AfterAll
  void stop() {
    if (browser != null) {
      browser.quit();
    }
    if (world != null) {
      world.close();
    }
  }

  private WebElement find(String css) {
    return await()
        .atMost(LONG)
        .ignoreExceptions()
        .until(() -> browser.findElement(By.cssSelector(css)), WebElement::isDisplayed);
  }

  private void press(String label) {
    await()
        .atMost(LONG)
        .ignoreExceptions()
        .until(
            () -> {
              browser.findElement(By.xpath("//button[normalize-space()='" + label + "']")).click();
              return true;
            });
  }

  private void awaitText(String text) {
    await()
        .atMost(LONG)
        .ignoreExceptions()
        .until(() -> browser.findElement(By.tagName("body")).getText().contains(text));
  }

  private void go(String hash) {
    ((JavascriptExecutor) browser).executeScript("location.hash = arguments[0]", hash);
  }

  @Test
  void aDeadLetterIsFoundEditedAndRetriedUntilItsRowIsInMySql() throws Exception {
    go("#/owners");
    find("input[name=q]").sendKeys("player:1");
    press("Search");
    awaitText("1 found");
    find("tbody a").click();
    awaitText("Trace of player:1");
    awaitText("1 dead letter");
    go("#/dead");
    find("form.filter input[name=owner]").sendKeys("player:1");
    press("Filter");
    awaitText("1 of 1 dead letter");
    find("tbody a").click();
    awaitText("values are hidden");
    assertFalse(String.valueOf(browser.getPageSource()).contains("6000"));
    press("Show values");
    awaitText("6000");
    press("Edit");
    WebElement count = find("textarea[name=count]");
    count.clear();
    count.sendKeys("42");
    press("Save");
    await().atMost(LONG).until(() -> browser.findElements(By.cssSelector("textarea")).isEmpty());
    awaitText("42");
    press("Retry");
    find("dialog[open] button.primary").click();
    awaitText("written");
    assertEquals("42", world.game.queryText("SELECT count FROM item WHERE player_id = 1"));
    assertEquals(
        "dead show,dead edit,dead show,dead retry",
        world.game.queryText(
            "SELECT GROUP_CONCAT(action ORDER BY id) FROM gameq_audit WHERE action LIKE 'dead %'"
                + " AND who = 'ann (ops)'"));
  }

  private @Nullable Object script(String of) {
    return ((JavascriptExecutor) browser).executeScript("return " + of);
  }

  @Test
  void whatTheConsoleCanDoIsALinkAndAnActionKeepsTheFocus() throws Exception {
    world.commit(21, 1, 6_000, "a");
    await()
        .atMost(LONG)
        .until(
            () ->
                world
                    .game
                    .queryText("SELECT COUNT(*) FROM gameq_dead_letter WHERE owner = 'player%3A21'")
                    .equals("1"));
    go("#/");
    awaitText("this one");
    find(".table a.button[href='#/dead?owner=player%3A21']");
    go("#/trace?owner=player%3A21");
    WebElement retry = find(".attention a[href='#/dead?owner=player%3A21']");
    assertEquals("retry them", retry.getText());
    assertFalse(find("body").getText().contains("gameq-writer"));
    retry.click();
    awaitText("1 of 1 dead letter");

    go("#/held");
    WebElement pause = find("form[aria-label='Pause something'] button[type=submit]");
    pause.click();
    press("Cancel");
    assertEquals(pause, browser.switchTo().activeElement());
    pause.click();
    find("dialog[open] input[name=reason]").sendKeys("backup");
    find("dialog[open] button[type=submit]").click();
    awaitText("somebody resumes it");
    go("#/trace?owner=player%3A21");
    awaitText("backup");
    go("#/");
    find("button[aria-label='Resume everything']").sendKeys(Keys.ENTER);
    find("dialog[open] button[type=submit]").click();
    await()
        .atMost(LONG)
        .until(() -> browser.findElements(By.cssSelector("button[aria-label^=Resume]")).isEmpty());
    await().atMost(LONG).until(() -> "DIV".equals(script("document.activeElement.tagName")));
    assertEquals("table", script("document.activeElement.className"));
  }

  @Test
  void aGuildIsFoundByItsName() throws Exception {
    world.note("foxes", "fine");
    await().atMost(LONG).until(() -> world.game.queryText("SELECT COUNT(*) FROM note").equals("1"));
    go("#/owners");
    find("input[name=text]").sendKeys("fox");
    find("select[name=how] option[value=beginning]").click();
    press("Find");
    find("section a[href='#/trace?owner=guild%3Afoxes']").click();
    awaitText("Trace of guild:foxes");
  }

  @Test
  void noStoredScriptRunsOnAnyPage() throws Exception {
    long letter = world.letter("note");
    for (String page :
        new String[] {
          "#/owners",
          "#/trace?owner=guild%3A%3Cscript%3Ealert(1)%3C%2Fscript%3E",
          "#/dead",
          "#/letter/" + letter,
          "#/held",
          "#/stale",
          "#/settings",
          "#/audit",
          "#/slots",
          "#/"
        }) {
      go(page);
      find("h1");
      assertFalse(find("body").getText().contains("the page failed"), page);
    }
    go("#/letter/" + letter);
    press("Show values");
    awaitText(ConsoleWorld.SCRIPT + " is too long");
    awaitText(ConsoleWorld.GUILD);
    assertTrue(browser.findElements(By.cssSelector("main script")).isEmpty());
    browser.switchTo().defaultContent(); // throws when an alert is open
    assertEquals("Letter " + letter + " · gameq", browser.getTitle());
  }
}

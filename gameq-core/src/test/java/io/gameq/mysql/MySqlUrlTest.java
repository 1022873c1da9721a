package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mysql.cj.conf.PropertyDefinitions;
import com.mysql.cj.conf.PropertyKey;
import io.gameq.GameQueueException;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MySqlUrlTest {
  private static final String URL = "jdbc:mysql://db-1/game";

  @Test
  void isTakenApart() {
    assertEquals(new MySqlUrl("db-1:3306", "game", Map.of()), MySqlUrl.parse(URL));
    assertEquals("[::1]:3307", MySqlUrl.parse("jdbc:mysql://[::1]:3307").address());
    assertEquals("", MySqlUrl.parse("jdbc:mysql://db-1:3307/").database());
    assertEquals(
        Map.of("connectionTimeZone", "UTC", "sslMode", "REQUIRED"),
        MySqlUrl.parse(URL + "?serverTimezone=UTC&sslMode=REQUIRED").options());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "connectionCollation=latin1_swedish_ci",
        "characterSetResults=latin1",
        "sessionVariables=sql_mode=''",
        "customCharsetMapping=x:y",
        "clobCharacterEncoding=latin1",
        "blobsAreStrings=true",
        "padCharsWithSpace=true",
        "emptyStringsConvertToZero=false",
        "maxRows=10",
        "sendFractionalSeconds=false",
        "sendFractionalSecondsForTime=false",
        "noDatetimeStringSync=true",
        "preserveInstants=false",
        "treatUtilDateAsTimestamp=false",
        "forceConnectionTimeZoneToSession=true",
        "continueBatchOnError=false",
        "useLocalSessionState=true",
        "useLocalTransactionState=true",
        "elideSetAutoCommits=true",
        "alwaysSendSetIsolation=false",
        "autoReconnectForPools=true",
        "dnsSrv=true",
        "createDatabaseIfNotExist=true",
        "databaseTerm=SCHEMA",
        "queryInterceptors=x",
        "propertiesTransform=x",
        "useConfigs=maxPerformance",
        "allowUrlInLocalInfile=true",
        "profileSQL=true",
        "ultraDevHack=true"
      })
  void refusesByNameWhatMayChangeWhatIsReadOrWritten(String option) {
    String name = option.substring(0, option.indexOf('='));
    String message = refusal(URL + "?" + option);
    assertTrue(message.contains("has the option " + name + ","), message);
    assertTrue(message.contains("remove it"), message);
  }

  /** A newer driver may know more: these are refused until somebody has thought of them. */
  @Test
  void noOptionOfTheDriverPassesUnlessItIsNamed() {
    long passed =
        PropertyDefinitions.PROPERTY_KEY_TO_PROPERTY_DEFINITION.keySet().stream()
            .filter(key -> passes(key.getKeyName()))
            .count();
    int inUrls = MySqlUrl.FORCED.size() + 40;
    assertEquals(inUrls, passed);
    assertTrue(Set.of(PropertyKey.values()).size() > 3 * passed);
  }

  private static boolean passes(String name) {
    try {
      MySqlUrl.parse(URL + "?" + name + "=x");
      return true;
    } catch (GameQueueException refused) {
      return false;
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jdbc:mariadb://db-1/game | must begin with jdbc:mysql://",
        "jdbc:mysql:loadbalance://a,b/game | must begin with jdbc:mysql://",
        "jdbc:mysql:replication://a,b/game | must begin with jdbc:mysql://",
        "jdbc:mysql://a,b:3307/game | gives 2 servers",
        "jdbc:mysql:///game | gives no server",
        "jdbc:mysql://(host=a,port=1)/game | gives no server",
        "jdbc:mysql://address=(host=a)(sessionVariables=x)/game | gives no server",
        "jdbc:mysql://u:hidden@a/game | carries a login",
        "jdbc:mysql://u@a/game | carries a login",
        "jdbc:mysql://a/game?password=hidden | carries a login",
        "jdbc:mysql://a/game?sslMode=REQUIRED&password2=hidden | carries a login",
        "jdbc:mysql://a/game?user=u | carries a login",
        "jdbc:mysql://a:hidden/game | cannot be read",
        "jdbc:mysql://a/game?sslMode=%hidden | cannot be read",
        "jdbc:mysql://a/game?sslmode=REQUIRED | sslmode, which the driver does not know",
        "jdbc:mysql://a/game?useUnicode=true | useUnicode, which the driver does not know"
      })
  void saysWhatIsWrongWithoutTheUrl(String url, String expected) {
    String message = refusal(url);
    assertTrue(message.contains(expected), message);
    assertFalse(message.contains("hidden"), message);
  }

  private static String refusal(String url) {
    return String.valueOf(
        assertThrows(GameQueueException.class, () -> MySqlUrl.parse(url)).getMessage());
  }
}

package io.gameq.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.message.PayloadText.Form;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Payloads as operators read and edit them. */
class PayloadTextTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"player\":7,\"gold\":-5,\"rate\":0.25,\"name\":\"é\\\"\",\"won\":true,\"at\":null}",
        "{\"big\":18446744073709551615,\"all\":[1,[],{\"deep\":[\"x\"]}]}"
      })
  void aRecordIsJsonAndComesBackByteForByte(String json) {
    byte[] payload = PayloadText.bytes(Form.RECORD, json);
    assertEquals(new PayloadText(Form.RECORD, json, true), PayloadText.of(payload));
  }

  @Test
  void aRecordThatJsonCannotHoldIsShownAndSaysSo() throws Exception {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packMapHeader(2).packString("f").packFloat(0.1f);
      packer.packString("b").packBinaryHeader(2).writePayload(new byte[] {1, -1});
      PayloadText text = PayloadText.of(packer.toByteArray());
      assertEquals(Form.RECORD, text.form());
      assertTrue(text.text().contains("\"b\":\"0x01ff\""), text::text);
      assertFalse(text.isExact());
    }
  }

  @Test
  void whatIsNoRecordIsTextOrHexAndComesBackByteForByte() {
    byte[] nested = new byte[100_000]; // maps in maps, deeper than any record
    Arrays.fill(nested, (byte) 0x91);
    nested[0] = (byte) 0x81;
    nested[1] = (byte) 0xa0;
    for (byte[] payload :
        new byte[][] {
          {},
          "plain é".getBytes(UTF_8),
          {(byte) 0x81},
          {0, (byte) 0xff},
          {(byte) 0x80, 1},
          nested,
          claimsMore()
        }) {
      PayloadText text = PayloadText.of(payload);
      assertTrue(text.isExact());
      assertFalse(text.form() == Form.RECORD);
      assertArrayEquals(payload, PayloadText.bytes(text.form(), text.text()));
    }
  }

  /** A map of bytes that are not there: two gigabytes of them. */
  private static byte[] claimsMore() {
    return HexFormat.of().parseHex("81a161c67fffffff00");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[1]", "{\"a\":1", "{\"a\":1} {}", "{\"n\":99999999999999999999}"})
  void whatIsNoRecordIsRefusedAndNotQuoted(String json) {
    GameQueueException refused =
        assertThrows(GameQueueException.class, () -> PayloadText.bytes(Form.RECORD, json));
    assertEquals("the payload is not one JSON object, as a record's is", refused.getMessage());
    assertThrows(GameQueueException.class, () -> PayloadText.bytes(Form.HEX, "0g"));
    assertThrows(GameQueueException.class, () -> Form.of("xml"));
  }
}

package io.gameq.records;

import io.gameq.GameQueueException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A record class of the game: reads its components, and makes its records. Immutable. */
public final class RecordClass {
  private final Class<?> type;
  private final RecordComponent[] components;
  private final MethodHandle[] accessors;
  private final MethodHandle constructor;

  /**
   * Looks at a record class; costly, so it is done once.
   *
   * @throws GameQueueException when gameq may not look at it
   */
  public RecordClass(Class<?> type) {
    this.type = type;
    this.components = type.getRecordComponents();
    this.accessors = new MethodHandle[components.length];
    try {
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      for (int i = 0; i < components.length; i++) {
        accessors[i] =
            lookup
                .unreflect(components[i].getAccessor())
                .asType(MethodType.methodType(Object.class, Object.class));
      }
      Class<?>[] types =
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      constructor =
          lookup
              .findConstructor(type, MethodType.methodType(void.class, types))
              .asSpreader(Object[].class, types.length)
              .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (IllegalAccessException | NoSuchMethodException e) {
      throw new GameQueueException(
          "record %s is closed to gameq: open its package in module-info".formatted(type.getName()),
          e);
    }
  }

  /** How many components it has. */
  public int size() {
    return components.length;
  }

  /** A component, by its place in the declaration. */
  public RecordComponent component(int i) {
    return components[i];
  }

  /** The value of a component. Throws GameQueueException when its accessor throws. */
  public @Nullable Object read(int i, Object record) {
    try {
      return (Object) accessors[i].invokeExact(record);
    } catch (Throwable e) {
      throw new GameQueueException(
          "reading component %s of record %s failed"
              .formatted(components[i].getName(), type.getName()),
          e);
    }
  }

  /** The record of such values. Throws GameQueueException when its constructor throws. */
  public Object create(@Nullable Object[] values) {
    try {
      return (Object) constructor.invokeExact(values);
    } catch (Throwable e) {
      throw new GameQueueException("record %s refused its values".formatted(type.getName()), e);
    }
  }
}

package io.gameq.records;

import io.gameq.GameQueueException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A record class of the game: its components, their values in a record, and how a record is made of
 * values. Rows and payloads are both encoded by way of it. Immutable.
 */
public final class GameRecord {
  private final Class<?> type;
  private final List<RecordComponent> components;
  private final MethodHandle[] accessors;
  private final MethodHandle constructor;

  /**
   * Looks at a record class; costly, so it is done once.
   *
   * @throws GameQueueException when gameq may not look at it
   */
  public GameRecord(Class<?> type) {
    this.type = type;
    this.components = List.of(type.getRecordComponents());
    this.accessors = new MethodHandle[components.size()];
    Class<?>[] types = components.stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      MethodType reading = MethodType.methodType(Object.class, Object.class);
      for (int i = 0; i < accessors.length; i++) {
        accessors[i] = lookup.unreflect(components.get(i).getAccessor()).asType(reading);
      }
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

  /** The components, in the order of the declaration. */
  public List<RecordComponent> components() {
    return components;
  }

  /** The class of a component's objects: of a primitive one its box. */
  public static Class<?> boxed(Class<?> component) {
    return MethodType.methodType(component).wrap().returnType();
  }

  /** The value of a component, by its place. Throws GameQueueException when its accessor throws. */
  public @Nullable Object read(int i, Object record) {
    try {
      return (Object) accessors[i].invokeExact(record);
    } catch (Throwable e) {
      throw new GameQueueException(
          "reading component %s of record %s failed"
              .formatted(components.get(i).getName(), type.getName()),
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

package io.gameq;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names what converts a record component whose type gameq does not know. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface ColumnConverter {
  /** A class with a constructor without parameters; one object of it is made for the component. */
  Class<? extends Converter<?, ?>> value();
}

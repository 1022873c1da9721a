package io.gameq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** The Javadoc of the API is its manual: nothing of it goes without a word. */
class ApiCommentsTest {
  private static final Path SOURCES = Path.of("src/main/java/io/gameq");

  private static final Set<ElementKind> DESCRIBED =
      Set.of(
          ElementKind.METHOD,
          ElementKind.CONSTRUCTOR,
          ElementKind.FIELD,
          ElementKind.ENUM_CONSTANT);

  private final List<String> silent = new ArrayList<>();
  private int described;

  @Test
  void everyPublicMemberHasAComment() throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        Stream<Path> sources = Files.list(SOURCES)) {
      List<Path> java =
          Stream.concat(
                  sources.filter(file -> file.toString().endsWith(".java")),
                  Stream.of(SOURCES.resolve("metrics/GameQueueMetrics.java")))
              .toList();
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(java));
      task.parse();
      DocTrees comments = DocTrees.instance(task);
      for (Element type : task.analyze()) {
        if (type instanceof TypeElement && type.getModifiers().contains(Modifier.PUBLIC)) {
          look(comments, type);
        }
      }
    }
    assertEquals(List.of(), silent);
    assertFalse(described < 100, "only %d were looked at".formatted(described));
  }

  private void look(DocTrees comments, Element type) {
    check(comments, type, type.toString());
    for (Element member : type.getEnclosedElements()) {
      // A record's parts stand in its own comment.
      boolean ofRecord =
          type.getKind() == ElementKind.RECORD && member.getKind() == ElementKind.CONSTRUCTOR;
      boolean toBeDescribed =
          comments.getTree(member) != null
              && member.getModifiers().contains(Modifier.PUBLIC)
              && DESCRIBED.contains(member.getKind())
              && member.getAnnotation(Override.class) == null
              && !ofRecord;
      if (toBeDescribed) {
        check(comments, member, type + "." + member);
      }
    }
  }

  private void check(DocTrees comments, Element element, String name) {
    described++;
    DocCommentTree comment = comments.getDocCommentTree(element);
    if (comment == null || comment.getFirstSentence().isEmpty()) {
      silent.add(name);
    }
  }
}

#!/usr/bin/env bash
# CEL in Go (Debian's golang-github-google-cel-go-dev 0.30.0+ds-1, which is what Kubernetes evaluates rules with) and in Java (Maven
# Central, dev.cel:cel 0.14.0): numbers, times and durations as text.
#
# The guess: string(x) of one expression is one text, whichever of the two evaluates it, as the message of a rule or a key
# that is made of it is compared across tools.
#
# What it does: each writes a number as its own language does, and Java a duration as protobuf's JSON has it. A time keeps its offset in Go, and is in UTC in Java. And a number that no double
# can hold is an error in Go, and Infinity in Java. Seen (Go; Java):
#   string(1.0): 1; 1.0
#   string(100000000.0): 1e+08; 1.0E8
#   string(duration('1.5s')): 1.5s; 1.500s
#   string(timestamp('2026-03-01T12:00:00+02:00')): 2026-03-01T12:00:00+02:00; 2026-03-01T10:00:00Z
#   string(double('1e400')): error; Infinity
#
# Needs apt with Debian sid, Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > expressions <<'CEL'
string(1.0)
string(100000000.0)
string(duration('1.5s'))
string(timestamp('2026-03-01T12:00:00+02:00'))
string(double('1e400'))
CEL
apt-get download -qq golang-1.27-go=1.27.3-1 golang-1.27-src=1.27.3-1 golang-github-google-cel-go-dev=0.30.0+ds-1 \
  golang-cel-expr-dev=0.24.0-1 golang-github-antlr4-go-antlr-dev=4.13.1-2 golang-google-protobuf-dev=1.36.10-2 \
  golang-golang-x-text-dev=0.43.0-1 golang-golang-x-exp-dev=0.0~git20261009.ca0d7ba-1 \
  golang-google-genproto-dev=0.0~git20260414.afd174a-2 golang-gopkg-yaml.v3-dev=3.0.5-1
for package in *.deb; do
  dpkg -x "$package" .
done
# The packages of Go link to each other by absolute paths.
mkdir -p root usr/share/gocode/src/finding
cp -r usr/share/go-1.27/. root/
cp -r usr/lib/go-1.27/. root/ 2> /dev/null || true
cat > usr/share/gocode/src/finding/main.go <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
)

func text(env *cel.Env, expression string) any {
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		panic(issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		panic(err)
	}
	value, _, err := program.Eval(map[string]any{})
	if err != nil {
		return "error"
	}
	return value.Value()
}

func main() {
	env, err := cel.NewEnv()
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(text(env, lines.Text()))
	}
}
GO
GOROOT=$work/root GOPATH=$work/usr/share/gocode GO111MODULE=off GOCACHE=$work/cache root/bin/go build -o evaluate finding
./evaluate < expressions > go.seen
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>dev.cel</groupId><artifactId>cel</artifactId><version>0.14.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath > maven.log 2>&1
cat > Finding.java <<'JAVA'
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntimeFactory;
import java.nio.file.Files;
import java.nio.file.Path;

public class Finding {
  public static void main(String[] args) throws Exception {
    var compiler = CelCompilerFactory.standardCelCompilerBuilder().build();
    var runtime = CelRuntimeFactory.standardCelRuntimeBuilder().build();
    for (String expression : Files.readAllLines(Path.of("expressions"))) {
      var program = runtime.createProgram(compiler.compile(expression).getAst());
      try {
        System.out.println(program.eval());
      } catch (CelEvaluationException e) {
        System.out.println("error");
      }
    }
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors > java.seen
paste -d ';' expressions go.seen java.seen | sed -E 's/;([^;]*);([^;]*)$/: \1; \2/' | tee seen
diff seen - <<'EXPECTED'
string(1.0): 1; 1.0
string(100000000.0): 1e+08; 1.0E8
string(duration('1.5s')): 1.5s; 1.500s
string(timestamp('2026-03-01T12:00:00+02:00')): 2026-03-01T12:00:00+02:00; 2026-03-01T10:00:00Z
string(double('1e400')): error; Infinity
EXPECTED

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderTemplate } from "./render.ts";
import type { Value } from "./values.ts";

const data: Value = {
  imageName: "ubuntu",
  addVersion: true,
  cidrs: ["10.0.0.0/8", "192.168.0.0/16"],
  none: [],
  zero: 0,
  size: 2.5,
  nested: { name: "a", list: [{ name: "x" }, { name: "y" }] },
  builtin: { controlPlane: { version: "v1.34.2", replicas: 3 }, cluster: { name: "demo" } },
};

/** Each template renders the next one twice. */
const doubling = `${Array.from(
  { length: 30 },
  (_, at) => `{{ define "t${at}" }}{{ template "t${at + 1}" }}{{ template "t${at + 1}" }}{{ end }}`,
).join("")}{{ define "t30" }}x{{ end }}{{ template "t0" }}`;

/** Expected values are what Go's text/template with sprig renders. */
const rendered: readonly (readonly [string, string])[] = [
  ["plain", "plain"],
  ["{{ .imageName }}", "ubuntu"],
  ["{{ .imageName }}{{ if .addVersion }}-{{ .builtin.controlPlane.version }}{{ end }}", "ubuntu-v1.34.2"],
  ["{{ if .missing }}true{{ end }}", ""],
  ["{{ .missing }}", "<no value>"],
  ['{{ define "a" }}<{{ . }}>{{ end }}{{ template "a" .imageName }}{{ template "a" 1 }}', "<ubuntu><1>"],
  ['{{ template "late" .nested }}{{ define "late" }}{{ .name }}{{ $.name }}{{ end }}', "aa"],
  ['{{ define "a" }}[{{ . }}]{{ end }}{{ template "a" }}', "[<no value>]"],
  ['{{ block "b" .imageName }}({{ . }}){{ end }}{{ template "b" 2 }}', "(ubuntu)(2)"],
  ['{{ define "l" }}{{ range . }}{{ .name }}{{ end }}{{ end }}{{ template "l" .nested.list }}', "xy"],
  ['{{ regexMatch "^v1\\.3[0-9]" .builtin.controlPlane.version }}', "true"],
  ['{{ regexFind "[0-9]+" .builtin.controlPlane.version }}', "1"],
  ['{{ regexFindAll "[0-9]+" .builtin.controlPlane.version -1 }}', "[1 34 2]"],
  ['{{ regexFindAll "[0-9]+" .builtin.controlPlane.version 2 }}', "[1 34]"],
  ['{{ regexReplaceAll "v([0-9]+)\\.([0-9]+).*" .builtin.controlPlane.version "${1}-$2$$" }}', "1-34$"],
  ['{{ regexReplaceAll "(?P<first>[a-z])" "ab" "${first}." }}', "a.b."],
  ['{{ regexReplaceAll "(a)" "ab" "$1x" }}', "b"],
  ['{{ regexReplaceAllLiteral "a" "ab" "$1" }}', "$1b"],
  ['{{ regexReplaceAll "" "ab" "-" }}', "-a-b-"],
  ['{{ regexSplit "," "a,b,c" -1 }}', "[a b c]"],
  ['{{ regexSplit "," "a,b,c" 2 }}', "[a b,c]"],
  ['{{ regexQuoteMeta "a.b" }}', "a\\.b"],
  ["{{ if .cidrs }}{{ gt (len .cidrs) 0 }}{{ end }}", "true"],
  ["{{ if .none }}a{{ else }}b{{ end }}", "b"],
  ["{{ if .zero }}a{{ else if .addVersion }}b{{ else }}c{{ end }}", "b"],
  ["{{ range .cidrs }}- {{ . }}\n{{ end }}", "- 10.0.0.0/8\n- 192.168.0.0/16\n"],
  ["{{ range $i, $c := .cidrs }}{{ $i }}={{ $c }};{{ end }}", "0=10.0.0.0/8;1=192.168.0.0/16;"],
  ["{{ range $k, $v := .nested }}{{ $k }} {{ end }}", "list name "],
  ["{{ range .none }}x{{ else }}empty{{ end }}", "empty"],
  ["{{ range .cidrs }}{{ . }}{{ break }}{{ end }}", "10.0.0.0/8"],
  ["{{ with .nested }}{{ .name }}{{ $.imageName }}{{ end }}", "aubuntu"],
  ["{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", "2"],
  ["a  {{- /* comment */ -}}  b", "ab"],
  ["a \n{{- .imageName -}} \n b", "aubuntub"],
  ["{{ -3 }}{{3 -}} x", "-33x"],
  ['{{ "quoted \\"text\\"\\n" }}{{ `raw\\n` }}', 'quoted "text"\nraw\\n'],
  ["{{ .builtin.controlPlane.replicas }}", "3"],
  [
    "{{ .size }} {{ .cidrs }} {{ .nested }}",
    "2.5 [10.0.0.0/8 192.168.0.0/16] map[list:[map[name:x] map[name:y]] name:a]",
  ],
  ['{{ $v := semver .builtin.controlPlane.version }}{{ printf "v%d.%d" $v.Major $v.Minor }}', "v1.34"],
  ['{{ printf "%s-%05d|%-4s|%q" "a" 42 "b" "c" }}', 'a-00042|b   |"c"'],
  ['{{ printf "%d" .builtin.controlPlane.replicas }}', "%!d(float64=3)"],
  ['{{ semverCompare ">= 1.30.0, < 1.35" "1.34.2" }}{{ semverCompare "^1.35" "1.34.2" }}', "truefalse"],
  ['{{ .missing | default "d" | upper | quote }}', '"D"'],
  ["{{ and .addVersion .imageName }} {{ or .missing .imageName }} {{ not .addVersion }}", "ubuntu ubuntu false"],
  ['{{ eq .imageName "a" "ubuntu" }}{{ ne .imageName "a" }}{{ lt 1 2 }}{{ ge "b" "a" }}', "truetruetruetrue"],
  ["{{ index .cidrs 1 }} {{ index .nested.list 0 }}", "192.168.0.0/16 map[name:x]"],
  ['{{ .cidrs | join "," | trimSuffix "/16" }}', "10.0.0.0/8,192.168.0.0"],
  ['{{ replace "." "-" .builtin.controlPlane.version | trimPrefix "v" }}', "1-34-2"],
  ['{{ "a\\nb" | nindent 2 }}', "\n  a\n  b"],
  ["{{ .nested | toJson }}", '{"list":[{"name":"x"},{"name":"y"}],"name":"a"}'],
  ['{{ (dict "a" (list 1 2)).a | first }}{{ add 1 2 3 }}{{ div 7 2 }}{{ mod 7 2 }}', "1631"],
  ['{{ hasPrefix "ub" .imageName }}{{ contains "x" .imageName }}{{ ternary "y" "n" true }}', "truefalsey"],
  ['{{ "aGk=" | b64dec }}{{ "hi" | b64enc }}{{ trunc 2 "hello" }}', "hiaGk=he"],
  ["{{ print 1 2 .imageName }}", "1 2ubuntu"],
];

const failing: readonly (readonly [string, string, RegExp])[] = [
  ["an unknown function", "{{ env `HOME` }}", /function "env" not defined/],
  ["a field of nothing", "{{ .missing.name }}", /nil pointer evaluating/],
  ["a field of a text", "{{ .imageName.x }}", /can't evaluate field x in type string/],
  ["an action without end", "{{ if .a }}x", /no \{\{end\}\}/],
  ["an end without beginning", "x{{ end }}", /unexpected \{\{end\}\}/],
  ["an unclosed action", "{{ .a ", /unclosed action/],
  ["a template that is not defined", '{{ template "a" }}', /template "a" not defined/],
  ["a template without end", '{{ define "a" }}x', /no {{end}}/],
  ["a definition inside of an action", '{{ if true }}{{ define "a" }}{{ end }}{{ end }}', /inside of another action/],
  ["a definition twice", '{{ define "a" }}{{ end }}{{ define "a" }}{{ end }}', /defined twice/],
  [
    "a template that uses itself",
    '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
    /more than 32 deep/,
  ],
  ["a template that doubles itself", doubling, /more than 100000 steps/],
  ["a template without a name", "{{ template . }}", /name in quotes/],
  [
    "a variable of another template",
    '{{ $x := 1 }}{{ define "a" }}{{ $x }}{{ end }}{{ template "a" }}',
    /undefined variable/,
  ],
  ["no pattern", '{{ regexMatch "(" "a" }}', /error calling regexMatch/],
  ["a pattern that repeats too often", '{{ regexMatch "(a{1000}){1000}" "a" }}', /repeats too often/],
  ["a replacement that grows without end", '{{ regexReplaceAll "" (repeat 5000 "a") (repeat 5000 "b") }}', /more than/],
  ["a comparison of an integer with a float", "{{ eq 3 .builtin.controlPlane.replicas }}", /incompatible types/],
  ["an unknown variable", "{{ $x }}", /undefined variable/],
  ["a prototype's field as a function", "{{ constructor }}", /not defined/],
  [
    "a text that grows without end",
    '{{ $x := "aaaa" }}{{ range until 100 }}{{ $x = cat $x $x }}{{ end }}',
    /more than/,
  ],
  [
    "a list that holds itself again and again",
    "{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}",
    /more than/,
  ],
  [
    "loops in loops",
    "{{ range until 1000 }}{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}{{ end }}",
    /more than/,
  ],
  ["many repetitions", '{{ repeat 9999 (repeat 9999 "a") }}', /more than/],
  ["deep nesting", `${"{{ if true }}".repeat(50)}${"{{ end }}".repeat(50)}`, /nested more than/],
  ["a long template", "a".repeat(10_241), /at most/],
];

describe("a template of Go", () => {
  test.each(rendered)("%s", (template, expected) => expect(renderTemplate(template, data)).toBe(expected));
  test.each(failing)("refuses %s", (_, template, message) =>
    expect(() => renderTemplate(template, data)).toThrow(message),
  );

  test("refuses a missing key and sprig's functions where names are made", () => {
    const strict = { missingKey: "error", plain: true } as const;
    expect(renderTemplate("{{ .cluster.name }}-{{ .random }}", { cluster: { name: "a" }, random: "x" }, strict)).toBe(
      "a-x",
    );
    expect(() => renderTemplate("{{ .foo }}", {}, strict)).toThrow(/no entry for key/);
    expect(() => renderTemplate('{{ upper "a" }}', {}, strict)).toThrow(/not defined/);
  });

  test("renders any text without actions as it is, and ends for any text at all", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("{{")),
        (text) => {
          expect(renderTemplate(text, data)).toBe(text);
        },
      ),
    );
    const pieces = fc.constantFrom(
      "{{",
      "}}",
      "-",
      " ",
      "if",
      "end",
      "range",
      "$x",
      ":=",
      ".a",
      "(",
      ")",
      "|",
      '"',
      "until",
      "9",
      "else",
      "/*",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        try {
          expect(typeof renderTemplate(parts.join(""), data)).toBe("string");
        } catch (error) {
          expect((error as Error).message).not.toBe("");
        }
      }),
      { numRuns: 500 },
    );
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkServiceLayout } from "./service-layout.ts";

const made: string[] = [];
afterAll(() => {
  for (const root of made) rmSync(root, { recursive: true });
});

const SOUND = {
  "widgets/service.ts":
    'import "./resources/widgets.ts";\nexport function createWidgetService() {\n  app.get("/v1", old);\n}\n',
  "widgets/model.ts": "export {};\n",
  "widgets/resources/widgets.ts": "export function mountWidgets() {\n  app.get(`/v1/widgets`, list);\n}\n",
  "widgets/rules/colours.ts": "export const colour = 1;\n",
  "kernel/anything/here.ts": "export {};\n",
};

/** The findings for a simulator of sound files, with these in addition or in their place. */
function findings(files: Readonly<Record<string, string>>, exceptions: Readonly<Record<string, string>> = {}) {
  // A new folder each: a source is parsed once in a process.
  const root = mkdtempSync(join(tmpdir(), "service-layout-"));
  made.push(root);
  for (const [file, text] of Object.entries({ ...SOUND, ...files })) {
    mkdirSync(dirname(join(root, "s", file)), { recursive: true });
    writeFileSync(join(root, "s", file), text);
  }
  return checkServiceLayout(root, exceptions, "s");
}

test("a service whose files are in their places has no finding", () => {
  expect(findings({})).toEqual([]);
});

test.each([
  ["a file that is in no folder", "widgets/colours.ts", "export {};", "belongs in one of kit, resources, rules"],
  ["a folder of another name", "widgets/parts/a.ts", "export {};", "a folder is one of"],
  ["a folder in a folder", "widgets/rules/more/a.ts", "export {};", "folders of one level"],
  ["a service without its start", "gadgets/model.ts", "export {};", "gadgets: has no service.ts"],
  ["a start under another name", "widgets/service.ts", "export const start = 1;", "exports no create…Service"],
  ["a resource that mounts nothing", "widgets/resources/a.ts", "export const a = 1;", "exports no mount…"],
  ["a route in a rule", "widgets/rules/a.ts", 'app.get("/v1/a", a);', "has a route for /v1/a"],
  ["a table in a rule", "widgets/rules/a.ts", "mountResource(app, kernel, {});", "mounts a resource"],
  ["a rule that imports a resource", "widgets/rules/a.ts", 'import "../resources/widgets.ts";', "may not import"],
  ["a resource of another service", "widgets/resources/a.ts", 'import "../../b/resources/c.ts";', "may not import"],
])("%s is a finding", (_, file, text, words) => {
  expect(findings({ [file]: text }).join("\n")).toContain(words);
});

test("a service.ts that serves a resource is a finding, and its root is none", () => {
  const serving = SOUND["widgets/service.ts"] + 'app.post("/v1/widgets", make);\n';
  expect(findings({ "widgets/service.ts": serving })).toEqual([
    expect.stringContaining("widgets/service.ts: has a route for /v1/widgets"),
  ]);
});

test("an exception that no file needs is a finding", () => {
  const file = "widgets/resources/a.ts";
  expect(findings({ [file]: "export const a = 1;" }, { [file]: "a reason" })).toEqual([]);
  expect(findings({}, { [file]: "a reason" })).toEqual([expect.stringContaining(`remove ${file}`)]);
});

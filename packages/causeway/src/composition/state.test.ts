import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { openState } from "./state.ts";

const root = mkdtempSync(join(tmpdir(), "state-"));
let dir = "";
let count = 0;
beforeEach(() => {
  count += 1;
  dir = join(root, String(count));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const mode = (path: string) => statSync(path).mode & 0o777;
const code = (expected: string) => expect.objectContaining({ code: expected, hint: expect.stringMatching(/./) });

test("a new folder is made for its owner alone, and opened again", () => {
  const state = openState(dir);
  expect(mode(dir)).toBe(0o700);
  expect(mode(join(dir, "state.json"))).toBe(0o600);
  const path = state.write("management.kubeconfig", "one");
  state.write("management.kubeconfig", "two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(mode(path)).toBe(0o600);
  openState(dir);
  expect(readdirSync(dir).sort()).toEqual(["management.kubeconfig", "state.json"]);
});

test("the state folder belongs to one cloud for good", () => {
  openState(dir).bindTo("simulator");
  const again = openState(dir);
  again.bindTo("simulator");
  expect(() => again.bindTo("RegionOne/project")).toThrow(code("STATE_OF_ANOTHER_CLOUD"));
});

test.each([
  ["of a newer version", '{"version":99}', "STATE_TOO_NEW"],
  ["damaged", '{"version', "STATE_UNREADABLE"],
  ["of something else", '{"name":"x"}', "STATE_UNREADABLE"],
])("a state folder %s is refused and remains as it is", (_, text, expected) => {
  openState(dir);
  writeFileSync(join(dir, "state.json"), text);
  expect(() => openState(dir)).toThrow(code(expected));
  expect(readFileSync(join(dir, "state.json"), "utf8")).toBe(text);
});

test("a state folder that cannot be made is an error of its own", () => {
  writeFileSync(dir, "a file");
  expect(() => openState(join(dir, "below"))).toThrow(code("STATE_NOT_WRITABLE"));
});

test.each([
  ["a place where no folder can be made", "/proc/causeway/below"],
  ["a file", join(import.meta.dirname, "state.ts")],
  ["below a file", join(import.meta.dirname, "state.ts", "below")],
])("a state folder that is %s is refused as wrong input", (_, path) => {
  expect(() => openState(path)).toThrow(expect.objectContaining({ code: "STATE_NOT_WRITABLE", exitStatus: 2 }));
});

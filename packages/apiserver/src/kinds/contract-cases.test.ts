/** Every built-in kind has contract cases, which hold our API server and kube-apiserver alike. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { builtInKinds } from "./builtin.ts";

const folder = resolve(import.meta.dirname, "../../../../test/contracts/kubernetes/cases");
const cases = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(join(folder, file), "utf8"))
  .join("\n");

test("every built-in kind is named by a contract case", () => {
  const kinds = builtInKinds().all.map(({ kind }) => kind);
  expect(kinds.length).toBeGreaterThan(60);
  expect(kinds.filter((kind) => !new RegExp(`"${kind}"`).test(cases))).toEqual([]);
});

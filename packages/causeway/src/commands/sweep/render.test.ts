import { expect, test } from "vitest";
import { renderSwept, sweptStatus } from "./render.ts";
import { absentClusters } from "./clusters.ts";

const table = { output: "table", withVolumes: true } as const;

test("a sweep without an orphan says what it searched, and how old orphaned volumes are", () => {
  expect(renderSwept([], { ...table, withVolumes: false })).toBe("No orphans of deleted Services.\n");
  expect(renderSwept([], table)).toMatch(/no orphaned volumes that are older than ten minutes/);
  expect(renderSwept([], { ...table, output: "json" })).toBe("[]\n");
});

test("an orphaned volume has its claim, and why it is kept", () => {
  const volume = { kind: "volume", name: "pvc-1", id: "v1", claim: "default/data" } as const;
  expect(renderSwept([{ ...volume, outcome: "removed" }], table)).toBe("removed  volume pvc-1 of claim default/data\n");
  expect(renderSwept([{ ...volume, outcome: "kept", kept: "it is attached to server s1" }], table)).toBe(
    "kept     volume pvc-1 of claim default/data: it is attached to server s1\n",
  );
});

test.each([
  ["nothing was found", [], true, 0],
  ["orphans remain", ["found", "removed"], true, 3],
  ["orphans remain, and --detailed-exitcode is not given", ["found"], false, 0],
  ["orphans are kept on purpose", ["kept"], true, 0],
  ["all were deleted", ["removed"], true, 0],
  ["a deletion failed, next to orphans that remain", ["found", "failed"], true, 1],
] as const)("a sweep where %s ends with its status", (_, outcomes, detailedExitcode, status) => {
  const swept = outcomes.map((outcome) => ({ outcome }));
  expect(sweptStatus(swept, { detailedExitcode })).toBe(status);
});

test("a sweep of clusters names those that left nothing, and those that did", () => {
  const nope = { namespace: "default", name: "nope" };
  expect(absentClusters([nope], ["default-old"])).toBe(
    "There are no orphans of default/nope. Deleted clusters that left some: default-old.\n",
  );
  expect(absentClusters([nope], [])).toBe("There are no orphans of default/nope. No deleted cluster left any.\n");
  expect(absentClusters([{ namespace: "default", name: "old" }], ["default-old"])).toBe("");
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { allFindings, firstFinding } from "./findings.ts";
import { outlookOf } from "./reasons.ts";

const object = (reason: string, more: object = {}): KubeObject =>
  ({
    kind: "Machine",
    metadata: { name: "m" },
    status: { conditions: [{ type: "Ready", status: "False", reason, message: "why", ...more }] },
  }) as unknown as KubeObject;

test.each<[title: string, objects: readonly KubeObject[], code: string | undefined, isTerminal?: boolean]>([
  ["what takes its time is no cause", [object("WaitingForBootstrapData"), object("ScalingUp")], undefined],
  ["what a user has to change is one that remains", [object("QuotaExceeded")], "QuotaExceeded", true],
  ["networks that overlap remain", [object("OverlappingCIDR")], "OverlappingCIDR", true],
  ["a request that a control plane refuses remains", [object("SpecRefused")], "SpecRefused", true],
  ["one that remains comes before others", [object("Odd"), object("Forbidden")], "Forbidden", true],
  ["a reason that is not known is shown, and may pass", [object("Odd")], "Odd", false],
  ["a condition that is not False is none", [object("Odd", { status: "Unknown" })], undefined],
  ["one without a message is none", [object("Odd", { message: "" })], undefined],
  ["Paused is none", [object("Odd", { type: "Paused" })], undefined],
])("of the conditions of a cluster's objects %s", (_title, objects, code, isTerminal) => {
  const found = firstFinding(objects);
  expect(found?.code).toBe(code);
  if (isTerminal !== undefined) expect(found).toMatchObject({ isTerminal, message: "node m: why" });
});

test("a cause that a node repeats of its server is one, of the server", () => {
  const server = { ...object("QuotaExceeded"), kind: "OpenStackMachine", metadata: { name: "s" } } as KubeObject;
  const found = allFindings([server, object("QuotaExceeded"), object("Odd"), object("Odd", { message: "else" })]);
  expect(found.map(({ message }) => message)).toEqual(["server s: why", "node m: why", "node m: else"]);
});

test.each(["cluster-api", "cluster-api-openstack", "hosted-control-plane"])(
  "every reason of %s that says it waits or creates has its outlook",
  (name) => {
    const folder = join(import.meta.dirname, "../../..", name, "src");
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      /^(?!.*(?:\.test\.ts$|(?:^|\/)(?:testing|scenarios)\/)).*\.ts$/.test(file),
    );
    const reasons = sources.flatMap(
      (file) => readFileSync(join(folder, file), "utf8").match(/(?<=")(?:WaitingFor|Creating|Scaling)\w*(?=")/g) ?? [],
    );
    expect(reasons.length).toBeGreaterThan(1);
    expect([...new Set(reasons)].filter((reason) => outlookOf.get(reason) !== "passes")).toEqual([]);
  },
);

import { annotations } from "@causeway/api";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { upgradePath } from "./upgrade-plan.ts";
import { planUpgrades, type ObservedVersions, type WorkersVersion } from "./upgrades.ts";
import { compareBuilds, isSameVersion, isStoredAlike, parseVersion } from "../objects/versions.ts";

const workers = (
  name: string,
  version: string | undefined,
  more: { isUpgrading?: boolean; notes?: Record<string, string> } = {},
): WorkersVersion => ({
  topologyName: name,
  notes: more.notes ?? {},
  ...(version === undefined
    ? {}
    : { current: { name: `demo-${name}`, version, isUpgrading: more.isUpgrading ?? false } }),
});
const observed = (fields: Partial<ObservedVersions>): ObservedVersions => ({
  desired: "v1.35.0",
  known: undefined,
  concurrency: 1,
  controlPlane: { version: "v1.34.0", reached: "v1.34.0" },
  workers: [],
  ...fields,
});
const at = (version: string, reached: string | undefined = version) => ({ controlPlane: { version, reached } });
const decided = (input: ObservedVersions) => {
  const upgrades = planUpgrades(input);
  const versions = [...upgrades.workers.values(), ...upgrades.pools.values()].map(({ version, waitsForCreation }) =>
    waitsForCreation ? "waits" : version,
  );
  return [upgrades.controlPlane, ...versions];
};
const defer = { notes: { [annotations.deferUpgrade]: "" } };
const hold = { notes: { [annotations.holdUpgradeSequence]: "" } };
const old = "v1.34.0";
const fresh = "v1.35.0";

describe("an upgrade of a topology", () => {
  test.each<readonly [string, ObservedVersions, readonly string[]]>([
    [
      "creates all at once with the version of the topology",
      { ...observed({ workers: [workers("a", undefined)] }), controlPlane: undefined },
      [fresh, fresh],
    ],
    ["begins with the control plane", observed({ workers: [workers("a", old)] }), [fresh, old]],
    [
      "waits for a control plane that is being provisioned",
      observed({ controlPlane: { version: old, reached: undefined }, workers: [workers("a", old)] }),
      [old, old],
    ],
    [
      "waits for the control plane's last machine",
      observed({ ...at(fresh, old), workers: [workers("a", old)] }),
      [fresh, old],
    ],
    [
      "continues with one MachineDeployment",
      observed({ ...at(fresh), workers: [workers("a", old), workers("b", old)] }),
      [fresh, fresh, old],
    ],
    [
      "waits for that one",
      observed({ ...at(fresh), workers: [workers("a", fresh, { isUpgrading: true }), workers("b", old)] }),
      [fresh, fresh, old],
    ],
    [
      "takes the next one then",
      observed({ ...at(fresh), workers: [workers("a", fresh), workers("b", old)] }),
      [fresh, fresh, fresh],
    ],
    [
      "takes two where the annotation says so",
      observed({ ...at(fresh), concurrency: 2, workers: [workers("a", old), workers("b", old), workers("c", old)] }),
      [fresh, fresh, fresh, old],
    ],
    [
      "leaves out deferred workers",
      observed({ ...at(fresh), workers: [workers("a", old, defer), workers("b", old)] }),
      [fresh, old, fresh],
    ],
    [
      "ends before workers that hold the sequence",
      observed({
        ...at(fresh),
        concurrency: 3,
        workers: [workers("a", old), workers("b", old, hold), workers("c", old)],
      }),
      [fresh, fresh, old, old],
    ],
    [
      "does not move the control plane while workers move",
      observed({ workers: [workers("a", old, { isUpgrading: true })] }),
      [old, old],
    ],
    ["creates no workers meanwhile", observed({ workers: [workers("a", undefined)] }), [fresh, "waits"]],
    [
      "creates workers once the control plane is there",
      observed({ ...at(fresh), workers: [workers("a", undefined)] }),
      [fresh, fresh],
    ],
    [
      "passes through the minors of the class",
      observed({
        desired: "v1.36.1",
        known: ["v1.34.0", "v1.35.0", "v1.35.2", "v1.36.1"],
        workers: [workers("a", old)],
      }),
      ["v1.35.2", old],
    ],
    [
      "takes the control plane on before workers need to follow",
      observed({ desired: "v1.36.1", known: ["v1.35.2"], ...at("v1.35.2"), workers: [workers("a", old)] }),
      ["v1.36.1", old],
    ],
    [
      "takes workers through a minor that the skew asks for",
      observed({
        desired: "v1.38.0",
        known: ["v1.35.0", "v1.36.0", "v1.37.0"],
        ...at("v1.37.0"),
        workers: [workers("a", old)],
      }),
      ["v1.37.0", "v1.37.0"],
    ],
  ])("%s", (_, input, expected) => expect(decided(input)).toEqual(expected));

  test.each<readonly [string, ObservedVersions, readonly string[]]>([
    [
      "move while MachineDeployments move, as many at once by themselves",
      observed({ ...at(fresh), workers: [workers("a", old)], pools: [workers("p", old), workers("q", old)] }),
      [fresh, fresh, fresh, old],
    ],
    [
      "keep the control plane where it is while they move",
      observed({ pools: [workers("p", old, { isUpgrading: true })] }),
      [old, old],
    ],
    ["wait for the control plane", observed({ pools: [workers("p", old)] }), [fresh, old]],
    ["are not created while it moves", observed({ pools: [workers("p", undefined)] }), [fresh, "waits"]],
    ["are left out if they are deferred", observed({ ...at(fresh), pools: [workers("p", old, defer)] }), [fresh, old]],
    [
      "have the control plane pass through the minors that their skew asks for",
      observed({
        desired: "v1.38.0",
        known: ["v1.35.0", "v1.36.0", "v1.37.0"],
        ...at("v1.37.0"),
        pools: [workers("p", old)],
      }),
      ["v1.37.0", "v1.37.0"],
    ],
  ])("MachinePools %s", (_, input, expected) => expect(decided(input)).toEqual(expected));

  test("refuses a downgrade, and minors that the class does not name", () => {
    expect(() =>
      upgradePath({ desired: old, controlPlane: fresh, oldestWorkers: undefined, known: undefined }),
    ).toThrow(/downgraded/);
    expect(() =>
      upgradePath({ desired: "v1.36.0", controlPlane: old, oldestWorkers: undefined, known: undefined }),
    ).toThrow(/has no version 1\.35/);
  });

  test("says what is under way, pending and deferred", () => {
    const upgrades = planUpgrades(
      observed({ ...at(fresh), workers: [workers("a", old), workers("b", old), workers("c", old, defer)] }),
    );
    expect(upgrades).toMatchObject({
      deployments: { upgrading: ["demo-a"], pending: ["demo-b"], deferred: ["demo-c"], waitingForCreation: [] },
      controlPlaneMoves: false,
    });
  });

  test("ends with all at the desired version, never skips a minor of the control plane, and never breaks the skew", () => {
    const minors = fc.integer({ min: 20, max: 29 });
    fc.assert(
      fc.property(
        minors,
        fc.integer({ min: 0, max: 6 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        (from, steps, behind, concurrency) => {
          const desired = `v1.${from + steps}.0`;
          const known = Array.from({ length: steps }, (_, step) => `v1.${from + step}.3`);
          let control = { version: `v1.${from}.0`, reached: `v1.${from}.0` };
          let standing = behind.map((minor, i) => ({
            name: `w${i}`,
            version: `v1.${from - minor}.0`,
            isUpgrading: false,
          }));
          for (let round = 0; round < 60; round++) {
            const upgrades = planUpgrades({
              desired,
              known,
              concurrency,
              controlPlane: control,
              workers: standing.map((one) => workers(one.name, one.version, one)),
            });
            expect(parseVersion(upgrades.controlPlane).minor - parseVersion(control.version).minor).toBeLessThan(2);
            expect(upgrades.deployments.upgrading.length).toBeLessThanOrEqual(concurrency);
            control = { version: upgrades.controlPlane, reached: round % 2 ? upgrades.controlPlane : control.reached };
            standing = standing.map((one) => {
              const version = upgrades.workers.get(one.name)?.version ?? one.version;
              const moves = !isSameVersion(version, one.version);
              return { ...one, version, isUpgrading: moves || (one.isUpgrading && round % 3 !== 0) };
            });
            for (const { version } of standing) {
              expect(compareBuilds(version, control.version)).toBeLessThanOrEqual(0);
              expect(parseVersion(control.version).minor - parseVersion(version).minor).toBeLessThanOrEqual(3);
            }
          }
          expect(
            [control.reached, ...standing.map(({ version }) => version)].every((one) => isSameVersion(one, desired)),
          ).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
});

test.each<[string | undefined, string | undefined, boolean]>([
  ["1.33.1", "v1.33.1", true],
  ["v1.33.1", "v1.33.1", true],
  ["1.33.1", "v1.33.2", false],
  ["newest", "vnewest", false],
  [undefined, undefined, true],
  [undefined, "v1.33.1", false],
])("versions %s and %s are stored alike but for the v: %s", (one, other, expected) => {
  expect(isStoredAlike(one, other)).toBe(expected);
});

/** What the status and the condition of a rotation say, and when it is checked again. */
import { describe, expect, test } from "vitest";
import { instant, oldMachines, planAuthorities, rotatingOf, rotationOf } from "./plan-authorities.ts";
import { at, from, HOUR, now, rotation, type Given } from "./testing/rotation.ts";

const DAY = 24 * HOUR;
const due = { rotateAfter: rotation };
const retired = { rotateAfter: rotation, retireOldAfter: rotation };
const planned = (given: Given) => planAuthorities(from(given));
const condition = (given: Given) =>
  planned(given).conditions.map(({ type, status, reason, message }) => {
    expect(type).toBe("AuthoritiesCurrent");
    return [status, reason, ...(message === undefined ? [] : [message])];
  })[0];
const named = (given: Given) => {
  const message = condition(given)?.[2] ?? "";
  return /Machines[^:]*?(?= were| and set| and wait)/.exec(message)?.[0];
};

describe("the condition of a rotation", () => {
  const distributing = "the new authority is being distributed; no action is needed (CONTROL_PLANE_ROTATION_RUNNING)";
  const removing = "the old authority is being removed; no action is needed (CONTROL_PLANE_ROTATION_RUNNING)";
  const signs = "the new authority signs, and the old one is trusted too: ";
  const waits = " (CONTROL_PLANE_ROTATION_WAITS)";
  test.for<[title: string, Given, string[] | undefined]>([
    ["is not there where nothing was ever requested", {}, undefined],
    ["is True where a rotation may be requested", { spec: {} }, ["True", "Current"]],
    ["is True where there was one", { ca: { rotation } }, ["True", "Current"]],
    ["says that it begins", { spec: due }, ["False", "Rotating", distributing]],
    ["says that it is under way", { spec: due, stages: ["trust", "trust"] }, ["False", "Rotating", distributing]],
    ["says that it ends", { spec: retired, stages: ["retire", "retire"] }, ["False", "Rotating", removing]],
    [
      "says that it is under way until everything knows that the new root signs",
      { spec: due, stages: ["sign", "sign"], settled: false },
      ["False", "Rotating", distributing],
    ],
    [
      "says that it continues where it began",
      { spec: due, stages: ["trust", "single"] },
      ["False", "Rotating", distributing],
    ],
    [
      "says that it continues where the new root signs in part",
      { spec: due, stages: ["trust", "sign"] },
      ["False", "Rotating", distributing],
    ],
    [
      "says that it continues where it ended",
      { spec: retired, stages: ["retire", "sign"] },
      ["False", "Rotating", removing],
    ],
    [
      "says what its user must do",
      { spec: due, stages: ["sign", "sign"] },
      [
        "False",
        "Prepared",
        `${signs}set spec.authorities.retireOldAfter when clients have new certificates and kubeconfigs${waits}`,
      ],
    ],
    [
      "says until when its user waits",
      { spec: { ...due, retireOldAfter: at(HOUR) }, stages: ["sign", "sign"] },
      ["False", "Prepared", `${signs}wait for spec.authorities.retireOldAfter, ${at(HOUR)}${waits}`],
    ],
    [
      "says which Machines its user must replace",
      { spec: due, stages: ["sign", "sign"], oldMachines: ["m0"] },
      [
        "False",
        "Prepared",
        `${signs}replace Machines m0 and set spec.authorities.retireOldAfter when clients have new certificates and kubeconfigs${waits}`,
      ],
    ],
    [
      "says which Machines are in the way of its end",
      { spec: retired, stages: ["sign", "sign"], oldMachines: ["m0"] },
      [
        "False",
        "MachinesRemain",
        "the old authority cannot be retired: Machines m0 were made before the new one was known, and would not reach the control plane; replace them, or set spec.authorities.ignoreMachines (CONTROL_PLANE_MACHINES_OLD)",
      ],
    ],
    [
      "says what its operator must restore",
      { spec: retired, stages: ["sign", "single"] },
      [
        "False",
        "RotationBroken",
        "Secrets CLUSTER-ca, CLUSTER-sa and CLUSTER-proxy are in different stages of a rotation, or lack other.crt and other.key; restore them from a backup of the same time (CONTROL_PLANE_ROTATION_BROKEN)",
      ],
    ],
    ["says nothing of an authority that expires in half a year", { expiresAt: now + 180 * DAY }, undefined],
    [
      "says when an authority expires earlier",
      { expiresAt: now + 180 * DAY - 1_000 },
      [
        "False",
        "ExpiresSoon",
        `the certificate authority expires at ${at(180 * DAY - 1_000)}: set spec.authorities.rotateAfter (CONTROL_PLANE_AUTHORITY_EXPIRES)`,
      ],
    ],
  ])("%s", ([, given, expected]) => {
    expect(condition(given)).toEqual(expected);
  });

  test("names three Machines, and counts the others", () => {
    const of = (count: number) => {
      const oldMachines = Array.from({ length: count }, (_, index) => `m${index}`);
      return named({ spec: retired, stages: ["sign", "sign"], oldMachines });
    };
    expect([of(1), of(3), of(4)]).toEqual(["Machines m0", "Machines m0, m1, m2", "Machines m0, m1, m2 and 1 more"]);
  });
});

describe("the roots that a rotation is of", () => {
  const reasons = (given: Given) => [planned(given).status.phase, condition(given)?.[1]];
  test.for<[title: string, Given, ReturnType<typeof reasons>]>([
    ["two stages that do not follow each other", { stages: ["single", "sign"] }, ["Preparing", "RotationBroken"]],
    [
      "a next root that is there too early",
      { stages: ["single", "single"], ca: { other: { certificate: "O", key: "o" } } },
      ["Preparing", "RotationBroken"],
    ],
    [
      "a next root that is missing",
      { stages: ["trust", "trust"], ca: { other: undefined as never } },
      ["Preparing", "RotationBroken"],
    ],
    [
      "stages of no known rotation",
      { stages: ["trust", "single"], ca: { rotation: undefined as never } },
      ["Preparing", "RotationBroken"],
    ],
    [
      "a phase that was published",
      { stages: ["single", "sign"], status: { phase: "Prepared" } },
      ["Prepared", "RotationBroken"],
    ],
  ])("cannot continue from %s", ([, given, expected]) => {
    expect(reasons(given)).toEqual(expected);
    expect(planned(given)).toMatchObject({ catchUp: [], advance: [] });
  });

  test.for<[title: string, Given, string[]]>([
    ["before the cluster's root signs", { stages: ["trust", "trust", "single"] }, ["proxy"]],
    ["where it is of this rotation", { stages: ["retire", "retire", "single"], proxy: { rotation } }, ["ca", "sa"]],
    [
      "not where it is of an earlier one",
      { stages: ["retire", "retire", "single"], proxy: { rotation: at(-9 * HOUR) } },
      [],
    ],
  ])("have the front proxy's among them %s", ([, given, behind]) => {
    const { catchUp } = planned({ spec: retired, ...given });
    expect(catchUp.map((step) => (step.type === "rotate-root" ? step.purpose : step.type))).toEqual(behind);
  });

  test("are of the rotation that brought the first of them further, or of the one that is requested", () => {
    const rotations = (given: Given) => {
      const { catchUp, advance } = planned({ spec: { rotateAfter: at(-1_000), retireOldAfter: rotation }, ...given });
      return [...catchUp, ...advance].map((step) => (step.type === "rotate-root" ? step.rotation : ""));
    };
    expect(rotations({})).toEqual([at(-1_000), at(-1_000)]);
    expect(rotations({ stages: ["trust", "single"] })).toEqual([rotation]);
    expect(rotations({ stages: ["trust", "trust"] })).toEqual([rotation, rotation]);
    expect(rotations({ stages: ["single", "trust"], ca: { rotation: at(-9 * HOUR) } })).toEqual([rotation]);
  });

  test.for<[title: string, Given, isBegun: boolean]>([
    ["that is as old as the requested time", { createdAt: now - HOUR }, false],
    ["that is a millisecond older", { createdAt: now - HOUR - 1 }, true],
    ["that was rotated for an earlier time", { ca: { rotation: at(-2 * HOUR) } }, true],
    ["that was rotated for a later time", { ca: { rotation: at(-HOUR + 1_000) } }, false],
    ["that was made later than it was rotated last", { createdAt: now, ca: { rotation: at(-2 * HOUR) } }, false],
    ["at the requested time", { spec: { rotateAfter: at(0) } }, true],
    ["a second before the requested time", { spec: { rotateAfter: at(1_000) } }, false],
    ["at a time that cannot be read", { spec: { rotateAfter: "soon" } }, false],
  ])("are rotated where there is one %s", ([, given, isBegun]) => {
    expect(planned({ spec: due, ...given }).advance.length).toBe(isBegun ? 2 : 0);
  });

  test.for<[title: string, Given["spec"], isRetired: boolean]>([
    ["at the requested time", { retireOldAfter: at(0) }, true],
    ["not a second before", { retireOldAfter: at(1_000) }, false],
    ["at the very time of the rotation", { retireOldAfter: rotation }, true],
    ["not for a time before the rotation", { retireOldAfter: at(-HOUR - 1_000) }, false],
    ["not at a time that cannot be read", { retireOldAfter: "soon" }, false],
    ["not without a request", undefined, false],
  ])("are retired %s", ([, spec, isRetired]) => {
    const given: Given = { stages: ["sign", "sign"], ...(spec ? { spec } : {}) };
    expect(planned(given).advance.length).toBe(isRetired ? 2 : 0);
  });

  test("are retired for any time where nothing says of which rotation they are", () => {
    const given: Given = { spec: { retireOldAfter: at(-99 * HOUR) }, stages: ["sign", "sign"] };
    expect(planned(given).advance).toEqual([]);
    expect(planned({ ...given, ca: { rotation: undefined as never } }).advance).toHaveLength(2);
  });
});

describe("the status of a rotation", () => {
  const published = (status: NonNullable<Given["status"]>) =>
    planned({ spec: due, stages: ["sign", "sign"], settled: false, status }).status;
  test("has what is known, and nothing else", () => {
    const expiresAt = at(100_000 * HOUR);
    expect(planned({}).status).toStrictEqual({ phase: "Current", expiresAt });
    const ended = planned({ ca: { rotation, retiredAt: at(-5_000) } }).status;
    expect(ended).toStrictEqual({ phase: "Current", expiresAt, rotation, retiredAt: at(-5_000) });
    const machines = planned({ stages: ["sign", "sign"], oldMachines: ["b", "a"] }).status;
    expect(machines).toStrictEqual({
      phase: "Prepared",
      expiresAt,
      rotation,
      rotatedAt: at(0),
      machines: { count: 2, names: ["a", "b"] },
    });
  });

  test("is prepared once and for all, for one rotation", () => {
    expect(published({ phase: "Prepared", rotation }).phase).toBe("Prepared");
    expect(published({ phase: "Prepared", rotation: at(-9 * HOUR) }).phase).toBe("Preparing");
    expect(published({ phase: "Preparing", rotation }).phase).toBe("Preparing");
    expect(published({ phase: "Prepared", rotation, rotatedAt: at(-1_000) }).rotatedAt).toBe(at(-1_000));
    expect(published({ phase: "Preparing", rotation })).not.toHaveProperty("rotatedAt");
  });

  test("counts Machines of the second in which the new root was known, and of no earlier one", () => {
    const { facts, ...given } = from({
      stages: ["sign", "sign"],
      status: { phase: "Prepared", rotation, rotatedAt: at(0) },
    });
    const machines = [now - 1, now, now + 1].map((createdAt) => ({ name: `m${createdAt - now}`, createdAt }));
    expect(oldMachines({ ...given, facts: { ...facts, machines } })).toEqual(["m-1"]);
    // One that is only being prepared has no time yet.
    const { object } = from({ stages: ["sign", "sign"], status: { phase: "Preparing", rotation, rotatedAt: at(0) } });
    expect(oldMachines({ object, facts: { ...facts, machines } })).toHaveLength(3);
  });

  test.for<[title: string, Given, until: number | undefined]>([
    ["never without times", {}, undefined],
    ["at its beginning", { spec: { rotateAfter: at(HOUR) } }, HOUR],
    ["at its end, if that is first", { spec: { rotateAfter: at(2 * HOUR), retireOldAfter: at(HOUR) } }, HOUR],
    [
      "not at what is over",
      { spec: { rotateAfter: at(0), retireOldAfter: at(HOUR) }, stages: ["trust", "trust"] },
      HOUR,
    ],
    [
      "never where all is over",
      { spec: { rotateAfter: at(0), retireOldAfter: at(-HOUR) }, stages: ["trust", "trust"] },
      undefined,
    ],
    ["for its Machines", { spec: { retireOldAfter: at(HOUR) }, stages: ["sign", "sign"] }, 15_000],
    [
      "at its end before its Machines are checked",
      { spec: { retireOldAfter: at(5_000) }, stages: ["sign", "sign"] },
      5_000,
    ],
    ["never at what is no time", { spec: { rotateAfter: "soon" } }, undefined],
  ])("is checked again %s", ([, given, until]) => {
    const found = planned(given);
    expect(found.until).toBe(until === undefined ? undefined : now + until);
    if (until === undefined) expect(found).not.toHaveProperty("until");
  });

  test("has times in whole seconds", () => {
    expect(instant(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe("2026-01-02T03:04:05Z");
  });
});

describe("the part of a rotation that programs and backups get", () => {
  const pair = { certificate: "SIGNS", key: "k" };
  const other = { certificate: "OTHER", key: "o" };
  const facts = (given: Given) => from(given).facts;
  test("is nothing where there was none, and its stage where there was one", () => {
    expect([rotationOf(facts({})), rotatingOf(facts({}))]).toStrictEqual([{}, {}]);
    const ended = facts({ ca: { rotation } });
    expect([rotationOf(ended), rotatingOf(ended)]).toStrictEqual([
      { rotationStage: { id: rotation, stage: "single" } },
      {},
    ]);
  });

  test.for([
    ["trust", pair],
    ["sign", other],
  ] as const)("is both roots in stage %s, and what serves is signed by the older one", ([stage, serving]) => {
    const both = facts({ stages: [stage, stage, stage] });
    const known = { rotationStage: { id: rotation, stage } };
    const trusted = { trusted: ["OTHER"], serving, accountKeys: ["OTHER"] };
    expect(rotationOf(both)).toStrictEqual({ ...known, rotation: trusted });
    const one = { stage, rotation, other };
    expect(rotatingOf(both)).toStrictEqual({ rotating: { ca: one, sa: one, proxy: one } });
  });

  test("is one root in the last stage, and the other ones where only some have two", () => {
    const last = facts({ stages: ["retire", "retire"] });
    expect(rotationOf(last)).toStrictEqual({ rotationStage: { id: rotation, stage: "retire" } });
    const one = { stage: "retire", rotation };
    expect(rotatingOf(last)).toStrictEqual({ rotating: { ca: one, sa: one } });
    expect(rotationOf(facts({ stages: ["trust", "single"] })).rotation).toStrictEqual({
      trusted: ["OTHER"],
      serving: pair,
      accountKeys: [],
    });
    expect(rotationOf(facts({ stages: ["single", "trust"] })).rotation).toStrictEqual({
      trusted: [],
      serving: pair,
      accountKeys: ["OTHER"],
    });
    // The Secret of one that signs, and lost the old one.
    const lost = facts({ stages: ["sign", "sign"], ca: { other: undefined as never } });
    expect(rotationOf(lost).rotation).toStrictEqual({ trusted: [], serving: pair, accountKeys: ["OTHER"] });
    expect(rotatingOf(facts({ stages: ["trust", "trust"], ca: { rotation: undefined as never } }))).toStrictEqual({
      rotating: { sa: { stage: "trust", rotation, other } },
    });
  });
});

import { createAuthority, issueCertificate, splitCertificates, verifyChain, type KeyPair } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import { beforeAll, describe, expect, test } from "vitest";
import { rootsDigest } from "../runtime.ts";
import { newRoot } from "./new-root.ts";
import { oldMachines, planAuthorities, rotationOf } from "./plan-authorities.ts";
import { nextSecret } from "./rotate-root.ts";
import { bundleOf, rootOf, type Root, type RootStage, type RotatedPurpose } from "./roots.ts";
import { at, from, HOUR, now, rotation, type Given } from "./testing/rotation.ts";

/** "advance ca→trust", the phase, and the condition's reason. */
function outcome(given: Given): { steps: string[]; phase: string | undefined; reason: string | undefined } {
  const planned = planAuthorities(from(given));
  const named = (kind: string, steps: typeof planned.advance): string[] =>
    steps.map((step) => (step.type === "rotate-root" ? `${kind} ${step.purpose}→${step.to}` : step.type));
  return {
    steps: [...named("catch up", planned.catchUp), ...named("advance", planned.advance)],
    phase: planned.status.phase,
    reason: planned.conditions[0]?.reason,
  };
}

const both = (to: RootStage): string[] => [`advance ca→${to}`, `advance sa→${to}`];
const all = (to: RootStage): string[] => [...both(to), `advance proxy→${to}`];
const due = { rotateAfter: rotation };
const retired = { rotateAfter: rotation, retireOldAfter: rotation };

describe("the rotation of a control plane's authority", () => {
  test("dates a new root when all of the control plane signs with it, rounded up, and keeps that date", () => {
    const plan = (given: Given, later = 0) => {
      const facts = from(given);
      return planAuthorities({ ...facts, now: facts.now + later }).status.rotatedAt;
    };
    const signing: Given = { spec: due, stages: ["sign", "sign"] };
    expect(plan({ ...signing, settled: false })).toBeUndefined();
    expect(plan(signing, 1)).toBe(at(1_000));
    const status = { phase: "Prepared", rotation, rotatedAt: at(1_000) } as const;
    expect(plan({ ...signing, status }, 90_000)).toBe(at(1_000));
    expect(plan({ ...signing, settled: false, status }, 90_000)).toBe(at(1_000));
    expect(plan({ spec: retired, stages: ["retire", "retire"], status }, 90_000)).toBe(at(1_000));
    expect(plan({ ...signing, status: { ...status, rotation: at(-2 * HOUR) } }, 90_000)).toBe(at(90_000));
  });

  test.each<[string, Given, ReturnType<typeof outcome>]>([
    ["has no condition where none is requested", {}, { steps: [], phase: "Current", reason: undefined }],
    ["begins when its time has come", { spec: due }, { steps: both("trust"), phase: "Current", reason: "Rotating" }],
    [
      "does not begin before its time",
      { spec: { rotateAfter: at(HOUR) } },
      { steps: [], phase: "Current", reason: "Current" },
    ],
    [
      "does not begin when the authority is younger than the requested time",
      { spec: due, createdAt: now - HOUR / 2 },
      { steps: [], phase: "Current", reason: "Current" },
    ],
    [
      "does not begin again when the one for this time is over",
      { spec: retired, ca: { rotation } },
      { steps: [], phase: "Current", reason: "Current" },
    ],
    [
      "does not begin before the control plane was initialized",
      { spec: due, initialized: false },
      { steps: [], phase: "Current", reason: "Current" },
    ],
    [
      "does not begin while the control plane is not as requested",
      { spec: due, settled: false },
      { steps: [], phase: "Current", reason: "Rotating" },
    ],
    [
      "continues when only one of two Secrets was written before a crash",
      { spec: due, stages: ["trust", "single"], settled: false },
      { steps: ["catch up sa→trust"], phase: "Preparing", reason: "Rotating" },
    ],
    [
      "continues when the other Secret was written first",
      { spec: due, stages: ["sign", "trust"], settled: false },
      { steps: ["catch up sa→sign"], phase: "Preparing", reason: "Rotating" },
    ],
    [
      "does not sign with the new root before it is trusted everywhere",
      { spec: due, stages: ["trust", "trust"], settled: false },
      { steps: [], phase: "Preparing", reason: "Rotating" },
    ],
    [
      "signs with the new root once it is trusted everywhere",
      { spec: due, stages: ["trust", "trust"] },
      { steps: both("sign"), phase: "Preparing", reason: "Rotating" },
    ],
    [
      "waits until everything knows the new root, whatever is requested",
      { spec: retired, stages: ["sign", "sign"], settled: false },
      { steps: [], phase: "Preparing", reason: "Rotating" },
    ],
    [
      "waits for its user once the new root signs",
      { spec: due, stages: ["sign", "sign"] },
      { steps: [], phase: "Prepared", reason: "Prepared" },
    ],
    [
      "remains prepared while an API server restarts",
      { spec: due, stages: ["sign", "sign"], settled: false, status: { phase: "Prepared", rotation } },
      { steps: [], phase: "Prepared", reason: "Prepared" },
    ],
    [
      "does not retire the old root before its time",
      { spec: { ...due, retireOldAfter: at(HOUR) }, stages: ["sign", "sign"] },
      { steps: [], phase: "Prepared", reason: "Prepared" },
    ],
    [
      "ignores a retirement that was requested of an earlier rotation",
      { spec: { rotateAfter: at(-2 * HOUR), retireOldAfter: at(-2 * HOUR) }, stages: ["sign", "sign"] },
      { steps: [], phase: "Prepared", reason: "Prepared" },
    ],
    [
      "keeps the old root while Machines know only that one",
      { spec: retired, stages: ["sign", "sign"], oldMachines: ["m0", "m1"] },
      { steps: [], phase: "Prepared", reason: "MachinesRemain" },
    ],
    [
      "retires the old root when Machines that know only that one are given up",
      { spec: { ...retired, ignoreMachines: true }, stages: ["sign", "sign"], oldMachines: ["m0"] },
      { steps: both("retire"), phase: "Prepared", reason: "Rotating" },
    ],
    [
      "retires the old root when nothing needs it",
      { spec: retired, stages: ["sign", "sign"] },
      { steps: both("retire"), phase: "Prepared", reason: "Rotating" },
    ],
    [
      "waits for the end of an earlier one",
      { spec: { rotateAfter: at(-1) }, stages: ["sign", "sign"] },
      { steps: [], phase: "Prepared", reason: "Prepared" },
    ],
    [
      "waits while the old root is removed",
      { spec: retired, stages: ["retire", "retire"], settled: false },
      { steps: [], phase: "Retiring", reason: "Rotating" },
    ],
    [
      "ends when the old root is gone",
      { spec: retired, stages: ["retire", "retire"] },
      { steps: both("single"), phase: "Retiring", reason: "Rotating" },
    ],
    [
      "continues when one of two Secrets ended before a crash",
      { spec: retired, stages: ["single", "retire"], ca: { rotation }, settled: false },
      { steps: ["catch up sa→single"], phase: "Retiring", reason: "Rotating" },
    ],
    [
      "begins with the front proxy's authority, too",
      { spec: due, stages: ["single", "single", "single"] },
      { steps: all("trust"), phase: "Current", reason: "Rotating" },
    ],
    [
      "continues with the front proxy's authority, too",
      { spec: due, stages: ["trust", "trust", "trust"] },
      { steps: all("sign"), phase: "Preparing", reason: "Rotating" },
    ],
    [
      "retires the front proxy's old authority with the others",
      { spec: retired, stages: ["sign", "sign", "sign"] },
      { steps: all("retire"), phase: "Prepared", reason: "Rotating" },
    ],
    [
      "continues when only one of three Secrets was written before a crash",
      { spec: due, stages: ["single", "trust", "single"], settled: false },
      { steps: ["catch up ca→trust", "catch up proxy→trust"], phase: "Preparing", reason: "Rotating" },
    ],
    [
      "ends the front proxy's stage when only that one is behind",
      { spec: retired, stages: ["single", "single", "retire"], ca: { rotation }, settled: false },
      { steps: ["catch up proxy→single"], phase: "Retiring", reason: "Rotating" },
    ],
    [
      "continues when the front proxy's stage ended first",
      { spec: retired, stages: ["retire", "retire", "single"], proxy: { rotation }, settled: false },
      { steps: ["catch up ca→single", "catch up sa→single"], phase: "Retiring", reason: "Rotating" },
    ],
    [
      "ends without the front proxy where an older version began it so",
      { spec: retired, stages: ["sign", "sign", "single"] },
      { steps: both("retire"), phase: "Prepared", reason: "Rotating" },
    ],
    [
      "does not end without the front proxy before it has settled",
      { spec: retired, stages: ["retire", "retire", "single"], settled: false },
      { steps: [], phase: "Retiring", reason: "Rotating" },
    ],
    [
      "reports three Secrets of three stages",
      { spec: retired, stages: ["trust", "sign", "retire"] },
      { steps: [], phase: "Preparing", reason: "RotationBroken" },
    ],
    [
      "reports that an old Secret was put back",
      { spec: retired, stages: ["sign", "single"] },
      { steps: [], phase: "Preparing", reason: "RotationBroken" },
    ],
    [
      "reports that the other root was removed",
      { spec: retired, stages: ["sign", "sign"], ca: { other: undefined as never } },
      { steps: [], phase: "Preparing", reason: "RotationBroken" },
    ],
    [
      "reports that the authority expires in a month where no rotation is requested",
      { expiresAt: now + 30 * 24 * HOUR },
      { steps: [], phase: "Current", reason: "ExpiresSoon" },
    ],
  ])("%s", (_, given, expected) => {
    expect(outcome(given)).toEqual(expected);
  });

  const prepared = { phase: "Prepared", rotation, rotatedAt: at(-HOUR) } as const;
  test.each<[title: string, status: Given["status"], expected: readonly string[]]>([
    ["all Machines while parts of the control plane may sign with the old authority", undefined, ["a", "b", "c"]],
    ["Machines from before the new authority signed everywhere", prepared, ["a", "c"]],
    ["all Machines where another rotation was prepared", { ...prepared, rotation: at(-9 * HOUR) }, ["a", "b", "c"]],
    ["all Machines where the time is not known", { phase: "Prepared", rotation }, ["a", "b", "c"]],
  ])("holds back for %s", (_title, status, expected) => {
    const given = from({ stages: ["sign", "sign"], ...(status ? { status } : {}) });
    const machines = [
      { name: "c", createdAt: Number.NaN },
      { name: "b", createdAt: now },
      { name: "a", createdAt: now - 2 * HOUR },
    ];
    expect(oldMachines({ ...given, facts: { ...given.facts, machines } })).toEqual(expected);
  });

  test("names the Machines that hold it, and not all of a hundred", () => {
    const oldMachines = Array.from({ length: 100 }, (_, index) => `m${index}`);
    const { status, conditions } = planAuthorities(from({ spec: retired, stages: ["sign", "sign"], oldMachines }));
    expect(status.machines).toMatchObject({ count: 100, names: { length: 20 } });
    expect(conditions[0]?.message).toMatch(
      /Machines m0, m1, m10 and 97 more were made before.*CONTROL_PLANE_MACHINES_OLD/,
    );
  });

  test("is reconciled again at its times, and at Machines", () => {
    expect(planAuthorities(from({ spec: { rotateAfter: at(HOUR) } })).until).toBe(now + HOUR);
    expect(planAuthorities(from({ spec: due, stages: ["sign", "sign"] })).until).toBe(now + 15_000);
    expect(planAuthorities(from({})).until).toBeUndefined();
  });
});

describe("the Secrets of a rotation", () => {
  type All<T> = Record<RotatedPurpose, T>;
  const made: Partial<All<KeyPair>> = {};
  let first: All<Secret>;
  beforeAll(async () => {
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const secret = (name: string, pair: KeyPair): Secret => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, annotations: { kept: "yes" } },
      data: { "tls.crt": base64(pair.certificate), "tls.key": base64(pair.key), more: "eA==" },
    });
    first = {
      ca: secret("demo-ca", await createAuthority({ commonName: "kubernetes", lifetime: HOUR })),
      sa: secret("demo-sa", await newRoot("sa", "demo", now)),
      proxy: secret("demo-proxy", await newRoot("proxy", "demo", now)),
    };
    made.proxy = await newRoot("proxy", "demo", now);
    made.ca = await newRoot("ca", "demo", now);
    made.sa = await newRoot("sa", "demo", now);
  });

  /** The roots after each stage. */
  function walk(): All<Root>[] {
    const walked: All<Root>[] = [];
    let secrets = first;
    for (const to of ["trust", "sign", "retire", "single"] as const) {
      const next = (purpose: RotatedPurpose): Secret =>
        nextSecret(
          { type: "rotate-root", purpose, to, rotation },
          { root: rootOf(secrets[purpose]) as Root, made: to === "trust" ? made[purpose] : undefined, now },
        );
      secrets = { ca: next("ca"), sa: next("sa"), proxy: next("proxy") };
      const read = (purpose: RotatedPurpose): Root => rootOf(secrets[purpose]) as Root;
      walked.push({ ca: read("ca"), sa: read("sa"), proxy: read("proxy") });
    }
    return walked;
  }

  test.each(["ca", "proxy"] as const)(
    "have the one that signs first in tls.crt, whatever the stage: %s",
    async (purpose) => {
      const [old, fresh] = [rootOf(first[purpose])?.pair, made[purpose]] as [KeyPair, KeyPair];
      const stages = walk().map((roots) => roots[purpose]);
      const certificates = (text: string): string[] => splitCertificates(text);
      expect(stages.map(({ stage }) => stage)).toEqual(["trust", "sign", "retire", "single"]);
      expect(stages.map((root) => certificates(bundleOf(root)))).toEqual([
        [...certificates(old.certificate), ...certificates(fresh.certificate)],
        [...certificates(fresh.certificate), ...certificates(old.certificate)],
        certificates(fresh.certificate),
        certificates(fresh.certificate),
      ]);
      for (const { pair } of stages) {
        const issued = await issueCertificate(pair, { commonName: "x", usages: ["client"], lifetime: HOUR });
        expect(verifyChain(issued.certificate, pair.certificate)).toBe(true);
      }
      const last = stages.at(-1)?.secret;
      expect(Object.keys(last?.data ?? {}).toSorted()).toEqual(["more", "tls.crt", "tls.key"]);
      expect(last?.metadata.annotations).toMatchObject({ kept: "yes", "controlplane.causeway.dev/rotation": rotation });
      expect(last?.metadata.annotations).not.toHaveProperty("controlplane.causeway.dev/rotation-stage");
    },
  );

  test("have the runtime sign what others verify with the older one until it is retired", () => {
    const old = rootOf(first.ca)?.pair as KeyPair;
    const rotations = walk().map((roots) => rotationOf({ roots, createdAt: 0, expiresAt: 0, machines: [] }).rotation);
    const serving = rotations.map((rotation) => rotation && splitCertificates(rotation.serving.certificate)[0]);
    const [oldCertificate] = splitCertificates(old.certificate);
    expect(serving).toEqual([oldCertificate, oldCertificate, undefined, undefined]);
    expect(rotations[0]?.accountKeys).toEqual([made.sa?.certificate]);
    expect(rotations[1]?.accountKeys).toEqual([rootOf(first.sa)?.pair.certificate]);
  });

  test("are other roots in each stage but the last two", () => {
    const digests = walk().map((roots) =>
      rootsDigest({
        authority: roots.ca.pair,
        serviceAccountKey: roots.sa.pair.key,
        ...rotationOf({ roots, createdAt: 0, expiresAt: 0, machines: [] }),
      }),
    );
    expect(new Set(digests).size).toBe(3);
    expect(digests[2]).toBe(digests[3]);
  });
});

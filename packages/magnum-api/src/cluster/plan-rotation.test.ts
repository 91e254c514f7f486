import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HostedControlPlane, Machine, MagnumCluster } from "@causeway/api";
import { authoritiesOf, rolloutAfterOf, rotationStage, rotationWaitsFor, type RotationFacts } from "./plan-rotation.ts";

const ASKED = "2026-11-01T12:00:00Z";
const EARLIER = "2026-10-01T12:00:00Z";
const ROTATED = "2026-11-01T12:00:30Z";
const [before, after] = ["2026-11-01T11:00:00Z", "2026-11-01T12:01:00Z"];

interface Given {
  readonly asked?: string;
  readonly phase?: string;
  readonly rotation?: string;
  readonly spec?: object;
  readonly machines?: readonly string[];
  readonly isSettled?: boolean;
}

const facts = ({
  asked = ASKED,
  phase,
  rotation = ASKED,
  spec,
  machines = [],
  isSettled = true,
}: Given): RotationFacts => ({
  object: { spec: asked === "" ? {} : { rotateAuthoritiesAfter: asked } } as MagnumCluster,
  controlPlane: {
    spec: spec === undefined ? {} : { authorities: spec },
    status: phase === undefined ? {} : { authorities: { phase, rotation, rotatedAt: ROTATED } },
  } as unknown as HostedControlPlane,
  machines: machines.map((creationTimestamp) => ({ metadata: { creationTimestamp } })) as unknown as Machine[],
  isSettled,
});
const retiring = { rotateAfter: ASKED, retireOldAfter: ASKED };

describe("the rotation of a cluster's certificate authority", () => {
  it.each<[string, Given, string, boolean]>([
    ["is none when no user requested it", { asked: "", phase: "Prepared" }, "None", false],
    ["is being prepared before the control plane has a status", {}, "Preparing", false],
    [
      "is being prepared while the control plane shows an earlier one",
      { phase: "Current", rotation: EARLIER },
      "Preparing",
      false,
    ],
    ["is being prepared until the new authority signs", { phase: "Preparing" }, "Preparing", false],
    ["replaces machines that are older", { phase: "Prepared", machines: [before, after] }, "Rolling", false],
    [
      "waits until new machines are ready",
      { phase: "Prepared", machines: [after], isSettled: false },
      "Rolling",
      false,
    ],
    [
      "retires the old authority when all machines are new and ready",
      { phase: "Prepared", machines: [after] },
      "Retiring",
      true,
    ],
    ["retires the old authority of a cluster without machines", { phase: "Prepared" }, "Retiring", true],
    [
      "continues to request what it requested once, though a machine breaks",
      { phase: "Prepared", machines: [after], isSettled: false, spec: retiring },
      "Retiring",
      true,
    ],
    [
      "does not take the retirement of an earlier rotation for its own",
      { phase: "Prepared", machines: [before], spec: { rotateAfter: EARLIER, retireOldAfter: EARLIER } },
      "Rolling",
      false,
    ],
    ["waits until the old authority is gone", { phase: "Retiring", spec: retiring }, "Retiring", true],
    ["is done when there is one authority again", { phase: "Current", spec: retiring }, "Done", true],
  ])("%s", (_, given, stage, retires) => {
    const found = facts(given);
    expect(rotationStage(found)).toBe(stage);
    expect(authoritiesOf(found)).toEqual(
      stage === "None" ? undefined : { rotateAfter: ASKED, ...(retires ? { retireOldAfter: ASKED } : {}) },
    );
    expect(rotationWaitsFor(found) === undefined).toBe(stage === "None" || stage === "Done");
  });

  it("rolls machines made before the new authority signed, and none for a rotation by an operator", () => {
    expect(rolloutAfterOf(facts({ phase: "Prepared" }))).toBe(ROTATED);
    expect(rolloutAfterOf(facts({ phase: "Prepared", asked: "" }))).toBeUndefined();
    expect(rolloutAfterOf(facts({}))).toBeUndefined();
  });

  it("never asks to retire an authority that a machine needs", () => {
    const instants = fc.constantFrom(before, after, ROTATED);
    const phases = fc.constantFrom("Current", "Preparing", "Prepared");
    fc.assert(
      fc.property(
        fc.array(instants),
        phases,
        fc.constantFrom(ASKED, EARLIER),
        fc.boolean(),
        (machines, phase, rotation, isSettled) => {
          const found = facts({ machines, phase, rotation, isSettled });
          const needed = rotation !== ASKED || phase !== "Prepared" || machines.includes(before) || !isSettled;
          const isDone = rotation === ASKED && phase === "Current";
          if (needed && !isDone) expect(authoritiesOf(found)).toEqual({ rotateAfter: ASKED });
        },
      ),
    );
  });
});

describe("the text of a rotation", () => {
  it.each<[string, Given, string | undefined]>([
    ["is none without a rotation", { asked: "" }, undefined],
    ["is none after it", { phase: "Current" }, undefined],
    [
      "names the distribution of the new authority",
      { phase: "Preparing" },
      "rotating the certificate authority: the new one is being distributed",
    ],
    [
      "counts the nodes that are still to be replaced",
      { phase: "Prepared", machines: [before, after, before] },
      "rotating the certificate authority: 2 of 3 nodes know only the old one and are being replaced",
    ],
    [
      "waits for new nodes where none is old",
      { phase: "Prepared", machines: [after], isSettled: false },
      "rotating the certificate authority: waiting for the new nodes to be ready",
    ],
    [
      "counts a node of the moment of the rotation as a new one",
      { phase: "Prepared", machines: [ROTATED], isSettled: false },
      "rotating the certificate authority: waiting for the new nodes to be ready",
    ],
    [
      "names the removal of the old authority",
      { phase: "Prepared", spec: retiring, machines: [after] },
      "rotating the certificate authority: the old one is being removed",
    ],
  ])("%s", (_, given, text) => expect(rotationWaitsFor(facts(given))).toBe(text));
});

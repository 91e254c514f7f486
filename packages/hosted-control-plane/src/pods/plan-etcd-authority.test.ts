import type { KubeObject, Secret } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { AuthorityRotation } from "../runtime.ts";
import { etcdAuthoritySteps, nextStage, placeOf, type EtcdAuthorityPlace } from "./plan-etcd-authority.ts";
import { rotationAnnotation, rotationStageAnnotation } from "./tenant.ts";

const A = "2026-01-01T00:00:00Z";
const B = "2026-06-01T00:00:00Z";
const at = (stage: AuthorityRotation["stage"], id = A): AuthorityRotation => ({ id, stage });

describe("the next stage of etcd's authority", () => {
  const rows: [string, EtcdAuthorityPlace, AuthorityRotation | undefined, string | undefined][] = [
    ["none without a rotation", { stage: "single", rotation: undefined }, undefined, undefined],
    [
      "none for one that ended before this program knew of etcd's",
      { stage: "single", rotation: undefined },
      at("single"),
      undefined,
    ],
    ["trust when the roots are there", { stage: "single", rotation: undefined }, at("trust"), "trust"],
    ["trust first, when the roots are further", { stage: "single", rotation: undefined }, at("sign"), "trust"],
    ["none while the roots are no further", { stage: "trust", rotation: A }, at("trust"), undefined],
    ["sign with the roots", { stage: "trust", rotation: A }, at("sign"), "sign"],
    ["none while both are trusted", { stage: "sign", rotation: A }, at("sign"), undefined],
    ["single when the old ones retire", { stage: "sign", rotation: A }, at("retire"), "single"],
    ["single when they have", { stage: "sign", rotation: A }, at("single"), "single"],
    ["none when it has ended", { stage: "single", rotation: A }, at("retire"), undefined],
    ["the end of an earlier one first", { stage: "sign", rotation: A }, at("trust", B), "single"],
    ["and then another one", { stage: "single", rotation: A }, at("trust", B), "trust"],
  ];
  test.each(rows)("is %s", (_, place, wanted, next) => {
    expect(nextStage(place, wanted)).toBe(next);
  });
});

describe("a step of the rotation of etcd's authority", () => {
  const secret = (annotations?: Record<string, string>): Secret => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "etcd-ca-copy", ...(annotations ? { annotations } : {}) },
  });
  const placed = (stage: string, rotation = A) =>
    secret({ [rotationStageAnnotation]: stage, [rotationAnnotation]: rotation });

  test("continues from where the Secret says, and from the beginning where it says nothing that is known", () => {
    expect(placeOf(placed("trust"))).toEqual({ stage: "trust", rotation: A });
    expect(placeOf(placed("sign"))).toEqual({ stage: "sign", rotation: A });
    for (const other of ["single", "retire", "of a later version"])
      expect(placeOf(placed(other))).toEqual({ stage: "single", rotation: A });
    for (const none of [undefined, secret(), secret({})])
      expect(placeOf(none)).toEqual({ stage: "single", rotation: undefined });
  });

  test.for<[title: string, copy: Secret | undefined, AuthorityRotation | undefined, step: object | undefined]>([
    ["begins the one that is requested", secret(), at("trust"), { to: "trust", rotation: A }],
    ["continues as the one that runs", placed("trust"), at("sign", A), { to: "sign", rotation: A }],
    ["ends the one that runs before another one", placed("sign"), at("trust", B), { to: "single", rotation: A }],
    [
      "ends one without a name",
      secret({ [rotationStageAnnotation]: "sign" }),
      undefined,
      { to: "single", rotation: "" },
    ],
    ["is none where nothing is requested", secret(), undefined, undefined],
    ["is none before there is an authority", undefined, at("trust"), undefined],
  ])("%s, once every program runs with the stage before", ([, copy, wanted, step]) => {
    const live = new Map(copy === undefined ? [] : [["Secret/etcd-ca-copy", copy as KubeObject]]);
    const isRotating = step !== undefined;
    const steps = isRotating ? [{ type: "rotate-etcd-authority", secret: copy, ...step }] : [];
    expect(etcdAuthoritySteps(live, wanted, true)).toEqual({ steps, isRotating });
    expect(etcdAuthoritySteps(live, wanted, false)).toEqual({ steps: [], isRotating });
  });
});

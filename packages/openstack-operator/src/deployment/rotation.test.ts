import { createAuthority } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { digestOf } from "../render/context.ts";
import { lastingComponents } from "../render/desired.ts";
import { desire } from "../testing/rendered.ts";
import {
  keysGenerationAnnotation,
  renewCertificate,
  renewedAtAnnotation,
  rotateKeys,
  rotatePasswords,
} from "./rotation.ts";

const names = { credentials: "cloud-credentials", credentialKeys: "cloud-credential-keys" };
const HOSTS = digestOf(["a"]);
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 0, 1);

function rotated(shared: number, stored: number, wanted: number, isSettled = true) {
  const credentials = { generation: 0, accounts: [0], values: { "keys.generation": String(shared) } };
  const annotations = { [keysGenerationAnnotation]: String(stored) };
  const secret = { metadata: { name: names.credentialKeys, annotations } } as unknown as Secret;
  const { steps, finished } = rotateKeys({ credentials, secret }, { names, wanted, isSettled });
  return [
    ...steps.map((step) => `${step.type} ${"generation" in step ? step.generation : ""}`),
    `finished ${finished}`,
  ];
}

describe("a rotation of keys", () => {
  test.each([
    ["does nothing when it is not wanted", [0, 0, 0], ["finished 0"]],
    ["replaces all keys once", [0, 0, 1], ["rotate-keys 1", "replace-keys 1", "finished 0"]],
    ["is over when both have been replaced", [1, 1, 1], ["finished 1"]],
    ["continues with the half that a crash left", [0, 1, 1], ["replace-keys 1", "finished 0"]],
    ["rotates one generation at a time", [1, 1, 3], ["rotate-keys 2", "replace-keys 2", "finished 1"]],
    ["rotates credential keys that a restore brought behind the others", [2, 1, 2], ["rotate-keys 2", "finished 1"]],
  ] as const)("%s", (_, [shared, stored, wanted], steps) => {
    expect(rotated(shared, stored, wanted)).toEqual(steps);
  });

  test("never rotates credential keys before what is stored is encrypted with the newest", () => {
    for (const [shared, stored] of [
      [0, 0],
      [2, 1],
      [1, 1],
    ] as const)
      expect(rotated(shared, stored, 3, false)).toEqual([`finished ${Math.min(shared, stored)}`]);
    expect(rotated(0, 1, 1, false)).toEqual(["replace-keys 1", "finished 0"]);
  });
});

describe("a rotation of passwords that makes second accounts", () => {
  const components = lastingComponents(desire().catalogue);
  const MAKES = "makes second accounts";
  const CHANGES = "changes configuration to the second accounts";
  const doing = (isDone: (component: string) => boolean) =>
    rotatePasswords({ generation: 0, accounts: [0, 1], values: {} }, components, { name: "c", wanted: 1, isDone })
      .doing;

  test.each([
    ["waits for the Job of a database's accounts", ["nova-db-init"], MAKES],
    ["waits for the Job of a broker's accounts", ["nova-broker-init"], MAKES],
    ["waits for the Job of an account in Keystone", ["nova-register"], MAKES],
    ["does not wait for Jobs that make schemas", ["nova-db-sync", "nova-cell-sync", "glance-db-sync"], CHANGES],
    ["does not wait for processes", ["nova-api", "mariadb"], CHANGES],
    ["continues when all accounts are made", [], CHANGES],
  ])("%s", (_, undone: readonly string[], expected) => {
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining([...undone]));
    expect(doing((name) => !undone.includes(name))).toBe(expected);
  });
});

describe("a certificate", () => {
  const renewal = async (ageDays: number, renewedDaysAgo: number | undefined, isRenamed = false) => {
    const { certificate } = await createAuthority({ commonName: "a", lifetime: 90 * DAY, now: NOW - ageDays * DAY });
    const renewed =
      renewedDaysAgo === undefined ? {} : { [renewedAtAnnotation]: new Date(NOW - renewedDaysAgo * DAY).toISOString() };
    const known = renewCertificate({ rotation: {} } as never, { secret: undefined, name: "c", hosts: ["a"], now: NOW });
    expect(known.steps).toMatchObject([{ type: "issue-certificate", renews: true }]);
    const secret = {
      metadata: { name: "c", annotations: { "openstack.causeway.dev/hosts": isRenamed ? "other" : HOSTS, ...renewed } },
      data: { "tls.crt": Buffer.from(certificate).toString("base64") },
    } as unknown as Secret;
    const { steps } = renewCertificate({} as never, { secret, name: "c", hosts: ["a"], now: NOW });
    return steps.map((step) => (step.type === "issue-certificate" && step.renews ? "renewed" : "issued"));
  };
  test.each([
    ["remains while it is young", 10, undefined, false, []],
    ["is renewed after two thirds of its life", 61, undefined, false, ["renewed"]],
    ["is issued again for other names, and pods keep the earlier one", 10, 10, true, ["issued"]],
    ["is renewed for pods that still have the one before the last change of names", 5, 61, false, ["renewed"]],
  ] as const)("%s", async (_, age, renewed, isRenamed, steps) => {
    expect(await renewal(age, renewed, isRenamed)).toEqual(steps);
  });
});
